"""What plain rules say about the marks of a scene, and whether the reasons that the viewer gives are true."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from evaluation.plain_rules import Found, _box_iou, never_counts, plain_matching, with_outside

if TYPE_CHECKING:
    from ioukit import Detections, GroundTruth, Protocol
    from ioukit.evaluation import MatchTable
    from ioukit.evaluation.protocols import AreaRange
    from ioukit.viewer.images.reasons import Reason

__all__ = ["LEAST", "Facts", "check_detection", "check_object"]

LEAST = 0.1
"""The lowest IoU of the near pairs."""


class Plain(NamedTuple):
    """The facts about two rows of the data."""

    iou: float
    meets: bool
    alike: bool
    area: bool
    """Whether the overlap is the share of the detection that lies in the object, as for crowds."""


def plain_pairs(gt: GroundTruth, dt: Detections, protocol: Protocol, threshold: float) -> dict[tuple[int, int], Plain]:
    """Every detection with every object of its image, by plain rules."""
    gt = with_outside(gt, protocol)
    rules = [rule for rule in protocol.ignored if rule.flag in gt.flags]
    images = dt.image_ids_in(gt.images)
    found = {}
    for row in range(len(dt)):
        for place in range(len(gt)):
            if gt.image_ids[place] != images[row]:
                continue
            if protocol.without_area == "left_out" and gt.areas[place] <= 0:
                continue
            flagged = [rule for rule in rules if gt.flags[rule.flag][place]]
            area = any(rule.over_detection for rule in flagged)
            iou = _box_iou(dt, gt, row, place, crowd=area, protocol=protocol)
            exceed = protocol.threshold == "more_than" or any(rule.more_than for rule in flagged)
            meets = iou > threshold if exceed else iou >= min(threshold, 1 - 1e-10)
            alike = protocol.class_agnostic or gt.category_ids[place] == dt.category_ids[row]
            found[row, place] = Plain(iou, bool(meets and iou > 0), bool(alike), area)
    return found


class Facts(NamedTuple):
    """What plain rules say; all rows are those of the data."""

    gt: GroundTruth
    dt: Detections
    protocol: Protocol
    area: AreaRange
    score: float
    found: Found
    pairs: dict[tuple[int, int], Plain]
    ignored: set[int]
    counted: set[int]
    took: dict[int, int]
    right: dict[int, int]
    listed: set[int]
    """The detections that the table lists; the others were left out before."""
    threshold: float

    @classmethod
    def of(
        cls, table: MatchTable, gt: GroundTruth, dt: Detections, threshold: float, area: AreaRange, score: float
    ) -> Facts:
        protocol, listed = table.protocol, set(table.detections.row.tolist())
        found = plain_matching(gt, dt, protocol, threshold, area, protocol.max_dets[-1])
        flagged = with_outside(gt, protocol)
        ignored = {
            row
            for row in range(len(gt))
            if never_counts(flagged, protocol, row) or not area.low <= gt.areas[row] <= area.high
        }
        counted = {row for row in found.counted if dt.scores[row] >= score}
        took = {row: place for row, place in found.matched.items() if row in counted}
        right = {row: place for row, place in took.items() if row not in found.ignored}
        pairs = plain_pairs(gt, dt, protocol, threshold)
        return cls(gt, dt, protocol, area, score, found, pairs, ignored, counted, took, right, listed, threshold)


def check_detection(facts: Facts, row: int, reason: Reason, place: int, taker: int) -> None:
    """The reason of a detection is true; `place` and `taker` are the other marks that it names, -1 for none."""
    code = reason.code
    if place >= 0:
        assert reason.iou == pytest.approx(facts.pairs[row, place].iou, abs=1e-12)
    if row not in facts.found.counted:
        assert code in ("beyond_cap", "left_out")
    elif row not in facts.counted:
        assert code == "below_score"
    elif row in facts.right:
        assert (code, place) == ("matched", facts.right[row])
    elif row in facts.took:
        assert (code, place) == (
            "ignored_match" if facts.took[row] in facts.ignored else "found_before",
            facts.took[row],
        )
    elif row in facts.found.ignored:
        assert code in ("not_exhaustive", "outside")
        if code == "outside":
            assert not facts.area.low <= facts.dt.areas_or_those_of_boxes()[row] <= facts.area.high
    else:
        check_false_positive(facts, row, reason, place, taker)


def plain_kind(facts: Facts, row: int, threshold: float) -> tuple[str, set[int]]:
    """The kind of error of a false positive as docs/errors.md has it, and the objects that make it one of this kind."""
    least = min(LEAST, threshold)
    same, other = (
        {
            place: fact.iou
            for (one, place), fact in facts.pairs.items()
            if one == row and place not in facts.ignored and fact.alike == alike and fact.iou >= least
        }
        for alike in (True, False)
    )
    fits = min(threshold, 1 - 1e-10)
    highest_same, highest_other = max(same.values(), default=0), max(other.values(), default=0)
    if least <= highest_same <= fits:
        return "localisation", set(same)
    if highest_other >= fits:
        return "classification", {place for place, iou in other.items() if iou >= fits}
    if highest_same >= fits:
        return "duplicate", {place for place, iou in same.items() if iou >= fits}
    return ("background", set()) if highest_other <= least else ("both", set(other))


def check_false_positive(facts: Facts, row: int, reason: Reason, place: int, taker: int) -> None:
    kind, makers = plain_kind(facts, row, facts.threshold)
    near = {other: fact for (one, other), fact in facts.pairs.items() if one == row and fact.iou >= LEAST}
    alike = {other: fact.iou for other, fact in near.items() if fact.alike}
    # A share of the detection that lies in a crowd is no IoU: crowds are named only where nothing else is close.
    closeness = {other: (fact.meets, not fact.area, fact.iou) for other, fact in near.items()}
    best_free = facts.protocol.choice == "best_free"
    reaching = [other for other in alike if near[other].meets]
    if kind == "duplicate":
        assert reason.code == "taken" or not reaching
    elif kind != "background":
        assert place in makers
        assert closeness[place] == max(closeness[other] for other in makers)
        assert reason.code in (("other_class",) if kind != "localisation" else ("taken", "below"))
    assert ("No object that counts" in reason.words) == (kind == "background" and reason.code != "background")
    if reason.code == "taken":
        assert place in reaching
        assert facts.found.matched[taker] == place
        assert facts.dt.scores[taker] >= facts.dt.scores[row]
        assert ("same score" in reason.words) == (facts.dt.scores[taker] == facts.dt.scores[row])
        assert not best_free or alike[place] == max(alike[other] for other in reaching)
        return
    assert not best_free or not reaching or " matches that object" in reason.words
    if reason.code == "other_class":
        assert not near[place].alike
    elif reason.code == "below":
        assert closeness[place] == max(closeness[other] for other in makers or alike)
    else:
        assert reason.code == "background"
        assert not near


def check_object(facts: Facts, place: int, reason: Reason, row: int, other: int) -> None:
    """The reason of an object is true; `row` and `other` are the detection and the object that it names."""
    code = reason.code
    if row >= 0:
        assert reason.iou == pytest.approx(facts.pairs[row, place].iou, abs=1e-12)
    if place in facts.ignored:
        assert code == "ignored"
        times = list(facts.took.values()).count(place)
        assert ("does not count either" in reason.words) == (times == 1)
        assert (f"The {times} detections" in reason.words) == (times > 1)
    elif place in facts.right.values():
        assert code == "found"
        assert facts.right[row] == place
    elif place in facts.found.matched.values():
        assert code == "below_score"
        assert facts.found.matched[row] == place
        assert facts.dt.scores[row] < facts.score
    else:
        check_missed(facts, place, reason, row, other)


def check_missed(facts: Facts, place: int, reason: Reason, row: int, other: int) -> None:
    """No detection takes the object, whatever the scores."""
    code = reason.code
    listed = facts.found.counted
    near = {one: fact for (one, its), fact in facts.pairs.items() if its == place and fact.iou >= LEAST}
    alike = {one: fact.iou for one, fact in near.items() if fact.alike and one in facts.listed}
    reaching = [one for one in alike if near[one].meets and one in listed]
    counted = [one for one in alike if one in facts.counted]
    if code == "took_another":
        assert row in reaching
        assert (row in counted) == any(one in counted for one in reaching)
        assert facts.protocol.choice != "best_free" or facts.found.matched[row] == other
        return
    assert not reaching
    if code in ("beyond_cap", "left_out"):
        assert near[row].meets
        assert row in alike
        assert row not in listed
    elif code == "low_iou":
        within = [one for one in alike if one in listed]
        # Up to the last bit: boxes that a protocol makes equal have equal overlaps only up to rounding.
        assert alike[row] == pytest.approx(max(alike[one] for one in counted or within or alike), abs=1e-12)
        assert (row in counted) == bool(counted)
    elif code == "other_class":
        assert not alike
        others = [one for one, fact in near.items() if not fact.alike and one in facts.listed]
        counted, within = ([one for one in others if one in some] for some in (facts.counted, listed))
        assert near[row].iou == pytest.approx(max(near[one].iou for one in counted or within or others), abs=1e-12)
        assert (row in counted) == bool(counted)
    else:
        assert code == "none"
        assert not any(one in facts.listed for one in near)
