"""What PyArrow says of a file: the kinds of its columns, and its errors in our words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from ioukit._optional import import_extra
from ioukit.errors import DatasetError

__all__ = ["check_same_kinds", "kinds_of", "reading_arrow"]


def kinds_of(schema: Any) -> dict[str, str]:
    """The kind of each column, by name: ``integers``, ``numbers``, ``text``, ``lists``, or the name of the type."""
    return {field.name: _kind(field.type) for field in schema}


def _kind(kind: Any) -> str:
    types = import_extra("pyarrow.types", extra="tables", needed_by="reading Parquet and Arrow files")
    if types.is_dictionary(kind):
        return _kind(kind.value_type)
    tests = {
        "integers": types.is_integer,
        "numbers": types.is_floating,
        "text": lambda one: types.is_string(one) or types.is_large_string(one),
        "lists": lambda one: types.is_list(one) or types.is_large_list(one) or types.is_fixed_size_list(one),
    }
    return next((name for name, test in tests.items() if test(kind)), str(kind))


def check_same_kinds(path: str, first: str, kinds: Mapping[str, str | None], expected: Mapping[str, str]) -> None:
    """Refuse a file that lacks a column of the first file, or has another kind of values in it."""
    for name, kind in kinds.items():
        if kind != expected[name]:
            found = "no such column" if kind is None else f"one of {kind}"
            raise DatasetError(
                f"{path}: expected a column {name} of {expected[name]}, as {first} has it, found {found}"
            )


@contextlib.contextmanager
def reading_arrow(place: str, expected: str) -> Iterator[None]:
    """Word the errors of PyArrow: what was expected at a place."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading Parquet and Arrow files")
    try:
        yield
    except DatasetError:
        raise
    except (arrow.ArrowException, OSError, ValueError, NotImplementedError) as error:
        text = (str(error).splitlines() or ["nothing"])[0][:200]
        raise DatasetError(f"{place}: expected {expected}, found something else: {text}") from None
