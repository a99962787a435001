"""The page of a comparison in a real browser: every part follows its controls, by mouse and by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit.comparison import ModelComparison
from ioukit.report import write_comparison
from support.browsing import assert_themes, pictured, serious_violations, until
from support.comparison_cases import CASES, hostile, of_kind, photographs

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

PICTURED = ("three classes", "1,203 classes", "long names", "no detections", "one image")
ROWS = 25

Written = dict[str, tuple[ModelComparison, "Path"]]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The page of each case: the comparison and the file."""
    folder, made = tmp_path_factory.mktemp("comparisons"), {}
    for number, (name, make) in enumerate(CASES.items()):
        comparison, path = make(), folder / f"{number}.html"
        write_comparison(comparison, path)
        made[name] = comparison, path
    return made


def number(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace(",", ""))


def column(page: Page, table: str, place: int) -> list[str]:
    """A column of the shown rows of a table."""
    cells = page.locator(f"{table} tbody tr > :nth-child({place + 1})").all_inner_texts()
    return [text.strip().replace("\n", "") for text in cells]


def set_slider(page: Page, selector: str, share: float) -> None:
    """Moves a slider to a share of its way."""
    page.locator(selector).evaluate(
        "(slider, share) => { slider.value = Math.round(share * Number(slider.max));"
        " slider.dispatchEvent(new Event('input', { bubbles: true })); }",
        share,
    )
    page.wait_for_timeout(100)


@pytest.mark.parametrize("case", CASES)
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(
    case: str, open_page: OpenPage, pages: Written, tmp_path: Path
) -> None:
    page = open_page(pages[case][1], dark=case == "three classes")
    assert page.locator("html[data-ready]").count() == 1
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        assert page.locator(".lead").is_visible()
        if case in PICTURED:
            pictured(page, tmp_path / f"{width}.png")


def test_no_column_is_cut_on_a_phone(open_page: OpenPage, pages: Written) -> None:
    page = open_page(pages["three models"][1], width=390)
    areas = page.locator("main .scroll:visible").evaluate_all(
        "areas => areas.map((area) => [area.getAttribute('aria-label'), area.scrollWidth - area.clientWidth])"
    )
    assert len(areas) >= 5
    assert [area for area in areas if area[1] > 0] == []


def test_a_page_of_three_models_begins_with_all_of_them(open_page: OpenPage, pages: Written) -> None:
    comparison, path = pages["three models"]
    page = open_page(path)
    assert comparison.ranking is not None
    assert page.locator("h1").inner_text() == "second, third compared with first"
    assert page.locator(".lead").inner_text() == comparison.ranking.verdict()
    said = page.locator("#summary p").all_inner_texts()
    assert said[1:3] == [pair.verdict() for pair in comparison.pairs]
    assert "detections of C" in page.locator(".facts").inner_text()


def test_each_other_model_has_all_parts(open_page: OpenPage, pages: Written) -> None:
    """The first model with the one that a link names: numbers, parts, changes and images, by its letter."""
    comparison, path = pages["three models"]
    page = open_page(path)
    for letter, pair in zip("BC", comparison.pairs, strict=True):
        if letter == "C":
            page.get_by_role("link", name="A and C").click()
            until(page, 'document.documentElement.hasAttribute("data-ready")')
            assert page.url.endswith("?with=C#numbers-title")
        assert page.locator(".button[aria-current]").inner_text() == f"A and {letter}"
        heads = page.locator("#numbers thead th").all_inner_texts()
        assert heads[1:4] == ["A", letter, f"{letter} \N{MINUS SIGN} A, points"]
        assert column(page, "#numbers", 2) == [f"{one.b:.3f}" for one in pair.comparison.differences]
        said = page.locator("#parts-said").inner_text()
        assert number(said.split(" add up to ")[1].split()[0]) == pytest.approx(
            100 * pair.difference.difference, abs=0.006
        )
        lost = page.locator("#changes-kinds label").first.inner_text()
        assert number(lost.split()[-1]) == pair.changes.counts["lost"]
        assert page.locator("#gallery .half:nth-child(2) .letter").first.inner_text() == letter
        page.locator("#changes-table tbody button").first.click()
        assert page.locator("#pair figcaption").all_inner_texts() == [f"A {pair.name_a}", f"{letter} {pair.name_b}"]
        page.keyboard.press("Escape")
    assert page.get_by_role("link", name="A and B").get_attribute("href") == "?with=B#numbers-title"


@pytest.mark.parametrize(
    ("case", "dark"),
    [("three classes", False), ("three classes", True), ("three models", False), ("no detections", True)],
)
def test_axe_finds_nothing_serious(case: str, *, dark: bool, open_page: OpenPage, pages: Written) -> None:
    page = open_page(pages[case][1], dark=dark)
    page.locator("details").evaluate_all("folds => { for (const fold of folds) fold.open = true; }")
    assert serious_violations(page) == []
    if case == "three classes":
        page.locator("#changes-table tbody button").first.click()
        assert page.locator("#pair").is_visible()
        assert serious_violations(page) == []


def test_parts_are_split_sorted_and_filtered(open_page: OpenPage, pages: Written) -> None:
    comparison, path = pages["80 classes"]
    parts = comparison.pairs[0].parts
    assert parts is not None
    page = open_page(path)
    assert f"{len(parts.classes)} classes add up to" in page.locator("#parts-said").inner_text()
    for button in page.locator("#parts-by button").all():
        button.click()
        total = page.locator("#parts-said").inner_text().split("add up to ")[1].split()[0].rstrip(".")
        assert number(total) == pytest.approx(100 * parts.difference, abs=6e-3)
        shares = []
        while True:
            shares += [number(text) for text in column(page, "#parts-table", 4)]
            following = page.locator("#parts-table .pager button").nth(2)
            if not following.is_visible() or following.is_disabled():
                break
            following.click()
        assert sum(shares) == pytest.approx(100 * parts.difference, abs=5e-3 * len(shares))
        assert [abs(share) for share in shares] == sorted(map(abs, shares), reverse=True)
    page.locator("#parts-by button").first.click()
    page.locator("#parts-table thead button", has_text="part").first.click()
    first = column(page, "#parts-table", 0)
    assert first == sorted(first)
    page.locator("#parts-filter").fill("bike")
    assert column(page, "#parts-table", 0) == [
        one.name for one in comparison.pairs[0].a.per_class if "bike" in one.name
    ]
    page.locator("#parts-filter").fill("bus")
    assert column(page, "#parts-table", 0) == ["bus"]
    assert "The 1 shown add" in page.locator("#parts-said").inner_text()


def test_the_list_follows_its_filters(open_page: OpenPage, pages: Written) -> None:
    comparison, path = pages["80 classes"]
    changes = comparison.pairs[0].changes
    counts, page = changes.counts, open_page(path)
    said = page.locator("#changes-said")

    def listed() -> int:
        return int(said.inner_text().split(" ")[0].replace(",", ""))

    listed_kinds = ("found", "right_class_now", "better_placed", "gone_false_positive", "lost", "other_class_now")
    total = sum(counts[kind] for kind in (*listed_kinds, "worse_placed", "new_false_positive"))
    assert listed() == total
    for box in page.locator("#changes-kinds input:enabled").all():
        box.uncheck()
    assert listed() == 0
    assert not column(page, "#changes-table", 0)
    page.locator("#changes-kinds input[value=lost]").check()
    assert listed() == counts["lost"]
    assert set(column(page, "#changes-table", 0)) == {"▼lost"}
    names = changes.categories.names
    person = names.index("person")
    lost = (changes.objects.kind == 4) & (changes.objects.category == person)
    page.locator("#changes-class").select_option(label="person")
    assert listed() == lost.sum()
    assert {text.split(" ")[0] for text in column(page, "#changes-table", 1)} <= {"person"}
    image = column(page, "#changes-table", 2)[0]
    page.locator("#changes-filter").fill(image[3:-4])
    assert set(column(page, "#changes-table", 2)) == {image}
    page.locator("#changes-filter").fill("")
    page.locator("#changes-table thead button", has_text="score A").click()
    scores = [float(text) for text in column(page, "#changes-table", 3)]
    assert scores == sorted(scores, reverse=True)


def test_sliders_change_images_and_counts(open_page: OpenPage, pages: Written) -> None:
    comparison, path = pages["three classes"]
    pair, page = comparison.pairs[0], open_page(path)
    for side, evaluation in (("a", pair.a), ("b", pair.b)):
        for share in (0.0, 0.4, 1.0):
            set_slider(page, f"#score-{side}", share)
            score = float(page.locator(f"#score-{side}").get_attribute("data-score") or "nan")
            point = evaluation.score_curves().overall.at(score)
            assert number(page.locator(f"#{side}-tp").inner_text()) == point.true_positives
            assert number(page.locator(f"#{side}-fp").inner_text()) == point.false_positives
            assert number(page.locator(f"#{side}-fn").inner_text()) == point.false_negatives
    set_slider(page, "#score-a", 0.5)
    page.locator("#gallery button").first.click()
    name = page.locator("#pair-title").inner_text()
    image = int(name.removeprefix("image ")) - 1
    for share in (0.1, 0.6, 0.95):
        set_slider(page, "#pair-score-b", share)
        score = float(page.locator("#pair-score-b").get_attribute("data-score") or "nan")
        results = pair.b.per_image(score_threshold=score)
        tp, fp, fn = (
            int(values[image]) for values in (results.true_positives, results.false_positives, results.false_negatives)
        )
        assert page.locator("#pair-b-counts span").first.inner_text() == (
            f"This image: {tp} found, {fp} false, {fn} missed"
        )
        for kind, count in (("tp", tp), ("fp", fp), ("fn", fn)):
            assert page.locator(f"#pair-b svg.picture > g.k-{kind} .box").count() == count
        assert number(page.locator("#b-tp").inner_text()) == pair.b.score_curves().overall.at(score).true_positives


def test_without_scores_nothing_is_said_of_them(open_page: OpenPage, pages: Written) -> None:
    comparison, path = pages["without scores"]
    page, (pair,) = open_page(path), comparison.pairs
    counts = [[number(page.locator(f"#{side}-{key}").inner_text()) for key in ("tp", "fp", "fn")] for side in "ab"]
    for one, found in zip((pair.a, pair.b), counts, strict=True):
        right = int(one.matches.is_true_positive(0.5).sum())
        assert found == [right, len(one.matches.detections) - right, len(one.matches.objects) - right]
    assert page.locator("input[type=range]").count() == 0
    page.locator("#changes-table tbody button").first.click()
    words = page.locator("#pair-words").inner_text()
    assert "IoU" in words or "no detection" in words
    labels = page.locator("#pair-stages svg text").all_text_contents()
    assert labels
    assert not any(character.isdigit() for label in labels for character in label)
    note = "the detections have no scores, so nothing ranks them"
    text = page.locator("body").inner_text().replace(note, "").replace("does not read scores", "")
    assert "score" not in text.lower()


def test_a_change_is_marked_on_both_sides(open_page: OpenPage, pages: Written) -> None:
    page = open_page(pages["80 classes"][1])
    for box in page.locator("#changes-kinds input:enabled").all():
        box.set_checked(box.get_attribute("value") == "worse")
    page.locator("#changes-table tbody button").first.click()
    for side in "ab":
        assert page.locator(f"#pair-{side} .k-tp .marked").count() == 1
        assert page.locator(f"#pair-{side} .k-gt .marked").is_visible()
    assert "worse placed" in page.locator("#pair-words").inner_text()
    while page.locator("#pair-near").is_hidden():
        page.locator("#pair-next").click()
    near = page.locator("#pair-a svg").get_attribute("viewBox")
    page.locator("#pair-near").click()
    assert page.locator("#pair-a svg").get_attribute("viewBox") != near
    first = page.locator("#pair-words").inner_text()
    page.locator("#pair-next").click()
    assert page.locator("#pair-words").inner_text() != first


def test_keys_alone_reach_everything(open_page: OpenPage, pages: Written) -> None:
    page = open_page(pages["three classes"][1])
    seen, wanted = (
        [],
        {"auto", "parts-filter", "class", "score-a", "score-b", "best", "changes-class", "changes-filter"},
    )
    for _ in range(250):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("() => document.activeElement.id || document.activeElement.value || ''"))
        if wanted <= set(seen) and page.evaluate("() => document.activeElement.closest('#changes-table tbody')"):
            break
    assert wanted <= set(seen), wanted - set(seen)
    page.keyboard.press("ArrowDown")
    row = page.evaluate("() => document.activeElement.closest('tr').rowIndex")
    assert row == 2
    page.keyboard.press("Enter")
    dialog = page.locator("#pair")
    assert dialog.is_visible()
    words = page.locator("#pair-words").inner_text()
    assert "(2 of" in words
    page.keyboard.press("ArrowRight")
    assert "(3 of" in page.locator("#pair-words").inner_text()
    # The sliders of the large image are reached by Tab, and arrows move them without leaving the image.
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("() => document.activeElement.id") == "pair-score-a":
            break
    before = page.locator("#pair-score-a-now").inner_text()
    page.keyboard.press("ArrowLeft")
    page.wait_for_timeout(100)
    assert page.locator("#pair-score-a-now").inner_text() != before
    assert "(3 of" in page.locator("#pair-words").inner_text()
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert page.evaluate("() => document.activeElement.closest('#changes-table') !== null")


def test_light_and_dark_follow_the_system_and_the_switch(open_page: OpenPage, pages: Written) -> None:
    assert_themes(open_page, pages["three classes"][1])


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    write_comparison(hostile(tmp_path), tmp_path / "page.html", title="<script>window.pwned = 1</script>")
    page = open_page(tmp_path / "page.html")
    assert page.title().startswith("<script>window.pwned")
    count = "() => document.querySelectorAll('script, iframe, img, a[href^=http]').length"
    assert page.evaluate(count) == 2  # the data and the program
    for button in page.locator("#parts-by button").all():
        button.click()
    for place in range(page.locator("#class option").count()):
        page.locator("#class").select_option(index=place)
    page.locator("#changes-filter").fill("<img")
    page.locator("#changes-filter").fill("")
    page.locator("#changes-table tbody button").first.click()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator("#overlays input[value=labels]").check()
    assert page.evaluate("() => window.pwned") is None
    assert page.evaluate(count) == 2


@pytest.mark.parametrize("kind", ["segm", "keypoints", "rotated", "polygon", "bev"])
def test_every_kind_of_region_is_drawn(open_page: OpenPage, tmp_path: Path, kind: str) -> None:
    write_comparison(of_kind(kind), tmp_path / "page.html")
    page = open_page(tmp_path / "page.html")
    set_slider(page, "#score-a", 0.0)
    set_slider(page, "#score-b", 0.0)
    one, other = (page.locator(f"#gallery .half:nth-child({side}) .k-tp path.box").count() for side in (1, 2))
    assert one > other > 0


def test_photographs_are_shown_on_both_sides(open_page: OpenPage, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    comparison = photographs()
    truth = comparison.evaluations[0].ground_truth
    assert truth is not None
    for name, size in zip(truth.images.names[:], truth.images.sizes.astype(int).tolist(), strict=True):
        image_module.new("RGB", tuple(size), "teal").save(tmp_path / name)
    write_comparison(comparison, tmp_path / "page.html", tmp_path)
    page = open_page(tmp_path / "page.html")
    images = page.locator("#gallery button").count()
    assert page.locator("#gallery svg.photo image").count() == 2 * images > 0


def test_it_prints(open_page: OpenPage, pages: Written, tmp_path: Path) -> None:
    page = open_page(pages["80 classes"][1], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    page.pdf(path=tmp_path / "page.pdf", format="A4", print_background=True)
    assert (tmp_path / "page.pdf").stat().st_size > 50_000
