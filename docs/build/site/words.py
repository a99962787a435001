"""Lets the search find pages by the words that people type, which are on the page searched.md and nowhere else.

The words of a line there become tags of the page, or of the section, that the line links to; so does the title of a
page in the navigation. Benchmarks and changes rank below all others: they name everything, and answer little. So does
the page whose title has "data sets", words of many questions. Public names that are plain words, such as `Evaluation`,
rank above pages that use the word.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.plugins import event_priority

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.nav import Navigation
    from mkdocs.structure.pages import Page

PAGE = Path(__file__).parents[2] / "searched.md"
RANKS = {
    re.compile("project/(benchmarks|changelog)"): 0.3,
    re.compile(r"suite\.html"): 0.5,
    re.compile(r"reference/\w+\.html#ioukit(\.[a-z_]+)*\.([A-Z][a-z]+|[A-Z]+)$"): 3,
}
_LINE = re.compile(r"^- ([^`]+?): \[[^]]+\]\((\S+?)\.md(#\S+)?\)", re.MULTILINE)
_titles: dict[str, str] = {}


def words() -> dict[str, list[str]]:
    """What people type, by the address in the site that answers it."""
    found: dict[str, list[str]] = {}
    for line in _LINE.finditer(PAGE.read_text(encoding="utf-8")):
        found.setdefault(f"{line[2]}.html{line[3] or ''}", []).extend(" ".join(line[1].split()).split(", "))
    return found


def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Navigation) -> None:  # noqa: ARG001
    """Keep the title that the navigation has."""
    _titles[page.url] = str(page.title)


@event_priority(100)  # before the search writes its index
def on_post_build(config: MkDocsConfig) -> None:
    """Add the words to the index, and set ranks."""
    typed = words()
    for entry in config.plugins["material/search"].search_index.entries:
        place = entry["location"]
        title = _titles.get(place)
        entry["tags"] = [*typed.get(place, ()), *([title] if title and title != entry["title"] else ())]
        entry["boost"] = next((rank for start, rank in RANKS.items() if start.match(place)), 1)
