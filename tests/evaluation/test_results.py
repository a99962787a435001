"""Summary, tables and match table of small data sets that can be checked in the head."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import ioukit
from ioukit import COCO, Detections, GroundTruth, MatchTable, evaluate
from ioukit.evaluation import match

BIG, SMALL = [0.0, 0.0, 200.0, 100.0], [300.0, 0.0, 10.0, 10.0]
MISS = [0.0, 300.0, 200.0, 100.0]
GT = GroundTruth.from_arrays(
    image_ids=[1, 1, 2],
    category_ids=[1, 1, 2],
    boxes=[BIG, SMALL, BIG],
    images=[1, 2, 3],
    categories={1: "a", 2: "b", 3: "c"},
)
# A hit of IoU 0.8, a miss, a hit of IoU 1 with the lowest score; nothing in category 2.
DT = Detections.from_arrays(
    image_ids=[1, 1, 1],
    category_ids=[1, 1, 1],
    boxes=[[0.0, 0.0, 160.0, 100.0], MISS, SMALL],
    scores=[0.9, 0.8, 0.7],
)


def test_numbers_that_can_be_counted() -> None:
    evaluation = evaluate(GT, DT)
    first, second, third = evaluation.per_class
    # Precision 1 up to recall 1/2 (recalls 0 to 0.5), then 2/3; the second category is never found, the third absent.
    assert first.summary["AP50"] == pytest.approx((51 + 50 * 2 / 3) / 101)
    assert second.summary["AP50"] == 0
    assert math.isnan(third.summary["AP50"])
    assert evaluation.summary["AP50"] == pytest.approx(first.summary["AP50"] / 2)
    assert evaluation.summary["AR1"] == pytest.approx((7 / 10 / 2 + 0) / 2)  # IoU 0.8 meets 7 of 10 thresholds
    assert (first.num_ground_truth, first.num_detections) == (2, 3)
    turned = evaluate(GT, DT, COCO.replace(area_ranges=COCO.area_ranges[::-1]))  # large ones first, all last
    assert [result.num_ground_truth for result in turned.per_class] == [2, 1, 0]
    assert math.isnan(evaluation.summary["APm"])


def test_results_of_classes_are_found_by_name() -> None:
    per_class = evaluate(GT, DT).per_class
    assert per_class["b"] is per_class[1]
    assert per_class[-1].name == "c"
    assert [result.name for result in per_class[:2]] == ["a", "b"]
    assert repr(per_class["b"]) == "ClassResult('b', id 2, AP=0.0000, 1 object, 0 detections)"
    with pytest.raises(KeyError, match="no category has the name 'bb'; did you mean 'b'"):
        per_class["bb"]
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[BIG], categories={1: "a", 2: "a"})
    with pytest.raises(KeyError, match="2 categories have the name 'a', with the ids 1, 2: choose by position"):
        evaluate(gt, DT.filter(images=[])).per_class["a"]


def test_a_notebook_shows_the_numbers_as_a_table() -> None:
    """Names of protocols are text, not HTML."""
    shown = evaluate(GT, DT, COCO.replace(name="<b>own</b>"))._repr_html_()
    assert "&lt;b&gt;own&lt;/b&gt;, bbox: 3 images, 3 detections" in shown
    assert "<th style='text-align:left'>AP50</th><td>0.417</td>" in shown
    assert "<th style='text-align:left'>APm</th><td>undefined</td>" in shown


def test_undefined_is_nan_null_and_minus_one() -> None:
    evaluation = evaluate(GT, DT, categories=["c"])
    assert all(math.isnan(value) for value in evaluation.summary.values())
    document = json.loads(evaluation.to_json())
    assert set(document["summary"].values()) == {None}
    assert document["per_class"][0]["name"] == "c"
    assert evaluation.table().count("= -1.000") == 12
    assert np.isnan(evaluation.precision).all()


def test_the_json_is_the_summary_to_the_last_bit() -> None:
    evaluation = evaluate(GT, DT)
    document = json.loads(evaluation.to_json(indent=2))
    assert document == evaluation.to_dict()
    assert document["summary"]["AP"] == evaluation.summary["AP"]
    assert ",".join(document["summary"]) == "AP,AP50,AP75,APs,APm,APl,AR1,AR10,AR100,ARs,ARm,ARl"
    assert document["counts"] == {
        "images": 3,
        "categories": 3,
        "annotations": 3,
        "crowds": 0,
        "detections": 3,
        "dropped": 0,
    }
    assert document["version"] == ioukit.__version__


def test_a_protocol_adds_its_own_numbers() -> None:
    protocol = COCO.replace(max_dets=[2, 300], area_ranges={"all": (0, 1e10), "tiny": (0, 100)}, iou_thresholds=[0.6])
    summary = evaluate(GT, DT, protocol).summary
    assert [key for key, value in summary.items() if not math.isnan(value)] == [
        "AP",
        "APtiny",
        "AR2",
        "AR300",
        "ARtiny",
    ]
    assert summary["AR300"] == pytest.approx(0.5)
    table = evaluate(GT, DT, protocol).table()
    assert " Average Recall     (AR) @[ IoU=0.60:0.60 | area=  tiny | maxDets=300 ] = 1.000" in table


def test_all_numbers_but_ar_per_cap_are_at_100_detections_where_that_is_a_cap() -> None:
    """One cap for AP, AP50 and the sizes: the table once had AP at 100 detections above AP50 at 300."""
    count = 150
    boxes = [[20.0 * k, 0.0, 10.0, 10.0] for k in range(count)]
    same: dict[str, Any] = {"image_ids": [1] * count, "category_ids": [1] * count, "boxes": boxes}
    gt, dt = GroundTruth.from_arrays(**same), Detections.from_arrays(**same, scores=np.linspace(1, 0.5, count))
    summary = evaluate(gt, dt, COCO.replace(max_dets=[1, 100, 300])).summary
    assert summary["AP"] == pytest.approx(67 / 101)  # recalls up to 100 / 150
    assert summary["AP50"] == pytest.approx(67 / 101)
    assert summary["AR100"] == pytest.approx(100 / 150)
    assert summary["AR300"] == 1
    other = evaluate(gt, dt, COCO.replace(max_dets=[1, 10, 300])).summary
    assert other["AP"] == other["AP50"] == pytest.approx(1)


def test_matches_say_who_found_whom() -> None:
    table = match(GT, DT)
    assert table.detections.row.tolist() == [0, 1, 2]
    assert table.matched_object(0.5).tolist() == [0, -1, 1]
    assert table.matched_object(0.95).tolist() == [-1, -1, 1]
    assert table.is_true_positive(0.5, "all").tolist() == [True, False, True]
    # Among small objects the large ones are ignored: found or not, they count for nothing.
    assert table.is_ignored(0.5, "small").tolist() == [True, True, False]
    assert table.pairs.iou.tolist() == [0.8, 1.0]
    assert table.num_objects[:, 0].tolist() == [2, 1, 0]
    with pytest.raises(ValueError, match=r"no IoU threshold 0.4; there are 0.5"):
        table.is_true_positive(0.4)
    with pytest.raises(ValueError, match="no area range 'tiny'; there are all, small, medium, large"):
        table.is_true_positive(0.5, "tiny")


def test_tables_that_do_not_belong_together_do_not_add_up() -> None:
    table = match(GT, DT, images=[1])
    assert (table + match(GT, DT, images=[2, 3])).image_ids.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="image 1 is in two tables"):
        table + match(GT, DT)
    with pytest.raises(ValueError, match="different protocols"):
        table + match(GT, DT, COCO.replace(max_dets=[5]), images=[2])
    with pytest.raises(ValueError, match="different categories"):
        table + match(GT, DT, images=[2], categories=["a"])
    with pytest.raises(ValueError, match="at least one table"):
        MatchTable.merge([])
    with pytest.raises(TypeError):
        table + 1  # type: ignore[operator]


def test_unknown_images_and_categories_are_named() -> None:
    with pytest.raises(ValueError, match="no image has the id 9"):
        evaluate(GT, DT, images=[1, 9])
    with pytest.raises(ValueError, match="no category has the name 'd'"):
        evaluate(GT, DT, categories=["d"])


@pytest.mark.parametrize("threads", [0, -1])
def test_threads_are_checked(threads: int) -> None:
    with pytest.raises(ValueError, match="threads must be"):
        evaluate(GT, DT, threads=threads)
