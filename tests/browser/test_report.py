"""The report in a real browser: what it shows is right, everything can be reached, nothing in it runs but its own."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import score_curves
from ioukit.report import write_report
from support.browsing import assert_themes, pictured, serious_violations
from support.report_cases import CASES, attacked, photographed

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Page

    from ioukit import Evaluation
    from ioukit.evaluation import OperatingPoint
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Evaluation, Path]]:
    """Each case once: the evaluation and the file."""
    folder, made = tmp_path_factory.mktemp("reports"), {}
    for number, (name, make) in enumerate(CASES.items()):
        evaluation, path = make(), folder / f"{number}.html"
        write_report(evaluation, path)
        made[name] = evaluation, path
    return made


def shown(page: Page) -> dict[str, str]:
    """What stands at the operating point."""
    keys = ("precision", "recall", "f1", "tp", "fp", "fn")
    return {key: page.locator(f"#now-{key}").inner_text() for key in keys}


def rounded(value: float) -> str:
    """As JavaScript's toFixed does, which takes the larger of two that are equally near."""
    return str(Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP))


def expected(point: OperatingPoint) -> dict[str, str]:
    numbers = {"precision": point.precision, "recall": point.recall, "f1": point.f1}
    counts = {"tp": point.true_positives, "fp": point.false_positives, "fn": point.false_negatives}
    return {
        **{key: "\N{EN DASH}" if math.isnan(value) else rounded(value) for key, value in numbers.items()},
        **{key: f"{value:,}" for key, value in counts.items()},
    }


def score_of(slider: Locator) -> float:
    return float(slider.get_attribute("data-score") or "nan")


def column(page: Page, number: int) -> list[str]:
    cells = page.locator(f"#class-table tbody tr:not([hidden]) > :nth-child({number + 1})")
    return [text.strip() for text in cells.all_inner_texts()]


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
    for fold in page.locator("details").all():
        fold.locator("summary").click()
    assert serious_violations(page) == []
    if case == "three classes":
        page.locator("#gallery button").first.click()
        assert serious_violations(page) == []


@pytest.mark.parametrize("case", ["three classes", "80 classes"])
def test_the_slider_shows_the_numbers_of_the_curve(
    case: str, open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written[case]
    curves = score_curves(evaluation.matches)
    page = open_page(path)
    slider, chooser = page.locator("#score"), page.locator("#class")
    last = int(slider.get_attribute("max") or 0)
    assert score_of(slider) == curves.overall.best.score
    assert shown(page) == expected(curves.overall.best)
    for option, curve in ((0, curves.overall), (1, curves.per_class[0]), (3, curves.per_class[2])):
        chooser.select_option(str(option))
        for position in (0, last // 3, last // 2, last - 1, last):
            slider.fill(str(position))
            assert shown(page) == expected(curve.at(score_of(slider))), (option, position)
        page.locator("#best").click()
        assert score_of(slider) == curve.best.score
        assert shown(page) == expected(curve.best)
        assert page.locator("#best").is_disabled()


def test_the_curves_follow_the_slider_and_can_be_pulled(
    open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written["80 classes"]
    curve = score_curves(evaluation.matches).overall
    page = open_page(path)
    slider = page.locator("#score")
    slider.focus()
    page.keyboard.press("End")
    assert score_of(slider) == curve.scores[0]
    page.keyboard.press("ArrowLeft")
    assert score_of(slider) < curve.scores[0]
    before = page.locator("#f1-chart svg").get_attribute("aria-label")
    area = page.locator("#f1-chart .pick").bounding_box()
    assert area is not None
    page.mouse.click(area["x"] + area["width"] * 0.6, area["y"] + 20)
    assert score_of(slider) == pytest.approx(0.6, abs=0.01)
    assert page.locator("#f1-chart svg").get_attribute("aria-label") != before
    area = page.locator("#pr-chart .pick").bounding_box()
    assert area is not None
    page.mouse.click(
        area["x"] + area["width"] * curve.recall[500], area["y"] + area["height"] * (1 - curve.precision[500])
    )
    assert float(shown(page)["recall"]) == pytest.approx(curve.recall[500], abs=0.02)
    page.locator("#curve-fold summary").click()
    assert page.locator("#curve-table tbody tr").count() > 20


def test_sorting_sorts_and_filtering_filters(open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]) -> None:
    evaluation, path = written["80 classes"]
    page = open_page(path)
    names = [result.name for result in evaluation.per_class]
    aps = {result.name: result.summary["AP"] for result in evaluation.per_class}
    assert column(page, 0) == names
    page.get_by_role("button", name="AP", exact=True).click()
    defined = [name for name in names if not math.isnan(aps[name])]
    falling = sorted(defined, key=lambda name: -aps[name])
    assert column(page, 0) == falling + [name for name in names if math.isnan(aps[name])]
    head = page.locator("#class-table thead th").nth(1)
    assert head.get_attribute("aria-sort") == "descending"
    page.get_by_role("button", name="AP", exact=True).press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    rising = sorted(defined, key=lambda name: aps[name])
    # What is undefined stays at the end.
    assert column(page, 0) == rising + [name for name in names if math.isnan(aps[name])]
    page.get_by_role("button", name="class", exact=True).click()
    assert column(page, 0) == sorted(names)
    page.locator("#class-filter").fill("  CAR")
    assert column(page, 0) == [name for name in sorted(names) if "car" in name]
    assert page.locator("#class-said").inner_text().startswith("2 of 80 classes")
    page.locator("#class-table tbody tr:not([hidden]) button").first.click()
    assert page.locator("#class").input_value() == str(names.index("car") + 1)


@pytest.mark.parametrize("way", ["click", "Enter", " "])
def test_a_cell_of_the_matrix_lists_its_images(
    way: str, open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written["crowds"]
    assert evaluation.ground_truth is not None
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    book = confusion.categories.names.index("book")
    missed = len(confusion.categories)
    names = evaluation.ground_truth.images.names
    listed = {names[image] for image in confusion.image[confusion.cell(book, missed)].tolist()}
    page = open_page(path)
    cell = page.locator(f'td[data-true="{book}"][data-predicted="{missed}"]')
    assert cell.inner_text() == str(confusion.counts[book, missed])
    if way == "click":
        cell.click()
    else:
        cell.focus()
        page.keyboard.press(way)
    panel = page.locator("#cell-images")
    assert panel.locator("h3").inner_text() == f"book missed: {confusion.counts[book, missed]} times"
    assert set(panel.locator("li .name").all_inner_texts()) == listed
    assert cell.get_attribute("aria-selected") == "true"
    # A list of a hundred names is not to be read out: only the heading is.
    assert panel.locator("[role=status] h3").count() == 1
    assert panel.locator("[role=status] li").count() == 0
    panel.locator("li button").first.click()
    assert page.locator("#viewer").is_visible()
    assert page.locator("#viewer-title").inner_text() in listed


def test_the_matrix_shows_shares_and_all_classes_or_the_confused(
    open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written["80 classes"]
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    page = open_page(path)
    rows = page.locator("#matrix tbody tr")
    assert 2 < rows.count() <= 21
    page.get_by_role("button", name="All classes").click()
    assert rows.count() == 81
    cell = page.locator('td[data-true="0"][data-predicted="0"]')
    for button, by in (("Share of objects", "truth"), ("Share of detections", "prediction")):
        page.get_by_role("button", name=button).click()
        assert cell.inner_text() == f"{confusion.normalized(by)[0, 0]:.2f}"  # type: ignore[arg-type]
    page.get_by_role("button", name="Counts").click()
    assert cell.inner_text() == str(confusion.counts[0, 0])


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
    assert "dog found as such" in page.locator("#cell-images h3").inner_text()
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
    for cell in page.locator("#matrix td:not(.h0)").all():
        cell.click()
        page.locator("#cell-images li").first.wait_for()
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
