"""One data set under many protocols: which apply, why others do not, and the numbers of other tools."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given

import support.strategies  # noqa: F401 - the profile
from evaluation.test_disagreement import Scene, federated
from evaluation.test_rules import scenes
from ioukit import COCO, Detections, GroundTruth, RotatedBoxes, evaluate, read_coco
from ioukit.errors import DatasetError
from ioukit.evaluation import TOOLS, compare_protocols, find_tool
from ioukit.evaluation.disagreement.tools import Tool
from ioukit.evaluation.protocols import find_protocol
from support.paths import DATA

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"


# ---- Which protocols apply.


@given(scenes())
def test_every_number_is_that_of_its_protocol(data: Scene) -> None:
    names = ["coco", "voc2007", "voc2012", "dota-task2", "tide"]
    comparison = compare_protocols(*data, names)
    assert [result.name for result in comparison.results] == names
    assert not comparison.not_applied
    for result in comparison.results:
        summary = evaluate(*data, result.protocol).summary
        np.testing.assert_array_equal(list(result.summary.values()), list(summary.values()))
        np.testing.assert_array_equal(result.value, summary[result.key])


def test_protocols_that_do_not_apply_say_why() -> None:
    comparison = compare_protocols(GT, DT)
    assert {result.name for result in comparison.results} >= {"coco", "voc2007", "voc2012", "dota-task2", "tide"}
    assert comparison["coco"].value == evaluate(*read_coco(GT, DT)).summary["AP"]
    assert comparison.not_applied["coco-keypoints"] == (
        "it is for keypoints, keypoints-wholebody, keypoints-ap10k, not for bbox"
    )
    assert comparison.not_applied["dota-task1"] == "it is for polygon, rotated, not for bbox"
    assert "the attribute 'frequency' of category 1 (person): expected one of r, c, f" in comparison.not_applied["lvis"]
    with pytest.raises(KeyError, match=r"lvis does not apply: .*'frequency'"):
        comparison["lvis"]
    with pytest.raises(KeyError, match="no protocol 'voc' was compared"):
        comparison["voc"]


def test_protocols_apply_to_data_that_has_what_they_need() -> None:
    comparison = compare_protocols(*federated())
    assert {result.name for result in comparison.results} >= {"coco", "voc2012", "tide", "lvis", "lvis-fixed"}
    assert set(comparison.not_applied) >= {"coco-keypoints", "dota-task1"}


def test_protocols_that_are_given_are_evaluated_for_every_kind() -> None:
    gt, dt = federated()
    data = (gt, dt)
    comparison = compare_protocols(*data, ["DOTA-task1", COCO.replace(name="mine", max_dets=[5])])
    assert [result.name for result in comparison.results] == ["dota-task1", "mine"]
    assert comparison["dota-task1"].value == evaluate(*data, find_protocol("dota-task1")).summary["mAP"]


def test_a_kind_has_the_protocols_that_are_meant_for_it_and_its_own() -> None:
    turned = RotatedBoxes([[20, 20, 10, 6, 0.3]], unit="radians", sense="clockwise")
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], regions=turned)
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], regions=turned, scores=[0.5])
    comparison = compare_protocols(gt, dt, iou_type="rotated")
    assert {result.name for result in comparison.results} >= {"coco", "dota-task1"}
    assert comparison.not_applied["voc2012"] == "it is for bbox, not for rotated"
    with pytest.raises(DatasetError, match=r"no protocol applies: coco: .*iou_type='polygon' needs .*; "):
        compare_protocols(gt, dt, iou_type="polygon")
    with pytest.raises(DatasetError, match=r"no protocol applies: [^;]*iou_type='polygon' needs [^;]*$"):
        compare_protocols(gt, dt, ["coco", "tide"], iou_type="polygon")


def test_what_a_comparison_shows() -> None:
    comparison = compare_protocols(*federated(), ["coco", "tide", "voc2007"])
    table = comparison.table().splitlines()
    assert table[0].split() == ["protocol", "measure", "number", "reference"]
    assert [line.split()[:2] for line in table[1:]] == [["coco", "AP"], ["tide", "AP"], ["voc2007", "mAP"]]
    assert repr(comparison) == "ProtocolComparison('bbox', coco=0.5010, tide=0.6667, voc2007=1.0000)"
    shown = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert [row["name"] for row in shown["protocols"]] == ["coco", "tide", "voc2007"]
    assert shown["protocols"][0]["summary"]["APl"] is None
    assert "do not apply:" in compare_protocols(GT, DT).table()


def test_one_part_of_the_data() -> None:
    gt, dt = federated()
    value = compare_protocols(gt, dt, ["coco"], categories=["cat"], images=[2])["coco"].value
    assert value == evaluate(gt, dt, categories=["cat"], images=[2]).summary["AP"]
    with pytest.raises(ValueError, match="3"):
        compare_protocols(gt, dt, images=[3])


def test_what_a_comparison_refuses() -> None:
    data = federated()
    with pytest.raises(ValueError, match=r"unknown protocol 'cocoa'; did you mean 'coco'\? Else choose from coco"):
        compare_protocols(*data, ["cocoa"])
    with pytest.raises(ValueError, match="two protocols have the name 'coco'"):
        compare_protocols(*data, ["coco", "COCO"])
    with pytest.raises(ValueError, match="protocols must name at least one protocol"):
        compare_protocols(*data, [])
    with pytest.raises(ValueError, match="unknown iou_type 'boxes'"):
        compare_protocols(*data, iou_type="boxes")


def test_records_of_lvis_are_read_as_such_for_its_protocol() -> None:
    records = {
        "images": [{"id": 1, "width": 9, "height": 9, "neg_category_ids": [], "not_exhaustive_category_ids": []}],
        "categories": [{"id": 1, "name": "cup", "frequency": "r"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0}],
    }
    found = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 0.5}]
    assert compare_protocols(records, found, ["coco", "lvis"])["lvis"].summary["APr"] == pytest.approx(1)


# ---- The rules of other tools.


def test_a_tool_is_a_protocol() -> None:
    assert find_tool("pycocotools").protocol() is COCO
    assert find_tool("pycocotools").protocol("keypoints") is find_protocol("coco-keypoints")
    assert find_tool("VOC-eval").protocol() is find_protocol("voc2012")
    assert find_tool("dota_devkit").protocol("rotated") is find_protocol("dota-task1")


def test_the_thresholds_of_torchmetrics_are_float32() -> None:
    protocol = find_tool("torchmetrics").protocol()
    assert protocol.name == "COCO as in torchmetrics"
    assert protocol.iou_thresholds[1] == 0.550000011920929
    assert protocol.recall_thresholds[60] == 0.6000000238418579
    for mine, exact in (
        (protocol.iou_thresholds, COCO.iou_thresholds),
        (protocol.recall_thresholds, COCO.recall_thresholds),
    ):
        np.testing.assert_allclose(mine, exact, rtol=0, atol=1e-7)
        assert [float(np.float32(value)) for value in mine] == list(mine)


def test_a_recall_of_three_fifths_is_less_than_that_of_torchmetrics() -> None:
    """Five objects, and three of them found: pycocotools counts the precision at recall 0.6, torchmetrics does not."""
    boxes = [[20 * k, 0, 10, 10] for k in range(5)]
    gt = GroundTruth.from_arrays(image_ids=[1] * 5, category_ids=[1] * 5, boxes=boxes)
    dt = Detections.from_arrays(image_ids=[1] * 3, category_ids=[1] * 3, boxes=boxes[:3], scores=[0.9, 0.8, 0.7])
    assert evaluate(gt, dt).summary["AP"] == pytest.approx(61 / 101)
    assert evaluate(gt, dt, find_tool("torchmetrics").protocol()).summary["AP"] == pytest.approx(60 / 101)


@pytest.mark.parametrize("tool", [tool for tool in TOOLS.values() if tool.is_known], ids=lambda tool: tool.name)
def test_every_tool_says_what_it_stands_for(tool: Tool) -> None:
    for kind in tool.protocols:
        protocol = tool.protocol(kind)
        assert kind in protocol.meant_for
        text = tool.text(kind)
        assert text.startswith(f"{tool.name} {tool.version}: protocol {tool.protocols[kind]} ")
        assert all(note in text for note in tool.notes)
    keys = {measure.key for kind in tool.protocols for measure in tool.protocol(kind).measures}
    assert {ours for _, ours in tool.keys} <= keys
    assert not math.isnan(evaluate(*federated(), tool.protocol("bbox")).summary[tool.protocol("bbox").main_measure.key])


def test_tools_that_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown tool 'mmdet'; choose from pycocotools, "):
        find_tool("mmdet")
    with pytest.raises(ValueError, match="voc_eval does not evaluate 'segm', only bbox"):
        find_tool("voc_eval").protocol("segm")
    later = Tool("later", "1.0", {"bbox": "a-protocol-of-later"})
    assert not later.is_known
    with pytest.raises(ValueError, match="the rules of later are not known yet; choose from pycocotools, "):
        later.protocol()
