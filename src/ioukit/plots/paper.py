"""Figures for a paper: as wide as a column, with letters of eight points, of one model or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_choice
from ioukit.plots._drawing import ABOVE
from ioukit.plots.bars import class_ap_figure
from ioukit.plots.curves import ap_by_iou_figure, precision_recall_figure
from ioukit.plots.evaluation_figures import Drawer
from ioukit.plots.models import differences_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from matplotlib.figure import Figure

    from ioukit.comparison import ModelComparison
    from ioukit.evaluation import Evaluation

COLUMN, TEXT = 3.3, 6.9
"""The width of a column, and of a page of two columns, in inches."""
_LARGEST_LETTERS = 8.0  # points, as the caption of a figure
_LARGER = 1.8  # letters of a figure that shrinks get larger in proportion to it
_LEAST_HEIGHT = 2.6  # inches
_BESIDE = 4.5  # a legend stands beside the axes of wider figures, and above others
_MOST_CLASSES = 20  # so that a figure of a line per class takes half of a page

_OF_ALL: dict[str, Callable[..., Any]] = {
    "precision_recall": precision_recall_figure,
    "class_ap": class_ap_figure,
    "ap_by_iou": ap_by_iou_figure,
}
"""One figure for all models."""
_OF_EACH = ("ap_by_size", "score_curves", "error_kinds", "confusion")
"""A figure for each model."""

PAPER_FIGURES = (*_OF_ALL, "differences", *_OF_EACH)
"""The names of the figures for a paper."""


def paper_figures(
    models: Mapping[str, Evaluation],
    names: Iterable[str] | None = None,
    *,
    width: float = COLUMN,
    comparison: ModelComparison | None = None,
    threads: int | None = None,
) -> dict[str, Figure | str]:
    """Figures of models for a paper, as wide as a column.

    Args:
        models: Evaluations on the same ground truth, by the names of the models; at most six.
        names: Which of the `PAPER_FIGURES`; all if ``None``.
        width: How wide they are, in inches. A column of most venues has 3.3, and the text of a page 6.9.
        comparison: What `ioukit.comparison.compare_models` found of these models, for the figure ``"differences"``.
        threads: How many threads; all cores if ``None``.

    Returns:
        The figures by names that suit files: ``"precision_recall"``, ``"class_ap"``, ``"ap_by_iou"`` and
        ``"differences"`` show all models, the others one each, such as ``"confusion"``, or ``"confusion_B"`` for the
        model B of several. In place of a figure that the evaluation has nothing for, its reason. Of more than 20
        classes, AP is drawn for those with the most objects.

    Raises:
        ValueError: If there is no such figure, or the models were evaluated by different rules.
        ModuleNotFoundError: If matplotlib is not installed.
    """
    chosen = list(PAPER_FIGURES if names is None else names)
    for name in chosen:
        check_choice("figure", name, PAPER_FIGURES)
    if names is None and comparison is None:
        chosen.remove("differences")
    first = next(iter(models.values()))
    given: Any = models if len(models) > 1 else first
    drawn: dict[str, Any] = {}
    for name in chosen:
        if name in _OF_EACH:
            stems = {model: name if len(models) == 1 else f"{name}_{model}" for model in models}
            drawn |= {stems[model]: Drawer(one, None, threads).draw(name) for model, one in models.items()}
        elif name != "differences":
            options = {"classes": _most_objects(first)} if name == "class_ap" else {}
            drawn[name] = _OF_ALL[name](given, **options).figure
        else:
            drawn[name] = "it needs two models" if comparison is None else differences_figure(comparison).figure
    for stem, figure in drawn.items():
        if not isinstance(figure, str):
            _fit(figure, width, rows=stem in ("class_ap", "differences"))
    return drawn


def _most_objects(evaluation: Evaluation) -> list[int] | None:
    """The ids of the classes with the most objects; ``None`` for all if they are few."""
    classes = evaluation.curves.categories
    if len(classes) <= _MOST_CLASSES:
        return None
    objects = np.array([result.num_ground_truth for result in evaluation.per_class])
    ids: list[int] = classes.ids[np.argsort(-objects, kind="stable")[:_MOST_CLASSES]].tolist()
    return ids


def _fit(figure: Figure, width: float, *, rows: bool) -> None:
    """Makes a figure as wide as asked, and its letters no larger than those of a caption.

    A figure with a row per class or number keeps the height of its rows; others keep their proportions, if they are
    high enough for their axes.
    """
    from matplotlib.text import Text  # noqa: PLC0415 - needs matplotlib

    wide, high = figure.get_size_inches().tolist()
    figure.set_size_inches(width, 0.8 * high if rows else min(high, max(high * width / wide, _LEAST_HEIGHT)))
    for text in figure.findobj(Text):
        scaled = text.get_fontsize() if rows else text.get_fontsize() * max(_LARGER * width / wide, 0.6)
        text.set_fontsize(min(scaled, _LARGEST_LETTERS))
    for ax in figure.axes:
        for text in (ax.xaxis.label, ax.yaxis.label, *ax.texts):
            text.set_wrap(True)
        legend = ax.get_legend()
        if legend is not None and width < _BESIDE:
            for text in ax.texts:  # a sentence above the axes is for a caption
                text.set_visible(text.get_position() != ABOVE)
            legend.set_loc("lower left")
            legend.set_bbox_to_anchor((0, 1.01), transform=ax.transAxes)
