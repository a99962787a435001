"""LVIS's protocols, compared with the plain arithmetic of plain_lvis.py to the last bit, and with published numbers."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import ioukit
from ioukit.evaluation import Evaluation, MatchTable, load_table, match, save_table
from ioukit.evaluation.protocols import LVIS, LVIS_FIXED, Protocol
from parity.plain_lvis import LvisResult, plain_lvis
from parity.random_lvis import random_lvis
from support.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_SEEDS = range(0, 120, 2)


def _numbers(summary: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(key, -1.0 if np.isnan(value) else value) for key, value in summary.items()]


def _check(result: Evaluation, plain: LvisResult) -> None:
    np.testing.assert_array_equal(np.nan_to_num(result.precision[..., 0], nan=-1.0), plain.precision)
    np.testing.assert_array_equal(np.nan_to_num(result.recall[..., 0], nan=-1.0), plain.recall)
    assert _numbers(result.summary) == list(plain.numbers.items())


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_has_the_bits_of_the_plain_arithmetic(iou_type: str) -> None:
    for seed in _SEEDS:
        gt, dt = random_lvis(seed, masks=iou_type == "segm")
        _check(ioukit.evaluate(gt, dt, LVIS, iou_type=iou_type), plain_lvis(gt, dt, iou_type))


@pytest.mark.parametrize("cap", [10_000, 7])
def test_fixed_ap_caps_each_category_over_the_data_set(cap: int) -> None:
    for seed in _SEEDS:
        gt, dt = random_lvis(seed)
        for row, record in enumerate(dt):
            record["score"] += row * 1e-7  # of equal scores at the cap, the program's order decides
        result = ioukit.evaluate(gt, dt, LVIS_FIXED.replace(max_dets=[cap]))
        _check(result, plain_lvis(gt, dt, per_image=None, per_category=cap))


@pytest.mark.parametrize("protocol", [LVIS, LVIS_FIXED, LVIS.replace(class_agnostic=True)], ids=lambda p: p.name)
def test_tables_of_parts_add_up_to_the_same_bits(protocol: Protocol, tmp_path: Path) -> None:
    for seed in range(0, 120, 6):
        gt, dt = random_lvis(seed)
        ground_truth = ioukit.GroundTruth.from_coco(gt, dialect="lvis")
        detections = ioukit.Detections.from_coco(dt)
        whole = match(ground_truth, detections, protocol, near=0.1, threads=1)
        ids = ground_truth.images.ids
        parts = []
        for part in (ids[1::2], ids[::2]):
            table = match(ground_truth, detections, protocol, images=part, near=0.1, threads=8)
            save_table(table, tmp_path / "part.npz", compress=False)
            parts.append(load_table(tmp_path / "part.npz"))
        merged = MatchTable.merge(parts)
        np.testing.assert_array_equal(merged.detections.special, whole.detections.special)
        one, other = Evaluation.from_table(whole), Evaluation.from_table(merged)
        for name in ("precision", "recall", "scores"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert _numbers(one.summary) == _numbers(other.summary)
        np.testing.assert_array_equal(one.confusion().counts, other.confusion().counts)
        assert dict(one.error_kinds().counts) == dict(other.error_kinds().counts)


def test_has_the_published_numbers_of_ten_real_images() -> None:
    expected = json.loads((DATA / "lvis_10" / "expected.json").read_text())
    files = DATA / "lvis_10" / "gt.json", DATA / "lvis_10" / "dt.json"
    result = ioukit.evaluate(*files, LVIS)
    # The last bit of a sum of thousands of numbers depends on the version of NumPy.
    assert dict(result.summary) == pytest.approx(expected["results"], abs=1e-15)
    assert list(result.summary) == list(expected["results"])
    per_class = {str(found.id): found for found in result.per_class}
    for number, numbers in expected["per_category (categories with a defined cell only)"].items():
        found = per_class[number]
        assert found.name == numbers["name"]
        assert [found.summary[key] for key in ("AP", "AP50", "AR@300")] == pytest.approx(
            [numbers[key] for key in ("AP", "AP50", "AR")], abs=1e-15
        )
    at_five = expected["results with max_dets=5 (applied to results and evaluator)"]
    assert dict(ioukit.evaluate(*files, LVIS.replace(max_dets=[5])).summary) == pytest.approx(at_five, abs=1e-15)


def test_prints_the_lines_of_lvis() -> None:
    gt, dt = random_lvis(4)
    lines = ioukit.evaluate(gt, dt, LVIS).table().splitlines()
    assert len(lines) == 13
    assert lines[0].startswith(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=300 catIds=all] = ")
    assert lines[6].startswith(" Average Precision  (AP) @[ IoU=0.50:0.95 | area=   all | maxDets=300 catIds=  r] = ")
    assert lines[10].startswith(" Average Recall     (AR) @[ IoU=0.50:0.95 | area=     s | maxDets=300 catIds=all] = ")


def test_json_can_be_a_file_or_a_mapping(tmp_path: Path) -> None:
    gt, dt = random_lvis(8)
    (tmp_path / "gt.json").write_text(json.dumps(gt))
    (tmp_path / "dt.json").write_text(json.dumps(dt))
    of_files = ioukit.evaluate(tmp_path / "gt.json", tmp_path / "dt.json", LVIS)
    of_records = ioukit.evaluate(copy.deepcopy(gt), dt, LVIS)
    assert _numbers(of_files.summary) == _numbers(of_records.summary)
