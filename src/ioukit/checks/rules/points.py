"""Rules about keypoints of detections: a little moved, or in another order.

Does not own: larger faults of places, which the boxes around keypoints show (``regions.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._checks import agree
from ioukit._words_and_colours import percent
from ioukit.checks.repairs.boxes import points_of
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.rules.regions import around
from ioukit.checks.suspicion import Suspicion, examples
from ioukit.datasets.columns._attributes import KEYPOINT_NAMES
from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.overlap.one_to_one import assign_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.typing import FloatArray


# Choices; none was measured alone.
OVERLAP = 0.3  # of the boxes around the points of an object and of the detection that lies on it
FEWEST, MOST = 10, 500  # such objects
FAR = 0.5  # of the root of the area of an object: a point further off is at no place of its own
NEARER = 0.7  # of the mean distance of the points before: a reading that leaves more of it is none
LEAST = 1.0  # pixels; how a network rounds moves points by less
SAME_WAY = 0.8  # of the objects have their points on the same side of those of their detection


class _Joined(NamedTuple):
    """Objects, and the points of the detection that lies on each."""

    found: FloatArray
    """(M, P, 2) points of the detections."""
    wanted: FloatArray
    """(M, P, 2) points of the objects."""
    labelled: NDArray[np.bool_]
    """(M, P) whether the object has the point, and the detection does not write it as 0, 0, unseen."""
    unit: FloatArray
    """(M,) the root of the area of the object."""


def points(case: Case) -> Iterator[Suspicion]:
    """Keypoints of detections that all lie a little beside those of their objects, or are in another order."""
    joined = _joined(case) if find_kind(case.iou_type).needs == KEYPOINTS else None
    if joined is not None:
        yield from _moved(case, joined)
        yield from _in_another_order(case, joined)


def _joined(case: Case) -> _Joined | None:
    """Some of the objects that a detection lies on, by the boxes around the points: these have no order."""
    found, wanted, boxes = points_of(case.detections), points_of(case.ground_truth), around(case, KEYPOINTS)
    if boxes is None or found is None or wanted is None or found.shape[1:] != wanted.shape[1:]:
        return None
    pairs = boxes.fewer_pairs
    if not len(pairs.objects):
        return None
    overlaps = boxes.overlaps_of(boxes.detections.boxes, pairs=pairs)
    best = np.repeat(pairs.best(overlaps), np.diff(np.append(pairs.starts, len(overlaps))))
    sides = case.ground_truth.boxes[:, 2:]
    on = np.flatnonzero((overlaps >= OVERLAP) & (overlaps == best) & (sides[pairs.objects] > 0).all(axis=1))
    on = on[:: max(1, -(-len(on) // MOST))]
    if len(on) < FEWEST:
        return None
    rows, objects = pairs.detections[on], pairs.objects[on]
    unit = np.sqrt(sides[objects].prod(axis=1))
    there = (wanted[objects, :, 2] > 0) & (found[rows, :, :2] != 0).any(axis=2)
    return _Joined(found[rows, :, :2], wanted[objects, :, :2], there, unit)


def _moved(case: Case, joined: _Joined) -> Iterator[Suspicion]:
    labelled = joined.labelled[..., None]
    apart = np.where(labelled, joined.found - joined.wanted, 0.0).sum(axis=1) / np.maximum(labelled.sum(axis=1), 1)
    shift = np.median(apart, axis=0)
    same_way = (np.sign(apart) == np.sign(shift)).mean(axis=0)
    x, y = (-shift).round(1).tolist()
    if same_way.max() < SAME_WAY or max(abs(x), abs(y)) < LEAST:
        return
    count = len(case.detections)
    yield Suspicion(
        "detections_moved", "likely",
        f"the keypoints of the detections match if they are moved by {x:+g}, {y:+g} pixels: so far they lie from those "
        f"of {len(apart):,} objects that were looked at, in the median, and on the same side of "
        f"{percent(float(same_way.max()), 0)} of them",
        count, count, "write the keypoints of the detections as they are on the image",
        repair=Repair("moved", f"{x:+g},{y:+g}"), least_gain=0.005,
    )  # fmt: skip


def _in_another_order(case: Case, joined: _Joined) -> Iterator[Suspicion]:
    """The order in which the points of the detections lie nearest to those of the objects, one to one."""
    number = joined.labelled.shape[1]
    costs = 1.0 - np.eye(number)  # (P, P) how far the points of detections are from each point of the objects
    for point in np.flatnonzero(joined.labelled.any(axis=0)).tolist():
        rows = joined.labelled[:, point]
        apart = joined.found[rows] - joined.wanted[rows, point][:, None]
        far = np.sqrt((apart**2).sum(axis=2)) / joined.unit[rows, None]
        costs[point] = np.minimum(far, FAR).mean(axis=0)
    order = assign_rows(costs)[1]
    before, after = (float(costs[np.arange(number), which].mean()) for which in (np.arange(number), order))
    other = np.flatnonzero(order != np.arange(number))
    if not len(other) or after > NEARER * before:
        return
    given = case.ground_truth.categories.attributes.get(KEYPOINT_NAMES)
    names = [f"point {at} (from 0)" for at in range(number)]
    if given is not None and given.shape[1] == number:
        names = given[0].tolist()
    in_pairs = ", in pairs, as left and right are exchanged" if (order[order] == np.arange(number)).all() else ""
    count = len(case.detections)
    yield Suspicion(
        "detections_in_another_order", "likely",
        f"the keypoints of the detections match in another order: {len(other)} of {number} "
        f"{agree(len(other), 'lie')} at the places of others{in_pairs}, on {len(joined.unit):,} objects that were "
        f"looked at; the mean distance is then {after:.2f} instead of {before:.2f} of the root of the area of the box",
        count, count, "write the keypoints of the detections in the order of the ground truth",
        examples(f"{names[order[at]]} lies at {names[at]}" for at in other.tolist()),
        repair=Repair("points", ",".join(map(str, order.tolist()))), least_gain=0.005,
    )  # fmt: skip
