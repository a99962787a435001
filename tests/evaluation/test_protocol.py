"""A protocol is checked, frozen data."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from ioukit import COCO, Protocol
from ioukit.evaluation import protocols
from ioukit.evaluation.kinds import REGION_KINDS, register_kind
from ioukit.evaluation.protocols import PROTOCOLS, Measure, MissRateRule, find_protocol, register_protocol
from ioukit.evaluation.protocols.protocol import register_measure_rule
from support.paths import ROOT


def test_coco_has_the_doubles_of_the_reference() -> None:
    assert COCO.iou_thresholds == tuple(np.linspace(0.5, 0.95, 10))
    assert COCO.iou_thresholds[8] == 0.8999999999999999
    assert COCO.recall_thresholds == tuple(np.linspace(0, 1, 101))
    assert COCO.area_ranges[2] == ("medium", 1024.0, 9216.0)


def test_replace_checks_and_freezes() -> None:
    protocol = COCO.replace(max_dets=[300, 1], area_ranges={"all": (0, 1e10), "tiny": (0, 64)}, iou_thresholds=[0.3])
    assert protocol.max_dets == (1, 300)
    assert protocol.area_ranges == (("all", 0.0, 1e10), ("tiny", 0.0, 64.0))
    assert hash(protocol) == hash(protocol.replace())
    with pytest.raises(AttributeError):
        protocol.max_dets = (1,)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"iou_thresholds": []}, ValueError, "iou_thresholds must hold at least one number"),
        ({"iou_thresholds": [0.0, 0.5]}, ValueError, r"iou_thresholds must lie within \(0, 1\], got 0.0"),
        ({"iou_thresholds": [float("nan")]}, ValueError, r"iou_thresholds must lie within \(0, 1\], got nan"),
        ({"iou_thresholds": [0.75, 0.5]}, ValueError, "iou_thresholds must rise"),
        ({"iou_thresholds": [0.5, 0.5]}, ValueError, "iou_thresholds must rise"),
        ({"recall_thresholds": [0.0, 1.5]}, ValueError, r"recall_thresholds must lie within \[0, 1\], got 1.5"),
        ({"max_dets": []}, ValueError, "max_dets must hold at least one number"),
        ({"max_dets": [0]}, ValueError, "max_dets must be positive integers, got 0"),
        ({"max_dets": [1.5]}, ValueError, "max_dets must be positive integers, got 1.5"),
        ({"max_dets": [True]}, ValueError, "max_dets must be positive integers, got True"),
        ({"max_dets": [5, 5]}, ValueError, "max_dets must differ"),
        ({"area_ranges": {}}, ValueError, "area_ranges must hold at least one range"),
        ({"area_ranges": {"all": (5, 1)}}, ValueError, "area range 'all' must go from a lower to a higher number"),
        ({"area_ranges": [("a", 0, 1), ("a", 1, 2)]}, ValueError, "labels of area_ranges must differ"),
        ({"class_agnostic": 2}, TypeError, "class_agnostic must be True or False, got 2"),
        ({"meant_for": "bbox"}, TypeError, "meant_for must be a list of kinds of region, got 'bbox'"),
        ({"iou_threshold": [0.5]}, TypeError, "a protocol has no field iou_threshold"),
        ({"category_groups": 3}, TypeError, "category_groups must be the name of an attribute, got 3"),
        ({"summary": []}, ValueError, "summary must hold at least one measure"),
        ({"summary": ["AP"]}, TypeError, "summary must hold measures, got 'AP'"),
        ({"summary": [Measure("AP"), Measure("AP", "AR")]}, ValueError, r"must differ, got \['AP', 'AP'\]"),
        ({"miss_rate": 0.1}, TypeError, "miss_rate must be a MissRateRule, got 0.1"),
        ({"miss_rate": MissRateRule(())}, ValueError, r"miss_rate.fppi must rise from above 0, got \[\]"),
        ({"miss_rate": MissRateRule((1, 1))}, ValueError, r"miss_rate.fppi must rise from above 0, got \[1.0, 1.0\]"),
        ({"miss_rate": MissRateRule(floor=2)}, ValueError, r"miss_rate.floor must be within \[0, 1\], got 2"),
    ],
)
def test_bad_fields_are_refused(changes: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        COCO.replace(**changes)


def test_a_measure_has_a_key_and_a_known_quantity() -> None:
    with pytest.raises(ValueError, match="a measure must have a key"):
        Measure("")
    with pytest.raises(ValueError, match="unknown quantity 'F2'; choose from AP, AR"):
        Measure("F2", "F2")  # type: ignore[arg-type]


def test_names_are_given_once_and_caps_must_be_there() -> None:
    with pytest.raises(ValueError, match="there is a protocol 'coco' already"):
        register_protocol("COCO", COCO.replace(max_dets=[5]))
    with pytest.raises(ValueError, match="there is a rule of measures 'coco' already"):
        register_measure_rule("coco", lambda _: ())
    with pytest.raises(ValueError, match="there is a kind of region 'bbox' already: "):
        register_kind(REGION_KINDS["bbox"])
    with pytest.raises(ValueError, match="no cap of 50 detections; there are 1, 10, 100"):
        COCO.position_of_max_dets(50)


def test_a_protocol_of_ones_own_is_checked_too() -> None:
    with pytest.raises(ValueError, match="max_dets"):
        Protocol(
            name="own",
            iou_thresholds=(0.5,),
            recall_thresholds=(0.0, 1.0),
            max_dets=(0,),
            area_ranges=COCO.area_ranges,
        )


def test_what_a_protocol_is_meant_for_is_no_rule() -> None:
    other = COCO.replace(meant_for=["rotated"])
    assert other.meant_for == ("rotated",)
    assert other == COCO
    assert hash(other) == hash(COCO)


def test_what_a_protocol_is_mainly_about() -> None:
    assert (COCO.main_iou, COCO.main_area) == (0.5, "all")
    other = COCO.replace(iou_thresholds=[0.3, 0.6], area_ranges={"tiny": (0, 256), "rest": (256, 1e10)})
    assert (other.main_iou, other.main_area) == (0.3, "tiny")
    assert COCO.replace(area_ranges={"tiny": (0, 256), "all": (0, 1e10)}).main_area == "all"


def test_every_protocol_stands_in_the_table_of_the_page() -> None:
    page = (ROOT / "docs" / "protocols.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[`([\w-]+)`\]\(\S+\) \| `(\w+)` \|", page, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(PROTOCOLS)
    for name, in_python in rows:
        assert getattr(protocols, in_python) is PROTOCOLS[name]


@pytest.mark.parametrize(
    ("name", "iou_type", "found"),
    [
        ("coco", "segm", "coco"),
        ("COCO", "keypoints", "coco-keypoints"),
        ("dota", "bbox", "dota-task2"),
        ("dota", "rotated", "dota-task1"),
        ("kitti", "bev", "kitti"),
        ("kitti", "segm", "kitti"),  # no protocol of this name is meant for masks
        ("voc2012", "own", "voc2012"),
        ("coco", None, "coco"),
    ],
)
def test_a_name_stands_for_the_protocol_of_what_is_compared(name: str, iou_type: str | None, found: str) -> None:
    assert find_protocol(name, iou_type) is PROTOCOLS[found]


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    for iou_type in (None, "bbox", "segm"):
        with pytest.raises(ValueError, match="unknown protocol 'dot'; choose from coco, coco-keypoints, "):
            find_protocol("dot", iou_type)
    with pytest.raises(ValueError, match=r"match by distance, .* write `ioukit nuscenes GT DT` or evaluation.evaluate"):
        find_protocol("nuScenes")
