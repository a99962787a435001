"""Real data sets against numbers that pycocotools gave for them, to the last bit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from parity.reference import STATS, run_pycocotools
from parity.same_bits import UNITS_OF_MEANS, assert_same_bits, assert_same_evaluation
from support.paths import DATA, DEMO, EXAMPLES, load, write_coco

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from numpy.typing import NDArray

AREAS = ("all", "small", "medium", "large")


@dataclass(frozen=True)
class RealSet:
    """The files of one data set and what is expected of them."""

    name: str
    gt: str
    dt: str
    within: Path = DATA

    @property
    def files(self) -> tuple[Path, Path]:
        return self.within / self.name / self.gt, self.within / self.name / self.dt

    @property
    def expected(self) -> dict[str, Any]:
        expected: dict[str, Any] = load(self.within / self.name / "expected.json")["bbox"]
        return expected


VAL2014 = RealSet("coco_val2014_100", "instances_val2014_100.json", "instances_val2014_fakebbox100_results.json")
YOLACT = RealSet("coco_val2017_100", "ground_truth.json", "yolact.json", EXAMPLES)
CCBY = RealSet("coco_ccby_images", str(DEMO / "gt.json"), str(DEMO / "a.json"))
SETS = [VAL2014, YOLACT, CCBY]
WITH_VARIANTS = [VAL2014, YOLACT]
each_set = pytest.mark.parametrize("data", SETS, ids=lambda s: s.name)
each_set_with_variants = pytest.mark.parametrize("data", WITH_VARIANTS, ids=lambda s: s.name)


def mean(values: NDArray[np.float64]) -> float:
    """The mean as pycocotools takes it: of the defined values, in C order; NaN if there is none."""
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def assert_recorded(ours: Any, expected: Any, what: str) -> None:
    """Compares means with recorded ones, for which pycocotools used NumPy 2.3 or newer."""
    assert_same_bits(ours, expected, what, units=UNITS_OF_MEANS)


def assert_same_means(result: ioukit.Evaluation, expected: Mapping[str, Any], labels: tuple[str, ...] = AREAS) -> None:
    """Compares what `expected` has of AP by area, AP by threshold (area all), and AR by area and cap."""
    for name, value in expected["AP_by_area"].items():
        assert_recorded(mean(result.precision[:, :, :, labels.index(name), -1]), value, f"AP of {name}")
    for t, (threshold, value) in enumerate(expected["AP_per_iou_all"].items()):
        ours = mean(result.precision[t, :, :, labels.index("all"), -1])
        assert_recorded(ours, value, f"AP at IoU {threshold}")
    for name, by_cap in expected["AR_by_area_maxdet"].items():
        for m, (cap, value) in enumerate(by_cap.items()):
            assert_recorded(mean(result.recall[:, :, labels.index(name), m]), value, f"AR of {name} at {cap}")


def assert_same_summary(summary: Mapping[str, float], expected: Mapping[str, Any]) -> None:
    assert_recorded([summary[key] for key in STATS], [expected[key] for key in STATS], "the twelve numbers")


@each_set
def test_twelve_numbers_and_means(data: RealSet) -> None:
    result = ioukit.evaluate(*ioukit.read_coco(*data.files))
    assert_same_summary(result.summary, data.expected["stats"])
    assert_same_means(result, data.expected["means"])


@each_set
def test_numbers_of_each_class(data: RealSet) -> None:
    result = ioukit.evaluate(*ioukit.read_coco(*data.files))
    per_class = {c.id: c for c in result.per_class}
    for k, c in enumerate(result.per_class):
        expected = data.expected["per_class"].get(str(c.id))
        if expected is None:  # a category without a single annotation
            assert c.num_ground_truth == 0
            continue
        assert (c.name, c.num_ground_truth) == (expected["name"], expected["n_gt"])
        assert_same_summary(c.summary, expected)
        by_iou = [mean(values) for values in result.precision[:, :, k, 0, -1]]
        assert_recorded(by_iou, expected["AP_per_iou"], f"AP of {c.name} per IoU")
        assert_same_bits(result.recall[:, k, 0, -1], expected["recall_per_iou_maxdet100"], f"recall of {c.name}")
    assert set(map(int, data.expected["per_class"])) <= set(per_class)


@each_set
def test_arrays_and_table_are_those_of_pycocotools(data: RealSet) -> None:
    gt, dt = map(load, data.files)
    reference = run_pycocotools(gt, dt)
    result = ioukit.evaluate(*ioukit.read_coco(*data.files))
    assert_same_evaluation(result, reference)
    assert result.table().splitlines() == reference.table.splitlines()


@each_set_with_variants
def test_class_agnostic(data: RealSet) -> None:
    result = ioukit.evaluate(*ioukit.read_coco(*data.files), ioukit.COCO.replace(class_agnostic=True))
    assert_same_summary(result.summary, data.expected["variants"]["class_agnostic (useCats=0)"]["stats"])


@each_set_with_variants
@pytest.mark.parametrize("caps", [(1, 10, 300), (1, 3, 5)])
def test_other_caps(data: RealSet, caps: tuple[int, ...]) -> None:
    result = ioukit.evaluate(*ioukit.read_coco(*data.files), ioukit.COCO.replace(max_dets=caps))
    assert_same_means(result, data.expected["variants"][f"maxDets=[{','.join(map(str, caps))}]"])


@each_set_with_variants
def test_other_thresholds(data: RealSet) -> None:
    result = ioukit.evaluate(*ioukit.read_coco(*data.files), ioukit.COCO.replace(iou_thresholds=[0.3, 0.5, 0.9]))
    assert_same_means(result, data.expected["variants"]["iouThrs=[0.3,0.5,0.9]"])


@each_set_with_variants
def test_other_areas(data: RealSet) -> None:
    expected = data.expected["variants"]["areaRng all,[0,256],[256,4096],[4096,1e10]"]
    names = tuple(expected["AP_by_area"])
    ends = [(0, 1e10), (0, 256), (256, 4096), (4096, 1e10)]
    protocol = ioukit.COCO.replace(area_ranges=dict(zip(names, ends, strict=True)))
    assert_same_means(ioukit.evaluate(*ioukit.read_coco(*data.files), protocol), expected, names)


@each_set_with_variants
def test_every_second_image(data: RealSet) -> None:
    (expected,) = (v for name, v in data.expected["variants"].items() if name.startswith("imgIds = every second"))
    gt, dt = ioukit.read_coco(*data.files)
    result = ioukit.evaluate(gt, dt, images=sorted(gt.images.ids.tolist())[::2])
    assert_same_summary(result.summary, expected["stats"])


@each_set_with_variants
def test_better_half_of_the_detections(data: RealSet, tmp_path: Path) -> None:
    (expected,) = (v for name, v in data.expected["variants"].items() if name.startswith("detections with score"))
    gt, dt = map(load, data.files)
    median = sorted(d["score"] for d in dt)[len(dt) // 2]
    kept = [d for d in dt if d["score"] >= median]
    assert len(kept) == expected["kept"]
    result = ioukit.evaluate(*ioukit.read_coco(*write_coco(tmp_path, gt, kept)))
    assert_same_summary(result.summary, expected["stats"])


def test_cats_with_an_annotation_of_id_0(tmp_path: Path) -> None:
    folder = DATA / "toy_cats"
    gt = load(folder / "gts_coco_format" / "toy_example_coco.JSON")
    # The detections are a data set whose annotations carry scores, not a list of results.
    results = load(folder / "dets_coco_format" / "coco_dets.json")["annotations"]
    expected = load(folder / "expected.json")["pycocotools"]
    files = write_coco(tmp_path, gt, results)
    as_pycocotools = ioukit.evaluate(*ioukit.read_coco(*files, on_invalid="pycocotools"))
    assert_same_summary(as_pycocotools.summary, expected["annotation_ids_as_in_file"])
    right = ioukit.evaluate(*ioukit.read_coco(*files))
    assert_same_summary(right.summary, expected["annotation_ids_plus_1"])
