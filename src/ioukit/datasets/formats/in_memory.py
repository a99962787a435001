"""Data sets of other libraries that are in memory: which of them an object is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit.datasets.formats.hugging_face import is_hugging_face, read_hugging_face
from ioukit.datasets.formats.table_sources import is_frame
from ioukit.datasets.formats.tables import read_frame, read_frame_detections

if TYPE_CHECKING:
    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth


_EXPECTED = "a path, a table of pandas, Polars or PyArrow, or a data set of Hugging Face"


def is_in_memory(given: object) -> bool:
    """Whether an object is a table or a data set of another library."""
    return is_frame(given) or is_hugging_face(given)


def ground_truth_in_memory(given: Any, format: str | None, **options: Any) -> GroundTruth:
    """The objects of a table or of a Hugging Face data set.

    Raises:
        TypeError: If the object is neither.
        ValueError: If a format is given.
    """
    _check_no_format(given, format)
    if is_hugging_face(given):
        return read_hugging_face(given, **options)
    if is_frame(given):
        return read_frame(given, **options)
    raise TypeError(f"expected {_EXPECTED}, got {type(given).__name__}")


def detections_in_memory(
    given: Any, format: str | None, *, ground_truth: GroundTruth | None, **options: Any
) -> Detections:
    """The detections of a table.

    Raises:
        TypeError: If the object is no table.
        ValueError: If a format is given.
    """
    _check_no_format(given, format)
    if is_frame(given):
        return read_frame_detections(given, ground_truth=ground_truth, **options)
    raise TypeError(f"expected a path, or a table of pandas, Polars or PyArrow, got {type(given).__name__}")


def _check_no_format(given: Any, format: str | None) -> None:
    if format is not None:
        raise ValueError(f"format is for paths, got {format!r} and {type(given).__name__}")
