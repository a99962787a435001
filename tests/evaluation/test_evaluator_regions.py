"""`Evaluator` with masks, keypoints and other regions, and with what detectors return."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ioukit
from evaluation.test_evaluator import assert_same
from ioukit import Detections, GroundTruth, Masks, RotatedBoxes
from ioukit.datasets import from_predictions
from ioukit.evaluation import Evaluator, Kind, PairColumns, register_kind
from ioukit.evaluation.kinds import REGION_KINDS, Comparison
from parity.same_bits import assert_same_bits
from support.predicted import MAKERS, NAMES

SIZE = (40, 60)


def found_in(seed: int, count: int, **kinds: bool) -> dict[str, Any]:
    """What a detector found on an image: boxes of whole numbers, and masks of the pixels within them."""
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 25, (count, 2))
    boxes = np.concatenate([low, low + rng.integers(2, 15, (count, 2))], axis=1).astype(np.float32)
    found: dict[str, Any] = {
        "boxes": boxes,
        "scores": (rng.integers(0, 8, count) / 8).astype(np.float32),
        "labels": rng.integers(0, 3, count),
    }
    if kinds.get("masks"):
        pixels = np.zeros((count, *SIZE), bool)
        for one, (x1, y1, x2, y2) in zip(pixels, boxes.astype(int).tolist(), strict=True):
            one[y1:y2, x1:x2] = rng.random((y2 - y1, x2 - x1)) < 0.9
        found["masks"] = pixels
    if kinds.get("keypoints"):
        points = np.concatenate([rng.uniform(0, 40, (count, 17, 2)), np.full((count, 17, 1), 2)], axis=2)
        found["keypoints"] = points.astype(np.float32)
    if kinds.get("rotated"):
        sides = boxes[:, 2:] - boxes[:, :2]
        centres = (boxes[:, 2:] + boxes[:, :2]) / 2
        found["rotated"] = np.concatenate([centres, sides, rng.uniform(-1, 1, (count, 1))], axis=1).astype(np.float32)
    return found


def as_numpy(array: Any) -> Any:
    return array


def as_torch(array: Any) -> Any:
    return pytest.importorskip("torch").from_numpy(np.ascontiguousarray(array))


@pytest.mark.parametrize("to", [as_numpy, as_torch])
@pytest.mark.parametrize("tool", MAKERS)
def test_boxes_of_every_tool(tool: str, to: Any) -> None:
    found = [found_in(seed, 6) for seed in range(5)]
    targets = [{name: one[name] for name in ("boxes", "labels")} for one in (found_in(seed, 6) for seed in range(3, 8))]
    outputs = [MAKERS[tool](one, to) for one in found]
    gt = ground_truth_of(targets, boxes=[one["boxes"] for one in targets])
    dt = from_predictions(outputs, image_ids=range(5), ground_truth=gt)
    named = NAMES if tool in ("ultralytics", "supervision") else [0, 1, 2]
    evaluator = Evaluator(categories=named, keep_data=True)
    evaluator.update(outputs, targets)
    assert_same_numbers(evaluator.compute(), ioukit.evaluate(gt, dt))
    kept = evaluator.compute().detections
    assert kept is not None
    assert kept.boxes.tolist() == dt.boxes.tolist()
    assert kept.category_ids.tolist() == dt.category_ids.tolist()


def assert_same_numbers(ours: ioukit.Evaluation, expected: ioukit.Evaluation) -> None:
    assert_same_bits(list(ours.summary.values()), list(expected.summary.values()), "summary")


def ground_truth_of(targets: list[dict[str, Any]], **columns: Any) -> GroundTruth:
    counts = [len(one["labels"]) for one in targets]
    corners = np.concatenate([np.asarray(one, np.float64) for one in columns.pop("boxes")])
    return GroundTruth.from_arrays(
        image_ids=np.repeat(np.arange(len(targets)), counts),
        category_ids=np.concatenate([one["labels"] for one in targets]),
        boxes=np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1),
        images=np.arange(len(targets)),
        categories=NAMES,
        **columns,
    )


@pytest.mark.parametrize("to", [as_numpy, as_torch])
@pytest.mark.parametrize("tool", ["dict", "ultralytics", "detectron2", "mmdetection", "supervision"])
def test_masks_of_every_tool(tool: str, to: Any) -> None:
    found = [found_in(seed, 5, masks=True) for seed in range(4)]
    targets = [found_in(seed, 5, masks=True) for seed in range(2, 6)]
    outputs = [MAKERS[tool](one, to) for one in found]
    masks = Masks.from_arrays(np.concatenate([one["masks"] for one in targets]))
    gt = ground_truth_of(targets, boxes=[one["boxes"] for one in targets], areas=masks.area, regions=masks)
    dt = from_predictions(outputs, image_ids=range(4), ground_truth=gt, areas="masks")
    evaluator = Evaluator(iou_type="segm", categories=NAMES)
    evaluator.update(outputs, targets)
    assert_same(evaluator.compute(), ioukit.evaluate(gt, dt, iou_type="segm"))


@pytest.mark.parametrize("tool", ["dict", "ultralytics", "detectron2"])
def test_keypoints_of_every_tool(tool: str) -> None:
    found = [found_in(seed, 5, keypoints=True) for seed in range(4)]
    outputs = [MAKERS[tool](one, as_numpy) for one in found]
    evaluator = Evaluator(iou_type="keypoints", categories=NAMES)
    evaluator.update(outputs, found)
    evaluation = evaluator.compute()
    gt = ground_truth_of(
        found, boxes=[one["boxes"] for one in found], keypoints=np.concatenate([one["keypoints"] for one in found])
    )
    dt = from_predictions(outputs, image_ids=range(4), ground_truth=gt)
    assert evaluation.summary["AP"] == ioukit.evaluate(gt, dt, iou_type="keypoints").summary["AP"]
    assert evaluation.summary["AP"] > 0.9


@pytest.mark.parametrize("iou_type", ["rotated", "rotated-probiou", "bbox"])
@pytest.mark.parametrize("tool", ["ultralytics", "detectron2", "mmdetection"])
def test_rotated_boxes_of_every_tool(tool: str, iou_type: str) -> None:
    found = [found_in(seed, 5, rotated=True) for seed in range(4)]
    outputs = [MAKERS[tool](one, as_numpy) for one in found]
    turned = [RotatedBoxes(one["rotated"] + np.float32(0.25), unit="radians", sense="clockwise") for one in found]
    given: Any = turned if iou_type != "bbox" else [one.to_boxes() for one in turned]
    evaluator = Evaluator(iou_type=iou_type, categories=NAMES)
    targets = [{"boxes": boxes, "labels": one["labels"]} for boxes, one in zip(given, found, strict=True)]
    evaluator.update(outputs, targets)
    regions = type(given[0]).concat(given)
    around: Any = regions.to_boxes()
    gt = ground_truth_of(found, boxes=[around.numpy()], areas=regions.area, regions=regions)
    dt = from_predictions(outputs, image_ids=range(4), ground_truth=gt)
    if iou_type != "bbox":
        sets = dt.regions["RotatedBoxes"]
        dt = Detections.from_arrays(
            image_ids=dt.image_ids, category_ids=dt.category_ids, scores=dt.scores, regions=sets
        )
    assert_same_numbers(evaluator.compute(), ioukit.evaluate(gt, dt, iou_type=iou_type))


def test_regions_are_matched_as_they_come() -> None:
    evaluator = Evaluator(iou_type="segm", keep_data=True)
    for seed in range(130):
        one = found_in(seed, 3, masks=True)
        evaluator.update([one], [one])
    assert evaluator._images._waiting == []
    evaluation = evaluator.compute()
    assert evaluation.summary["AP50"] > 0.99
    gt = evaluation.ground_truth
    assert gt is not None
    assert gt.ids.tolist() == list(range(1, 391))
    assert gt.ids[evaluation.matches.objects.row].tolist() == evaluation.matches.objects.id.tolist()


MASKED = found_in(1, 2, masks=True)
POSED = found_in(1, 2, keypoints=True)
TURNED = {**found_in(1, 2), "boxes": RotatedBoxes([[5, 5, 4, 4, 0]] * 2, unit="radians", sense="clockwise")}


@pytest.mark.parametrize(
    ("iou_type", "good", "wrong", "message"),
    [
        ("segm", MASKED, {"masks": MASKED["masks"][:1]}, r"predictions\[1\]: masks: expected 2 values, .* found 1"),
        ("segm", MASKED, {"masks": MASKED["masks"][0]}, r"masks: expected pixels of shape \(N, H, W\), found"),
        ("segm", MASKED, {"masks": MASKED["masks"] * np.nan}, r"predictions\[1\]: masks: expected probabilities"),
        ("segm", MASKED, {"masks": [{"size": [1, 1]}] * 2}, r"predictions\[1\]: masks: expected records of RLE"),
        ("segm", MASKED, {"masks": MASKED["masks"][:, :20]}, r"detections\[2\].segmentation: expected a mask of"),
        ("segm", MASKED, {"masks": ...}, r"predictions\[1\]: expected the key 'masks', found .*"),
        ("segm", MASKED, {"boxes": ...}, r"predictions\[0\]: boxes: expected none, as image 1 has none, found boxes"),
        ("keypoints", POSED, {"keypoints": POSED["keypoints"][:, :5]}, r"keypoints: expected rows of one shape"),
        ("keypoints", POSED, {"keypoints": POSED["keypoints"] * np.nan}, r"\[1\]: keypoints: row 0: .*finite"),
        ("keypoints", POSED, {"keypoints": POSED["keypoints"][..., :2]}, r"numbers of shape \(N, P, 3\), found shape"),
        ("rotated", TURNED, {"boxes": [[1, 2, 3, 4]]}, r"\[1\]: boxes: expected RotatedBoxes, .*, found list"),
        ("rotated", TURNED, {"scores": [1]}, r"\[1\]: scores: expected 2 values, one per detection, found 1"),
        ("bbox", found_in(1, 2), TURNED, r"predictions\[1\]: boxes: expected numbers of shape \(N, 4\), found a Rot"),
    ],
)  # fmt: skip
def test_wrong_regions_are_refused(iou_type: str, good: Any, wrong: Any, message: str) -> None:
    evaluator = Evaluator(iou_type=iou_type)
    evaluator.update([good], [good])
    bad = {name: value for name, value in {**good, **wrong}.items() if value is not ...}
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([good, bad], [good, good])
    assert len(evaluator) == 1
    evaluator.update([good], [good])
    assert evaluator.compute().counts["images"] == 2


def test_objects_of_no_tool_are_refused() -> None:
    with pytest.raises(TypeError, match=r"predictions\[0\]: expected a dict with boxes, labels, scores, got object"):
        Evaluator().update([object()], [{"boxes": [], "labels": []}])
    result = MAKERS["ultralytics"](found_in(1, 2), as_numpy)
    with pytest.raises(TypeError, match=r"predictions\[1\]: expected what a detector returns"):
        Evaluator().update([result, 3], [{"boxes": [], "labels": []}] * 2)
    with pytest.raises(ioukit.DatasetError, match=r"predictions\[0\]: class 0: expected the name of a category"):
        Evaluator(categories=["dog", "traffic"]).update([result], [{"boxes": [], "labels": []}])


def test_bad_values_of_tools_are_refused() -> None:
    found = found_in(1, 2)
    target: dict[str, Any] = {"boxes": [], "labels": []}
    good, named = MAKERS["ultralytics"](found, as_numpy), MAKERS["supervision"](found, as_numpy)
    named.class_id = None
    with pytest.raises(
        ioukit.DatasetError,
        match=r"\[1\]: labels: expected numbers, or names and Evaluator\(categories=\[names\]\), found names alone",
    ):
        Evaluator().update([good, named], [target] * 2)
    for change, message in (
        ({"labels": np.array([1.0, 1.5])}, r"labels: row 1: expected a whole number, found 1\.5"),
        ({"boxes": found["boxes"][:, [2, 1, 0, 3]]}, r"boxes: expected valid boxes, found boxes\[0\] is .* inverted"),
    ):
        wrong = MAKERS["detectron2"]({**found, **change}, as_numpy)
        evaluator = Evaluator()
        with pytest.raises(ioukit.DatasetError, match=rf"predictions\[1\]: {message}"):
            evaluator.update([good, wrong], [target] * 2)
        assert len(evaluator) == 0


@pytest.mark.parametrize("box_format", ["xywh", "cxcywh"])
def test_a_negative_width_is_told_with_the_format(box_format: Any) -> None:
    evaluator = Evaluator(box_format=box_format)
    wrong = {"boxes": [[0, 0, 9, 9], [1, 1, -8, 8]], "scores": [0.5, 0.25], "labels": [1, 2]}
    message = rf"predictions\[0\]: boxes: row 1: expected a width .* with box_format='{box_format}'"
    with pytest.raises(ioukit.DatasetError, match=message):
        evaluator.update([wrong], [{"boxes": [], "labels": []}])


def test_a_kind_from_outside_gets_all_regions() -> None:
    def compare(compared: Comparison) -> PairColumns:
        objects, detections = (side.regions["Masks"] for side in (compared.ground_truth, compared.detections))
        rows = np.arange(len(objects))
        return PairColumns(rows, rows, (objects.area == detections.area).astype(np.float64))

    register_kind(Kind("same area", "masks of one area", compare))
    try:
        evaluator = Evaluator(iou_type="same area")
        evaluator.update([MASKED], [MASKED])
        assert evaluator.compute().summary["AP50"] > 0.99
        with pytest.raises(ioukit.DatasetError, match="expected boxes, masks, keypoints or other regions, found none"):
            evaluator.update([{"scores": [], "labels": []}], [{"labels": []}])
    finally:
        del REGION_KINDS["same area"]
