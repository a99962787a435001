"""Writing the page of label errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ioukit._output import write_whole
from ioukit.report import _html
from ioukit.report.data import input_paths
from ioukit.report.labels_data import LabelsData, labels_data
from ioukit.report.writer import check_report

if TYPE_CHECKING:
    import datetime
    import os

    from ioukit.label_errors import LabelErrors

__all__ = ["labels_page", "write_label_errors"]

_SCRIPTS = ("shared/words.js", "labels/suspicions.js", "shared/pictures.js", "labels/cards.js")


def write_label_errors(
    errors: LabelErrors,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    most: int = 500,
    photographs: int = 150,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows each suspicious label on its image, with the proposed change.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        errors: The result of `ioukit.label_errors.find_label_errors`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs; boxes without photographs if ``None``.
        title: The heading; the name of the file of the ground truth if ``None``.
        most: How many labels to list, the most suspicious ones.
        photographs: How many photographs to put into the page. Each needs about 80 kB.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that the data were read from,
            or is one of the images; if ``images`` is not a folder, or ``most`` or ``photographs`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    target = Path(path)
    folder = None if images is None else Path(images)
    check_report(target, [source for _, source in input_paths(errors.evaluation)], folder)
    data = labels_data(errors, images=folder, title=title, most=most, photographs=photographs, created=created)
    write_whole(target, labels_page(data))


def labels_page(data: LabelsData) -> str:
    """The page as one HTML text, which needs no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    return _html.page(
        _html.asset("labels/labels.html.j2"),
        css=_html.style("shared/document.css", "labels/labels.css"),
        js=_html.program(*_SCRIPTS),
        data=data.drawn,
        needed_by="write_label_errors",
        report=data,
    )
