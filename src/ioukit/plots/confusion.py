"""The confusion matrix: classes and the background, as rows and columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._optional import import_extra
from ioukit._words_and_colours import shorten
from ioukit.plots._drawing import add_scale, axes_for, dress, letters, theme_of, tint
from ioukit.plots._reading import chosen, made_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.evaluation import ConfusionMatrix, Evaluation
    from ioukit.plots._drawing import ThemeName, add_scale
    from ioukit.typing import FloatArray


MOST_WITH_NUMBERS = 24  # with more rows, the cells are too small for digits
MOST_CONFUSED = 12  # that are drawn by default: their numbers can be read on a page
BACKGROUND, OTHERS = "background", "other classes"


def confusion_figure(
    confusion: ConfusionMatrix | Evaluation,
    *,
    normalize: Literal["truth", "prediction"] | None = None,
    classes: Sequence[int | str] | Literal["all"] | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws a confusion matrix: rows are the classes of objects, columns the predicted classes.

    The last row has the detections on background, the last column the missed objects. Their common cell is hatched,
    because background without detections is not counted.

    Args:
        confusion: The result of `ioukit.evaluation.confusion_matrix`, or an evaluation, whose matrix is then made.
        normalize: ``"truth"`` divides each row by its sum (shares of the objects of a class), ``"prediction"`` each
            column (shares of the detections of a class); by default counts. Empty rows and columns stay empty.
        classes: Ids or names of the classes to draw; the others are added up in one row and column. By default
            the twelve that are most confused; ``"all"`` for all.
        ax: Where to draw; by default axes of a new figure, whose size grows with the number of classes.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. With up to 24 rows, the cells show their numbers: texts with ``get_gid()`` such as ``"cell 0 2"``
        (row, column). With more rows there is a colour bar, in axes of its own to the right. The cells are
        ``"matrix"``; correct ones are drawn over them in blue (``"right"``), and the other classes together in grey
        (``"others"``). Counts are coloured by their square roots, so that a few confusions among many hits are visible.

    Raises:
        ValueError: If there is no such class or way to normalize.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = confusion_figure(evaluation.confusion(), classes=["cup", "bowl"], normalize="truth")
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['cup', 'bowl', 'other classes', 'background']
    """
    matrix = made_of(confusion, "score_threshold", "evaluation.confusion()", lambda given: given.confusion())
    look = theme_of(theme)
    if normalize not in (None, "truth", "prediction"):
        raise ValueError(f"unknown normalize {normalize!r}; choose from truth, prediction, None")
    counts, names = _chosen_cells(matrix, _most_confused(matrix) if classes is None else classes)
    values = counts.astype(np.float64)
    if normalize is not None:
        total = values.sum(axis=1 if normalize == "truth" else 0, keepdims=True)
        values = np.divide(values, total, out=np.full_like(values, np.nan), where=total > 0).reshape(values.shape)
    values[-1, -1] = np.nan
    size = len(values)
    side = float(np.clip(1.6 + 0.38 * size, 4.4, 13.0))
    ax = axes_for(ax, look, (side + 0.6, side), needed_by="confusion_figure")
    side = min(side, float(ax.get_figure(root=True).get_size_inches().min()))  # type: ignore[union-attr]
    colors = import_extra("matplotlib.colors", extra="plots", needed_by="confusion_figure")
    meant = _meanings(size, has_others=OTHERS in names[-2:-1])
    ramps = {}
    for meaning, colour in (("matrix", look.bad), ("right", look.blue), ("others", look.many)):
        ramp = colors.LinearSegmentedColormap.from_list(meaning, [tint(colour, 0.2, look.paper), colour])
        # Zeros differ from the smallest count; each ramp leaves the cells of the others as they are.
        ramps[meaning] = ramp.with_extremes(under=look.paper, bad=look.faint if meaning == "matrix" else "none")
    filled = values[values > 0]
    low, top = (float(filled.min()) / 2, float(filled.max())) if filled.size else (0.5, 1.0)
    norm = colors.Normalize(1e-9, 1) if normalize else colors.PowerNorm(0.5, low, max(top, 1.0))
    edges = np.arange(size + 1) - 0.5
    line: dict[str, Any] = {"edgecolors": look.faint, "lw": 0.4 if size <= MOST_WITH_NUMBERS else 0.15}
    meshes = {}
    for meaning, ramp in ramps.items():
        cells = np.ma.masked_array(values, np.isnan(values) | ((meaning != "matrix") & (meant != meaning)))
        meshes[meaning] = ax.pcolormesh(edges, edges, cells, cmap=ramp, norm=norm, gid=meaning, **line)
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="confusion_figure")
    last = (size - 1.5, size - 1.5)
    ax.add_patch(patches.Rectangle(last, 1, 1, fc=look.paper, ec=look.soft, hatch="xxxx", lw=0, gid="nothing"))
    for edge in (ax.axhline, ax.axvline):
        edge(size - 1.5, color=look.soft, lw=1.0)
    size_of_names = float(np.clip(0.72 * 72 * side / (size + 12), 3.5, 9.0))
    digits = float(np.clip(0.30 * 72 * side / (size + 3), 4.0, 9.0))
    if size <= MOST_WITH_NUMBERS:
        inks: dict[tuple[int, ...], str] = {
            (row, column): _ink(ramps[meant[row, column]](norm(values[row, column])))
            for row, column in np.argwhere(counts > 0).tolist()
        }
        _write(ax, values, inks, digits, normalized=bool(normalize))
    else:
        what = "share" if normalize else "objects and detections"
        add_scale(ax, meshes["matrix"], f"{what}; the diagonal in blue", look, shrink=0.6, pad=0.02)
    crowded = max(map(len, names)) * 0.6 * size_of_names > 0.75 * 72 * side / size
    ax.set_xticks(range(size), names, fontsize=size_of_names, rotation=90 if crowded else 0, **letters())
    ax.set_yticks(range(size), names, fontsize=size_of_names, **letters())
    dress(ax, look)
    ax.tick_params(length=0)
    ax.set(xlim=(-0.5, size - 0.5), ylim=(size - 0.5, -0.5), aspect="equal")
    ax.set_xlabel(_conditions(matrix, normalize))
    ax.set_ylabel(f"object\n(IoU at least {matrix.iou_threshold:g})")
    return ax


def _conditions(matrix: ConfusionMatrix, normalize: Literal["truth", "prediction"] | None) -> str:
    """The title of the columns: which detections count, and what the numbers are shares of."""
    least = "" if matrix.score_threshold == -np.inf else f"score at least {matrix.score_threshold:.3g}"
    shares = {None: "", "truth": "shares of the row", "prediction": "shares of the column"}[normalize]
    conditions = "; ".join(filter(None, [least, shares]))
    return f"detected as\n({conditions})" if conditions else "detected as"


def _meanings(size: int, *, has_others: bool) -> NDArray[np.str_]:
    """What a cell holds: "right", "matrix" (confusions), or "others" (the sum of the other classes, which is both)."""
    meant = np.full((size, size), "matrix", "U6")
    np.fill_diagonal(meant, "right")
    meant[-1, -1] = "matrix"
    if has_others:
        meant[-2, -2] = "others"
    return meant


def _most_confused(confusion: ConfusionMatrix) -> list[int]:
    """The ids of the classes with the most errors, in the order of the matrix."""
    errors = confusion.counts.copy()
    np.fill_diagonal(errors, 0)
    worst = np.argsort(-(errors.sum(axis=0) + errors.sum(axis=1))[:-1], kind="stable")[:MOST_CONFUSED]
    ids: list[int] = confusion.categories.ids[np.sort(worst)].tolist()
    return ids


def _chosen_cells(
    confusion: ConfusionMatrix, classes: Sequence[int | str] | None
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.int64]], list[str]]:
    """Counts of the chosen classes, then of the others together, and of the background last."""
    counts = confusion.counts
    rows = chosen(confusion.categories, classes)
    names = [shorten(confusion.categories.names[row], 24) for row in rows.tolist()]
    rest = np.setdiff1d(np.arange(len(confusion.categories)), rows)
    place = np.zeros(len(counts), np.intp)
    place[rows] = np.arange(len(rows))
    place[rest] = len(rows)
    place[-1] = len(rows) + (len(rest) > 0)
    found = np.zeros((place[-1] + 1, place[-1] + 1), np.int64)
    np.add.at(found, (place[:, None], place[None, :]), counts)
    return found, [*names, *([OTHERS] if len(rest) else []), BACKGROUND]


def _ink(cell: tuple[float, float, float, float]) -> str:
    """Black or white: the one with the higher contrast to a colour (as WCAG 2 defines contrast)."""
    rgb = np.array(cell[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    light = float(linear @ (0.2126, 0.7152, 0.0722))
    return "#000000" if (light + 0.05) / 0.05 > 1.05 / (light + 0.05) else "#FFFFFF"


def _write(
    ax: Axes, values: FloatArray, inks: dict[tuple[int, ...], str], fontsize: float, *, normalized: bool
) -> None:
    """Writes the numbers of the cells that are not empty."""
    for (row, column), ink in inks.items():
        value = float(values[row, column])
        words = f"{value:.2f}" if normalized else _short(int(value))
        ax.text(
            column, row, words, ha="center", va="center", fontsize=fontsize, gid=f"cell {row} {column}", color=ink
        )  # fmt: skip


def _short(count: int) -> str:
    """A count in at most four digits; larger ones in thousands."""
    return str(count) if count < 10_000 else f"{count / 1000:.0f}k"
