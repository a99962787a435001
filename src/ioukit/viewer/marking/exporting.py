"""Downloads of what a filter chooses, or of what is tagged: marks as CSV, images as COCO or as a list of ids."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit._checks import check_choice
from ioukit._output import printable, spreadsheet_text
from ioukit.datasets import subset, write
from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.answers.conditions import among
from ioukit.viewer.answers.filters import OUTCOMES
from ioukit.viewer.answers.selecting import select
from ioukit.viewer.marking.noted_marks import Place

if TYPE_CHECKING:
    from ioukit.datasets import GroundTruth
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.filters import Filter
    from ioukit.viewer.answers.marks import Marks
    from ioukit.viewer.marking.noted_marks import Noting
    from ioukit.viewer.marking.notes import Entry


Form: TypeAlias = Literal["csv", "coco", "ids"]
Of: TypeAlias = Literal["filtered", "tagged"]

COLUMNS = (
    *("image_id", "file_name", "mark", "model", "outcome", "class", "score", "iou", "x", "y", "width", "height"),
    *("area", "annotation_id", "error", "issues", "tags", "note", "image_tags", "image_note"),
)
"""The columns of a CSV file. ``mark`` is ``image``, ``object`` or ``detection``; tags have ``;`` between them."""

_KINDS = {"csv": "text/csv; charset=utf-8", "coco": "application/json", "ids": "text/plain; charset=utf-8"}
_SUFFIXES = {"csv": ".csv", "coco": ".json", "ids": ".txt"}
_NOTHING = ("", "")
_IMAGES_AT_ONCE = 256
_BYTES_AT_ONCE = 1 << 20


class Export(NamedTuple):
    """A file to download."""

    name: str
    """Letters, digits, ``.``, ``_`` and ``-`` alone."""
    kind: str
    """Its media type."""
    chunks: Iterator[bytes]
    """Its content. It is made while it is read; that of COCO before its first part, see :class:`CocoFile`."""


def export(collection: Collection, noting: Noting, chosen: Filter, form: str, of: str = "filtered") -> Export:
    """A file of what a filter chooses, or of what is tagged or has a note, whatever the filter.

    - ``csv``: a row per mark, see :data:`COLUMNS`; for ``tagged``, also a row per image that is tagged itself. A text
      that a spreadsheet would run as a formula gets an apostrophe before it.
    - ``coco``: the ground truth of these images with all their objects, as an annotation file of COCO. Ids stay as they
      are, unless they are strings, which COCO's files do not have.
    - ``ids``: an image id per line.

    Args:
        collection: What is shown.
        noting: Its tags and notes.
        chosen: The filter. Its thresholds say what the outcomes are.
        form: ``"csv"``, ``"coco"`` or ``"ids"``.
        of: ``"filtered"`` or ``"tagged"``.

    Raises:
        ValueError: If the form is unknown, or if the filter names what is not in the collection.
    """
    check_choice("as", form, get_args(Form))
    check_choice("of", of, get_args(Of))
    rows = _filtered(collection, noting, chosen) if of == "filtered" else _tagged(collection, noting, chosen)
    ids = collection.table.image_ids[rows.shown]
    if form == "csv":
        chunks = _csv(collection, noting, rows)
    elif form == "coco":
        chunks = CocoFile(collection.ground_truth, ids)
    else:
        chunks = iter([f"{printable(str(number))}\n".encode("utf-8", "replace") for number in ids.tolist()])
    return Export(f"{_stem(collection.ground_truth.source)}-{of}{_SUFFIXES[form]}", _KINDS[form], chunks)


class _Written(NamedTuple):
    """The marks of a side that are written."""

    side: int
    """0 for the objects, 1 for the detections of the first model."""
    marks: Marks
    """The marks of the model, or of the one by which objects are found."""
    chosen: Flags
    """(N,)"""


class _Rows(NamedTuple):
    """What is written."""

    shown: Flags
    """(I,) the images."""
    themselves: Flags
    """(I,) the images that have a row of their own."""
    written: Sequence[_Written]


def _filtered(collection: Collection, noting: Noting, chosen: Filter) -> _Rows:
    selection = select(collection, chosen, noting.tagged())
    written = [_Written(0, selection.of_model, selection.objects)]
    if collection.models:
        written.append(_Written(selection.model + 1, selection.of_model, selection.detections))
    return _Rows(selection.images, np.zeros(len(selection.images), np.bool_), written)


def _tagged(collection: Collection, noting: Noting, chosen: Filter) -> _Rows:
    entries, count = noting.entries(), len(collection.table.image_ids)
    selection = select(collection, chosen)
    written = []
    for side, marks in enumerate([selection.of_model, *(selection.marks if collection.models else ())]):
        wanted = [place.row for place in entries if place.side == side]
        written.append(_Written(side, marks, np.isin(_data_rows(side, marks), np.array(wanted, np.int64))))
    images = among(count, [place.at for place in entries])
    return _Rows(images, among(count, [place.at for place in entries if place.side is None]), written)


def _data_rows(side: int, marks: Marks) -> npt.NDArray[np.int64]:
    """(N,) the row of each mark in the ground truth, or in the data of its model."""
    return marks.model.table.objects.row if side == 0 else marks.model.table.detections.row


def _csv(collection: Collection, noting: Noting, rows: _Rows) -> Iterator[bytes]:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    entries = noting.entries()
    images = np.flatnonzero(rows.shown)
    for start in range(0, len(images), _IMAGES_AT_ONCE):
        part = images[start : start + _IMAGES_AT_ONCE].tolist()
        by_image: dict[int, list[tuple[Any, ...]]] = {at: [] for at in part}
        for written in rows.written:
            _add_marks(collection, entries, written, by_image)
        for at in part:
            image, name = _text(collection.table.image_ids[at].item()), _text(collection.image_names[at])
            of_image = _entry_fields(entries.get(Place(at)))
            if rows.themselves[at]:
                writer.writerow((image, name, "image", *("",) * 13, *of_image, *of_image))
            for fields in by_image[at]:
                writer.writerow((image, name, *fields, *of_image))
        yield text.getvalue().encode("utf-8", "replace")
        text.seek(0)
        text.truncate()
    if rest := text.getvalue():
        yield rest.encode()


def _add_marks(
    collection: Collection, entries: Any, written: _Written, by_image: dict[int, list[tuple[Any, ...]]]
) -> None:
    """Adds the fields of the marks of some images, from ``mark`` to ``note``."""
    side, marks, chosen = written
    is_object, model = side == 0, marks.model
    rows = marks.objects if is_object else marks.detections
    low, high = np.searchsorted(rows.image, [min(by_image), max(by_image) + 1])
    place = np.flatnonzero(chosen[low:high]) + low
    place = place[np.isin(rows.image[place], list(by_image))]
    data = collection.ground_truth if is_object else model.detections
    listed = _data_rows(side, marks)[place]
    boxes = data.boxes[listed]
    areas = boxes[:, 2] * boxes[:, 3] if data.areas is None else data.areas[listed]
    ids = collection.ground_truth.ids[listed].tolist() if is_object else [""] * len(place)
    of_marks = (rows.image, rows.outcome, rows.category, rows.score, rows.iou, rows.error, rows.issue)
    of_data = (listed.tolist(), boxes.tolist(), areas.tolist(), ids)
    columns = zip(*(column[place].tolist() for column in of_marks), *of_data, strict=True)
    names = [_text(name) for name in collection.categories.names]
    noted = {place.at for place in entries if place.at in by_image} if entries else ()
    name, mark = _text(model.name), "object" if is_object else "detection"
    kinds = () if collection.issues is None else collection.issues.kinds
    for at, outcome, category, score, iou, error, issues, row, box, area, number in columns:
        by_image[at].append(
            (
                mark,
                name,
                OUTCOMES[outcome] if outcome < len(OUTCOMES) else "",
                names[category],
                _number(score),
                _short(iou),
                *map(_number, box),
                _number(area),
                number,
                ERROR_KINDS[error] if error < len(ERROR_KINDS) else "",
                ";".join(kind for k, kind in enumerate(kinds) if issues >> k & 1),
                *(_entry_fields(entries.get(Place(at, side, row))) if at in noted else _NOTHING),
            )
        )


class CocoFile(Iterator[bytes]):
    """The bytes of an annotation file, which is written to a folder of its own before the first of them is read.

    The folder is removed at the end, or when nobody reads it any more.
    """

    def __init__(self, ground_truth: GroundTruth, ids: npt.NDArray[Any]) -> None:
        """Take the data, and the ids of the images that are written."""
        self._ground_truth, self._ids = ground_truth, ids
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._file: IO[bytes] | None = None
        self._ended = False

    def prepare(self) -> None:
        """Write the file, so that no error comes later. It takes long for many objects.

        Raises:
            DatasetError: If masks or keypoints cannot be read from their files again.
            OSError: If the disk has no room for the file.
        """
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        try:
            path = Path(self._folder.name) / "subset.json"
            write(subset(self._ground_truth, images=self._ids), path, "coco")
            self._file = path.open("rb")
        except BaseException:
            self.close()
            raise

    def __next__(self) -> bytes:
        if self._file is None and not self._ended:
            self.prepare()
        chunk = b"" if self._file is None else self._file.read(_BYTES_AT_ONCE)
        if not chunk:
            self.close()
            raise StopIteration
        return chunk

    def close(self) -> None:
        """Close and remove the file. A second call does nothing."""
        self._ended = True
        if self._file is not None:
            self._file.close()
        if self._folder is not None:
            self._folder.cleanup()
        self._file = self._folder = None

    def __del__(self) -> None:
        self.close()


def _entry_fields(entry: Entry | None) -> tuple[str, str]:
    return _NOTHING if entry is None else (_text(";".join(entry.tags)), spreadsheet_text(entry.note))


def _text(value: Any) -> Any:
    """A text as a field: invisible characters are escaped, and no formula is left."""
    return spreadsheet_text(printable(value)) if isinstance(value, str) else value


def _number(value: float) -> Any:
    """With all digits; empty for NaN."""
    return "" if math.isnan(value) else value


def _short(value: float) -> str:
    """Of a number that has 32 bits."""
    return "" if math.isnan(value) else f"{value:.7g}"


def _stem(source: str) -> str:
    """The name of the data set, for the name of a file."""
    name = re.split(r"[\\/]", os.fspath(source).rstrip("/\\"))[-1]
    stem = name.removesuffix(".gz").rpartition(".")[0] or name
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip(".-")[:80] or "images"
