"""Figures for a paper: as wide as a column, with letters of eight points, of one model or of several."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit._checks import check_choice
from ioukit.plots._drawing import ABOVE, as_wide_as, is_narrow
from ioukit.plots.bars import class_ap_figure
from ioukit.plots.curves import ap_by_iou_figure, precision_recall_figure
from ioukit.plots.evaluation_figures import Drawer
from ioukit.plots.models import differences_figure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from matplotlib.figure import Figure

    from ioukit.comparison import ModelComparison
    from ioukit.evaluation import Evaluation

COLUMN = 3.3
"""The width of a column in inches."""
_LARGEST_LETTERS = 8.0  # points, as the caption of a figure

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
        model B of several. In place of a figure that the evaluation has nothing for, its reason.

    Raises:
        ValueError: If there is no such figure, or the models were evaluated by different rules.
        ModuleNotFoundError: If matplotlib is not installed.
    """
    chosen = list(PAPER_FIGURES if names is None else names)
    for name in chosen:
        check_choice("figure", name, PAPER_FIGURES)
    if names is None and comparison is None:
        chosen.remove("differences")
    given: Any = models if len(models) > 1 else next(iter(models.values()))
    drawn: dict[str, Any] = {}
    with as_wide_as(width):
        for name in chosen:
            if name in _OF_EACH:
                stems = {model: name if len(models) == 1 else f"{name}_{model}" for model in models}
                drawn |= {stems[model]: Drawer(one, None, threads).draw(name) for model, one in models.items()}
            elif name != "differences":
                drawn[name] = _OF_ALL[name](given).figure
            else:
                drawn[name] = "it needs two models" if comparison is None else differences_figure(comparison).figure
    for figure in drawn.values():
        if not isinstance(figure, str):
            _make_small(figure)
    return drawn


def _make_small(figure: Figure) -> None:
    """Makes letters no larger than those of a caption, and lets what is written beside narrow axes go on below."""
    from matplotlib.text import Text  # noqa: PLC0415 - needs matplotlib

    for text in figure.findobj(Text):
        text.set_fontsize(min(text.get_fontsize(), _LARGEST_LETTERS))
    for ax in figure.axes:
        for text in (ax.xaxis.label, ax.yaxis.label):
            text.set_wrap(True)
        for text in ax.texts if is_narrow(ax) else ():
            if text.get_position() == ABOVE:
                text.set_visible(False)  # there stands the legend; the sentence is for a caption
