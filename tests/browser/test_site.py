"""The check of the documentation's layout on a phone finds each fault, and none where there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from support.paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

    from support.browsing import OpenPage

LAYOUT = (ROOT / "docs" / "build" / "site" / "layout.js").read_text(encoding="utf-8")
WORD = "x" * 200
# The name at the end is what the check knows a figure by.
LARGE = "data:image/svg+xml,<svg xmlns=%22http://www.w3.org/2000/svg%22 width=%22900%22 height=%2290%22/>#large.svg"
BROKEN = "data:image/svg+xml,none#none.svg"
SHADOW = "background: linear-gradient(red, blue)"


@pytest.mark.parametrize(
    ("article", "faults"),
    [
        (
            f"<p>Short words that fit.</p><img src='{LARGE}' width='700' style='max-width: 100%'>",
            ["a figure is too small"],
        ),
        (f"<p>{WORD}</p>", ["the page scrolls sideways", "text is cut: <p>"]),
        (f"<div style='overflow-x: clip'><p>{WORD}</p></div>", ["text is cut: <p>"]),
        (f"<div style='overflow-x: hidden'><p>{WORD}</p></div>", ["text is cut: <p>"]),
        (f"<pre style='overflow-x: auto'>{WORD}</pre>", ["scrolls sideways without a shadow that shows it: <pre>"]),
        (f"<pre style='overflow-x: auto; {SHADOW}'>{WORD}</pre>", []),
        (f"<img src='{BROKEN}' alt='none'>", ["a picture is missing: data"]),
        (f"<div style='overflow-x: auto; {SHADOW}'><img src='{LARGE}'></div><p>Words.</p>", []),
    ],
)
def test_the_layout_of_a_page_on_a_phone(open_page: OpenPage, tmp_path: Path, article: str, faults: list[str]) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        f"<!doctype html><meta name='viewport' content='width=device-width'><article>{article}</article>",
        encoding="utf-8",
    )
    found = open_page(path, width=360).evaluate(LAYOUT)
    assert len(found) == len(faults), found
    for sentence, start in zip(found, faults, strict=True):
        assert sentence.startswith(start)
