"""Pages as files: what every page has, what may be written where, and that a page is written whole or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from ioukit._collector import collector_off
from ioukit._output import check_output, is_other_file, write_whole
from ioukit.report import _html
from ioukit.report._printing import find_browser, pdf_of

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Mapping

    from ioukit.report._sources import InputFile


class Layout(NamedTuple):
    """The files of ``report/assets`` that a kind of page is made of."""

    template: str
    styles: tuple[str, ...]
    scripts: tuple[str, ...]
    needed_by: str
    """The function that writes the page, for the message if Jinja2 is not installed."""


@dataclass(frozen=True, kw_only=True)
class Page:
    """What the template of every page gets. Invisible characters in texts are already escaped."""

    layout: ClassVar[Layout]

    title: str
    created: str
    facts: tuple[tuple[str, str], ...]
    """The names and numbers of the head: of images, classes and so on."""
    notes: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]
    files: tuple[InputFile, ...]
    missing: Mapping[str, str] = field(default_factory=dict)
    """For each missing part of the page, the reason why it is missing."""
    drawn: Mapping[str, Any] = field(repr=False)
    """The data of the page's script: numbers, names and lists."""

    def html(self) -> str:
        """The page as one HTML text, which needs no other file.

        Raises:
            ModuleNotFoundError: If Jinja2 is not installed.
        """
        template, _, _, needed_by = self.layout
        css, js = self._code()
        return _html.page(_html.asset(template), css=css, js=js, data=self.drawn, needed_by=needed_by, report=self)

    def policy(self) -> str:
        """The content security policy of the page, which also stands in it."""
        return _html.policy(*self._code())

    def _code(self) -> tuple[str, str]:
        """Its style and its script."""
        return _html.style(*self.layout.styles), _html.program(*self.layout.scripts)


def write_page(
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None,
    inputs: Iterable[Path],
    make: Callable[[Path | None], Page],
) -> None:
    """Write a page, printed if its name ends in ``.pdf``. After an error the file is as it was.

    Args:
        path: The file to write.
        images: The folder of the photographs.
        inputs: The files that the data were read from, which are not overwritten.
        make: Collects the data of the page, with the folder of the photographs.

    Raises:
        ValueError: As :func:`check_report`.
        OSError: If the file cannot be written.
    """
    target, folder = Path(path), None if images is None else Path(images)
    check_report(target, inputs, folder)
    with collector_off():  # a page is many small lists until it is written
        html = make(folder).html()
    write_whole(target, pdf_of(html) if _is_pdf(target) else html)


def check_report(path: Path, inputs: Iterable[Path], images: Path | None) -> None:
    """Refuses, before the work starts, a path that cannot or should not be written.

    Raises:
        ValueError: If ``path`` is an input, a folder, in a folder that does not exist, or a file among the photographs
            or in a folder of inputs that is not a page; if ``images`` is not a folder; or if a PDF is wanted and no
            browser prints it.
    """
    check_output(path, inputs)
    if _is_pdf(path):
        find_browser()
    if images is None:
        return
    if not images.is_dir():
        raise ValueError(f"images must be a folder, got {str(images)!r}")
    if is_other_file(path, images):
        raise ValueError(f"{path} is in the folder of the images and would be overwritten")


def _is_pdf(path: Path) -> bool:
    return path.suffix.lower() == ".pdf"
