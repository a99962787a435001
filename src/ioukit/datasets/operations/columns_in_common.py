"""Tables of several data sets that get the same columns, so that their rows can be put together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.id_lists import IdLists
from ioukit.datasets.columns.images import Images
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.lazy import Segmentations
from ioukit.datasets.columns.skeletons import SKELETON

Data = TypeVar("Data", GroundTruth, Detections)


def in_common(parts: Sequence[Data]) -> tuple[list[Data], list[str]]:
    """The tables with the same regions and attributes, and notes about columns that were left out."""
    notes: list[str] = []
    attributes = filled_attributes([(part.attributes, len(part)) for part in parts], "attribute {}", notes)
    regions = _regions(parts, notes)
    made = [
        dataclasses.replace(part, attributes=own, regions=kinds)
        for part, own, kinds in zip(parts, attributes, regions, strict=True)
    ]
    return made, notes


def images_in_common(images: Sequence[Images]) -> tuple[list[Images], list[str]]:
    """The lists of images with the same attributes, and notes about those that were left out."""
    notes: list[str] = []
    columns = filled_attributes([(one.attributes, len(one)) for one in images], "attribute {} of the images", notes)
    return [dataclasses.replace(one, attributes=own) for one, own in zip(images, columns, strict=True)], notes


def filled_attributes(
    tables: Sequence[tuple[Mapping[str, Any], int]], words: str, notes: list[str]
) -> list[dict[str, Any]]:
    """The attributes of several tables, given with their numbers of rows, so that each has the same ones.

    A column that a table lacks is filled with NaN, empty text or empty lists. Columns that cannot be filled, or that
    are of different kinds, are left out, with a note.
    """
    made: list[dict[str, Any]] = [{} for _ in tables]
    for name in _names(attributes for attributes, _ in tables):
        columns = [(attributes.get(name), count) for attributes, count in tables]
        if name == SKELETON:
            columns = _as_long(columns)
        filled = _filled(columns)
        if filled is None:
            notes.append(f"{words.format(name)} is left out: it is not in all data sets, or not of one kind")
            continue
        for own, column in zip(made, filled, strict=True):
            own[name] = column
    return made


def _names(mappings: Iterable[Mapping[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for mapping in mappings for name in mapping))


def _as_long(columns: Sequence[tuple[Any, int]]) -> list[tuple[Any, int]]:
    """Skeletons of as many edges: edges of two zeros fill the rows of shorter ones."""
    longest = max(column.shape[1] for column, _ in columns if column is not None)
    made = []
    for column, count in columns:
        padded = np.zeros((count, longest, 2), np.int64)
        if column is not None:
            padded[:, : column.shape[1]] = column
        made.append((padded, count))
    return made


def _filled(columns: Sequence[tuple[Any, int]]) -> list[Any] | None:
    there = [column for column, count in columns if column is not None and count]
    if not there:
        return [column for column, _ in columns] if all(column is not None for column, _ in columns) else None
    lists = {isinstance(column, IdLists) for column in there}
    if len(lists) > 1:
        return None
    if lists == {True}:
        return [IdLists.of([[]] * count) if column is None else column for column, count in columns]
    kinds = {column.dtype.kind for column in there}
    shapes = {column.shape[1:] for column in there}
    if len(shapes) > 1 or (len(kinds) > 1 and kinds & {"U", "b"}):
        return None
    (shape,) = shapes
    lacking = any(column is None and count for column, count in columns)
    if lacking and not kinds <= {"U", "f"}:
        return None
    blank, kind = ("", "U1") if "U" in kinds else (np.nan, "f8")
    return [
        np.full((count, *shape), blank, kind) if column is None or not count else column for column, count in columns
    ]


def _regions(parts: Sequence[Data], notes: list[str]) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = [{} for _ in parts]
    for kind in _names(part.regions for part in parts):
        columns = [part.regions.get(kind) for part in parts]
        if kind == SEGMENTATIONS:
            columns = _segmentations(columns, parts)
        elif kind == KEYPOINTS:
            columns = _keypoints(columns, parts)
        elif any(column is None and len(part) for column, part in zip(columns, parts, strict=True)):
            columns = []
        if not columns:
            notes.append(f"{kind} are left out: they are not in all data sets, or not of one kind")
            continue
        for own, column in zip(made, columns, strict=True):
            if column is not None:
                own[kind] = column
    return made


def _segmentations(columns: Sequence[Any], parts: Sequence[Data]) -> list[Any]:
    in_files = all(column is None or isinstance(column, Segmentations) for column in columns)
    blank: Any = Segmentations.empty if in_files else lambda count: [None] * count
    return [blank(len(part)) if column is None else column for column, part in zip(columns, parts, strict=True)]


def _keypoints(columns: Sequence[Any], parts: Sequence[Data]) -> list[Any]:
    """The keypoints of all parts, decoded; none if their numbers differ."""
    array = "annotations" if isinstance(parts[0], GroundTruth) else "detections"
    decoded: list[Any] = []
    for column, part in zip(columns, parts, strict=True):
        decoded.append(None if column is None else decode_keypoints(column, source=part.source, array=array))
    points = {column.shape[1] for column in decoded if column is not None and len(column)}
    if len(points) > 1:
        return []
    count = points.pop() if points else 0
    return [
        np.full((len(part), count, 3), np.nan) if column is None else column
        for column, part in zip(decoded, parts, strict=True)
    ]
