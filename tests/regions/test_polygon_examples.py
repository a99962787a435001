"""The examples in the docstrings of polygons."""

from __future__ import annotations

import doctest
import importlib

import pytest


@pytest.mark.parametrize(
    "name",
    [
        "regions.polygon",
        "regions.polygons",
        "regions.points",
        "overlap.polygon",
        "postprocess.merging",
    ],
)
def test_docstrings(name: str) -> None:
    module = importlib.import_module(f"ioukit.{name}")
    result = doctest.testmod(module, extraglobs=vars(importlib.import_module("ioukit")))
    assert result.attempted > 0
    assert result.failed == 0
