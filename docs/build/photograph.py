"""Takes the pictures of pages, for docs/figures, with the system's Chromium: python docs/build/photograph.py."""

from __future__ import annotations

import datetime
import io
import shutil
import tempfile
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from track_figures import walkers

from ioukit import Boxes, evaluate, inspect, nms, read_coco
from ioukit.comparison import compare_models
from ioukit.label_errors import find_label_errors
from ioukit.report import (
    playground_page,
    write_comparison,
    write_inspection,
    write_label_errors,
    write_report,
    write_tracks,
)
from ioukit.runs import Ledger, write_runs_page

HERE = Path(__file__).parents[1] / "figures"
EXAMPLE = HERE.parents[1] / "examples" / "coco_val2017_100"
MARGIN = 12


def photograph(page: Path, name: str, *choose: str, selector: str, height: int = 900) -> None:
    """Writes an element of a page, or several, to the folder of the figures, in few colours: a small file.

    Args:
        page: The page.
        name: The name of the picture.
        choose: The elements to click before, in order.
        selector: The element, or elements.
        height: That of the window. If the page fits into it, lines that stick to its edges lie on nothing.
    """
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1160, "height": height}, color_scheme="light")
        tab.goto(page.as_uri())
        for element in choose:
            tab.click(element)
        tab.evaluate("document.activeElement.blur()")
        tab.mouse.move(0, 0)
        tab.wait_for_timeout(300)
        boxes = [box for one in tab.locator(selector).all() if (box := one.bounding_box()) is not None]
        x, y = (min(box[at] for box in boxes) for at in ("x", "y"))
        right, bottom = (max(box[at] + box[side] for box in boxes) for at, side in (("x", "width"), ("y", "height")))
        size = {"width": right - x + 2 * MARGIN, "height": bottom - y + 2 * MARGIN}
        # A dialog is above the part of the page in sight.
        whole = not tab.locator(selector).first.evaluate("one => one.closest('dialog') !== null")
        shot = tab.screenshot(full_page=whole, clip={"x": x - MARGIN, "y": y - MARGIN, **size})
        browser.close()
    # Without dither, which would make specks of soft shadows.
    image = Image.open(io.BytesIO(shot)).convert("RGB").quantize(160, dither=Image.Dither.NONE)
    image.save(HERE / name, optimize=True)


def compared(path: Path) -> None:
    """Writes the page of the two models of docs/compare.md: B is A after an NMS that does not look at classes."""
    truth, found = read_coco(EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json")
    images = np.unique(found.image_ids, return_inverse=True)[1]
    kept = nms(Boxes(found.boxes, "xywh"), found.scores, iou_threshold=0.7, labels=images)
    models = {"YOLACT": evaluate(truth, found), "YOLACT, NMS over all classes": evaluate(truth, found[np.sort(kept)])}
    write_comparison(compare_models(models), path)


def runs(path: Path) -> None:
    """Writes the page of a ledger: two trainings, played by more and more of the detections of one model."""
    truth, found = read_coco(EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json")
    ledger, rng = Ledger(path.with_name("runs.db")), np.random.default_rng(0)
    for k in range(12):
        evaluation = evaluate(truth, found[rng.random(len(found)) < 0.5 + 0.04 * k])
        ledger.add(
            evaluation,
            name=("main", "wider")[k % 2],
            tags={"lr": f"{1 + k % 3}e-3"},
            values={"latency": 12 + 2 * (k % 2)},
            intervals=evaluation.intervals(evaluation.protocol.headline_keys),
            created=datetime.datetime(2026, 9, 1) + datetime.timedelta(days=3 * k),
        )
    write_runs_page(ledger.runs(), path, ledger=ledger.path)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        playground, report = Path(folder) / "playground.html", Path(folder) / "report.html"
        playground.write_text(playground_page(), encoding="utf-8")
        photograph(playground, "playground.png", "#choose-diou", selector="#boxes")
        write_report(evaluate(EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json"), report)
        photograph(report, "report_summary.png", "#numbers-title", selector="#summary > .wrap", height=1500)
        photograph(report, "report.png", selector="#curves > .wrap")
        pair = '#confusions .link:has-text("sandwich detected as cake")'
        photograph(report, "report_cell.png", pair, "#cell-images li button", "#viewer-near", selector="#viewer")
        held = Path(folder) / "inspection.html"
        write_inspection(inspect(EXAMPLE / "ground_truth.json"), held)
        photograph(held, "inspection.png", selector="#objects > .wrap")
        both = Path(folder) / "comparison.html"
        compared(both)
        photograph(both, "comparison.png", selector="#summary > .wrap, #numbers-of-pair > .wrap")
        other_class = [f"#changes-kinds input[value={kind}]" for kind in ("gone", "lost")]
        first = "#changes-table tbody tr:nth-child(2) button"
        photograph(both, "comparison_pair.png", *other_class, first, selector="#pair")
        kept = Path(folder) / "runs.html"
        runs(kept)
        photograph(kept, "runs.png", selector="#time > .wrap")
        tracks = Path(folder) / "tracks.html"
        write_tracks(walkers(), tracks)
        photograph(tracks, "tracks.png", selector="#costs > .wrap, #timeline > .wrap", height=2600)
        errors = find_label_errors(evaluate(EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json"))
        # Some of each kind, so that the picture shows how each is drawn.
        places = [np.flatnonzero(errors.kind == kind)[:count] for kind, count in enumerate((2, 1, 1, 1, 1))]
        labels = Path(folder) / "labels.html"
        write_label_errors(errors[np.sort(np.concatenate(places))], labels)
        made = [f".card:nth-child({at + 1}) [value={word}]" for at, word in enumerate(("no", "yes", "yes", "unsure"))]
        photograph(labels, "labels.png", *made, selector="#labels > .wrap", height=2800)
        photograph(labels, "labels_decide.png", *made, ".card:nth-child(3) > button", selector="#viewer")
