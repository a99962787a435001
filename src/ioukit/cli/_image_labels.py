"""A label for each image, such as its scene or camera: from a CSV file, or from an attribute of the images."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.formats.text_files import shortened
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets import GroundTruth

__all__ = ["image_labels", "label_files", "labels_of_file"]


def image_labels(text: str, ground_truth: GroundTruth) -> dict[Any, Any]:
    """The label of each image by its id.

    Args:
        text: ``FILE.csv``, whose first column names images by id or file name, and whose second column has the labels;
            ``FILE.csv:COLUMN`` for another column, by the name in the first line; or the name of an attribute of the
            images, such as ``video_id``.
        ground_truth: The images.

    Raises:
        DatasetError: If the file has an unknown image, an image twice or not at all, or no such column.
        ValueError: If the images have no such attribute.
        OSError: If the file cannot be read.
    """
    path, column = _path_and_column(text)
    return _attribute(text, ground_truth) if path is None else labels_of_file(path, ground_truth, column)


def label_files(*texts: str | None) -> list[Path]:
    """The files among what options for labels say."""
    return [path for path, _ in (_path_and_column(text) for text in texts if text is not None) if path is not None]


def labels_of_file(path: Path, ground_truth: GroundTruth, column: str | None = None) -> dict[Any, str]:
    """The label of each image by its id, from a CSV file. A text that is an id as well as a file name is the id.

    Args:
        path: The file. Its first column names images by id or file name; a first line that does not is a heading.
        ground_truth: The images.
        column: Which column has the labels, by its heading; the second one if ``None``.

    Raises:
        DatasetError: If the file has an unknown image, an image twice or not at all, or no such column.
        OSError: If the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = csv.reader(file)
            rows = [(lines.line_num, row) for row in lines if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DatasetError(f"{path}: expected a CSV file: {error}") from None
    return _of_rows(path, rows, column, ground_truth)


def _path_and_column(text: str) -> tuple[Path | None, str | None]:
    name, colon, column = text.rpartition(":")
    if colon and name.lower().endswith(".csv"):
        return Path(name), column
    return (Path(text), None) if text.lower().endswith(".csv") else (None, None)


def _attribute(name: str, ground_truth: GroundTruth) -> dict[Any, Any]:
    images = ground_truth.images
    values = images.attributes.get(name)
    if not isinstance(values, np.ndarray) or values.ndim != 1:
        known = [other for other, column in images.attributes.items() if getattr(column, "ndim", 0) == 1]
        there = f"they have {', '.join(known)}" if known else "they have none"
        raise ValueError(f"the images have no attribute {name!r} ({there}); give the name of a CSV file to read labels")
    return dict(zip(images.labels.tolist(), values.tolist(), strict=True))


def _of_rows(
    path: Path, rows: list[tuple[int, list[str]]], column: str | None, ground_truth: GroundTruth
) -> dict[Any, str]:
    """The labels from the rows of a file, each with the number of its line."""
    images = ground_truth.images
    ids = images.labels.tolist()
    known = {name: number for name, number in zip(images.names[:], ids, strict=False) if name}
    known |= {str(number): number for number in ids}
    at = 1
    if rows and rows[0][1][0].strip() not in known:
        head = [cell.strip() for cell in rows.pop(0)[1]]
        if column is not None:
            if column not in head[1:]:
                raise DatasetError(f"{path}: expected a column {column!r}, found {', '.join(head[1:]) or 'none'}")
            at = head.index(column, 1)
    elif column is not None:
        raise DatasetError(f"{path}: the first line names no columns, so there is no column {column!r}")
    labels: dict[Any, str] = {}
    for line, row in rows:
        image, where = row[0].strip(), f"{path}: line {line}"
        if image not in known:
            raise DatasetError(f"{where}: expected the id or file name of an image, found {shortened(repr(image), 60)}")
        if len(row) <= at or not row[at].strip():
            raise DatasetError(f"{where}: image {image!r} has no label")
        if known[image] in labels:
            raise DatasetError(f"{where}: image {image!r} is there twice")
        labels[known[image]] = row[at].strip()
    missing = [number for number in ids if number not in labels]
    if missing:
        raise DatasetError(f"{path}: {len(missing):,} of {len(ids):,} images have no label, for example {missing[0]}")
    return labels
