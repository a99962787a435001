"""Detections from the rows of a table, column by column."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit._columns import positions_in
from ioukit._near_names import near_names
from ioukit.datasets.columns.detections import Detections, note_on_classes, note_on_names
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.known_names import KnownNames, required
from ioukit.datasets.formats.problems import SHOWN
from ioukit.datasets.formats.table_columns import choose_columns
from ioukit.datasets.formats.table_rows import ChosenRows, whole_numbers
from ioukit.datasets.formats.text_files import refuse, shortened
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit._array_types import Flags, Floats, Ids
    from ioukit.datasets.formats.table_rows import Reading
    from ioukit.datasets.formats.table_sources import Table


_MOST_NAMES = 20
_NUMBER_ROLES = ("frame", "score", "area", "image_width", "image_height")

_ImageColumn: TypeAlias = "npt.NDArray[np.int64] | tuple[npt.NDArray[np.int64], npt.NDArray[np.str_]]"
"""(N,) ids of images, or positions in an array of names."""


def _listed(names: Sequence[str]) -> str:
    """The names of columns for a message, which stays short."""
    if not names:
        return "none"
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"the columns {', '.join(shortened(name, 40) for name in names[:_MOST_NAMES])}{more}"


def detections_of_rows(table: Table, reading: Reading, ground_truth: GroundTruth | KnownNames | None) -> Detections:
    """The detections of a table, one per row with a box.

    Raises:
        DatasetError: If a column may be one of scores by its name, or names of images or classes need the ground truth
            and there is none.
    """
    rows = ChosenRows(table, reading)
    roles = rows.chosen.roles
    scored = "score" in roles
    if not scored and any(near_names(name, ["score", "confidence"]) for name in table.names):
        refuse(table.source, "a column of scores, such as score or confidence", _listed(table.names))
    known = KnownNames(ground_truth) if isinstance(ground_truth, GroundTruth) else ground_truth
    key, keys = rows.keys()
    sizes = rows.sizes()
    if not len(table):
        keys = CodedColumn((), np.zeros(0, np.int64))
    images: _ImageColumn = keys if isinstance(keys, np.ndarray) else (keys.codes, np.array(keys.values, np.str_))
    notes: list[str] = []
    if known is not None and len(table):
        images, named = _known_images(rows, key, keys, sizes, known)
        if named is not None and isinstance(ground_truth, GroundTruth):  # each batch would have another example
            notes.append(note_on_names(table.source, ground_truth, *named))
    boxes, present = rows.boxes(sizes)
    scores = rows.numbers(roles["score"], needed=present) if scored else None
    ids, by_number = _detected_classes(rows, present, known)
    if by_number and known is not None and len(known.classes) > 1 and known.ground_truth.categories.made_up_ids:
        notes.append(note_on_classes(table.source, known.ground_truth))
    areas = rows.areas(needed=present) if "area" in roles else None
    kept = present & rows.good
    flags, attributes = rows.further(kept)
    image_ids, names = _image_rows(images, kept)
    dt = Detections.from_arrays(
        image_ids=image_ids,
        category_ids=_of(ids, kept),
        boxes=_of(boxes, kept),
        scores=None if scores is None else _of(scores, kept),
        areas=None if areas is None else _of(areas, kept),
        attributes={**flags, **attributes},
        source=table.source,
    )
    dt = dataclasses.replace(dt, image_keys=names, ids_of_file=known is None)
    dt = rows.problems.noted_in(dt)
    return dataclasses.replace(dt, notes=(*dt.notes, *notes)) if len(dt) else dt


def detections_of_text(
    table_of: Callable[[Collection[str]], Table],
    names: Sequence[str],
    reading: Reading,
    ground_truth: GroundTruth | KnownNames | None,
) -> Detections:
    """The detections of a table in a file of text.

    Args:
        table_of: Reads the table, and some columns of it as numbers. Only text shows a value as the file has it, so the
            file is read again if a value is wrong.
        names: The columns.
        reading: How they are read.
        ground_truth: As for :func:`detections_of_rows`.
    """
    with contextlib.suppress(DatasetError):
        chosen = choose_columns(names, "", columns=reading.columns, boxes=reading.boxes)
        numbers = {chosen.roles[role] for role in _NUMBER_ROLES if role in chosen.roles}
        dt = detections_of_rows(
            table_of(numbers.union(chosen.box if len(chosen.box) == 4 else ())), reading, ground_truth
        )
        if not dt.dropped:
            return dt
    return detections_of_rows(table_of(()), reading, ground_truth)


def _of(column: npt.NDArray[Any], kept: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    return column if kept.all() else column[kept]


def _image_rows(images: _ImageColumn, kept: Flags) -> tuple[Ids, npt.NDArray[np.str_] | None]:
    """The ids of the images of the rows that are kept, or their positions among names; and the names, ascending."""
    if isinstance(images, np.ndarray):
        return _of(images, kept), None
    codes, names = _of(images[0], kept), images[1]
    chosen = np.flatnonzero(np.bincount(codes, minlength=len(names)))
    ascending, places = np.unique(np.array(names[chosen].tolist(), np.str_), return_inverse=True)
    of_names = np.zeros(len(names), np.int64)
    of_names[chosen] = places
    return of_names[codes], ascending


def _detected_classes(rows: ChosenRows, present: Flags, known: KnownNames | None) -> tuple[Ids, bool]:
    """(N,) the ids of the classes, and whether the table has them as ids."""
    roles, table = rows.chosen.roles, rows.table
    if known is not None and {"category_id", "category"} <= roles.keys():
        # Names say the same everywhere; the ids may be those of another file.
        texts = table.coded_texts(roles["category"])
        clear = known.classes.keys() - known.classes.repeated
        is_clear = np.array([text in clear for text in texts.values], np.bool_)
        named = np.array([known.classes[text] if text in clear else 0 for text in texts.values], np.int64)[texts.codes]
        if is_clear.all():
            return named, False
        wrong = present & is_clear[texts.codes] & (named != whole_numbers(rows, roles["category_id"], present))
        said = f"the class that {roles['category_id']} says (other names are unknown, so the ids count)"
        rows.refuse(wrong, roles["category"], said)
    name = roles.get("category_id") or roles["category"]
    by_number = rows.reading.classes_are_numbers if "category_id" not in roles else True
    if by_number is None:
        by_number = table.is_whole(name) and not (known and known.classes.keys() & set(table.coded_texts(name).values))
    if by_number:
        numbers = whole_numbers(rows, name, present)
        if known is not None:
            listed = known.ground_truth.categories.ids
            rows.refuse(present & ~np.isin(numbers, listed), name, f"the id of one of the {len(listed):,} classes")
        return numbers, True
    classes = required(known, table.source, "ids of classes").classes
    texts = table.coded_texts(name)
    unknown = np.array([text not in classes for text in texts.values], np.bool_).reshape(len(texts.values))
    wrong = present & unknown[texts.codes]
    # Messages show the first few rows.
    first = {row: texts.values[texts.codes[row]] for row in np.flatnonzero(wrong & rows.good)[:SHOWN].tolist()}
    near = {row: near_names(text, classes, 1) for row, text in first.items()}
    meant = {row: f", which is near {names[0]!r}" for row, names in near.items() if names}
    rows.refuse(wrong, name, f"one of the {len(classes):,} classes of the ground truth", meant=meant)
    ids = np.array([classes.get(text, 0) for text in texts.values], np.int64)
    ids = ids.reshape(len(texts.values))
    of_rows: npt.NDArray[np.int64] = ids[texts.codes]
    return of_rows, False


def _known_images(
    rows: ChosenRows, key: str, keys: Ids | CodedColumn, sizes: Floats, known: KnownNames
) -> tuple[_ImageColumn, tuple[int, int] | None]:
    """The images as the ground truth has them; sizes that the table does not have are filled in.

    Returns:
        The images; and the first whole number of the table that was taken as a name, with the position of its image.
    """
    images = known.ground_truth.images
    roles = rows.chosen.roles
    named = next((roles[role] for role in ("file_name", "image") if role in roles and roles[role] != key), None)
    if named is not None and ("image_id" in roles or images.keys is not None or images.made_up_ids):
        texts = rows.table.coded_texts(named)
        found = _agreeing(rows, key, named, texts, _places_of_ids(keys, known), known)
        key, keys = named, texts
    elif isinstance(keys, np.ndarray):
        found = _places_of_ids(keys, known)
    else:
        found = np.full(len(keys), -1, np.intp)
    others, example = np.flatnonzero((found < 0) & rows.good), None
    if isinstance(keys, np.ndarray):
        found[others] = _places_of_names(rows, key, CodedColumn.of(keys[others].tolist()), others, known)
        example = next(((int(keys[row]), int(found[row])) for row in others.tolist() if found[row] >= 0), None)
    elif len(others):
        known.finder.meet_sequences(keys.values)
        column = CodedColumn.of_used(keys.values, keys.codes[others])
        found[others] = _places_of_names(rows, key, column, others, known)
        rows.problems.on_sequence = known.finder.note
    shown = keys if isinstance(keys, CodedColumn) else None
    rows.refuse(found < 0, key, f"an image of {known.ground_truth.source}", shown)
    if rows.reading.normalized:
        lacking = np.isnan(sizes[:, 0]) & (found >= 0)
        sizes[lacking] = images.sizes[found[lacking]]
    found = np.maximum(found, 0)
    if images.keys is not None:
        return (found, images.keys), example
    return images.ids[found] if len(images) else np.zeros(len(found), np.int64), example


def _places_of_ids(keys: Ids | CodedColumn, known: KnownNames) -> npt.NDArray[np.intp]:
    """(N,) the positions of images by id; -1 for none."""
    images = known.ground_truth.images
    found = np.full(len(keys), -1, np.intp)
    if not len(images) or images.made_up_ids or (images.keys is None) != isinstance(keys, np.ndarray):
        return found
    if not isinstance(keys, np.ndarray):
        places: npt.NDArray[np.intp] = positions_in(images.labels, np.array(keys.values, np.str_))[keys.codes]
        return places
    return positions_in(images.ids, keys)


def _agreeing(
    rows: ChosenRows, key: str, named: str, texts: CodedColumn, found: npt.NDArray[np.intp], known: KnownNames
) -> npt.NDArray[np.intp]:
    """(N,) the positions of images by id, or -1 where the name decides: where the ground truth does not know the id.

    A row whose id and name are two images of the ground truth is refused. Each row is settled by itself, so that a file
    in parts has the rows of the whole.
    """
    images = known.ground_truth.images
    places = known.finder.places_of_files(texts.values)
    if images.keys is None:  # an image without a name is called by its id
        places = np.array([at if at >= 0 and images.names[at] else -1 for at in places.tolist()], np.intp)
    by_name = places[texts.codes]
    wrong = rows.good & (found >= 0) & (by_name >= 0) & (found != by_name)
    labels = images.labels
    for row in np.flatnonzero(wrong).tolist():
        ours, theirs = labels[found[row]].item(), labels[by_name[row]].item()
        expected = f"the image {ours!r}, as {key} says ({images.names[found[row]] or ours!r})"
        value = f"{rows.table.value(named, row)}, which is the image {theirs!r}"
        message = f"{rows.table.where(row)}, {named}: expected {expected}, found {value}"
        rows.problems.meet(f"wrong {named}", message)
    rows.good &= ~wrong
    return found


def _places_of_names(
    rows: ChosenRows, key: str, column: CodedColumn, of_rows: npt.NDArray[np.intp], known: KnownNames
) -> npt.NDArray[np.intp]:
    """(N,) the positions of images by their ids or names, -1 for none; ``of_rows`` (N,) are the rows of the table."""
    first = np.full(len(column.values), -1, np.intp)
    good = np.flatnonzero(rows.good[of_rows])[::-1]
    first[column.codes[good]] = good
    places = np.full(len(column.values), -1, np.intp)
    asked = np.flatnonzero(first >= 0)
    for at in asked[np.argsort(first[asked])].tolist():
        value = column.values[at]
        try:
            where = f"{rows.table.where(int(of_rows[first[at]]))}, {key}"
            places[at] = known.finder.position(str(value), where, is_id=isinstance(value, int))
        except DatasetError:
            if rows.problems.stop:
                raise
    found: npt.NDArray[np.intp] = places[column.codes]
    return found
