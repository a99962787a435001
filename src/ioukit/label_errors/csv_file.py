"""Label errors as a CSV file."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from ioukit._output import printable, spreadsheet_text, whole_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from ioukit.label_errors.label_error import LabelError


COLUMNS = (
    *("image_id", "file_name", "annotation_id", "other_id", "kind", "class", "suggested_class"),
    *("x", "y", "width", "height", "suggested_x", "suggested_y", "suggested_width", "suggested_height"),
    *("score", "detection_score", "iou", "reason"),
)
"""The columns of the file, in order."""

_NOTHING = (None,) * 4


def write_csv(rows: Iterable[LabelError], path: str | os.PathLike[str]) -> None:
    """Write a file, see :meth:`LabelErrors.write_csv`."""
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            image = _text(row.image_id) if isinstance(row.image_id, str) else row.image_id
            names = (_text(row.category), _text(row.suggested_category))
            boxes = (*(row.box or _NOTHING), *(row.suggested_box or _NOTHING))
            what = (image, _text(row.file_name), row.annotation_id, row.other_id, row.kind, *names)
            writer.writerow((*what, *boxes, row.score, row.detection_score, row.iou, _text(row.reason)))


def _text(text: str | None) -> str | None:
    """A text as a field: invisible characters are escaped, and a formula gets an apostrophe before it."""
    return spreadsheet_text(printable(text)) if text else text
