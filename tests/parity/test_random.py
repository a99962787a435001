"""Thousands of small data sets, evaluated by pycocotools beside ioukit: the same bits everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import ioukit
from parity.random_data import Case, random_case, random_invalid_case
from parity.reference import STATS, Reference, run_pycocotools
from parity.same_bits import assert_same_bits, assert_same_evaluation
from support.paths import write_coco

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

CHUNK = 200
SEEDS = range(2_000)
INVALID_SEEDS = range(600)


def read(case: Case, folder: Path, on_invalid: OnInvalid = "error") -> tuple[ioukit.GroundTruth, ioukit.Detections]:
    """Every way into the engine takes its turn: files, dictionaries, arrays."""
    if case.seed % 3 == 0:
        return ioukit.read_coco(*write_coco(folder, case.gt, case.dt), on_invalid=on_invalid)
    if case.seed % 3 == 1 or on_invalid != "error":
        gt = ioukit.GroundTruth.from_coco(case.gt, on_invalid=on_invalid)
        return gt, ioukit.Detections.from_coco(case.dt, on_invalid=on_invalid).known_to(gt, on_invalid=on_invalid)
    annotations = case.gt["annotations"]
    return (
        ioukit.GroundTruth.from_arrays(
            ids=[a["id"] for a in annotations],
            image_ids=[a["image_id"] for a in annotations],
            category_ids=[a["category_id"] for a in annotations],
            boxes=[a["bbox"] for a in annotations],
            areas=[a["area"] for a in annotations],
            crowd=[a["iscrowd"] for a in annotations],
            images=[image["id"] for image in case.gt["images"]],
            categories={category["id"]: category["name"] for category in case.gt["categories"]},
        ),
        ioukit.Detections.from_arrays(
            image_ids=[d["image_id"] for d in case.dt],
            category_ids=[d["category_id"] for d in case.dt],
            boxes=[d["bbox"] for d in case.dt],
            scores=[d["score"] for d in case.dt],
        ),
    )


def assert_same_table(ours: ioukit.Evaluation, reference: Reference) -> None:
    """Line by line; what the protocol has no threshold or area range for is left out instead of printed as -1."""
    lines, expected = ours.table().splitlines(), reference.table.splitlines()
    if ours.protocol.area_ranges == ioukit.COCO.area_ranges and {0.5, 0.75} <= set(ours.protocol.iou_thresholds):
        assert lines == expected
    for line in set(expected) - set(lines):
        assert line.endswith("= -1.000"), f"the table lacks the line {line}"


@pytest.mark.slow
@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_every_bit_is_that_of_pycocotools(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + CHUNK):
        case = random_case(seed)
        reference = run_pycocotools(case.gt, case.dt, **case.protocol, **case.subset)
        ours = ioukit.evaluate(*read(case, tmp_path), ioukit.COCO.replace(**case.protocol), **case.subset)
        try:
            assert_same_evaluation(ours, reference)
            if "max_dets" not in case.protocol:
                assert_same_bits([ours.summary[key] for key in STATS], reference.stats, "the twelve numbers")
                assert_same_table(ours, reference)
        except AssertionError as error:
            raise AssertionError(f"{case}: {error}") from None


@pytest.mark.slow
@pytest.mark.parametrize("first", INVALID_SEEDS[::CHUNK])
def test_invalid_data_gives_the_numbers_of_pycocotools_on_demand(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + CHUNK):
        case = random_invalid_case(seed)
        reference = run_pycocotools(case.gt, case.dt, **case.protocol, **case.subset)
        data = read(case, tmp_path, on_invalid="pycocotools")
        ours = ioukit.evaluate(*data, ioukit.COCO.replace(**case.protocol), **case.subset)
        try:
            assert_same_evaluation(ours, reference)
        except AssertionError as error:
            raise AssertionError(f"{case}: {error}") from None


def test_most_invalid_cases_are_refused_by_default() -> None:
    """Otherwise the test above would only repeat the one before it."""
    refused = 0
    for seed in range(200):
        case = random_invalid_case(seed)
        try:
            ioukit.Detections.from_coco(case.dt).known_to(ioukit.GroundTruth.from_coco(case.gt))
        except ioukit.DatasetError:
            refused += 1
    assert refused > 150


def test_the_cases_reach_what_they_are_for() -> None:
    """A generator that only made empty data would let every engine pass."""
    cases = [random_case(seed) for seed in range(400)]
    annotations = [a for case in cases for a in case.gt["annotations"]]
    assert sum(a["iscrowd"] for a in annotations) > 100
    assert sum(a["area"] in (1024.0, 9216.0) for a in annotations) > 100
    assert sum(len(case.gt["categories"]) > 1 for case in cases) > 100
    assert any(len(case.dt) > 100 for case in cases)
    assert any(not case.dt for case in cases)
    for key in ("iou_thresholds", "recall_thresholds", "max_dets", "area_ranges", "class_agnostic"):
        assert sum(key in case.protocol for case in cases) > 10, key
    for key in ("images", "categories"):
        assert sum(key in case.subset for case in cases) > 10, key
    # The tests above show that pycocotools gives the same precision for these seeds.
    assert {case.seed for case in cases} <= set(SEEDS)
    given = [(ioukit.GroundTruth.from_coco(c.gt), ioukit.Detections.from_coco(c.dt), c) for c in cases]
    results = [ioukit.evaluate(gt, dt, ioukit.COCO.replace(**c.protocol), **c.subset).precision for gt, dt, c in given]
    interior = [np.any((p > 0) & (p < 0.99)) for p in results]  # neither all wrong nor perfect
    assert sum(interior) > 120
