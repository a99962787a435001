"""The text of each record of a JSON array, so that a record can be written as it was read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["record_texts", "with_score"]

_SPACE = " \t\n\r"
_scan = json.JSONDecoder(strict=False).raw_decode


def _skip(text: str, place: int) -> int:
    while text[place] in _SPACE:
        place += 1
    return place


def record_texts(text: str) -> Iterator[str]:
    """The text of every element of an array. The array must be valid JSON, which reading the file has checked."""
    place = _skip(text, 0) + 1  # after the bracket
    while True:
        place = _skip(text, place)
        if text[place] == "]":
            return
        _, end = _scan(text, place)
        yield text[place:end]
        place = _skip(text, end)
        if text[place] == ",":
            place += 1


def with_score(record: str, score: float) -> str:
    """The text of an object with another value of its ``score``, otherwise unchanged."""
    place = _skip(record, 0) + 1
    while True:
        place = _skip(record, place)
        key, place = _scan(record, place)
        start = _skip(record, _skip(record, place) + 1)  # after the colon
        _, end = _scan(record, start)
        if key == "score":
            return f"{record[:start]}{score!r}{record[end:]}"
        place = _skip(record, end) + 1  # after the comma
