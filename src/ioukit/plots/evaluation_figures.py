"""The figures of an evaluation by their names, at the operating point of its report."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._near_names import unknown_name
from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD
from ioukit.plots.bars import ap_by_size_figure, class_ap_figure, error_kinds_figure
from ioukit.plots.boxes import worst_images_figure
from ioukit.plots.confusion import confusion_figure
from ioukit.plots.curves import ap_by_iou_figure, precision_recall_figure, score_curves_figure

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure

    from ioukit.evaluation import Evaluation, ScoreCurves


class Drawer:
    """Draws the figures of one evaluation, at the operating point of the report.

    Args:
        evaluation: What to draw.
        images: The folder of the photographs.
        threads: How many threads; all cores if ``None``.
    """

    def __init__(self, evaluation: Evaluation, images: str | os.PathLike[str] | None, threads: int | None) -> None:
        self.evaluation, self.images, self.threads = evaluation, images, threads
        self.iou = evaluation.protocol.main_iou

    @cached_property
    def curves(self) -> ScoreCurves:
        """The curves over the score threshold."""
        return self.evaluation.score_curves(iou_threshold=self.iou, area_range=self.evaluation.protocol.main_area)

    @property
    def score(self) -> float:
        """The score with the best F1; the lowest score if no detection is right, so that all are shown."""
        best, scores = self.curves.overall.best.score, self.evaluation.matches.detections.score
        return best if not np.isnan(best) else float(scores.min(initial=0.0))

    def draw(self, name: str) -> Figure | str:
        """The figure of a name, or the reason why the evaluation does not have it.

        Raises:
            ModuleNotFoundError: If matplotlib is not installed.
        """
        if name in _NEED_NEAR_PAIRS:
            try:
                self.evaluation.near_matches(min(BACKGROUND_THRESHOLD, self.iou), threads=self.threads)
            except ValueError:
                return "the evaluation holds neither its data nor near pairs"
        if name == "worst_images" and self.evaluation.ground_truth is None:
            return "the evaluation does not hold its data"
        figure: Figure = _DRAWN[name](self).figure
        return figure


def _confusion(drawer: Drawer) -> Any:
    matrix = drawer.evaluation.confusion(iou_threshold=drawer.iou, score_threshold=drawer.score, threads=drawer.threads)
    return confusion_figure(matrix)


def _error_kinds(drawer: Drawer) -> Any:
    errors = drawer.evaluation.error_kinds(
        iou_threshold=drawer.iou,
        area_range=drawer.evaluation.protocol.main_area,
        background_threshold=min(BACKGROUND_THRESHOLD, drawer.iou),
        threads=drawer.threads,
    )
    return error_kinds_figure(errors)


_DRAWN: dict[str, Callable[[Drawer], Any]] = {
    "precision_recall": lambda drawer: precision_recall_figure(drawer.evaluation),
    "score_curves": lambda drawer: score_curves_figure(drawer.curves),
    "class_ap": lambda drawer: class_ap_figure(drawer.evaluation),
    "ap_by_iou": lambda drawer: ap_by_iou_figure(drawer.evaluation),
    "ap_by_size": lambda drawer: ap_by_size_figure(drawer.evaluation),
    "confusion": _confusion,
    "error_kinds": _error_kinds,
    "worst_images": lambda drawer: worst_images_figure(drawer.evaluation, images=drawer.images).axes[0],
}
_NEED_NEAR_PAIRS = ("confusion", "error_kinds")

FIGURES = tuple(_DRAWN)
"""The names of the figures of an evaluation."""


def evaluation_figure(
    evaluation: Evaluation, name: str, images: str | os.PathLike[str] | None = None, threads: int | None = None
) -> Figure:
    """One of the :data:`FIGURES` of an evaluation, see :meth:`ioukit.Evaluation.figure`.

    Raises:
        ValueError: If there is no such figure, or the evaluation lacks what it needs.
        ModuleNotFoundError: If matplotlib is not installed.
    """
    if name not in FIGURES:
        raise ValueError(unknown_name("figure", name, FIGURES))
    if images is not None and not os.path.isdir(images):
        raise ValueError(f"images must be a folder, got {str(images)!r}; figure({name!r}).savefig(PATH) writes a file")
    drawn = Drawer(evaluation, images, threads).draw(name)
    if isinstance(drawn, str):
        raise ValueError(f"there is no figure {name!r}: {drawn}")
    return drawn
