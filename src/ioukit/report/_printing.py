"""A page as PDF: the same page, printed by a Chromium that is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

_BROWSERS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
)
_SECONDS = 300
_TIME_OF_THE_PAGE = 20_000  # milliseconds that its clock may run, until its script has drawn everything


def find_browser() -> str:
    """The path of a browser that prints pages.

    Raises:
        ValueError: If there is none.
    """
    path = next((found for name in _BROWSERS if (found := shutil.which(name))), None)
    if path is None:
        raise ValueError(
            f"a PDF needs Chromium or Chrome to print the page, and none of {', '.join(_BROWSERS)} is on the PATH: "
            "write an .html file, which every browser can print"
        )
    return path


def pdf_of(html: str) -> bytes:
    """A page as PDF.

    Raises:
        ValueError: If there is no browser.
        OSError: If the browser prints nothing.
    """
    browser = find_browser()
    with tempfile.TemporaryDirectory(prefix="ioukit-", ignore_cleanup_errors=True) as folder:
        page, pdf = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(html, encoding="utf-8")
        command = [
            browser,
            "--headless",
            "--disable-gpu",
            f"--user-data-dir={folder}/profile",
            "--no-pdf-header-footer",
        ]
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--no-sandbox")  # which is refused to root; the page loads nothing
        command += [f"--virtual-time-budget={_TIME_OF_THE_PAGE}", f"--print-to-pdf={pdf}", page.as_uri()]
        try:
            done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise OSError(f"{browser} printed nothing in {_SECONDS} seconds") from None
        if not pdf.is_file():
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise OSError(f"{browser} printed nothing: {''.join(said) or f'it ended with {done.returncode}'}")
        return pdf.read_bytes()
