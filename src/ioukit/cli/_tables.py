"""The numbers of an evaluation as text and JSON: AP per class, why AP is lost, and the score of the best F1."""

from __future__ import annotations

import json
import math
import textwrap
from typing import TYPE_CHECKING, Any, TypeVar

from ioukit._output import aligned, printable, terminal_width
from ioukit._plain_values import plain_value, plain_values
from ioukit._words_and_colours import KIND_NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ioukit.evaluation import ClassResult, Evaluation, OperatingPoint, OrderRange, Protocol
    from ioukit.statistics import Interval


Result = TypeVar("Result")

ORDERS = (
    "Orders are those of all detections, across images, too. That of the data: images by their ids, and the "
    "detections of an image as in the file."
)
_SHOWN = 5  # of the best and of the worst


def evaluation_table(
    evaluation: Evaluation,
    analysis: dict[str, Any] | None = None,
    intervals: Mapping[str, Interval] | None = None,
    orders: Mapping[str, OrderRange] | None = None,
    *,
    every: bool = False,
) -> str:
    """The numbers, their intervals, those of the classes, and the analysis, if there is one.

    Args:
        evaluation: The numbers.
        analysis: What `analyse` found.
        intervals: The intervals of numbers.
        orders: The ranges of numbers over all orders of equal scores.
        every: Show all classes; otherwise a few of the best and of the worst.
    """
    tables = [evaluation.table()]
    for ranges, last in ((orders, [ORDERS]), (intervals, [])):
        if ranges:
            sentences = [*(one.sentence() for one in ranges.values()), *last]
            wrapped = (textwrap.fill(one, terminal_width(), subsequent_indent="  ") for one in sentences)
            tables.append("\n".join(wrapped))
    if evaluation.per_class:
        tables.append(class_table(evaluation.per_class, evaluation.protocol, every=every))
    if analysis is not None:
        tables.append(analysis_table(analysis))
    return "\n\n".join(tables)


def class_table(classes: Sequence[ClassResult], protocol: Protocol, *, every: bool) -> str:
    """The headline numbers of the classes, sorted by the first of them, best first and undefined last.

    Args:
        classes: Results of all classes, in any order.
        protocol: The protocol of the results.
        every: Show all classes; otherwise a few of the best and of the worst, without undefined ones.
    """
    main = protocol.main_measure.key
    ranked = sorted(classes, key=lambda c: (math.isnan(c.summary[main]), -c.summary[main], c.id))
    # A number that is undefined for every class has no column.
    metrics = [
        measure.key
        for measure in protocol.measures
        if measure.key == main or (measure.headline and not all(math.isnan(c.summary[measure.key]) for c in classes))
    ]

    def cells(c: ClassResult) -> list[str]:
        numbers = ["-" if math.isnan(c.summary[metric]) else f"{c.summary[metric]:.3f}" for metric in metrics]
        return [printable(c.name), *numbers, f"{c.num_ground_truth:,}", f"{c.num_detections:,}"]

    head = ["class", *metrics, "objects", "detections"]
    return ranked_table(
        [head],
        ranked,
        cells,
        undefined=lambda c: math.isnan(c.summary[main]),
        every=every,
        drop=range(len(metrics), 1, -1),
    )


def ranked_table(
    head: Sequence[Sequence[str]],
    ranked: Sequence[Result],
    cells: Callable[[Result], Sequence[str]],
    *,
    undefined: Callable[[Result], bool] = lambda _: False,
    every: bool,
    drop: Sequence[int] = (),
) -> str:
    """A table of results, best first.

    Args:
        head: The first rows.
        ranked: The results in their order.
        cells: Makes the row of a result.
        undefined: Whether a result has no value to rank by.
        every: Show all results; otherwise a few of the best and of the worst, without undefined ones.
        drop: The columns that a narrow terminal does without, the first to go first.
    """
    shown: list[Result | None] = [one for one in ranked if every or not undefined(one)]
    if not every and len(shown) > 2 * _SHOWN + 1:
        shown[_SHOWN:-_SHOWN] = [None]
    gap = ["...", *[""] * (len(head[0]) - 1)]
    rows = [*head, *(gap if one is None else cells(one) for one in shown)]
    return aligned(rows, width=terminal_width(), drop=drop)


def analyse(evaluation: Evaluation, *, threads: int | None) -> dict[str, Any]:
    """The kinds of errors and the points of best F1 as plain Python values; ``None`` for undefined numbers.

    They are computed at the main IoU threshold and area range of the protocol: 0.5 and ``all``, if it has them.
    """
    from ioukit.evaluation.analysis.tide import BACKGROUND_THRESHOLD  # noqa: PLC0415 - `ioukit --help` does not need it

    iou, area = evaluation.protocol.main_iou, evaluation.protocol.main_area
    errors = evaluation.error_kinds(
        iou_threshold=iou, area_range=area, background_threshold=min(BACKGROUND_THRESHOLD, iou), threads=threads
    )
    curves = evaluation.score_curves(iou_threshold=iou, area_range=area)
    best: dict[str, Any] = {}
    if evaluation.protocol.ranks:
        best["best_f1"] = _point(curves.overall.best)
        classes = zip(curves.categories.ids.tolist(), curves.categories.names, curves.per_class, strict=True)
        best["best_f1_per_class"] = [
            {"id": number, "name": name, **_point(curve.best)} for number, name, curve in classes
        ]
    return {
        "iou_threshold": iou,
        "area": area,
        "background_threshold": errors.background_threshold,
        "ap": plain_value(errors.ap),
        "errors": {
            kind: {"count": errors.counts.get(kind), "delta_ap": plain_value(delta)}
            for kind, delta in errors.delta_ap.items()
        },
        **best,
    }


def analysis_table(analysis: dict[str, Any]) -> str:
    """A line for each kind of error, the costliest first, and one for the best F1 if the protocol ranks."""
    kinds = sorted(analysis["errors"].items(), key=lambda item: -(item[1]["delta_ap"] or 0))
    single = [(kind, found) for kind, found in kinds if found["count"] is not None]
    whole = [(kind, found) for kind, found in kinds if found["count"] is None]
    rows = [("error", "count", "gain in AP if corrected")]
    for kind, found in [*single, *whole]:
        count = "" if found["count"] is None else f"{found['count']:,}"
        rows.append((KIND_NAMES[kind], count, _number(found["delta_ap"])))
    if "best_f1" not in analysis:
        return f"at IoU {analysis['iou_threshold']:.2f}\n{aligned([row[:2] for row in rows if row[1]])}"
    best = {name: _number(value) for name, value in analysis["best_f1"].items()}
    return (
        f"at IoU {analysis['iou_threshold']:.2f}, AP {_number(analysis['ap'])}\n{aligned(rows)}\n"
        f"best F1 {best['f1']} at score {best['score']}: precision {best['precision']}, recall {best['recall']}"
    )


def evaluation_json(evaluation: Evaluation, **sections: Any) -> str:
    """The evaluation as one JSON object, with the sections that are not empty under their names."""
    filled = {name: section for name, section in sections.items() if section}
    return json.dumps({**evaluation.to_dict(), **filled}, allow_nan=False) if filled else evaluation.to_json()


def _point(point: OperatingPoint) -> dict[str, Any]:
    return plain_values(point)


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
