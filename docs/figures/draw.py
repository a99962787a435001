"""Draw the figures of the documentation beside this file: ``python docs/figures/draw.py [FOLDER]``."""

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

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ioukit.evaluation import Evaluation

OBJECT, DETECTION = [2, 2, 8, 8], [4, 3, 10, 9]
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
    found = json.loads((Path(__file__).parents[1] / "regression_simulation.json").read_text(encoding="utf-8"))
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
    with open(Path(__file__).parents[1] / "detector_training.csv", encoding="utf-8", newline="") as file:
        rows = [{name: float(value) for name, value in row.items() if value} for row in csv.DictReader(file)]
    return plots.training_figure(rows)


def detector_ablation() -> Figure:
    """From the runs that ``benchmarks/ablation_detector.py`` kept: a mark a seed, a bar at their mean."""
    found = json.loads((Path(__file__).parents[1] / "detector_ablation.json").read_text(encoding="utf-8"))["runs"]
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
    "precision_recall_iou": lambda e: plots.precision_recall_figure(e, iou=None),
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
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
