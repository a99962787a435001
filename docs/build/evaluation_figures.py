"""Figures of evaluations, those of docs/figures.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ioukit import Detections, GroundTruth, evaluate, plots, read_coco
from ioukit.datasets.shapes import CLASSES, draw_scene
from ioukit.evaluation import miss_rate_curves
from ioukit.operating import calibrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ioukit.evaluation import ConfusionMatrix, Evaluation
    from ioukit.plots._drawing import ThemeName

__all__ = ["EVALUATIONS", "boxes", "drawn", "worst_images"]


@cache
def coco() -> Evaluation:
    """YOLACT on a hundred images of COCO."""
    folder = Path(__file__).parents[2] / "examples" / "coco_val2017_100"
    return evaluate(*read_coco(folder / "ground_truth.json", folder / "yolact.json"))


def at_best_f1(evaluation: Evaluation) -> ConfusionMatrix:
    """The confusion matrix at the score threshold of the report."""
    return evaluation.confusion(score_threshold=evaluation.score_curves().overall.best.score)


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
                named = label if rng.random() < 0.8 else rng.integers(len(CLASSES))
                box = [*moved, *(side * rng.uniform(0.85, 1.15, 2))]
                found.append({"image_id": int(image), "category_id": int(named), "bbox": box, "score": float(score)})
    return evaluate(truth, Detections.from_coco(found)), {k: scene.pixels for k, scene in scenes.items()}


def boxes() -> Figure:
    evaluation, images = shapes()
    return plots.boxes_figure(evaluation, 3, image=images[3]).figure


def worst_images() -> Figure:
    evaluation, images = shapes()
    return plots.worst_images_figure(evaluation, images=images, most=6, columns=3)


def reliability(evaluation: Evaluation, theme: ThemeName) -> Axes:
    """Before and after Platt's fit, those of docs/operating_points.md."""
    fit = calibrate(evaluation, "platt", bins=10)
    return plots.reliability_figure({"before": fit.before, "after Platt": fit.after}, theme=theme)


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
    "miss_rate": lambda e: plots.miss_rate_figure(miss_rate_curves(e.matches), category="person"),
    "confusion": lambda e: plots.confusion_figure(at_best_f1(e), classes=SIX),
    "confusion_shares": lambda e: plots.confusion_figure(at_best_f1(e), classes=SIX, normalize="truth"),
    "score_histogram": plots.score_histogram_figure,
    "iou_histogram": plots.iou_histogram_figure,
    "reliability": lambda e: reliability(e, "light"),
    "reliability_dark": lambda e: reliability(e, "dark"),
    "error_kinds": lambda e: plots.error_kinds_figure(e.error_kinds()),
}


def drawn(name: str) -> Figure:
    """The figure of that name in :data:`EVALUATIONS`, of YOLACT on a hundred images of COCO."""
    return EVALUATIONS[name](coco()).figure
