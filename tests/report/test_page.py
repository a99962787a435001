"""The page of a report: whole in itself, with nothing in it that its data brought."""

from __future__ import annotations

import base64
import datetime
import hashlib
import html
import html.parser
import json
import os
import re
import sys
from typing import TYPE_CHECKING

import pytest

from ioukit._output import printable
from ioukit.report import write_report
from ioukit.report.report_page import ReportPage, report_data
from ioukit.report.writer import check_report
from support.command import run_here
from support.paths import DEMO
from support.report_cases import ATTACKS, CASES, EXAMPLE, attacked, coco, drawn

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

NOON = datetime.datetime(2026, 11, 21, 12, tzinfo=datetime.timezone.utc)


class Elements(html.parser.HTMLParser):
    """The elements of a page, as a browser would find them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._inside, []).append(data)

    def handle_endtag(self, _: str) -> None:
        self._inside = ""


def shape(page: str) -> list[tuple[str, list[str]]]:
    """Elements with the names of their attributes, which no data may change."""
    return [(tag, sorted(attributes)) for tag, attributes in Elements(page).found]


@pytest.mark.parametrize("case", CASES)
def test_every_case_makes_a_page_that_loads_nothing(case: str) -> None:
    page = report_data(CASES[case](), created=NOON).html()
    elements = Elements(page)
    for tag, attributes in elements.found:
        assert tag not in ("link", "iframe", "object", "embed", "base", "form", "img"), tag
        for name, value in attributes.items():
            assert name != "style"
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "srcdoc", "action", "data"), name
            assert name != "href" or str(value).startswith("#")
    assert "@import" not in page
    assert "url(" not in page
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert "Detection report · 2026-11-21 12:00 UTC" in page


def test_the_policy_names_the_one_style_and_the_one_script() -> None:
    page = report_data(drawn(20, ["cat"])).html()
    (policy,) = (
        str(attributes["content"])
        for tag, attributes in Elements(page).found
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert "http" not in policy
    for kind in ("style", "script"):
        (text,) = re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy


def test_attacks_change_no_element_and_no_attribute(tmp_path: Path) -> None:
    """Only the texts differ from a page with names that are words."""
    gentle = [f"word {k}" for k in range(len(ATTACKS))]
    pages = [report_data(attacked(tmp_path, names), title=names[0]).html() for names in (ATTACKS, gentle)]
    assert shape(pages[0]) == shape(pages[1])
    assert "onerror" in pages[0]


def test_attacks_come_back_as_the_text_that_they_are(tmp_path: Path) -> None:
    page = report_data(attacked(tmp_path)).html()
    elements = Elements(page)
    buttons = "".join(elements.texts["button"])
    (text,) = re.findall(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert not set("<>&\u2028\u2029") & set(text)
    data = json.loads(text)
    for k, attack in enumerate(ATTACKS, 1):
        shown = printable(attack) or f"class {k}"
        assert data["classes"][k - 1] == data["names"][k - 1] == shown
        assert html.escape(shown, quote=False) in page.replace("&#39;", "'").replace("&#34;", '"')
        assert shown in buttons
    assert "49" not in buttons
    # What cannot be seen, and what would turn the text around, is spelled.
    assert "lone \\ud800 surrogate" in page
    assert "\\u202eright to left" in page
    assert not re.search("[\0\x07\x1b\u202e\u200f\ud800-\udfff]", page)
    assert page.encode("utf-8")


def test_the_same_evaluation_makes_the_same_page() -> None:
    first, second = (report_data(coco(), created=NOON).html() for _ in range(2))
    assert first == second


def test_a_report_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = coco()
    path = tmp_path / "report.html"
    path.write_text("an older one")

    def broken(_: object) -> str:
        raise RuntimeError("half way")

    monkeypatch.setattr(ReportPage, "html", broken)
    with pytest.raises(RuntimeError, match="half way"):
        write_report(evaluation, path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "an older one"
    monkeypatch.undo()
    write_report(evaluation, path, title="Mine", created=NOON)
    assert path.read_text("utf-8") == report_data(evaluation, title="Mine", created=NOON).html()
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


def test_an_input_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = attacked(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    for path in before:
        with pytest.raises(ValueError, match="is an input and would be overwritten"):
            write_report(evaluation, path)
    with pytest.raises(ValueError, match="is a folder, expected a file to write"):
        write_report(evaluation, tmp_path)
    with pytest.raises(ValueError, match="there is no folder"):
        write_report(evaluation, tmp_path / "no" / "report.html")
    with pytest.raises(ValueError, match="images must be a folder, got"):
        write_report(evaluation, tmp_path / "report.html", next(iter(before)))
    with monkeypatch.context() as patched:
        patched.setattr(os, "access", lambda *_: False)  # root may write anywhere
        with pytest.raises(ValueError, match=r"report.html: the folder .* does not let files be written"):
            write_report(evaluation, tmp_path / "report.html")
    photograph = tmp_path / "photograph.jpg"
    photograph.write_bytes(b"pixels")
    with pytest.raises(ValueError, match="is in the folder of the images and would be overwritten"):
        write_report(evaluation, photograph, tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == {**before, photograph: b"pixels"}


def test_a_file_of_an_input_folder_is_not_overwritten(tmp_path: Path) -> None:
    label, page = tmp_path / "1.xml", tmp_path / "page.html"
    for path in (label, page):
        path.write_bytes(b"")
    with pytest.raises(ValueError, match=r"1\.xml is in the input .* and would be overwritten"):
        check_report(label, [tmp_path], None)
    check_report(page, [tmp_path], None)  # a page is written again
    check_report(tmp_path / "2.xml", [tmp_path], None)


def test_without_jinja2_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ModuleNotFoundError, match=r"write_report needs jinja2: pip install 'ioukit\[report\]'"):
        write_report(drawn(5, ["a"]), tmp_path / "report.html")
    command = run_here("eval", EXAMPLE / "ground_truth.json", "missing.json", "--report", tmp_path / "report.html")
    assert (command.code, command.out) == (2, "")
    assert "Error: --report needs jinja2: pip install 'ioukit[report]'" in command.err
    assert list(tmp_path.iterdir()) == []


# ---- The command.

GT, DT = DEMO / "gt.json", DEMO / "a.json"


def test_the_command_writes_a_report_and_prints_its_tables_all_the_same(tmp_path: Path) -> None:
    plain = run_here("eval", GT, DT)
    command = run_here("eval", GT, DT, "--report", tmp_path / "report.html", "--images", tmp_path)
    assert (command.code, command.out) == (0, plain.out)
    assert f"wrote {tmp_path / 'report.html'}" in command.err
    page = (tmp_path / "report.html").read_text("utf-8")
    assert '<h1 class="name">a.json</h1>' in page
    assert "6 of 6 photographs are missing" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--images", "."], "--images needs --report"),
        (
            ["--report", "report.html", "--images", "nowhere"],
            "Invalid value for --images: expected a folder, got 'nowhere'",
        ),
        (["--report", str(GT)], "is an input and would be overwritten"),
        (["--report", "no/report.html"], "Invalid value for --report: no/report.html: there is no folder no"),
        (["--json", "a.html", "--report", "./a.html"], "a.html is the file of --json, too"),
    ],
)
def test_bad_use_of_the_command(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = run_here("eval", GT, DT, *arguments)
    assert (command.code, command.out) == (2, "")
    assert message in command.err
    assert list(tmp_path.iterdir()) == []


def test_sentences_that_were_wrong_stay_away() -> None:
    """Equal boxes that overlap by half have an IoU of 1/3, and not every class has objects."""
    page = report_data(coco()).html()
    text = " ".join(re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.DOTALL).split())
    assert "by half" not in text
    assert "the mean over 68 classes with objects (of 80)" in text
    assert "mean over 80" not in text
