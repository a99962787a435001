"""Text and tables in Markdown that show what the data says and nothing else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ioukit.report._names import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["escaped", "markdown_row", "markdown_table"]

_SIGNS = re.compile(r"[\\`*_{}\[\]()#+!|~<>&@$^=\u2028\u2029]|://|www\.|^-+|^\d+\.")
"""What a dialect of Markdown could take for more than text: in a line, in a cell of a table, or as a link."""


def escaped(text: str, otherwise: str = "") -> str:
    """Text of one line that Markdown shows as it is, without formats, links, HTML and cells of a table.

    Signs become HTML entities, which all dialects of Markdown read. An underscore gets a backslash instead, so that
    usual names stay readable in the source.
    """
    return _SIGNS.sub(lambda found: _entities(found[0]), shown(text.strip(), otherwise))


def _entities(found: str) -> str:
    return "\\_" if found == "_" else "".join(sign if sign.isalnum() else f"&#{ord(sign)};" for sign in found)


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    """A table; the columns at the positions `numbers` are aligned to the right."""
    right = set(numbers)
    line = [("---:" if at in right else "---") for at in range(len(head))]
    return "\n".join(map(markdown_row, [head, line, *rows]))


def markdown_row(cells: Sequence[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"
