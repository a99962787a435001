"""`ioukit protocols`, and `ioukit eval --like`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import ioukit
from ioukit._output import fitted
from ioukit.evaluation import compare_protocols, explain_difference, find_tool
from support.command import run_here
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"


def test_the_table_of_all_protocols() -> None:
    comparison = compare_protocols(*ioukit.read_coco(GT, DT))
    command = run_here("protocols", GT, DT)
    assert (command.code, command.out) == (0, f"{fitted(comparison.table(), 80)}\n")
    assert command.err.splitlines()[-1].startswith("done ")
    shown = run_here("protocols", GT, DT, "--json", "--quiet", "--threads", "1")
    assert (shown.err, json.loads(shown.out)) == ("", comparison.to_dict())


def test_a_walk(tmp_path: Path) -> None:
    walk = explain_difference(*ioukit.read_coco(GT, DT), "coco", "voc2012", start_key="AP50")
    ends = ("--start", "coco:AP50", "--end", "voc2012")
    assert run_here("protocols", GT, DT, *ends).out == f"{fitted(walk.table(), 80)}\n"
    short = run_here("protocols", GT, DT, *ends, "--only-changes", "--top", "1")
    assert short.out == f"{fitted(walk.table(zeros=False, most=1), 80)}\n"
    both = run_here("protocols", GT, DT, *ends, "--json", tmp_path / "walk.json")
    assert both.out == f"{fitted(walk.table(), 80)}\n"
    assert json.loads((tmp_path / "walk.json").read_text()) == walk.to_dict(most=3)


def test_ends_can_be_files_and_tools(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('based_on = "coco"\nmax_dets = [5]\n')
    shown = json.loads(run_here("protocols", GT, DT, "--start", f"{own}:AP75", "--end", "Torchmetrics", "--json").out)
    assert shown["start"].items() >= {"protocol": "own", "key": "AP75"}.items()
    assert shown["end"].items() >= {"protocol": "COCO as in torchmetrics", "key": "AP"}.items()
    assert [step["rule"] for step in shown["steps"]] == ["IoU thresholds", "cap on detections", "integral"]


def test_classes_and_kinds() -> None:
    gt, dt = ioukit.read_coco(GT, DT)
    wanted = compare_protocols(gt, dt, categories=["person"]).table()
    assert run_here("protocols", GT, DT, "--classes", "person").out == f"{fitted(wanted, 80)}\n"
    refused = run_here("protocols", GT, DT, "--iou-type", "segm")
    assert refused.code == 2
    assert "no protocol applies: " in refused.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--start", "coco"], "a walk needs both ends: give --start and --end"),
        (["--end", "coco"], "a walk needs both ends: give --start and --end"),
        (["--start", "cocoa", "--end", "coco"], "--start: unknown protocol 'cocoa'; choose from coco, "),
        (
            ["--start", "coco", "--end", "voc2012:AP"],
            "--end: the protocol VOC2012 has no measure 'AP'; choose from mAP",
        ),
        (["--start", "coco", "--end", "no.toml"], "no.toml: there is no such file or folder"),
        (["--iou-type", "boxes"], "--iou-type: unknown iou_type 'boxes'"),
        (["--classes", "persn"], "--classes: "),
        (["--start", "coco", "--end", "lvis"], "the attribute 'neg_category_ids' of the images: expected lists of ids"),
        (["--top", "-1"], "--top"),
        (
            ["--iou-type", "segm", "--start", "voc_eval", "--end", "coco"],
            "voc_eval does not evaluate 'segm', only bbox",
        ),
    ],
)
def test_wrong_use(options: list[str], says: str) -> None:
    command = run_here("protocols", GT, DT, *options)
    assert (command.code, command.out) == (2, "")
    assert says in command.err


def test_json_does_not_overwrite_an_input() -> None:
    refused = run_here("protocols", GT, DT, f"--json={GT}")
    assert refused.code == 2
    assert "is an input and would be overwritten" in refused.err


# ---- ioukit eval --like


def test_like_takes_the_rules_of_a_tool_and_says_what_they_are() -> None:
    tool = find_tool("torchmetrics")
    evaluation = ioukit.evaluate(*ioukit.read_coco(GT, DT), tool.protocol())
    command = run_here("eval", GT, DT, "--like", "torchmetrics")
    assert command.code == 0
    assert command.out.startswith(evaluation.table())
    assert f"s\n{tool.text()}\ndone " in command.err
    quiet = run_here("eval", GT, DT, "--like", "torchmetrics", "--json", "--quiet")
    assert quiet.err == ""
    assert json.loads(quiet.out)["summary"]["AP"] == evaluation.summary["AP"]
    assert json.loads(quiet.out)["settings"]["protocol"] == "COCO as in torchmetrics"


def test_options_change_the_rules_of_a_tool() -> None:
    summary = json.loads(run_here("eval", GT, DT, "--like", "supervision", "--max-dets", "1", "--json").out)["summary"]
    assert summary["AP"] == ioukit.evaluate(GT, DT, ioukit.COCO.replace(max_dets=[1])).summary["AP"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            ["--like", "voc_eval", "--protocol", "coco"],
            "--like: it names the rules, so --protocol cannot be",
        ),
        (["--like", "mmdet"], "--like: unknown tool 'mmdet'; choose from pycocotools, "),
        (["--like", "voc_eval", "--iou-type", "segm"], "--like: voc_eval does not evaluate 'segm', only bbox"),
    ],
)
def test_wrong_use_of_like(options: list[str], says: str) -> None:
    command = run_here("eval", GT, DT, *options)
    assert (command.code, command.out) == (2, "")
    assert says in command.err
