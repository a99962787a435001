"""Reading COCO's files while Python imports what uses them. Imports nothing but the core, so that it comes first.

Owns: the guess that both arguments are COCO's JSON files, read with the usual options, and its end.
Does not own: whether the guess was right. The reader that is chosen later asks the core for the columns of its path
and options, and reads for itself if there are none. So no result depends on this file.
Cut here because the first evaluation of a process waits for imports by one thread, while the other cores are idle.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ioukit import _core

if TYPE_CHECKING:
    from typing_extensions import Self


KINDS_OF_MASKS = frozenset({"segm", "boundary"})
"""What compares masks: names of kinds of regions, whose register is imported later."""


class ReadingAhead:
    """Other threads of the core read two files within this context, in case that they are asked for.

    Nothing depends on it but the time: `read`, `read_detections` and `read_coco` take what has been read if it is what
    they would read themselves. Anything else is dropped, and so are errors, which come up again when the file is read.

    Args:
        ground_truth: What may become ground truth.
        detections: What may become detections. Nothing is read unless both are names of plain JSON files.
        threads: How many threads may read; nothing is read unless it is ``None``, for all cores.
        masks: Whether masks are going to be compared, so that those of both files are read as well, as far as the time
            suffices.
    """

    def __init__(self, ground_truth: Any, detections: Any, threads: int | None, *, masks: bool = False) -> None:
        given = (ground_truth, detections)
        self._paths = [os.fspath(path) for path in given if isinstance(path, str | os.PathLike)]
        self._masks = masks
        self._starts = threads is None and len(self._paths) == 2 and all(map(_is_json, self._paths))

    def __enter__(self) -> Self:
        if self._starts:
            ground_truth, detections = self._paths
            _core.read_coco_ahead(ground_truth, detections, self._masks)
        return self

    def __exit__(self, *_: object) -> None:
        if self._starts:
            _core.stop_reading_ahead()


def _is_json(path: Any) -> bool:
    return isinstance(path, str) and path.lower().endswith(".json")
