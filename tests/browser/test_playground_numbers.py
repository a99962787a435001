"""What the playground computes is what the library computes: values, slopes, survivors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import losses
from ioukit.overlap.variants import VARIANTS
from ioukit.report.playground import LOSSES, SCENES, playground_page
from support.losses_cases import adversarial

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit.typing import FloatArray
    from support.browsing import OpenPage

OPTIONS: dict[str, dict[str, Any]] = {
    "ioa": {"of": "first"},
    "mpdiou": {"image_size": (20, 14)},
    "alpha_iou": {"alpha": 2.5},
    "inner_iou": {"ratio": 1.3},
    "nwd": {"constant": 4.0},
}
NATIVE = ("iou", "giou", "diou", "ciou", "eiou")


@pytest.fixture
def page(open_page: OpenPage, tmp_path: Path) -> Page:
    path = tmp_path / "playground.html"
    path.write_text(playground_page(), encoding="utf-8")
    return open_page(path)


def pairs() -> tuple[FloatArray, FloatArray]:
    """Random boxes, boxes on a grid (which touch, coincide, contain each other), and hard ones."""
    rng = np.random.default_rng(3)
    free = np.sort(rng.uniform(0, 14, (2, 300, 2, 2)), axis=2).reshape(2, -1, 4)
    grid = np.sort(rng.integers(0, 5, (2, 600, 2, 2)), axis=2).reshape(2, -1, 4).astype(float)
    pred, target = adversarial(600, np.float64)
    upright = (pred[:, 2] >= pred[:, 0]) & (pred[:, 3] >= pred[:, 1])
    return (
        np.concatenate([free[0], grid[0], target[upright]]),
        np.concatenate([free[1], grid[1], pred[upright]]),
    )


def asked(page: Page, function: str, name: str, objects: FloatArray, detections: FloatArray) -> FloatArray:
    """The results of a function of the page for every pair.

    Boxes travel as text: Playwright would wrap each number by itself.
    """
    program = """text => {
        const [f, name, objects, detections, options] = JSON.parse(text);
        return JSON.stringify(objects.map((object, k) => ioukit[f](name, object, detections[k], options)));
    }"""
    given = [function, name, objects.tolist(), detections.tolist(), OPTIONS.get(name, {})]
    return np.array(json.loads(page.evaluate(program, json.dumps(given))), float)


def test_the_page_has_every_overlap_of_the_table(page: Page) -> None:
    assert page.evaluate("ioukit.names") == [variant.name for variant in VARIANTS]
    assert page.locator("#values tr").count() == len(VARIANTS)


def test_values_are_those_of_the_library(page: Page) -> None:
    objects, detections = pairs()
    for variant in VARIANTS:
        function = getattr(ioukit, f"elementwise_{variant.name}")
        expected = function(objects, detections, **OPTIONS.get(variant.name, {}))
        assert_allclose(
            asked(page, "measure", variant.name, objects, detections),
            expected,
            rtol=1e-9,
            atol=1e-9,
            err_msg=variant.name,
        )


def test_options_have_the_defaults_of_the_library(page: Page) -> None:
    for name, needed in (("ioa", {}), ("nwd", {}), ("alpha_iou", {"alpha": 3})):
        found = page.evaluate("name => ioukit.measure(name, [0, 0, 4, 4], [1, 1, 4, 6])", name)
        expected = getattr(ioukit, f"elementwise_{name}")([0, 0, 4, 4], [1, 1, 4, 6], **needed)
        assert found == pytest.approx(float(expected), abs=1e-12)


def test_slopes_are_those_of_native_code(page: Page) -> None:
    objects, detections = pairs()
    for name in NATIVE:
        _, expected = losses.loss_and_gradient(name, detections, objects)  # type: ignore[arg-type]
        slopes = asked(page, "lossGradient", name, objects, detections)
        # Of tiny sides slopes are huge: their digits count.
        assert_allclose(slopes, expected, rtol=1e-9, atol=1e-9, err_msg=name)


def test_slopes_are_difference_quotients_of_the_values(page: Page) -> None:
    rng = np.random.default_rng(8)
    objects, detections = np.sort(rng.uniform(0, 10, (2, 200, 2, 2)), axis=2).reshape(2, -1, 4)
    for name in sorted(set(LOSSES) - {"ciou"}):  # whose weight is a constant: see the test above
        slopes = asked(page, "lossGradient", name, objects, detections)
        for side in range(4):
            move = np.eye(4)[side] * 1e-6
            after, before = (asked(page, "measure", name, objects, detections + sign * move) for sign in (1, -1))
            assert_allclose(slopes[:, side], (before - after) / 2e-6, rtol=1e-5, atol=1e-6, err_msg=name)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_slopes_are_those_of_the_losses_under_automatic_differentiation(page: Page, library: str) -> None:
    objects, detections = pairs()
    module = pytest.importorskip(library)
    for name in LOSSES:
        loss = getattr(losses, f"{name}_loss")
        options = OPTIONS.get(name, {})
        if library == "torch":
            pred = module.tensor(detections, requires_grad=True)
            loss(pred, module.tensor(objects), reduction="sum", **options).backward()
            expected = pred.grad.numpy()
        else:
            with module.enable_x64(True):
                target = module.numpy.asarray(objects)
                slope = module.grad(lambda pred, f=loss, t=target, o=options: f(pred, t, reduction="sum", **o))
                expected = np.asarray(slope(module.numpy.asarray(detections)))
        slopes = asked(page, "lossGradient", name, objects, detections)
        assert_allclose(slopes, expected, rtol=1e-8, atol=1e-9, err_msg=name)


def test_survivors_are_those_of_the_library(page: Page) -> None:
    rng = np.random.default_rng(4)
    for count, threshold in [(0, 0.5), (1, 0.5), *((25, t) for t in (0.0, 0.2, 1 / 3, 0.5, 0.6, 0.9, 1.0))]:
        low = rng.integers(0, 6, (count, 2))
        boxes = np.concatenate([low, low + rng.integers(0, 6, (count, 2))], axis=1).astype(float)
        scores = rng.integers(0, 6, count) / 5  # many ties
        found = page.evaluate(
            "([boxes, scores, t]) => ioukit.nms(boxes, scores, t)", [boxes.tolist(), scores.tolist(), threshold]
        )
        expected = ioukit.nms(boxes, scores, iou_threshold=threshold, explain=True)
        assert found["keep"] == expected.keep.tolist()
        assert found["suppressedBy"] == expected.suppressed_by.tolist()
        assert_array_equal(np.array(found["overlap"], float), expected.overlap)
        assert [step["best"] for step in found["steps"]] == expected.keep.tolist()


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.title)
def test_scenes_are_decided_as_by_the_library_at_every_threshold(page: Page, scene: Any) -> None:
    thresholds = [k / 100 for k in range(101)]
    found = page.evaluate(
        "([boxes, scores, thresholds]) => thresholds.map((t) => ioukit.nms(boxes, scores, t).suppressedBy)",
        [scene.boxes, scene.scores, thresholds],
    )
    for threshold, removed_by in zip(thresholds, found, strict=True):
        expected = ioukit.nms(scene.boxes, scene.scores, iou_threshold=threshold, explain=True)
        assert removed_by == expected.suppressed_by.tolist(), threshold
