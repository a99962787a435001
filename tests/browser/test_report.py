"""The report in a real browser: it opens everywhere, everything can be reached, nothing in it runs but its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import score_curves
from ioukit.report import _html, write_report
from support.browsing import assert_themes, pictured, serious_violations
from support.report_cases import CASES, attacked, drawn, photographed
from support.report_pages import column

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit import Evaluation
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

PICTURED = ("three classes", "80 classes", "long names", "no detections", "one image")


@pytest.mark.parametrize("case", CASES)
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(
    case: str, open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]], tmp_path: Path
) -> None:
    page = open_page(written[case][1], dark=case == "three classes")
    assert page.locator("html[data-ready]").count() == 1
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        assert page.locator("h1").is_visible()
        if case in PICTURED:
            pictured(page, tmp_path / f"{width}.png")


@pytest.mark.parametrize(
    ("case", "dark"),
    [("three classes", False), ("three classes", True), ("crowds", False), ("no detections", True)],
)
def test_axe_finds_nothing_serious(
    case: str, *, dark: bool, open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    page = open_page(written[case][1], dark=dark)
    folded = page.locator("main details:not([open]) > summary")
    while folded.count():
        folded.first.click()
    assert serious_violations(page) == []
    if case == "three classes":
        page.locator("#gallery button").first.click()
        assert serious_violations(page) == []


def test_charts_stand_side_by_side_with_their_legends(
    open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    page = open_page(written["80 classes"][1])
    for legend in ("#score-legend", "#iou-bins-legend"):
        assert page.locator(f"{legend} li").all_inner_texts() == ["true positives", "false positives"]
    tops = page.locator("#scores .pair > .sheet").evaluate_all("cards => cards.map((card) => card.offsetTop)")
    assert tops == [tops[0]] * 3
    shared = "".join(_html.asset(f"shared/{name}.js") for name in ("page", "charts", "bars", "pictures"))
    ticks = f"""most => {{ {shared}
        const holder = document.createElement("div");
        barChart(holder, {{ x: {{ low: 0, high: 1 }}, y: {{}}, bars: [{{ from: 0, to: 1, parts: [["", most]] }}] }});
        return [...holder.querySelectorAll("text")].map((text) => text.textContent);
    }}"""
    for most, expected in (
        (12_000, {"0", "5k", "10k"}),
        (1500, {"0", "500", "1000", "1500"}),
        (2_000_000, {"0", "1M", "2M"}),
    ):
        assert expected <= set(page.evaluate(ticks, most))
    box = "{ kind: 'fp', label: 'broccoli', score: 0.96, note: ': wrong class, IoU 0.93' }"
    labels = f"most => {{ {shared} const LOOK = {{ before: {{}} }}; return labelText({box}, most); }}"
    assert [page.evaluate(labels, most) for most in (44, 20, 10)] == [
        "broccoli 0.96: wrong class, IoU 0.93",
        "broccoli 0.96",
        "broc… 0.96",
    ]
    order = page.locator("main > section").evaluate_all("parts => parts.map((part) => part.id)")
    linked = page.locator("nav a").evaluate_all("links => links.map((link) => link.hash.slice(1))")
    assert order == linked == ["summary", "curves", "errors", "images", "classes", *order[5:]]


def test_a_matrix_of_many_classes_is_filled_with_the_largest(open_page: OpenPage, tmp_path: Path) -> None:
    evaluation = drawn(300, [f"class {number}" for number in range(60)])
    write_report(evaluation, tmp_path / "page.html", score_threshold=0.97)
    confusion = evaluation.confusion(score_threshold=0.97)
    wrong = confusion.counts[:-1, :-1] - np.diag(confusion.counts.diagonal()[:-1])
    assert np.count_nonzero(wrong.sum(0) + wrong.sum(1)) < 20
    page = open_page(tmp_path / "page.html")
    page.get_by_role("button", name="Most confused").click()
    assert page.locator("#matrix tbody tr").count() == 21


def visible(page: Page, scope: str, kind: str) -> int:
    shown: int = page.evaluate(
        """([scope, kind]) => [...document.querySelectorAll(`${scope} svg.picture > g.k-${kind} .box`)]
        .filter((box) => getComputedStyle(box.parentElement).display !== "none").length""",
        [scope, kind],
    )
    return shown


def test_overlays_can_be_switched(open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]) -> None:
    evaluation, path = written["crowds"]
    best = score_curves(evaluation.matches).overall.best.score
    results = evaluation.per_image(score_threshold=best)
    page = open_page(path)
    totals = {
        "tp": results.true_positives.sum(),
        "fp": results.false_positives.sum(),
        "fn": results.false_negatives.sum(),
    }
    for kind, total in totals.items():
        box = page.locator(f'#overlays input[value="{kind}"]')
        assert visible(page, "#gallery", kind) == total
        box.uncheck()
        assert visible(page, "#gallery", kind) == 0
        box.check()
        assert visible(page, "#gallery", kind) == total
    assert visible(page, "#gallery", "gt") == 0
    page.locator('#overlays input[value="gt"]').check()
    assert visible(page, "#gallery", "gt") == totals["tp"]
    first = page.locator("#gallery button").first
    first.click()
    worst = results.worst(1)[0]
    assert visible(page, "#viewer-stage", "fp") == results.false_positives[worst]
    labels = page.locator("#viewer-stage .labels")
    assert labels.is_visible()
    page.locator('#viewer-overlays input[value="labels"]').uncheck()
    assert not labels.is_visible()


def test_keys_alone_reach_everything(open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]) -> None:
    page = open_page(written["three classes"][1])

    def focused() -> str:
        return str(
            page.evaluate(
                "() => { const e = document.activeElement; return e.id || e.value || e.dataset.true || e.textContent; }"
            )
        )

    seen = []
    for _ in range(120):
        page.keyboard.press("Tab")
        seen.append(focused())
        if seen[-1] == "0" and len(seen) > 5:  # the matrix: one stop, arrows go on from there
            break
    for stop in ("auto", "dark", "class", "score", "class-filter", "counts"):
        assert stop in seen, (stop, seen)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    here = page.evaluate("() => [document.activeElement.dataset.true, document.activeElement.dataset.predicted]")
    assert here == ["1", "1"]
    page.keyboard.press("Enter")
    assert "dog detected as such" in page.locator("#cell-images h3").inner_text()
    page.keyboard.press("Control+End")
    assert page.evaluate("() => document.activeElement.dataset.true") == "3"
    page.keyboard.press("Control+Home")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    viewer = page.locator("#viewer")
    assert viewer.is_visible()
    before = page.locator("#viewer-title").inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator("#viewer-title").inner_text() != before
    page.keyboard.press("Escape")
    assert not viewer.is_visible()
    # Escape leads back to where one came from.
    assert page.evaluate("() => document.activeElement.closest('#cell-images') !== null")


def test_light_and_dark_follow_the_system_and_the_switch(
    open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    assert_themes(open_page, written["three classes"][1])


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    write_report(attacked(tmp_path), path, title="<script>window.pwned = 1</script>", score_threshold=0.0)
    page = open_page(path)
    assert page.title().startswith("<script>window.pwned")
    elements = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert elements == 2  # the data and the program
    # Every part that shows names is made to show them.
    for position in range(page.locator("#class option").count()):
        page.locator("#class").select_option(index=position)
    page.locator("#iou-class").select_option(index=3)
    cells = page.locator("#matrix td:not(.h0)")
    cells.first.click()
    page.locator("#cell-images li").first.wait_for()
    listed = "cell => { cell.click(); return document.querySelector('#cell-images li') !== null; }"
    assert all(cells.evaluate_all(f"cells => cells.map({listed})"))
    page.locator("#gallery button").first.click()
    for _ in range(page.locator("#gallery button").count() - 1):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator("#overlays input[value=labels]").check()
    page.locator("#class-filter").fill("<img")
    assert len(column(page, 0)) == 1
    assert page.evaluate("() => window.pwned") is None
    after = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert after == elements


def test_odd_sizes_and_far_boxes_are_drawn(open_page: OpenPage, tmp_path: Path) -> None:
    sizes = [(0, 0), (1e300, 1e300), (100_000, 1), (1, 100_000), (3, 3), (640, 480), (200, 200)]
    boxes = [
        [0, 0, 1, 1],
        [1e14, 0, 1e14, 1],
        [0, 0, 1e5, 1],
        [0, 0, 1, 1e5],
        [-1e12, 0, 1, 1],
        [0, 0, 0, 0],
        [5, 5, 9, 9],
    ]
    gt = {
        "images": [{"id": k, "file_name": f"{k}" * 4**k, "width": w, "height": h} for k, (w, h) in enumerate(sizes)],
        "categories": [{"id": 1, "name": "name " * 40}, {"id": 2, "name": "b"}],
        "annotations": [
            {"id": k, "image_id": k, "category_id": 1, "bbox": box, "area": 1, "iscrowd": 0}
            for k, box in enumerate(boxes)
        ],
    }
    scores = [1e-300, 1e300, -1e300, 0.0, 5e-324, 0.5, 0.5]
    dt = [{"image_id": k, "category_id": 2, "bbox": [0, 0, 5, 5], "score": score} for k, score in enumerate(scores)]
    evaluation = evaluate(GroundTruth.from_coco(gt), Detections.from_coco(dt))
    write_report(evaluation, tmp_path / "report.html", score_threshold=-1e300)
    page = open_page(tmp_path / "report.html", width=360)
    assert page.evaluate("() => document.documentElement.scrollWidth") == 360
    page.locator("#overlays input[value=labels]").check()
    page.locator("#gallery button").first.click()
    seen = {page.locator("#viewer-title").inner_text()}
    for _ in sizes[1:]:
        page.keyboard.press("ArrowRight")
        seen.add(page.locator("#viewer-title").inner_text())
    assert len(seen) == len(sizes)


def test_photographs_are_shown(open_page: OpenPage, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    evaluation = photographed()
    assert evaluation.ground_truth is not None
    for name, (width, height) in zip(
        evaluation.ground_truth.images.names[:], evaluation.ground_truth.images.sizes.astype(int).tolist(), strict=True
    ):
        image_module.new("RGB", (width, height), "teal").save(tmp_path / name)
    write_report(evaluation, tmp_path / "report.html", tmp_path)
    page = open_page(tmp_path / "report.html")
    assert page.locator("#gallery svg.photo image").count() == 6
    # Chromium has decoded it: the policy lets it in.
    page.evaluate(
        """async () => {
          const image = new Image();
          image.src = document.querySelector("#gallery image").getAttribute("href");
          await image.decode();
        }"""
    )


def test_it_prints(open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]], tmp_path: Path) -> None:
    page = open_page(written["80 classes"][1], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.pdf(path=tmp_path / "report.pdf", format="A4", print_background=True)
    assert (tmp_path / "report.pdf").stat().st_size > 50_000
