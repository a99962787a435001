"""Draw the figures of the documentation beside this file: ``python docs/build/draw.py [FOLDER]``."""

from __future__ import annotations

import csv
import json
import sys
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib as mpl
import numpy as np
from matplotlib import patches
from matplotlib.figure import Figure

from ioukit import (
    COCO,
    Detections,
    GroundTruth,
    evaluate,
    nms,
    pairwise_centre_distance,
    pairwise_iou,
    plots,
    read_coco,
    soft_nms,
    weighted_boxes_fusion,
)
from ioukit.anchors import anchor_boxes, anchor_points
from ioukit.assign import assign_atss, assign_max_iou, assign_simota
from ioukit.datasets.shapes import CLASSES, draw_scene
from ioukit.overlap.variants import VARIANTS

sys.path.insert(0, str(Path(__file__).parent))

import make_iou_in_yolo as yolo  # beside the page that it writes

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ioukit.evaluation import Evaluation

OBJECT, DETECTION = [2, 2, 8, 8], [4, 3, 10, 9]
DATA = Path(__file__).parents[1] / "data"
SCENE = {
    "person": [170, 90, 300, 380],
    "bag": [200, 190, 265, 290],
    "dog": [40, 230, 150, 350],
    "ball": [330, 320, 380, 370],
}

# What a detector may say of two people who stand close and a dog: docs/nms.md has the same numbers.
CROWD = np.array([
    [60, 60, 150, 260], [65, 64, 157, 266], [55, 56, 143, 255],  # the person on the left
    [89, 60, 179, 260], [87, 57, 176, 258],  # the one on the right
    [220, 175, 340, 265], [227, 180, 345, 270], [214, 168, 331, 262], [288, 162, 348, 222],  # the dog, and its head
], float)  # fmt: skip
CROWD_SCORES = np.array([0.95, 0.80, 0.62, 0.88, 0.55, 0.90, 0.74, 0.48, 0.35])


def overlap() -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    pair, curves = figure.subplots(1, 2, width_ratios=[1.15, 1])
    plots.overlap_figure(OBJECT, DETECTION, ax=pair)
    plots.variants_figure(motion="shift", ax=curves)
    return figure


def variants() -> Figure:
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    shift, scale = figure.subplots(1, 2)
    plots.variants_figure(motion="shift", ax=shift)
    plots.variants_figure(motion="scale", ax=scale)
    return figure


def grid() -> Figure:
    figure = Figure(figsize=(6, 6.2), layout="constrained")
    plots.grid_figure(list(SCENE.values()), labels=list(SCENE), image_size=(416, 416), ax=figure.subplots())
    return figure


def variant(name: str) -> Figure:
    (row,) = (row for row in VARIANTS if row.name == name)
    figure = Figure(figsize=(3.6, 2.2), layout="constrained")
    plots.variant_figure(name, ax=figure.subplots(), **getattr(row, "option_values", {}))
    return figure


def regression_simulation() -> Figure:
    """From the numbers that ``benchmarks/regression_simulation.py`` wrote."""
    found = json.loads((DATA / "regression_simulation.json").read_text(encoding="utf-8"))
    styles = {"iou": ":", "giou": "-.", "diou": "--", "ciou": "-", "eiou": (0, (3, 1, 1, 1, 1, 1))}
    names = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU", "eiou": "EIoU"}
    titles = {"published": "slopes of the paper's program", "exact": "gradients of the losses"}
    figure = Figure(figsize=(9.6, 3.6), layout="constrained")
    for ax, (slopes, errors) in zip(figure.subplots(1, 2, sharey=True), found["errors"].items(), strict=True):
        for name, curve in errors.items():
            ax.plot([error / 1e6 for error in curve], linestyle=styles[name], label=names[name], linewidth=1.6)
        ax.set(xlabel="steps of gradient descent", ylim=(0, None), title=titles[slopes])
        ax.spines[["top", "right"]].set_visible(False)
        ax.legend(frameon=False)
    figure.axes[0].set_ylabel("total L1 error, millions")
    return figure


def detector_training() -> Figure:
    """From the log of the command in docs/detector.md."""
    with open(DATA / "detector_training.csv", encoding="utf-8", newline="") as file:
        rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    return plots.training_figure(rows)


def detector_ablation() -> Figure:
    """From the runs that ``benchmarks/ablation_detector.py`` kept: a mark a seed, a bar at their mean."""
    found = json.loads((DATA / "detector_ablation.json").read_text(encoding="utf-8"))["runs"]
    names = {"iou": "IoU", "giou": "GIoU", "diou": "DIoU", "ciou": "CIoU", "eiou": "EIoU"}
    heads = {"free": "free head", "anchor": "anchor head"}
    kinds = list(dict.fromkeys((run["head"], run["loss"]) for run in found))
    kinds.sort(key=lambda kind: (list(heads).index(kind[0]), list(names).index(kind[1])))
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    for ax, key in zip(figure.subplots(1, 2, sharey=True), ("AP", "AP75"), strict=True):
        for place, kind in enumerate(kinds):
            values = [run[key] for run in found if (run["head"], run["loss"]) == kind]
            ax.plot(values, [place] * len(values), "o", mfc="none", mec="#0072B2", ms=6)
            ax.plot([np.mean(values)] * 2, [place - 0.3, place + 0.3], color="black", lw=2)
        ax.set(xlabel=key, xlim=(0, None), yticks=range(len(kinds)))
        ax.set_yticklabels([f"{names[loss]}, {heads[head]}" for head, loss in kinds])
        ax.yaxis.set_inverted(True)
        ax.grid(axis="x", color="0.9", lw=0.6)
        ax.spines[["top", "right"]].set_visible(False)
    return figure


def assignment() -> Figure:
    """The scene under three rules, with square anchors of two and a half cells a side."""
    size, strides, objects = (416, 416), [32, 64], list(SCENE.values())
    anchors, _, levels = anchor_boxes(size, strides, [[[2.5 * stride, 2.5 * stride]] for stride in strides])
    points = anchor_points(size, strides)
    # Predictions half way between the anchors and the objects nearest to them, all equally sure.
    nearest = np.array(objects)[pairwise_centre_distance(anchors, objects).argmin(axis=1)]
    simota = assign_simota(
        (anchors + nearest) / 2, np.full((len(anchors), 1), 0.5), objects, [0] * len(objects),
        points=points.points, strides=points.strides,
    )  # fmt: skip
    rules = {
        "max-IoU": assign_max_iou(anchors, objects, low_quality="detectron2"),
        "ATSS": assign_atss(anchors, objects, levels=levels),
        "SimOTA": simota,
    }
    return plots.assignment_figure(size, objects, points.points, rules, labels=list(SCENE))


def suppression() -> Figure:
    """The same detections through four functions, and where those went that are gone."""
    figure = Figure(figsize=(9, 7.2), layout="constrained")
    axes = figure.subplots(2, 2).ravel()
    for ax, metric, title in zip(axes[::2], ("iou", "diou"), ("nms", 'nms(metric="diou")'), strict=True):
        found = nms(CROWD, CROWD_SCORES, iou_threshold=0.5, metric=metric, explain=True)
        place = {box: k for k, box in enumerate(found.keep.tolist())}
        into = [place.get(box, -1) for box in found.suppressed_by.tolist()]
        _survivors(ax, title, CROWD[found.keep], CROWD_SCORES[found.keep], into)
    keep, scores = soft_nms(CROWD, CROWD_SCORES, method="gaussian", score_threshold=0.3)
    _survivors(axes[1], 'soft_nms(method="gaussian")', CROWD[keep], scores)
    fused = weighted_boxes_fusion([CROWD], [CROWD_SCORES])
    _survivors(axes[3], "weighted_boxes_fusion", fused.boxes, fused.scores)
    return figure


def _survivors(ax: Axes, title: str, boxes: np.ndarray, scores: np.ndarray, into: list[int] | None = None) -> None:
    """Without ``into``, a box went to the survivor that it overlaps most."""
    grey = {"fc": "0.86", "ec": "0.55", "lw": 1, "zorder": 1}
    for x in (134, 105):
        ax.add_patch(patches.Circle((x, 86), 22, **grey))
        ax.add_patch(patches.FancyBboxPatch((x - 32, 118), 64, 136, boxstyle="round,pad=4,rounding_size=20", **grey))
    for x in (245, 262, 305, 322):
        ax.add_patch(patches.Rectangle((x - 5, 235), 10, 28, **grey))
    ax.add_patch(patches.FancyBboxPatch((240, 200), 90, 40, boxstyle="round,pad=4,rounding_size=18", **grey))
    ax.add_patch(patches.Ellipse((318, 192), 48, 36, **grey))
    given = pairwise_iou(CROWD, boxes).argmax(axis=1) if into is None else into
    plots.survivors_figure(CROWD, boxes, scores=scores, into=given, ax=ax)
    ax.set(xlim=(40, 360), ylim=(280, 42), xticks=[], yticks=[])
    ax.set_title(title, fontfamily="monospace", fontsize=10)


# Okabe and Ito's colours, one a class, each with a line style of its own.
CLASS_STYLES = [
    ("#0072B2", "-"), ("#D55E00", "--"), ("#009E73", "-."), ("#CC79A7", ":"), ("#000000", (0, (5, 1))),
    ("#E69F00", (0, (3, 1, 1, 1))), ("#56B4E9", (0, (1, 1))),
]  # fmt: skip


def _photo(ax: Axes, *, faint: bool = True) -> None:
    """The scene of the page; faint, and a quarter of its pixels, where boxes are to be seen on it."""
    pixels = yolo.walk().scene.pixels // 16 * 16 + 8  # fewer colours make a smaller file
    if faint:
        small = pixels.reshape(96, 2, 96, 2, 3).mean(axis=(1, 3))
        pixels = (255 - (255 - small) * 0.45).astype(np.uint8) // 4 * 4
    ax.imshow(pixels, interpolation="none", extent=(0, 192, 192, 0), zorder=-1)
    ax.set(xlim=(0, 192), ylim=(192, 0), xticks=[], yticks=[])


def _frame(ax: Axes, box: np.ndarray, **style: object) -> None:
    x1, y1, x2, y2 = box
    ax.add_patch(patches.Rectangle((x1, y1), x2 - x1, y2 - y1, fill=False, **style))


def _plate(ax: Axes, x: float, y: float, text: str, colour: str) -> None:
    plate = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.85}
    ax.text(min(max(x, 1), 168), max(y, 5), text, fontsize=7, color=colour, va="bottom", bbox=plate, zorder=6)


def yolo_grid() -> Figure:
    w = yolo.walk()
    figure = Figure(figsize=(10, 5), layout="constrained")
    photo, lines = figure.subplots(1, 2)
    _photo(photo, faint=False)
    photo.set_title("192 x 192 pixels", fontsize=10)
    plots.grid_figure(w.scene.boxes, labels=w.names, grid=6, image_size=(192, 192), ax=lines)
    lines.set_title("the grid of stride 32, and who answers for whom", fontsize=10)
    return figure


def yolo_anchors() -> Figure:
    w = yolo.walk()
    shapes, best = w.anchors.reshape(-1, 2), w.alike.argmax(axis=1)
    figure = Figure(figsize=(11, 2.7), layout="constrained")
    for g, ax in enumerate(figure.subplots(1, len(w.names), sharex=True, sharey=True)):
        for k, side in enumerate(shapes):
            mine = k == best[g]
            style = {"ec": "#D55E00", "ls": "--", "lw": 2, "zorder": 3} if mine else {"ec": "0.75", "lw": 0.6}
            _frame(ax, np.hstack([-side / 2, side / 2]), **style)
        side = w.scene.boxes[g, 2:] - w.scene.boxes[g, :2]
        ax.add_patch(patches.Rectangle(-side / 2, *side, fc=("#0072B2", 0.25), ec="#0072B2", lw=2))
        ax.set(xlim=(-42, 42), ylim=(42, -42), aspect="equal", xticks=[], yticks=[])
        stride = yolo.STRIDES[best[g] // 3]
        ax.set_title(f"{w.names[g]}\nIoU {w.alike[g, best[g]]:.2f}, stride {stride}", fontsize=9)
    legend = "blue: the object; dashed: the anchor most like it; grey: the other eight"
    figure.supxlabel(legend, fontsize=8, color="0.3")
    return figure


def yolo_assignment() -> Figure:
    w = yolo.walk()
    points = (w.cells + 0.5) * w.strides
    figure = plots.assignment_figure((192, 192), w.scene.boxes, points, {"YOLOv3": w.assignment}, labels=w.names)
    figure.set_size_inches(7.2, 6.4)  # the line below it is long
    for marks in figure.axes[0].collections:
        marks.set_rasterized(marks.get_gid() == "background")  # two thousand dots
    return figure


def yolo_candidates() -> Figure:
    w = yolo.walk()
    figure = Figure(figsize=(5, 5.3), layout="constrained")
    ax = figure.subplots()
    _photo(ax)
    for guess, label, score in zip(w.candidate, w.labels, w.scores, strict=True):
        colour, line = CLASS_STYLES[label]
        _frame(ax, w.boxes[guess], ec=colour, ls=line, lw=0.8 + 1.6 * score, zorder=3)
    _class_legend(ax, w.labels)
    ax.set_title(f"{len(w.candidate)} candidates with a score of {yolo.SCORE:g} or more", fontsize=10)
    return figure


def yolo_survivors() -> Figure:
    w = yolo.walk()
    figure = Figure(figsize=(5, 5.3), layout="constrained")
    ax = figure.subplots()
    _photo(ax)
    for k in w.kept[::-1]:
        colour, line = CLASS_STYLES[w.labels[k]]
        box = w.boxes[w.candidate[k]]
        _frame(ax, box, ec=colour, ls=line, lw=0.8 + 2 * w.scores[k], zorder=3)
        if w.scores[k] >= 0.5:
            _plate(ax, box[0], box[1], f"{yolo.CLASSES[w.labels[k]]} {w.scores[k]:.2f}", colour)
    _class_legend(ax, w.labels[w.kept])
    ax.set_title(f"{len(w.kept)} of them survive", fontsize=10)
    return figure


def _class_legend(ax: Axes, labels: np.ndarray) -> None:
    for label in np.unique(labels):
        colour, line = CLASS_STYLES[label]
        ax.plot([], [], color=colour, ls=line, label=yolo.CLASSES[label])
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.01), ncols=4, fontsize=8, frameon=False)


def yolo_matches() -> Figure:
    w = yolo.walk()
    hit, of = yolo.by_detection(w, 0.5)
    overlap = pairwise_iou(w.boxes[w.candidate[w.kept]].clip(0, 192), w.scene.boxes)
    figure = Figure(figsize=(10, 5.3), layout="constrained")
    panels = figure.subplots(1, 2)
    for ax, right in zip(panels, (True, False), strict=True):
        _photo(ax)
        for box in w.scene.boxes:
            _frame(ax, box, ec="black", lw=1.2, zorder=2)
        shown = np.flatnonzero(hit == right)
        for d in shown[::-1]:
            box, colour = w.boxes[w.candidate[w.kept[d]]], "#0072B2" if right else "#D55E00"
            _frame(ax, box, ec=colour, ls="-" if right else "--", lw=1.8, zorder=3)
            name = yolo.CLASSES[w.labels[w.kept[d]]]
            if right or d in shown[:4]:
                iou = overlap[d, of[d]] if right else overlap[d].max()
                _plate(ax, box[0], box[1], f"{d + 1}: {name}, IoU {iou:.2f}", colour)
        kind = "true positives" if right else "false positives, the best four named"
        ax.set_title(f"{len(shown)} {kind} (IoU 0.5); black: the objects", fontsize=10)
    return figure


def yolo_precision_recall() -> Figure:
    w = yolo.walk()
    figure = Figure(figsize=(5, 3.4), layout="constrained")
    ax = figure.subplots()
    for iou, line, mark in ((0.5, "-", "o"), (0.75, "--", "s"), (0.9, ":", "^")):
        precision, recall = yolo.precision_recall(w, min(COCO.iou_thresholds, key=lambda t: abs(t - iou)))
        ax.plot(recall, precision, ls=line, marker=mark, ms=4, label=f"IoU {iou:g}")
    ax.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.05))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    return figure


@cache
def coco() -> Evaluation:
    """YOLACT on a hundred images of COCO."""
    folder = Path(__file__).parents[2] / "examples" / "coco_val2017_100"
    return evaluate(*read_coco(folder / "ground_truth.json", folder / "yolact.json"))


@cache
def shapes() -> tuple[Evaluation, dict[int, np.ndarray]]:
    """Drawn scenes, and what a middling detector might say of them."""
    rng, size = np.random.default_rng(5), (320, 240)
    scenes = {k: draw_scene(k, seed=3, size=size, handwritten=False) for k in range(1, 9)}
    rows = [
        (k, label, box) for k, scene in scenes.items() for label, box in zip(scene.labels, scene.boxes, strict=True)
    ]
    boxes = np.array([box for _, _, box in rows], float)
    sizes = boxes[:, 2:] - boxes[:, :2]
    images, labels = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
    truth = GroundTruth.from_coco({
        "images": [{"id": k, "width": size[0], "height": size[1], "file_name": f"{k:06d}.png"} for k in scenes],
        "categories": [{"id": k, "name": name} for k, name in enumerate(CLASSES)],
        "annotations": [
            {"id": row, "image_id": int(image), "category_id": int(label), "bbox": [*box[:2], *size],
             "area": float(np.prod(size)), "iscrowd": 0}
            for row, (image, label, box, size) in enumerate(zip(images, labels, boxes, sizes, strict=True), 1)
        ],
    })  # fmt: skip
    found = []
    for image, label, corner, side in zip(images, labels, boxes[:, :2], sizes, strict=True):
        for score in (rng.beta(6, 2), rng.beta(2, 4)):  # the second is a duplicate, or something else
            if rng.random() < 0.75:
                moved = corner + side * rng.normal(0, 0.07, 2)
                said = label if rng.random() < 0.8 else rng.integers(len(CLASSES))
                box = [*moved, *(side * rng.uniform(0.85, 1.15, 2))]
                found.append({"image_id": int(image), "category_id": int(said), "bbox": box, "score": float(score)})
    return evaluate(truth, Detections.from_coco(found)), {k: scene.pixels for k, scene in scenes.items()}


def boxes() -> Figure:
    evaluation, images = shapes()
    return plots.boxes_figure(evaluation, 3, image=images[3]).figure


def worst_images() -> Figure:
    evaluation, images = shapes()
    return plots.worst_images_figure(evaluation, images=images, most=6, columns=3)


SIX = ["person", "chair", "book", "car", "bottle", "cup"]
# The figures of docs/figures.md, as it says.
EVALUATIONS: dict[str, Callable[[Evaluation], Axes]] = {
    "precision_recall": lambda e: plots.precision_recall_figure(e, classes=SIX),
    "precision_recall_iou": lambda e: plots.precision_recall_figure(e, iou_threshold="all"),
    "ap_by_iou": plots.ap_by_iou_figure,
    "ap_by_size": plots.ap_by_size_figure,
    "class_ap": plots.class_ap_figure,
    "score_curves": lambda e: plots.score_curves_figure(e.score_curves()),
    "score_curves_dark": lambda e: plots.score_curves_figure(e.score_curves(), theme="dark"),
    "confusion": lambda e: plots.confusion_figure(e.confusion(), classes=SIX),
    "confusion_shares": lambda e: plots.confusion_figure(e.confusion(), classes=SIX, normalize="truth"),
    "score_histogram": plots.score_histogram_figure,
    "iou_histogram": plots.iou_histogram_figure,
    "error_kinds": lambda e: plots.error_kinds_figure(e.error_kinds()),
}


FIGURES: dict[str, Callable[[], Figure]] = {
    "overlap": overlap,
    "variants": variants,
    "grid": grid,
    "regression_simulation": regression_simulation,
    "detector_training": detector_training,
    "detector_ablation": detector_ablation,
    "assignment": assignment,
    "suppression": suppression,
    "yolo_grid": yolo_grid,
    "yolo_anchors": yolo_anchors,
    "yolo_assignment": yolo_assignment,
    "yolo_candidates": yolo_candidates,
    "yolo_survivors": yolo_survivors,
    "yolo_matches": yolo_matches,
    "yolo_precision_recall": yolo_precision_recall,
    **{f"evaluation_{name}": partial(lambda draw: draw(coco()).figure, one) for name, one in EVALUATIONS.items()},
    **{f"variant_{row.name}": partial(variant, row.name) for row in VARIANTS},
}

# Those with pixels in them.
PICTURES: dict[str, Callable[[], Figure]] = {"evaluation_boxes": boxes, "evaluation_worst_images": worst_images}


def draw(folder: Path) -> None:
    # The same bytes each time, and letters as outlines: a browser need not have the font.
    with mpl.rc_context({"svg.hashsalt": "ioukit", "svg.fonttype": "path"}):
        for name, figure in FIGURES.items():
            figure().savefig(folder / f"{name}.svg", metadata={"Date": None})
        for name, figure in PICTURES.items():
            figure().savefig(folder / f"{name}.jpg", dpi=110, pil_kwargs={"quality": 82})


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "figures")
