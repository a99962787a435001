"""What a notebook shows of a result: one HTML table, whatever the result is.

`Shown` is the base of all results, and `table_of` makes the table of all of them. A result says in
`Shown.notebook_rows` what its rows are; records of numbers, tables of columns and lists of records need not. Where a
result has names and ids, names are shown. All text is escaped.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any

MOST_ROWS = 30
"""Further rows of a table are counted."""
_LONGEST_CAPTION = 200
_LEFT = " style='text-align:left'"


class Shown:
    """A base of results that a notebook shows as a table."""

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The rows of the table, as records or as values by the titles of columns; and how many rows there are."""
        if hasattr(self, "rows"):
            return self[:MOST_ROWS].rows(), len(self)  # type: ignore[index, arg-type]
        if hasattr(self, "column_names"):
            columns = {name: getattr(self, name) for name in self.column_names()}
            plain = {name: one[:MOST_ROWS].tolist() for name, one in columns.items() if getattr(one, "ndim", 0) == 1}
            return [dict(zip(plain, row, strict=True)) for row in zip(*plain.values(), strict=True)], len(self)  # type: ignore[arg-type]
        if isinstance(self, Iterable):
            return self, len(self)  # type: ignore[arg-type]
        return [{"": name, "value": value} for name, value in values_of(self).items()], 0

    def notebook_caption(self) -> str:
        """The line above the table."""
        text = repr(self)
        name = type(self).__name__
        if len(text) > _LONGEST_CAPTION or " object at " in text:
            return name
        return f"{name}: {text[len(name) + 1 : -1]}" if text.startswith(f"{name}(") else text.strip("<>")

    def _repr_html_(self) -> str:
        return table_of(self.notebook_caption(), *self.notebook_rows())


def values_of(record: Any) -> Mapping[str, Any]:
    """The values of a record that fit into cells, by the titles of their columns."""
    if isinstance(record, Mapping):
        return record
    if hasattr(record, "to_row"):
        row: Mapping[str, Any] = record.to_row()
        return row
    if vars(type(record)).get("__str__") is not None:  # it has words of its own
        return {"found": str(record)}
    names = getattr(record, "_fields", None) or [field.name for field in dataclasses.fields(record)]
    cells: dict[str, Any] = {}
    for name in names:
        value = getattr(record, name)
        if name == "summary":
            cells |= value
        elif (value is None or isinstance(value, str | float | int)) and not name.startswith("_"):
            cells[name] = value
    named = cells.keys() & {"name", "category", "file_name"}
    return {name: value for name, value in cells.items() if not (named and name in ("id", "category_id", "image_id"))}


def table_of(caption: str, rows: Iterable[Any], count: int = 0) -> str:
    """An HTML table.

    Args:
        caption: The line above the table.
        rows: Records, or values by the titles of columns; those beyond `MOST_ROWS` are counted.
        count: How many rows there are.
    """
    shown = [values_of(row) for row in itertools.islice(rows, MOST_ROWS)]
    titles = list(dict.fromkeys(title for row in shown for title in row))
    texts = {title for row in shown for title, value in row.items() if isinstance(value, str)}
    head = "".join(f"<th{_LEFT * (title in texts)}>{_text(title.replace('_', ' '))}</th>" for title in titles)
    body = "".join(f"<tr>{''.join(_cell(title, row.get(title)) for title in titles)}</tr>" for row in shown)
    if len(shown) < count:
        body += f"<tr><td colspan='{len(titles)}'>and {count - len(shown):,} more</td></tr>"
    return f"<table><caption>{_text(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(title: str, value: Any) -> str:
    if isinstance(value, str):
        tag = "td" if title else "th"
        return f"<{tag}{_LEFT}>{_text(value)}</{tag}>"
    return f"<td>{'' if value is None else _text(value)}</td>"


def _text(value: Any) -> str:
    import html  # noqa: PLC0415 - for notebooks alone

    if isinstance(value, float):
        if math.isnan(value):
            return "undefined"
        if abs(value) >= 1 or value == 0:
            return f"{value:.6g}"
        return f"{value:.3f}" if abs(value) >= 0.001 else f"{value:.2g}"
    return html.escape(str(value).encode("utf-8", "replace").decode())  # a lone surrogate cannot be sent to a browser
