"""From the text of an option to the value it means."""

from __future__ import annotations

import re

import numpy as np
import pytest

from ioukit.cli._rules import parse_areas, parse_classes, parse_max_dets, parse_thresholds


def test_threshold_range_is_the_grid_of_coco() -> None:
    assert parse_thresholds(["0.5:0.95:0.05"]) == np.linspace(0.5, 0.95, 10).tolist()
    assert parse_thresholds(["0.7, 0.2:0.4:0.1", "0.1"]) == [0.1, *np.linspace(0.2, 0.4, 3).tolist(), 0.7]
    assert parse_thresholds(["0.5:0.5:0.1"]) == [0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must be a number, got ''"),
        ("half", "must be a number, got 'half'"),
        ("0.5,,0.7", "must be a number, got ''"),
        ("0.5:0.9", "expected one threshold or start:stop:step, got '0.5:0.9'"),
        ("0.5:0.9:0.15", "whole steps, got '0.5:0.9:0.15'"),
        ("0.9:0.5:0.1", "whole steps"),
        ("0.5:0.9:0", "whole steps"),
        ("0.5:0.9:-0.1", "whole steps"),
        ("0.5:0.9:nan", "whole steps"),
        ("0.1:0.9:1e-9", "whole steps"),
    ],
)
def test_bad_thresholds(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_thresholds([text])


def test_caps() -> None:
    assert parse_max_dets(["1, 10", "300"]) == [1, 10, 300]
    for text in ("-1", "1.5", "many", "", "\u0661"):
        with pytest.raises(ValueError, match=rf"whole number, got '{text}'"):
            parse_max_dets([text])


def test_areas() -> None:
    assert parse_areas(["tiny:0:256,rest:256:inf"]) == [("all", 0, 1e10), ("tiny", 0, 256), ("rest", 256, 1e10)]
    assert parse_areas(["tiny:0:256", "all:0:1e5"]) == [("tiny", 0, 256), ("all", 0, 1e5)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tiny", "expected name:low:high in square pixels, such as small:0:1024, got 'tiny'"),
        (":0:1", "expected name:low:high in square pixels, such as small:0:1024, got ':0:1'"),
        ("tiny:0:1:2", "expected name:low:high in square pixels"),
        ("tiny:low:1", "an end of the area 'tiny' must be a number, got 'low'"),
    ],
)
def test_bad_areas(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        parse_areas([text])


def test_a_class_is_a_name_or_else_an_id() -> None:
    names = ["person", "hot dog", "salt, pepper", "7"]
    assert parse_classes(["hot dog, 58"], names) == ["hot dog", 58]
    assert parse_classes(["salt, pepper", "-3,person"], names) == ["salt, pepper", -3, "person"]
    assert parse_classes(["7", "persn"], names) == ["7", "persn"]
