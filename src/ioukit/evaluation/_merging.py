"""The sum of match tables: rows are grouped by image, in time proportional to the number of rows.

Owns where each row of each table goes, and the categories of a union. Does not own which tables may be added
(``MatchTable.merge`` checks that). Cut here because only sums need it, and a first evaluation should not load it.

The rows of one image come from one table and are contiguous there. So the sum needs no sort of rows: images are sorted,
and each run of rows is moved as a whole. Rows of an image keep their order, so the sum has the bits of the table of all
images.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Positions


def merged_fields(tables: Sequence[Any], *, keep_first: bool) -> dict[str, Any]:
    """The fields of the sum of match tables that can be added.

    Args:
        tables: At least two tables.
        keep_first: Whether an image that is in several tables is taken from the first of them. If not, it is an error.

    Raises:
        ValueError: If an image is in two tables and ``keep_first`` is false, or if the image ids of some tables are
            strings and those of others integers.
    """
    images = _images([table.image_ids for table in tables])
    again = np.flatnonzero(~images.kept)
    if len(again) and not keep_first:
        place = images.place[again[0]]
        first, second = np.searchsorted(images.starts, np.flatnonzero(images.place == place)[:2], side="right") - 1
        raise ValueError(
            f"image {images.ids[place]} is in two tables, at positions {first} and {second} of {len(tables)}; match "
            "each image once, or keep the first with duplicates='first'"
        )
    first = tables[0]
    detections = _RowOrder(images, [table.detections.image for table in tables])
    objects = _RowOrder(images, [table.objects.image for table in tables])
    counts = np.zeros(len(images.ids), np.int64)
    counts[images.place[images.kept]] = np.concatenate([table.image_detections for table in tables])[images.kept]

    def pairs(name: str) -> Any:
        parts = [getattr(table, name) for table in tables]
        image = [table.detections.image[part.detection] for table, part in zip(tables, parts, strict=True)]
        order = _RowOrder(images, image)
        columns = {column: [getattr(part, column) for part in parts] for column in parts[0].column_names()}
        columns["detection"] = detections.new_rows(columns["detection"])
        columns["object"] = objects.new_rows(columns["object"])
        return dataclasses.replace(parts[0], **{column: order.column(each) for column, each in columns.items()})

    return {
        "protocol": first.protocol,
        "iou_type": first.iou_type,
        "categories": first.categories,
        "image_ids": images.ids,
        "image_detections": counts,
        "detections": _rows([table.detections for table in tables], detections, [t.sources[1] for t in tables]),
        "objects": _rows([table.objects for table in tables], objects, [t.sources[0] for t in tables]),
        "pairs": pairs("pairs"),
        "near": None if first.near is None else pairs("near"),
        "sources": (sum(table.sources[0] for table in tables), sum(table.sources[1] for table in tables)),
        "repeated_images": sum(table.repeated_images for table in tables) + len(again),
    }


def with_all_categories(tables: Sequence[Any]) -> list[Any]:
    """The tables, each with the categories of all of them.

    Rows keep their order, because categories are sorted by id in every table.

    Raises:
        ValueError: If one category has two names, or its attributes differ.
    """
    listed = list({id(table.categories): table.categories for table in tables}.values())
    if len(listed) == 1:
        return list(tables)
    union = _union(listed)
    changed = []
    for table in tables:
        place = np.searchsorted(union.ids, table.categories.ids).astype(np.uint32)
        sides = (table.detections, table.objects)
        if np.array_equal(place, np.arange(len(union))):
            rows = sides
        else:
            rows = tuple(dataclasses.replace(side, category=place[side.category]) for side in sides)
        changed.append(dataclasses.replace(table, categories=union, detections=rows[0], objects=rows[1]))
    return changed


def _union(listed: Sequence[Any]) -> Any:
    """The categories of several lists, each once, sorted by id."""
    columns = {name: np.concatenate([one.attributes[name] for one in listed]) for name in _common_attributes(listed)}
    ids = np.concatenate([one.ids for one in listed])
    names = [name for one in listed for name in one.names]
    named: dict[int, int] = {}
    for row, (number, name) in enumerate(zip(ids.tolist(), names, strict=True)):
        if (first := named.setdefault(number, row)) == row:
            continue
        if names[first] == str(number):
            named[number] = row
        elif name not in (names[first], str(number)):
            raise ValueError(
                f"tables of different categories do not add up: {number} is {names[first]!r} in one and {name!r} in "
                "another"
            )
        for key, column in columns.items():
            if not np.array_equal(column[first], column[row]):
                raise ValueError(f"tables of different categories do not add up: the {key} of {number} differs")
    rows = np.array([named[number] for number in sorted(named)], np.intp)
    attributes = {key: column[rows] for key, column in columns.items()}
    return dataclasses.replace(listed[0], ids=ids[rows], names=tuple(names[row] for row in rows), attributes=attributes)


def _common_attributes(listed: Sequence[Any]) -> list[str]:
    """The attributes that all lists have."""
    return [name for name in listed[0].attributes if all(name in one.attributes for one in listed)]


def _rows(parts: Sequence[Any], order: _RowOrder, sources: Sequence[int]) -> Any:
    """The detections or the objects of a sum; ``sources`` are the numbers of rows in the data of each table."""
    shifts = np.cumsum([0, *sources[:-1]]).tolist()
    names = [name for name in parts[0].column_names() if getattr(parts[0], name) is not None]
    columns = {name: order.column([getattr(part, name) for part in parts]) for name in names}
    columns["row"] = order.column([part.row + shift for part, shift in zip(parts, shifts, strict=True)])
    columns["image"] = order.image[order.order].astype(np.uint32)
    return dataclasses.replace(parts[0], **columns)


class _Images(NamedTuple):
    """The images of several tables."""

    ids: npt.NDArray[Any]
    """(I,) ids, each once, in ascending order."""
    place: Positions
    """(J,) position in ``ids`` of every image of every table, one table after another."""
    kept: npt.NDArray[np.bool_]
    """(J,) whether the image is the first with its id."""
    starts: Positions
    """(tables + 1,) where the images of each table begin among the J, and where those of the last table end."""


def _images(ids: Sequence[npt.NDArray[Any]]) -> _Images:
    """The images of several tables, given the ids of each.

    Raises:
        ValueError: If the image ids of some tables are strings and those of others integers.
    """
    if len({each.dtype.kind for each in ids if len(each)}) > 1:
        raise ValueError("image ids of some tables are strings, those of others are integers")
    starts = _starts(ids)
    every = np.concatenate([each for each in ids if len(each)] or ids[:1])
    unique, first, place = np.unique(every, return_index=True, return_inverse=True)
    kept = np.zeros(len(every), np.bool_)
    kept[first] = True
    return _Images(unique, place.astype(np.int64), kept, starts)


class _RowOrder:
    """The places of the rows of several tables in their sum: by image, and within an image in the order of the table.

    The rows of each table are sorted by image.
    """

    def __init__(self, images: _Images, image: Sequence[npt.NDArray[Any]]) -> None:
        """Take the images, and for each table the position of the image of each row."""
        self.starts = _starts(image)
        """(tables + 1,) where the rows of each table begin among those of all."""
        counts = np.diff(self.starts)
        of_all = np.concatenate([each.astype(np.int64) for each in image]) + np.repeat(images.starts[:-1], counts)
        place = images.place[of_all]
        kept = images.kept[of_all]
        self.kept: Positions | None = None if kept.all() else np.flatnonzero(kept)
        """(N,) positions of the rows that are kept, among the rows of all tables; ``None`` if all are kept."""
        self.image = place if self.kept is None else place[self.kept]
        """(N,) position of the image of each kept row, in the old order."""
        self.order = _by_image(self.image, len(images.ids))
        """(N,) for each row of the sum, its position among the kept rows."""
        new = np.empty_like(self.order)
        new[self.order] = np.arange(len(self.order))
        self._new = new
        if self.kept is not None:
            self._new = np.full(len(of_all), -1)
            self._new[self.kept] = new

    def column(self, parts: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """A column of the sum, from the columns of the tables."""
        every: npt.NDArray[Any] = np.concatenate(parts)
        if self.kept is not None:
            every = every[self.kept]
        return every[self.order]

    def new_rows(self, parts: Sequence[npt.NDArray[np.int64]]) -> list[Positions]:
        """Rows of each table as rows of the sum; -1 for those that are not kept."""
        return [self._new[part + shift] for part, shift in zip(parts, self.starts[:-1].tolist(), strict=True)]


def _starts(parts: Sequence[npt.NDArray[Any]]) -> Positions:
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)


def _by_image(image: Positions, count: int) -> Positions:
    """The order that sorts rows by image. The rows of an image of one table are already contiguous."""
    if not len(image):
        return np.zeros(0, np.int64)
    first = np.flatnonzero(np.append(True, image[1:] != image[:-1]))
    sizes = np.diff(np.append(first, len(image)))
    start, size = np.zeros((2, count), np.int64)
    start[image[first]] = first
    size[image[first]] = sizes
    ends = np.cumsum(size)
    # Position k of the sum is as far from the start of its image as its source is.
    order: Positions = np.arange(len(image)) + np.repeat(start - (ends - size), size)
    return order
