"""Conversions between formats, compared with values of other projects."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Boxes
from ioukit.regions.formats import convert
from ioukit.typing import BoxFormat, FloatArray
from support.strategies import grid_boxes

FORMATS: tuple[BoxFormat, ...] = get_args(BoxFormat)
DATA = json.loads((Path(__file__).parents[1] / "data" / "overlap" / "convert.json").read_text())


@pytest.mark.parametrize(("source", "target"), list(permutations(FORMATS, 2)))
def test_values_of_torchvision(source: BoxFormat, target: BoxFormat) -> None:
    boxes = Boxes(DATA["torchvision"][source], source)
    assert_array_equal(boxes.convert(target).numpy(), DATA["torchvision"][target])


@pytest.mark.parametrize("table", DATA["supervision"]["tables"], ids=lambda table: table["fn"])
def test_values_of_supervision(table: dict[str, Any]) -> None:
    source, target = table["fn"].split("->")
    given_rows, expected = np.array(table["rows"], np.float64).transpose(1, 0, 2)
    boxes = Boxes(given_rows, source)
    if target in FORMATS:
        assert_array_equal(boxes.convert(target).numpy(), expected)
    else:  # centre, aspect ratio, height; they write 0 where the ratio is undefined
        assert_array_equal(boxes.center, expected[:, :2])
        assert_allclose(np.where(boxes.height > 0, boxes.aspect_ratio, 0), expected[:, 2], rtol=1e-12)
        assert_allclose(boxes.height, expected[:, 3], rtol=1e-12)


def test_integer_centres_are_not_truncated() -> None:
    trap = DATA["traps"][0]
    assert_array_equal(Boxes(np.array([trap["xyxy"]])).convert("cxcywh").numpy(), [trap["cxcywh"]])


@pytest.mark.parametrize(("source", "target"), list(permutations(FORMATS, 2)))
@given(boxes=grid_boxes(np.float64))
def test_there_and_back_is_exact_where_nothing_rounds(source: BoxFormat, target: BoxFormat, boxes: FloatArray) -> None:
    rows = convert(boxes, "xyxy", source)
    assert_array_equal(convert(convert(rows, source, target), target, source), rows)


@pytest.mark.parametrize("fmt", FORMATS)
def test_a_conversion_never_shares_memory(fmt: BoxFormat) -> None:
    rows = np.array([[0.0, 0, 1, 1]])
    assert not np.shares_memory(convert(rows, "xyxy", fmt), rows)
