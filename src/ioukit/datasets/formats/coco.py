"""COCO files: how one is recognised, and how ground truth and detections are read together."""

from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid


_SUFFIXES = (".json", ".json.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
_GZIP = b"\x1f\x8b"


def recognises(path: Path) -> bool:
    """Whether the name is that of a JSON file, packed or not, or the file begins as one.

    Special files, such as pipes, count as JSON without a look inside, because they can be read only once.
    """
    try:
        if path.exists() and not path.is_file():
            return not path.is_dir()
        if path.name.lower().endswith(_SUFFIXES):
            return True
        with path.open("rb") as file:
            start = file.read(64)
    except OSError:
        return False
    start = start.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n")
    # YAML and CrowdHuman's lines may begin with a brace, too, so their names are left to other formats.
    return start.startswith((b"{", b"[", _GZIP)) and path.suffix.lower() not in (".yaml", ".yml", ".odgt")


def read_results(
    path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
    attributes: bool = False,
) -> Detections:
    """Read a results file, see :meth:`Detections.from_coco`; or a data set whose annotations have scores.

    Some tools write detections as such a data set. Its lists of images and categories are not used. Others, such as
    Ultralytics, write the names of images in the place of their ids; they meet the images by these names.

    Raises:
        DatasetError: If the data is invalid, or annotations have no scores.
        OSError: If the file cannot be read.
    """
    try:
        dt = Detections.from_coco(path, on_invalid=on_invalid, threads=threads, attributes=attributes)
        # All of them would be dropped if image ids are names.
        return dt if len(dt) or not dt.dropped else _with_named_images(path, on_invalid, attributes=attributes)
    except DatasetError as error:
        if ".image_id: expected an integer, found the string" in str(error):
            return _with_named_images(path, on_invalid, attributes=attributes)
        # Imported here because reading results should not wait for pathlib and gzip.
        from pathlib import Path  # noqa: PLC0415

        from ioukit.datasets.formats.recognising import first_bytes, last_bytes  # noqa: PLC0415

        ends = first_bytes(Path(path)) + last_bytes(Path(path))
        is_object = ends.removeprefix(b"\xef\xbb\xbf").lstrip(b" \t\r\n").startswith(b"{")
        if not is_object or b'"annotations"' not in ends or b'"score"' not in ends:
            raise
    from ioukit.datasets.formats.text_files import member, read_json  # noqa: PLC0415 - for such files alone

    source = os.fspath(path)
    records = member(read_json(path), "annotations", list, source)
    try:
        dt = Detections.from_coco(records, on_invalid=on_invalid, attributes=attributes)
    except DatasetError as error:
        raise DatasetError(f"{source}: {str(error).removeprefix('detections: ')}") from None
    note = f"{source}: a data set whose annotations have scores, which are read as detections"
    return dataclasses.replace(dt, source=source, notes=(note, *dt.notes), ids_of_file=True)


def _with_named_images(path: str | os.PathLike[str], on_invalid: OnInvalid, *, attributes: bool) -> Detections:
    """Results whose image ids are names, or names and numbers; each record is read as if the names were numbers."""
    import numpy as np  # noqa: PLC0415 - for such files alone

    from ioukit.datasets.formats.text_files import read_json, refuse  # noqa: PLC0415 - as above

    source = os.fspath(path)
    records = read_json(path)
    if not isinstance(records, list):
        refuse(source, "a list of records", "something else")

    def known(record: object) -> bool:
        label = record.get("image_id") if isinstance(record, dict) else None
        return isinstance(label, str | int) and not isinstance(label, bool)

    keys = np.unique(np.array([str(record["image_id"]) for record in records if known(record)], np.str_))
    places = {key: place for place, key in enumerate(keys.tolist())}
    numbered = [
        {**record, "image_id": places[str(record["image_id"])]} if known(record) else record for record in records
    ]
    try:
        dt = Detections.from_coco(numbered, on_invalid=on_invalid, attributes=attributes)
    except DatasetError as error:
        raise DatasetError(f"{source}: {str(error).removeprefix('detections: ')}") from None
    notes = tuple(note.replace("detections:", f"{source}:", 1) for note in dt.notes)
    return dataclasses.replace(dt, source=source, image_keys=keys, notes=notes, ids_of_file=True)


def read_coco(
    ground_truth_path: str | os.PathLike[str],
    detections_path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> tuple[GroundTruth, Detections]:
    """Read an annotation file and a results file straight into columns, and check that they belong together.

    Args:
        ground_truth_path: ``instances_*.json``, or ``.json.gz``; see :meth:`GroundTruth.from_coco`.
        detections_path: A results file, or ``.json.gz``; see :meth:`Detections.from_coco`.
        on_invalid: What to do with invalid records, and with detections of an image or category that the ground truth
            does not list: ``"error"``, ``"drop"`` or ``"pycocotools"``.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If a file is invalid or they do not belong together.
        OSError: If a file cannot be read.
    """
    ground_truth = GroundTruth.from_coco(ground_truth_path, on_invalid=on_invalid, threads=threads)
    detections = Detections.from_coco(detections_path, on_invalid=on_invalid, threads=threads)
    return ground_truth, detections.known_to(ground_truth, on_invalid=on_invalid)
