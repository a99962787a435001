"""A protocol from a file of one's own."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from ioukit import COCO
from ioukit.evaluation.protocols import PROTOCOLS, VOC2012, IgnoreRule, Measure, read_protocol

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = """
name = "Loose"
iou_thresholds = [0.3, 0.5]
recall_thresholds = [0, 0.5, 1]
max_dets = [10, 300]
class_agnostic = true
choice = "best_of_all"
threshold = "more_than"
ties = "first"
cap_scope = "image"
integral = "area"
inclusive_boxes = true
precision_epsilon = false
mean_over = "all"
reference = "ours"
meant_for = ["bbox", "segm"]

[area_ranges]
all = [0, inf]
tiny = [0, 256]

[[ignored]]
flag = "crowd"
over_detection = true

[[ignored]]
flag = "blurred"
more_than = true

[[summary]]
key = "mAP"
line = "mAP {value:.2f}"
headline = true

[[summary]]
key = "ARtiny"
quantity = "AR"
area_range = "tiny"
iou_threshold = 0.3
max_dets = 10
"""


def _file(folder: Path, text: str, name: str = "own.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_every_field_can_be_given(tmp_path: Path) -> None:
    protocol = read_protocol(_file(tmp_path, WHOLE))
    assert (protocol.name, protocol.max_dets, protocol.integral) == ("Loose", (10, 300), "area")
    assert protocol.area_ranges == (("all", 0.0, math.inf), ("tiny", 0.0, 256.0))
    assert protocol.ignored == (IgnoreRule("crowd", over_detection=True), IgnoreRule("blurred", more_than=True))
    assert protocol.measures[1] == Measure("ARtiny", "AR", 0.3, "tiny", 10)
    assert protocol.measures[0].text(0.126) == "mAP 0.13"
    assert protocol.meant_for == ("bbox", "segm")


@pytest.mark.parametrize("name", PROTOCOLS)
def test_the_fields_of_each_protocol_are_read_as_json(name: str, tmp_path: Path) -> None:
    protocol = PROTOCOLS[name]
    assert read_protocol(_file(tmp_path, json.dumps(protocol.to_dict(), allow_nan=False), "own.json")) == protocol


def test_a_protocol_can_be_based_on_another(tmp_path: Path) -> None:
    text = 'based_on = "VOC2012"\nthreshold = "at_least"\n'
    assert read_protocol(_file(tmp_path, text)) == VOC2012.replace(name="own", threshold="at_least")
    few = read_protocol(_file(tmp_path, 'based_on = "coco"\niou_thresholds = [0.3]\nname = "few"'))
    assert few == COCO.replace(name="few", iou_thresholds=[0.3])
    assert few.measures == COCO.replace(name="few", iou_thresholds=[0.3]).measures


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            f"name = {'[' * 5_000}{']' * 5_000}",
            r"own\.toml: expected TOML, found something else: lists or tables are nested too deeply",
            id="nested",
        ),
        pytest.param(
            "a." * 9_000 + "b = 1",
            r"own\.toml: expected TOML, found something else: a line with more than 5,000 dots",
            id="dots",
        ),
        ("name = \nties = 1", r"own\.toml: expected TOML, found something else: .*line 1"),
        (
            "iou_threshold = [0.5]",
            r"own\.toml: iou_threshold: a protocol has no such field; did you mean 'iou_thresholds'",
        ),
        ("quux = 1", r"own\.toml: quux: a protocol has no such field; choose from iou_thresholds, class_agnostic, "),
        ("name = 3", r"own\.toml: name: expected text, found 3"),
        ("iou_thresholds = 0.5", r"own\.toml: iou_thresholds: expected a list of numbers, found 0\.5"),
        ('iou_thresholds = ["a"]', r'own\.toml: iou_thresholds: expected a list of numbers, found \["a"\]'),
        ("iou_thresholds = [true]", r"own\.toml: iou_thresholds: expected a list of numbers, found \[true\]"),
        ("max_dets = [1.5]", r"own\.toml: max_dets: expected a list of whole numbers, found \[1\.5\]"),
        (
            "area_ranges = {all = 3}",
            r"own\.toml: area_ranges: expected a table with \[lowest, highest\] for each label",
        ),
        ('meant_for = "bbox"', r'own\.toml: meant_for: expected a list of kinds of region, found "bbox"'),
        ("class_agnostic = 1", r"own\.toml: class_agnostic: expected true or false, found 1"),
        ('ignored = ["crowd"]', r'own\.toml: ignored: expected a list of tables, found \["crowd"\]'),
        ("[[ignored]]\nrepeated = true", r"own\.toml: ignored\[0\]\.flag: expected text, found none"),
        ('[[ignored]]\nflag = "a"\nrepeat = true', r"own\.toml: ignored\[0\]\.repeat: .* did you mean 'repeated'\?"),
        (
            '[[ignored]]\nflag = "a"\nrepeated = 1',
            r"own\.toml: ignored\[0\]\.repeated: expected true or false, found 1",
        ),
        ("[[summary]]", r"own\.toml: summary\[0\]\.key: expected text, found none"),
        (
            '[[summary]]\nkey = "a"\nquantity = "F2"',
            r"own\.toml: summary\[0\]\.quantity: expected AP or AR or MR or JI or AOS or FROC or precision "
            'or F1 or IoU or LRP, found "F2"',
        ),
        ('[[summary]]\nkey = "a"\niou_threshold = "x"', r"summary\[0\]\.iou_threshold: expected a number"),
        ("summary = 3", r"own\.toml: summary: expected the name of a rule or a list of tables, found 3"),
        ("name = 'a'", r"own\.toml: expected a field iou_thresholds, found none: .*based_on"),
        ("based_on = 3", r"own\.toml: based_on: expected the name of a protocol, found 3"),
        ('based_on = "none"', r"own\.toml: unknown protocol 'none'; choose from coco, "),
        ('based_on = "coco"\nties = "both"', r"own\.toml: unknown ties 'both'; choose from last, first"),
        ('based_on = "coco"\nmax_dets = [0]', r"own\.toml: max_dets must be positive integers, got 0"),
        ('based_on = "coco"\nsummary = "voc"', r"own\.toml: unknown summary 'voc'; choose from coco"),
    ],
)
def test_a_wrong_field_is_named_with_its_file(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_protocol(_file(tmp_path, text))


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match=r"own\.yaml: expected the name of a protocol's file to end with .toml or .json"
    ):
        read_protocol(_file(tmp_path, "", "own.yaml"))
    with pytest.raises(ValueError, match=r"own\.json: expected JSON, found something else: .*recursion"):
        read_protocol(_file(tmp_path, "[" * 200_000, "own.json"))
    with pytest.raises(ValueError, match=r"own\.json: expected an object with the fields of a protocol, found \[\]"):
        read_protocol(_file(tmp_path, "[]", "own.json"))
    (tmp_path / "own.toml").write_bytes(b"\xff")
    with pytest.raises(ValueError, match=r"own\.toml: expected TOML, found something else: .*utf-8"):
        read_protocol(tmp_path / "own.toml")
    with pytest.raises(FileNotFoundError):
        read_protocol(tmp_path / "none.toml")
