"""Objects from the rows of a table, and what is the same for detections: which columns and rows are good.

Owns: what the values of chosen columns mean, one column after the other, and which rows are refused. A row that is
refused stays until all columns are read, so that all of them keep one length; then the good rows are taken together.
Does not own: how values come from a file (`table_sources.py`) and which column has what (`table_columns.py`).
Detections are in a file of their own (`table_detections.py`) because tables of detections may be far larger: they
never become Python objects row by row, while ground truth does.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

import numpy as np

from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.compact_columns import CodedColumn, ListColumn
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.table_columns import IMAGE_ROLES, BoxLayout, choose_columns
from ioukit.datasets.formats.text_files import FARTHEST, abbreviate

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit._array_types import Flags, Floats, Ids
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.formats.table_sources import Table


KNOWN_FLAGS: Mapping[str, str] = {
    **{name: name for name in ("crowd", "difficult", "truncated", "occluded", "group_of", "ignore")},
    "iscrowd": "crowd",
    "is_crowd": "crowd",
    "is_group_of": "group_of",
}
"""Columns that are flags also if they have the numbers 0 and 1, by the name of the column."""


class Reading(NamedTuple):
    """How a table is read."""

    columns: Mapping[str, str | Sequence[str]] | None = None
    boxes: BoxLayout | None = None
    normalized: bool = False
    on_invalid: OnInvalid = "error"
    ids_are_numbers: bool | None = None
    """Whether image ids are integers; found by looking at all of them if ``None``."""
    classes_are_numbers: bool | None = None
    """Whether the classes of detections are ids; found by looking at all of them if ``None``."""
    attributes: bool = True
    """Whether columns without a role are read."""


class ChosenRows:
    """A table with its chosen columns, and which rows are good so far."""

    def __init__(self, table: Table, reading: Reading) -> None:
        self.table = table
        self.problems = Problems.of(reading.on_invalid)
        self.chosen = choose_columns(table.names, table.source, columns=reading.columns, boxes=reading.boxes)
        self.reading = reading
        self.good = np.ones(len(table), np.bool_)

    def refuse(
        self,
        wrong: npt.NDArray[np.bool_],
        name: str,
        expected: str,
        values: CodedColumn | None = None,
        meant: Mapping[int, str] | None = None,
    ) -> None:
        """Meet a problem for every row that is wrong, and mark it as not good. The value is shown.

        Args:
            wrong: (N,) which rows are wrong.
            name: The column.
            expected: What was expected.
            values: The values that are shown; those of the column if ``None``.
            meant: Ends of the messages about some of the rows, which say what may be meant.
        """
        if not wrong.any():
            return
        for row in np.flatnonzero(wrong & self.good).tolist():
            found = self.table.value(name, row) if values is None else abbreviate(values.values[values.codes[row]])
            end = "" if meant is None else meant.get(row, "")
            message = f"{self.table.where(row)}, {name}: expected {expected}, found {found}{end}"
            self.problems.meet(f"wrong {name}", message)
        self.good &= ~wrong

    def numbers(self, name: str, *, needed: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """A column of numbers; rows that need one and have none are refused, others get NaN."""
        values, fine = self.table.numbers(name)
        wrong = ~fine if needed is None else ~fine | (needed & np.isnan(values))
        self.refuse(wrong, name, "a number within 2**53")
        return np.where(wrong, np.nan, values) if wrong.any() else values

    def boxes(self, sizes: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """(N, 4) ``[x, y, width, height]`` in pixels, and (N,) whether a row has a box."""
        columns = self.chosen.box
        empty = np.all([self.table.is_missing(name) for name in columns], axis=0)
        if len(columns) == 1:
            values = self._listed(columns[0], empty)
        else:
            values = np.stack([self.numbers(name, needed=~empty) for name in columns], axis=1)
        first, second = values[:, :2], values[:, 2:]
        with_ends = self.chosen.layout == "xyxy"
        size = second - first if with_ends else second
        for axis, name in enumerate(columns[-2:] if len(columns) > 1 else columns * 2):
            with np.errstate(invalid="ignore"):
                wrong = size[:, axis] < 0
            least = f"at least {columns[axis]}" if with_ends and len(columns) > 1 else "a size of at least 0"
            self.refuse(wrong, name, least)
        low = first - size / 2 if self.chosen.layout == "cxcywh" else first
        if self.reading.normalized:
            unknown = ~empty & np.isnan(sizes).any(axis=1)
            self.refuse(unknown, columns[0], "a box in fractions of an image of known size")
            low, size = low * sizes, size * sizes
        return np.hstack([low, size]), ~empty & self.good

    def _listed(self, name: str, empty: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        """(N, 4) a column with four numbers per row: lists, or text such as ``[0, 1, 1, 2]``."""
        column = self.table.columns[name]
        if isinstance(column, ListColumn) and column.values.shape[1] == 4:
            wrong: npt.NDArray[np.bool_] = np.any(~(np.abs(column.values) <= FARTHEST), axis=1)
            self.refuse(wrong, name, "four numbers")
            return np.where(wrong[:, None], math.nan, column.values) if wrong.any() else column.values
        values = np.full((len(self.table), 4), math.nan)
        wrong = np.zeros(len(self.table), np.bool_)
        for row in np.flatnonzero(~empty).tolist():
            four = _four_numbers(self.table.columns[name][row])
            if four is None:
                wrong[row] = True
            else:
                values[row] = four
        self.refuse(wrong, name, "four numbers")
        return values

    def sizes(self) -> npt.NDArray[np.float64]:
        """(N, 2) width and height of the image of each row; NaN where it is not known."""
        sizes = np.full((len(self.table), 2), math.nan)
        for axis, role in enumerate(("image_width", "image_height")):
            if role in self.chosen.roles:
                name = self.chosen.roles[role]
                sizes[:, axis] = self.numbers(name)
                with np.errstate(invalid="ignore"):
                    self.refuse(sizes[:, axis] <= 0, name, "a size above 0")
        sizes[np.isnan(sizes).any(axis=1)] = math.nan
        return sizes

    def areas(self, *, needed: npt.NDArray[np.bool_] | None = None) -> npt.NDArray[np.float64]:
        """(N,) the column of areas, as :meth:`numbers`."""
        name = self.chosen.roles["area"]
        areas = self.numbers(name, needed=needed)
        with np.errstate(invalid="ignore"):
            self.refuse(areas < 0, name, "an area of at least 0")
        return areas

    def keys(self) -> tuple[str, npt.NDArray[np.int64] | CodedColumn]:
        """The column of the ids of images, and (N,) the ids: integers if all are whole numbers in ``image_id``."""
        roles = self.chosen.roles
        role = next((role for role in IMAGE_ROLES if role in roles), "frame")
        if role == "frame":
            return roles[role], self._frames()
        name = roles[role]
        column, whole = self.table.columns[name], role == "image_id" and self.reading.ids_are_numbers
        if role == "image_id" and whole is not False and _fit_int64(column):
            return name, column.astype(np.int64)
        texts = self.table.coded_texts(name)
        wrong = np.array([not text or "\0" in text for text in texts.values], np.bool_).reshape(len(texts.values))
        self.refuse(wrong[texts.codes], name, "the name of an image")
        if role != "image_id" or not (self.table.is_whole(name) if whole is None else whole):
            return name, texts
        numbers = np.array([int(text) if text else 0 for text in texts.values], np.int64)
        return name, numbers.reshape(len(texts.values))[texts.codes]

    def _frames(self) -> CodedColumn:
        """(N,) the ids of images that are frames: ``walk/7``, or ``7`` in a table without sequences."""
        roles = self.chosen.roles
        numbers, fine = self.table.numbers(roles["frame"])
        with np.errstate(invalid="ignore"):
            wrong = ~fine | ~(numbers >= 0) | (numbers != np.trunc(numbers))
        self.refuse(wrong, roles["frame"], "the number of a frame, a whole number of at least 0")
        frames, codes = np.unique(np.where(wrong, 0, numbers).astype(np.int64), return_inverse=True)
        if "sequence" not in roles:
            return CodedColumn(list(map(str, frames.tolist())), codes.reshape(-1))
        names = self.table.coded_texts(roles["sequence"])
        unnamed = np.array([not text or "\0" in text for text in names.values], np.bool_).reshape(len(names.values))
        self.refuse(unnamed[names.codes], roles["sequence"], "the name of a sequence")
        pairs, of_rows = np.unique(names.codes * len(frames) + codes.reshape(-1), return_inverse=True)
        values = [f"{names.values[pair // len(frames)]}/{frames[pair % len(frames)]}" for pair in pairs.tolist()]
        return CodedColumn(values, of_rows.reshape(-1))

    def further(self, kept: npt.NDArray[np.bool_]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Flags and attributes by name: the columns without a role, and that of the tracks."""
        flags, attributes = {}, {}
        named = {name: name for name in self.chosen.others}
        if "track" in self.chosen.roles:
            named["track_id"] = self.chosen.roles["track"]
        for name, of_table in named.items() if self.reading.attributes else ():
            kind, column = further_column(self.table, of_table)
            if kind == "flag":
                flags[KNOWN_FLAGS.get(name.lower(), name)] = column[kept]
            else:
                attributes[name] = column[kept]
        return flags, attributes


def further_column(table: Table, name: str) -> tuple[str, npt.NDArray[Any]]:
    """(N,) a column without a role: ``"flag"`` and booleans, ``"number"`` and numbers, or ``"text"`` and text.

    Rows without a value have false, NaN or ``""``.
    """
    column = table.columns[name]
    values, fine = table.numbers(name)
    if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" and name.lower() not in KNOWN_FLAGS:  # noqa: SIM102 - for types
        if fine.all() and not np.isnan(values).all():
            return "number", column
    texts = {text.lower() for text in table.coded_texts(name).values if text}
    if texts and (texts <= {"true", "false"} if table.all_text else _all_bools(table, name)):
        return "flag", np.array([str(value).lower() == "true" for value in column], np.bool_)
    if name.lower() in KNOWN_FLAGS and fine.all() and np.isin(values[~np.isnan(values)], (0, 1)).all():
        return "flag", values == 1
    listed = column.values if isinstance(column, CodedColumn) else column
    typed_text = not table.all_text and any(isinstance(value, str) for value in listed)
    if fine.all() and not typed_text and not np.isnan(values).all():
        return "number", column if isinstance(column, np.ndarray) and column.dtype.kind in "iuf" else values
    return "text", np.array(table.texts(name), np.str_)


def ground_truth_of_rows(table: Table, reading: Reading, *, categories: Mapping[str, int] | None = None) -> GroundTruth:
    """The objects of a table: one per row with a box. A row without a box lists an image.

    Args:
        table: The rows.
        reading: How they are read.
        categories: The ids of the classes by name, if they are known; classes without objects are listed, too.
    """
    rows = ChosenRows(table, reading)
    key, found = rows.keys()
    keys = found.tolist() if isinstance(found, np.ndarray) else list(found)
    with_key = rows.good.copy()
    sizes = rows.sizes()
    boxes, present = rows.boxes(sizes)
    ids, names = _classes(rows, present, categories)
    areas = boxes[:, 2] * boxes[:, 3]
    if "area" in rows.chosen.roles:
        given = rows.areas()
        areas = np.where(np.isnan(given), areas, given)
    listed, image_sizes, image_names = _images(rows, key, keys, sizes, with_key)
    kept = present & rows.good
    flags, attributes = rows.further(kept)
    further: dict[str, Any] = {}
    if "score" in rows.chosen.roles:
        attributes["score"] = rows.numbers(rows.chosen.roles["score"])[kept]
    if "id" in rows.chosen.roles:
        name = rows.chosen.roles["id"]
        if table.is_whole(name) and not table.is_missing(name)[kept].any():
            texts = table.texts(name)
            further["ids"] = np.array([int(texts[row]) for row in np.flatnonzero(kept)], np.int64)
        else:
            attributes[name] = np.array(table.texts(name), np.str_)[kept]
    kind = np.str_ if not keys or isinstance(keys[0], str) else np.int64
    gt = GroundTruth.from_arrays(
        image_ids=np.array([keys[row] for row in np.flatnonzero(kept)], kind),
        category_ids=ids[kept],
        boxes=boxes[kept],
        areas=areas[kept],
        images=np.array(listed, kind),
        sizes=image_sizes,
        names=image_names,
        categories=names,
        flags=flags,
        attributes=attributes,
        source=table.source,
        **further,
    )
    roles = rows.chosen.roles
    if categories is None and "category_id" not in roles and not table.is_whole(roles["category"]):
        gt = dataclasses.replace(gt, categories=dataclasses.replace(gt.categories, made_up_ids=True))
    return rows.problems.noted_in(gt)


def _fit_int64(column: Any) -> TypeGuard[npt.NDArray[Any]]:
    """Whether a column is an array of integers that a signed number of 64 bits can hold."""
    if not isinstance(column, np.ndarray) or column.dtype.kind not in "iu":
        return False
    return column.dtype != np.uint64 or not len(column) or bool(column.max() < 2**63)


def _four_numbers(value: Any) -> list[float] | None:
    if isinstance(value, str):
        words = re.split(r"[\s,;]+", value.strip().strip("[](){}").strip())
        value = words if all(word.isascii() and "_" not in word for word in words) else ()
    try:
        four = [float(one) for one in value]
    except (TypeError, ValueError, OverflowError):
        return None
    return four if len(four) == 4 and all(abs(one) <= FARTHEST for one in four) else None


def _all_bools(table: Table, name: str) -> bool:
    column = table.columns[name]
    if isinstance(column, np.ndarray):
        return bool(column.dtype.kind == "b")
    missing = table.is_missing(name).tolist()
    return all(none or isinstance(value, bool | np.bool_) for value, none in zip(column, missing, strict=True))


def _images(
    rows: ChosenRows, key: str, keys: Sequence[Any], sizes: Floats, with_key: Flags
) -> tuple[list[Any], Floats, list[str]]:
    """The ids, sizes and names of the images, in the order in which they appear."""
    roles = rows.chosen.roles
    name_column = next((roles[role] for role in ("file_name", "image") if role in roles and roles[role] != key), None)
    names_of_keys = [key if isinstance(key, str) else "" for key in keys]
    texts = names_of_keys if name_column is None else rows.table.texts(name_column)
    first: dict[Any, int] = {}
    found: list[list[float]] = []
    names: list[str] = []
    differing = np.zeros(len(rows.table), np.bool_)
    of_rows = sizes.tolist()
    for row in np.flatnonzero(with_key).tolist():
        at = first.setdefault(keys[row], len(first))
        if at == len(found):
            found.append(of_rows[row])
            names.append(texts[row])
        elif of_rows[row] != found[at] and not math.isnan(of_rows[row][0]):
            differing[row] = not math.isnan(found[at][0])
            found[at] = of_rows[row]
    if differing.any():
        rows.refuse(differing, roles["image_width"], "the size that the image has in other rows")
    return list(first), np.array(found, np.float64).reshape(-1, 2), names


def _classes(rows: ChosenRows, present: Flags, known: Mapping[str, int] | None) -> tuple[Ids, dict[int, str]]:
    """(N,) the ids of the classes, and their names."""
    roles, table = rows.chosen.roles, rows.table
    name = roles.get("category_id") or roles["category"]
    texts = table.texts(name)
    if "category_id" not in roles and (known is not None or not table.is_whole(name)):
        rows.refuse(present & np.array([not text for text in texts], np.bool_), name, "the name of a class")
        kept = {text for text, good in zip(texts, present & rows.good, strict=True) if good}
        ids = known or {text: number for number, text in enumerate(sorted(kept), start=1)}
        rows.refuse(present & np.array([text not in ids for text in texts], np.bool_), name, "the name of a class")
        return np.array([ids.get(text, 0) for text in texts], np.int64), {number: text for text, number in ids.items()}
    numbers = whole_numbers(rows, name, present)
    names: dict[int, str] = {}
    titles = table.texts(roles["category"]) if "category_id" in roles and "category" in roles else None
    other = np.zeros(len(table), np.bool_)
    for row in np.flatnonzero(present & rows.good).tolist():
        title = titles[row] if titles is not None and titles[row] else str(numbers[row])
        other[row] = names.setdefault(int(numbers[row]), title) != title
    if other.any():
        rows.refuse(other, roles["category"], "the name that the class has in other rows")
    return numbers, names


def whole_numbers(rows: ChosenRows, name: str, present: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """(N,) a column of whole numbers, such as ids of classes; rows with a box that have another value are refused."""
    values, fine = rows.table.numbers(name)
    with np.errstate(invalid="ignore"):
        wrong = present & (~fine | np.isnan(values) | (values != np.trunc(values)))
    rows.refuse(wrong, name, "a whole number")
    return np.where(fine & ~np.isnan(values), np.nan_to_num(values), 0).astype(np.int64)
