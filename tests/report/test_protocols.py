"""The report is right for a protocol without COCO's thresholds, area ranges and measures."""

from __future__ import annotations

import re

import pytest

from ioukit.evaluation import Measure, value_of
from ioukit.report._texts import iou_text
from ioukit.report.report_page import report_data
from support.other_protocols import OTHER, evaluated
from support.report_cases import coco

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

every_protocol = pytest.mark.parametrize("protocol", OTHER)


@every_protocol
def test_the_page_names_nothing_of_coco(protocol: str) -> None:
    page = report_data(evaluated(protocol)).html()
    text = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL)
    assert not re.findall(r"COCO|AP50|AP75|IoU 0\.[5-9]|small objects|medium|>small<", text)
    assert "IoU 0.30" in text
    assert "Loose: all numbers" in text


def test_numbers_of_the_rule() -> None:
    evaluation = evaluated("rule")
    data = report_data(evaluation)
    tiles = {tile.name: tile for tile in data.headline}
    assert list(tiles) == ["AP", "AR50", "Best F1"]
    assert tiles["AP"].value == f"{evaluation.summary['AP']:.3f}"
    assert tiles["AP"].meaning.startswith(
        "Average precision, the mean over 68 classes with objects (of 80) and IoU 0.30."
    )
    assert "IoU 0.30" in tiles["Best F1"].meaning
    rows = {measure.key: (iou, area, cap, value) for measure, iou, area, cap, value in data.measures}
    assert list(rows) == ["AP", "APspeck", "APblob", "AR50", "ARspeck", "ARblob"]
    assert rows["APspeck"] == ("0.30", "speck", "50", f"{evaluation.summary['APspeck']:.3f}")


def test_numbers_of_own_measures() -> None:
    evaluation = evaluated("own measures")
    data = report_data(evaluation)
    assert [tile.name for tile in data.headline] == ["found", "Best F1"]
    assert data.headline[0].meaning == "The mean over 80 classes at IoU 0.30."
    assert [(measure.key, iou, area) for measure, iou, area, _, _ in data.measures] == [
        ("found", "0.30", "any"),
        ("found@30", "0.30", "any"),
        ("found specks", "0.30", "speck"),
        ("found blobs", "0.30", "blob"),
        ("reach", "0.30", "any"),
    ]
    assert data.class_columns[:4] == ("found", "found@30", "found specks", "found blobs")


@every_protocol
def test_sizes_and_curves_follow_the_protocol(protocol: str) -> None:
    evaluation = evaluated(protocol)
    data = report_data(evaluation)
    assert data.iou == "0.30"
    assert [(row.name, row.words) for row in data.sizes] == [
        ("any", "every size"), ("speck", "below 90² px"), ("blob", "at least 90² px"),
    ]  # fmt: skip
    for row in data.sizes:
        assert row.numbers[0] == f"{value_of(evaluation.curves, Measure('AP', area_range=row.name)):.3f}"
    assert data.drawn["byIou"]["thresholds"] == [0.3]
    assert data.drawn["byIou"]["mean"] == [pytest.approx(evaluation.summary[data.measures[0][0].key], abs=1e-5)]
    assert data.drawn["curves"]["iou"] == 0.3


def test_the_mean_is_over_the_classes_that_have_objects() -> None:
    """Twelve of the eighty classes have none."""
    assert "the mean over 68 classes with objects (of 80) and" in report_data(coco()).headline[0].meaning


@pytest.mark.parametrize(("threshold", "shown"), [(0.5, "0.50"), (0.125, "0.125"), (0.1 + 0.2, "0.30")])
def test_an_iou_threshold_has_as_many_digits_as_it_needs(threshold: float, shown: str) -> None:
    assert iou_text(threshold) == shown
