"""Parts of a COCO results file, each of which is read by itself."""

from __future__ import annotations

import itertools
import os
from typing import TYPE_CHECKING, NamedTuple

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets.columns._checks import existing_file
from ioukit.datasets.columns._coco import LINES

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid


class CocoPart(NamedTuple):
    """Some records of a results file that follow one another."""

    lines: bool
    """Whether the file has a record per line."""
    start: int
    """The byte at which the first record starts."""
    end: int
    """Records that start at this byte or behind it are not read."""
    record: int
    """The position of the first record in the file."""
    without_boxes: bool
    """Whether the first record of the file has a mask or keypoints instead of a box."""

    @property
    def between(self) -> tuple[int, int, int, bool]:
        """What the core takes."""
        return self.start, self.end, self.record, self.without_boxes


def parts_of_results(
    path: str, on_invalid: OnInvalid, *, lines: bool | None, part_bytes: int, threads: int | None = None
) -> tuple[list[CocoPart], list[int]]:
    """Parts of a results file of about as many bytes, and how many records each has. The file is read once.

    Args:
        path: A file that is not packed.
        on_invalid: As for the reader.
        lines: Whether the file has a record per line; by its name and text if ``None``.
        part_bytes: About how many bytes a part has.
        threads: How many threads read.

    Raises:
        DatasetError: If the file is no JSON, or no array of detections.
        OSError: If it cannot be read.
    """
    path = existing_file(path)
    expected = path.lower().endswith(LINES) if lines is None else lines
    count = check_threads(threads)
    lines, starts, records = _core.find_coco_parts(path, on_invalid, expected, part_bytes, count)
    if not records:
        return [], []
    begin = [*starts[:, 0].tolist(), os.path.getsize(path)]
    first = [*starts[:, 1].tolist(), records]
    one = _core.read_coco_detections(path, "drop", lines, 1, (begin[0], begin[0] + 1, 0, False))
    without = bool(len(one["without_box"]))
    parts = [
        CocoPart(lines, start, end, record, without)
        for start, end, record in zip(begin, begin[1:], first, strict=False)
    ]
    return parts, [after - before for before, after in itertools.pairwise(first)]
