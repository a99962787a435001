"""From an evaluation to one file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit._output import check_output, write_whole
from ioukit.report.data import input_paths, report_data
from ioukit.report.page import report_page

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit.evaluation import Evaluation

__all__ = ["check_report", "write_report"]


def check_report(path: Path, inputs: Iterable[Path], images: Path | None) -> None:
    """Refuses before the work what could not, or should not, be written after it.

    Raises:
        ValueError: If ``path`` is an input, a folder or in none, or a file among the photographs that is no page; or if
            ``images`` is no folder.
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
    evaluation: Evaluation, path: str | os.PathLike[str], images: str | os.PathLike[str] | None = None, **options: Any
) -> None:
    """Write the report: see :meth:`Evaluation.report`, whose other options are those of `report_data`."""
    target = Path(path)
    folder = None if images is None else Path(images)
    check_report(target, [source for _, source in input_paths(evaluation)], folder)
    write_whole(target, report_page(report_data(evaluation, images=folder, **options)))
