"""Detections of any size, opened by what they are."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ioukit._checks import check_count
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.formats.known_names import KnownNames
from ioukit.datasets.formats.table_rows import Reading
from ioukit.datasets.formats.table_sources import first_line
from ioukit.errors import DatasetError
from ioukit.scale.kept_files import digest_of
from ioukit.scale.sources.places import FilePlace, find_files
from ioukit.scale.sources.source import Cut, DetectionSource, pieces_of_detections
from ioukit.scale.sources.tables import head_of_arrow, head_of_csv, head_of_parquet, pieces_of_tables
from ioukit.scale.sources.text import Opener, pieces_of_coco, pieces_of_text

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.formats.table_columns import BoxLayout


class _Kind(NamedTuple):
    """A kind of files."""

    name: str
    ends: tuple[str, ...]
    """Of the names of the files, without ``.gz``."""
    starts: tuple[bytes, ...]
    """Of the files themselves, where their names say nothing."""
    opener: Opener


_parquet, _arrow, _csv = (
    functools.partial(pieces_of_tables, head_of) for head_of in (head_of_parquet, head_of_arrow, head_of_csv)
)
_COCO = _Kind(
    "COCO results", (".json", ".jsonl", ".ndjson"), (b"[", b"{"), functools.partial(pieces_of_text, pieces_of_coco)
)
_KINDS = (
    _Kind("Parquet", (".parquet", ".parq", ".pq"), (b"PAR1",), _parquet),
    _Kind("Arrow", (".arrow", ".feather", ".ipc"), (b"ARRO",), _arrow),
    _Kind("CSV", (".csv", ".tsv"), (), functools.partial(pieces_of_text, _csv)),
    _COCO,
)


def open_detections(
    source: str | os.PathLike[str] | Detections | Sequence[str | os.PathLike[str]],
    ground_truth: GroundTruth | KnownNames,
    *,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    boxes: BoxLayout | None = None,
    normalized: bool = False,
    on_invalid: OnInvalid = "error",
    piece_rows: int = Cut().piece_rows,
    batch_rows: int = Cut().batch_rows,
) -> DetectionSource:
    """Open detections that need not fit into memory.

    Of Parquet and Arrow files, only the heads are read now. Files of text are read once, to find where pieces begin;
    those that are packed or in a store are read later, through a temporary file.

    Args:
        source: A Parquet, Arrow or CSV file, or COCO results as an array or with a record per line (also packed with
            gzip); a folder of files of one kind, also with folders such as ``camera=3`` (Hive), or a pattern such as
            ``results/*.parquet``; an address such as ``s3://bucket/results`` of a store that PyArrow or fsspec can
            read; a list of these; or detections in memory.
        ground_truth: The data set with the images, by id or by the name of their file, and the classes.
        columns: The names of columns, as for :func:`~ioukit.datasets.read_table_detections`.
        boxes: What the four numbers of a box are, as there.
        normalized: Whether boxes are in fractions of the image, as there.
        on_invalid: As there.
        piece_rows: About how many rows a piece has, where the files allow it.
        batch_rows: The most rows of a batch, where the files allow it.

    Raises:
        TypeError: If ``source`` or ``ground_truth`` is something else.
        DatasetError: If a file is missing, empty, cut or of no known kind; if files of one folder have other columns;
            or if columns are missing.
        ModuleNotFoundError: If PyArrow is not installed: ``pip install 'ioukit[tables]'``.
    """
    if not isinstance(ground_truth, GroundTruth | KnownNames):
        raise TypeError(
            f"ground_truth must be GroundTruth, got {type(ground_truth).__name__}: ioukit.datasets.read reads a file"
        )
    known = KnownNames(ground_truth) if isinstance(ground_truth, GroundTruth) else ground_truth
    check_count(piece_rows=piece_rows, batch_rows=batch_rows)
    if isinstance(source, Detections):
        met = source.meeting(known.ground_truth, on_invalid=on_invalid)
        pieces = pieces_of_detections(met, piece_rows)
        found = DetectionSource(
            source.source, pieces, known, lambda: [source.source, digest_of(source)], check_unchanged=lambda: None
        )
    else:
        listed = [source] if isinstance(source, str | os.PathLike) else source
        if not isinstance(listed, Sequence) or not all(isinstance(one, str | os.PathLike) for one in listed):
            raise TypeError(f"expected a path, a list of paths or Detections, got {type(source).__name__}")
        found = _source_of_files(listed, Reading(columns, boxes, normalized, on_invalid), known, piece_rows)
    named = [dataclasses.replace(piece, names=known) for piece in found.pieces]
    return dataclasses.replace(found, pieces=named).in_batches(batch_rows)


def _source_of_files(
    listed: Sequence[str | os.PathLike[str]], reading: Reading, known: KnownNames, piece_rows: int
) -> DetectionSource:
    files = [file for one in listed for file in find_files(one)]
    if not files:
        raise DatasetError("expected at least one file of detections, got an empty list")
    kind = _kind_of_all(files)
    if kind is _COCO and known.ground_truth.images.made_up_ids:
        raise DatasetError(f"{files[0].path}: expected names of images{known.finder.known_as()}: found ids")
    if kind is _COCO and (reading.columns or reading.boxes or reading.normalized):
        raise ValueError("columns, boxes and normalized are for tables; COCO results have names of their own")
    try:
        pieces = kind.opener(files, reading, known, piece_rows)
    except OSError as error:
        raise DatasetError(f"{error.filename}: cannot be read: {first_line(error)}") from None
    return DetectionSource(
        os.fspath(listed[0]) if len(listed) == 1 else f"{os.fspath(listed[0])} and {len(listed) - 1:,} more",
        pieces,
        known,
        functools.partial(_fingerprint, files, reading),
        functools.partial(_check_same, listed, files),
    )


def _check_same(listed: Sequence[str | os.PathLike[str]], files: Sequence[FilePlace]) -> None:
    now = {file.path: file for one in listed for file in find_files(one)}
    for file in files:
        found = now.get(file.path)
        if found is None or (found.size, found.changed) != (file.size, file.changed):
            is_now = "it is gone" if found is None else f"it is another file now, of {found.size:,} bytes"
            raise DatasetError(
                f"{file.path}: expected the file of {file.size:,} bytes that was there at the start, but {is_now}. "
                "Start again when nothing writes to it"
            )


def _fingerprint(files: Sequence[FilePlace], reading: Reading) -> list[Any]:
    options = [reading.columns and sorted(map(str, reading.columns.items())), *reading[1:4]]
    return [options, *([file.path, file.size, file.changed] for file in files)]


def _kind_of_all(files: Sequence[FilePlace]) -> _Kind:
    first = _kind(files[0])
    for file in files[1:]:
        if (kind := _kind(file)) is not first:
            raise DatasetError(
                f"{file.path}: expected {first.name}, as {files[0].path} is, found {kind.name}: open one kind at a time"
            )
    return first


def _kind(file: FilePlace) -> _Kind:
    name = file.path.lower().removesuffix(".gz")
    found = next((kind for kind in _KINDS if name.endswith(kind.ends)), None)
    if found is None:
        with file.open() as opened:
            start = opened.read(64).lstrip()
        found = next((kind for kind in _KINDS if start.startswith(kind.starts)), None)
    if found is None:
        ends = ", ".join(end for kind in _KINDS for end in kind.ends)
        raise DatasetError(
            f"{file.path}: expected a file of detections, named {ends} (text also .gz), found something else"
        )
    return found
