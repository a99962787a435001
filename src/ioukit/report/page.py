"""From data to one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.report import _html

if TYPE_CHECKING:
    from ioukit.report.data import ReportData

__all__ = ["report_page"]

_SCRIPTS = (
    *("shared/words.js", "shared/charts.js", "shared/curves.js", "report/operating.js", "shared/tables.js"),
    *("report/matrix.js", "shared/outcomes.js", "shared/pictures.js", "report/main.js"),
)


def report_page(data: ReportData) -> str:
    """The page as one HTML text, which needs no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    return _html.page(
        _html.asset("report/report.html.j2"),
        css=_html.style("shared/document.css", "shared/outcomes.css", "report/report.css"),
        js=_html.program(*_SCRIPTS),
        data=data.drawn,
        needed_by="write_report",
        report=data,
    )
