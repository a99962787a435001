"""The numbers of the summary, computed from the curves."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit._boundary import ReadingColumns
from ioukit._near_names import Answering, suggest
from ioukit.datasets import Categories
from ioukit.evaluation.curves import Curves, drawing_of
from ioukit.evaluation.protocols import Measure, Protocol
from ioukit.evaluation.protocols.parts import NumberRules
from ioukit.evaluation.table import MatchTable

T = TypeVar("T", bound=np.floating[Any])


class Numbers(dict[str, float]):
    """Numbers by their keys; a key that there is not is answered with those that are similar."""

    def __missing__(self, key: object) -> float:
        near = suggest(str(key), self, most=2)
        raise KeyError(f"no number {key!r}{near or ';'}{' Else' if near else ''} choose from {', '.join(self)}")


class Summary(Mapping[str, float], Answering):
    """Numbers by their keys, read-only; a key in the place of an attribute is answered, too."""

    def __init__(self, numbers: Mapping[str, float]) -> None:
        """Take the numbers."""
        self._numbers = numbers

    def __getitem__(self, key: str) -> float:
        return self._numbers[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def __repr__(self) -> str:
        return repr(self._numbers)

    @property
    def OTHER_WORDS(self) -> Mapping[str, str]:  # type: ignore[override]  # noqa: N802 - see `Answering`
        """What to write for a key that is asked for as an attribute."""
        return {key.casefold(): f'summary["{key}"]' for key in self}


def summarise(curves: Curves) -> dict[str, float]:
    """The numbers of a protocol by their keys: each is the mean of a part of the curves, NaN where undefined.

    The mean is over the categories that have objects to find, or over all if the protocol says so. With COCO's
    protocol, sums are NumPy's over the same numbers in the same order as in pycocotools, so that the last bit agrees.
    """
    return Numbers((measure.key, value_of(curves, measure)) for measure in curves.protocol.measures)


def value_of(curves: Curves, measure: Measure) -> float:
    """The number of one measure; NaN where it is undefined. It may be a measure that the protocol does not list."""
    protocol, part = curves.protocol, _part(curves, measure)
    if measure.pooled and part is not None:
        values = curves.at(*part)[..., :1]  # the same for every category
        values = values[~np.isnan(values)]
    elif protocol.counts_undefined:  # in the order of memory, unlike chosen values
        values = averaged(select(curves, measure), protocol)
    elif part is None or protocol.objects_choose is not None:
        values = select(curves, measure)
        values = values[~np.isnan(values)]
    else:
        values = curves.defined(*part, in_group(curves.categories, protocol, measure.group))
    return float(np.mean(values)) if values.size else float("nan")


def summarise_classes(curves: Curves) -> list[dict[str, float]]:
    """The same numbers for each category alone; NaN if it has no objects to find."""
    columns = {measure.key: values_of_classes(curves, measure).tolist() for measure in curves.protocol.measures}
    return [Numbers(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def values_of_classes(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """(K,) the number of one measure for each category alone; NaN if it has no objects to find."""
    part = _part(curves, dataclasses.replace(measure, pooled=False))
    if part is None:
        return np.full(len(curves.categories), np.nan)
    if curves.protocol.objects_choose is None:
        means = curves.means_of_classes(*part)
    else:
        chosen = np.moveaxis(_selected(curves, measure), -1, 0)
        # (K, T * R), contiguous: the last bits of NumPy's sum depend on the layout in memory.
        means = np.ascontiguousarray(chosen.reshape(len(chosen), -1)).mean(axis=1)
    return np.where(in_group(curves.categories, curves.protocol, measure.group), means, np.nan)


def select(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The part of the curves that a measure is the mean of: (T, R, K) or (T, K), empty if the protocol lacks it.

    Of a measure of a group, K are the categories of the group.
    """
    chosen = _selected(curves, measure)
    return chosen if measure.group is None else chosen[..., in_group(curves.categories, curves.protocol, measure.group)]


def in_group(categories: Categories, protocol: Protocol, group: str | None) -> npt.NDArray[np.bool_]:
    """(K,) whether each category is in a group; all are in ``None``."""
    if group is None:
        return np.ones(len(categories), np.bool_)
    groups = categories.column(protocol.category_groups)
    return np.zeros(len(categories), np.bool_) if groups is None else np.asarray(groups == group)


def _selected(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The same for all categories, without a group."""
    protocol, part = curves.protocol, _part(curves, measure)
    if part is None:
        return np.zeros((0, len(curves.categories)))
    if measure.iou_threshold is not None or protocol.objects_choose is None:
        return curves.at(*part)
    from ioukit.evaluation.object_choice import at_own_thresholds  # noqa: PLC0415 - COCO does not need it

    return at_own_thresholds(curves.at(*part), curves.categories, protocol, protocol.objects_choose)


def _part(curves: Curves, measure: Measure) -> tuple[str, int, int, slice] | None:
    """The quantity, area range, cap and IoU thresholds of a measure; ``None`` if the protocol lacks one of them."""
    protocol = curves.protocol
    of_curves = {"AR": "recall", "AP": "precision" if protocol.integral == "recalls" else "ap"}
    quantity = None if measure.pooled else of_curves.get(measure.quantity)
    if not protocol.defines(measure) or (quantity is None and curves.beside(measure.column) is None):
        return None
    thresholds = slice(None)
    if measure.iou_threshold is not None:
        place = protocol.position_of_iou(measure.iou_threshold)
        thresholds = slice(place, place + 1)
    return (
        quantity or measure.column,
        protocol.position_of_area(protocol.area_of(measure)),
        protocol.position_of_max_dets(protocol.cap_of(measure)),
        thresholds,
    )


def averaged(values: npt.NDArray[T], rules: NumberRules) -> npt.NDArray[T]:
    """Values of categories as a mean takes them: NaN is left out, and is 0 first if the mean is over all categories."""
    return np.nan_to_num(values, nan=0.0) if rules.counts_undefined else values


def reading_of(table: MatchTable, measure: Measure) -> ReadingColumns:
    """How a measure is read from the curves of a table."""
    protocol = table.protocol
    drawing = drawing_of(protocol)
    return ReadingColumns(
        quantity="recall" if measure.quantity == "AR" else drawing.integral,
        recall_thresholds=drawing.recall_thresholds,
        plain_precision=drawing.plain_precision,
        zero_if_detected=protocol.zero_if_detected,
        thresholds=np.array(protocol.iou_positions_of(measure)),
        counted=in_group(table.evaluated, protocol, measure.group),
    )


def table(protocol: Protocol, summary: Mapping[str, float]) -> str:
    """The lines of the protocol's table; with COCO's protocol those of pycocotools.

    An undefined number is -1.000. A measure has no line if the protocol lacks its threshold, cap or area range.
    """
    return "\n".join(measure.text(summary[measure.key]) for measure in protocol.measures if protocol.defines(measure))
