"""From data to one HTML file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.report import _html

if TYPE_CHECKING:
    from ioukit.report.data import ReportData

__all__ = ["report_page"]

# One program in one scope, in this order.
_SCRIPTS = ("base.js", "charts.js", "operating.js", "tables.js", "matrix.js", "pictures.js", "main.js")


def report_page(data: ReportData) -> str:
    """The page, which is whole in itself: it asks for no other file.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.
    """
    program = "".join(_html.asset(f"report/{name}") for name in _SCRIPTS)
    return _html.page(
        _html.asset("report/report.html.j2"),
        css=_html.asset("report/report.css"),
        js=f'"use strict";\n(() => {{\n{program}}})();\n',
        data=data.drawn,
        needed_by="Evaluation.report",
        report=data,
    )
