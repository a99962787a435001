"""Regions that are not boxes on the page: what the browser draws is what the data has."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit.report import write_report
from ioukit.report.report_page import report_data
from support import region_cases

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")


def count(page: Page, selector: str) -> int:
    return page.locator(selector).count()


@pytest.mark.parametrize("kind", ["segm", "keypoints", "rotated", "polygon", "bev"])
@pytest.mark.parametrize("dark", [False, True])
def test_every_region_is_drawn_once(open_page: OpenPage, tmp_path: Path, kind: str, dark: bool) -> None:
    evaluation = region_cases.evaluated(kind)
    write_report(evaluation, tmp_path / "report.html", score_threshold=0)
    drawn = report_data(evaluation, score_threshold=0).drawn
    page = open_page(tmp_path / "report.html", dark=dark)
    shown = [drawn["images"][place] for place in drawn["worst"]]
    regions = [row for image in shown for row in np.array(image["boxes"]).reshape(-1, 7).tolist()]
    shapes = [shape for image in shown for shape in image["shapes"]]
    assert count(page, "#gallery svg.picture") == len(shown)
    assert count(page, "#gallery path.box") == len(regions)
    assert count(page, "#gallery rect.box") == 0
    filled = [row for row in regions if row[0] != 0]
    assert count(page, "#gallery path.area") == (len(filled) if kind == "segm" else 0)
    points = [number for shape in shapes for number in shape.get("points", [])[2::3]]
    assert count(page, "#gallery circle.point") == len(points)
    assert count(page, "#gallery circle.hollow") == sum(points)
    grids = [len(image["grid"]["x"]) + len(image["grid"]["y"]) for image in shown if "grid" in image]
    assert count(page, "#gallery .ground-grid line") == sum(grids)
    assert bool(grids) == (kind == "bev")


@pytest.mark.parametrize("kind", ["polygon", "rotated", "bev"])
def test_outlines_lie_where_the_regions_are(open_page: OpenPage, tmp_path: Path, kind: str) -> None:
    """The boxes that the browser finds around the paths are the boxes in the data."""
    evaluation = region_cases.evaluated(kind)
    write_report(evaluation, tmp_path / "report.html", score_threshold=0)
    drawn = report_data(evaluation, score_threshold=0).drawn
    page = open_page(tmp_path / "report.html")
    for number, place in enumerate(drawn["worst"]):
        rows = np.array(drawn["images"][place]["boxes"]).reshape(-1, 7)
        boxes = (
            page.locator("#gallery svg.picture")
            .nth(number)
            .locator("path.box")
            .evaluate_all(
                "paths => paths.map(path => path.getBBox()).map(({x, y, width, height}) => [x, y, width, height])"
            )
        )
        order = [np.lexsort(np.round(side).T) for side in (np.array(boxes), rows[:, 3:] / 10)]
        assert_allclose(np.array(boxes)[order[0]], rows[order[1], 3:] / 10, atol=0.11)


def test_the_viewer_shows_labels_of_masks_and_switches_hide_them(open_page: OpenPage, tmp_path: Path) -> None:
    write_report(region_cases.evaluated("segm"), tmp_path / "report.html", score_threshold=0)
    page = open_page(tmp_path / "report.html")
    page.locator("#gallery button").first.click()
    stage = page.locator("#viewer-stage")
    assert stage.locator("text.label").count() > 0
    assert stage.locator(".k-tp path.area").first.is_visible()
    page.locator("#viewer-overlays input[value=tp]").uncheck()
    assert not stage.locator(".k-tp path.area").first.is_visible()


def test_a_sentence_explains_views_from_above(open_page: OpenPage, tmp_path: Path) -> None:
    write_report(region_cases.evaluated("bev"), tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    assert "The scenes are seen from above." in page.locator("#images .intro").inner_text()
    page.locator("#gallery button").first.click()
    assert page.locator("#viewer-stage .ground-grid text").count() > 4


@pytest.mark.parametrize(("kind", "name"), [("segm", "IoU"), ("keypoints", "OKS"), ("rotated-probiou", "ProbIoU")])
def test_overlaps_have_the_name_of_their_measure(open_page: OpenPage, tmp_path: Path, kind: str, name: str) -> None:
    evaluation = region_cases.evaluated(kind)
    write_report(evaluation, tmp_path / "report.html", score_threshold=0)
    page = open_page(tmp_path / "report.html")
    page.locator("#gallery button").first.click()
    labels = page.locator("#viewer-stage text.label").all_text_contents()
    measured = {match for one in labels for match in re.findall(r", (\w+) (?:0\.\d\d|1\.00)(?!\d)", one)}
    assert measured == {name}
    assert f"Histogram of the {name} of detections" in str(page.locator("#iou-bins svg").get_attribute("aria-label"))
    assert page.get_by_role("heading", name=name, exact=True).count() == 1
