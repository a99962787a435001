"""`--report` and `--images`: checks before the work, and the page after it."""

from __future__ import annotations

import os
from pathlib import PureWindowsPath
from typing import TYPE_CHECKING

import typer

from ioukit._optional import import_extra
from ioukit.cli._errors import bad_output, bad_value, missing_extra
from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.comparison import ModelComparison
    from ioukit.datasets import GroundTruth
    from ioukit.evaluation import Evaluation
    from ioukit.inspection import Inspection
    from ioukit.label_errors import LabelErrors

__all__ = ["check_report", "say_found", "write_comparison", "write_inspection", "write_labels", "write_report"]


def check_report(report: Path | None, images: Path | None, inputs: Sequence[Path], json_file: Path | None) -> None:
    """Refuses, before the work, a report that could not be written after it.

    Raises:
        typer.BadParameter: If one of the options is wrong. It names the option.
        typer.Exit: If a package that the report needs is not installed, after a message.
    """
    if images is not None:
        if report is None:
            raise typer.BadParameter("--images needs --report: only the report shows images")
        if not images.is_dir():
            raise typer.BadParameter(f"expected a folder, got {str(images)!r}", param_hint="--images")
    if report is None:
        return
    with bad_value("--report"):
        from ioukit.report.writer import check_report as check  # noqa: PLC0415 - only reports need it

        check(report, inputs, images)
        if json_file is not None and os.path.realpath(report) == os.path.realpath(json_file):
            raise ValueError(f"{report} is the file of --json too")
    with missing_extra():
        import_extra("jinja2", extra="report", needed_by="--report")
        if images is not None:
            import_extra("PIL", extra="report", needed_by="--images")


def write_report(
    evaluation: Evaluation, report: Path, images: Path | None, threads: int | None, talk: Talk, *, long: bool
) -> None:
    """Writes the report, and says how many photographs were found in the folder."""
    from ioukit.report import write_report as write  # noqa: PLC0415 - only reports need it

    say_found(evaluation.ground_truth, images, talk)
    with bad_output(), talk.busy("writing the report", long=long):
        write(evaluation, report, images, threads=threads)
    talk.say(f"wrote {printable(str(report))}")


def write_inspection(inspection: Inspection, report: Path, images: Path | None, talk: Talk, *, long: bool) -> None:
    """Writes the page of a data set, and says how many photographs were found in the folder."""
    from ioukit.report import write_inspection as write  # noqa: PLC0415 - as above

    say_found(inspection.ground_truth, images, talk)
    with bad_output(), talk.busy("writing the page", long=long):
        write(inspection, report, images)
    talk.say(f"wrote {printable(str(report))}")


def write_labels(errors: LabelErrors, report: Path, images: Path | None, talk: Talk, *, long: bool) -> None:
    """Writes the page of label errors, and says how many photographs were found in the folder."""
    from ioukit.report import write_label_errors as write  # noqa: PLC0415 - as above

    say_found(errors.evaluation.ground_truth, images, talk)
    with bad_output(), talk.busy("writing the page", long=long):
        write(errors, report, images)
    talk.say(f"wrote {printable(str(report))}")


def write_comparison(compared: ModelComparison, report: Path, images: Path | None, talk: Talk, *, long: bool) -> None:
    """Writes the page of a comparison, and says how many photographs were found in the folder."""
    from ioukit.report import write_comparison as write  # noqa: PLC0415 - as above

    say_found(compared.evaluations[0].ground_truth, images, talk)
    with bad_output(), talk.busy("writing the page", long=long):
        write(compared, report, images)
    talk.say(f"wrote {printable(str(report))}")


def say_found(gt: GroundTruth | None, images: Path | None, talk: Talk) -> None:
    """Says how many images of a data set have a file in a folder. The folder is listed once; no file is opened."""
    if images is None or gt is None:
        return
    with os.scandir(images) as entries:
        files = {entry.name for entry in entries if entry.is_file()}
    from ioukit.report._picture_files import SUFFIXES  # noqa: PLC0415 - as above

    stems = {stem for stem, suffix in map(os.path.splitext, files) if suffix in SUFFIXES}
    names = gt.images.names
    found = sum(_is_in(images, name, files, stems) for name in names)
    talk.say(f"found {found:,} of {len(names):,} images in {printable(str(images))}")


def _is_in(folder: Path, name: str, files: set[str], stems: set[str]) -> bool:
    """Whether the folder has the file, as ``ioukit.report._picture_files`` looks for it."""
    last = PureWindowsPath(name).name
    if last in files or (last in stems and not os.path.splitext(last)[1]):
        return True
    inside = bool(name) and not os.path.isabs(name) and not os.path.normpath(name).startswith("..")
    return inside and last != name and os.path.isfile(os.path.join(folder, name))
