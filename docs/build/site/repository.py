"""Lets pages of the site link to the whole repository as they do in it, by relative paths.

ARCHITECTURE.md, benchmarks/README.md and the like become pages of their own; other files that a page links to come
along as they are. ``<!-- section "Try it" of ../README.md -->`` gives way to that section: nothing is written twice.
"""

from __future__ import annotations

import os
import posixpath
import re
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[3]
PAGES = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "benchmarks/README.md": "project/benchmarks.md",
}
"""Files of the repository that are pages of the site."""
PLACES = {**PAGES, "README.md": "index.md"}
_SOURCES = {page: path for path, page in PAGES.items()}

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)(?=[)#])")
_SECTION = re.compile(r'^<!-- section "(.+)" of (\S+) -->$', re.MULTILINE)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that lie outside the folder of pages, and the files that pages link to."""
    for path, place in PAGES.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    pages = [*(f"docs/{file.src_uri}" for file in files.documentation_pages() if file.src_uri not in _SOURCES), *PLACES]
    for page in pages:
        for link in _LINK.findall(_prose((ROOT / page).read_text(encoding="utf-8"))):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link))
            place = _place(path)
            if path not in PLACES and (ROOT / path).is_file() and files.get_file_from_path(place) is None:
                files.append(File.generated(config, place, abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Put sections in their places, and lead links of the repository to where the site has their targets."""
    uri = page.file.src_uri
    source = _SOURCES.get(uri, f"docs/{uri}")
    settled = _relinked(markdown, source, uri)
    return _SECTION.sub(
        lambda mark: _section(mark[1], posixpath.join(posixpath.dirname(source), mark[2]), uri), settled
    )


def _place(path: str) -> str:
    """Where the site has what lies at a path of the repository."""
    if path in PLACES:
        return PLACES[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else f"repository/{path}"


def _prose(text: str) -> str:
    return _FENCE.sub("", text)


def _relinked(text: str, source: str, uri: str) -> str:
    def relinked(link: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), link[1]))
        return posixpath.relpath(_place(path), posixpath.dirname(uri) or ".")

    return _LINK.sub(relinked, text)


def _section(title: str, path: str, uri: str) -> str:
    """What stands below a heading of another file, up to the next of its rank, or of the second."""
    path = os.path.normpath(path)
    text = (ROOT / path).read_text(encoding="utf-8")
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^\1 |^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not found:
        raise PluginError(f"{uri}: {path} has no section {title!r}")
    return _relinked(found[2].strip(), path, uri)
