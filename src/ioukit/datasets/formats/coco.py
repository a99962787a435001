"""COCO files: how one is recognised, and how ground truth and detections are read together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

__all__ = ["read_coco", "recognises"]

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
