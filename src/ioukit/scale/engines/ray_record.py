"""What the tasks that read the input found, kept in the folder of a run, so that a run that goes on knows it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ioukit._output import write_whole
from ioukit.scale.kept_files import checked_digest, reading, with_digest
from ioukit.scale.ranges import Range

__all__ = ["InputRecord", "read_record", "write_record"]

_NAME = "input.json"


@dataclasses.dataclass(frozen=True)
class InputRecord:
    """What is known of the detections when all of them were read once."""

    rows: int
    """How many detections."""
    dropped: int
    """Records that were left out."""
    notes: tuple[str, ...]
    """Notes about the data."""
    ranges: tuple[Range, ...]
    """The parts, large ones in several ranges."""
    most_rows: int
    """How many detections could be matched at a time when the parts were cut."""

    @property
    def edges(self) -> npt.NDArray[np.int64]:
        """The positions of images at which the ranges begin, and the number of images."""
        return np.array([*(one.first for one in self.ranges), self.ranges[-1].end], np.int64)


def write_record(folder: Path, record: InputRecord) -> None:
    """Keep a record in the folder of a run."""
    write_whole(folder / _NAME, with_digest(dataclasses.asdict(record)))


def read_record(folder: Path) -> InputRecord | None:
    """The record in the folder of a run; ``None`` if there is none.

    Raises:
        DatasetError: If it is damaged.
    """
    path = folder / _NAME
    if not path.exists():
        return None
    with reading(f"{path}: remove {folder}, and start again; the file is"):
        given = checked_digest(path.read_text(encoding="utf-8"))
        return InputRecord(
            rows=given["rows"],
            dropped=given["dropped"],
            notes=tuple(given["notes"]),
            ranges=tuple(Range(*one) for one in given["ranges"]),
            most_rows=given["most_rows"],
        )
