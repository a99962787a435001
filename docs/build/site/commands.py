"""Writes the help of every command where a page says ``<!-- help of the commands -->``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ioukit.cli._app import app_of
from ioukit.cli._command import ALL

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page

MARK = "<!-- help of the commands -->"


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:  # noqa: ARG001
    """Put what ``--help`` prints in the place of the mark."""
    return markdown.replace(MARK, _help()) if MARK in markdown else markdown


def _help() -> str:
    group = typer.main.get_group(app_of())
    parent = group.make_context("ioukit", [], resilient_parsing=True)
    names = group.list_commands(parent)
    sections = []
    for name in names:
        command = group.get_command(parent, name)
        context = command.make_context(name, [], parent, resilient_parsing=True, terminal_width=100)
        context.meta[ALL] = True
        sections.append(f"## ioukit {name}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(sections)
