"""The values that the page of the playground shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from ioukit.overlap.variants import VARIANTS
from ioukit.report.playground import IMAGE_SIZE

if TYPE_CHECKING:
    from playwright.sync_api import Page


__all__ = ["START", "assert_all_numbers_are_those_of_the_library", "boxes"]

SIDES = ("x1", "y1", "x2", "y2")
START = {"object": [3.0, 3.0, 9.0, 9.0], "detection": [5.0, 5.0, 11.0, 11.0]}
# The initial values of options that have no default in the library.
OPTIONS: dict[str, dict[str, Any]] = {
    "alpha_iou": {"alpha": 3},
    "inner_iou": {"ratio": 0.75},
    "mpdiou": {"image_size": IMAGE_SIZE},
}


def boxes(page: Page) -> dict[str, list[float]]:
    """The boxes as the fields show them."""
    fields = [f"#{box}-{side}" for box in START for side in SIDES]
    values = page.evaluate("fields => fields.map((field) => document.querySelector(field).valueAsNumber)", fields)
    return {"object": values[:4], "detection": values[4:]}


def assert_all_numbers_are_those_of_the_library(page: Page) -> None:
    """Checks every value and every region that the page shows for its boxes."""
    found = boxes(page)
    shown = {
        name.rpartition("-")[2]: float(value)
        for name, value in page.evaluate(
            "[...document.querySelectorAll('data')].map((e) => [e.id, e.getAttribute('value')])"
        )
    }
    for variant in VARIANTS:
        function, options = getattr(ioukit, f"elementwise_{variant.name}"), OPTIONS.get(variant.name, {})
        expected = float(function(found["object"], found["detection"], **options))
        assert shown[variant.name] == pytest.approx(expected, abs=1e-9), variant.name
    assert page.inner_text("#iou") == f"{shown['iou']:.3f}"
    shared = float(ioukit.elementwise_intersection(found["object"], found["detection"]))
    first, second = ((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in found.values())
    either, rest = first + second - shared, IMAGE_SIZE[0] * IMAGE_SIZE[1] - first - second + shared
    regions = {"tp": shared, "top": shared, "fp": second - shared, "fn": first - shared, "bottom": either, "tn": rest}
    assert {name: shown[name] for name in regions} == pytest.approx(regions, abs=1e-9)
