"""Rules about regions that are no upright boxes: where they lie, and how the angles of rotated boxes are meant.

Owns: the comparison of the upright boxes around regions, by the rules about places; the readings of angles, which are
those of `ioukit.checks.diagnose`. Does not own: where upright boxes lie (``places.py``, ``frames.py``), and what only
keypoints themselves show (``points.py``).
"""

from __future__ import annotations

import dataclasses
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import check_threads
from ioukit.checks.case import Case
from ioukit.checks.diagnosis.boxes import LAYOUTS
from ioukit.checks.diagnosis.turned import in_other_unit
from ioukit.checks.repairs.boxes import MOVED, points_of
from ioukit.checks.repairs.regions import around_points, read_angles
from ioukit.checks.repairs.repair import Repair, replaced
from ioukit.checks.rules.boxes import readings
from ioukit.checks.rules.cuts import cuts
from ioukit.checks.rules.frames import frames
from ioukit.checks.rules.places import places
from ioukit.checks.rules.readings import NAMES, OTHER, better_on_all
from ioukit.checks.rules.rounding import grid_of
from ioukit.checks.suspicion import Suspicion
from ioukit.datasets.columns._checks import pixel_boxes
from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Side
    from ioukit.typing import FloatArray


WORDS = {"Masks": "masks", "RotatedBoxes": "rotated boxes", "Polygons": "polygons", KEYPOINTS: "keypoints"}
REPAIRED = {**dict.fromkeys(MOVED, ("moved",)), KEYPOINTS: ("units", "network", "turn", "moved", "points")}
"""Which repairs of boxes change these regions, too."""
MEANINGS = {
    "other-sense": "their angles turn the other way",
    "degrees": "their angles are degrees, not radians",
    "radians": "their angles are radians, not degrees",
    "quarter-turn": "they are turned by a quarter, so that width and height are exchanged",
}

EITHER_SIDE = ("other-sense", "quarter-turn")
# A detector that does not know the angles has some images on which boxes fit better crosswise, by chance.
TURNED = ("crosswise", "turned")

# Choices; none was measured alone.
LEAST_OF_POINTS = 0.05  # by which the AP of the boxes around keypoints must rise
QUARTER, EXACT = np.pi / 2, 1e-6  # radians
FEWEST, MOST_ALIKE = 10, 0.5  # regions that are all upright, or all boxes, and the share of the other side that is, too


def lie_apart(case: Case) -> Iterator[Suspicion]:
    """Masks, rotated boxes, polygons and keypoints at another place, by the upright boxes around them.

    What the rules about places suspect of these boxes counts if the repair raises the AP of these boxes. Only the one
    that raises it most is told: the others can be its consequences, and most regions have no repair that would show it.
    """
    name = find_kind(case.iou_type).needs
    boxes = around(case, name) if name in WORDS else None
    if name is None or boxes is None or any(_lost_angles(case)):
        return  # upright boxes around turned ones are larger: a consequence of lost angles
    best: tuple[float, Suspicion] | None = None
    others: list[Suspicion] = []
    for one in _of_points(boxes) if name == KEYPOINTS else chain(frames(boxes), places(boxes)):
        if one.repair is None:
            others += [one] if not one.code.endswith(TURNED) else []
            continue
        mended = boxes.mended(one.repair)
        if mended is None or _within_a_step(boxes, mended, one.repair.side):
            continue
        before, after = (next(iter(each.summary.values())) for each in (boxes, mended))
        if after - before >= one.least_gain and (best is None or after - before > best[0]):
            kept = one.repair if one.repair.name in REPAIRED.get(name, ()) else None
            said = "" if kept else f"; the AP of these boxes is {after:.3f} instead of {before:.3f} then"
            message = f"{one.message}{said}"
            best = after - before, dataclasses.replace(one, message=message, sure="likely", repair=kept)
    for one in others if best is None else [best[1]]:
        message = f"compared by the upright boxes around the {WORDS[name]}, {one.message}"
        yield dataclasses.replace(one, message=message, hint=one.hint.replace("boxes", WORDS[name]))


def _of_points(boxes: Case) -> Iterator[Suspicion]:
    """What is suspected of the boxes around keypoints, in the words of keypoints, which have no width and no height.

    These boxes depend on which points are labelled, so sizes that differ a little mean nothing.
    """
    for one in chain(readings(boxes), frames(boxes), places(boxes), cuts(boxes)):
        repair = one.repair
        if repair is not None and repair.name not in REPAIRED[KEYPOINTS]:
            if (repair.name, repair.value) != ("boxes", "yxhw"):
                continue
            texts = [text.replace(LAYOUTS["yxhw"], "[y, x]") for text in (one.message, one.hint)]
            repair = dataclasses.replace(repair, name="points", value="yx")
            one = dataclasses.replace(  # noqa: PLW2901
                one, code=f"{repair.side}_are_yx", message=texts[0], hint=texts[1], repair=repair
            )
        yield dataclasses.replace(one, least_gain=LEAST_OF_POINTS)


def _within_a_step(case: Case, mended: Case, side: Side) -> bool:
    """Whether a repair moves the corners of rounded boxes by less than their step: then it mends the rounding."""
    if (grid := grid_of(case, side)) is None:
        return False
    before, after = (convert(each.data.of(side).boxes, "xywh", "xyxy") for each in (case, mended))
    return bool((np.median(np.abs(after - before), axis=0) < np.median(np.tile(grid.steps, 2), axis=0)).all())


def around(case: Case, name: str) -> Case | None:
    """The case of the upright boxes around the regions; ``None`` if they cannot be read."""
    data = case.data
    try:
        for side in (case.ground_truth, case.detections):
            regions: Any = case.masks_of(side) if name == "Masks" else side.regions.get(name)
            if name == KEYPOINTS:
                regions = points_of(side)
            if regions is None:
                return None
            boxes = around_points(side, regions) if name == KEYPOINTS else regions.to_boxes()
            data = data.with_side(replaced(side, boxes=pixel_boxes(boxes, len(side))))
    except (ValueError, OSError):
        return None  # an error where they are compared
    return Case(data, case.protocol, threads=case.threads)


class _Meaning(NamedTuple):
    """Another meaning of the angles of one side."""

    side: Side
    how: str
    before: float
    after: float

    @property
    def gain(self) -> float:
        return self.after - self.before


def angles(case: Case) -> Iterator[Suspicion]:
    """Rotated boxes that match those of the other side if their angles are meant in another way, and lost angles.

    The meanings are those that `ioukit.checks.diagnose` knows, and a quarter turn. A meaning is suspicious if the mean
    IoU of the objects with their best detection rises on nearly all images. Of the sense and of a quarter turn, nothing
    tells which side is wrong, so it is told of the detections.
    """
    given = _rotated(case)
    if given is None or not len(case.pairs.objects):
        return
    lost = list(_lost_angles(case))
    if lost:
        yield from lost
        return
    now = _overlaps(case, given)
    best: _Meaning | None = None
    for side in NAMES:
        reading = in_other_unit(given[side])
        units = [] if reading is None else [reading[0].unit]
        for how in [*units, *(EITHER_SIDE if side == "detections" else ())]:
            then = _overlaps(case, {**given, side: read_angles(given[side], how)})
            if better_on_all(now, then, case.fewer_pairs):
                before, after = (float(case.fewer_pairs.best(each).mean()) for each in (now, then))
                one = _Meaning(side, how, before, after)
                best = one if best is None or one.gain > best.gain else best
    if best is not None:
        yield _meant(case, best)


def _meant(case: Case, meaning: _Meaning) -> Suspicion:
    side, how, before, after = meaning
    total = len(case.data.of(side))
    other = NAMES[OTHER[side]]
    either = f". It may as well be the angles of the {other} that are wrong" if how in EITHER_SIDE else ""
    return Suspicion(
        f"{side}_angles_{how.replace('-', '_')}", "likely",
        f"the rotated boxes of the {NAMES[side]} match if {MEANINGS[how]}: the objects' mean IoU with their best "
        f"detection is then {after:.2f} instead of {before:.2f}{either}",
        total, total, f"write the angles of the {NAMES[side]} as those of the {other} are meant",
        repair=Repair("angles", how, side), least_gain=0.005,
    )  # fmt: skip


def _rotated(case: Case) -> dict[Side, Any] | None:
    """The rotated boxes of both sides; ``None`` if they are not what is compared."""
    given = {side: case.data.of(side).regions.get("RotatedBoxes") for side in NAMES}
    return None if find_kind(case.iou_type).needs != "RotatedBoxes" or None in given.values() else given


def _lost_angles(case: Case) -> Iterator[Suspicion]:
    """One side whose boxes are all upright, where those of the other side are turned."""
    given = _rotated(case)
    if given is None:
        return
    upright = {side: _upright(regions) for side, regions in given.items()}
    for side, said in _all_of_one_side(upright, "rotated boxes", "are upright"):
        yield Suspicion(
            f"{side}_without_angles", "likely", f"{said}: the angles were lost", len(upright[side]),
            len(upright[side]), f"write the angles of the {NAMES[side]}",
        )  # fmt: skip


def shapes(case: Case) -> Iterator[Suspicion]:
    """One side whose masks all fill their boxes, where those of the other side do not."""
    boxes = around(case, "Masks") if find_kind(case.iou_type).needs == "Masks" else None
    if boxes is None:
        return
    filled = {side: _fills(case.masks_of(case.data.of(side)), boxes.data.of(side).boxes) for side in NAMES}
    for side, said in _all_of_one_side(filled, "masks", "fill the box around them"):
        yield Suspicion(
            f"{side}_without_shapes", "likely", f"{said}: they were made from boxes", len(filled[side]),
            len(filled[side]), f"write the masks of the {NAMES[side]}",
        )  # fmt: skip


def _fills(masks: Any, boxes: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(masks.area == boxes[:, 2] * boxes[:, 3])


def _all_of_one_side(rows: dict[Side, NDArray[np.bool_]], what: str, are: str) -> Iterator[tuple[Side, str]]:
    """The side of which all rows are so, where few of the other side are, and both in words."""
    for side, other in OTHER.items():
        ours, theirs = rows[side], rows[other]
        if len(ours) >= FEWEST and len(theirs) and ours.all() and theirs.mean() <= MOST_ALIKE:
            few = f"{int(theirs.sum()):,} of {len(theirs):,} of the {NAMES[other]}"
            yield side, f"all {len(ours):,} {what} of the {NAMES[side]} {are}, and {few}"


def _upright(boxes: Any) -> NDArray[np.bool_]:
    turns = boxes.convert(unit="radians").angle.astype(np.float64) / QUARTER
    return np.asarray(np.abs(turns - np.round(turns)) <= EXACT)


def _overlaps(case: Case, regions: dict[Side, Any]) -> FloatArray:
    """(P,) the IoU of the rotated boxes of some of the pairs."""
    from ioukit.overlap.engines.engine import engine_of  # noqa: PLC0415 - for regions that are no upright boxes

    pairs, found, objects = case.fewer_pairs, regions["detections"], regions["ground_truth"]
    rows, others = (np.ascontiguousarray(each, np.int64) for each in (pairs.detections, pairs.objects))
    engine: Any = engine_of(found, objects)
    overlaps: FloatArray = engine.pairs("iou", found, objects, rows, others, check_threads(case.threads))
    return np.nan_to_num(overlaps)
