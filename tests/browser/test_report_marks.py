"""A number of the report opens its images with the regions that it counts, can be saved, and opens in the viewer."""

from __future__ import annotations

import csv
import io
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ioukit.evaluation import score_curves
from ioukit.report import write_report
from support.browsing import serious_violations, until
from support.report_cases import attacked, photographed

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from ioukit import Evaluation
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

Written = dict[str, tuple["Evaluation", Path]]


def cell(page: Page, true: int, predicted: int) -> Locator:
    return page.locator(f'#matrix td[data-true="{true}"][data-predicted="{predicted}"]')


def marks_of(*kinds: str) -> str:
    """The regions of some kinds that are marked in the large image, as a selector."""
    return ", ".join(f"#viewer-stage .k-{kind} .marked .box" for kind in kinds)


def marked(page: Page, *kinds: str) -> int:
    """How many regions of some kinds are marked in the large image."""
    return page.locator(marks_of(*kinds)).count()


def marked_by_lines(page: Page, lines: Locator, *selectors: str) -> list[list[int]]:
    """Opens each line of a list large, and counts what each selector finds there.

    The first line is chosen by mouse and left by key. The others take one call together: between two calls, Chromium
    would lay the whole page out anew.
    """
    lines.first.click()
    found = [[page.locator(selector).count() for selector in selectors]]
    page.keyboard.press("Escape")
    assert page.locator("#viewer").is_hidden()
    others: list[list[int]] = lines.evaluate_all(
        """(lines, selectors) => lines.slice(1).map((line) => {
          line.click();
          const viewer = document.querySelector("#viewer");
          if (!viewer.open) throw new Error("a line does not open the large image");
          const counts = selectors.map((selector) => document.querySelectorAll(selector).length);
          viewer.close();
          return counts;
        })""",
        selectors,
    )
    return found + others


def test_a_cell_marks_what_it_counts_and_dims_the_rest(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["80 classes"]
    names = list(evaluation.matches.categories.names)
    sandwich, cake = names.index("sandwich"), names.index("cake")
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    page = open_page(path)
    page.get_by_role("button", name="Most confused").click()
    cell(page, sandwich, cake).click()
    assert "sandwich detected as cake: 6 times" in page.locator("#cell-images h3").inner_text()
    assert page.locator("#cell-images .crop svg").count() >= 1
    page.locator("#cell-images li button").first.click()
    entries = confusion.cell(sandwich, cake)
    image = confusion.image[entries[0]]
    expected = int((confusion.image[entries] == image).sum())
    assert marked(page, "fp", "tp", "ignored") == marked(page, "fn", "gt") == expected
    assert page.locator("#viewer-stage .dim").count() > 50
    # Only what is marked has labels, with the IoU of the match.
    labels = page.locator("#viewer-stage .label").all_text_contents()
    assert any("cake" in label and "IoU 0." in label for label in labels)
    assert {label.split()[-1] if "missed" in label else label.split()[0] for label in labels} <= {"cake", "sandwich"}
    # Pointing tells the story.
    place = page.locator("#viewer-stage .k-fp .marked .box").first.bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    words = page.locator("#viewer-region")
    assert "cake, score" in words.inner_text() or "sandwich" in words.inner_text()
    assert page.locator("#viewer-stage .pointed").count() == 1
    assert serious_violations(page) == []
    # Zoom by key and by button, and back.
    svg = page.locator("#viewer-stage svg.picture")
    whole = svg.get_attribute("viewBox")
    page.keyboard.press("+")
    until(page, f"() => document.querySelector('#viewer-stage svg').getAttribute('viewBox') !== '{whole}'")
    page.keyboard.press("0")
    until(page, f"() => document.querySelector('#viewer-stage svg').getAttribute('viewBox') === '{whole}'")
    page.locator("#viewer-near").click()
    until(page, f"() => document.querySelector('#viewer-stage svg').getAttribute('viewBox') !== '{whole}'")
    assert marked(page, "fp") > 0


def test_missed_objects_and_backgrounds_are_marked(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    background = len(evaluation.matches.categories)
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    page = open_page(path)
    for true, predicted in ((0, background), (background, 1), (0, 0)):
        cell(page, true, predicted).click()
        entries = confusion.cell(true, predicted)
        lines = page.locator("#cell-images li button")
        assert lines.count() == len(set(confusion.image[entries].tolist()))
        total = 0
        for objects, found in marked_by_lines(page, lines, marks_of("fn", "gt"), marks_of("tp", "fp")):
            total += objects if predicted == background else found
            assert (found == 0) if predicted == background else (objects == (0 if true == background else found))
        assert total == len(entries)


def test_a_kind_of_error_leads_to_its_images(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["three classes"][1])
    for kind, way in (("background", "click"), ("missed", "Enter"), ("classification", "click")):
        button = page.locator(f'#error-table tr[data-kind="{kind}"] button')
        if way == "click":
            button.click()
        else:
            button.press(way)
        count = int(page.locator(f'#error-table tr[data-kind="{kind}"] .now').inner_text())
        lines = page.locator("#error-images li button")
        marks = marked_by_lines(page, lines, marks_of("fn" if kind == "missed" else "fp"))
        assert sum(counts[0] for counts in marks) == count


def test_tables_and_figures_can_be_saved(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    page = open_page(path)
    best = score_curves(evaluation.matches).overall.best.score

    def saved(holder: str, text: str) -> bytes:
        with page.expect_download() as waiting:
            page.locator(f"#{holder} button", has_text=text).click()
        return Path(waiting.value.path()).read_bytes()

    rows = list(csv.reader(io.StringIO(saved("matrix-downloads", "CSV").decode())))
    counts = evaluation.confusion(score_threshold=best).counts
    assert rows[0] == ["true class", "cat", "dog", "bird", "missed"]
    assert [[int(number) for number in row[1:]] for row in rows[1:]] == counts.tolist()
    rows = list(csv.reader(io.StringIO(saved("class-downloads", "CSV").decode())))
    assert [float(row[1]) for row in rows[1:]] == sorted(
        (result.summary["AP"] for result in evaluation.per_class), reverse=True
    )
    rows = list(csv.reader(io.StringIO(saved("pr-downloads", "CSV").decode())))
    assert [int(row[4]) for row in rows[1:]] == [
        score_curves(evaluation.matches).overall.at(float(row[0])).true_positives for row in rows[1:]
    ]
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    page = open_page(path)  # Chromium drops the eleventh download of a page within a second
    for name in ("matrix", "pr", "f1", "iou", "score-bins", "iou-bins", "reliability"):
        picture = image_module.open(io.BytesIO(saved(f"{name}-downloads", "PNG"))).convert("L")
        assert picture.width > 400
        histogram = picture.histogram()
        assert 0.01 < 1 - max(histogram) / sum(histogram) < 0.98, name
    page = open_page(path)
    for name in ("numbers", "error", "size", "iou", "score-bins", "iou-bins", "reliability"):
        assert len(list(csv.reader(io.StringIO(saved(f"{name}-downloads", "CSV").decode())))) > 3, name


def test_no_cell_of_a_saved_table_is_a_formula(open_page: OpenPage, tmp_path: Path) -> None:
    names = ["=1+1", "+cmd", "-2", "@sum", "\ttab", 'a "quoted", name', "plain"]
    write_report(attacked(tmp_path, names), tmp_path / "report.html", score_threshold=0.0)
    page = open_page(tmp_path / "report.html")
    for holder in ("class", "matrix"):
        with page.expect_download() as waiting:
            page.locator(f"#{holder}-downloads button", has_text="CSV").click()
        text = Path(waiting.value.path()).read_text("utf-8")
        cells = [value for row in csv.reader(io.StringIO(text)) for value in row]
        assert 'a "quoted", name' in cells
        assert "'=1+1" in cells
        assert not any(value.startswith(("=", "+", "@", "\t")) for value in cells)
        assert "'-2" in cells or all(value != "-2" for value in cells)


def test_the_command_is_shown_and_copied(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["80 classes"]
    page = open_page(path)
    names = list(evaluation.matches.categories.names)
    score = page.locator("#score").get_attribute("data-score")

    def words() -> list[str]:
        text = page.locator("dialog.command-panel textarea").input_value()
        return shlex.split(text)

    page.get_by_role("button", name="Most confused").click()
    cell(page, names.index("dining table"), len(names)).click()
    page.locator("#cell-images .command-button").click()
    command = words()
    assert command[:2] == ["ioukit", "view"]
    assert [Path(word).name for word in command[2:4]] == ["ground_truth.json", "yolact.json"]
    assert command[4:] == [
        *("--filter", "true=dining table", "--filter", "predicted=background"),
        *("--filter", f"at_score={score}", "--filter", "at_iou=0.5"),
    ]
    page.locator("dialog.command-panel button", has_text="Copy").click()
    said = page.locator("dialog.command-panel [role=status]")
    said.filter(has_text="cop").wait_for()
    assert serious_violations(page) == []
    page.keyboard.press("Escape")
    page.locator("#class").select_option("1")
    page.locator("#command-fp .command-button").press("Enter")
    assert words()[4:8] == ["--filter", "class=person", "--filter", "outcome=fp"]
    page.keyboard.press("Escape")
    page.locator('#error-table tr[data-kind="localisation"] button').click()
    page.locator("#error-images .command-button").click()
    assert "error=localization" in words()


def test_data_from_memory_have_no_command(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["three classes"][1])
    cell(page, 0, 0).click()
    assert page.locator(".command-button").count() == 0


def test_odd_names_are_quoted_for_a_shell(open_page: OpenPage, tmp_path: Path) -> None:
    names = ["it's", "$(touch x)", "a b; c", "`id`", "double", "double", "background"]
    write_report(attacked(tmp_path, names), tmp_path / "report.html", score_threshold=0.0)
    page = open_page(tmp_path / "report.html")
    page.locator("#gallery-class").evaluate("select => select.scrollIntoView()")
    expected = {0: "it's", 1: "$(touch x)", 2: "a b; c", 3: "`id`", 4: "id:5", 5: "id:6", 6: "id:7"}
    for at, name in expected.items():
        page.locator("#gallery-class").select_option(str(at))
        page.locator("#gallery-command .command-button").click()
        command = shlex.split(page.locator("dialog.command-panel textarea").input_value())
        assert f"class={name}" in command
        assert Path(command[2]).exists()
        assert Path(command[3]).exists()
        page.keyboard.press("Escape")


def test_boxes_on_photographs_have_the_colours_of_the_legend(open_page: OpenPage, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    evaluation = photographed()
    assert evaluation.ground_truth is not None
    for name, (width, height) in zip(
        evaluation.ground_truth.images.names, evaluation.ground_truth.images.sizes.astype(int).tolist(), strict=True
    ):
        image_module.new("RGB", (width, height), "teal").save(tmp_path / name)
    write_report(evaluation, tmp_path / "report.html", tmp_path)
    stroke = "element => getComputedStyle(element).stroke"
    for dark in (False, True):
        page = open_page(tmp_path / "report.html", dark=dark)
        for kind in ("tp", "fp", "fn", "gt", "ignored"):
            key = page.locator(f"#overlays .key.k-{kind} .box")
            if key.count():
                drawn = page.locator(f"#gallery .photo .k-{kind} .box").first
                assert drawn.evaluate(stroke) == key.evaluate(stroke), kind


def test_words_about_keys_are_not_on_touch(open_page: OpenPage, written: Written) -> None:
    for touch in (False, True):
        page = open_page(written["three classes"][1], touch=touch, width=390)
        coarse = page.evaluate("() => matchMedia('(hover: none) and (pointer: coarse)').matches")
        assert page.locator("#matrix-help .with-keys").is_visible() != coarse
        if touch and not coarse:
            pytest.skip("this browser does not say that it has no mouse")


def test_a_list_has_the_words_about_every_region(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    best = score_curves(evaluation.matches).overall.best.score
    page = open_page(path)
    page.locator("#gallery button").first.click()
    page.locator("#viewer-list summary").click()
    page.locator("#viewer-list li").first.wait_for()  # it is filled when the browser tells that it is open
    lines = page.locator("#viewer-list li").all_inner_texts()
    results = evaluation.per_image(score_threshold=best)
    at = results.worst(1)[0]
    assert sum("false positive" in line for line in lines) == results.false_positives[at]
    assert sum("true positive" in line for line in lines) == results.true_positives[at]
    assert sum("missed object" in line for line in lines) == results.false_negatives[at]
    assert all("IoU" in line for line in lines if "Detection" in line)
    assert serious_violations(page) == []


def test_without_scores_no_words_about_a_region_have_one(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["without scores"]
    page = open_page(path)
    assert page.locator("#gallery svg text").count()
    labels = page.locator("#gallery svg text").all_text_contents()
    assert not [label for label in labels if any(letter.isdigit() for letter in label)]
    page.locator("#gallery button").first.click()
    page.locator("#viewer-list summary").click()
    page.locator("#viewer-list li").first.wait_for()  # it is filled when the browser tells that it is open
    lines = page.locator("#viewer-list li").all_inner_texts()
    right = [line for line in lines if "true positive" in line]
    wrong = [line for line in lines if "false positive" in line]
    results = evaluation.per_image()
    worst = results.worst(1)[0]
    assert (len(right), len(wrong)) == (results.true_positives[worst], results.false_positives[worst])
    assert wrong
    assert not [line for line in lines if "score" in line]


def test_bars_and_sizes_have_commands(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["80 classes"][1])

    def filters() -> list[str]:
        words = shlex.split(page.locator("dialog.command-panel textarea").input_value())
        page.keyboard.press("Escape")
        return words[5::2]

    page.locator("#score-bins .column.c-tp").first.click()
    first = filters()
    assert first[0] == "outcome=tp"
    assert first[1].startswith("score=0.0")
    page.locator("#iou-bins .column.c-fp").nth(2).click()
    assert filters()[:2] == ["outcome=fp", "iou=0.15..0.2"]
    page.locator("#size-table .command-button").nth(1).click()
    assert filters()[:3] == ["area=small", "outcome=fp", "outcome=fn"]
