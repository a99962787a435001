"""The values that the page of a report shows in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["column", "shown"]


def shown(page: Page) -> dict[str, str]:
    """The numbers at the operating point."""
    keys = ("precision", "recall", "f1", "tp", "fp", "fn")
    texts: list[str] = page.evaluate("keys => keys.map((key) => document.getElementById(`now-${key}`).innerText)", keys)
    return dict(zip(keys, texts, strict=True))


def column(page: Page, number: int) -> list[str]:
    """A column of the table of classes, only the visible rows."""
    cells = page.locator(f"#class-table tbody tr:not([hidden]) > :nth-child({number + 1})")
    return [text.strip() for text in cells.all_inner_texts()]
