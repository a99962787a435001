"""Thousands of small data sets, evaluated by pycocotools beside ioukit: the same bits everywhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

import ioukit
from parity.random_data import Case, random_case
from parity.reference import STATS, Reference, run_pycocotools
from parity.same_bits import assert_same_bits, assert_same_evaluation
from paths import write_coco

if TYPE_CHECKING:
    from pathlib import Path

CHUNK = 200
SEEDS = range(4_000)


def read(case: Case, folder: Path) -> tuple[ioukit.GroundTruth, ioukit.Detections]:
    """Files for one half of the cases, dictionaries for the other: both ways into the engine."""
    if case.seed % 2:
        return ioukit.read_coco(*write_coco(folder, case.gt, case.dt))
    return ioukit.GroundTruth.from_coco(case.gt), ioukit.Detections.from_coco(case.dt)


def assert_same_table(ours: ioukit.Evaluation, reference: Reference) -> None:
    """Line by line; what the protocol has no threshold or area range for is left out instead of printed as -1."""
    lines, expected = ours.table().splitlines(), reference.table.splitlines()
    if ours.protocol.area_ranges == ioukit.COCO.area_ranges and {0.5, 0.75} <= set(ours.protocol.iou_thresholds):
        assert lines == expected
    for line in set(expected) - set(lines):
        assert line.endswith("= -1.000"), f"the table lacks the line {line}"


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


def test_the_cases_reach_what_they_are_for() -> None:
    """A generator that only made empty data would let every engine pass."""
    cases = [random_case(seed) for seed in range(400)]
    annotations = [a for case in cases for a in case.gt["annotations"]]
    assert sum(a["iscrowd"] for a in annotations) > 100
    assert sum(a["area"] in (1024.0, 9216.0) for a in annotations) > 100
    assert sum(len(case.gt["categories"]) > 1 for case in cases) > 100
    assert any(len(case.dt) > 100 for case in cases)
    assert any(not case.dt for case in cases)
    for key in ("iou_thresholds", "max_dets", "area_ranges", "class_agnostic"):
        assert sum(key in case.protocol for case in cases) > 20, key
    for key in ("images", "categories"):
        assert sum(key in case.subset for case in cases) > 10, key
    references = [run_pycocotools(c.gt, c.dt, **c.protocol, **c.subset).precision for c in cases]
    interior = [np.any((p > 0) & (p < 0.99)) for p in references]  # neither all wrong nor perfect
    assert sum(interior) > 120
