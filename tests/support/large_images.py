"""One image of the viewer large, as a browser sees it: opening it, and what it shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.images.large_image import explained
from support.browsing import until

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from ioukit import Evaluation
    from support.viewer_pages import Visits

__all__ = ["details", "large", "opened", "point_on", "rows", "said", "spots", "title"]


def opened(page: Page) -> None:
    """Waits until the large image is there."""
    until(
        page,
        "() => document.querySelector('#large[open] #large-stage svg') && !document.querySelector('#large.waiting')",
    )
    until(page, "() => document.querySelector('#large-title').textContent !== ''")


def large(visits: Visits, case: str, at: int = 0, query: str = "", look: str = "", **options: Any) -> Page:
    page = visits.visit(case, f"{query}#image={at}{look}", **options)
    opened(page)
    return page


def said(evaluation: Evaluation, at: int, *pairs: tuple[str, str]) -> dict[str, Any]:
    """What the library says about an image."""
    assert evaluation.ground_truth is not None
    collection = Collection.of(evaluation.ground_truth, {"model": evaluation})
    return explained(collection, Filter.parse(pairs), at)


def title(page: Page) -> str:
    return page.locator("#large-title").inner_text()


def rows(page: Page) -> list[str]:
    options = page.locator(".mark-list .option")
    labels: list[str] = options.evaluate_all("rows => rows.map((row) => row.getAttribute('aria-label'))")
    return labels


def details(page: Page) -> str:
    return page.locator("#large-details").inner_text()


def spots(page: Page) -> list[list[float]]:
    """The boxes around the highlighted marks, in pixels of the image: the chosen one last."""
    boxes: list[list[float]] = page.locator(".spot .box").evaluate_all(
        "lines => lines.map((line) => line.getBBox()).map(({x, y, width, height}) => [x, y, width, height])"
    )
    return [[number / 10 for number in box] for box in boxes]


def point_on(page: Page, x: float, y: float, pane: int = 0) -> tuple[float, float]:
    """The point of the screen where a point of the image is."""
    point = (
        page.locator("#large-stage svg")
        .nth(pane)
        .evaluate(
            "(svg, [x, y]) => { const p = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM()); return [p.x, p.y]; }",
            [x, y],
        )
    )
    return point[0], point[1]
