"""Writes the columns of result tables into docs/tables.md: `python docs/build/list_columns.py`."""

from __future__ import annotations

import re
from pathlib import Path

from ioukit.evaluation import TABLES, ResultColumn, ResultTable

PAGE = Path(__file__).parents[1] / "tables.md"

_LISTS = re.compile(r"(?<=<!-- columns -->\n).*?(?=<!-- end of columns -->)", re.DOTALL)


def section(table: ResultTable) -> str:
    lines = [f"### `{table.name}`", "", table.rows, "", "| Column | Type | Meaning |", "|---|---|---|"]
    return "\n".join([*lines, *map(_row, table.columns)]) + "\n"


def _row(column: ResultColumn) -> str:
    return f"| `{column.name}` | {type_of(column)} | {column.meaning} |"


def type_of(column: ResultColumn) -> str:
    """The type, with the unit and whether values may be missing: ``number, pixels, or missing``."""
    return ", ".join(
        [column.type, *([column.unit] if column.unit else []), *(["or missing"] if column.optional else [])]
    )


def page() -> str:
    lists = "\n" + "\n".join(map(section, TABLES.values())) + "\n"
    return _LISTS.sub(lambda _: lists, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
