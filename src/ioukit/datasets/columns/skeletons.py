"""The skeletons of categories: which keypoints are joined by a line when they are drawn."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit import _core

SKELETON = "skeleton"
"""The attribute of categories with their skeletons, (K, E, 2): the numbers of the keypoints at both ends of each edge.
As in COCO's files the first keypoint has the number 1; edges of two zeros fill the rows of shorter skeletons."""

_LIST = re.compile(rb'"categories"\s*:\s*\[')
_LONGEST = 1 << 24  # bytes; a longer list of categories is not read
_NEAR = 1 << 18  # bytes of the end and of the beginning of a file
_AT_ONCE = 1 << 26  # bytes of a file that are searched at once


def skeletons(records: Sequence[Any]) -> dict[str, npt.NDArray[np.int64]]:
    """The attribute ``skeleton`` of categories with these records; empty if none of them has one.

    A skeleton is only drawn. So one that is not a list of pairs of numbers is left out, and is no error.
    """
    edges = [_edges(record.get(SKELETON)) if isinstance(record, Mapping) else [] for record in records]
    longest = max(map(len, edges), default=0)
    if not longest:
        return {}
    padded = [[*pairs, *[(0, 0)] * (longest - len(pairs))] for pairs in edges]
    return {SKELETON: np.array(padded, np.int64).reshape(len(records), longest, 2)}


def _edges(value: Any) -> list[tuple[int, int]]:
    if not isinstance(value, list | tuple | np.ndarray):
        return []
    pairs = [tuple(pair) if isinstance(pair, list | tuple | np.ndarray) else () for pair in value]
    good = all(
        len(pair) == 2 and all(isinstance(end, int | np.integer) and 0 < end < 2**31 for end in pair) for pair in pairs
    )
    return [(int(first), int(last)) for first, last in pairs] if good else []


def skeletons_in_file(path: str, ids: Iterable[int]) -> dict[str, npt.NDArray[np.int64]]:
    """The attribute ``skeleton`` of the categories with these ids, in this order, from a COCO file."""
    return skeletons(category_records(path, ids))


def category_records(path: str, ids: Iterable[int]) -> list[Mapping[str, Any]]:
    """The records of the categories with these ids, in this order, from a COCO file.

    The file is searched for the list of the categories, near its end and near its beginning first. The result is empty
    for pipes, which can be read once.
    """
    if not os.path.isfile(path):
        return []
    wanted = list(ids)
    for text in _windows(path):
        for place in _LIST.finditer(text):
            by_id = _records(text, place.end() - 1)
            if by_id.keys() >= set(wanted):
                return [by_id[number] for number in wanted]
    return []


def _windows(path: str) -> Iterator[bytes]:
    """Parts of the text of a file in which the list may be: its end, its beginning, then all of it.

    They are read and not mapped: a process that reads a mapped file which another one makes shorter is killed.
    """
    if path.lower().endswith(".gz"):
        yield _core.read_text(path)
        return
    with open(path, "rb") as file:
        size = file.seek(0, io.SEEK_END)
        spans = [(max(size - _NEAR, 0), _NEAR), (0, _NEAR)]
        # Each overlaps the next one by a whole list.
        spans += [(start, _AT_ONCE + _LONGEST) for start in range(0, size, _AT_ONCE)]
        for start, length in spans:
            file.seek(start)
            yield file.read(length)


def _records(text: bytes, start: int) -> dict[int, Mapping[str, Any]]:
    """The records of the list that begins there, by id; empty if there is no such list."""
    length = 1 << 16
    while True:
        part = text[start : start + length].decode("utf-8", "replace")
        try:
            listed, _ = json.JSONDecoder().raw_decode(part)
        except (ValueError, RecursionError):
            if start + length >= len(text) or length >= _LONGEST:
                return {}
            length *= 4
            continue
        records = [record for record in listed if isinstance(record, Mapping)]
        return {record["id"]: record for record in records if isinstance(record.get("id"), int)}
