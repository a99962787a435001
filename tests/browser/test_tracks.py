"""The page of tracks in a real browser: it opens everywhere, and shows the costs, the events and the timelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate_tracks
from ioukit.comparison import compare_tracks
from ioukit.report import tracks_page, write_tracks
from support.browsing import assert_themes, pictured, serious_violations
from support.random_tracks import random_track_set
from support.report_cases import ATTACKS
from support.tracked_scenes import tracked_truth, tracker

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit import TrackEvaluation
    from ioukit.comparison import TrackComparison
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")


def crowded(objects: int = 40, frames: int = 30) -> TrackEvaluation:
    """Objects that stand apart, each followed by a track that changes, or not."""
    rng = np.random.default_rng(0)
    frame, place = (one.ravel() for one in np.mgrid[1 : frames + 1, 0:objects])
    boxes = np.stack([30.0 * place, 0 * place, 10 + 0 * place, 10 + 0 * place], axis=1)
    images = np.array([f"walk/{one}" for one in frame.tolist()])
    classes: dict[str, Any] = {"category_ids": 1 + 0 * place, "categories": {1: "person"}}
    gt = GroundTruth.from_arrays(image_ids=images, boxes=boxes, attributes={"track_id": place}, **classes)
    kept = rng.random(len(place)) < 0.9
    ids = place + objects * (frame > 9 + place)
    dt = Detections.from_arrays(
        image_ids=images[kept],
        boxes=boxes[kept] + np.where(rng.random((kept.sum(), 1)) < 0.05, [500, 900, 0, 0], 0),
        category_ids=classes["category_ids"][kept],
        scores=np.ones(kept.sum()),
        attributes={"track_id": ids[kept]},
    )
    return evaluate_tracks(gt, dt)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of each case, written once."""
    folder, random = tmp_path_factory.mktemp("tracks"), random_track_set(4)
    gt = tracked_truth(6)
    cases: dict[str, TrackEvaluation | TrackComparison] = {
        "one": crowded(),
        "random": evaluate_tracks(random.ground_truth(), random.detections()),
        "three": compare_tracks(
            {
                name: evaluate_tracks(gt, tracker(6, seed, found=found))
                for seed, (name, found) in enumerate((("A", 0.6), ("B", 0.8), ("C", 0.9)))
            }
        ),
    }
    for name, tracks in cases.items():
        write_tracks(tracks, folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in cases}


@pytest.mark.parametrize("case", ["one", "random", "three"])
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(
    case: str, open_page: OpenPage, pages: dict[str, Path], tmp_path: Path
) -> None:
    page = open_page(pages[case], dark=case == "random")
    assert page.locator("html[data-ready]").count() == 1
    for width in (1280, 390, 320):
        page.set_viewport_size({"width": width, "height": 900})
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        pictured(page, tmp_path / f"{width}.png")


@pytest.mark.parametrize(("case", "dark"), [("one", False), ("random", True), ("three", False)])
def test_axe_finds_nothing_serious(case: str, *, dark: bool, open_page: OpenPage, pages: dict[str, Path]) -> None:
    page = open_page(pages[case], dark=dark)
    page.locator("details").evaluate_all("folds => { for (const fold of folds) fold.open = true; }")
    assert serious_violations(page) == []


def test_light_and_dark_follow_the_system_and_the_switch(open_page: OpenPage, pages: dict[str, Path]) -> None:
    assert_themes(open_page, pages["one"])


def rows(page: Page, table: str) -> list[list[str]]:
    """The texts of the rows of a list that are in sight."""
    return [line.locator("th, td").all_inner_texts() for line in page.locator(f"#{table} tbody tr").all()]


def test_lists_show_costs_and_events(open_page: OpenPage, pages: dict[str, Path]) -> None:
    evaluation = crowded()
    page, costs = open_page(pages["one"]), evaluation.costs
    shown = rows(page, "costs-table")
    assert [row[3] for row in shown] == [f"{100 * cost:.2f}" for cost in costs.cost[:25].tolist()]
    assert sorted(row[4:] for row in shown) == sorted(
        [str(int(value)) for value in (costs.frames[k], costs.alone[k], costs.changes[k])] for k in range(25)
    )
    events = rows(page, "events-table")
    switches = int(evaluation.summary["IDSW"])
    assert 5 < switches < 25
    assert [row[0] for row in events] == ["switch"] * switches + ["miss"] * (25 - switches)
    assert [row[5].split(" → ") for row in events[:3]] == [[f"{at}", f"{40 + at}"] for at in range(3)]
    page.locator("#events-kind").select_option(label="false boxes")
    assert {row[0] for row in rows(page, "events-table")} == {"false boxes"}
    page.locator("#events-kind").select_option(label="all")
    page.locator("#events-filter").fill("person 3")
    assert all("person 3" in row[2] for row in rows(page, "events-table"))


def test_a_name_leads_to_its_line(open_page: OpenPage, pages: dict[str, Path]) -> None:
    page = open_page(pages["one"])
    names = page.locator("#timeline-chart .row-name title")
    assert names.count() == 30
    page.locator("#all-objects").click()
    last = names.last.text_content()
    assert names.count() == 40
    page.locator("#all-objects").click()
    button = page.locator("#costs-table tbody button")
    while not button.get_by_text(str(last), exact=True).count():
        page.get_by_role("button", name="Next rows: Table of costs").click()
    button.get_by_text(str(last), exact=True).click()
    assert names.count() == 40
    assert page.locator("#timeline-chart .chosen-row").count() == 1
    assert page.locator("#timeline-chart .switch").count() == crowded().summary["IDSW"]


def test_a_tracker_is_chosen(open_page: OpenPage, pages: dict[str, Path]) -> None:
    page = open_page(pages["three"])
    lead = page.locator("#comparison .lead").inner_text()
    assert lead.endswith("B is higher by 12.7 points of HOTA (36.89 to 49.61 %).")
    page.get_by_text("Each object that changes").first.click()
    assert page.locator("#changes-said-0").inner_text() == ""
    changes = [list(map(int, row[2:])) for row in rows(page, "changes-0")]
    assert changes
    assert all(sum(row[:4]) == row[4] for row in changes)
    before = rows(page, "costs-table")
    page.locator("#sequence").select_option(label="S03")
    page.locator("#tracker").select_option(label="C")
    assert rows(page, "costs-table") != before
    assert page.locator("#sequence").evaluate("select => select.selectedOptions[0].text") == "S03"


def test_a_list_of_changes_says_what_it_lacks(
    open_page: OpenPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracks_page, "MOST_COSTS", 3)
    gt = tracked_truth(6)
    pair = compare_tracks(*(evaluate_tracks(gt, tracker(6, seed, found=0.7)) for seed in (1, 2)))
    write_tracks(pair, tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    page.get_by_text("Each object that changes").click()
    listed = len(pair.to_dict()["pairs"][0]["changed_objects"])
    assert page.locator("#changes-said-0").inner_text() == (
        f"These are 3 of {listed} objects that change; pairs[0].changed_objects of ioukit tracks --json has all."
    )


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    names = [name for name in ATTACKS if "\ud800" not in name and name]
    count = len(names)
    columns: dict[str, Any] = {
        "category_ids": np.arange(1, count + 1),
        "boxes": np.tile([0.0, 0.0, 9.0, 9.0], (count, 1)),
    }
    images: dict[str, Any] = {
        "image_ids": np.arange(count),
        "images": np.arange(count),
        "image_attributes": {"sequence": np.array(names)},
    }
    gt = GroundTruth.from_arrays(
        **columns, **images, categories=dict(enumerate(names, 1)), attributes={"track_id": np.array(names)}
    )
    dt = Detections.from_arrays(
        **columns, image_ids=np.arange(count), scores=np.ones(count), attributes={"track_id": np.array(names)}
    )
    one = evaluate_tracks(gt, dt, protocol="plain")
    write_tracks(compare_tracks({names[0]: one, names[1]: one}), tmp_path / "page.html", title=names[0])
    page = open_page(tmp_path / "page.html")
    for at in range(page.locator("#sequence option").count()):
        page.locator("#sequence").select_option(index=at)
    page.locator("#tracker").select_option(index=1)
    page.locator("#events-filter").fill("<img")
    assert page.evaluate("() => window.pwned") is None
    assert page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length") == 2


def test_it_prints(open_page: OpenPage, pages: dict[str, Path]) -> None:
    page = open_page(pages["one"], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
