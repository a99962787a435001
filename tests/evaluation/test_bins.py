"""AP by bins of any value: COCO's area ranges with the value in the place of the area."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ioukit
import support.strategies  # noqa: F401 - the profile
from evaluation.plain_analysis import plain_iou
from evaluation.plain_rules import plain_ap
from evaluation.small_scene import DT, GT
from evaluation.test_rules import protocols, scenes
from ioukit import COCO, Detections, GroundTruth, MatchTable, Protocol
from ioukit.datasets import IdLists
from ioukit.evaluation import Evaluation, aspect_ratios, largest_overlaps, match, match_bins, num_neighbours
from ioukit.evaluation.protocols import AreaRange
from support.paths import DATA
from support.same_columns import assert_same_columns

VALUES = st.sampled_from([0.0, 1.0, 1.5, 2.0, 3.0])
RANGES = {"low": (0.0, 1.5), "high": (1.5, 3.0), "none": (7.0, 8.0)}
REAL = DATA / "coco_val2014_100"
FILES = REAL / "instances_val2014_100.json", REAL / "instances_val2014_fakebbox100_results.json"


def _with_areas(gt: GroundTruth, dt: Detections, objects: Any, found: Any) -> tuple[GroundTruth, Detections]:
    return (
        GroundTruth.from_arrays(
            image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=gt.boxes, flags=gt.flags, areas=objects,
            images=gt.images, categories=gt.categories,
        ),
        Detections.from_arrays(
            image_ids=dt.image_ids, category_ids=dt.category_ids, boxes=dt.boxes, scores=dt.scores, areas=found
        ),
    )  # fmt: skip


def _assert_same_rows(ours: MatchTable, expected: MatchTable) -> None:
    for name in ("detections", "objects", "pairs", "near"):
        assert_same_columns(getattr(ours, name), getattr(expected, name), where=name)


@given(scenes(), protocols(federated=False), st.data())
def test_bins_are_area_ranges_of_the_value(
    data: tuple[GroundTruth, Detections], protocol: Protocol, drawn: st.DataObject
) -> None:
    """Whatever the protocol, the table is that of matching data whose areas are the values."""
    protocol = protocol.replace(area_ranges={"all": (0, 1e9)})
    gt, dt = data
    objects = np.array([drawn.draw(VALUES) for _ in range(len(gt))])
    found = np.array([drawn.draw(VALUES) for _ in range(len(dt))])
    table = match(gt, dt, protocol, near=0.2)
    rows = table.objects.row, table.detections.row
    binned = match_bins(table, objects[rows[0]], RANGES, detection_values=found[rows[1]])
    by_area = protocol.replace(area_ranges={"all": (0, 1e9), **RANGES})
    _assert_same_rows(binned, match(*_with_areas(gt, dt, objects, found), by_area, near=0.2))
    _assert_same_rows(match_bins(table, dict(enumerate(objects, 1)), RANGES, detection_values=found[rows[1]]), binned)
    # The first range is that of all objects.
    whole = binned.detections.matched[:, :1], binned.detections.ignored[:, :1]
    np.testing.assert_array_equal(whole, (table.detections.matched, table.detections.ignored))


@given(scenes(), protocols(federated=False), st.data())
def test_the_ap_of_a_bin_is_that_of_its_rule(
    data: tuple[GroundTruth, Detections], protocol: Protocol, drawn: st.DataObject
) -> None:
    """Edges, with detections of unknown value: they count in every bin, as if they were within each."""
    protocol = protocol.replace(area_ranges={"all": (0, 1e9)})
    gt, dt = data
    objects = np.array([drawn.draw(VALUES) for _ in range(len(gt))])
    table = match(gt, dt, protocol, near=0.2)
    binned = match_bins(table, objects[table.objects.row], [0, 1.5, 3])
    assert binned.protocol.area_labels == ["all", "0-1.5", "1.5-3"]
    curves = Evaluation.from_table(binned).curves
    for at, bounds in enumerate([(0, 1.4), (1.5, 3)], 1):  # of these values 1.5 belongs to the upper bin, 3 as well
        area = AreaRange("bin", *bounds)
        plain = _with_areas(gt, dt, objects, np.full(len(dt), bounds[0]))
        for threshold, iou in enumerate(protocol.iou_thresholds):
            expected = list(plain_ap(*plain, protocol, iou, area, protocol.max_dets[-1]).values())
            ours = curves.ap[threshold, :, at, -1]
            if protocol.mean_over == "all":  # a class without objects counts as 0
                ours = np.nan_to_num(ours)
            np.testing.assert_allclose(ours, expected, rtol=1e-12)


def test_coco_sizes_of_real_data_are_bins_of_the_area() -> None:
    gt, dt = ioukit.read_coco(*FILES)
    whole = match(gt, dt, near=0.1)
    plain = match(gt, dt, COCO.replace(area_ranges={"all": (0, 1e10)}), near=0.1)
    sizes = {area.label: (area.low, area.high) for area in COCO.area_ranges[1:]}
    areas = dt.boxes[:, 2] * dt.boxes[:, 3]
    for table in (plain, whole):
        binned = match_bins(table, gt.areas[table.objects.row], sizes, detection_values=areas[table.detections.row])
        _assert_same_rows(binned, whole)
        assert Evaluation.from_table(binned).summary == Evaluation.from_table(whole).summary


def test_what_the_main_range_ignores_stays_ignored() -> None:
    gt, dt = ioukit.read_coco(*FILES)
    small = COCO.replace(area_ranges={"small": (0, 32**2)})
    table = match(gt, dt, small, near=0.1)
    binned = match_bins(table, np.zeros(len(table.objects)), {"every": (0, 1)})
    for at in (0, 1):
        for ours, its in ((binned.detections, table.detections), (binned.objects, table.objects)):
            bits = ours.ignored[:, at] if ours is binned.detections else ours.ignored[:, 0] >> at & 1
            np.testing.assert_array_equal(bits, its.ignored[:, 0])
        np.testing.assert_array_equal(binned.detections.matched[:, at], table.detections.matched[:, 0])


def test_names_and_unknown_values() -> None:
    table = match(GT, DT, near=0.1)
    colour = {1: "red", 2: "red", 3: "blue", 4: "blue", 5: "red", 6: "blue"}
    binned = match_bins(table, colour)
    assert binned.protocol.area_labels == ["all", "blue", "red"]
    assert binned.num_objects.tolist() == [[3, 0, 3], [2, 2, 0], [0, 0, 0]]
    assert "APred" in Evaluation.from_table(binned).summary
    chosen = match_bins(table, colour, ["red", "green"], detection_values=["red"] * 5 + ["blue"] * 5)
    assert chosen.protocol.area_labels == ["all", "red", "green"]
    unmatched = chosen.matched_object() < 0
    assert chosen.is_ignored(area_range="red")[unmatched].tolist() == [False] * 4 + [True] * 3
    assert match_bins(table, [True, False] * 3).protocol.area_labels == ["all", "False", "True"]
    unknown = match_bins(table, [np.nan] * 6, [-np.inf, 0, np.inf])
    assert unknown.num_objects[0].tolist() == [3, 0, 0]
    assert match_bins(table, [-np.inf, np.inf, 0, 0, 0, 0], [-np.inf, 0, np.inf]).num_objects.tolist()[0] == [3, 1, 2]


def test_what_cannot_be_asked() -> None:
    table = match(GT, DT, near=0.1)
    values = np.arange(6.0)
    with pytest.raises(ValueError, match=r"values must have shape \(6,\), one value for each object of the table"):
        match_bins(table, values[:3], [0, 1])
    with pytest.raises(ValueError, match=r"detection_values must have shape \(10,\), one value for each detection"):
        match_bins(table, values, [0, 1], detection_values=values)
    with pytest.raises(ValueError, match="values must be numbers, strings or booleans, got object"):
        match_bins(table, np.full(6, None), [0, 1])
    with pytest.raises(ValueError, match="must both be numbers, or both strings or booleans"):
        match_bins(table, values, [0, 1], detection_values=["red"] * 10)
    with pytest.raises(ValueError, match="numbers need bins"):
        match_bins(table, values)
    with pytest.raises(ValueError, match=r"edges of bins must be at least two rising numbers, got \[1.0, 1.0\]"):
        match_bins(table, values, [1, 1])
    with pytest.raises(ValueError, match="area range 'a' must go from a lower to a higher number"):
        match_bins(table, values, {"a": (2, 1)})
    with pytest.raises(ValueError, match="labels of area_ranges must differ"):
        match_bins(table, values, {"all": (2, 3)})
    with pytest.raises(ValueError, match="bins of strings or booleans are a list of values, got a mapping"):
        match_bins(table, ["red"] * 6, {"a": (2, 1)})
    with pytest.raises(KeyError, match="every annotation id of the table; 2 is missing"):
        match_bins(table, {1: 0.5}, [0, 1])
    with pytest.raises(ValueError, match=r"this needs the near pairs of a match table: match with near=0.5"):
        match_bins(match(GT, DT), values, [0, 1])
    with pytest.raises(
        ValueError, match=r"pairs with an IoU of at least 0.5, and the table lists those of at least 0.6"
    ):
        match_bins(match(GT, DT, near=0.6), values, [0, 1])


@given(scenes(), st.booleans(), st.sampled_from([0.1, 1 / 3, 0.5, 1.0]))
def test_values_of_objects_are_those_of_all_pairs(
    data: tuple[GroundTruth, Detections], same_category: bool, least: float
) -> None:
    gt, _ = data
    largest, neighbours = [0.0] * len(gt), [0] * len(gt)
    for one in range(len(gt)):
        for other in range(len(gt)):
            alike = gt.image_ids[one] == gt.image_ids[other] and (
                not same_category or gt.category_ids[one] == gt.category_ids[other]
            )
            if one != other and alike and not gt.flags["crowd"][other]:
                overlap = plain_iou(gt.boxes[one], gt.boxes[other], crowd=False)
                largest[one] = max(largest[one], overlap)
                neighbours[one] += overlap >= least
    assert largest_overlaps(gt, same_category=same_category).tolist() == largest
    assert num_neighbours(gt, least, same_category=same_category).tolist() == neighbours
    assert aspect_ratios(gt).tolist() == [width / height for *_, width, height in gt.boxes.tolist()]


def test_objects_without_height_and_without_sense() -> None:
    flat = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 5, 0]])
    assert np.isnan(aspect_ratios(flat)).all()
    assert largest_overlaps(flat).tolist() == [0]
    with pytest.raises(ValueError, match="iou_threshold must be above 0 and at most 1, got 0"):
        num_neighbours(flat, 0)


def test_a_protocol_that_leaves_out_detections_is_refused() -> None:
    ground_truth = GroundTruth.from_arrays(
        image_ids=[1],
        category_ids=[1],
        boxes=[[0, 0, 9, 9]],
        images=[1],
        image_attributes={name: IdLists.of([[]]) for name in ("neg_category_ids", "not_exhaustive_category_ids")},
    )
    detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.5])
    table = match(ground_truth, detections, COCO.replace(name="some", verified="listed"), near=0.1)
    with pytest.raises(ValueError, match="'some' cannot be matched again by other values: the protocol leaves"):
        match_bins(table, [1.0], [0.0, 2.0])
