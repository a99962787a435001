"""Pages to look at: one self-contained HTML file each."""

from ioukit.report.playground import playground_page

__all__ = ["playground_page"]
