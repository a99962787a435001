"""The protocols of Open Images against their arithmetic, written plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.plain_open_images import plain_open_images, random_open_images
from ioukit import Detections, GroundTruth, Protocol, evaluate
from ioukit.datasets import IdLists
from ioukit.errors import DatasetError
from ioukit.evaluation import Evaluation, MatchTable, Outcome, match, outcomes
from ioukit.evaluation.protocols import OPEN_IMAGES, OPEN_IMAGES_CHALLENGE, find_protocol

BOTH = [OPEN_IMAGES, OPEN_IMAGES_CHALLENGE]


@pytest.mark.parametrize("protocol", BOTH, ids=lambda protocol: protocol.name)
def test_ap_of_every_class_is_that_of_the_plain_arithmetic(protocol: Protocol) -> None:
    for seed in range(60):
        gt, dt = random_open_images(seed)
        evaluation = evaluate(gt, dt, protocol)
        expected = plain_open_images(gt, dt, challenge=protocol is OPEN_IMAGES_CHALLENGE)
        found = {result.id: result.summary["mAP"] for result in evaluation.per_class}
        assert {number: ap for number, ap in found.items() if not math.isnan(ap)} == pytest.approx(expected, abs=1e-14)
        assert evaluation.summary["mAP"] == pytest.approx(np.mean(list(expected.values())) if expected else math.nan)


def _scene(classes: list[int]) -> tuple[GroundTruth, Detections]:
    """A group that holds two detections, an object and a detection far from both."""
    gt = GroundTruth.from_arrays(
        image_ids=["a", "a"],
        category_ids=[1, 1],
        boxes=[[0, 0, 0.5, 0.5], [0.6, 0.6, 0.2, 0.2]],
        flags={"group_of": [True, False]},
        images=["a"],
        categories=[1, 2, 3],
        image_attributes={"positive_category_ids": IdLists.of([[1]]), "negative_category_ids": IdLists.of([[2]])},
    )
    boxes = [[0.1, 0.1, 0.1, 0.1], [0.3, 0.3, 0.1, 0.1], [0.6, 0.6, 0.2, 0.2], [0.9, 0, 0.1, 0.1]]
    dt = Detections.from_arrays(image_ids=["a"] * 4, category_ids=classes, boxes=boxes, scores=[0.9, 0.8, 0.7, 0.6])
    return gt, dt


def test_a_group_is_ignored_or_counts_once() -> None:
    gt, dt = _scene([1, 1, 1, 1])
    for protocol, hits, ignored, objects in (
        (OPEN_IMAGES, [False, False, True, False], [True, True, False, False], 1),
        (OPEN_IMAGES_CHALLENGE, [True, False, True, False], [False, True, False, False], 2),
    ):
        table = match(gt, dt, protocol)
        assert table.is_true_positive().tolist() == hits
        assert table.is_ignored().tolist() == ignored
        assert table.num_objects[0, 0] == objects
        assert table.matched_object().tolist() == [0, 0, 1, -1]
        of_group = Outcome.TRUE_POSITIVE if protocol is OPEN_IMAGES_CHALLENGE else Outcome.IGNORED
        assert outcomes(table, score_threshold=0.75).objects.tolist() == [of_group, Outcome.FALSE_NEGATIVE]


def test_only_classes_with_a_label_on_the_image_count() -> None:
    gt, dt = _scene([2, 3, 1, 3])
    table = match(gt, dt, OPEN_IMAGES_CHALLENGE)
    assert sorted(table.detections.row.tolist()) == [0, 2], "class 3 was not looked for, class 2 was"
    assert len(match(gt, dt, OPEN_IMAGES)) == 4


def test_a_missing_list_of_labels_is_refused() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], source="gt")
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[0.5])
    with pytest.raises(
        DatasetError,
        match="gt: the attribute 'positive_category_ids' of the images: expected lists of ids, found no such",
    ):
        evaluate(gt, dt, OPEN_IMAGES_CHALLENGE)
    assert evaluate(gt, dt, OPEN_IMAGES).summary["mAP"] == 1


@pytest.mark.parametrize("protocol", BOTH, ids=lambda protocol: protocol.name)
def test_parts_and_threads_give_the_same_bits(protocol: Protocol) -> None:
    for seed in range(0, 60, 6):
        gt, dt = random_open_images(seed)
        whole = evaluate(gt, dt, protocol, threads=1, near=0.1)
        parts = [match(gt, dt, protocol, images=part, threads=8, near=0.1) for part in ([2, 4], [1, 3, 5])]
        merged = Evaluation.from_table(MatchTable.merge(parts))
        np.testing.assert_array_equal(merged.curves.ap, whole.curves.ap)
        np.testing.assert_array_equal(merged.confusion().counts, whole.confusion().counts)
        assert dict(merged.error_kinds().counts) == dict(whole.error_kinds().counts)


@pytest.mark.parametrize("name", ["open-images", "Open-Images-Challenge"])
def test_each_is_found_by_its_name(name: str) -> None:
    protocol = find_protocol(name)
    assert type(protocol).from_dict(protocol.to_dict()) == protocol
    assert protocol.measures[0].text(0.5).endswith("_Precision/mAP@0.5IOU,0.500000")
