"""What all pieces of tables share: the columns that are read, and what is settled for all pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.formats.compact_columns import CodedColumn
from ioukit.datasets.formats.table_columns import IMAGE_ROLES, choose_columns
from ioukit.datasets.formats.table_detections import detections_of_rows
from ioukit.datasets.formats.table_sources import Table

if TYPE_CHECKING:
    from ioukit.datasets.formats.known_names import KnownNames
    from ioukit.datasets.formats.table_rows import Reading


_NUMBER = re.compile(r"-?\d+")


def columns_to_read(names: Sequence[str], source: str, reading: Reading, known: KnownNames) -> list[str]:
    """The columns of a table that detections are made of.

    Raises:
        DatasetError: If columns are missing or not clear.
    """
    chosen = choose_columns(names, source, columns=reading.columns, boxes=reading.boxes)
    empty: dict[str, Sequence[Any]] = {name: CodedColumn((), np.zeros(0, np.int64)) for name in names}
    detections_of_rows(Table(source, empty, str), reading, known)  # refuses one whose scores have another name
    roles = dict(chosen.roles)
    given = reading.columns or {}
    key = next((role for role in IMAGE_ROLES if role in roles), "frame")
    unused = {"id", "track", *IMAGE_ROLES} - {key}
    images = known.ground_truth.images
    if images.keys is not None or images.made_up_ids:
        unused -= {"image", "file_name"}  # names tell more than ids of another ground truth
    wanted = {*chosen.box, *(name for role, name in roles.items() if role not in unused or role in given)}
    return [name for name in names if name in wanted]


def settled(
    reading: Reading,
    names: Sequence[str],
    whole: Callable[[str], bool],
    known: KnownNames,
    source: str,
    tables_of: Callable[[str], Iterator[Table]],
) -> Reading:
    """The reading with all that the whole data decides, so that every batch is read in the same way.

    Args:
        reading: What the caller says.
        names: The columns.
        whole: Whether the type of a column is one of integers.
        known: The images and classes.
        source: The name of the data in messages.
        tables_of: Reads one column of all pieces, in batches. It is called if types do not decide.
    """
    roles = choose_columns(names, source, columns=reading.columns, boxes=reading.boxes).roles
    ids: bool | None = None
    if "image_id" in roles:
        name = roles["image_id"]
        ids = True if whole(name) else _all_whole(tables_of(name), name) if known.numbers_are_names else None
    classes: bool | None = None
    if "category_id" not in roles:
        name, listed = roles["category"], known.classes.keys()
        if whole(name) and not any(map(_NUMBER.fullmatch, listed)):
            classes = True
        else:
            classes = _all_whole(tables_of(name), name, but=listed)
    return reading._replace(ids_are_numbers=ids, classes_are_numbers=classes, attributes=False)


def _all_whole(tables: Iterable[Table], name: str, but: Iterable[str] = ()) -> bool:
    """Whether all values of a column are whole numbers, and none is one of the texts ``but``."""
    found, refused = False, set(but)
    for table in tables:
        missing = table.is_missing(name)
        if missing.all():
            continue
        if not table.is_whole(name) or (refused and refused & set(table.coded_texts(name).values)):
            return False
        found = True
    return found
