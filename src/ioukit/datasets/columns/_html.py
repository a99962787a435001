"""What a notebook shows of a data set: a caption, and a table of its first rows."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

FIRST_ROWS = slice(0, 5)
"""The rows that a notebook shows."""


def table(caption: str, columns: Mapping[str, Sequence[Any]], count: int) -> str:
    """An HTML table.

    Args:
        caption: The line above the table.
        columns: The shown rows of each column, by its title.
        count: How many rows the data set has.
    """
    titles = "".join(f"<th>{html.escape(title)}</th>" for title in columns)
    rows = list(zip(*columns.values(), strict=True))
    body = "".join(f"<tr>{''.join(f'<td>{_text(value)}</td>' for value in row)}</tr>" for row in rows)
    if len(rows) < count:
        body += f"<tr><td colspan='{len(columns)}'>and {count - len(rows):,} more</td></tr>"
    return (
        f"<table><caption>{html.escape(caption)}</caption><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    return html.escape(str(value).encode("utf-8", "replace").decode())  # a lone surrogate cannot be sent to a browser
