"""The walk from one number to another: its ends are those of the protocols, and each step changes one rule."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from evaluation.test_rules import RULES as VALUES
from evaluation.test_rules import protocols, scenes
from ioukit import COCO, Detections, GroundTruth, Protocol, evaluate
from ioukit.evaluation import ProtocolDifference, compare_protocols, explain_difference, find_tool
from ioukit.evaluation.disagreement.one_number import rules_of_number
from ioukit.evaluation.disagreement.rules import RULES, _plain
from ioukit.evaluation.protocols import NO_CAP, PROTOCOLS, Measure, MissRateRule, find_protocol
from ioukit.evaluation.protocols.parts import Integral

Scene = tuple[GroundTruth, Detections]


@st.composite
def numbers(draw: st.DrawFn) -> tuple[Protocol, str]:
    """A protocol, and a measure that it has."""
    protocol = draw(protocols())
    keys = [measure.key for measure in protocol.measures if protocol.defines(measure)]
    return protocol, draw(st.sampled_from(keys))


def same(a: float, b: float) -> bool:
    """Equal to the last bit, or both undefined."""
    return a == b or (math.isnan(a) and math.isnan(b))


# ---- The walk, over random data and random pairs of protocols.


def test_a_smaller_cap_of_all_categories_needs_the_last_one() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 4, 4]], categories={1: "a", 2: "b"})
    boxes = [[0, 0, 4, 4], [0, 0, 4, 4]]
    dt = Detections.from_arrays(image_ids=[1, 1], category_ids=[2, 1], boxes=boxes, scores=[0.5, 0.5])
    protocol = COCO.replace(class_agnostic=True, cap_scope="image", max_dets=[1, 2])
    assert evaluate(gt, dt, protocol).summary["AR1"] == 0
    assert evaluate(gt, dt, rules_of_number(protocol, "AR1")).summary["AR1"] == 0
    assert evaluate(gt, dt, rules_of_number(protocol.replace(max_dets=[1]), "AR1")).summary["AR1"] == 1


@given(scenes(), numbers())
def test_the_rules_of_a_number_give_this_number(data: Scene, number: tuple[Protocol, str]) -> None:
    protocol, key = number
    rules = rules_of_number(protocol, key)
    assert same(evaluate(*data, rules).summary[key], evaluate(*data, protocol).summary[key])
    assert (len(rules.area_ranges), len(rules.measures)) == (1, 1)
    if protocol.class_agnostic and protocol.cap_scope == "image" and rules.measures[0].max_dets is not None:
        # Equal scores of several categories: which of them are matched first depends on the last cap.
        assert rules.max_dets == protocol.max_dets
        assert rules.measures[0].max_dets < protocol.max_dets[-1]
    else:
        assert len(rules.max_dets) == 1


def test_every_number_of_every_protocol_has_its_rules() -> None:
    """With the data that LVIS needs, so that many protocols apply."""
    data = federated()
    for result in compare_protocols(*data, PROTOCOLS).results:
        defined = [measure for measure in result.protocol.measures if result.protocol.defines(measure)]
        assert defined
        for measure in defined:
            rules = rules_of_number(result.protocol, measure.key)
            assert same(evaluate(*data, rules).summary[measure.key], result.summary[measure.key])


@given(scenes(), numbers(), numbers())
def test_a_walk_leads_from_one_number_to_the_other(
    data: Scene, start: tuple[Protocol, str], end: tuple[Protocol, str]
) -> None:
    walk = explain_difference(*data, start[0], end[0], start_key=start[1], end_key=end[1])
    assert same(walk.start_value, evaluate(*data, start[0]).summary[start[1]])
    assert same(walk.end_value, evaluate(*data, end[0]).summary[end[1]])
    values = [walk.start_value]
    for step in walk.steps:
        assert same(step.before, values[-1])
        key = step.protocol.main_measure.key
        assert same(
            step.after, evaluate(*data, step.protocol).summary[key]
        )  # tables that are used again change nothing
        assert step.old != step.new
        values.append(step.after)
    assert same(values[-1], walk.end_value)
    order = [rule.title for rule in RULES]
    last = [order.index(step.rule.split(", ")[-1]) for step in walk.steps]  # rules that had to wait stand before it
    assert last == sorted(last)
    json.dumps(walk.to_dict(), allow_nan=False)
    assert walk.table().count("\n") >= 2 + len(walk.steps) - 1


@given(scenes(), numbers(), numbers())
def test_each_step_changes_one_rule_and_the_last_one_leaves_none(
    data: Scene, start: tuple[Protocol, str], end: tuple[Protocol, str]
) -> None:
    walk = explain_difference(*data, start[0], end[0], start_key=start[1], end_key=end[1])
    before = rules_of_number(*start)
    for step in walk.steps:
        changed = {
            field.name
            for field in dataclasses.fields(Protocol)
            if getattr(step.protocol, field.name) != getattr(before, field.name)
        }
        assert changed
        assert changed <= set(step.fields)
        before = step.protocol
    wanted = rules_of_number(*end)
    left = {rule.title for rule in RULES if rule.value(before) != rule.value(wanted)}
    assert not left


@given(scenes(), numbers(), numbers())
def test_the_shares_of_the_classes_add_up_to_the_difference(
    data: Scene, start: tuple[Protocol, str], end: tuple[Protocol, str]
) -> None:
    walk = explain_difference(*data, start[0], end[0], start_key=start[1], end_key=end[1])
    before = rules_of_number(*start)
    for step in walk.steps:
        shares = [move.share for move in step.classes]
        assert shares == sorted(shares, key=lambda share: -abs(share))
        if math.isnan(step.difference):
            assert not shares
        else:
            assert sum(shares) == pytest.approx(step.difference, abs=1e-12)
            count = same_classes(data, before, step.protocol)
            for move in step.classes if count else ():
                assert move.share == pytest.approx((move.after - move.before) / count, abs=1e-12)
        before = step.protocol


def same_classes(data: Scene, *both: Protocol) -> int:
    """The number of classes in a mean that has the same ones by both protocols, 0 if it has not.

    A class without objects can be in the mean at some of the IoU thresholds alone, if detections count, too.
    """
    in_mean = []
    for protocol in both:
        every, known = protocol.mean_over == "all", evaluate(*data, protocol).per_class
        key = protocol.main_measure.key
        in_mean.append({one.id for one in known if every or not math.isnan(one.summary[key])})
        if protocol.mean_over == "with_objects_or_detections":
            return 0
    return len(in_mean[0]) if in_mean[0] == in_mean[1] else 0


@pytest.mark.parametrize("key", ["AP", "APnarrow"])
def test_rules_that_contradict_each_other_change_together(key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if a protocol of more than the threshold needed the area under the curve, and all of its area ranges."""
    check = Protocol.__post_init__

    def strict(self: Protocol) -> None:
        check(self)
        if self.threshold == "more_than" and (self.integral != "area" or len(self.area_ranges) < 2):
            raise ValueError("they contradict each other")

    monkeypatch.setattr(Protocol, "__post_init__", strict)
    areas = {"wide": (0, 1e9), "narrow": (0, 200)}
    data, end = federated(), COCO.replace(threshold="more_than", ties="first", integral="area", area_ranges=areas)
    for one, other in (((COCO, "AP"), (end, key)), ((end, key), (COCO, "AP"))):
        walk = explain_difference(*data, one[0], other[0], start_key=one[1], end_key=other[1])
        assert walk.start_value == evaluate(*data, one[0]).summary[one[1]]
        assert walk.end_value == evaluate(*data, other[0]).summary[other[1]]
        assert not any(math.isnan(step.after) for step in walk.steps)
        values = [step.before for step in walk.steps] + [walk.end_value]
        assert values == [walk.start_value, *(step.after for step in walk.steps)]
        changed = [step.rule for step in walk.steps]
        assert "objects with the same IoU" in changed
        wanted = ["IoU equal to the threshold", "area range", "integral", "objects with the same IoU"]
        wanted += [] if key == "AP" else ["measure"]
        assert sorted(", ".join(changed).split(", ")) == sorted(wanted)
    assert "wide from 0 to 1,000,000,000, narrow from 0 to 200" in walk.table()


# ---- The rules.


def test_every_field_of_a_protocol_is_in_one_rule() -> None:
    fields = [field for rule in RULES for field in rule.fields]
    assert sorted(fields) == sorted(
        field.name for field in dataclasses.fields(Protocol) if field.name not in ("name", "reference", "meant_for")
    )


@pytest.mark.parametrize("field", list(VALUES))
def test_the_values_of_a_rule_have_different_words(field: str) -> None:
    (rule,) = [rule for rule in RULES if field in rule.fields]
    said = [rule.words(COCO.replace(**{field: value})) for value in VALUES[field]]
    assert len(set(said)) == len(said)
    assert not any(char in words for words in said for char in "_{}")


def test_the_words_of_numbers() -> None:
    def words(field: str, **changes: Any) -> str:
        (rule,) = [rule for rule in RULES if field in rule.fields]
        return rule.words(COCO.replace(**changes))

    assert words("iou_thresholds") == "0.5, 0.55, ..., 0.95"
    assert words("iou_thresholds", iou_thresholds=[0.3, 0.5]) == "0.3, 0.5"
    assert words("max_dets") == "100 per image and class"
    assert words("max_dets", max_dets=[10_000], cap_scope="category") == "10,000 per class"
    assert words("max_dets", max_dets=[NO_CAP]) == "none"
    assert words("area_ranges", area_ranges={"all": (0, None)}) == "any area"
    assert words("area_ranges", area_ranges={"all": (1024, None)}) == "1,024 to no limit square pixels"
    assert words("ignored", ignored=[]) == "none"
    assert words("miss_rate") == "the last point with at most 0.01 to 1 false positives per image, floor 0"
    rule = MissRateRule((0.1, 0.5), "first_at_least", 1e-10)
    assert words("miss_rate", miss_rate=rule) == (
        "the first point with at least 0.1 to 0.5 false positives per image, floor 1e-10"
    )
    (area,) = [rule for rule in RULES if "ranges_by" in rule.fields]
    assert area.words(PROTOCOLS["wider-face"]) == "objects with the flag easy, medium, hard"


@pytest.mark.parametrize(
    ("integral", "said"),
    list(
        zip(
            get_args(Integral),
            [
                "mean at 11 recalls",
                "mean at 11 recalls, divided before adding",
                "area under the curve",
                "area under lines between 11 recalls",
                "area under lines between 11 recalls, sloping to recall 1",
                "area under the curve as it is, from the first detection on",
                "area under the curve read at 1,000 scores",
            ],
            strict=True,
        )
    ),
)
def test_the_words_of_integrals(integral: Integral, said: str) -> None:
    (rule,) = [rule for rule in RULES if "integral" in rule.fields]
    assert rule.words(COCO.replace(integral=integral, recall_thresholds=[k / 10 for k in range(11)])) == said


def test_the_words_of_what_nobody_has_put_into_words() -> None:
    assert _plain(None) == _plain(()) == "none"
    assert _plain(COCO) == "by Protocol"
    assert _plain(tuple(range(99))).endswith("...")
    grouped = COCO.replace(category_groups="frequency", summary=[Measure("APr", group="r")])
    assert RULES[-1].words(grouped) == "AP of the classes with frequency 'r'"


def test_thresholds_that_differ_in_their_last_bits_have_other_words() -> None:
    data = federated()
    walk = explain_difference(*data, "coco", find_tool("torchmetrics").protocol())
    assert [step.new for step in walk.steps] == [
        "0.5, 0.5500000119, ..., 0.9499999881",
        "mean at 101 recalls, with slightly other values",
    ]


# ---- What it looks like, and what it refuses.


def federated() -> Scene:
    """Data that every protocol of boxes applies to."""
    from ioukit.datasets import IdLists  # noqa: PLC0415 - as short as the others

    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 2],
        category_ids=[1, 2, 1],
        boxes=[[0, 0, 10, 10], [20, 0, 10, 10], [0, 0, 40, 40]],
        images=[1, 2],
        categories={1: "cat", 2: "dog", 3: "cow"},
        flags={"without_keypoints": [False, False, False]},
        image_attributes={
            "neg_category_ids": IdLists.of([[3], [2]]),
            "not_exhaustive_category_ids": IdLists.of([[], [1]]),
        },
        category_attributes={"frequency": ["f", "c", "r"]},
    )
    dt = Detections.from_arrays(
        image_ids=[1, 1, 1, 2, 2],
        category_ids=[1, 2, 3, 1, 3],
        boxes=[[0, 0, 10, 5], [21, 0, 10, 10], [0, 0, 9, 9], [0, 0, 40, 44], [1, 1, 5, 5]],
        scores=[0.9, 0.8, 0.7, 0.6, 0.5],
    )
    return gt, dt


def test_a_walk_as_text() -> None:
    walk = explain_difference(*federated(), "coco", "voc2012", start_key="AP50")
    assert isinstance(walk, ProtocolDifference)
    assert repr(walk) == "ProtocolDifference(COCO AP50=1.0000, VOC2012 mAP=1.0000, 9 rules differ)"
    assert walk.table(zeros=False) == "\n".join(
        [
            "number   change  rule",
            "1.0000           COCO, AP50",
            "0.6262  -0.3738  IoU equal to the threshold: a match -> no match",
            "                   classes: cat 1.0000 -> 0.2525 (-0.3738)",
            "                   images: 1 (2 outcomes)",
            "1.0000  +0.3738  pixels of a box: width x height -> (width + 1) x (height + 1)",
            "                   classes: cat 0.2525 -> 1.0000 (+0.3738)",
            "                   images: 1 (2 outcomes)",
            "1.0000        0  VOC2012, mAP",
        ]
    )
    assert walk.table().count("\n") > walk.table(zeros=False).count("\n")
    assert "classes:" not in walk.table(most=0)
    step = walk.to_dict(most=1)["steps"][1]
    assert step["fields"] == ["threshold"]
    assert step["classes"][0].items() >= {"name": "cat", "before": 1.0}.items()
    assert step["images"] == [
        {"image_id": 1, "changed": 2.0, "true_positives": -1.0, "false_positives": 1.0, "false_negatives": 1.0}
    ]


def test_groups_and_quantities_are_the_last_step() -> None:
    data = federated()
    walk = explain_difference(*data, "lvis", "coco", start_key="APc", end_key="AR100")
    assert walk.start_value == evaluate(*data, find_protocol("lvis")).summary["APc"]
    assert walk.end_value == evaluate(*data).summary["AR100"]
    assert walk.steps[-1].rule == "measure"
    assert (walk.steps[-1].old, walk.steps[-1].new) == ("AP of the classes with frequency 'c'", "AR of all classes")


def test_the_same_protocol_is_a_walk_without_steps() -> None:
    walk = explain_difference(*federated(), COCO, "COCO")
    assert walk.steps == ()
    assert walk.difference == 0
    assert walk.table().splitlines()[1:] == ["0.5010          COCO, AP", "0.5010       0  COCO, AP"]


def test_every_pair_of_protocols_is_joined_by_a_walk() -> None:
    data = federated()
    ends = compare_protocols(*data, PROTOCOLS)
    for a, b in itertools.permutations(ends.results, 2):
        walk = explain_difference(*data, a.name, b.name)
        assert (walk.start_key, walk.end_key) == (a.key, b.key)
        assert same(walk.start_value, a.value)
        assert same(walk.end_value, b.value)


def test_what_is_refused() -> None:
    data = federated()
    with pytest.raises(ValueError, match=r"unknown protocol 'cocoa'; did you mean 'coco'\? Else choose from coco"):
        explain_difference(*data, "cocoa", COCO)
    with pytest.raises(
        TypeError, match=r"protocol must be a Protocol, such as ioukit.COCO, or the name of one, got int"
    ):
        explain_difference(*data, COCO, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the protocol VOC2007 has no measure 'AP'; choose from mAP"):
        explain_difference(*data, COCO, "voc2007", end_key="AP")
    with pytest.raises(ValueError, match="the measure AP75 of the protocol COCO is undefined"):
        explain_difference(*data, COCO.replace(iou_thresholds=[0.5]), COCO, start_key="AP75")
