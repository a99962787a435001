"""Tables with a row per object: CSV, Parquet and Arrow files, and data frames in memory."""

from __future__ import annotations

import csv
import functools
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ioukit._checks import check_choice
from ioukit._optional import import_extra
from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.csv_tables import delimiter_of, first_row
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.recognising import first_bytes, last_bytes
from ioukit.datasets.formats.table_columns import BOX_LAYOUTS, BoxLayout, has_boxes, is_taken
from ioukit.datasets.formats.table_detections import detections_of_rows, detections_of_text
from ioukit.datasets.formats.table_rows import (
    KNOWN_FLAGS,
    Reading,
    further_column,
    ground_truth_of_rows,
)
from ioukit.datasets.formats.table_sources import Table, arrow_table, csv_table, frame_table
from ioukit.datasets.formats.text_files import shorter
from ioukit.datasets.formats.written_rows import check_column, image_places

_BOX_NAMES: Mapping[BoxLayout, tuple[str, ...]] = {
    "xywh": ("x", "y", "width", "height"),
    "xyxy": ("xmin", "ymin", "xmax", "ymax"),
    "cxcywh": ("cx", "cy", "width", "height"),
}
_TEXT_SUFFIXES = (".csv", ".tsv")

Rows = dict[str, list[Any]]


def recognises_csv(path: Path) -> bool:
    """Whether a path is a CSV file whose first row names columns of images, classes and boxes."""
    if path.suffix.lower() not in _TEXT_SUFFIXES or not path.is_file():
        return False
    names = [name.strip() for name in first_row(path, delimiter_of(path))]
    return has_boxes(names) and not {"ImageID", "LabelName"} <= set(names)  # those are Open Images'


def recognises_parquet(path: Path) -> bool:
    """Whether a path is a Parquet file."""
    return first_bytes(path)[:4] == b"PAR1" == last_bytes(path)[-4:]


def recognises_arrow(path: Path) -> bool:
    """Whether a path is an Arrow file: Feather, or a stream by its name."""
    return path.suffix.lower() in (".arrow", ".feather", ".ipc") and first_bytes(path)[:4] in (b"ARRO", b"\xff" * 4)


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    boxes: BoxLayout | None = None,
    normalized: bool = False,
    header: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; tables are read by one
) -> GroundTruth:
    """Read a table with a row per object: a CSV, Parquet or Arrow file.

    Columns are found by their names; upper case, spaces, ``_`` and ``-`` make no difference:

    - the image: ``image_id`` (or ``img_id``), else ``image`` (``img``), else ``file_name`` (``filename``,
      ``image_name``, ``image_path``, ``image_file``, ``img_path``, ``path``, ``file``). It is the id: an integer if the
      column is ``image_id`` and all its values are whole numbers, else a string. Beside an id, ``file_name`` or
      ``image`` is the name of the file.
    - in tables of videos without such a column: the number of the frame in ``frame`` (``frame_id``, ``frame_index``,
      ``frame_idx``, ``frame_number``, ``frame_num``, ``frame_no``), and perhaps the name of its sequence in
      ``sequence``, ``seq`` or ``video`` (also with ``_id`` or ``_name``). The id of the image is then ``walk/7``, or
      ``7`` without a sequence. ``track_id``, ``track``, ``tracker_id`` or ``instance_id`` becomes the attribute
      ``track_id``; without one of them, ``id`` and ``object_id`` are the track.
    - the class: ``category_id`` (``class_id``, ``label_id``) with whole numbers, and ``category`` (``category_name``,
      ``class``, ``class_name``, ``label``, ``label_name``) with names. Names alone get the ids 1, 2, ... in
      alphabetical order. Whole numbers in the column of names are ids.
    - the box: two corners (``xmin, ymin, xmax, ymax``; ``x1, y1, x2, y2``; ``left, top, right, bottom``), a low corner
      and a size (``x, y`` or a corner as above, with ``width, height`` or ``w, h``), or a centre and a size
      (``cx, cy``, ``x_center, y_center``, ``center_x, center_y``, ``xc, yc``), some also with ``bbox_`` before them. Or
      one column ``bbox`` or ``box`` with four numbers, as a list or as text; then ``boxes`` must say what they are.
    - further: ``image_width`` and ``image_height`` (``width`` and ``height`` beside corners), ``area``, ``id``.
    - All other columns are flags if they have true and false (``iscrowd``, ``difficult``, ``truncated``, ``occluded``,
      ``group_of`` and ``ignore`` also with 0 and 1), else attributes.

    If several columns can be meant, the table is refused; the message has the choices. This reads TensorFlow's CSV
    files of object detection and those of VoTT. A width is the difference of two corners. A row without a box lists an
    image, which may have no objects. A class without a row is not listed.

    Args:
        path: The file. A ``.tsv`` file has tabs.
        columns: The names of columns, for those that are not found:
            ``{"image": "photo", "box": ["l", "t", "r", "b"]}``. The keys are image_id, image, file_name, sequence,
            frame, track, image_width, image_height, category_id, category, score, area, id and box.
        boxes: What the four numbers of a box are: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``. If ``None``, what their names
            say.
        normalized: Whether boxes are in fractions of the image. The table must have the sizes of images.
        header: The names of the columns, if a CSV file has no row with names.
        on_invalid: ``"error"`` refuses a table with an invalid row, ``"drop"`` leaves such rows out and counts them.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        ValueError: If an argument has an unknown value.
        DatasetError: If columns are missing or not clear, or a row is invalid; names file, line or row, and column,
            what was expected and what came.
        OSError: If the file cannot be read.
        ModuleNotFoundError: If PyArrow is needed and not installed: ``pip install 'ioukit[tables]'``.
    """
    table = csv_table(path, header) if _is_text(path, header) else arrow_table(path)
    return ground_truth_of_rows(table, Reading(columns, boxes, normalized, on_invalid))


def read_table_detections(
    path: str | os.PathLike[str],
    *,
    ground_truth: GroundTruth | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    boxes: BoxLayout | None = None,
    normalized: bool = False,
    header: Sequence[str] | None = None,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read a table with a row per detection: columns as for :func:`read_table`, and one of scores.

    The score is in ``score``, ``confidence``, ``conf`` or ``probability``. Flags become attributes.

    Args:
        path: The file.
        ground_truth: The data set: it has the images, by id or by the name of their file, the classes by name, and the
            sizes of images. Without it, ids of images and classes are taken as they are.
        columns: As for :func:`read_table`.
        boxes: As for :func:`read_table`.
        normalized: As for :func:`read_table`.
        header: As for :func:`read_table`.
        on_invalid: As for :func:`read_table`.
        threads: Not used.

    Raises:
        ValueError: As for :func:`read_table`.
        DatasetError: As for :func:`read_table`; or if the classes are names and there is no ``ground_truth``.
        OSError: If the file cannot be read.
        ModuleNotFoundError: If PyArrow is needed and not installed: ``pip install 'ioukit[tables]'``.
    """
    reading = Reading(columns, boxes, normalized, on_invalid)
    if not _is_text(path, header):
        return detections_of_rows(arrow_table(path), reading, ground_truth)
    names = first_row(path, delimiter_of(path)) if header is None else header
    return detections_of_text(functools.partial(csv_table, path, header), names, reading, ground_truth)


def read_frame(
    frame: Any,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    boxes: BoxLayout | None = None,
    normalized: bool = False,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> GroundTruth:
    """Read a table in memory: of pandas, Polars or PyArrow, or any that hands out an Arrow stream.

    Args:
        frame: The table. It is read by what it can do; pandas, Polars and PyArrow are not imported, except PyArrow for
            tables of other kinds.
        columns: As for :func:`read_table`.
        boxes: As for :func:`read_table`.
        normalized: As for :func:`read_table`.
        on_invalid: As for :func:`read_table`.
        threads: Not used.

    Raises:
        TypeError: If it is no such table.
        ValueError: As for :func:`read_table`.
        DatasetError: As for :func:`read_table`.
    """
    return ground_truth_of_rows(frame_table(frame), Reading(columns, boxes, normalized, on_invalid))


def read_frame_detections(
    frame: Any,
    *,
    ground_truth: GroundTruth | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    boxes: BoxLayout | None = None,
    normalized: bool = False,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - as above
) -> Detections:
    """Read detections from a table in memory; the arguments are those of :func:`read_table_detections`."""
    return detections_of_rows(frame_table(frame), Reading(columns, boxes, normalized, on_invalid), ground_truth)


def write_csv(
    data: GroundTruth | Detections, path: Path, *, ground_truth: GroundTruth | None = None, boxes: BoxLayout = "xywh"
) -> list[str]:
    """Write a CSV file with a row per object or detection, as :func:`read_table` reads it.

    Args:
        data: The objects or detections.
        path: The file.
        ground_truth: For detections: it has the names of images and classes, if they should be written.
        boxes: ``"xywh"`` keeps the bits of the boxes; ``"xyxy"`` and ``"cxcywh"`` round corners and sizes.
    """
    rows, notes = _rows(data, ground_truth, boxes)
    texts = {name: [_text(value) for value in column] for name, column in rows.columns.items()}
    written = Table("", texts, str, all_text=True)
    for name in rows.attributes:
        wanted = "text" if any(isinstance(value, str) for value in rows.columns[name]) else "number"
        if texts[name] and (kind := further_column(written, name)[0]) != wanted:
            notes.append(f"the kind of the attribute {name}: it looks like a column of {kind}s")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(texts)
        writer.writerows(zip(*texts.values(), strict=True))
    return notes


def write_parquet(
    data: GroundTruth | Detections, path: Path, *, ground_truth: GroundTruth | None = None, boxes: BoxLayout = "xywh"
) -> list[str]:
    """Write a Parquet file; the arguments are those of :func:`write_csv`. It needs PyArrow."""
    rows, notes = _rows(data, ground_truth, boxes)
    parquet = import_extra("pyarrow.parquet", extra="tables", needed_by="writing Parquet files")
    parquet.write_table(_arrow(rows.columns), path)
    return notes


def write_arrow(
    data: GroundTruth | Detections, path: Path, *, ground_truth: GroundTruth | None = None, boxes: BoxLayout = "xywh"
) -> list[str]:
    """Write an Arrow file (Feather, version 2); the arguments are those of :func:`write_csv`. It needs PyArrow."""
    rows, notes = _rows(data, ground_truth, boxes)
    feather = import_extra("pyarrow.feather", extra="tables", needed_by="writing Arrow files")
    feather.write_feather(_arrow(rows.columns), path, compression="uncompressed")
    return notes


def _is_text(path: str | os.PathLike[str], header: Sequence[str] | None) -> bool:
    """Whether a table is a CSV file: by its name, or because it is no file of Arrow's."""
    if os.fspath(path).lower().endswith(_TEXT_SUFFIXES) or header is not None:
        return True
    start = first_bytes(Path(path))[:4]
    return start not in (b"PAR1", b"ARRO", b"\xff" * 4) and bool(start)


def _arrow(rows: Mapping[str, list[Any]]) -> Any:
    arrow = import_extra("pyarrow", extra="tables", needed_by="writing Parquet and Arrow files")
    return arrow.table(rows)


class _Written:
    """The columns of a file, and which of them are attributes."""

    def __init__(self) -> None:
        self.columns: Rows = {}
        self.attributes: list[str] = []
        self.flags: list[str] = []

    def further(self, name: str, values: Iterable[Any], kind: str) -> bool:
        """Add a flag or an attribute, unless its name would be read as something else."""
        known = name.lower() in KNOWN_FLAGS and (kind != "flag" or KNOWN_FLAGS[name.lower()] != name)
        if known or name in self.columns or is_taken(name) or not name:
            return False
        self.columns[name] = list(values)
        (self.flags if kind == "flag" else self.attributes).append(name)
        return True


def _rows(
    data: GroundTruth | Detections, ground_truth: GroundTruth | None, boxes: BoxLayout
) -> tuple[_Written, list[str]]:
    """The columns of a file, and notes about what they do not hold."""
    check_choice("boxes", boxes, BOX_LAYOUTS)
    known = data if isinstance(data, GroundTruth) else ground_truth
    written = _Written()
    check_column(data.category_ids, "id of the class", data.source)
    if isinstance(data, GroundTruth):
        check_column(data.ids, "id", data.source)
    if data.areas is not None:
        check_column(data.areas, "area", data.source)
    labels = data.image_labels().tolist()
    places = None if known is None else image_places(data, known.images).tolist()
    if places is not None and isinstance(data, Detections) and known is not None and known.images.made_up_ids:
        labels = [
            known.images.names[at] for at in places
        ]  # what the reader of the ground truth made up, it knows alone
    written.columns |= _image_columns(labels, places, known)
    written.columns["category_id"] = data.category_ids.tolist()
    if known is not None:
        names = dict(zip(known.categories.ids.tolist(), known.categories.names, strict=True))
        written.columns["category"] = [names[number] for number in data.category_ids.tolist()]
    written.columns |= dict(zip(_BOX_NAMES[boxes], _box_columns(data, boxes), strict=True))
    if isinstance(data, GroundTruth):
        written.columns["id"] = data.ids.tolist()
    elif data.scored:
        written.columns["score"] = data.scores.tolist()
    if data.areas is not None:
        written.columns["area"] = data.areas.tolist()
    flags = data.flags if isinstance(data, GroundTruth) else {}
    for name, column in flags.items():
        written.further(name, column.tolist(), "flag")
    for name, column in data.attributes.items():
        if column.ndim == 1 and column.dtype.kind in "biufU":
            written.further(name, _values(column), "attribute")
    if isinstance(data, GroundTruth):
        _add_empty_images(written.columns, data)
    holds = Holds(
        flags=frozenset(written.flags),
        attributes=frozenset(written.attributes),
        image_ids=True,
        category_ids=True,
        ids=True,
        areas=True,
    )
    nameless = 0 if known is None else list(known.categories.names).count("")
    notes = [f"names of {nameless:,} classes that are empty: their ids remain"] if nameless else []
    return written, [*left_out_columns(data, holds), *notes]


def _image_columns(labels: Sequence[Any], places: Sequence[int] | None, known: GroundTruth | None) -> Rows:
    """The columns of images: ids that are numbers are in ``image_id``, others in ``image``."""
    texts = isinstance(labels[0], str) if labels else known is not None and known.images.keys is not None
    columns: Rows = {"image" if texts else "image_id": list(labels)}
    if known is None or places is None:
        return columns
    names = list(known.images.names)
    if any(name not in ("", str(label)) for name, label in zip(names, known.images.labels.tolist(), strict=True)):
        columns["file_name"] = [names[at] for at in places]
    sizes = known.images.sizes
    if not np.isnan(sizes).all():
        for axis, name in enumerate(("image_width", "image_height")):
            values = _values(sizes[:, axis])
            columns[name] = [values[at] for at in places]
    return columns


def _add_empty_images(columns: Rows, gt: GroundTruth) -> None:
    """Add a row without a box for each image without objects."""
    used = set(gt.image_ids.tolist())
    empty = [at for at, number in enumerate(gt.images.ids.tolist()) if number not in used]
    labels = gt.images.labels.tolist()
    further = _image_columns([labels[at] for at in empty], empty, gt)
    for name, column in columns.items():
        column.extend(further.get(name, [None] * len(empty)))


def _box_columns(data: GroundTruth | Detections, boxes: BoxLayout) -> list[list[float]]:
    low, size = data.boxes[:, :2], data.boxes[:, 2:]
    first, second = {"xywh": (low, size), "xyxy": (low, low + size), "cxcywh": (low + size / 2, size)}[boxes]
    return np.hstack([first, second]).T.tolist()  # type: ignore[no-any-return]


def _values(column: Any) -> list[Any]:
    """The values of a column; ``None`` for NaN."""
    return [None if isinstance(value, float) and math.isnan(value) else value for value in column.tolist()]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return shorter(value) if isinstance(value, float) else str(value)
