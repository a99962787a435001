"""Semantic segmentation: the confusion matrix of pixels and the means of it."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation.plain_panoptic import plain_semantic
from ioukit import DatasetError
from ioukit.evaluation import SemanticIoU, semantic_iou

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = np.array([[0, 0, 1, 1], [0, 0, 1, 255]])
FOUND = np.array([[0, 0, 0, 1], [0, 2, 1, 9]])


def scene(seed: int, num_classes: int) -> tuple[list[Any], list[Any]]:
    rng = np.random.default_rng(seed)
    truth, found = [], []
    for _ in range(int(rng.integers(0, 6))):
        shape = rng.integers(0, 12, 2)
        one = rng.integers(0, int(rng.integers(1, num_classes + 1)), shape)
        other = np.where(rng.random(shape) < 0.6, one, rng.integers(0, num_classes, shape))
        truth.append(np.where(rng.random(shape) < rng.choice([0.0, 0.2, 1.0]), 255, one))
        found.append(other)
    return truth, found


def test_numbers_that_can_be_counted() -> None:
    result = semantic_iou(TRUTH, FOUND, 4, names=("road", "sky", "car", "dog"))
    assert result.confusion.tolist() == [[3, 0, 1, 0], [1, 2, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(result.iou, [3 / 5, 2 / 3, 0, math.nan])
    np.testing.assert_array_equal(result.accuracy, [3 / 4, 2 / 3, math.nan, math.nan])
    assert result.mean_iou == pytest.approx((3 / 5 + 2 / 3 + 0) / 3, rel=1e-15)
    assert result.frequency_weighted_iou == pytest.approx(4 / 7 * 3 / 5 + 3 / 7 * 2 / 3, rel=1e-15)
    assert result.pixel_accuracy == 5 / 7
    assert result.mean_accuracy == pytest.approx((3 / 4 + 2 / 3) / 2, rel=1e-15)
    assert (result.num_ignored, result.num_images) == (1, 1)
    assert result.table().splitlines() == [
        "class                     IoU  accuracy  pixels",
        "road                     60.0      75.0    57.1",
        "sky                      66.7      66.7    42.9",
        "car                       0.0       nan     0.0",
        "dog                       nan       nan     0.0",
        "",
        "mean_iou                 42.2",
        "frequency_weighted_iou   62.9",
        "pixel_accuracy           71.4",
        "mean_accuracy            70.8",
    ]
    assert repr(result).startswith("SemanticIoU(mean_iou=0.4222, frequency_weighted_iou=0.6286, pixel_accuracy=0.7143,")


@pytest.mark.parametrize("seed", range(60))
def test_it_equals_the_plain_oracle(seed: int) -> None:
    num_classes = 1 + seed % 7
    truth, found = scene(seed, num_classes)
    result = semantic_iou(truth, iter(found), num_classes)
    for key, value in plain_semantic(truth, found, num_classes, 255).items():
        number = result.summary[key]
        assert math.isnan(number) if value is None else number == pytest.approx(float(value), rel=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_any_split_gives_the_same(seed: int) -> None:
    truth, found = scene(seed, 5)
    every = semantic_iou(truth, found, 5)
    parts = [semantic_iou([one], [other], 5) for one, other in zip(truth, found, strict=True)]
    parts = [parts[k] for k in np.random.default_rng(seed).permutation(len(parts))] or [every]
    for merged in (SemanticIoU.merge(parts), sum(parts[1:], start=parts[0])):
        assert merged.to_json() == every.to_json()


def test_every_form_of_labels_gives_the_same() -> None:
    every = semantic_iou(TRUTH, FOUND, 3).to_json()
    for dtype in (np.uint8, np.int16, np.uint16, np.int32, np.uint64):
        assert semantic_iou(TRUTH.astype(dtype)[None], [FOUND.astype(np.uint8)], 3).to_json() == every
    assert semantic_iou([TRUTH.tolist()], [np.asfortranarray(FOUND)], 3).to_json() == every
    twice = semantic_iou(np.stack([TRUTH, TRUTH]), np.stack([FOUND, FOUND]), 3)
    assert (twice.confusion == 2 * semantic_iou(TRUTH, FOUND, 3).confusion).all()
    assert twice.num_images == 2


def test_png_files(tmp_path: Path) -> None:
    pil = pytest.importorskip("PIL.Image")
    every = semantic_iou(TRUTH, FOUND, 3).to_json()
    gt, dt = tmp_path / "gt.png", tmp_path / "dt.png"
    pil.fromarray(TRUTH.astype(np.uint8)).save(gt)
    with_palette = pil.fromarray(FOUND.astype(np.uint8), mode=None).convert("P")
    with_palette.save(dt)
    assert semantic_iou([gt], [str(dt)], 3).to_json() == every
    assert semantic_iou(gt, dt, 3).to_json() == every
    pil.fromarray(FOUND.astype(np.uint16)).save(dt)
    assert semantic_iou(gt, dt, 3).to_json() == every
    pil.fromarray(np.zeros((2, 4, 3), np.uint8)).save(dt)
    with pytest.raises(
        DatasetError, match=rf"^predictions\[0\], {re.escape(str(dt))}: expected a PNG of one channel, .* mode RGB$"
    ):
        semantic_iou(gt, dt, 3)
    dt.write_bytes(b"no image")
    with pytest.raises(DatasetError, match="cannot be read as a PNG"):
        semantic_iou(gt, dt, 3)
    with pytest.raises(FileNotFoundError):
        semantic_iou(gt, tmp_path / "none.png", 3)


def refuse(name: str) -> None:
    raise ModuleNotFoundError(name=name.partition(".")[0])


def test_pillow_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.import_module", refuse)
    with pytest.raises(
        ModuleNotFoundError, match=r"semantic_iou with PNG files needs PIL: pip install 'ioukit\[shapes"
    ):
        semantic_iou("a.png", "b.png", 3)


def test_results_are_frozen_also_in_copies() -> None:
    result = semantic_iou(TRUTH, FOUND, 3)
    for one in (result, copy.deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert one.to_json() == result.to_json()
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.num_images = 3  # type: ignore[misc]
        with pytest.raises(ValueError, match="read-only"):
            one.confusion[0, 0] = 3


def test_undefined_is_nan_and_null() -> None:
    empty = semantic_iou([], [], 2)
    assert all(math.isnan(value) for value in empty.summary.values())
    document = json.loads(empty.to_json(), parse_constant=pytest.fail)
    assert set(document["summary"].values()) == {None}
    assert document["per_class"][1] == {"name": "1", "iou": None, "accuracy": None}
    assert semantic_iou([[[255]]], [[[1]]], 2).num_ignored == 1


@pytest.mark.parametrize(
    ("truth", "found", "says"),
    [
        (TRUTH + 1, FOUND, r"ground_truth\[0\]: expected a class from 0 to 2 or 255 in row 1, column 3, found 256"),
        (TRUTH, FOUND + 1, r"predictions\[0\]: expected a class from 0 to 2 in row 1, column 1, found 3"),
        (TRUTH, FOUND - 1, r"predictions\[0\]: expected a class from 0 to 2 in row 0, column 0, found -1"),
        (TRUTH, FOUND.T, r"predictions\[0\]: expected shape \(2, 4\) as in ground_truth\[0\], found \(4, 2\)"),
        (TRUTH, [FOUND.astype(float)], r"predictions\[0\]: expected \(H, W\) integers, .* dtype float64"),
        ([TRUTH, TRUTH[0]], [FOUND] * 2, r"ground_truth\[1\]: expected \(H, W\) integers, found shape \(4,\)"),
    ],
)
def test_bad_labels(truth: Any, found: Any, says: str) -> None:
    with pytest.raises(DatasetError, match=says):
        semantic_iou(truth, found, 3)


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="expected one prediction per image, got 1 predictions and more ground_truth"):
        semantic_iou([TRUTH, TRUTH], [FOUND], 3)
    with pytest.raises(ValueError, match="expected one prediction per image, got 1 ground_truth and more predictions"):
        semantic_iou([TRUTH], [FOUND, FOUND], 3)
    with pytest.raises(ValueError, match="num_classes must be at least 1"):
        semantic_iou(TRUTH, FOUND, 0)
    with pytest.raises(ValueError, match="ignore_label must not be one of the classes 0 to 2, got 1"):
        semantic_iou(TRUTH, FOUND, 3, ignore_label=1)
    with pytest.raises(ValueError, match="names must have 3 strings, one per class, got 1"):
        semantic_iou(TRUTH, FOUND, 3, names=["road"])
    with pytest.raises(DatasetError, match="expected a class from 0 to 2 in row 1, column 3, found 255"):
        semantic_iou(TRUTH, FOUND, 3, ignore_label=None)
    with pytest.raises(ValueError, match="at least one result"):
        SemanticIoU.merge([])
    with pytest.raises(ValueError, match="different classes do not add up"):
        semantic_iou(TRUTH, FOUND, 3) + semantic_iou(TRUTH, FOUND, 4)
    with pytest.raises(TypeError):
        semantic_iou(TRUTH, FOUND, 3) + 1  # type: ignore[operator]
