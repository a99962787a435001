"""What can I open? Pages to look at: one self-contained HTML file each."""

from ioukit.report.agreement_page import write_agreement
from ioukit.report.comparison_page import write_comparison
from ioukit.report.inspection_page import write_inspection
from ioukit.report.label_errors_page import write_label_errors
from ioukit.report.latex import latex_table
from ioukit.report.markdown import markdown_summary
from ioukit.report.playground import playground_page
from ioukit.report.report_page import write_report
from ioukit.report.suite_page import write_suite
from ioukit.report.tracks_page import write_tracks

__all__ = [
    "latex_table",
    "markdown_summary",
    "playground_page",
    "write_agreement",
    "write_comparison",
    "write_inspection",
    "write_label_errors",
    "write_report",
    "write_suite",
    "write_tracks",
]
