"""From data to one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.report import _html

if TYPE_CHECKING:
    from ioukit.report.data import ReportData

__all__ = ["report_page"]

_SCRIPTS = (
    *("shared/words.js", "shared/charts.js", "shared/bars.js", "shared/curves.js", "shared/tables.js"),
    *("shared/commands.js", "shared/downloads.js", "shared/table_pictures.js", "shared/hints.js", "shared/outcomes.js"),
    *("shared/pictures.js", "shared/zoom.js", "report/threshold.js", "report/operating.js", "report/by_iou.js"),
    *("report/regions.js", "report/large.js", "report/lists.js", "report/matrix.js", "report/errors.js"),
    *("report/sizes.js", "report/histograms.js", "report/gallery.js", "report/main.js"),
)
_STYLES = ("shared/document.css", "shared/outcomes.css", "shared/controls.css", "shared/zoom.css", "report/report.css")


def report_page(data: ReportData) -> str:
    """The page as one HTML text, which needs no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    return _html.page(
        _html.asset("report/report.html.j2"),
        css=_html.style(*_STYLES),
        js=_html.program(*_SCRIPTS),
        data=data.drawn,
        needed_by="write_report",
        report=data,
    )
