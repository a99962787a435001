"""Kinds of errors against tidecv: as it was recorded, and on random data where it is installed."""

from __future__ import annotations

import importlib.util
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation.tidecv_reference import EXPECTED, PROTOCOL, SETS, Tide, plain, run_tidecv
from ioukit import COCO, Detections, GroundTruth, evaluate, read_coco
from ioukit.evaluation import error_kinds, match
from ioukit.evaluation.protocols.tide import TIDE
from support.data_rows import errors_in_data
from support.paths import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.evaluation import ErrorKinds, MatchTable

RECORDED = load(EXPECTED)
with_tidecv = pytest.mark.skipif(
    not all(importlib.util.find_spec(module) for module in ("tidecv", "cv2", "pycocotools")), reason="needs tidecv"
)


def assert_same_shares(ours: Mapping[str, float], theirs: Mapping[str, float]) -> None:
    assert ours.keys() == theirs.keys()
    for kind, value in theirs.items():
        assert ours[kind] == pytest.approx(value, abs=1e-12, nan_ok=True), kind


@pytest.mark.parametrize("name", SETS)
def test_recorded_counts_and_differences(name: str) -> None:
    """Without crowds and equal scores everything agrees; only the mean is over the classes that have an object."""
    data, theirs = read_coco(*SETS[name]), RECORDED[name]["plain"]
    assert evaluate(*data).error_kinds().counts == theirs["counts"]
    ours = evaluate(*plain(*data), PROTOCOL).error_kinds()
    assert ours.counts == theirs["counts"]
    assert ours.ap == pytest.approx(theirs["class_ap"], abs=1e-12)
    assert_same_shares(ours.delta_ap, theirs["class_delta_ap"])
    assert sum(ours.counts.values()) - ours.counts["missed"] == (ours.detection_kind >= 0).sum()


@pytest.mark.parametrize("name", SETS)
def test_the_protocol_of_tide_has_its_mean(name: str) -> None:
    """Classes that have detections and no objects count, before and after a correction."""
    evaluation, theirs = evaluate(*plain(*read_coco(*SETS[name])), TIDE), RECORDED[name]["plain"]
    ours = evaluation.error_kinds()
    assert ours.ap == evaluation.summary["AP"] == pytest.approx(theirs["ap"], abs=1e-12)
    assert_same_shares(ours.delta_ap, theirs["delta_ap"])


@pytest.mark.parametrize("name", ["coco_val2014_100", "coco_val2017_100"])
def test_recorded_counts_of_the_files_as_they_are(name: str) -> None:
    """No detection of these lies on a crowd and near another object."""
    assert evaluate(*read_coco(*SETS[name])).error_kinds().counts == RECORDED[name]["as it is"]["counts"]


def test_detections_on_crowds_are_no_errors() -> None:
    """tidecv sorts those too, and lets them become true positives."""
    evaluation = evaluate(*read_coco(*SETS["coco_ccby_images"]))
    ours, theirs = evaluation.error_kinds(), RECORDED["coco_ccby_images"]["as it is"]
    kinds = errors_in_data(evaluation.near_matches(), ours).detection_kind
    ignored = evaluation.matches.detections.row[evaluation.matches.is_ignored()]
    assert (kinds[ignored] == -1).all()
    more = {kind: theirs["counts"][kind] - count for kind, count in ours.counts.items()}
    assert more.pop("missed") == -4
    assert sum(more.values()) == len(ignored) == 6
    assert theirs["delta_ap"]["localisation"] == pytest.approx(0.139193374, abs=1e-9)
    assert ours.delta_ap["localisation"] == pytest.approx(0.132582629, abs=1e-9)


def random_data(rng: np.random.Generator, *, crowds: bool) -> tuple[GroundTruth, Detections]:
    """Objects, detections near them and elsewhere, of classes some of which have no object; no two scores are equal."""
    images, classes = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    count, found = int(rng.integers(0, 14)), int(rng.integers(0, 40))
    boxes = np.column_stack([rng.uniform(0, 60, (count, 2)), rng.uniform(5, 40, (count, 2))])
    image, category = rng.integers(0, images, count), rng.integers(0, classes, count)
    near = rng.integers(0, max(count, 1), found)
    elsewhere = (rng.random(found) < 0.2) | (count == 0)
    dt_boxes = np.column_stack([rng.uniform(0, 60, (found, 2)), rng.uniform(5, 40, (found, 2))])
    dt_image, dt_category = rng.integers(0, images, found), rng.integers(0, classes + 1, found)
    if count:
        moved = np.abs(boxes[near] + rng.normal(0, rng.choice([0.5, 3, 8]), (found, 4)))
        dt_boxes = np.where(elsewhere[:, None], dt_boxes, moved)
        dt_image = np.where(elsewhere, dt_image, image[near])
        dt_category = np.where(elsewhere | (rng.random(found) < 0.25), dt_category, category[near])
    return GroundTruth.from_arrays(
        image_ids=image,
        category_ids=category,
        boxes=boxes,
        crowd=rng.random(count) < 0.2 if crowds else None,
        images=np.arange(images),
        categories=np.arange(classes + 1),
    ), Detections.from_arrays(
        image_ids=dt_image, category_ids=dt_category, boxes=dt_boxes, scores=rng.permutation(found) / found + 0.01
    )


def assert_agrees(table: MatchTable, ours: ErrorKinds, theirs: Tide) -> None:
    rows = errors_in_data(table, ours)
    assert rows.detection_kind.tolist() == theirs.detection_kind
    assert rows.missed.tolist() == theirs.missed
    assert ours.counts == theirs.counts
    assert ours.ap == pytest.approx(theirs.class_ap, abs=1e-12, nan_ok=True)
    if not math.isnan(ours.ap):
        assert_same_shares(ours.delta_ap, theirs.class_delta_ap)


@with_tidecv
@pytest.mark.parametrize("seed", range(60))
def test_random_data(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ground_truth, detections = random_data(rng, crowds=False)
    if not len(ground_truth) + len(detections):
        return
    iou, background = float(rng.choice([0.5, 0.75])), float(rng.choice([0.1, 0.3]))
    cap = int(rng.choice([1, 4, 100]))
    protocol = PROTOCOL.replace(iou_thresholds=[iou])
    arguments: dict[str, Any] = {"iou_threshold": iou, "background_threshold": background}
    table = match(ground_truth, detections, protocol, near=background)
    ours = error_kinds(table, **arguments, max_dets_per_image=cap)
    assert_agrees(table, ours, run_tidecv(ground_truth, detections, iou=iou, background=background, cap=cap))


@with_tidecv
@pytest.mark.parametrize("seed", range(1000, 1020))
def test_random_data_with_crowds(seed: int) -> None:
    ground_truth, detections = random_data(np.random.default_rng(seed), crowds=True)
    left = plain(ground_truth, detections)
    if not len(left[0]) + len(left[1]):
        return
    table = match(ground_truth, detections, PROTOCOL, near=0.1)
    ours, theirs = error_kinds(table), run_tidecv(*left)
    assert ours.counts == theirs.counts
    kinds = errors_in_data(table, ours).detection_kind
    table = match(ground_truth, detections)
    kept = np.ones(len(detections), np.bool_)
    kept[table.detections.row[table.is_ignored()]] = False
    assert kinds[kept].tolist() == theirs.detection_kind
    assert not (kinds[~kept] >= 0).any()
    if not math.isnan(ours.ap):
        assert_same_shares(ours.delta_ap, theirs.class_delta_ap)


@with_tidecv
@pytest.mark.parametrize("name", SETS)
def test_what_is_recorded_is_what_tidecv_says(name: str) -> None:
    data = read_coco(*SETS[name])
    for way, chosen in (("as it is", data), ("plain", plain(*data))):
        theirs, recorded = run_tidecv(*chosen), RECORDED[name][way]
        assert theirs.counts == recorded["counts"]
        assert_same_shares(theirs.delta_ap, recorded["delta_ap"])
        assert_same_shares(theirs.class_delta_ap, recorded["class_delta_ap"])


def test_the_recalls_of_coco_are_the_only_other_difference() -> None:
    data = read_coco(*SETS["coco_val2017_100"])
    ours, theirs = (error_kinds(match(*data, protocol, near=0.1)) for protocol in (COCO, PROTOCOL))
    assert ours.counts == theirs.counts
    different = [i for i in range(101) if COCO.recall_thresholds[i] != PROTOCOL.recall_thresholds[i]]
    assert len(different) == 10
    assert all(abs(COCO.recall_thresholds[i] - i / 100) < 2e-16 for i in different)
