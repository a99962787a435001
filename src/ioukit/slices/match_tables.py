"""The match tables of parts of a data set: the numbers of a part are the numbers of its table."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ioukit._array_types import Flags
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation import MatchTable, match
from ioukit.evaluation.counting import range_flags
from ioukit.evaluation.protocols import AreaRange, Protocol

_AT_ONCE = 16
"""How many area ranges are matched at once: the time of each rises slowly with their number, and memory too."""


class ObjectPart(NamedTuple):
    """Objects that count, and detections that are ignored unless they match one of them."""

    objects: Flags
    """(G,) whether each object counts; the others are ignored."""
    ignored: Flags
    """(N,) whether each detection is ignored where it has no match."""


def check_object_parts(protocol: Protocol) -> None:
    """Refuse a protocol whose matches depend on the score threshold.

    Raises:
        ValueError: If it is one.
    """
    if why := protocol.why_matches_vary:
        raise ValueError(
            f"the protocol {protocol.name!r} cannot ignore some of the objects: {why}; choose images instead"
        )


def tables_of_objects(
    data: tuple[GroundTruth, Detections],
    whole: MatchTable,
    choices: Sequence[ObjectPart],
    *,
    area_ranges: Sequence[str] | None = None,
    threads: int | None = None,
) -> Iterator[MatchTable]:
    """The match table of each choice of objects: the others are ignored, as by COCO's area ranges.

    A detection prefers an object that counts to one that is ignored. One that matches an ignored object is ignored. A
    detection without a match is a false positive, unless the choice ignores it or the area range does.

    Args:
        data: The data that was matched.
        whole: Its match table.
        choices: The objects that count and the detections that are ignored.
        area_ranges: Labels of the area ranges that the tables need; all of the protocol if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: As :func:`check_object_parts`.
    """
    protocol = whole.protocol
    check_object_parts(protocol)
    kept = [area for area in protocol.area_ranges if area_ranges is None or area.label in area_ranges]
    of_part = protocol.replace(area_ranges=kept)
    step = max(1, _AT_ONCE // len(kept))
    for start in range(0, len(choices), step):
        some = choices[start : start + step]
        joint = _matched(data, whole, some, kept, threads)
        for at, choice in enumerate(some):
            yield _of_ranges(joint, slice(at * len(kept), (at + 1) * len(kept)), of_part, choice.ignored)


def _matched(
    data: tuple[GroundTruth, Detections],
    whole: MatchTable,
    choices: Sequence[ObjectPart],
    ranges: Sequence[AreaRange],
    threads: int | None,
) -> MatchTable:
    """One table with the area ranges of the first choice, then those of the second, and so on."""
    gt, dt = data
    flags, labelled = dict(gt.flags), []
    for at, choice in enumerate(choices):
        for area in ranges:
            label = f"{area.label} of part {at}"
            flags[label] = choice.objects & range_flags(gt, whole.protocol, area.label)
            labelled.append(AreaRange(label, area.low, area.high))
    return match(
        dataclasses.replace(gt, flags=flags),
        dt,
        whole.protocol.replace(area_ranges=labelled, ranges_by="flag"),
        iou_type=whole.iou_type,
        categories=whole.categories.ids.tolist(),
        images=whole.image_ids,
        threads=threads,
    )


def _of_ranges(joint: MatchTable, ranges: slice, protocol: Protocol, ignored: Flags) -> MatchTable:
    """The table of some of the area ranges, in which some detections without a match are ignored."""
    rows, objects, pairs = joint.detections, joint.objects, joint.pairs
    thresholds = np.packbits(np.ones(len(protocol.iou_thresholds), np.bool_), bitorder="little")  # (B,) all of them
    matched = np.ascontiguousarray(rows.matched[:, ranges])  # (N, A, B)
    alone = np.where(ignored[rows.row][:, np.newaxis, np.newaxis], ~matched & thresholds, np.uint8(0))
    of_pairs = np.ascontiguousarray(pairs.matched[:, ranges])
    meets = np.flatnonzero(of_pairs.any(axis=(1, 2)))
    bits: Any = np.unpackbits(objects.ignored, axis=1, bitorder="little")[:, ranges]
    return dataclasses.replace(
        joint,
        protocol=protocol,
        detections=dataclasses.replace(rows, matched=matched, ignored=rows.ignored[:, ranges] | alone),
        objects=dataclasses.replace(objects, ignored=np.packbits(bits, axis=1, bitorder="little")),
        pairs=dataclasses.replace(pairs.take(meets), matched=of_pairs[meets]),
    )
