"""What a notebook shows: results as tables with names, figures as pictures."""

from __future__ import annotations

import dataclasses
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from ioukit import Detections, GroundTruth, checks
from ioukit._notebook import MOST_ROWS, table_of
from ioukit.comparison import changes, compare_models, parts
from ioukit.evaluation import compare_protocols
from ioukit.label_errors import find_label_errors
from ioukit.operating import FBeta, calibration_errors, choose_thresholds
from ioukit.runs import Rule, Rules, check_rules
from ioukit.slices import slice_numbers
from ioukit.statistics import compare
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = EXAMPLES / "coco_val2017_100"


@cache
def data() -> tuple[GroundTruth, Detections]:
    return ioukit.read_coco(FOLDER / "ground_truth.json", FOLDER / "yolact.json")


@cache
def evaluation() -> ioukit.Evaluation:
    return ioukit.evaluate(*data())


@cache
def worse() -> ioukit.Evaluation:
    gt, dt = data()
    return ioukit.evaluate(gt, dt.take(dt.scores > 0.3))


RESULTS: dict[str, tuple[Callable[[], Any], str]] = {
    "evaluation": (evaluation, "<th style=.text-align:left.>AP</th><td>0.400</td>"),
    "per class": (lambda: evaluation().per_class, "<caption>80 classes<.*>person</td><td>221</td>"),
    "one class": (lambda: evaluation().per_class["person"], "<td>221</td>"),
    "interval": (lambda: evaluation().interval("AP", replicates=20), "<td>0.400</td>"),
    "intervals": (lambda: evaluation().intervals(["AP", "AP50"], replicates=20), ">AP50</td><td>0.640</td>"),
    "comparison": (
        lambda: compare(evaluation(), worse(), keys=["AP"], replicates=20, permutations=20),
        ">AP</th><td>0.400</td><td>0.333</td><td>-0.067</td>",
    ),
    "models": (
        lambda: evaluation().compare(worse(), per_class=False, replicates=20, permutations=20),
        "<caption>B is worse than A by .*<th .*></th><th>A</th><th>B</th><th>difference</th>"
        ".*>AP</th><td>0.400</td><td>0.333</td><td>-0.067</td>",
    ),
    "three models": (
        lambda: compare_models(
            {"A": evaluation(), "B": worse(), "C": evaluation()}, per_class=False, replicates=20, permutations=20
        ),
        "<th .*></th><th>A</th><th>B</th><th>C</th>.*>AP</th><td>0.400</td><td>0.333</td><td></td><td>-0.067</td>"
        ".*>AP</th><td>0.400</td><td></td><td>0.400</td><td>0</td>",
    ),
    "one pair": (
        lambda: evaluation().compare(worse(), per_class=False, replicates=20, permutations=20).pairs[0],
        "<caption>B is worse than A by .*>AP</th><td>0.400</td><td>0.333</td><td>-0.067</td>",
    ),
    "changes": (lambda: changes(evaluation(), worse()), ">gone false positive</th><td>178</td>"),
    "parts": (
        lambda: parts(evaluation(), worse()),
        ">points of AP<.*>size: small</td><td>-1.5.*>error: wrong place</td>.*>class: suitcase</td>",
    ),
    "slices of two": (
        lambda: slice_numbers(evaluation(), ["size"], b=worse(), replicates=20),
        "<th>AP high</th><th>AP of B</th><th>change</th>.*>size: small</td>",
    ),
    "gate": (
        lambda: check_rules(
            worse(),
            evaluation(),
            Rules(rules=[Rule(metric="AP", may_fall_by=0.0), Rule(metric="AP50", at_least=0.6)]),
            names=("B", "A"),
        ),
        "<caption>broken: B compared with A, 100 images</caption>.*<th>A</th><th>B</th>"
        ".*>AP may not fall</td><td .*>broken</td><th .*>AP</th><td>0.400</td><td>0.333</td><td>-0.067</td>",
    ),
    "NMS": (
        lambda: ioukit.nms([[0, 0, 4, 4], [0, 0, 4, 3], [8, 8, 9, 9]], [0.9, 0.8, 0.7], 0.5, explain=True),
        "<caption>Suppression: 2 of 3 kept; .*<td>1</td><td>0.800</td><td .*>overlap</td><td>0</td><td>0.750</td>",
    ),
    "error kinds": (lambda: evaluation().error_kinds(), ">wrong place</td><td>787</td>"),
    "confusion": (lambda: evaluation().confusion(), ">person</td><td .*>background</td><td>96</td>"),
    "images": (lambda: evaluation().worst_images(), "<th .*>image</th>.*>000000435081.jpg</td><td>63</td>"),
    "score curves": (lambda: evaluation().score_curves(), ">person</td><td>0.223</td>"),
    "protocols": (
        lambda: compare_protocols(*data(), ["coco", "voc2012"]),
        ">voc2012</td>.*>mAP</td><td>0.646</td>",
    ),
    "label errors": (lambda: find_label_errors(evaluation()), ">000000157928.jpg</td>.*>skis</td>.*and 3,3.. more"),
    "thresholds": (lambda: choose_thresholds(evaluation(), FBeta(), replicates=20), ">person</td>"),
    "slices": (
        lambda: slice_numbers(evaluation(), ["size"], replicates=20),
        "<th style=.text-align:left.>name</th><th>images</th><th>objects</th><th>AP</th><th>AP low</th>(?!.*AP50)"
        ".*>size: small</td>",
    ),
    "calibration": (lambda: calibration_errors(evaluation()), ">d_ece</th><td>0.047</td>"),
    "check": (lambda: checks.check(*data()), "classes_without_objects"),
    "protocol": (lambda: ioukit.COCO, ">iou_thresholds</th>"),
    "ground truth": (lambda: data()[0], ">000000233727.jpg</td><td .*>bicycle</td>"),
    "detections of an evaluation": (lambda: evaluation().detections, ">000000000885.jpg</td><td .*>tennis racket</td>"),
    "table of matches": (lambda: evaluation().matches, "<caption>MatchTable: 3,380 detections"),
    "curves": (lambda: evaluation().curves, "<caption>Curves"),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_shows_itself(name: str) -> None:
    make, part = RESULTS[name]
    shown = make()._repr_html_()
    assert re.search(part, shown, re.DOTALL), shown[:2000]
    assert shown.count("<tr>") <= MOST_ROWS + 2
    assert shown.count("<table>") == shown.count("</table>") == 1
    assert "object at 0x" not in shown


def test_text_is_escaped_and_rows_are_counted() -> None:
    shown = table_of("<c>", [{"<t>": "<v>"}] * (MOST_ROWS + 3), MOST_ROWS + 3)
    assert not re.search("<[ctv]>", shown)
    assert shown.count("&lt;v&gt;") == MOST_ROWS
    assert "and 3 more" in shown


def test_numbers_are_short_and_none_is_empty() -> None:
    row = {"a": 1 / 3, "b": 1234.5, "c": float("nan"), "d": None, "e": 0.00012345, "f": 7}
    shown = re.findall("<td>(.*?)</td>", table_of("", [row]))
    assert shown == ["0.333", "1234.5", "undefined", "", "0.00012", "7"]


def test_a_record_with_a_name_needs_no_id() -> None:
    @dataclasses.dataclass
    class Row:
        id: int
        name: str

    assert "7" not in table_of("", [Row(7, "cat")])


def test_detections_alone_show_ids() -> None:
    gt, dt = data()
    alone = dt.take(slice(0, 2))
    assert "tennis racket" not in alone._repr_html_()
    assert "tennis racket" in alone.meeting(gt)._repr_html_()


def test_a_kernel_shows_figures_once() -> None:
    """As the last line of a cell, or with ``plt.show()``; with and without pyplot, and without a magic word."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("ipykernel")
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    axes = "ioukit.plots.overlap_figure([0, 0, 2, 2], [1, 1, 3, 3])"
    cells = [
        f"import ioukit\n{axes}",
        f"{axes}.figure",
        f"import matplotlib.pyplot as plt\n{axes}",
        f"{axes}.figure",
        f"drawn = {axes}\nplt.show()",
        "import numpy\nioukit.plots.draw_boxes(numpy.zeros((9, 9, 3), numpy.uint8), [[1, 1, 5, 5]])",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbclient.NotebookClient(notebook, kernel_name="python3").execute()
    pictures = [
        [kind for output in cell.outputs for kind in output.get("data", {}) if kind.startswith("image/")]
        for cell in notebook.cells
    ]
    assert pictures == [["image/png"]] * 5 + [["image/jpeg"]]  # photographs would be large as PNG
