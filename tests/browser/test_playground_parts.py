"""The parts of the playground in a real browser: presets, measures, learning, suppression."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from ioukit.overlap.variants import VARIANTS
from ioukit.report.playground import PRESETS, SCENES
from support.browsing import until
from support.playground_pages import assert_all_numbers_are_those_of_the_library, boxes

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page


def number(page: Page, selector: str) -> float:
    """What an element says to a program, all digits of it."""
    return float(page.get_attribute(selector, "value") or "")


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.title)
def test_presets_give_the_values_of_the_library(opened: Callable[..., Page], preset: Any) -> None:
    page = opened()
    chip = page.get_by_role("button", name=preset.title, exact=True)
    chip.click()
    assert boxes(page) == {"object": list(preset.object), "detection": list(preset.detection)}
    assert chip.get_attribute("aria-pressed") == "true"
    assert_all_numbers_are_those_of_the_library(page)
    # Every formula with its numbers, and every picture, can be shown.
    shown = page.evaluate(
        """names => names.map((name) => {
        document.getElementById(`choose-${name}`).click();
        return ["#detail-worked", "main", "#stage"].map((part) => document.querySelector(part).textContent);
    })""",
        [variant.name for variant in VARIANTS],
    )
    for variant, (worked, page_text, picture) in zip(VARIANTS, shown, strict=True):
        result = float(worked.replace("\N{MINUS SIGN}", "-").rpartition("= ")[2])
        assert result == pytest.approx(number(page, f"#value-{variant.name}"), abs=5.1e-4), worked
        assert "NaN" not in page_text + picture


def test_two_presets_have_one_iou_and_another_giou(opened: Callable[..., Page]) -> None:
    page, found = opened(), []
    for title in ("IoU 0.2, in a row", "IoU 0.2, at a corner"):
        page.get_by_role("button", name=title).click()
        found.append((number(page, "#iou"), number(page, "#value-giou")))
    assert found[0] == pytest.approx((0.2, 0.2), abs=1e-12)
    assert found[1] == pytest.approx((0.2, 0.2 - 12 / 72), abs=1e-12)


def test_a_chosen_measure_is_explained_with_its_options(opened: Callable[..., Page]) -> None:
    page = opened()
    for variant in VARIANTS:
        page.click(f"#choose-{variant.name}")
        assert page.input_value("#chosen") == variant.name
        text = page.inner_text(".detail")
        for part in (variant.formula, variant.range, variant.degenerate, variant.gradient, variant.reference):
            assert part in text
        for option in variant.options:
            assert option in page.inner_text("#detail-options")
    page.click("#choose-alpha_iou")
    page.fill("#option-alpha", "2")
    assert number(page, "#value-alpha_iou") == pytest.approx((16 / 56) ** 2, abs=1e-12)
    page.fill("#option-alpha", "0")  # refused: what was right stays
    assert number(page, "#value-alpha_iou") == pytest.approx((16 / 56) ** 2, abs=1e-12)
    page.click("#choose-ioa")
    page.get_by_role("button", name="Contained").click()
    assert number(page, "#value-ioa") == 1
    page.select_option("#option-of", "first")
    assert number(page, "#value-ioa") == pytest.approx(25 / 140)
    program = page.inner_text("#program").replace("elementwise_ioa(object", "result = elementwise_ioa(object")
    names: dict[str, Any] = {}
    exec(program, names)
    assert float(names["result"]) == pytest.approx(25 / 140)


def test_arrows_stand_where_a_loss_has_a_slope(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="Apart").click()
    assert page.locator("#stage .arrow").count() == 0  # IoU knows no way
    page.select_option("#chosen", "giou")
    drawn = [path.get_attribute("d") or "" for path in page.locator("#stage .arrow").all()]
    (x0, y0, x1, y1), *_ = (list(map(float, re.findall(r"[-\d.]+", path))) for path in drawn)
    assert x1 < x0 and y1 == y0  # the left side moves towards the object  # noqa: PT018
    page.select_option("#chosen", "intersection")
    assert page.locator("#stage .arrow").count() == 0
    assert page.is_disabled("#descend")


def test_it_learns_until_the_boxes_agree(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="Apart").click()
    page.click("#descend")
    assert boxes(page)["detection"] == list(PRESETS[3].detection)  # IoU has no slope there
    page.select_option("#chosen", "diou")
    before = number(page, "#value-diou")
    page.click("#descend")
    assert number(page, "#value-diou") > before
    page.click("#run")
    assert page.inner_text("#run") == "Stop"
    until(page, f"Number(document.getElementById('value-diou').value) > {before} + 0.1")
    page.click("#run")
    assert page.inner_text("#run") == "Let it learn"
    page.evaluate("for (let k = 0; k < 300; k += 1) document.getElementById('descend').click()")
    assert number(page, "#iou") > 0.9
    until(page, "document.getElementById('announcement').textContent.startsWith('There is no next step')")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.title)
def test_suppression_steps_as_the_library_decides(opened: Callable[..., Page], scene: Any) -> None:
    page = opened()
    page.get_by_role("button", name=scene.title, exact=True).click()
    decided = ioukit.nms(scene.boxes, scene.scores, iou_threshold=scene.threshold, explain=True)
    rows = page.locator("#nms-rows tr")

    def states() -> dict[int, str]:
        return {int(row.get_attribute("data-box") or ""): row.get_attribute("class") or "" for row in rows.all()}

    assert set(states().values()) == {"waiting"}
    for step, best in enumerate(decided.keep.tolist(), start=1):
        page.click("#nms-step")
        done = set(decided.keep[:step].tolist())
        for box, state in states().items():
            expected = "kept" if box in done else "removed" if int(decided.suppressed_by[box]) in done else "waiting"
            assert state == expected, (step, box)
        assert page.inner_text("#nms-words").startswith(chr(65 + best))
    assert page.is_disabled("#nms-step")
    for box in range(len(scene.boxes)):
        if decided.reason[box] == "overlap":
            text = page.inner_text(f"#nms-rows [data-box='{box}']")
            assert f"removed by {chr(65 + int(decided.suppressed_by[box]))}: IoU {decided.overlap[box]:.3f}" in text
    last = states()
    page.click("#nms-back")
    assert states() != last
    page.click("#nms-step")
    assert states() == last
    page.click("#nms-reset")
    assert set(states().values()) == {"waiting"}


def test_the_threshold_decides_anew(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="A crowd").click()
    for threshold, kept in ((0.6, 2), (0.65, 3), (1.0, 4)):
        page.fill("#nms-threshold", str(threshold))
        while page.is_enabled("#nms-step"):
            page.click("#nms-step")
        assert page.locator("#nms-rows .kept").count() == kept
        expected = ioukit.nms(SCENES[2].boxes, SCENES[2].scores, iou_threshold=threshold)
        assert len(expected) == kept
