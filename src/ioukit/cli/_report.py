"""`--report` and `--images`: checks before the work, and the page after it."""

import os
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from ioukit._optional import import_extra
from ioukit._output import printable
from ioukit.cli._arguments import RESULTS
from ioukit.cli._errors import bad_output, bad_value, check_folder, missing_extra

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.cli._streams import Talk
    from ioukit.datasets import GroundTruth
    from ioukit.evaluation import Evaluation
    from ioukit.statistics import Interval


_NO_PAGES = (".txt", ".csv", ".md", ".png", ".jpg", ".svg", ".xlsx", ".docx")


def page_path(text: str) -> Path:
    """The file of a page: a name without an ending gets ``.html``, without which no browser shows it as a page."""
    path = Path(text)
    if path.suffix.lower() in _NO_PAGES:
        raise typer.BadParameter(
            f"the page is HTML, or PDF if a Chromium is there to print it: name it .html or .pdf, got {text!r}"
        )
    return path if path.suffix or not path.name or path.is_dir() else path.with_name(f"{path.name}.html")


ReportOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        parser=page_path,
        rich_help_panel=RESULTS,
        help="Also write one HTML page to look at: charts, numbers and examples; as PDF if the name ends in .pdf.",
    ),
]


class ReportOptions(NamedTuple):
    """The page that a command writes, and where its photographs are."""

    report: ReportOption = None
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="With --report: folder of the images, to show examples.")
    ] = None

    def check(self, inputs: "Sequence[Path]") -> None:
        """Refuses, before the work, a report that could not be written after it.

        Raises:
            typer.BadParameter: If one of the options is wrong. It names the option.
            typer.Exit: If a package that the report needs is not installed, after a message.
        """
        if self.images is not None:
            if self.report is None:
                raise typer.BadParameter("--images needs --report: only the report shows images")
            check_folder("--images", self.images)
        if self.report is None:
            return
        with bad_value("--report"):
            from ioukit.report.writer import check_report  # noqa: PLC0415 - only reports need it

            check_report(self.report, inputs, self.images)
        with missing_extra():
            import_extra("jinja2", extra="report", needed_by="--report")
            if self.images is not None:
                import_extra("PIL", extra="report", needed_by="--images")

    def intervals(self, evaluation: "Evaluation", threads: int | None) -> "dict[str, Interval]":
        """The intervals of the headline numbers, and of all that the page shows, if one is asked for."""
        keys = evaluation.protocol.headline_keys
        if self.report is not None:
            from ioukit.report._limits import limited_keys  # noqa: PLC0415 - as above

            keys = limited_keys(evaluation)
        return evaluation.intervals(keys, threads=threads)

    def write(self, function: str, of: Any, ground_truth: "GroundTruth | None", talk: "Talk", **options: Any) -> None:
        """Writes the page, if one is asked for, and says how many photographs were found in the folder.

        Args:
            function: The name of the function of `ioukit.report` that writes the page.
            of: What the page shows, the first argument of the function.
            ground_truth: The images, if they are known.
            talk: Where to report what was written.
            **options: Further arguments of the function.
        """
        if self.report is None:
            return
        from ioukit import report  # noqa: PLC0415 - as above

        say_found(ground_truth, self.images, talk)
        with bad_output(), talk.busy("writing the report"):
            photographs = {} if self.images is None else {"images": self.images}
            getattr(report, function)(of, self.report, **photographs, **options)
        talk.say(f"wrote {printable(str(self.report))}")


def say_found(gt: "GroundTruth | None", images: Path | None, talk: "Talk") -> None:
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
