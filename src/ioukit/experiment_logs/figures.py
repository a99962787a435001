"""The figures of an evaluation that trackers show, those of the report, and the pictures that trackers take."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import plots
from ioukit._optional import import_extra
from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ioukit.evaluation import ConfusionMatrix, Evaluation, ScoreCurves


_MOST_BARS = 80  # classes; a figure of more is taller than trackers show
_MOST_CELLS = 20  # classes of the matrix, as many as the report starts with


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

    def draw(self, name: str) -> Picture | str:
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
        return picture_of(_DRAWN[name](self).figure)


def _class_ap(drawer: Drawer) -> Any:
    """All classes; if they are very many, those with the most objects."""
    classes = drawer.evaluation.curves.categories
    ids = None
    if len(classes) > _MOST_BARS:
        objects = np.array([result.num_ground_truth for result in drawer.evaluation.per_class])
        ids = classes.ids[np.argsort(-objects, kind="stable")[:_MOST_BARS]].tolist()
    return plots.class_ap_figure(drawer.evaluation, classes=ids)


def _confusion(drawer: Drawer) -> Any:
    matrix = drawer.evaluation.confusion(iou_threshold=drawer.iou, score_threshold=drawer.score, threads=drawer.threads)
    return plots.confusion_figure(matrix, classes=_most_confused(matrix))


def _error_kinds(drawer: Drawer) -> Any:
    errors = drawer.evaluation.error_kinds(
        iou_threshold=drawer.iou,
        area_range=drawer.evaluation.protocol.main_area,
        background_threshold=min(BACKGROUND_THRESHOLD, drawer.iou),
        threads=drawer.threads,
    )
    return plots.error_kinds_figure(errors)


_DRAWN: dict[str, Callable[[Drawer], Any]] = {
    "precision_recall": lambda drawer: plots.precision_recall_figure(drawer.evaluation),
    "score_curves": lambda drawer: plots.score_curves_figure(drawer.curves),
    "class_ap": _class_ap,
    "ap_by_iou": lambda drawer: plots.ap_by_iou_figure(drawer.evaluation),
    "ap_by_size": lambda drawer: plots.ap_by_size_figure(drawer.evaluation),
    "confusion": _confusion,
    "error_kinds": _error_kinds,
    "worst_images": lambda drawer: plots.worst_images_figure(drawer.evaluation, images=drawer.images).axes[0],
}
_NEED_NEAR_PAIRS = ("confusion", "error_kinds")

FIGURES = tuple(_DRAWN)
"""The names of the figures that trackers get; ``worst_images`` only with a folder of photographs, or if it is asked
for."""


def chosen_figures(figures: bool | Sequence[str], *, images: bool) -> list[str]:
    """The names of the figures to draw.

    Raises:
        ValueError: If there is no figure of a name.
    """
    if isinstance(figures, bool):
        return [name for name in FIGURES if figures and (images or name != "worst_images")]
    names = [figures] if isinstance(figures, str) else list(figures)
    for name in names:
        if name not in FIGURES:
            raise ValueError(f"unknown figure {name!r}; choose from {', '.join(FIGURES)}")
    return list(dict.fromkeys(names))


def _most_confused(matrix: ConfusionMatrix) -> list[int] | None:
    """The ids of the classes with the most errors; ``None`` for all if they are few."""
    if len(matrix.categories) <= _MOST_CELLS:
        return None
    counts = matrix.counts.copy()
    np.fill_diagonal(counts, 0)
    errors = (counts.sum(axis=0) + counts.sum(axis=1))[:-1]
    worst = np.sort(np.argsort(-errors, kind="stable")[:_MOST_CELLS])
    ids: list[int] = matrix.categories.ids[worst].tolist()
    return ids


_DPI = 150


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    png: bytes = field(repr=False)
    """The figure as a PNG file, 150 dots per inch."""

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """(H, W, 3) the same as RGB, within [0, 255]."""
        image = import_extra("PIL.Image", extra="plots", needed_by="Picture.pixels")  # matplotlib needs it, too
        with image.open(io.BytesIO(self.png)) as opened:
            return np.asarray(opened.convert("RGB"))


def picture_of(figure: Any) -> Picture:
    """A figure of matplotlib as a picture.

    A letter that the font lacks is drawn as a box without a warning: it would come again for every figure and epoch.
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="png", dpi=_DPI, facecolor=figure.get_facecolor())
    return Picture(buffer.getvalue())
