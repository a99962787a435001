"""What counts: which detections take part, which objects are ignored, and in which ranges.

Owns the rules of :class:`~ioukit.evaluation.protocols.parts.CountRules` that need columns of the data: flags,
attributes, lists of the images. Does not own what the core decides while it matches, from plain numbers: areas outside
of a range, areas of 0, and the cap. Cut here because the core should know columns of bits and no protocol: a rule about
another attribute is a change of this file alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit._boundary import VerifiedColumns
from ioukit.datasets import Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.parts import EVERY_OBJECT, CountRules, ValueRange
from ioukit.evaluation.table import COUNTS_ONCE, IGNORED, MORE_THAN, OVER_DETECTION, REPEATED, VOID

if TYPE_CHECKING:
    from ioukit.datasets import IdLists


T = TypeVar("T")
_OF_BOXES = ("left", "top", "width", "height", "right", "bottom")


def rows_taking_part(detections: Detections, rules: CountRules) -> npt.NDArray[np.int64] | None:
    """Rows of the detections that are matched; ``None`` for all."""
    if not rules.detection_values:
        return None
    return np.flatnonzero(_within(detections, rules.detection_values, "detections"))


def special_bits(ground_truth: GroundTruth, rules: CountRules) -> npt.NDArray[np.uint8]:
    """(G,) the bits of :attr:`ObjectRows.special`."""
    special = np.zeros(len(ground_truth), np.uint8)
    outside = ~_within(ground_truth, rules.counted_values, "annotations") if rules.counted_values else None
    for rule in rules.ignored:
        flagged = ground_truth.flag(rule.flag) if rule.flag != "outside" or outside is None else outside
        if rule.flag == EVERY_OBJECT:
            flagged = np.ones(len(ground_truth), np.bool_)
        if flagged.any():
            bits = COUNTS_ONCE if rule.counts_once else IGNORED
            bits |= (OVER_DETECTION if rule.over_detection else 0) | (REPEATED if rule.repeated else 0)
            bits |= MORE_THAN if rule.more_than else 0
            special |= flagged.astype(np.uint8) * np.uint8(bits)
    if "void" in ground_truth.flags:
        special |= ground_truth.flags["void"].astype(np.uint8) * np.uint8(VOID)
    return special


def counted_objects(ground_truth: GroundTruth, protocol: Protocol) -> npt.NDArray[np.bool_]:
    """(G,) whether each object counts in one of the ranges at least.

    Raises:
        DatasetError: If the objects lack a flag or an attribute that the protocol needs.
    """
    sizes = sizes_of(ground_truth.areas, ground_truth.boxes, protocol)[:, None]
    low, high = np.array([(one.low, one.high) for one in protocol.area_ranges]).T
    counts = (low <= sizes) & (sizes <= high)
    ignored = ranges_that_ignore(ground_truth, protocol)
    if ignored is not None:
        counts &= np.unpackbits(ignored, axis=1, count=len(low), bitorder="little") == 0
    return np.asarray(counts.any(axis=1) & (special_bits(ground_truth, protocol) & IGNORED == 0))


def ignoring_flags(ground_truth: GroundTruth, rules: CountRules) -> dict[str, int]:
    """The flags with which objects are ignored, and how many objects have each of them."""
    found = {one.flag: int(ground_truth.flag(one.flag).sum()) for one in rules.ignored if not one.counts_once}
    return {flag: count for flag, count in found.items() if count}


def sizes_of(areas: T, boxes: npt.NDArray[np.float64], protocol: Protocol) -> T | npt.NDArray[np.float64]:
    """(N,) what the ranges are ranges of: areas as they are given, or the heights of upright boxes."""
    return areas if protocol.objects_choose is None else np.ascontiguousarray(boxes[:, 3])


def ranges_that_ignore(ground_truth: GroundTruth, protocol: Protocol) -> npt.NDArray[np.uint8] | None:
    """(G, C) the ranges that ignore each object whatever its size, as bits; ``None`` if sizes alone decide.

    Raises:
        DatasetError: If the objects lack a flag or an attribute that the protocol needs.
    """
    if protocol.ranges_by == "flag":
        lacks = [~range_flags(ground_truth, protocol, label) for label in protocol.area_labels]
        return np.packbits(np.stack(lacks, axis=1), axis=1, bitorder="little")
    if protocol.objects_choose is not None:
        from ioukit.evaluation.object_choice import ignored_ranges  # noqa: PLC0415 - COCO does not need it

        return ignored_ranges(ground_truth, protocol, protocol.objects_choose)
    return None


def range_flags(ground_truth: GroundTruth, protocol: Protocol, label: str) -> npt.NDArray[np.bool_]:
    """(G,) whether each object has the flag of a range; all have it if ranges are not about flags.

    Raises:
        DatasetError: If the objects do not have such a flag.
    """
    if protocol.ranges_by != "flag":
        return np.ones(len(ground_truth), np.bool_)
    if label not in ground_truth.flags and len(ground_truth):
        raise DatasetError(
            f"{ground_truth.source}: the protocol {protocol.name!r} needs the flag {label!r} of the objects: "
            f"expected bools, found {', '.join(ground_truth.flags) or 'no flags'}; GroundTruth.from_arrays takes "
            "flags="
        )
    return ground_truth.flag(label)


def verified_columns(ground_truth: GroundTruth, rules: CountRules) -> VerifiedColumns | None:
    """The lists of categories that the images have; ``None`` if all were looked for on all images."""
    if rules.lists_looked_for is None:
        return None
    none = (np.zeros(0, np.int64), np.zeros(len(ground_truth.images), np.int64))
    if not rules.lists_looked_for:
        return VerifiedColumns(none, none)
    from ioukit.datasets import IdLists  # noqa: PLC0415 - only LVIS and Open Images need it

    looked_for = [_id_lists(ground_truth, name, rules) for name in rules.lists_looked_for]
    joined = looked_for[0] if len(looked_for) == 1 else IdLists.of(map(np.concatenate, zip(*looked_for, strict=True)))
    if not rules.needs_lists_of_lvis:
        return VerifiedColumns((joined.ids, joined.ends), none)
    not_exhaustive = _id_lists(ground_truth, "not_exhaustive_category_ids", rules)
    return VerifiedColumns((joined.ids, joined.ends), (not_exhaustive.ids, not_exhaustive.ends))


def _id_lists(ground_truth: GroundTruth, name: str, rules: CountRules) -> IdLists:
    from ioukit.datasets import IdLists  # noqa: PLC0415 - as above

    column = ground_truth.images.attributes.get(name)
    if isinstance(column, IdLists):
        return column
    reader = (
        "read_lvis reads them from a file of LVIS"
        if rules.needs_lists_of_lvis
        else "read_open_images reads them from image labels"
    )
    found = "no such column" if column is None else type(column).__name__
    raise DatasetError(
        f"{ground_truth.source}: the attribute {name!r} of the images: expected lists of ids, found {found}; "
        f"ioukit.datasets.{reader}, and GroundTruth.from_arrays takes IdLists as image_attributes"
    )


def narrowest_range(areas: npt.NDArray[np.float64], protocol: Protocol) -> npt.NDArray[np.int64]:
    """(N,) position of the narrowest range that each area lies in, the one with the highest lower end among equal ones.

    It is -1 where there is none, and everywhere if the ranges of the protocol are not ranges of areas.
    """
    found = np.full(len(areas), -1)
    ranges = enumerate(protocol.size_ranges)
    for at, (_, low, high) in sorted(ranges, key=lambda one: (one[1].high - one[1].low, -one[1].low), reverse=True):
        found[(low <= areas) & (areas <= high)] = at
    return found


def _within(side: GroundTruth | Detections, ranges: Iterable[ValueRange], array: str) -> npt.NDArray[np.bool_]:
    """(N,) whether all values of a row lie within their ranges.

    Args:
        side: The objects, or the detections.
        ranges: The ranges.
        array: The name of the rows in messages.

    Raises:
        DatasetError: If there is no such value, or it is not one number for each row.
    """
    inside = np.ones(len(side), np.bool_)
    for value, low, high in ranges:
        numbers = _numbers(side, value, array)
        inside &= ~(numbers < low) & ~(numbers > high)
    return inside


def _numbers(side: GroundTruth | Detections, value: str, array: str) -> npt.NDArray[np.float64]:
    if value in _OF_BOXES:
        at = _OF_BOXES.index(value)
        return side.boxes[:, at] if at < 4 else side.boxes[:, at - 4] + side.boxes[:, at - 2]
    column = side.attributes.get(value)
    if column is None or column.ndim != 1 or column.dtype.kind not in "biuf":
        found = "no such attribute" if column is None else f"shape {column.shape} of {column.dtype}"
        raise DatasetError(
            f"{side.source}: the attribute {value!r} of {array}: expected a number for each, found {found}; the "
            "protocol chooses rows by it, and from_arrays takes attributes="
        )
    return column.astype(np.float64)
