"""FROC against plain Python: hits by IoU, by centres in boxes and by centres in masks; and its errors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from evaluation.plain_froc import plain_hits, plain_sensitivity
from ioukit import DatasetError, Detections, GroundTruth, Masks
from ioukit.evaluation import MatchTable, Measure, accumulate, match, miss_rate_curves, summarise
from ioukit.evaluation.protocols import COCO, FROC, FROC_CENTRE, find_protocol, read_protocol
from support.command import run_here
from support.paths import write_coco

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FPPI = (0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
SIZE = 40


def random_boxes(seed: int, classes: int) -> tuple[GroundTruth, Detections]:
    """Images with few objects and many detections, half of them near an object; some scores are equal."""
    rng = np.random.default_rng(seed)
    images, count, found = int(rng.integers(1, 8)), int(rng.integers(1, 20)), int(rng.integers(1, 90))
    image, category = rng.integers(0, images, count), rng.integers(0, classes, count)
    boxes = np.hstack([rng.uniform(0, 80, (count, 2)), rng.uniform(5, 30, (count, 2))])
    near = rng.integers(0, count, found)
    is_near = rng.random(found) < 0.5
    moved = boxes[near] + rng.normal(0, 3, (found, 4)) * [1, 1, 0.2, 0.2]
    others = np.hstack([rng.uniform(0, 80, (found, 2)), rng.uniform(5, 30, (found, 2))])
    scores = rng.random(found) if rng.random() < 0.6 else rng.integers(1, 6, found) / 8
    listed: Any = {
        "images": list(range(images)),
        "categories": {number: f"class {number}" for number in range(classes)},
    }
    return (
        GroundTruth.from_arrays(image_ids=image, category_ids=category, boxes=boxes, **listed),
        Detections.from_arrays(
            image_ids=np.where(is_near, image[near], rng.integers(0, images, found)),
            category_ids=np.where(is_near, category[near], rng.integers(0, classes, found)),
            boxes=np.where(is_near[:, None], moved, others),
            scores=scores,
        ),
    )


def plain_numbers(gt: GroundTruth, dt: Detections, overlap: Callable[[int, int], float], *, once: bool) -> list[float]:
    """FROC and the seven sensitivities, over all classes together."""
    marks = []
    for image in gt.images.ids.tolist():
        for category in gt.categories.ids.tolist():
            rows = np.flatnonzero((dt.image_ids == image) & (dt.category_ids == category))
            places = np.flatnonzero((gt.image_ids == image) & (gt.category_ids == category)).tolist()
            order = rows[np.argsort(-dt.scores[rows], kind="stable")].tolist()

            def possible(detection: int, places: list[int] = places) -> dict[int, float]:
                found = {place: overlap(detection, place) for place in places}
                return {place: value for place, value in found.items() if value >= 0.1}

            marks += plain_hits(order, dt.scores.tolist(), possible, once=once)
    each = [plain_sensitivity(marks, len(gt), len(gt.images), fppi) for fppi in FPPI]
    return [sum(each) / len(each), *each]


@pytest.mark.parametrize("seed", range(40))
def test_hits_by_iou_are_those_of_nndetection(seed: int) -> None:
    gt, dt = random_boxes(seed, classes=1 + seed % 3)
    ious = ioukit.pairwise_iou(ioukit.Boxes(dt.boxes, "xywh"), ioukit.Boxes(gt.boxes, "xywh"))
    ours = ioukit.evaluate(gt, dt, FROC)
    plain = plain_numbers(gt, dt, lambda detection, place: float(ious[detection, place]), once=True)
    np.testing.assert_allclose(list(ours.summary.values()), plain, rtol=0, atol=1e-12)


def random_lesions(seed: int) -> tuple[GroundTruth, Detections, Masks]:
    """One class whose masks, and the boxes around them, do not overlap: each lies in a cell of its own."""
    rng = np.random.default_rng(seed)
    images = int(rng.integers(1, 6))
    image, drawn = [], []
    for number in range(images):
        for cell in rng.choice(16, int(rng.integers(0, 8)), replace=False).tolist():
            y, x = cell // 4 * 10, cell % 4 * 10
            mask = np.zeros((SIZE, SIZE), np.bool_)
            mask[y + 1 : y + rng.integers(3, 10), x : x + rng.integers(2, 10)] = True
            mask[y + 1, x] = rng.random() < 0.5
            image.append(number)
            drawn.append(mask)
    image.append(0)
    drawn.append(np.pad(np.ones((1, 1), np.bool_), ((0, SIZE - 1), (0, SIZE - 1))))  # a row that no cell begins with
    masks, count = Masks.from_arrays(np.array(drawn)), int(rng.integers(1, 60))
    sides = rng.uniform(0.5, 6, (count, 2))
    boxes = np.hstack([rng.uniform(0, SIZE, (count, 2)) - sides / 2, sides])
    gt = GroundTruth.from_arrays(
        image_ids=image, category_ids=np.ones(len(image), int), regions=masks, images=range(images)
    )
    scores = rng.integers(1, 30, count) / 32
    dt = Detections.from_arrays(
        image_ids=rng.integers(0, images, count), category_ids=np.ones(count, int), boxes=boxes, scores=scores
    )
    return gt, dt, masks


@pytest.mark.parametrize("seed", range(30))
def test_hits_by_centres_are_those_of_monai(seed: int) -> None:
    gt, dt, masks = random_lesions(seed)
    centres = dt.boxes[:, :2] + dt.boxes[:, 2:] / 2
    pixels = np.floor(centres).astype(int)
    drawn = masks.to_arrays()

    def in_mask(detection: int, place: int) -> float:
        x, y = pixels[detection]
        return float(0 <= x < SIZE and 0 <= y < SIZE and drawn[place, y, x])

    def in_box(detection: int, place: int) -> float:
        low, side = gt.boxes[place, :2], gt.boxes[place, 2:]
        return float((low <= centres[detection]).all() and (centres[detection] < low + side).all())

    kinds: Any = {"centre-in-mask": in_mask, "centre-in-box": in_box}
    for kind, overlap in kinds.items():
        ours = ioukit.evaluate(gt, dt, iou_type=kind)
        assert ours.protocol is FROC_CENTRE
        plain = plain_numbers(gt, dt, overlap, once=False)
        np.testing.assert_allclose(list(ours.summary.values()), plain, rtol=0, atol=1e-12, err_msg=kind)


def test_the_classes_have_their_own_numbers_and_all_together_theirs() -> None:
    gt, dt = random_boxes(5, classes=3)
    ours = ioukit.evaluate(gt, dt, FROC)
    curves = miss_rate_curves(ours.matches)
    assert ours.summary["FROC"] == curves.overall.froc
    assert [one.summary["FROC"] for one in ours.per_class] == [curve.froc for curve in curves.per_class]
    assert [one.summary["S2"] for one in ours.per_class] == [curve.sensitivity(2)[0] for curve in curves.per_class]
    mean = FROC.replace(summary=[Measure("FROC", "FROC")])
    expected = np.mean([curve.froc for curve in curves.per_class if curve.num_ground_truth])
    assert ioukit.evaluate(gt, dt, mean).summary["FROC"] == pytest.approx(expected, abs=1e-15)


def test_parts_of_the_images_add_up() -> None:
    gt, dt = random_boxes(7, classes=2)
    parts = [match(gt, dt, FROC, images=[image]) for image in gt.images.ids.tolist()]
    assert summarise(accumulate(MatchTable.merge(parts))) == ioukit.evaluate(gt, dt, FROC).summary


def test_a_curve_that_one_can_check() -> None:
    """Two images, two objects: a hit at 0.9, a false positive at 0.5, and a hit and a false positive at 0.3."""
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]])
    dt = Detections.from_arrays(
        image_ids=[1, 1, 2, 2],
        category_ids=[1, 1, 1, 1],
        boxes=[[0, 0, 9, 9], [50, 0, 9, 9], [20, 0, 9, 9], [60, 0, 9, 9]],
        scores=[0.9, 0.5, 0.3, 0.3],
    )
    curve = miss_rate_curves(match(gt, dt, FROC)).overall
    assert curve.sensitivity([0, 0.5, 0.75, 1, 8]).tolist() == [0.5, 0.5, 0.75, 1.0, 1.0]
    assert curve.froc == (0.5 * 3 + 1.0 * 4) / 7


def test_without_detections_nothing_is_found_and_without_objects_nothing_is_known() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]])
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.9])
    for kind in ("bbox", "centre-in-box"):
        assert ioukit.evaluate(gt, dt.take([]), find_protocol("froc", kind), iou_type=kind).summary["FROC"] == 0
        assert np.isnan(ioukit.evaluate(gt.take([]), dt, "froc", iou_type=kind).summary["FROC"])


def test_a_name_with_centres_is_the_protocol_of_that_name() -> None:
    gt, dt = random_boxes(4, classes=1)
    named, given = (ioukit.evaluate(gt, dt, rules, iou_type="centre-in-box") for rules in ("froc", FROC))
    assert named.protocol == given.protocol == FROC
    assert named.summary == given.summary
    assert not [note for note in named.notes if "meant for" in note]


@pytest.mark.parametrize("rules", ["froc-centre", FROC_CENTRE])
def test_a_note_says_that_boxes_are_compared_by_rules_for_centres(rules: Any, tmp_path: Path) -> None:
    gt, dt = random_boxes(4, classes=1)
    note = (
        "the protocol FROC, centres is meant for centre-in-box, centre-in-mask, and bbox is compared: --iou-type "
        "centre-in-box, in Python iou_type='centre-in-box', compares what it is meant for"
    )
    assert note in ioukit.evaluate(gt, dt, rules).notes
    assert note not in ioukit.evaluate(gt, dt, rules, iou_type="centre-in-box").notes
    assert not [said for said in ioukit.evaluate(gt, dt).notes if "meant for" in said]
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}
    data = {
        "images": [{"id": 1, "width": 40, "height": 40}],
        "categories": [{"id": 1, "name": "lesion"}],
        "annotations": [{**box, "id": 1, "area": 81, "iscrowd": 0}],
    }
    said = run_here("eval", *write_coco(tmp_path, data, [{**box, "score": 0.9}]), "--protocol", "froc-centre")
    assert f"note {note}" in said.err


def test_the_settings_say_that_the_curve_is_read_on_straight_lines() -> None:
    gt, dt = random_boxes(6, classes=1)
    found = ioukit.evaluate(gt, dt, "froc")
    assert json.loads(found.to_json())["settings"]["miss_rate"]["reading"] == "interpolated"
    curve = miss_rate_curves(found.matches).overall
    np.testing.assert_array_equal(curve.at(FPPI), 1 - curve.sensitivity(FPPI))


def test_a_detection_in_two_boxes_hits_one_of_them() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [1, 1, 9, 9]])
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[4, 4, 2, 2]], scores=[0.9])
    assert ioukit.evaluate(gt, dt, iou_type="centre-in-box").summary["S1"] == 0.5


def test_the_command_prints_the_sensitivities(tmp_path: Path) -> None:
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}
    data = {
        "images": [{"id": 1, "width": 40, "height": 40}],
        "categories": [{"id": 1, "name": "lesion"}],
        "annotations": [{**box, "id": 1, "area": 81, "iscrowd": 0, "segmentation": [[0, 0, 9, 0, 9, 9, 0, 9]]}],
    }
    paths = write_coco(tmp_path, data, [{**box, "score": 0.9}])
    said = run_here("eval", *paths, "--protocol", "froc")
    assert said.out.splitlines()[:2] == ["FROC = 1.0000", "sensitivity at 0.125 FPPI = 1.0000"]
    for kind in ("centre-in-box", "centre-in-mask"):
        answer = json.loads(run_here("eval", *paths, "--iou-type", kind, "--json").out)
        assert answer["summary"] == {"FROC": 1.0, **{f"S{fppi:g}": 1.0 for fppi in FPPI}}


def test_other_rates_are_a_file_of_rules(tmp_path: Path) -> None:
    gt, dt = random_boxes(3, classes=1)
    (tmp_path / "own.toml").write_text(
        'based_on = "froc"\n[miss_rate]\nfppi = [0.25, 0.5, 1, 2, 4, 8]\n'
        '[[summary]]\nkey = "FROC"\nquantity = "FROC"\n[[summary]]\nkey = "at 3"\nquantity = "FROC"\nfppi = 3.0\n'
    )
    own = ioukit.evaluate(gt, dt, read_protocol(tmp_path / "own.toml"))
    seven = ioukit.evaluate(gt, dt, FROC).summary
    assert own.summary["FROC"] == pytest.approx(np.mean([seven[f"S{fppi:g}"] for fppi in FPPI[1:]]), abs=1e-12)
    assert seven["S2"] <= own.summary["at 3"] <= seven["S4"]
    assert own.protocol.from_dict(own.protocol.to_dict()) == own.protocol


@pytest.mark.parametrize("given", [{"quantity": "MR", "fppi": 1.0}, {"quantity": "FROC", "fppi": 0.0}])
def test_a_rate_that_reads_nothing_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="fppi must be a positive number of a measure of FROC, got "):
        Measure("one", **given)


def test_froc_needs_scores_and_masks_where_it_reads_them() -> None:
    with pytest.raises(ValueError, match="without recall_thresholds, no measure can be one of curves, got FROC"):
        COCO.replace(recall_thresholds=[], summary=[Measure("FROC", "FROC")])
    gt, dt = random_boxes(3, classes=1)
    with pytest.raises(
        DatasetError, match="iou_type='centre-in-mask' needs annotations with segmentations, found boxes alone"
    ):
        ioukit.evaluate(gt, dt, iou_type="centre-in-mask")
