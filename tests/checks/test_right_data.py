"""`check` on data that are right, or have one fault: chance is no fault, and a repair causes no finding."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ioukit import Boxes, DatasetError, Detections, GroundTruth, pairwise_iou
from ioukit._checks import agree
from ioukit.checks import RULES, Case, Checked, Data, Repair, check, repaired
from ioukit.datasets import read_detections
from ioukit.regions.formats import convert

Pair = tuple[GroundTruth, Detections]


def scene(
    seed: int = 0, images: int = 60, classes: int = 5, objects: float = 3.0, confused: float = 0.08, found: float = 0.8
) -> Pair:
    """Objects at random, and a detector that misses some, takes some for another class, and has false alarms."""
    rng = np.random.default_rng(seed)
    image = np.repeat(np.arange(1, images + 1), np.maximum(rng.poisson(objects, images), 1))
    sides = np.exp(rng.uniform(np.log(20), np.log(150), (len(image), 2)))
    boxes = np.hstack([rng.uniform(0, [640, 480] - sides), sides])
    kinds = rng.integers(1, classes + 1, len(image))
    gt = GroundTruth.from_arrays(
        image_ids=image,
        category_ids=kinds,
        boxes=boxes,
        images=np.arange(1, images + 1),
        sizes=[[640, 480]] * images,
        categories={number: f"class {number}" for number in range(1, classes + 1)},
    )
    hit = np.flatnonzero(rng.random(len(image)) < found)
    near = boxes[hit] + rng.normal(0, 0.05, (len(hit), 4)) * np.tile(sides[hit], 2)
    given = np.where(rng.random(len(hit)) < confused, rng.integers(1, classes + 1, len(hit)), kinds[hit])
    false = rng.poisson(1.0, images)
    elsewhere = np.hstack([rng.uniform(0, [480, 320], (false.sum(), 2)), rng.uniform(20, 150, (false.sum(), 2))])
    right = given == kinds[hit]
    score = np.concatenate([rng.normal(np.where(right, 1, -1)), rng.normal(-1, 1, false.sum())])
    dt = Detections.from_arrays(
        image_ids=[*image[hit], *np.repeat(np.arange(1, images + 1), false)],
        category_ids=[*given, *rng.integers(1, classes + 1, false.sum())],
        boxes=np.concatenate([near, elsewhere]),
        scores=1 / (1 + np.exp(-score)),
    )
    return gt, dt


def other(dt: Detections, **columns: Any) -> Detections:
    return dataclasses.replace(dt, **columns)


def harmful(checked: Checked) -> list[str]:
    return [one.code for one in checked if one.harmful]


def suspected(gt: GroundTruth, dt: Detections, rule: str) -> dict[str, tuple[str, str]]:
    return {one.code: (one.sure, one.message) for one in RULES[rule].function()(Case(Data(gt, dt)))}


def many_false_alarms() -> Pair:
    """60 images, each with about 15 false alarms with low scores."""
    gt, dt = scene(0, objects=5.0, confused=0.0)
    rng, count = np.random.default_rng(7), 900
    added: dict[str, Any] = {
        "image_ids": rng.choice(gt.images.ids, count),
        "category_ids": rng.integers(1, 6, count),
        "boxes": np.hstack([rng.uniform(0, 480, (count, 2)), rng.uniform(20, 150, (count, 2))]),
        "scores": 0.5 * rng.random(count) ** 2,
    }
    both: dict[str, Any] = {name: np.concatenate([getattr(dt, name), more]) for name, more in added.items()}
    return gt, Detections.from_arrays(**both)


def clear_orders(gt: GroundTruth, dt: Detections) -> tuple[int, int, int]:
    """On how many images right detections have clearly lower scores than wrong ones, higher ones, and of how many."""
    case = Case(Data(gt, dt))
    same = gt.category_ids[case.pairs.objects] == dt.category_ids[case.pairs.detections]
    fits = set(case.pairs.detections[same & (case.overlaps >= 0.5)].tolist())
    clear = []
    for image in gt.images.ids.tolist():
        rows = np.flatnonzero(dt.image_ids == image).tolist()
        pairs = [(one, two) for one in rows if one in fits for two in rows if two not in fits]
        if len(pairs) >= 4:
            higher = sum(dt.scores[one] > dt.scores[two] for one, two in pairs)
            clear.append((higher - len(pairs) / 2) / np.sqrt(len(pairs) * (len(rows) + 1) / 12))
    return sum(one < -2.326 for one in clear), sum(one > 2.326 for one in clear), len(clear)


class TestClassIds:
    @pytest.mark.parametrize("classes", [3, 5, 12])
    @pytest.mark.parametrize("objects", [1.0, 3.0])
    def test_classes_that_are_confused_at_random_are_no_other_ids(self, classes: int, objects: float) -> None:
        for seed in range(12):
            gt, dt = scene(seed, 100, classes, objects, confused=0.15)
            assert not suspected(gt, dt, "class-ids"), seed

    @pytest.mark.parametrize("objects", [0.5, 1.0, 3.0])
    def test_objects_that_are_taken_for_the_next_class_are_no_other_ids(self, objects: float) -> None:
        """With one object per image, a confusion of similar classes looks as other ids on some of the images do."""
        times = 0
        for seed in range(30):
            gt, dt = scene(seed, 100, 20, objects, confused=0.0)
            rng = np.random.default_rng(seed)
            step = np.where(rng.random(len(dt)) < 0.25, rng.choice([-1, 1], len(dt)), 0)
            found = suspected(gt, other(dt, category_ids=np.clip(dt.category_ids + step, 1, 20)), "class-ids")
            times += "other_class_ids" in found
        assert times <= 1

    @pytest.mark.parametrize(("share", "least"), [(0.05, 9), (0.1, 10), (0.2, 11)])
    def test_a_shift_whose_ids_all_exist_is_found(self, share: float, least: int) -> None:
        """The class of the highest id is not moved, so no id is strange. Confused classes look like some of it."""
        times = 0
        for seed in range(12):
            gt, dt = scene(seed, 100, 6)
            some = np.random.default_rng(seed).choice(gt.images.ids, int(share * 100), replace=False)
            ids = np.where(np.isin(dt.image_ids, some), np.minimum(dt.category_ids + 1, 6), dt.category_ids)
            for found in RULES["class-ids"].function()(Case(Data(gt, other(dt, category_ids=ids)))):
                assert found.repair is not None
                assert found.repair.value in ("-1", "earlier")  # the same for all ids but the first
                assert len(set(found.images) & set(some.tolist())) >= 0.7 * len(found.images)
                times += 1
        assert times >= least

    def test_a_repair_makes_no_id_that_no_class_has(self) -> None:
        """On some images, objects have the id after their own. On half of these, a detection has the first id."""
        gt, dt = scene(3, 100, 4, confused=0.0)
        some = gt.images.ids[:20]
        moved = np.isin(dt.image_ids, some) & (dt.category_ids < 4)
        dt = other(dt, category_ids=np.where(moved, dt.category_ids + 1, dt.category_ids))
        first = np.flatnonzero(np.isin(dt.image_ids, some[::2]) & (np.arange(len(dt)) >= len(dt) - 60))
        ids = dt.category_ids.copy()
        ids[first] = 1
        for suspicion in RULES["class-ids"].function()(Case(Data(gt, other(dt, category_ids=ids)))):
            assert suspicion.repair is not None
            after = suspicion.repair(Data(gt, other(dt, category_ids=ids))).detections
            assert after is not None
            assert set(after.category_ids.tolist()) <= set(gt.categories.ids.tolist())


def of_objects(gt: GroundTruth, dt: Detections) -> Detections:
    """The detections without false alarms."""
    case = Case(Data(gt, dt))
    return dt[np.unique(case.pairs.detections[case.overlaps > 0.3])]


@pytest.mark.parametrize(("found", "empty", "is_one"), [(0.5, 0, False), (0.95, 30, True)])
def test_empty_images_are_a_finding_if_they_are_more_than_expected(found: float, empty: int, *, is_one: bool) -> None:
    """A weak detector misses the one object of many images. A good one was not run on half of them."""
    for seed in range(4):
        gt, dt = scene(seed, 60, 2, 1.0 if is_one else 0.2, found=found)
        dt = of_objects(gt, dt[dt.image_ids > empty])
        sure, message = suspected(gt, dt, "images-of-one-side")["images_without_detections"]
        assert sure == ("likely" if is_one else "possible"), message
        assert int(message.split()[0]) > 60 / 3


def test_a_chance_that_few_images_tell_is_uncertain() -> None:
    """With one object per image, only images with a false alarm or a second object tell how many objects are missed."""
    times = 0
    for seed in range(40):
        gt, dt = scene(seed, 40, 2, 0.2, confused=0.0, found=(0.4, 0.5, 0.6)[seed % 3])
        sure, _ = suspected(gt, of_objects(gt, dt), "images-of-one-side")["images_without_detections"]
        times += sure == "likely"
    assert times <= 1


def test_an_empty_image_with_many_objects_is_found_among_expected_ones() -> None:
    """The finding names this image alone, as the others are what the detector misses."""
    gt, dt = scene(1, 60, 2, 0.2, found=0.6)
    dt = of_objects(gt, dt)
    many = np.hstack([np.random.default_rng(0).uniform(0, 400, (60, 2)), np.full((60, 2), 40.0)])
    truth = GroundTruth.from_arrays(
        image_ids=[*gt.image_ids, *[99] * 60],
        category_ids=[*gt.category_ids, *[1] * 60],
        boxes=np.concatenate([gt.boxes, many]),
        images=[*gt.images.ids, 99],
        sizes=[[640, 480]] * 61,
        categories={1: "a", 2: "b"},
    )
    (finding,) = (one for one in check(truth, dt) if one.code == "images_without_detections")
    assert finding.harmful
    assert finding.suspicion.images == (99,)
    assert finding.suspicion.message.startswith("1 of 61 images with objects has no detection")


class TestScores:
    @pytest.mark.parametrize("score", [1 / 2, 1 / 3, 1 / 4])
    def test_one_score_for_all_is_not_divided_by_a_sum(self, score: float) -> None:
        gt, dt = scene(0)
        found = suspected(gt, other(dt, scores=np.full(len(dt), score)), "scores")
        assert "scores_add_up" not in found
        assert found["scores_all_equal"] == (
            "sure", f"all {len(dt)} scores are {score:g}: AP may depend on the order of the file"
        )  # fmt: skip

    def test_the_order_is_not_named_if_all_detections_are_right(self) -> None:
        gt, _ = scene(0)
        dt = Detections.from_arrays(
            image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=gt.boxes, scores=np.full(len(gt), 0.5)
        )
        checked = check(gt, dt)
        assert checked.ok
        assert f"all {len(gt)} scores are 0.5: they rank nothing" in str(checked)

    def test_the_highest_score_of_a_sure_detector_is_a_note(self) -> None:
        """Nearly all right detections have a score of 1.00; the same share of all detections is a fault."""
        gt, dt = scene(0, 200, confused=0.01)
        case = Case(Data(gt, dt))
        same = gt.category_ids[case.pairs.objects] == dt.category_ids[case.pairs.detections]
        right = np.isin(np.arange(len(dt)), case.pairs.detections[same & (case.overlaps >= 0.5)])
        rng = np.random.default_rng(0)
        sure = other(dt, scores=np.round(np.where(right, 1 - rng.exponential(0.002, len(dt)), dt.scores), 2))
        assert (sure.scores == 1).mean() > 0.3
        assert suspected(gt, sure, "scores")["scores_often_equal"][0] == "possible"
        lost = other(dt, scores=np.where(rng.random(len(dt)) < 0.5, 1.0, dt.scores))
        assert suspected(gt, lost, "scores")["scores_often_equal"][0] == "likely"

    @pytest.mark.parametrize(
        ("levels", "code", "tenths"),
        [
            (np.linspace(0.25, 1, 7), "scores_of_few_values", ""),
            (np.array([0.1, 0.5, 0.9]), "scores_of_few_values", ""),
            (np.arange(10, 110, 10), "scores_of_few_values", ""),
            (np.linspace(0.1, 1, 10), "scores_rounded", ", the tenths from 0.1 to 1.0"),
        ],
    )
    def test_few_levels_are_said_to_be_rounded_if_they_are_tenths(self, levels: Any, code: str, tenths: str) -> None:
        gt, dt = scene(0, 100)
        at = np.minimum((dt.scores * len(levels)).astype(int), len(levels) - 1)
        (said,) = [one for one in check(gt, other(dt, scores=levels[at].astype(float))) if one.code == code]
        assert said.harmful is (code == "scores_rounded")
        few = len(np.unique(at))
        assert said.suspicion.message == (
            f"{len(dt)} detections have only {few} different scores{tenths}: nothing ranks equal ones, and AP may "
            "depend on the order of the file"
        )

    def test_scores_that_are_reversed_on_some_images_are_found(self) -> None:
        gt, dt = many_false_alarms()
        assert "scores_partly_reversed" not in suspected(gt, dt, "scores")
        some = gt.images.ids[::12]
        wrong = other(dt, scores=np.where(np.isin(dt.image_ids, some), 1 - dt.scores, dt.scores))
        (found,) = [one for one in check(gt, wrong) if one.code == "scores_partly_reversed"]
        assert found.harmful
        assert set(found.suspicion.images) <= set(some.tolist())
        lower, higher, total = clear_orders(gt, wrong)
        assert lower >= 5
        assert found.suspicion.message == (
            f"on {lower} of {total} images with at least 4 pairs of a right and a wrong detection, the right ones have "
            f"clearly lower scores, and clearly higher ones on {higher}: chance alone would make either on 1 % of the "
            "images. The scores of some images are reversed"
        )

    def test_an_order_is_that_of_all_objects_of_a_crowded_image(self) -> None:
        """Only a part of these pairs is looked at for the places of boxes."""
        rng, count, images = np.random.default_rng(0), 180, 20
        image = np.repeat(np.arange(images), count)
        boxes = np.hstack([rng.uniform(0, 2000, (len(image), 2)), rng.uniform(20, 40, (len(image), 2))])
        gt = GroundTruth.from_arrays(
            image_ids=image,
            category_ids=image * 0,
            boxes=boxes,
            images=np.arange(images),
            sizes=[[2048, 2048]] * images,
        )
        right = rng.random(len(image)) < 0.7
        places = boxes + np.where(right, 1.0, 300.0)[:, None] * np.array([1, 1, 0, 0])
        dt = Detections.from_arrays(
            image_ids=image,
            category_ids=image * 0,
            boxes=places,
            scores=np.clip(rng.normal(np.where(right, 0.7, 0.3), 0.1), 0, 1),
        )
        case = Case(Data(gt, dt))
        assert len(np.unique(case.pairs.objects)) < len(gt)
        assert not {code for code in suspected(gt, dt, "scores") if "say_nothing" in code or "boxes" in code}
        reverse = other(dt, scores=np.where(image % 4 == 0, 1 - dt.scores, dt.scores))
        assert "5 of 20 images" in suspected(gt, reverse, "scores")["scores_partly_reversed"][1]

    def test_images_whose_clear_objects_have_no_label_are_a_note(self) -> None:
        """The best detections of these images count as wrong, but their other scores are as low as elsewhere."""
        gt, dt = many_false_alarms()
        some, hard = np.isin(gt.image_ids, gt.images.ids[::6]), np.arange(len(gt)) % 2 == 0
        scores = dt.scores.copy()
        for image, box in zip(gt.image_ids[some & hard], gt.boxes[some & hard], strict=True):
            here = np.flatnonzero(dt.image_ids == image)
            scores[here[pairwise_iou(box[None], dt.boxes[here], format="xywh")[0] > 0.5]] *= 0.001
        (found,) = [
            one for one in check(gt[~some | hard], other(dt, scores=scores)) if one.code == "scores_partly_reversed"
        ]
        assert not found.harmful
        assert found.suspicion.message.endswith("may be reversed, or objects there have no label")

    def test_scores_up_to_255_are_of_no_unit_that_could_be_repaired(self) -> None:
        gt, dt = scene(0)
        (note,) = [one for one in check(gt, other(dt, scores=255 * dt.scores)) if "scores" in one.code]
        assert (note.code, note.harmful, note.suspicion.repair) == ("scores_beyond_one", False, None)
        some = np.isin(dt.image_ids, gt.images.ids[:20])
        (found,) = [
            one
            for one in check(gt, other(dt, scores=np.where(some, 255 * dt.scores, dt.scores)))
            if "scores" in one.code
        ]
        assert (found.code, found.harmful, found.suspicion.repair) == ("scores_of_two_units", True, None)
        assert found.suspicion.hint == "write confidences"

    def test_reversed_scores_are_not_said_to_be_logits(self) -> None:
        gt, dt = scene(0)
        assert [one.code for one in check(gt, other(dt, scores=1 - dt.scores))].count("scores_are_costs") == 1
        assert "scores_are_logits" not in [one.code for one in check(gt, other(dt, scores=1 - dt.scores))]


def test_rows_that_are_there_twice_are_no_missing_nms() -> None:
    gt, dt = scene(0)
    checked = check(gt, dt[np.repeat(np.arange(len(dt)), 2)])
    assert harmful(checked) == ["repeated_detections"]
    assert checked.repairs == ("duplicates",)
    once = check(gt, dt[[*range(len(dt)), 7]])
    assert f"1 of {len(dt) + 1} detections repeats an earlier one" in " ".join(str(once).split())


def test_a_constant_offset_is_no_resizing() -> None:
    gt, dt = scene(0)
    checked = check(gt, other(dt, boxes=np.add(dt.boxes, [30, 10, 0, 0])))
    assert harmful(checked) == ["detections_moved"]
    (repair,) = checked.repairs
    x, y = map(float, repair.removeprefix("moved=").split(","))
    assert (x, y) == pytest.approx((-30, -10), abs=1)
    after = repaired(gt, other(dt, boxes=np.add(dt.boxes, [30, 10, 0, 0])), [repair])[1]
    assert after is not None
    assert np.allclose(after.boxes, dt.boxes, atol=1)


def test_exchanged_ids_come_before_the_images_of_one_side_that_they_explain() -> None:
    """The detections of a third of the images are under the next id. Some of these images have no objects."""
    for seed in range(3):
        gt, dt = scene(seed, 60, 1)
        bare = np.arange(3, 21, 6)
        gt, dt = gt.take(~np.isin(gt.image_ids, bare)), dt[~np.isin(dt.image_ids, bare)]
        ids = np.where(dt.image_ids <= 20, dt.image_ids % 20 + 1, dt.image_ids)
        named = harmful(check(gt, other(dt, image_ids=ids)))
        assert named == ["detections_of_other_images", "images_without_annotations"]


@pytest.mark.parametrize("fmt", ["xyxy", "cxcywh"])
def test_a_format_alone_needs_no_size(fmt: Any) -> None:
    for seed in range(3):
        gt, dt = scene(seed)
        checked = check(gt, other(dt, boxes=convert(dt.boxes, "xywh", fmt)))
        assert (harmful(checked), checked.repairs) == ([f"detections_are_{fmt}"], (f"boxes={fmt}",))


def with_second_classes(seed: int, classes: int, rare: float, wrong: float) -> Pair:
    """A detector that writes a second class for most boxes, with a lower score; a share of images shows class 2."""
    rng = np.random.default_rng(seed)
    gt, dt = scene(seed, 100, classes, confused=wrong)
    with_two = np.unique(gt.image_ids[gt.category_ids == 2])
    gone = with_two[rng.random(len(with_two)) > rare]
    gt, dt = gt.take(~np.isin(gt.image_ids, gone)), dt[~np.isin(dt.image_ids, gone)]
    second = np.flatnonzero(rng.random(len(dt)) < 0.7)
    others = (dt.category_ids[second] + rng.integers(1, classes, len(second)) - 1) % classes + 1
    copies = Detections.from_arrays(
        image_ids=[*dt.image_ids, *dt.image_ids[second]],
        category_ids=[*dt.category_ids, *others],
        boxes=np.concatenate([dt.boxes, dt.boxes[second] + 1]),
        scores=[*dt.scores, *(dt.scores[second] * rng.uniform(0.2, 0.9, len(second)))],
    )
    return gt, copies


def _scores_over_half(gt: GroundTruth, dt: Detections) -> npt.NDArray[np.float64]:
    """(M, N) the score of each detection of the image of an object that it overlaps by at least 0.5; else 0."""
    overlap = pairwise_iou(Boxes(gt.boxes, "xywh"), Boxes(dt.boxes, "xywh"))
    return np.where((overlap >= 0.5) & (gt.image_ids[:, None] == dt.image_ids), dt.scores, 0.0)


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("rare", [1.0, 0.2])
def test_an_exchange_of_classes_is_seen_behind_second_classes(classes: int, rare: float) -> None:
    for seed in range(4):
        gt, dt = with_second_classes(seed, classes, rare, 0.05)
        assert "other_class_ids" not in harmful(check(gt, dt))
        ids = np.where(dt.category_ids <= 2, 3 - dt.category_ids, dt.category_ids)
        checked = check(gt, other(dt, category_ids=ids))
        assert [one for one in checked.repairs if one.startswith("classes")] == ["classes=1>2,2>1"], seed
        (said,) = [one.suspicion.message for one in checked if one.code == "other_class_ids"]
        found = [row.argmax() for row in _scores_over_half(gt, dt) if row.max(initial=0) > 0]
        wanted = [kind for kind, row in zip(gt.category_ids, _scores_over_half(gt, dt), strict=True) if row.max() > 0]
        before, after = (int((given[found] == wanted).sum()) for given in (ids, dt.category_ids))
        assert said == (
            f"of {len(found)} objects that a detection overlaps by at least 0.5, {before} {agree(before, 'have')} the "
            f"class of the one with the highest score, and {after} if the classes are mapped: 1 to 2, 2 to 1"
        )


def test_a_poor_classifier_exchanges_no_classes() -> None:
    for seed in range(12):
        for wrong in (0.5, 1.0):
            gt, dt = with_second_classes(seed, 3 + seed % 3, 0.3, wrong)
            assert not [one for one in check(gt, dt).repairs if ">" in one], (seed, wrong)


@pytest.mark.parametrize("value", ["3", "3,", "a,b", "1,2,3", "nan,0"])
def test_an_offset_needs_two_numbers(value: str) -> None:
    gt, dt = scene(0)
    with pytest.raises(ValueError, match="repair 'moved' takes X,Y in pixels"):
        Repair("moved", value)(Data(gt, dt))


@pytest.mark.parametrize(
    ("words", "one"),
    [("repeat it", "repeats it"), ("lie there", "lies there"), ("are", "is"), ("cannot be read", "cannot be read")],
)
def test_the_verb_after_a_number(words: str, one: str) -> None:
    assert agree(1, words) == one
    assert agree(2, words) == words


@pytest.mark.parametrize(("objects", "is_one"), [(3, False), (12, True)])
def test_rare_classes_are_missed_as_other_rare_ones_are(objects: int, *, is_one: bool) -> None:
    """Nearly all objects are of one class that is found. Of rare classes, half of the objects are taken for it."""
    frequent, rare = 300, [10, 10, 10, objects]
    kinds = np.concatenate([np.full(frequent, 1), *(np.full(count, 2 + at) for at, count in enumerate(rare))])
    boxes = np.tile([50.0, 60.0, 80.0, 90.0], (len(kinds), 1))
    ids = np.arange(len(kinds))
    gt = GroundTruth.from_arrays(
        image_ids=ids, category_ids=kinds, boxes=boxes, images=ids, sizes=[[640, 480]] * len(ids)
    )
    lost = (kinds > 1) & ((ids % 2 == 0) | (kinds == 5))
    dt = Detections.from_arrays(
        image_ids=ids, category_ids=np.where(lost, 1, kinds), boxes=boxes + 1, scores=np.linspace(0.1, 0.9, len(ids))
    )
    found = suspected(gt, dt, "empty-classes")
    assert ("classes_without_detections" in found) is is_one


class TestRounded:
    """Rounded boxes end at a place of a tile now and then: no cut, unless many more end there than beside it."""

    @staticmethod
    def on_grid(data: Any, step: int) -> npt.NDArray[np.float64]:
        low, high = data.boxes[:, :2], data.boxes[:, :2] + data.boxes[:, 2:]
        low, high = np.round(low / step) * step, np.round(high / step) * step
        return np.hstack([low, np.maximum(high - low, step)])

    @pytest.mark.parametrize("step", [8, 16, 32])
    @pytest.mark.parametrize("seed", [0, 5, 18, 21])
    def test_no_cut_behind_rounding(self, step: int, seed: int) -> None:
        gt, dt = scene(seed, images=120)
        assert not suspected(gt, other(dt, boxes=self.on_grid(dt, step)), "cuts")
        assert not suspected(dataclasses.replace(gt, boxes=self.on_grid(gt, step)), dt, "cuts")
        assert "detections_rounded" in suspected(gt, other(dt, boxes=self.on_grid(dt, step)), "rounding")

    @pytest.mark.parametrize("seed", range(4))
    def test_a_cut_of_rounded_boxes_is_one(self, seed: int) -> None:
        gt, dt = scene(seed, images=120)
        rounded = self.on_grid(dt, 16)
        crossing = (rounded[:, 1] < 320) & (rounded[:, 1] + rounded[:, 3] > 320)
        rounded[crossing, 3] = 320 - rounded[crossing, 1]
        assert "detections_cut" in suspected(gt, other(dt, boxes=rounded), "cuts")


class TestRows:
    """Objects in rows at a pitch, such as products on shelves or parts in trays: nothing was rounded or doubled."""

    @staticmethod
    def rows(seed: int, pitch: tuple[float, float], size: tuple[float, float], origin: tuple[float, float]) -> Pair:
        rng = np.random.default_rng(seed)
        across, down = int(900 / pitch[0]), int(700 / pitch[1])
        places = np.stack(np.meshgrid(np.arange(across), np.arange(down)), axis=-1).reshape(-1, 2) * pitch + origin
        boxes = np.tile(np.hstack([places, np.tile(size, (len(places), 1))]), (12, 1))
        image = np.repeat(np.arange(12), len(places))
        kinds = np.tile(np.arange(len(places)) // across % 3 + 1, 12)  # a class for each row
        shared: dict[str, Any] = {"images": np.arange(12), "sizes": [[1000, 800]] * 12}
        gt = GroundTruth.from_arrays(image_ids=image, category_ids=kinds, boxes=boxes, **shared)
        hit = np.flatnonzero(rng.random(len(boxes)) < 0.9)
        near = boxes[hit] + rng.normal(0, 0.03, (len(hit), 4)) * np.tile(size, 2)
        return gt, Detections.from_arrays(
            image_ids=image[hit], category_ids=kinds[hit], boxes=near, scores=rng.beta(6, 2, len(hit))
        )

    @pytest.mark.parametrize("seed", range(2))
    @pytest.mark.parametrize(
        ("pitch", "size", "origin"),
        [((40, 120), (32, 96), (8, 16)), ((80, 80), (64, 64), (16, 8)), ((48, 96), (40, 80), (24, 0))],
    )
    def test_a_pitch_is_no_rounding(self, seed: int, pitch: Any, size: Any, origin: Any) -> None:
        gt, dt = self.rows(seed, pitch, size, origin)
        assert check(gt, dt).ok
        assert check(gt).ok

    @pytest.mark.parametrize("step", [8, 16])
    def test_rounded_boxes_in_rows_are_found(self, step: int) -> None:
        gt, dt = self.rows(0, (47, 121), (37, 93), (5, 7))
        varied = gt.boxes + np.random.default_rng(1).normal(0, 6, gt.boxes.shape)
        wrong = dataclasses.replace(gt, boxes=TestRounded.on_grid(dataclasses.replace(gt, boxes=varied), step))
        assert "ground_truth_rounded" in harmful(check(wrong, dt))

    @pytest.mark.parametrize("pitch", [8.0, 12.0])
    def test_objects_one_behind_the_other_are_not_doubled(self, pitch: float) -> None:
        gt, dt = self.rows(0, (pitch, 150), (80, 120), (5, 7))
        checked = check(gt, dt)
        assert "annotations_doubled" not in harmful(checked)
        (note,) = [one for one in checked if one.code == "annotations_doubled"]
        assert note.suspicion.message.endswith("in groups of more than 3: they may lie in rows")

    @pytest.mark.parametrize("times", [2, 3])
    def test_what_several_people_annotated_is_doubled(self, times: int) -> None:
        gt, dt = self.rows(0, (100, 100), (80, 80), (5, 7))
        again = [gt.boxes + 3.0 * each for each in range(times)]
        many = gt.take(np.tile(np.arange(len(gt)), times))
        many = dataclasses.replace(many, ids=np.arange(len(many)), boxes=np.concatenate(again))
        assert "annotations_doubled" in harmful(check(many, dt))


class TestSizesOfImages:
    """Boxes wholly outside of their images are not cut: the sizes, or the scale of the boxes, are wrong."""

    @staticmethod
    def beyond(gt: GroundTruth, dt: Detections | None = None) -> dict[str, Any]:
        return {one.code: one for one in check(gt, dt) if one.code.endswith("beyond_image") and one.harmful}

    @staticmethod
    def with_sizes(gt: GroundTruth, sizes: Any) -> GroundTruth:
        return dataclasses.replace(gt, images=dataclasses.replace(gt.images, sizes=sizes))

    @pytest.mark.parametrize("seed", range(3))
    @pytest.mark.parametrize("every", [1, 4])
    def test_width_and_height_exchanged(self, seed: int, every: int) -> None:
        gt, dt = scene(seed, images=120)
        sizes = gt.images.sizes.copy()
        sizes[::every] = sizes[::every, ::-1]
        wrong = self.with_sizes(gt, sizes)
        for found in (self.beyond(wrong), self.beyond(wrong, dt)):
            finding = found["ground_truth_beyond_image"]
            assert "if width and height of their images are exchanged" in finding.suspicion.message
            assert finding.suspicion.repair is None
        assert [one.code for one in check(wrong) if one.harmful] == ["ground_truth_beyond_image"]

    @pytest.mark.parametrize("seed", range(3))
    def test_boxes_too_large(self, seed: int) -> None:
        gt, _ = scene(seed, images=120)
        (finding,) = [one for one in check(dataclasses.replace(gt, boxes=gt.boxes * 1.6)) if one.harmful]
        assert finding.code == "ground_truth_beyond_image"
        assert "of them lie wholly outside" in finding.suspicion.message
        assert "exchanged" not in finding.suspicion.message
        assert finding.suspicion.repair is None

    @pytest.mark.parametrize("seed", range(3))
    def test_boxes_that_reach_beyond_are_cut(self, seed: int) -> None:
        gt, _ = scene(seed, images=120)
        wider = gt.boxes + np.array([-25.0, -25.0, 50.0, 50.0])
        found = self.beyond(dataclasses.replace(gt, boxes=wider))
        assert str(found["ground_truth_beyond_image"].suspicion.repair) == "gt:clip"

    @pytest.mark.parametrize("seed", range(3))
    def test_right_sizes_of_both_orientations(self, seed: int) -> None:
        gt, dt = scene(seed, images=120)
        assert not self.beyond(gt, dt)
        turned = dataclasses.replace(gt, boxes=gt.boxes[:, [1, 0, 3, 2]])
        assert not self.beyond(self.with_sizes(turned, gt.images.sizes[:, ::-1]))

    def test_a_cut_leaves_what_lies_outside(self) -> None:
        boxes = np.array([[-10.0, 20, 30, 40], [700, 20, 30, 40], [5, 5, 10, 10]])
        gt = GroundTruth.from_arrays(
            image_ids=[1] * 3, category_ids=[1] * 3, boxes=boxes, areas=[1000, 900, 60], images=[1], sizes=[[640, 480]]
        )
        cut = repaired(gt, None, ["gt:clip"])[0]
        assert cut.boxes.tolist() == [[0, 20, 20, 40], [700, 20, 30, 40], [5, 5, 10, 10]]
        assert cut.areas.tolist() == [800, 900, 60]


@pytest.mark.parametrize("seed", range(3))
def test_classes_that_the_reader_left_out_are_not_left_out_again(seed: int) -> None:
    """Of a class under another name, the reader drops the detections: the class is not one that is unknown."""
    gt, dt = scene(seed)
    kept = dt[dt.category_ids != 2]
    (finding,) = [one for one in check(gt, kept) if one.harmful]
    assert (finding.code, str(finding.suspicion.repair)) == ("classes_without_detections", "only=detected-classes")
    (finding,) = [one for one in check(gt, other(kept, dropped=1)) if one.harmful]
    assert str(finding.suspicion.repair) == "only=detected-classes", "one record explains no class"
    dropped = len(dt) - len(kept)
    (finding,) = [one for one in check(gt, other(kept, dropped=dropped)) if one.harmful]
    assert (finding.code, finding.suspicion.repair) == ("classes_without_detections", None)
    assert f"; the reader left out {dropped} detections of the file" in finding.suspicion.message
    assert "another name" in finding.suspicion.hint
    assert "the reader left out 9 detections" in str(check(gt, other(dt[:0], dropped=9))).replace("\n  ", " ")


@pytest.mark.parametrize("fmt", ["yxwh", "yxhw"])
@pytest.mark.parametrize("seed", range(6))
def test_the_borders_of_images_decide_which_side_has_exchanged_axes(seed: int, fmt: str) -> None:
    """Read otherwise, either side matches: which one has the higher AP is chance."""
    gt, dt = scene(seed, 40)
    order = ["xywh".index(letter) for letter in fmt]
    then, limit = np.ascontiguousarray(gt.boxes[:, order]), 1.02 * gt.images.sizes[0]
    beyond = int((then[:, :2] + then[:, 2:] > limit).any(axis=1).sum())
    checked = check(gt, other(dt, boxes=np.ascontiguousarray(dt.boxes[:, order])))
    assert checked.repairs[0] == f"boxes={fmt}"
    (said,) = [one.suspicion.message for one in checked if one.code == f"detections_are_{fmt}"]
    told = re.search(r"match about as well if they are read so instead, but (\d+) of them reach beyond", said)
    assert told is not None
    assert beyond <= int(told.group(1)) <= 1.3 * beyond, "those that reach out by a quarter of their side count, too"
    wrong = dataclasses.replace(gt, boxes=then)
    assert check(wrong, dt).repairs[0] == f"gt:boxes={fmt}"


def test_where_no_borders_are_known_ap_decides() -> None:
    gt, dt = scene(0, 40)
    unknown = dataclasses.replace(gt, images=dataclasses.replace(gt.images, sizes=np.full((40, 2), np.nan)))
    found = suspected(unknown, other(dt, boxes=dt.boxes[:, [1, 0, 2, 3]]), "box-readings")
    assert set(found) == {"detections_are_yxwh", "ground_truth_are_yxwh"}
    assert all(message.endswith("if they are read so instead") for _, message in found.values())


@pytest.mark.parametrize("wrong", ["fire_hydrant", "FIRE HYDRANT", "fire hydrent"])
def test_the_nearest_name_of_a_class_is_named(tmp_path: Path, wrong: str) -> None:
    gt, dt = scene(0, classes=2)
    gt = dataclasses.replace(gt, categories=dataclasses.replace(gt.categories, names=("fire hydrant", "dog")))
    path = tmp_path / "detections.csv"
    names = np.where(dt.category_ids == 1, wrong, "dog")
    lines = (f"{image},{name},{','.join(map(str, box))},{score}" for image, name, box, score in zip(
        dt.image_ids, names, dt.boxes.tolist(), dt.scores, strict=True))  # fmt: skip
    path.write_text("\n".join(["image_id,class,x,y,width,height,score", *lines]))
    with pytest.raises(DatasetError, match=rf"class: .* found '{wrong}', which is near 'fire hydrant'$"):
        read_detections(path, ground_truth=gt)
    kept = read_detections(path, ground_truth=gt, on_invalid="drop")
    (finding,) = [one for one in check(gt, kept) if one.code == "classes_without_detections"]
    dropped = int((dt.category_ids == 1).sum())
    assert f"; the reader left out {dropped} detections of the file; the first: line " in finding.suspicion.message
    assert finding.suspicion.message.endswith(f"found '{wrong}', which is near 'fire hydrant'")
    assert finding.suspicion.repair is None


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("factor", [0.96, 1.03, 1.1])
def test_a_larger_image(seed: int, factor: float) -> None:
    gt, dt = scene(seed, 120, found=0.9)
    assert harmful(check(gt, other(dt, boxes=dt.boxes * factor)))[:1] == ["other_image_size"]


def test_a_threshold_that_misses_few_objects() -> None:
    gt, dt = scene(0, 120, found=0.93, confused=0.0)
    kept = dt[dt.scores >= 0.4]
    here = np.isin(gt.image_ids, kept.image_ids)
    missed = 1 - float((_scores_over_half(gt, kept)[here].max(axis=1) > 0).mean())
    assert 0.05 < missed < 0.1
    (note,) = [one for one in check(gt, kept) if one.code == "threshold_left_in"]
    assert not note.harmful
    assert f"and {100 * missed:.0f} % of the objects on images with detections have none" in note.suspicion.message
    assert "threshold_left_in" not in [one.code for one in check(gt, dt)]


@pytest.mark.parametrize("most", [1, 3])
def test_a_limit_of_detections_per_image_is_a_note(most: int) -> None:
    gt, dt = scene(0, 120, found=0.93)
    order = np.lexsort((-dt.scores, dt.image_ids))
    place = np.arange(len(dt)) - np.searchsorted(dt.image_ids[order], dt.image_ids[order])
    kept = dt[np.sort(order[place < most])]
    result = check(gt, kept)
    (note,) = [one for one in result if one.code == "limit_left_in"]
    full = np.array([(kept.image_ids == image).sum() == most for image in gt.images.ids])
    here = np.isin(gt.image_ids, gt.images.ids[full])
    missed = int((_over_half_of_any(gt, kept)[here] == 0).sum())
    message = note.suspicion.message
    assert message.startswith(f"no image has more than {most} detection{'s' if most > 1 else ''}, {full.sum()} of ")
    assert f"on these {missed:,} of {here.sum():,} objects have none" in message
    assert not note.harmful
    assert "nms_too_strict" not in [one.code for one in result]
    assert "limit_left_in" not in [one.code for one in check(gt, dt)]


def _over_half_of_any(gt: GroundTruth, dt: Detections) -> np.ndarray[Any, Any]:
    """(G,) how many detections of the image overlap each object by at least 0.5."""
    found = np.zeros(len(gt), int)
    for row, (image, box) in enumerate(zip(gt.image_ids, gt.boxes, strict=True)):
        others = dt.boxes[dt.image_ids == image]
        found[row] = (pairwise_iou(Boxes(box[None], "xywh"), Boxes(others, "xywh")) >= 0.5).sum() if len(others) else 0
    return found


@pytest.mark.parametrize("mixed", ["classes", "boxes"])
def test_rows_that_were_mixed_within_images(mixed: str) -> None:
    gt, dt = scene(0, 120, found=0.93)
    rng = np.random.default_rng(1)
    row = np.arange(len(dt))
    for image in np.unique(dt.image_ids):
        here = np.flatnonzero(dt.image_ids == image)
        row[here] = here[rng.permutation(len(here))]
    wrong = other(dt, category_ids=dt.category_ids[row]) if mixed == "classes" else other(dt, boxes=dt.boxes[row])
    (finding,) = [one for one in check(gt, wrong) if one.code == "classes_by_chance"]
    assert finding.harmful
    overlapped, agree, expected = _classes_of_the_strongest(gt, wrong)
    message = finding.suspicion.message
    assert f"overlaps {overlapped:,} objects by at least 0.5: {agree:,} of these have its class" in message
    assert f"and {expected:,.0f} would have it if" in message
    assert "classes_by_chance" not in [one.code for one in check(gt, dt)]


def _classes_of_the_strongest(gt: GroundTruth, dt: Detections) -> tuple[int, int, float]:
    """Of objects on images with several classes: how many are overlapped, with their class, and so by chance."""
    overlapped, agree, expected = 0, 0, 0.0
    for image in gt.images.ids:
        objects, rows = np.flatnonzero(gt.image_ids == image), np.flatnonzero(dt.image_ids == image)
        if not len(objects) or not len(rows):
            continue
        close = pairwise_iou(Boxes(gt.boxes[objects], "xywh"), Boxes(dt.boxes[rows], "xywh")) >= 0.5
        pairs = [
            (label, dt.category_ids[rows[reach][np.argmax(dt.scores[rows[reach]])]])
            for label, reach in zip(gt.category_ids[objects], close, strict=True)
            if reach.any()
        ]
        if min((len(set(side)) for side in zip(*pairs, strict=True)), default=0) > 1:
            overlapped += len(pairs)
            agree += sum(label == seen for label, seen in pairs)
            expected += float(np.mean([label == seen for label, _ in pairs for _, seen in pairs])) * len(pairs)
    return overlapped, agree, expected
