"""Writing the page of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ioukit._output import write_whole
from ioukit.report import _html
from ioukit.report.inspection_data import InspectionData, inspection_data, source_of
from ioukit.report.writer import check_report

if TYPE_CHECKING:
    import datetime
    import os

    from ioukit.inspection import Inspection

__all__ = ["inspection_page", "write_inspection"]

_SCRIPTS = (
    *("shared/words.js", "shared/charts.js", "inspection/bars.js", "shared/tables.js"),
    *("inspection/examples.js", "shared/pictures.js", "inspection/main.js"),
)


def write_inspection(
    inspection: Inspection,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    examples: int = 24,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows what a data set holds: numbers, charts for each class, and examples.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        inspection: The result of `ioukit.inspect`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs, for thumbnails of the examples; boxes without photographs if ``None``.
        title: The heading; the name of the file or folder of the data set if ``None``.
        examples: How many images to show: the largest, the smallest, the tallest and the widest object, the image with
            the most objects, the nearest neighbours of one class, and then a typical object of each class.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is the file that the data set was read
            from, or is one of the images; if ``images`` is not a folder, or ``examples`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    target = Path(path)
    folder = None if images is None else Path(images)
    source = source_of(inspection)
    check_report(target, [] if source is None else [source], folder)
    data = inspection_data(inspection, images=folder, title=title, most_examples=examples, created=created)
    write_whole(target, inspection_page(data))


def inspection_page(data: InspectionData) -> str:
    """The page as one HTML text, which needs no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    return _html.page(
        _html.asset("inspection/inspection.html.j2"),
        css=_html.style("shared/document.css", "inspection/inspection.css"),
        js=_html.program(*_SCRIPTS),
        data=data.drawn,
        needed_by="write_inspection",
        report=data,
    )
