"""Figures of evaluations, those of docs/figures.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ioukit import evaluate, plots, read_coco
from ioukit.evaluation import miss_rate_curves
from ioukit.operating import calibrate

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ioukit.evaluation import ConfusionMatrix, Evaluation
    from ioukit.plots._drawing import ThemeName

__all__ = ["EVALUATIONS", "boxes", "drawn", "worst_images"]


PHOTOGRAPHS = Path(__file__).parents[2] / "src" / "ioukit" / "cli" / "demo_files"


@cache
def coco() -> Evaluation:
    """YOLACT on a hundred images of COCO."""
    folder = Path(__file__).parents[2] / "examples" / "coco_val2017_100"
    return evaluate(*read_coco(folder / "ground_truth.json", folder / "yolact.json"))


def at_best_f1(evaluation: Evaluation) -> ConfusionMatrix:
    """The confusion matrix at the score threshold of the report."""
    return evaluation.confusion(score_threshold=evaluation.score_curves().overall.best.score)


@cache
def photographs() -> Evaluation:
    """Six photographs of COCO, with detections that are made up."""
    return evaluate(*read_coco(PHOTOGRAPHS / "gt.json", PHOTOGRAPHS / "a.json"))


def boxes() -> Figure:
    image = PHOTOGRAPHS / "photos" / "000000397133.jpg"
    return plots.boxes_figure(photographs(), 397133, image=image).figure


def worst_images() -> Figure:
    return plots.worst_images_figure(photographs(), images=PHOTOGRAPHS / "photos", most=6, columns=3)


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
