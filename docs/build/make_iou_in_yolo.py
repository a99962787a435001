"""Writes docs/iou_in_yolo.md, which follows one image through a YOLO: `python docs/build/make_iou_in_yolo.py`.

Every number is computed with the library, by `yolo_walk.py`.
"""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
from yolo_walk import (
    BOX,
    CLASS,
    CLASSES,
    NMS_IOU,
    OBJECTNESS,
    SCORE,
    STRIDES,
    Walk,
    by_detection,
    costs,
    cross_entropy,
    example,
    precision_recall,
    sigmoid,
    walk,
)

from ioukit import elementwise_ciou, elementwise_iou, pairwise_iou

PAGE = Path(__file__).parents[1] / "iou_in_yolo.md"


def numbers(values: Any, digits: int = 1) -> str:
    return ", ".join(f"{value:.{digits}f}" for value in values)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


HEAD = """# IoU in YOLO: one image, step by step

This page follows one image through a YOLO, from the grid to AP, and shows every use of IoU on the way. The network is a
small YOLOv3 (a quarter of the channels, a third of the depth). It was trained for {epochs} epochs on 320 drawn images;
the image of this page is one of the 80 others. These commands trained it and recorded its outputs:

```sh
{commands}
```

On those 80 images the network has an AP50 of 0.54. It is far from perfect, so this page can show its mistakes, too. The
code of each step is in `src/ioukit/torch/detector`: `decoding.py`, `learning.py`, `predict.py`.

`docs/build/make_iou_in_yolo.py` writes this page: it computes every number with the library, from the recorded outputs
of the network, and so needs no PyTorch.
"""
COMMANDS = """\
ioukit make-shapes shapes --images 400 --seed 1 --size 192 --typeset
ioukit train shapes/data.yaml -o first --head anchor --width 0.25 --depth 0.34 --epochs 24
ioukit train shapes/data.yaml -o second --head anchor --width 0.25 --depth 0.34 --epochs 40 --mosaic 0.2 \\
  --weights first/last.safetensors
python docs/build/record_iou_in_yolo.py second/last.safetensors"""
EPOCHS = 64


def grid_section(w: Walk) -> str:
    rows = []
    for name, box in zip(w.names, w.scene.boxes, strict=True):
        cx, cy, width, height = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, box[2] - box[0], box[3] - box[1]
        cells = [f"({int(cx // s)}, {int(cy // s)})" for s in STRIDES]
        rows.append([name, numbers(box, 0), f"({cx:g}, {cy:g})", f"{width:g} x {height:g}", *cells])
    sides = [192 // s for s in STRIDES]
    count = " + ".join(f"3 * {side} * {side}" for side in sides)
    return f"""## 1. The grid

The image has 192 x 192 pixels. The network divides it into three grids with cells of 8, 16 and 32 pixels: the strides.
That makes {sides[0]} x {sides[0]}, {sides[1]} x {sides[1]} and {sides[2]} x {sides[2]} cells. Every cell makes three
predictions, one per anchor: {count} = {len(w.raw):,}. (At 416 x 416 pixels there are 3 * (52 * 52 + 26 * 26 + 13 * 13)
= 10,647.) The cell that holds the centre of an object is responsible for it. Its column and row are the centre divided
by the stride, rounded down.

![The image with its objects over the grid of stride 32](figures/yolo_grid.svg)

{table(["object", "x1, y1, x2, y2", "centre", "size", *(f"cell at stride {s}" for s in STRIDES)], rows)}
"""


def anchor_section(w: Walk) -> str:
    shapes = w.anchors.reshape(-1, 2)
    best = w.alike.argmax(axis=1)
    rows = [
        [name, *(f"**{v:.2f}**" if k == best[g] else f"{v:.2f}" for k, v in enumerate(w.alike[g]))]
        for g, name in enumerate(w.names)
    ]
    g = example(w)
    sides = w.scene.boxes[g, 2:] - w.scene.boxes[g, :2]
    a = shapes[best[g]]
    common = float(np.minimum(sides, a).prod())
    return f"""## 2. The anchors: IoU of two shapes

There are nine anchors, three per stride, and each object belongs to the anchor that is most like it. To find it, put
object and anchor on one centre and compute their IoU: only the shape matters here, not the place. IoU is used even
before the training: `fit_anchors` found these anchors by k-means over the boxes of the data, with 1 - IoU as the
distance.

{table(["object", *(f"{x:.0f} x {y:.0f}" for x, y in shapes)], rows)}

By hand, for object {w.names[g]} of {sides[0]:g} x {sides[1]:g} and the anchor of {a[0]:.2f} x {a[1]:.2f}: the
intersection is min({sides[0]:g}, {a[0]:.2f}) * min({sides[1]:g}, {a[1]:.2f}) = {common:.1f} square pixels, the union is
{sides.prod():g} + {a.prod():.1f} - {common:.1f} = {sides.prod() + a.prod() - common:.1f}, so the IoU is
{w.alike[g, best[g]]:.3f}. The first three anchors belong to stride 8, the next three to stride 16, the last three to
stride 32. So the best anchor also decides the grid.

![Each object with the anchor that is most like it](figures/yolo_anchors.svg)
"""


def assignment_section(w: Walk) -> str:
    rows = []
    for owner, prediction in sorted(w.assignment.pairs.tolist()):
        now = elementwise_iou(w.boxes[prediction], w.scene.boxes[owner])
        column, row = w.cells[prediction].astype(int)
        rows.append([
            w.names[owner], f"{w.strides[prediction, 0]:g}", numbers(w.own[prediction], 1).replace(", ", " x "),
            f"({column}, {row})", f"{prediction:,}", f"{w.alike[owner].max():.2f}", f"{now:.2f}",
        ])  # fmt: skip
    ignored = int(w.assignment.ignore.sum())
    background = len(w.raw) - ignored - len(rows)
    return f"""## 3. The assignment: who learns what

`assign_yolov3` combines both: it takes the cell of the centre on the grid of the best anchor. Of the {len(w.raw):,}
predictions, only this one learns the object.

{table(["object", "stride", "anchor", "cell", "prediction", "IoU of shapes", "IoU of the prediction now"], rows)}

IoU is used a third time: {ignored} other predictions have an IoU above 0.5 with an object. They are nearly right, so
they must not learn that they show background: they are **ignored**. The remaining {background:,} learn background.

```
{w.assignment.explain(example(w))}
```

![Which predictions learn which object, and which are ignored](figures/yolo_assignment.svg)
"""


def loss_section(w: Walk) -> str:
    # Long, as it is one page of text and all the numbers in it.
    g = example(w)
    prediction = int(w.assignment.pairs[w.assignment.pairs[:, 0] == g, 1][0])
    t, target, box = w.raw[prediction], w.scene.boxes[g], w.boxes[prediction]
    (column, row), stride, anchor = w.cells[prediction].astype(int), w.strides[prediction, 0], w.own[prediction]
    centre, size = (box[:2] + box[2:]) / 2, box[2:] - box[:2]
    tcentre, tsize = (target[:2] + target[2:]) / 2, target[2:] - target[:2]
    low, high = np.maximum(box[:2], target[:2]), np.minimum(box[2:], target[2:])
    common = float((high - low).clip(0).prod())
    union = float(size.prod() + tsize.prod() - common)
    iou = common / union
    around = np.maximum(box[2:], target[2:]) - np.minimum(box[:2], target[:2])
    rho2, c2 = float(((centre - tcentre) ** 2).sum()), float((around**2).sum())
    v = 4 / np.pi**2 * float(np.arctan(tsize[0] / tsize[1]) - np.arctan(size[0] / size[1])) ** 2
    alpha = v / (1 - iou + v) if v else 0.0
    ciou = iou - rho2 / c2 - alpha * v
    assert abs(ciou - float(elementwise_ciou(box, target))) < 1e-9, "by hand and by the library"
    p, label = sigmoid(t), int(w.scene.labels[g])
    wanted = np.eye(len(CLASSES))[label]
    objectness, entropies = float(cross_entropy(t[4], iou)), cross_entropy(t[5:], wanted)
    classes = [
        [CLASSES[k], f"{t[5 + k]:.3f}", f"{p[5 + k]:.4f}", f"{wanted[k]:g}", f"{entropies[k]:.4f}"]
        for k in range(len(CLASSES))
    ]
    total = costs(w)
    return f"""## 4. The loss of one prediction

The prediction of object {w.names[g]} is number {prediction:,}: cell ({column}, {row}), stride {stride:g}, anchor
{anchor[0]:.2f} x {anchor[1]:.2f}. The network outputs {len(t)} numbers for it: t = ({numbers(t[:4], 3)}) for the box,
{t[4]:.3f} for objectness, and one per class.

**From numbers to a box** (`decode_yolov3`):

```
x = (sigmoid({t[0]:.3f}) + {column}) * {stride:g} = ({p[0]:.4f} + {column}) * {stride:g} = {centre[0]:.3f}
y = (sigmoid({t[1]:.3f}) + {row}) * {stride:g} = ({p[1]:.4f} + {row}) * {stride:g} = {centre[1]:.3f}
w = exp({t[2]:.3f}) * {anchor[0]:.2f} = {size[0]:.3f}
h = exp({t[3]:.3f}) * {anchor[1]:.2f} = {size[1]:.3f}
```

So the box of the prediction is ({numbers(box, 2)}). The box of the object is ({numbers(target, 0)}).

**The box.** CIoU measures how well the two boxes agree: it is IoU minus two penalties, one for the distance of the
centres and one for the shape.

```
intersection  {numbers(high - low, 3).replace(", ", " * ")} = {common:.3f}
union         {size.prod():.3f} + {tsize.prod():.3f} - {common:.3f} = {union:.3f}
IoU           {common:.3f} / {union:.3f} = {iou:.4f}
distance      rho^2 / c^2 = {rho2:.4f} / {c2:.2f} = {rho2 / c2:.6f}
shape         v = 4 / pi^2 * (atan({tsize[0]:g} / {tsize[1]:g}) - atan({size[0]:.3f} / {size[1]:.3f}))^2 = {v:.6f}
              alpha = v / (1 - IoU + v) = {alpha:.6f}
CIoU          {iou:.4f} - {rho2 / c2:.6f} - {alpha:.6f} * {v:.6f} = {ciou:.4f}
loss          1 - CIoU = {1 - ciou:.4f}
```

**Objectness.** Its target is not 1 but the IoU of the box with its object, {iou:.4f}, so that the score tells how good
the box is. The cross entropy of sigmoid({t[4]:.3f}) = {p[4]:.4f} with this target is {objectness:.4f}. The least
possible value is {float(cross_entropy(np.log(iou / (1 - iou)), iou)):.4f}.

**Classes.** Each class has a cross entropy; the target is 1 for {CLASSES[label]} and 0 for the others.

{table(["class", "t", "sigmoid(t)", "target", "cross entropy"], classes)}

Their sum is {entropies.sum():.4f}. The loss of this prediction is {BOX:g} * {1 - ciou:.4f} + {OBJECTNESS:g} *
{objectness:.4f} + {CLASS:g} * {entropies.sum():.4f} =
{BOX * (1 - ciou) + OBJECTNESS * objectness + CLASS * entropies.sum():.4f}. For the whole image, the sums over all
predictions are divided by the {len(w.assignment.pairs)} pairs of object and prediction: box {total["box"]:.3f},
objectness {total["objectness"]:.3f} (which includes all predictions that learn background), classes
{total["classes"]:.3f}.
"""


def nms_section(w: Walk) -> str:
    s = w.suppression
    lines = []
    for k in sorted(range(len(s)), key=lambda k: (-s.scores[k], k)):
        if s.reason[k] == "overlap" and len(lines) < 6:
            lines.append(s.explain(k))
    classes = len({int(label) for label in w.labels})
    return f"""## 5. Decoding: from {len(w.raw):,} predictions to {len(w.candidate)} candidates

All predictions are decoded in the same way. The score of each class is sigmoid(objectness) * sigmoid(class). Scores
below {SCORE:g} are left out; {len(w.candidate)} pairs of box and class remain, of {classes} classes. Neighbouring cells
and anchors have found the same objects:

![The candidates before NMS](figures/yolo_candidates.svg)

## 6. NMS: IoU between candidates

Of two boxes of a class with an IoU above {NMS_IOU:g}, the one with the higher score is kept. Of the {len(s)} candidates
{len(s.keep)} are kept. The first ones that are removed:

```
{chr(10).join(lines)}
```

![The boxes that survive NMS](figures/yolo_survivors.svg)
"""


def matching_section(w: Walk) -> str:
    rows = []
    prediction = w.candidate[w.kept]
    overlap = pairwise_iou(w.boxes[prediction].clip(0, 192), w.scene.boxes)
    hit50, of50 = by_detection(w, 0.5)
    hit75, _ = by_detection(w, 0.75)
    precision, recall = precision_recall(w, 0.5)
    for d, k in enumerate(w.kept):
        best = int(overlap[d].argmax())
        rows.append([
            str(d + 1), CLASSES[w.labels[k]], f"{w.scores[k]:.3f}", f"{w.names[best]} ({overlap[d, best]:.2f})",
            "TP" if hit50[d] else "FP", "TP" if hit75[d] else "FP", f"{precision[d]:.2f}", f"{recall[d]:.2f}",
            _why(w, d, overlap, hit50, of50),
        ])  # fmt: skip
    missed = sorted(set(range(len(w.names))) - set(of50[hit50].tolist()))
    missing = "All objects are found."
    if missed:
        missing = f"Not found: {'; '.join(_unsure(w, g) for g in missed)}."
    return f"""## 7. Matching: IoU with the ground truth

From the highest score to the lowest, each detection is matched with the free object of **its class** with the largest
IoU, if that IoU reaches the threshold. It is then a true positive (TP), and the object is no longer free. A detection
without a match is a false positive (FP).

{table(["rank", "class", "score", "nearest object (IoU)", "at 0.5", "at 0.75", "precision", "recall", "why"], rows)}

Precision and recall are those of the detections up to this row, at the threshold 0.5. {missing}

![True and false positives with their IoU](figures/yolo_matches.svg)
"""


def _unsure(w: Walk, g: int) -> str:
    """How near the prediction of an object that was not found came to it."""
    prediction = int(w.assignment.pairs[w.assignment.pairs[:, 0] == g, 1][0])
    iou = float(elementwise_iou(w.boxes[prediction], w.scene.boxes[g]))
    score = float(sigmoid(w.raw[prediction, 4]) * sigmoid(w.raw[prediction, 5 + w.scene.labels[g]]))
    name = CLASSES[w.scene.labels[g]]
    return f"{w.names[g]}. Its prediction has an IoU of {iou:.2f} with it, but a score of only {score:.3f} for {name}"


def _why(w: Walk, d: int, overlap: Any, hit: Any, of: Any) -> str:
    if hit[d]:
        return f"finds {w.names[of[d]]}"
    same = w.scene.labels == w.labels[w.kept[d]]
    near = overlap[d] >= 0.5
    if (same & near).any():
        return "a duplicate: its object is matched already"
    if near.any():
        return "the right place, the wrong class"
    if (same & (overlap[d] >= 0.1)).any():
        return "the right class, too far away"
    return "no such object here"


def ap_section(w: Walk) -> str:
    rows = []
    for result in w.evaluation.per_class:
        if result.num_ground_truth:
            aps = [f"{result.summary[key]:.3f}" for key in ("AP50", "AP75", "AP")]
            rows.append([result.name, str(result.num_ground_truth), str(result.num_detections), *aps])
    summary = w.evaluation.summary
    rows.append(["**mean**", "", "", *(f"**{summary[key]:.3f}**" for key in ("AP50", "AP75", "AP"))])
    return f"""## 8. AP: the threshold of IoU, ten times

AP is the area under the curve of precision over recall. First, the precision at each recall is replaced by the largest
precision at this or any higher recall, so that the curve only falls. Then AP is the mean of the curve at 101 recalls:
0, 0.01, ..., 1. It is computed for each class; the mean over the classes that have objects is the result. AP50 has an
IoU threshold of 0.5, AP75 of 0.75. COCO's AP is the mean over the thresholds 0.5, 0.55, ..., 0.95, which rewards boxes
that fit well.

{table(["class", "objects", "detections", "AP50", "AP75", "AP"], rows)}

![Precision over recall at three thresholds](figures/yolo_precision_recall.svg)

The figure ranks the detections of all classes together, by descending score. There is a mark after each detection; the
line shows the largest precision at that or any higher recall.

## All uses of IoU

| step | boxes | measure | decides | function |
| --- | --- | --- | --- | --- |
| before training | boxes of the data | IoU of shapes | the anchors | `fit_anchors` |
| assignment | objects and anchors | IoU of shapes | stride and anchor of an object | `assign_yolov3` |
| assignment | objects and predictions | IoU > 0.5 | which predictions are ignored | `assign_yolov3` |
| loss | prediction and its object | CIoU | how the box must move | `ciou_loss` |
| loss | prediction and its object | IoU | the target of objectness | `objectness_loss` |
| NMS | candidates of a class | IoU > {NMS_IOU:g} | which candidates are one object | `nms` |
| evaluation | detections and objects | IoU >= 0.5, ..., 0.95 | which objects are found | `evaluate` |

Other rules for each step: [anchors](anchors.md), [assignment](assignment.md), [losses](losses.md), [NMS](nms.md).
"""


def page() -> str:
    w = walk()
    sections = (
        grid_section, anchor_section, assignment_section, loss_section, nms_section, matching_section, ap_section
    )  # fmt: skip
    text = "\n".join([HEAD.format(commands=COMMANDS, epochs=EPOCHS), *(section(w) for section in sections)])
    return "\n\n".join(map(_wrapped, text.rstrip("\n").split("\n\n"))) + "\n"


def _wrapped(block: str) -> str:
    """A paragraph in lines of 120 characters; tables, programs, titles and figures stay as they are."""
    if block.startswith(("|", "```", "#", "!")):
        return block
    for sign in "*+":  # at the beginning of a line it would be the mark of a list
        block = block.replace(f" {sign} ", f"\0{sign}\0").replace(f" {sign}\n", f"\0{sign}\0")
    return textwrap.fill(block, 120, break_long_words=False, break_on_hyphens=False).replace("\0", " ")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
