"""Puts pages that `ioukit` writes about the files of `ioukit demo` into the site, in the places of their pictures.

``<!-- report of the demo -->`` before a picture gives way, with the picture, to a frame that holds the page. The pages
are made while the site is built; the repository, where nothing is built, shows the pictures.
"""

from __future__ import annotations

import importlib.resources
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File

import ioukit

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

PLACE = "demo/{}.html"
_MARK = re.compile(r"^<!-- (\w+) of the demo -->\n!\[([^]]+)\]\([^)]+\)$", re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    demo = importlib.resources.files("ioukit.cli") / "demo_files"
    with importlib.resources.as_file(demo) as data, tempfile.TemporaryDirectory() as folder:
        a, b = (ioukit.evaluate(data / "gt.json", data / f"{model}.json") for model in "ab")
        written = {name: Path(folder) / f"{name}.html" for name in ("report", "comparison")}
        a.report(written["report"], data / "photos")
        ioukit.report.write_comparison(a.compare(b), written["comparison"], images=data / "photos")
        for name, page in written.items():
            # From the disk, a frame is of another origin and may not ask for the focus: Chromium warns.
            content = page.read_text(encoding="utf-8").replace('" autofocus>', '">')
            files.append(File.generated(config, PLACE.format(name), content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Put frames in the places of marked pictures."""
    return _MARK.sub(_frame, markdown)


def _frame(mark: re.Match[str]) -> str:
    place, title = PLACE.format(mark[1]), " ".join(mark[2].split())
    return f'<iframe class="page" src="{place}" title="{title}" loading="lazy"></iframe>\n\n[Open it alone]({place})'
