"""The numbers of models with their intervals as a LaTeX table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ioukit._progress import as_part
from ioukit._words_and_colours import percent
from ioukit.statistics import intervals

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.evaluation import Evaluation
    from ioukit.statistics import Interval

_SIGNS = str.maketrans({
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
})  # fmt: skip


def latex_table(models: Mapping[str, Evaluation], keys: Sequence[str] | None = None, **options: Any) -> str:
    r"""The numbers of models in percent with their intervals, as a ``tabular`` of LaTeX with a row per model.

    Of several models, the highest number of a column is bold (the lowest, where lower is better), whether or not chance
    explains it: the differences have intervals and p-values, see :func:`ioukit.comparison.compare_models`.

    Args:
        models: Evaluations by the names of the models, whose signs are escaped.
        keys: The numbers; the headline numbers of the protocol if ``None``.
        **options: Those of :func:`ioukit.statistics.intervals`: ``level``, ``replicates``, ``seed``, ``clusters``, ....

    Returns:
        The table; it needs ``\usepackage{booktabs}``. A number that is undefined is a dash.

    Raises:
        KeyError: If there is no such number.
        ValueError: If there is no model, or as :func:`ioukit.statistics.intervals`.

    Examples:
        >>> import ioukit
        >>> from ioukit.datasets import Detections, GroundTruth
        >>> rows = {"image_ids": [1, 2], "category_ids": [7, 7], "boxes": [[10, 10, 50, 50]] * 2}
        >>> found = Detections.from_arrays(**rows, scores=[0.9, 0.8])
        >>> one = ioukit.evaluate(GroundTruth.from_arrays(**rows), found)
        >>> print(latex_table({"YOLACT_r50": one}, ["AP"], replicates=20).splitlines()[4])
        YOLACT\_r50 & 100.0 {\scriptsize[100.0, 100.0]} \\
    """
    if not models:
        raise ValueError("expected at least one model, got none")
    protocol = next(iter(models.values())).protocol
    measures = {measure.key: measure for measure in protocol.measures}
    keys = list(keys or (key for key, measure in measures.items() if measure.headline))
    rows: dict[str, dict[str, Interval]] = {}
    for at, (name, one) in enumerate(models.items()):
        with as_part(at, len(models)):
            rows[name] = intervals(one, keys, **options)
    best = {}
    for key in keys if len(models) > 1 else ():
        values = [row[key].value for row in rows.values() if not math.isnan(row[key].value)]
        lower = key in measures and measures[key].lower_is_better
        best[key] = (min if lower else max)(values, default=math.nan)
    level = next(iter(next(iter(rows.values())).values())).level
    head = " & ".join(["Model", *map(_escaped, keys)])
    cells = {
        name: [_cell(row[key], bold=best.get(key) == row[key].value) for key in keys] for name, row in rows.items()
    }
    return "\n".join([
        f"% In percent, with {percent(level)} intervals.",
        rf"\begin{{tabular}}{{l{'r' * len(keys)}}}",
        r"\toprule",
        rf"{head} \\ \midrule",
        *(" & ".join([_escaped(name), *row]) + r" \\" for name, row in cells.items()),
        r"\bottomrule",
        r"\end{tabular}",
    ])  # fmt: skip


def _escaped(text: str) -> str:
    return " ".join(text.split()).translate(_SIGNS)


def _cell(one: Interval, *, bold: bool) -> str:
    if math.isnan(one.value):
        return "--"
    value = f"{100 * one.value:.1f}"
    limits = "" if math.isnan(one.low) else rf" {{\scriptsize[{100 * one.low:.1f}, {100 * one.high:.1f}]}}"
    return (rf"\textbf{{{value}}}" if bold else value) + limits
