"""Writing the page of a comparison of models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ioukit._output import write_whole
from ioukit.report import _html
from ioukit.report.comparison_data import ComparisonData, comparison_data
from ioukit.report.data import input_paths
from ioukit.report.writer import check_report

if TYPE_CHECKING:
    import datetime
    import os

    from ioukit.comparison import ModelComparison

__all__ = ["comparison_page", "write_comparison"]

_SCRIPTS = (
    *("shared/words.js", "shared/charts.js", "shared/curves.js", "shared/paged.js", "shared/outcomes.js"),
    *(
        "shared/pictures.js",
        "shared/commands.js",
        "comparison/look.js",
        "comparison/thresholds.js",
        "comparison/parts.js",
    ),
    *("comparison/changes.js", "comparison/pair.js", "comparison/main.js"),
)


def write_comparison(
    comparison: ModelComparison,
    path: str | os.PathLike[str],
    images: str | os.PathLike[str] | None = None,
    *,
    title: str | None = None,
    photographs: int = 48,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows whether a model is better than another, where, and what changed.

    The first two models of the comparison are A and B. The file needs no server and no network. Needs the extra
    ``report``.

    Args:
        comparison: The result of `ioukit.comparison.compare_models`.
        path: The file to write. After an error it is as it was.
        images: The folder of the photographs, for those of the images that changed most; boxes without photographs if
            ``None``.
        title: The heading; the names of A and B if ``None``.
        photographs: The largest number of photographs; the page has fewer if they are large.
        created: The time that the page shows; now if ``None``.

    Raises:
        ValueError: If ``path`` is a folder, is in a folder that does not exist, is a file that one of the evaluations
            was read from, or is one of the images; if ``images`` is not a folder, or ``photographs`` is negative.
        ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
        OSError: If the file cannot be written.
    """
    target = Path(path)
    folder = None if images is None else Path(images)
    inputs = [source for evaluation in comparison.evaluations for _, source in input_paths(evaluation)]
    check_report(target, inputs, folder)
    data = comparison_data(comparison, images=folder, title=title, photographs=photographs, created=created)
    write_whole(target, comparison_page(data))


def comparison_page(data: ComparisonData) -> str:
    """The page as one HTML text, which needs no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    return _html.page(
        _html.asset("comparison/comparison.html.j2"),
        css=_html.style(
            "shared/document.css", "shared/outcomes.css", "shared/controls.css", "comparison/comparison.css"
        ),
        js=_html.program(*_SCRIPTS),
        data=data.drawn,
        needed_by="write_comparison",
        report=data,
    )
