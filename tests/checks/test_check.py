"""`check`: causes before consequences, nothing is changed, no error for valid data, rules and repairs of a user."""

from __future__ import annotations

import dataclasses
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import hypothesis.extra.numpy as npst
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ioukit import Detections, GroundTruth, read_coco
from ioukit.checks import (
    REPAIRS,
    RULES,
    Case,
    Repair,
    RepairKind,
    Rule,
    Suspicion,
    check,
    register_repair,
    register_rule,
)
from ioukit.checks.repairs.rows import surviving
from ioukit.datasets import Categories
from support.paths import DATA
from support.planted_faults import FAULTS, in_format, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

VAL2014 = DATA / "coco_val2014_100"
Pair = tuple[GroundTruth, Detections]


@pytest.fixture(scope="module")
def data() -> Pair:
    return read_coco(VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json")


def bits(side: GroundTruth | Detections) -> list[Any]:
    columns = [getattr(side, name) for name in ("image_ids", "category_ids", "boxes")]
    columns.append(side.areas if isinstance(side, GroundTruth) else side.scores)
    return [column.tobytes() for column in columns]


class TestFindings:
    def test_a_cause_hides_its_consequences(self, data: Pair) -> None:
        """Corners reach beyond the image and shifted classes have no detections: neither is a finding of its own."""
        gt, dt = data
        wrong = dataclasses.replace(dt, boxes=in_format(dt.boxes, "xyxy"), category_ids=dt.category_ids + 1)
        checked = check(gt, wrong)
        assert not checked.ok
        codes = [finding.code for finding in checked if finding.harmful]
        assert sorted(codes) == ["detections_are_xyxy", "other_class_ids"]
        repairs = {str(finding.suspicion.repair) for finding in checked if finding.harmful}
        assert repairs == {"boxes=xyxy", "classes=-1"}
        assert set(checked.repairs) == repairs
        assert checked.to_dict()["repairs"] == list(checked.repairs)
        both = " ".join(f"--repair '{one}'" for one in checked.repairs)
        assert f"All repairs together, in the order that works:\n  {both}\n" in f"{checked}\n"
        for finding in checked:
            if finding.harmful:
                assert finding.after > finding.before

    def test_the_sentence_about_ap(self, data: Pair) -> None:
        gt, dt = data
        checked = check(gt, dataclasses.replace(dt, boxes=in_format(dt.boxes, "xyxy")))
        (finding,) = [one for one in checked if one.harmful]
        assert (finding.code, finding.suspicion.sure, finding.measure) == ("detections_are_xyxy", "likely", "AP")
        text = str(finding)
        assert "  AP is 0.505 instead of 0.032 if so.\n" in text
        assert text.endswith("--repair 'boxes=xyxy'")
        assert "are read as [x1, y1, x2, y2]" in text
        assert str(checked).startswith("100 images, 839 annotations, 734 detections: 1 finding, 4 notes\n\nlikely: ")

    def test_some_images_are_named(self, data: Pair) -> None:
        gt, dt = data
        chosen = np.unique(dt.image_ids)[:7]
        rows = np.isin(dt.image_ids, chosen)
        wrong = dataclasses.replace(dt, boxes=np.where(rows[:, None], in_format(dt.boxes, "xyxy"), dt.boxes))
        (finding,) = [one for one in check(gt, wrong) if one.harmful]
        assert set(finding.suspicion.images) <= set(chosen.tolist())
        assert len(finding.suspicion.images) >= 5
        assert str(finding.suspicion.repair) == "boxes=xyxy@FILE"
        assert finding.suspicion.count == np.isin(dt.image_ids, finding.suspicion.images).sum()

    def test_ground_truth_alone(self, data: Pair) -> None:
        gt, _ = data
        checked = check(gt)
        assert checked.ok
        assert (checked.num_detections, dict(checked.summary)) == (None, {})
        wrong = check(dataclasses.replace(gt, boxes=in_format(gt.boxes, "xyxy")))
        assert [finding.code for finding in wrong if finding.harmful] == ["ground_truth_looks_like_xyxy"]

    def test_an_empty_side_is_found(self, data: Pair) -> None:
        gt, dt = data
        nothing = gt.take(np.zeros(0, np.int64))
        for truth, found, code in ((gt, dt[:0], "no_detections"), (nothing, dt, "no_objects")):
            checked = check(truth, found)
            assert code in [one.code for one in checked if one.harmful and one.suspicion.sure == "sure"]
            assert not checked.ok
            assert "classes_without_objects" not in [one.code for one in checked] or code == "no_detections"

    def test_swapped_sides_are_found(self, data: Pair) -> None:
        gt, dt = data
        unscored = dataclasses.replace(dt, scores=np.zeros(len(dt)), scored=False)
        scored = dataclasses.replace(gt, attributes={"score": np.linspace(0, 1, len(gt))})
        for truth, found, wrong in (
            (scored, unscored, True),
            (scored, dt, False),
            (gt, unscored, False),
        ):
            said = [one for one in check(truth, found) if one.code == "swapped_sides"]
            assert [(one.harmful, one.suspicion.count) for one in said] == ([(True, len(dt))] if wrong else [])

    def test_fractions_without_sizes(self, data: Pair) -> None:
        """Of both sides, as Open Images has them, they are a note; of one side, nothing can match."""
        gt, dt = data
        unknown = dataclasses.replace(gt.images, sizes=np.full((len(gt.images), 2), np.nan))
        small = dataclasses.replace(gt, images=unknown, boxes=gt.boxes / 700, areas=gt.areas / 490_000)
        both = check(small, dataclasses.replace(dt, boxes=dt.boxes / 700))
        assert (both.ok, both.findings[0].code) == (True, "ground_truth_normalized_not_declared")
        pixels = dataclasses.replace(gt, images=unknown)
        for pair, code in (
            ((pixels, dataclasses.replace(dt, boxes=dt.boxes / 700)), "detections_are_fractions"),
            ((small, dt), "ground_truth_are_fractions"),
        ):
            assert code in [finding.code for finding in check(*pair) if finding.harmful]

    def test_areas_of_boxes_where_there_are_masks(self, data: Pair) -> None:
        gt, dt = data
        wrong = dataclasses.replace(gt, areas=gt.boxes[:, 2] * gt.boxes[:, 3])
        (finding,) = [one for one in check(wrong, dt) if one.harmful]
        assert finding.code == "areas_not_of_masks"
        assert finding.measure in ("APs", "APm", "APl", "ARs", "ARm", "ARl")
        assert "they are those of the boxes" in finding.suspicion.message

    def test_crowds_that_are_written_as_rle(self, data: Pair) -> None:
        gt, dt = data
        wrong = dataclasses.replace(gt, flags={"crowd": np.zeros(len(gt), np.bool_)})
        found = [one for one in check(wrong, dt) if one.code == "crowds_not_marked"]
        assert [one.suspicion.count for one in found] == [9]

    def test_names_of_classes(self) -> None:
        names = {1: "Traffic Light", 2: "traffic_light", 3: "bicycle", 4: "bicyle", 5: "cat", 6: "car"}
        gt = GroundTruth.from_arrays(
            image_ids=[1, 2], category_ids=[1, 3], boxes=[[0, 0, 9, 9], [0, 0, 9, 9]], categories=names
        )
        found = {one.code: (one.suspicion.examples, one.harmful) for one in check(gt) if "names" in one.code}
        assert found == {
            "class_names_alike": (("traffic_light", "Traffic Light"), True),
            "class_names_similar": (("bicyle and bicycle",), False),
        }

    def test_long_names_of_classes_are_compared_in_little_memory(self) -> None:
        names = {1: "a" * 40_000, 2: "a" * 39_999 + "b", 3: "A" * 40_000}
        gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], categories=names)
        tracemalloc.start()
        try:
            found = {one.code for one in check(gt)}
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert "class_names_alike" in found, "names that differ by case alone"
        assert "class_names_similar" not in found
        assert peak < 20e6, "not in the square of the length, which is 1.6e9"

    def test_training_images(self, data: Pair, tmp_path: Any) -> None:
        gt, _ = data
        train = gt.filter(images=gt.images.ids[:4])
        (finding,) = [one for one in check(gt, train=train) if one.harmful]
        assert (finding.code, finding.suspicion.count) == ("train_images_by_name", 4)
        other = dataclasses.replace(
            train, categories=Categories(gt.categories.ids, tuple(map(str.title, gt.categories.names)))
        )
        assert "class_names_of_training" in {one.code for one in check(gt, train=other)}
        for folder, content in (("a", b"one"), ("b", b"one"), ("b", b"two")):
            (tmp_path / folder).mkdir(exist_ok=True)
            (tmp_path / folder / f"{content.decode()}.jpg").write_bytes(content)
        found = check(gt, train=train, images=str(tmp_path / "a"), train_images=str(tmp_path / "b"))
        assert [one.suspicion.examples for one in found if one.code == "train_images_by_content"] == [("one.jpg",)]

    def test_json(self, data: Pair) -> None:
        _, dt = data
        wrong = plant(FAULTS["fractions-cxcywh"], data, 1.0)
        assert wrong is not None
        plain = json.loads(json.dumps(check(*wrong).to_dict(), allow_nan=False))
        assert (plain["ok"], plain["detections"]) == (False, len(dt))
        first = plain["findings"][0]
        assert first["repair"] == ["units=fractions", "boxes=cxcywh"]
        assert first["after"] - first["before"] > 0.4
        assert first["harmful"] is True

    def test_the_result_is_no_truth_value(self, data: Pair) -> None:
        with pytest.raises(TypeError, match=r"ask for \.ok"):
            bool(check(data[0]))

    def test_wrong_types(self, data: Pair) -> None:
        with pytest.raises(TypeError, match="ground_truth must be GroundTruth, got Detections"):
            check(data[1])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="detections must be Detections, got list"):
            check(data[0], [])  # type: ignore[arg-type]


class TestOwnRules:
    def test_a_rule_and_a_repair_of_a_user(self, data: Pair) -> None:
        gt, dt = data

        def halves(_: Case) -> Iterator[Suspicion]:
            yield Suspicion("half", "likely", "half are missing", 1, 2, "add them", repair=Repair("double"))

        rule = Rule("halves", "half of the detections", halves)
        register_rule(rule)
        register_repair(RepairKind("double", "", "all twice", lambda data, _: data))
        try:
            assert check(gt, dt).ok, "the repair changes nothing, so the guess is left out"
            with pytest.raises(ValueError, match="there is a rule 'halves' already"):
                register_rule(rule)
            with pytest.raises(ValueError, match="there is a repair 'double' already"):
                register_repair(REPAIRS["double"])
        finally:
            del RULES["halves"], REPAIRS["double"]


@st.composite
def random_pairs(draw: st.DrawFn) -> Pair:
    """Small valid data: no objects, no detections, unknown sizes, ids not listed, flat boxes, any scores."""
    images = draw(st.integers(0, 4))
    rows, found = draw(st.integers(0, 12 if images else 0)), draw(st.integers(0, 30 if images else 0))
    sides = st.floats(0, 1e4, allow_nan=False) | st.sampled_from([0.0, 0.5, 1.0])

    def boxes(count: int) -> Any:
        return draw(npst.arrays(np.float64, (count, 4), elements=sides))

    def ids(count: int, most: int) -> Any:
        return draw(npst.arrays(np.int64, count, elements=st.integers(0, most)))

    strings = draw(st.booleans())
    known: Any = np.arange(images)
    labels = [f"{number:03d}.jpg" for number in known.tolist()] if strings else known
    of_rows = ids(rows, max(images - 1, 0))
    gt = GroundTruth.from_arrays(
        image_ids=[labels[place] for place in of_rows.tolist()] if strings else of_rows,
        category_ids=ids(rows, 2), boxes=boxes(rows), crowd=draw(npst.arrays(np.bool_, rows)),
        images=labels, sizes=draw(npst.arrays(np.float64, (images, 2), elements=st.sampled_from([np.nan, 8.0, 640.0]))),
        categories={0: "cat", 1: "Cat", 2: "3"},
    )  # fmt: skip
    scores = draw(npst.arrays(np.float64, found, elements=st.floats(-1e3, 1e3)))
    image: Any = ids(found, images + 1)
    if draw(st.booleans()):
        image = [str(number) for number in image.tolist()]
    return gt, Detections.from_arrays(image_ids=image, category_ids=ids(found, 3), boxes=boxes(found), scores=scores)


def test_a_reading_that_does_not_fit_all_boxes_is_tried_before_suppression() -> None:
    """As ``xyxy``, one of the repeated detections has a negative width; the rule about NMS looks at them after that."""
    objects = [
        [0, 0.5, 0.5, 0.5],
        [1, 0.5, 0.5, 0.5],
        [2, 0.5, 0.5, 0.5],
        *[[0.5, 0.5, 0.5, 0.5]] * 3,
        [0.5, 0.5, 1, 0.5],
    ]
    gt = GroundTruth.from_arrays(
        image_ids=[0, 0, 0, 1, 0, 0, 0], category_ids=[1, 1, 1, 1, 1, 1, 0], boxes=objects, images=[0, 1],
        sizes=np.full((2, 2), np.nan), categories={0: "cat", 1: "Cat", 2: "3"},
    )  # fmt: skip
    boxes = np.ones((10, 4))
    boxes[1, 2] = 0
    dt = Detections.from_arrays(
        image_ids=np.zeros(10, int), category_ids=np.zeros(10, int), boxes=boxes.copy(), scores=[0, *np.ones(9)]
    )
    assert "detections_are_xyxy" in [finding.code for finding in check(gt, dt)]
    boxes[1, 2] = -1
    assert surviving(dataclasses.replace(dt, boxes=boxes), 0.5).tolist() == [False, True, True, *[False] * 7]


@settings(max_examples=75, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(random_pairs())
def test_valid_data_are_never_an_error_and_stay_as_they_are(pair: Pair) -> None:
    before = [bits(side) for side in pair]
    for checked in (check(*pair), check(pair[0])):
        assert checked.ok == (not any(finding.harmful for finding in checked))
        json.dumps(checked.to_dict(), allow_nan=False)
        assert str(checked)
    assert [bits(side) for side in pair] == before


def test_planted_data_stay_as_they_are(data: Pair) -> None:
    for kind in ("boxes-xyxy", "classes-permuted", "detections-twice", "nms-missing"):
        wrong = plant(FAULTS[kind], data, FAULTS[kind].strengths[3])
        assert wrong is not None
        before = [bits(side) for side in wrong]
        check(*wrong)
        assert [bits(side) for side in wrong] == before
