"""Takes the pictures of pages in this folder with the system's Chromium: python docs/figures/photograph.py."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from ioukit.report import playground_page

HERE = Path(__file__).parent


def photograph(page: str, name: str, *, selector: str, choose: str) -> None:
    """Writes ``name`` beside this file: an element of a page, in few colours, which makes a small file."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = Path(folder) / "page.html"
        path.write_text(page, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1160, "height": 900}, color_scheme="light")
        tab.goto(path.as_uri())
        tab.click(choose)
        tab.mouse.move(0, 0)
        shot = tab.locator(selector).screenshot()
        browser.close()
    Image.open(io.BytesIO(shot)).convert("RGB").quantize(256, Image.Quantize.MAXCOVERAGE).save(
        HERE / name, optimize=True
    )


if __name__ == "__main__":
    photograph(playground_page(), "playground.png", selector="#boxes", choose="#choose-diou")
