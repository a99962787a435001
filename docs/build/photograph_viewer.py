"""Takes the pictures of docs/view.md and docs/index.md, in Chromium: python docs/build/photograph_viewer.py."""

from __future__ import annotations

import io
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import ioukit
from ioukit import Boxes, evaluate, nms, read_coco

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIGURES = Path(__file__).parents[1] / "figures"
PHOTOGRAPHS = FIGURES.parents[1] / "src" / "ioukit" / "cli" / "demo_files"


def save(tab: Page, name: str) -> None:
    """The page as it is, as a JPEG: it is full of photographs."""
    tab.wait_for_timeout(1200)
    Image.open(io.BytesIO(tab.screenshot())).convert("RGB").save(FIGURES / name, quality=80, optimize=True)


def grid(tab: Page) -> None:
    """All false positives with a score of at least 0.4."""
    tab.locator("#grid [role=gridcell]").first.wait_for()
    save(tab, "viewer_grid.jpg")


def large(tab: Page) -> None:
    """One image large, with a false positive chosen from the list."""
    tab.locator("#grid [role=gridcell]").first.click()
    tab.locator("#large-list [role=option]").first.click()
    save(tab, "viewer_large.jpg")


def numbers(tab: Page) -> None:
    """The panel with the numbers, and the images of a kind of error that is clicked in it."""
    tab.keyboard.press("Escape")  # back to all images
    tab.get_by_role("button", name="Reset all").click()
    tab.get_by_role("button", name="Numbers").click()
    tab.locator(".error-bar").first.click()
    save(tab, "viewer_numbers.jpg")


def two_models(tab: Page) -> None:
    """The first image, with what two models found, side by side."""
    tab.locator("#grid [role=gridcell]").first.click()
    tab.get_by_role("button", name="Side by side").click()


def pictures() -> None:
    """Opens the viewer as `ioukit.view` does, and takes the pictures."""
    truth, found = read_coco(PHOTOGRAPHS / "gt.json", PHOTOGRAPHS / "a.json")
    images = np.unique(found.image_ids, return_inverse=True)[1]
    kept = nms(Boxes(found.boxes, "xywh"), found.scores, iou_threshold=0.4, labels=images)
    models = {"detector": evaluate(truth, found), "NMS over all classes": evaluate(truth, found[np.sort(kept)])}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        options = {"images": PHOTOGRAPHS / "photos", "notes": Path(folder) / "notes.db", "browser": False}
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        size = {"width": 1280, "height": 800}
        with ioukit.view(models["detector"], filter={"outcome": "fp", "score": "0.4.."}, **options) as viewer:
            tab = browser.new_page(viewport=size, color_scheme="light")
            tab.goto(viewer.address)
            grid(tab)
            large(tab)
            numbers(tab)
        with ioukit.view(models, filter={"change": ["won", "lost"]}, **options) as viewer:
            tab = browser.new_page(viewport=size, color_scheme="light")
            tab.goto(viewer.address)
            two_models(tab)
            save(tab, "viewer_models.jpg")
        models = {name: evaluate(PHOTOGRAPHS / "gt.json", PHOTOGRAPHS / f"{name}.json") for name in "ab"}
        with ioukit.view(models, **options) as viewer:
            tab = browser.new_page(viewport=size, color_scheme="light")
            tab.goto(viewer.address)
            two_models(tab)
            save(tab, "viewer_demo.jpg")
        browser.close()


if __name__ == "__main__":
    pictures()
