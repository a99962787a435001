"""nuScenes' measures against their description in plain Python, the tests of its program, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import math
import re
import unittest
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from evaluation import nuscenes_adapter
from evaluation.plain_distances import CLASSES, plain_class, random_records
from ioukit import Boxes3D, DatasetError, Detections, GroundTruth
from ioukit.datasets import read_nuscenes, read_nuscenes_detections
from ioukit.evaluation import NUSCENES, DistanceEvaluation, DistanceRules, evaluate_distances
from ioukit.evaluation.distances import ERRORS

if TYPE_CHECKING:
    from pathlib import Path

KIND: dict[str, Any] = {"z": "centre", "unit": "radians", "sense": "counterclockwise"}


def read(folder: Path, truth: Any, found: Any) -> tuple[GroundTruth, Detections]:
    for name, data in (("gt", truth), ("dt", found)):
        (folder / f"{name}.json").write_text(json.dumps({"meta": {}, "results": data}))
    gt = read_nuscenes(folder / "gt.json", names=CLASSES)
    return gt, read_nuscenes_detections(folder / "dt.json", ground_truth=gt)


@pytest.mark.parametrize("seed", range(60))
def test_numbers_are_those_of_the_description(seed: int, tmp_path: Path) -> None:
    truth, found = random_records(seed)
    evaluation = evaluate_distances(*read(tmp_path, truth, found))
    for at, name in enumerate(CLASSES):
        ap, errors = plain_class(truth, found, name)
        np.testing.assert_allclose(evaluation.ap[at], ap, rtol=0, atol=1e-12, err_msg=name)
        left_out = [key in NUSCENES.without.get(name, ()) for key in ERRORS]
        np.testing.assert_allclose(
            evaluation.errors[at], np.where(left_out, np.nan, errors), rtol=0, atol=1e-12, err_msg=name
        )
    summary = evaluation.summary
    assert summary["mAP"] == pytest.approx(evaluation.ap.mean(), abs=1e-15)
    means = np.nanmean(evaluation.errors, axis=0)
    assert [summary[f"m{key}"] for key in ERRORS] == pytest.approx(means.tolist(), abs=1e-15)
    nds = (5 * summary["mAP"] + np.maximum(1 - means, 0).sum()) / 10
    assert summary["NDS"] == pytest.approx(nds, abs=1e-15)


def test_the_tests_of_nuscenes_pass_with_these_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = pytest.importorskip("nuscenes.eval.detection.tests.test_algo")

    class Curves(dict[Any, Any]):
        def set(self, name: str, threshold: float, curve: Any) -> None:
            self[name, threshold] = curve

    for name in ("accumulate", "calc_ap", "calc_tp"):
        monkeypatch.setattr(theirs, name, getattr(nuscenes_adapter, name))
    monkeypatch.setattr(theirs, "DetectionMetricDataList", Curves)
    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromModule(theirs).run(result)
    assert result.testsRun >= 10
    assert [*result.failures, *result.errors, *result.skipped] == []


def cars(places: list[tuple[float, float]], scores: list[float] | None = None, **columns: Any) -> Any:
    """Cars of one sample, or detections of them."""
    rows = [(x, y, 1, 4, 2, 1.5, 0) for x, y in places]
    common: dict[str, Any] = {
        "image_ids": ["a"] * len(rows),
        "category_ids": [1] * len(rows),
        "regions": Boxes3D(np.array(rows, np.float64).reshape(-1, 7), **KIND),
        "attributes": columns,
    }
    if scores is not None:
        return Detections.from_arrays(**common, scores=scores)
    return GroundTruth.from_arrays(**common, images=["a"], categories={1: "car"})


@pytest.mark.parametrize(
    ("objects", "found", "scores", "expected"),
    [
        pytest.param([(1, 1)], [(1, 1)], [0.9], 1.0, id="found"),
        pytest.param([(1, 1), (9, 9)], [(1, 1)], [0.9], 0.4 / 0.9, id="one of two"),
        pytest.param([(1, 1)], [(1, 1), (9, 9)], [0.9, 0.5], 1.0, id="wrong, with a lower score"),
        pytest.param([(9, 9)], [(1, 1), (9, 9)], [0.9, 0.5], 0.8 * 0.4 / 2 / 0.81, id="wrong, with a higher score"),
        pytest.param([(1, 1)], [], [], 0.0, id="nothing found"),
        pytest.param([], [(1, 1)], [0.9], 0.0, id="nothing to find"),
        pytest.param([], [], [], 0.0, id="nothing"),
    ],
)
def test_ap_of_small_cases(objects: Any, found: Any, scores: list[float], expected: float) -> None:
    evaluation = evaluate_distances(cars(objects), cars(found, scores))
    assert evaluation.ap == pytest.approx(np.full((1, 4), expected), abs=0.01)


def test_a_match_needs_less_than_the_threshold_and_takes_the_closest_free_object() -> None:
    found = evaluate_distances(cars([(0, 0)]), cars([(2, 0)], [0.5]))
    assert found.ap[0].tolist() == pytest.approx([0, 0, 0, 1])
    # The better detection takes the closer object, so that the other one gets what is left.
    both = evaluate_distances(cars([(0, 0), (1.5, 0)]), cars([(1, 0), (1.4, 0)], [0.9, 0.8]))
    assert both.per_class["car"]["AP@2"] == pytest.approx(1)
    assert both.per_class["car"]["AP@1"] < 0.5
    # Of equal scores, the last detection comes first.
    equal = evaluate_distances(cars([(0, 0)]), cars([(0, 0), (0.4, 0)], [0.5, 0.5]))
    assert equal.per_class["car"]["ATE"] == pytest.approx(0.4)


def test_errors_of_one_match() -> None:
    gt = cars([(0, 0)], velocity=[[1.0, 2.0]], attribute_name=["moving"])
    dt = dataclasses.replace(
        cars([(0.3, 0.4)], [0.9], velocity=[[4.0, 6.0]], attribute_name=["parked"]),
        regions={"Boxes3D": Boxes3D([[0.3, 0.4, 1, 2, 2, 1.5, 3]], **KIND)},
    )
    found = evaluate_distances(gt, dt)
    assert found.errors[0] == pytest.approx([0.5, 0.5, 3, 5, 1])
    assert found.summary["NDS"] == pytest.approx((5 * 0.75 + 0.5 + 0.5) / 10)  # at 0.5 m, it is no match
    rules = dataclasses.replace(NUSCENES, half_turns=("car",))
    assert evaluate_distances(gt, dt, rules).per_class["car"]["AOE"] == pytest.approx(math.pi - 3)


def test_what_the_data_do_not_say_is_undefined() -> None:
    found = evaluate_distances(cars([(0, 0)]), cars([(0, 0)], [0.9]))
    assert found.notes == (
        "the ground truth lacks velocity: AVE and NDS are undefined",
        "the ground truth lacks attribute_name: AAE and NDS are undefined",
    )
    summary = json.loads(found.to_json())["summary"]
    assert summary.pop("mAP") == pytest.approx(1)
    assert summary == {"NDS": None, "mATE": 0, "mASE": 0, "mAOE": 0, "mAVE": None, "mAAE": None}
    assert found.table().splitlines()[0] == "NDS        -"
    assert found.table().splitlines()[-1].split() == ["car", "1.0000", "0.0000", "0.0000", "0.0000", "-", "-"]
    # Columns in which all is unknown say as little as none.
    unknown = evaluate_distances(cars([(0, 0)], velocity=[[np.nan, 0]], attribute_name=[""]), cars([(0, 0)], [0.9]))
    assert (unknown.notes, unknown.to_dict()["summary"]) == (found.notes, found.to_dict()["summary"])


def test_detections_without_velocities_and_attributes_have_errors_of_1() -> None:
    known: dict[str, Any] = {"velocity": [[1.0, 0], [2, 0]], "attribute_name": ["moving", "moving"]}
    gt = cars([(0, 0), (9, 9)], **known)
    for columns in ({}, {"velocity": [[np.nan, np.nan]] * 2, "attribute_name": ["", ""]}):
        found = evaluate_distances(gt, cars([(0, 0), (9, 9)], [0.9, 0.8], **columns))
        assert found.errors[0].tolist() == [0, 0, 0, 1, 1]
        assert found.notes == ("the detections lack velocity: AVE is 1", "the detections lack attribute_name: AAE is 1")
    # Of a match, an unknown velocity is left out, and an unknown attribute is wrong.
    some = cars([(0, 0), (9, 9)], [0.9, 0.8], velocity=[[1.5, 0], [np.nan, 0]], attribute_name=["moving", ""])
    found = evaluate_distances(gt, some)
    assert (found.per_class["car"]["AVE"], found.notes) == (0.5, ())
    assert 0 < found.per_class["car"]["AAE"] < 0.5


def test_classes_without_objects_are_counted_in_a_note() -> None:
    two = GroundTruth.from_arrays(
        image_ids=["a"], category_ids=[1], categories={1: "car", 2: "bus", 3: "barrier"}, images=["a"],
        regions=Boxes3D([[0, 0, 1, 4, 2, 1.5, 0]], **KIND),
    )  # fmt: skip
    whole, some = (evaluate_distances(two, cars([(0, 0)], [0.9]), categories=of) for of in (None, ["car"]))
    assert (whole.summary["mAP"], some.summary["mAP"]) == pytest.approx((1 / 3, 1))
    assert whole.notes[-1] == (
        "2 of 3 classes have no objects and count with AP 0 and errors of 1, as in nuScenes' program: "
        "categories= (--classes) chooses"
    )
    assert not any("no objects" in note for note in some.notes)


def test_without_any_object_that_counts_the_means_are_undefined() -> None:
    none = evaluate_distances(cars([(0, 0)] * 2, num_pts=[0, 0]), cars([(0, 0)], [0.9]))
    assert none.counts["objects"] == 0
    assert {*json.loads(none.to_json())["summary"].values()} == {None}
    assert none.notes[-2].endswith("all 2 objects have 0 points (num_pts): 0 are left")
    assert none.notes[-1] == "no object counts: the means are undefined"
    empty = evaluate_distances(cars([]), cars([], []))
    assert math.isnan(empty.summary["mAP"])
    assert empty.notes[-1] == "no object counts: the means are undefined"
    assert len(empty.notes) == len(cars([]).notes) + len(cars([], []).notes) + 1


def test_areas_of_kitti_are_no_class() -> None:
    gt = GroundTruth.from_arrays(
        image_ids=["a", "a"], category_ids=[1, 2], categories={1: "Car", 2: "DontCare"}, images=["a"],
        regions=Boxes3D([[0, 0, 1, 4, 2, 1.5, 0], [0.0] * 7], **KIND),
    )  # fmt: skip
    for chosen in (None, ["Car"], ["Car", "DontCare"]):
        found = evaluate_distances(gt, cars([(0, 0)], [0.9]), categories=chosen)
        assert (found.names, found.counts) == (("Car",), {"objects": 1, "detections": 1})
        assert found.summary["mAP"] == pytest.approx(1)


def test_boxes_far_away_and_without_points_are_left_out() -> None:
    gt = cars([(0, 0), (5, 5), (9, 9)], ego_distance=[49.9, 50.0, 1.0], num_pts=[-1, 5, 0])
    dt = cars([(0, 0), (5, 5)], [0.9, 0.8], ego_distance=[49.9, np.nan])
    found = evaluate_distances(gt, dt)
    assert found.counts == {"objects": 1, "detections": 2}
    assert evaluate_distances(gt, dt, DistanceRules()).counts == {"objects": 2, "detections": 2}


def test_ranges_need_the_distances_of_both_sides() -> None:
    far = {"ego_distance": [50.0]}
    for of_gt, of_dt, words in (
        (far, {}, "only the ground truth has distances .*, not the detections: "),
        ({"ego_distance": [np.nan]}, far, "only the detections have distances .*, not the ground truth: "),
    ):
        gt, dt = cars([(0, 0)], **of_gt), cars([(0, 0)], [0.9], **of_dt)
        found = evaluate_distances(gt, dt)
        assert found.counts == {"objects": 1, "detections": 1}
        assert re.match(words, found.notes[-1])
        assert found.notes[-1].endswith("the ranges of the classes are applied to neither")
        assert not any("ranges" in note for note in evaluate_distances(gt, dt, DistanceRules()).notes)
    assert evaluate_distances(cars([(0, 0)], **far), cars([], [])).counts == {"objects": 0, "detections": 0}


def test_the_order_of_images_and_parts_of_the_classes(tmp_path: Path) -> None:
    gt, dt = read(tmp_path, *random_records(5))
    whole = evaluate_distances(gt, dt)
    some = evaluate_distances(gt, dt, categories=["pedestrian", 1])
    assert some.names == ("car", "pedestrian")
    np.testing.assert_array_equal(some.ap, whole.ap[[0, 2]])
    by_path = evaluate_distances(tmp_path / "gt.json", tmp_path / "dt.json", categories=CLASSES)
    assert sorted(by_path.names) == sorted(CLASSES)
    assert by_path.per_class["car"] == whole.per_class["car"]
    assert repr(whole).startswith("DistanceEvaluation(NDS=0.")
    assert isinstance(whole, DistanceEvaluation)
    with pytest.raises(ValueError, match="no category has the name 'tram'"):
        evaluate_distances(gt, dt, categories=["tram"])


def test_data_that_do_not_fit_are_refused() -> None:
    gt, dt = cars([(0, 0)]), cars([(0, 0)], [0.9])
    flat = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: "car"})
    with pytest.raises(DatasetError, match=r"expected boxes in space, found none: .*regions=Boxes3D"):
        evaluate_distances(flat, dt)
    with pytest.raises(DatasetError, match=r"attribute 'velocity': expected \(1, 2\) numbers, found float64 of shape"):
        evaluate_distances(cars([(0, 0)], velocity=[1.0]), dt)
    empty = dataclasses.replace(dt, regions={"Boxes3D": Boxes3D([[0, 0, 0, 4, 0, 1, 0]], **KIND)})
    with pytest.raises(DatasetError, match=r"row 0: expected sizes above 0, found \[4.0, 0.0, 1.0\]"):
        evaluate_distances(gt, empty)
    with pytest.raises(DatasetError, match="expected detections with scores"):
        evaluate_distances(gt, dataclasses.replace(dt, scored=False))
    many = cars([(0, 0)] * 3, [0.1, 0.2, 0.3])
    with pytest.raises(DatasetError, match="expected at most 2 detections per sample, found a, 3"):
        evaluate_distances(gt, many, dataclasses.replace(NUSCENES, max_detections=2))
    with pytest.raises(DatasetError, match="expected at least one class, found none"):
        evaluate_distances(gt, dt, categories=[])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"thresholds": (1.0, 0.5)}, r"thresholds must rise from above 0, got \[1.0, 0.5\]"),
        ({"thresholds": ()}, "thresholds must rise"),
        ({"error_threshold": 3.0}, "error_threshold must be one of .* got 3.0"),
        ({"min_recall": 2}, "min_recall must be within"),
        ({"min_precision": 1}, "min_precision within"),
        ({"without": {"car": ("AXE",)}}, r"unknown errors \['AXE'\]; choose from ATE, ASE, AOE, AVE, AAE"),
    ],
)
def test_rules_that_do_not_fit_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(NUSCENES, **changes)
