"""JUnit's XML: its tests, its numbers, and the rules of the schemas that read it."""

from __future__ import annotations

import datetime
import math
import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from ioukit.evaluation import Requirement, check_requirements
from ioukit.experiment_logs import junit_xml
from support.evaluated_scenes import coco, made
from support.report_cases import ATTACKS, attacked

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import Evaluation

NOON = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
SUITE = {"name", "package", "id", "hostname", "timestamp", "tests", "failures", "errors", "time"}


def document(evaluation: Evaluation, wanted: list[Requirement], **options: object) -> ElementTree.Element:
    text = junit_xml(evaluation, check_requirements(evaluation, wanted), **options)  # type: ignore[arg-type]
    assert text.startswith('<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>')
    return ElementTree.fromstring(text.encode("utf-8"))


def check_schema(root: ElementTree.Element) -> None:
    """The rules of Ant's schema, which is the strictest: elements in order, attributes, forms of values."""
    assert root.tag == "testsuites"
    assert not root.attrib
    for suite in root:
        assert suite.tag == "testsuite"
        assert set(suite.attrib) == SUITE
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d", suite.attrib["timestamp"])
        assert re.fullmatch(r"\d+\.\d{3}", suite.attrib["time"])
        first, *cases, out, err = suite
        assert (first.tag, out.tag, err.tag) == ("properties", "system-out", "system-err")
        for one in first:
            assert one.tag == "property"
            assert set(one.attrib) == {"name", "value"}
            assert one.attrib["name"]
        for case in cases:
            assert case.tag == "testcase"
            assert set(case.attrib) == {"name", "classname", "time"}
            for failure in case:
                assert failure.tag == "failure"
                assert set(failure.attrib) == {"message", "type"}
        assert int(suite.attrib["tests"]) == len(cases)
        assert int(suite.attrib["failures"]) == sum(len(case) for case in cases)
        assert suite.attrib["errors"] == "0"


def test_each_requirement_is_a_test() -> None:
    evaluation = coco()
    wanted = [
        Requirement("AP", 0.4),
        Requirement("AP50/person", 0.7),
        Requirement("AP/airplane", 0.1),
        Requirement("AR1", 0.1, "at_most"),
    ]
    root = document(evaluation, wanted, name="detector", created=NOON, seconds=1.25)
    check_schema(root)
    (suite,) = root
    assert suite.attrib["timestamp"] == "2026-11-22T12:00:00"
    assert (suite.attrib["tests"], suite.attrib["failures"], suite.attrib["time"]) == ("4", "3", "1.250")
    cases = {case.attrib["name"]: [one.attrib["message"] for one in case] for case in suite.iter("testcase")}
    assert cases == {
        "AP at least 0.4": [],
        "AP50/person at least 0.7": ["AP50/person is 0.6106, required is at least 0.7"],
        "AP/airplane at least 0.1": ["AP/airplane is undefined, required is at least 0.1"],
        "AR1 at most 0.1": ["AR1 is 0.3497, required is at most 0.1"],
    }
    assert {case.attrib["classname"] for case in suite.iter("testcase")} == {"detector"}


def test_properties_have_the_numbers_to_the_last_bit() -> None:
    evaluation = made()
    found = {
        one.attrib["name"]: one.attrib["value"] for one in document(evaluation, [Requirement("AP", 0)]).iter("property")
    }
    assert (found["protocol"], found["iou_type"]) == ("COCO", "bbox")
    for name, value in evaluation.metrics(per_class=False).items():
        assert found[name] == ("undefined" if math.isnan(value) else repr(value))


def test_names_from_the_data_break_nothing(tmp_path: Path) -> None:
    evaluation = attacked(tmp_path)
    wanted = [Requirement(metric, 1.0) for metric in evaluation.metrics() if metric.startswith("AP/")]
    root = document(evaluation, wanted, name=ATTACKS[0])
    check_schema(root)
    assert len([*root.iter("failure")]) == len(wanted) == len(ATTACKS)
    assert any("\\x00" in case.attrib["name"] for case in root.iter("testcase"))


def test_a_reader_of_junit_finds_the_same() -> None:
    junitparser = pytest.importorskip("junitparser", reason="needs junitparser: pip install junitparser")
    evaluation = coco()
    results = check_requirements(evaluation, [Requirement("AP", 0.4), Requirement("AP", 0.5)])
    (suite,) = junitparser.JUnitXml.fromstring(junit_xml(evaluation, results).encode())
    assert (suite.tests, suite.failures, suite.errors) == (2, 1, 0)
    assert [case.is_passed for case in suite] == [True, False]
    assert {one.name: one.value for one in suite.properties()}["AP"] == repr(evaluation.summary["AP"])
