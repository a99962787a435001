"""`Evaluator` beside pycocotools on the same random data: boxes, masks, keypoints, in random batches."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

import ioukit
from ioukit.evaluation import Evaluator
from parity.random_data import random_case
from parity.random_keypoints import random_keypoint_case
from parity.random_masks import random_mask_case
from parity.reference import run_pycocotools
from parity.same_bits import assert_same_evaluation
from support.same_columns import assert_same_columns

CHUNK = 25


def fill(evaluator: Evaluator, truth: dict[str, Any], results: list[dict[str, Any]], rng: Random, read: Any) -> None:
    """The images in random order and random batches; `read` makes the members of a dict from some records."""
    images = [image["id"] for image in truth["images"]]
    rng.shuffle(images)
    while images:
        batch = [images.pop() for _ in range(min(len(images), rng.randint(1, 4)))]
        predictions, targets = [], []
        for image in batch:
            found = [record for record in results if record["image_id"] == image]
            there = [record for record in truth["annotations"] if record["image_id"] == image]
            labels = [[record["category_id"] for record in some] for some in (found, there)]
            scores = [record["score"] for record in found]
            predictions.append({**read(found), "labels": labels[0], "scores": scores})
            flags = {name: [record[name] for record in there] for name in ("iscrowd", "area")}
            targets.append({**read(there), "labels": labels[1], **flags})
        evaluator.update(predictions, targets, image_ids=batch)
        if rng.random() < 0.3:
            evaluator.compute()


def boxes_of(records: list[dict[str, Any]]) -> dict[str, Any]:
    return {"boxes": np.array([record["bbox"] for record in records]).reshape(-1, 4)}


def categories_of(truth: dict[str, Any]) -> dict[int, str]:
    return {category["id"]: category["name"] for category in truth["categories"]}


@pytest.mark.parametrize("first", range(0, 400, CHUNK))
def test_boxes(first: int) -> None:
    for seed in range(first, first + CHUNK):
        case = random_case(seed)
        if case.subset:
            continue
        protocol = ioukit.COCO.replace(**case.protocol)
        evaluator = Evaluator(protocol, box_format="xywh", categories=categories_of(case.gt))
        fill(evaluator, case.gt, case.dt, Random(seed), boxes_of)
        assert_same_evaluation(evaluator.compute(), run_pycocotools(case.gt, case.dt, **case.protocol))


def mask_reader(truth: dict[str, Any], spelling: int) -> Any:
    sizes = {image["id"]: (image["height"], image["width"]) for image in truth["images"]}

    def read(records: list[dict[str, Any]]) -> dict[str, Any]:
        masks = []
        for record in records:
            height, width = sizes[record["image_id"]]
            masks.append(ioukit.Masks.from_coco([record["segmentation"]], height=height, width=width))
        if spelling == 0:
            return {"masks": [mask.to_rle()[0] for mask in masks]}
        if spelling == 1 or not masks:
            return {"masks": ioukit.Masks.concat(masks)}
        return {"masks": np.concatenate([mask.to_arrays() for mask in masks])}

    return read


def without_boxes(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Then the areas of detections are those of their regions, as an evaluator has them."""
    return [{name: record[name] for name in record if name != "bbox"} for record in results]


@pytest.mark.parametrize("iou_type", ["segm", "boundary"])
@pytest.mark.parametrize("first", range(0, 100, CHUNK))
def test_masks(first: int, iou_type: str) -> None:
    for seed in range(first, first + CHUNK):
        truth, results = random_mask_case(seed)
        results = without_boxes(results)
        for record in results:  # pycocotools reads no other spelling where records have no boxes
            image = next(one for one in truth["images"] if one["id"] == record["image_id"])
            masks = ioukit.Masks.from_coco([record["segmentation"]], height=image["height"], width=image["width"])
            record["segmentation"] = masks.to_rle()[0]
        evaluator = Evaluator(iou_type=iou_type, categories=categories_of(truth))
        fill(evaluator, truth, results, Random(seed), mask_reader(truth, seed % 3))
        assert_same_evaluation(evaluator.compute(), run_pycocotools(truth, results, iou_type=iou_type))


@pytest.mark.parametrize("first", range(0, 200, CHUNK))
def test_keypoints(first: int) -> None:
    def read(records: list[dict[str, Any]]) -> dict[str, Any]:
        points = np.array([record["keypoints"] for record in records], np.float64).reshape(-1, 17, 3)
        boxes = boxes_of(records) if all("bbox" in record for record in records) else {}
        return {**boxes, "keypoints": points}

    for seed in range(first, first + CHUNK):
        truth, results = random_keypoint_case(seed)
        results = without_boxes(results)
        for record in truth["annotations"]:  # a file may tell another number than that of its points
            record["num_keypoints"] = sum(value > 0 for value in record["keypoints"][2::3])
        evaluator = Evaluator(iou_type="keypoints", categories=categories_of(truth), box_format="xywh")
        fill(evaluator, truth, results, Random(seed), read)
        assert_same_evaluation(
            evaluator.compute(), run_pycocotools(truth, results, max_dets=[20], iou_type="keypoints")
        )


@pytest.mark.parametrize("seed", range(30))
def test_match_tables_are_those_of_evaluate(seed: int) -> None:
    truth, results = random_mask_case(seed)
    results = without_boxes(results)
    if not results:
        return
    evaluator = Evaluator(iou_type="segm", categories=categories_of(truth), near=0.1)
    fill(evaluator, truth, results, Random(seed), mask_reader(truth, 1))
    whole = ioukit.evaluate(truth, results, iou_type="segm", near=0.1)
    assert_same_columns(evaluator.compute().matches, whole.matches, but=("row", "sources", "id"))
