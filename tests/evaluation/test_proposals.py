"""Recall by the number of detections: that of an evaluation with this cap, for every number."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ioukit
import support.strategies  # noqa: F401 - the profile
from evaluation.small_scene import DT, GT
from evaluation.test_rules import protocols, scenes
from ioukit import COCO, Detections, GroundTruth, Protocol
from ioukit.evaluation import Evaluation, match, match_proposals, recall_curves
from support.paths import DATA
from support.same_columns import assert_same_columns

REAL = DATA / "coco_val2014_100"
FILES = REAL / "instances_val2014_100.json", REAL / "instances_val2014_fakebbox100_results.json"


def test_equal_scores_count_in_the_order_in_which_they_are_matched() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 4, 4]], categories={1: "a", 2: "b"})
    boxes = [[8, 8, 4, 4], [0, 0, 4, 4], [0, 0, 4, 4]]
    dt = Detections.from_arrays(image_ids=[1] * 3, category_ids=[2, 2, 1], boxes=boxes, scores=[0.5] * 3)
    for near in (None, 0.2):
        table = match(gt, dt, COCO.replace(class_agnostic=True, cap_scope="image", max_dets=[3]), near=near)
        assert recall_curves(table).recall[0, 0].tolist() == [1.0, 1.0, 1.0]


@given(scenes(), protocols(federated=False), st.booleans())
def test_every_number_is_a_cap(data: tuple[GroundTruth, Detections], protocol: Protocol, near: bool) -> None:
    gt, dt = data
    if protocol.class_agnostic and protocol.cap_scope == "image":
        # A cap per image takes equal scores in the order of the file, and matching takes them by category.
        dt = dt.take(np.argsort(dt.category_ids, kind="stable"))
    table = match(gt, dt, protocol, near=0.2 if near else None)
    for at, label in enumerate(protocol.area_labels):
        curves = recall_curves(table, area_range=label)
        assert curves.counts.tolist() == list(range(1, len(curves.counts) + 1))
        counted = table.num_objects[:, at] > 0  # some protocols let a class without objects count as 0
        for n in range(1, protocol.max_dets[-1] + 1)[:10]:
            capped = match(gt, dt, protocol.replace(max_dets=[n]))
            expected = Evaluation.from_table(capped).recall[:, counted, at, 0]
            place = min(n, len(curves.counts)) - 1
            np.testing.assert_array_equal(curves.recall[:, counted, place], expected)
            assert np.isnan(curves.recall[:, ~counted]).all()
            average = expected.mean() if counted.any() else math.nan
            np.testing.assert_allclose(curves.average_recall[place], average, rtol=1e-14)


@given(scenes(), protocols(federated=False), st.sampled_from([[1], [2, 5], [1000]]))
def test_proposals_are_matched_as_one_category(
    data: tuple[GroundTruth, Detections], protocol: Protocol, caps: list[int]
) -> None:
    protocol = protocol.replace(area_ranges={"all": (0, 1e9)})
    proposals = match_proposals(match(*data, protocol, near=0.2), caps)
    scope = "image" if protocol.cap_scope == "image" else "image_and_category"
    alike = protocol.replace(class_agnostic=True, max_dets=caps, cap_scope=scope)
    expected = match(*data, alike, near=0.2)
    for name in ("detections", "objects", "pairs", "near"):
        assert_same_columns(getattr(proposals, name), getattr(expected, name), where=name)


def test_the_average_is_that_of_the_summary() -> None:
    table = match(*ioukit.read_coco(*FILES), near=0.1)
    summary = Evaluation.from_table(table).summary
    curves = recall_curves(table, [1, 10, 100])
    assert curves.average_recall.tolist() == [summary[key] for key in ("AR1", "AR10", "AR100")]
    assert recall_curves(table, [100], area_range="small").average_recall[0] == summary["ARs"]
    whole = recall_curves(table)
    assert whole.average_recall[[0, 9]].tolist() == curves.average_recall[:2].tolist()
    assert (np.diff(whole.average_recall) >= 0).all()
    agnostic = match(*ioukit.read_coco(*FILES), COCO.replace(class_agnostic=True, max_dets=[1, 10, 100, 1000]))
    found = Evaluation.from_table(match_proposals(table)).summary
    expected = Evaluation.from_table(agnostic).summary
    for key in ("AP", "AP50", "AR1", "AR10", "AR100", "AR1000"):
        assert found[key] == expected[key]


def test_the_area_is_the_mean_over_the_logarithm() -> None:
    table = match(*ioukit.read_coco(*FILES))
    curves = recall_curves(table)
    fine = np.exp(np.linspace(0, math.log(curves.counts[-1]), 1_000_001))
    height = np.interp(np.log(fine), np.log(curves.counts), curves.average_recall)
    assert curves.area == pytest.approx(height.mean(), rel=1e-6)
    assert curves.average_recall[0] < curves.area < curves.average_recall[-1]
    one = recall_curves(table, [5])
    assert one.area == one.average_recall[0]
    assert "with 5 detections" in repr(one)


def test_nothing_to_find() -> None:
    nothing = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=[1], categories=[1])
    none = Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    curves = recall_curves(match(nothing, none, near=0.1))
    assert curves.counts.tolist() == [1]
    assert np.isnan(curves.average_recall).all()
    assert math.isnan(curves.area)
    assert math.isnan(recall_curves(match_proposals(match(nothing, none, near=0.1))).area)


@pytest.mark.parametrize("counts", [[], [0, 1], [2, 2], [101]])
def test_counts_that_make_no_sense(counts: list[int]) -> None:
    with pytest.raises(ValueError, match="counts must rise from at least 1 to at most 100, the last cap, got"):
        recall_curves(match(GT, DT), counts)
