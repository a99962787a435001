"""From an evaluation to one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ioukit._output import check_output, write_whole
from ioukit.report.data import input_paths, report_data
from ioukit.report.page import report_page

if TYPE_CHECKING:
    import datetime

    from ioukit.evaluation import Evaluation

__all__ = ["write_report"]


def write_report(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    iou: float | None = None,
    score_threshold: float | None = None,
    worst: int = 24,
    created: datetime.datetime | None = None,
    threads: int | None = None,
) -> None:
    """Write the report: see :meth:`Evaluation.report`."""
    target = Path(path)
    folder = None if images is None else Path(images)
    check_output(target, [source for _, source in input_paths(evaluation)])
    if folder is not None and not folder.is_dir():
        raise ValueError(f"images must be a folder, got {str(folder)!r}")
    data = report_data(
        evaluation,
        images=folder,
        title=title,
        iou=iou,
        score_threshold=score_threshold,
        worst=worst,
        created=created,
        threads=threads,
    )
    write_whole(target, report_page(data))
