"""Writing the report of an evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ioukit._output import check_output, write_whole
from ioukit.report.data import input_paths, report_data
from ioukit.report.page import report_page

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Iterable

    from ioukit.evaluation import Evaluation

__all__ = ["check_report", "write_report"]


def check_report(path: Path, inputs: Iterable[Path], images: Path | None) -> None:
    """Refuses, before the work starts, a path that cannot or should not be written.

    Raises:
        ValueError: If ``path`` is an input, a folder, in a folder that does not exist, or a file among the photographs
            that is not a page; or if ``images`` is not a folder.
    """
    check_output(path, inputs)
    if images is None:
        return
    if not images.is_dir():
        raise ValueError(f"images must be a folder, got {str(images)!r}")
    inside = path.exists() and path.resolve().is_relative_to(images.resolve())
    if inside and path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path} is in the folder of the images and would be overwritten")


def write_report(
    evaluation: Evaluation,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    iou_threshold: float | None = None,
    score_threshold: float | None = None,
    worst: int = 24,
    created: datetime.datetime | None = None,
    threads: int | None = None,
) -> None:
    """Write one HTML file that shows how good a detector is, which errors it makes, and on which images.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        evaluation: The result of ``evaluate``.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs, for thumbnails of the worst images; boxes without photographs if
            ``None``.
        title: The heading; the name of the file of the detections if ``None``.
        iou_threshold: IoU threshold of curves, confusion matrix, errors and images, one of the protocol's. If
            ``None``, its main one: 0.5, or the lowest if 0.5 is not among them.
        score_threshold: Detections with this score or a higher one count in the matrix and on the images; the score
            with the best F1 for all classes together if ``None``.
        worst: How many images to show, those with the most errors first.
        created: The time that the report shows; now if ``None``.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that the evaluation was read
            from, or is one of the images; if ``images`` is not a folder, the protocol has no such IoU threshold,
            ``score_threshold`` is NaN or ``worst`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    target = Path(path)
    folder = None if images is None else Path(images)
    check_report(target, [source for _, source in input_paths(evaluation)], folder)
    data = report_data(
        evaluation,
        images=folder,
        title=title,
        iou_threshold=iou_threshold,
        score_threshold=score_threshold,
        worst=worst,
        created=created,
        threads=threads,
    )
    write_whole(target, report_page(data))
