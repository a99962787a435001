"""Ultralytics' protocols against their arithmetic, written plainly."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.plain_ultralytics import plain_ultralytics
from ioukit import COCO, Detections, GroundTruth, Protocol, evaluate, read_coco
from ioukit.evaluation import find_tool
from ioukit.evaluation.protocols import ULTRALYTICS, ULTRALYTICS_8_3, find_protocol
from support.paths import ROOT

BOTH = [(ULTRALYTICS, False), (ULTRALYTICS_8_3, True)]


def crowded(seed: int) -> tuple[GroundTruth, Detections]:
    """Objects that overlap, and detections between them, without equal scores; some images have more than 300."""
    random = np.random.default_rng(seed)
    objects = int(random.integers(1, 40))
    found = int(random.integers(0, 700 if seed % 10 == 0 else 120))
    boxes = np.hstack([random.uniform(0, 60, (objects, 2)), random.uniform(10, 40, (objects, 2))])
    images, categories = random.integers(1, 4, objects), random.integers(1, 4, objects)
    source = random.integers(0, objects, found)
    near = boxes[source] + random.normal(0, 4, (found, 4))
    near[:, 2:] = np.maximum(near[:, 2:], 1)
    gt = GroundTruth.from_arrays(
        image_ids=images,
        category_ids=categories,
        boxes=boxes,
        crowd=random.random(objects) < 0.1,
        images=[1, 2, 3, 4],
        categories=[1, 2, 3, 4],
    )
    of_detections = np.where(random.random(found) < 0.9, categories[source], 4)
    dt = Detections.from_arrays(
        image_ids=images[source], category_ids=of_detections, boxes=near, scores=random.permutation(found) / 1000
    )
    return gt, dt


@pytest.mark.parametrize(("protocol", "until_8_3"), BOTH, ids=["now", "8.3"])
def test_ap_of_every_class_is_that_of_the_plain_arithmetic(protocol: Protocol, until_8_3: bool) -> None:
    for seed in range(60):
        gt, dt = crowded(seed)
        evaluation = evaluate(gt, dt, protocol)
        per_class = {result.id: result.summary for result in evaluation.per_class}
        plain = {iou: plain_ultralytics(gt, dt, iou, until_8_3=until_8_3) for iou in (0.5, 0.75)}
        for t, iou in ((0, 0.5), (5, 0.75)):
            found = evaluation.curves.ap[t, :, 0, 0]
            expected = [plain[iou].get(category, math.nan) for category in (1, 2, 3, 4)]
            np.testing.assert_allclose(found, expected, rtol=1e-13, atol=1e-15)
        assert [per_class[category]["mAP50"] for category in plain[0.5]] == pytest.approx(list(plain[0.5].values()))
        assert evaluation.summary["mAP50"] == pytest.approx(np.mean(list(plain[0.5].values())))
        assert evaluation.summary["mAP50-95"] == pytest.approx(np.nanmean(evaluation.curves.ap))


def test_the_protocols_differ_where_a_detection_has_a_second_choice() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [3, 0, 10, 10]])
    dt = Detections.from_arrays(
        image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [1, 0, 10, 10]], scores=[0.9, 0.8]
    )
    assert evaluate(gt, dt, ULTRALYTICS).matches.matched_object(0.5).tolist() == [0, 1]
    assert evaluate(gt, dt, ULTRALYTICS_8_3).matches.matched_object(0.5).tolist() == [0, -1]


@pytest.mark.parametrize("protocol", [ULTRALYTICS, ULTRALYTICS_8_3])
def test_the_best_ap_is_0995(protocol: Protocol) -> None:
    """Precision is 0 at recall 1, so the last of a hundred trapezoids is a triangle."""
    gt, _ = crowded(3)
    perfect = Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=gt.boxes, scores=np.linspace(0.1, 0.9, len(gt))
    )
    assert dict(evaluate(gt, perfect, protocol).summary) == pytest.approx({"mAP50": 0.995, "mAP50-95": 0.995})


def test_a_class_without_detections_counts_0_and_one_without_objects_does_not_count() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 9, 9]] * 2, categories=[1, 2, 3])
    dt = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 3], boxes=[[0, 0, 9, 9]] * 2, scores=[0.9, 0.8])
    evaluation = evaluate(gt, dt, ULTRALYTICS)
    assert [result.summary["mAP50"] for result in evaluation.per_class] == pytest.approx(
        [0.995, 0, math.nan], nan_ok=True
    )
    assert evaluation.summary["mAP50"] == pytest.approx(0.4975)


def test_threads_and_parts_give_the_same_bits() -> None:
    folder = ROOT / "examples" / "coco_val2017_100"
    gt, dt = read_coco(folder / "ground_truth.json", folder / "yolact.json")
    for protocol, _ in BOTH:
        one = evaluate(gt, dt, protocol, threads=1)
        assert dict(one.summary) == dict(evaluate(gt, dt, protocol, threads=8).summary)
        # Crowds are ordinary objects here, the curve is another one, and so is the cap.
        assert one.summary["mAP50"] != evaluate(gt, dt, COCO).summary["AP50"]


@pytest.mark.parametrize("name", ["ultralytics", "Ultralytics-8-3"])
def test_each_is_found_by_its_name(name: str) -> None:
    protocol = find_protocol(name)
    assert type(protocol).from_dict(protocol.to_dict()) == protocol
    assert [measure.key for measure in protocol.measures] == ["mAP50", "mAP50-95"]
    assert find_tool(name).protocol() == protocol
    assert "metrics/mAP50-95(B) is mAP50-95" in find_tool(name).text()
