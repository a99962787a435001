"""Protocols in which objects choose among the detections, such as KITTI's.

Owns everything that these protocols do differently: which ranges ignore an object by its attributes, which detections
need not match, the curves, orientations, and the IoU threshold of each category. matching.py, counting.py, curves.py
and summary.py call it at one place each, only if a protocol has ``objects_choose``. The rules themselves are data
(protocols/object_choice.py); the choices run in the core (object_choice.rs).

Cut here because the detections that an object can choose depend on the score threshold, and the thresholds depend on
the whole data set. So a list of matches is not enough, but a match table is: its near pairs hold all that the choices
need, and tables of a split of the images still add up. The matches of the table are those of detections that choose by
their scores; outcomes and other analyses use them.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import ChoiceColumns
from ioukit._checks import pluralize
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.object_choice import ObjectChoice
from ioukit.evaluation.table import OVER_DETECTION, DetectionRows, MatchTable, ObjectRows

_NONE = np.iinfo(np.uint32).max
_NO_ANGLE = -10
"""What KITTI's files have for an unknown angle."""
_MOST_ANGLE = 4 * np.pi
"""Two turns. An angle in radians is within half a turn; one that was added to another may be beyond a turn."""


def check_selection(known: Categories, chosen: Categories, protocol: Protocol) -> None:
    """Refuse a part of the categories.

    Raises:
        ValueError: If some categories are not chosen.
    """
    left_out = [name for number, name in zip(known.ids, known.names, strict=True) if number not in chosen.ids]
    if left_out:
        raise ValueError(
            f"the protocol {protocol.name!r} needs all categories, because detections of one may match objects of "
            f"another; expected no selection, got one without {', '.join(left_out[:5])}. per_class has the numbers of "
            "each category"
        )


def ignored_ranges(ground_truth: GroundTruth, protocol: Protocol, choice: ObjectChoice) -> npt.NDArray[np.uint8]:
    """(G, C) the area ranges that ignore each object because of the limits of its attributes, as bits.

    Raises:
        DatasetError: If the ground truth lacks an attribute.
    """
    count, ranges = len(ground_truth), len(protocol.area_ranges)
    beyond = np.zeros((count, ranges), np.bool_)
    for limit in choice.limits if count else ():
        values = ground_truth.attributes.get(limit.attribute)
        if values is None or values.shape != (count,) or values.dtype.kind not in "iufb":
            found = "none" if values is None else f"{values.dtype} of shape {values.shape}"
            raise DatasetError(
                f"{ground_truth.source}: the protocol {protocol.name!r} needs the attribute {limit.attribute!r} of the "
                f"objects: expected ({count},) numbers, found {found}. Files in KITTI's format have it; "
                "GroundTruth.from_arrays takes attributes="
            )
        # NaN is within every limit, as in a comparison in C++.
        beyond |= values[:, None] > np.array(limit.at_most)
    return np.packbits(beyond, axis=1, bitorder="little")


def with_ranges(
    table: MatchTable, ground_truth: GroundTruth, detections: Detections, choice: ObjectChoice
) -> MatchTable:
    """The table with the ranges that each detection is outside of, and with detections that need not match ignored.

    It has the orientations, too, if the rules read them.

    Args:
        table: The matches, with near pairs.
        ground_truth: What was matched.
        detections: What was matched.
        choice: The rules.

    Raises:
        DatasetError: If an object or a detection of an evaluated category lacks its orientation.
    """
    rows, protocol = table.detections, table.protocol
    height = detections.boxes[rows.row, 3][:, None]
    low, high = (np.array([limits[end] for limits in protocol.area_ranges]) for end in (1, 2))
    outside = np.packbits((height < low) | (height > high), axis=1, bitorder="little")
    assert table.near is not None
    neighbour = _neighbours(table.categories, choice)[table.objects.category[table.near.object]]
    excuses = (neighbour == rows.category[table.near.detection]) | _uncounted(table)
    thresholds = np.array(protocol.iou_thresholds)
    excused = np.zeros((len(rows), len(thresholds)), np.bool_)
    pairs = np.flatnonzero(excuses)
    np.logical_or.at(excused, table.near.detection[pairs], table.near.iou[pairs, None] > thresholds)
    bits = np.packbits(excused, axis=1, bitorder="little")[:, None, :]
    ignored = rows.ignored | (bits & ~rows.matched)
    rows, objects = dataclasses.replace(rows, ignored=ignored, outside=outside), table.objects
    if choice.orientation:
        rows = dataclasses.replace(rows, angle=_angles(table, rows, detections, choice))
        objects = dataclasses.replace(objects, angle=_angles(table, objects, ground_truth, choice))
    return dataclasses.replace(table, detections=rows, objects=objects)


def _angles(
    table: MatchTable, rows: DetectionRows | ObjectRows, data: GroundTruth | Detections, choice: ObjectChoice
) -> npt.NDArray[np.float64]:
    """(N,) the orientation of each row; NaN if it is unknown and of a category that is not evaluated.

    Raises:
        DatasetError: If one of an evaluated category is unknown, or beyond two turns, as degrees are.
    """
    given = data.attributes.get(choice.orientation)
    usable = given is not None and given.shape == (len(data),) and given.dtype.kind in "iuf"
    angles = np.asarray(given, np.float64)[rows.row] if given is not None and usable else np.full(len(rows), np.nan)
    angles = np.where(np.isfinite(angles) & (angles != _NO_ANGLE), angles, np.nan)
    evaluated = np.array([choice.threshold_of(name) is not None for name in table.categories.names], np.bool_)
    wanted = evaluated[rows.category]
    if lacks := int(np.count_nonzero(wanted & np.isnan(angles))):
        side = "objects" if isinstance(data, GroundTruth) else "detections"
        found = f"none for {lacks:,} of {pluralize(int(wanted.sum()), side[:-1])} (NaN and {_NO_ANGLE} are none)"
        raise DatasetError(
            f"{data.source}: the protocol {table.protocol.name!r} needs the attribute {choice.orientation!r} of the "
            f"{side}: expected an angle in radians for each one of {', '.join(dict(choice.iou_thresholds))}, found "
            f"{found}. The protocol 'kitti' needs no angles"
        )
    if (far := wanted & (np.abs(angles) > _MOST_ANGLE)).any():
        side = "objects" if isinstance(data, GroundTruth) else "detections"
        raise DatasetError(
            f"{data.source}: the protocol {table.protocol.name!r} needs the attribute {choice.orientation!r} of the "
            f"{side}: expected angles in radians, found {angles[far][0]:g}; are they in degrees?"
        )
    return angles


def step_curves(table: MatchTable, choice: ObjectChoice) -> dict[str, npt.NDArray[Any]]:
    """Precision and scores at the recalls of the protocol, and recall, as :func:`ioukit.evaluation.accumulate` has it.

    If the rules read orientations, ``"AOS"`` is the mean of the similarity of orientation at these recalls.

    Raises:
        ValueError: If the table was not matched by such a protocol.
    """
    rows, objects, near, protocol = table.detections, table.objects, table.near, table.protocol
    unread = choice.orientation and (rows.angle is None or objects.angle is None)
    if near is None or rows.outside is None or unread:
        raise ValueError(f"the table was not matched by the protocol {protocol.name!r}: match the data again")
    uncounted = np.zeros(len(rows))
    covered = _uncounted(table)
    np.maximum.at(uncounted, near.detection[covered], near.iou[covered])
    # Objects choose in the order of the ground truth, among detections in the order of their source.
    kept = np.flatnonzero(~covered)
    detection, place = near.detection[kept], near.object[kept]
    order = np.lexsort((rows.row[detection], objects.row[place], objects.image[place]))
    turned = np.zeros(len(kept))
    if rows.angle is not None and objects.angle is not None:
        turned = objects.angle[place] - rows.angle[detection]
    evaluated = [choice.threshold_of(name) is not None for name in table.categories.names]
    found: dict[str, npt.NDArray[Any]] = _core.step_curves(
        ChoiceColumns(
            category=rows.category,
            rank=rows.rank,
            score=rows.score,
            outside=rows.outside,
            uncounted=uncounted,
            object_category=objects.category,
            neighbour=_neighbours(table.categories, choice)[objects.category],
            ignored=objects.ignored,
            pair_detection=detection[order],
            pair_object=place[order],
            pair_overlap=near.iou[kept[order]],
            pair_turned=turned[order],
            num_objects=np.where(np.array(evaluated, np.bool_)[:, None], table.num_objects, 0).astype(np.uint64),
        ),
        np.array(protocol.iou_thresholds),
        np.array(protocol.max_dets, np.uint32),
        choice.steps,
    )
    # The first step with at least this recall. Recalls such as 0.3 are not exact.
    at = np.ceil(np.array(protocol.recall_thresholds) * choice.steps - 1e-9).astype(np.int64)
    points = {name: np.ascontiguousarray(found[name][..., at]) for name in ("precision", "scores")}
    similarity = {"AOS": found["similarity"][..., at].mean(axis=-1)} if choice.orientation else {}
    return {**points, "recall": found["recall"], **similarity}


def at_own_thresholds(
    array: npt.NDArray[np.float64], categories: Categories, protocol: Protocol, choice: ObjectChoice
) -> npt.NDArray[np.float64]:
    """(1, ..., K) the part of (T, ..., K) at the IoU threshold of each category; NaN for a category without one."""
    found = np.full((1, *array.shape[1:]), np.nan)
    for at, name in enumerate(categories.names):
        if (threshold := choice.threshold_of(name)) is not None:
            found[0, ..., at] = array[protocol.position_of_iou(threshold), ..., at]
    return found


def _uncounted(table: MatchTable) -> npt.NDArray[np.bool_]:
    """(Q,) whether the object of each near pair is an area in which detections do not count."""
    assert table.near is not None
    over_detection = (table.objects.special & OVER_DETECTION).astype(np.bool_)
    return np.asarray(over_detection[table.near.object])


def _neighbours(categories: Categories, choice: ObjectChoice) -> npt.NDArray[np.uint32]:
    """(K,) the position of the category of which each category is the neighbour; a large number if there is none."""
    position: dict[str | None, int] = {name: at for at, name in enumerate(categories.names)}
    return np.array([position.get(choice.neighbour_of(name), _NONE) for name in categories.names], np.uint32)
