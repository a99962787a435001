"""From data to one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.report import _html

if TYPE_CHECKING:
    from ioukit.report.data import ReportData

__all__ = ["report_page"]

_SCRIPTS = ("words", "charts", "operating", "tables", "matrix", "pictures", "main")


def report_page(data: ReportData) -> str:
    """The page as one HTML text, which needs no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    return _html.page(
        _html.asset("report/report.html.j2"),
        css=_html.style("report/report.css"),
        js=_html.program(*(f"report/{name}.js" for name in _SCRIPTS)),
        data=data.drawn,
        needed_by="write_report",
        report=data,
    )
