"""An evaluation in Markdown: its numbers, and nothing that its data brought."""

from __future__ import annotations

import dataclasses
import html.parser
import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit._output import printable
from ioukit.evaluation import Requirement, check_requirements
from ioukit.report import markdown_summary
from ioukit.report.markdown import escaped
from support.evaluated_scenes import SCENES, coco, made
from support.report_cases import ATTACKS, attacked

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import Evaluation


class _Page(html.parser.HTMLParser):
    """The cells of all tables, the other text, and the elements with attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.elements: set[str] = set()
        self.text = ""
        self._in_cell = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        assert {name for name, _ in attrs} <= {"style"}, "from tables"
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.rows[-1][-1] += data


def rendered(text: str) -> list[_Page]:
    """The page that each renderer at hand makes of Markdown."""
    pages = []
    try:
        import markdown  # noqa: PLC0415 - may not be installed

        pages.append(_Page(markdown.markdown(text, extensions=["tables"])))
    except ModuleNotFoundError:
        pass
    try:
        from markdown_it import MarkdownIt  # noqa: PLC0415 - may not be installed

        pages.append(_Page(MarkdownIt("commonmark").enable("table").enable("strikethrough").render(text)))
    except ModuleNotFoundError:
        pass
    if not pages:
        pytest.skip("needs a renderer: pip install markdown markdown-it-py")
    return pages


@pytest.mark.parametrize("name", SCENES)
def test_the_tables_have_the_numbers(name: str) -> None:
    evaluation = SCENES[name]()
    for page in rendered(evaluation.to_markdown(worst=1000)):
        values = {row[0]: row[1] for row in page.rows if len(row) == 5}
        for key, value in evaluation.summary.items():
            assert values[key] == ("\N{EN DASH}" if value != value else f"{value:.3f}")  # noqa: PLR0124 - NaN
        head, *classes = [row for row in page.rows if len(row) == 7] or [[]]
        defined = [one for one in evaluation.per_class if one.summary["AP"] == one.summary["AP"]]
        if len(evaluation.per_class) < 2 or not defined:
            assert not head
            continue
        assert head == ["Class", "AP", "AP50", "AP75", "AR100", "Objects", "Detections"]
        assert len(classes) == len(defined)
        numbers = [float(row[1]) for row in classes]
        assert numbers == sorted(numbers)
        assert page.elements <= {"h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "ul", "li"}


def test_the_worst_come_first() -> None:
    evaluation = coco()
    text = markdown_summary(evaluation, worst=3, title="a *title*")
    assert text.startswith("### a &#42;title&#42;\n\n100 images, 80 classes, 745 objects, 3,380 detections\n")
    assert "**The worst 3 of 68 classes with objects**" in text
    ranked = sorted((one.summary["AP"], one.id, one.name) for one in evaluation.per_class if one.num_ground_truth)
    rows = re.findall(r"^\| ([a-z ]+) \| 0\.", text, re.MULTILINE)
    assert rows == [name for _, _, name in ranked[:3]]
    assert "classes with objects" not in markdown_summary(evaluation, worst=0)
    with pytest.raises(ValueError, match="worst must not be negative, got -1"):
        markdown_summary(evaluation, worst=-1)


def test_requirements_have_a_table_of_their_own() -> None:
    evaluation = made()
    results = check_requirements(evaluation, [Requirement("AP", 0.01), Requirement("AP50/dog", 0.99)])
    for page in rendered(markdown_summary(evaluation, requirements=results)):
        assert page.rows[:3] == [
            ["Check", "Metric", "Value", "Required"],
            ["passed", "AP", f"{evaluation.summary['AP']:.4f}", "at least 0.01"],
            ["failed", "AP50/dog", f"{evaluation.per_class['dog'].summary['AP50']:.4f}", "at least 0.99"],
        ]


def test_names_of_classes_stay_names(tmp_path: Path) -> None:
    evaluation = attacked(tmp_path)
    for page in rendered(markdown_summary(evaluation, worst=100)):
        shown = {row[0] for row in page.rows if len(row) == 7} - {"Class"}
        assert shown == {printable(name).strip() or f"class {len(ATTACKS)}" for name in ATTACKS}
        assert not page.elements & {"a", "img", "script", "svg", "em", "code", "style", "b"}


@given(st.text("|*_`<>[]()#+-.!~:/\\ &;@$^={}aw1\"'\n\t狗", min_size=1, max_size=12))
def test_any_name_is_shown_as_it_is(name: str) -> None:
    expected = printable(name.strip()).strip()
    for page in rendered(f"| A | B |\n| --- | --- |\n| {escaped(name, 'none')} | 1 |\n"):
        assert page.rows == [["A", "B"], [expected or "none", "1"]]
    if expected:
        for page in rendered(f"### {escaped(name)}\n"):
            assert page.text.strip() == expected


def test_the_text_stays_below_what_github_takes() -> None:
    evaluation = made([f"{'|' * 190}{k}" for k in range(3000)], images=2000)
    text = markdown_summary(evaluation, worst=10**6)
    assert 400_000 < len(text.encode()) <= 512 * 1024
    shown = text.count("&#124;" * 100)
    assert f"**The worst {shown:,} of " in text


def test_notes_are_listed() -> None:
    notes = [f"note {k} with a | and <b>" for k in range(60)]
    evaluation: Evaluation = dataclasses.replace(made(), notes_on_reading=tuple(notes), dropped=3)
    text = evaluation.to_markdown()
    assert "- note 0 with a &#124; and &#60;b&#62;\n" in text
    assert text.endswith("- note 49 with a &#124; and &#60;b&#62;\n- and 10 more notes\n")
    assert ", 3 invalid records left out\n" in text
