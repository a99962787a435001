"""`ioukit labels`: tables, JSON, CSV, the page, and what it refuses."""

from __future__ import annotations

import csv
import itertools
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import evaluate, read_coco
from ioukit.datasets import read, write
from ioukit.label_errors import LABEL_ERROR_KINDS, LabelErrors, apply_decisions, find_label_errors, read_decisions
from support.command import run_here
from support.paths import EXAMPLES, write_coco

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

GT = EXAMPLES / "coco_val2017_100" / "ground_truth.json"
DT = EXAMPLES / "coco_val2017_100" / "yolact.json"


def test_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    found = run_here("labels", GT, DT, "--score-threshold", "0.4")
    every_error = find_label_errors(evaluate(*read_coco(GT, DT)))
    errors = every_error.chosen(at_least=0.4)
    assert found.code == 0
    counts, listed = found.out.split("\n\n")
    lines = counts.splitlines()
    assert lines[0].split()[0] == "kind"
    for line, kind in zip(lines[1:], LABEL_ERROR_KINDS, strict=True):
        assert line.startswith(kind.title)
        expected, sure, many = line.removeprefix(kind.title).split()[:3]
        assert expected == f"{every_error.chosen(kinds=[kind.key]).score.sum():.0f}"
        assert many == str(errors.kinds.count(kind.key))
        assert sure == str(every_error.chosen(kinds=[kind.key], at_least=0.5).kinds.count(kind.key))
    rows = listed.splitlines()
    assert sum(row[0].isdecimal() for row in rows) == len(errors)
    assert max(map(len, rows)) <= 100
    first = errors.rows()[0]
    assert rows[0].startswith(f"{first.score:.2f}  ")
    assert rows[0].endswith(f"{first.file_name}  annotation {first.annotation_id} ({first.category})")
    reason = itertools.takewhile(lambda row: row.startswith(" "), rows[1:])
    assert " ".join(map(str.strip, reason)) == first.reason
    few = run_here("labels", GT, DT, "--top", "3", "--quiet", "--threads", "1")
    assert few.err == ""
    assert sum(row[0].isdecimal() for row in few.out.split("\n\n")[1].splitlines()) == 3
    every = run_here("labels", GT, DT, "--score-threshold", "0")
    assert "more: --top N, --csv FILE or --report FILE shows them" in every.out


@pytest.mark.parametrize(("least", "noted"), [(0.0, False), (0.29, False), (0.31, True), (0.5, True)])
def test_a_note_says_that_low_scores_are_missing(least: float, noted: bool, tmp_path: Path) -> None:
    records = [one for one in json.loads(DT.read_text(encoding="utf-8")) if one["score"] >= least]
    (tmp_path / "dt.json").write_text(json.dumps(records), encoding="utf-8")
    found = run_here("labels", GT, tmp_path / "dt.json")
    lowest = min(one["score"] for one in records)
    assert (f"note the lowest score of a detection is {lowest:.3g}: " in " ".join(found.err.split())) == noted
    assert ("lowest score" in found.err) == noted


def test_json_and_csv(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    arguments = ("labels", GT, DT, "--kinds", "swapped,overlooked", "--top", "9", "--csv", path)
    found = json.loads(run_here(*arguments, "--json").out)
    errors = find_label_errors(evaluate(*read_coco(GT, DT)))
    assert found == errors.chosen(top=9, at_least=0.1, kinds=["swapped", "overlooked"]).to_dict()
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["score"]) for row in rows] == [row["score"] for row in found["errors"]]
    assert {row["kind"] for row in rows} <= {"swapped", "overlooked"}
    both = run_here("labels", GT, DT, "--json", tmp_path / "labels.json")
    assert json.loads((tmp_path / "labels.json").read_text()) == errors.chosen(at_least=0.1).to_dict()
    assert both.out.startswith("kind ")


def test_nothing_to_find(tmp_path: Path) -> None:
    paths = write_coco(tmp_path, {"images": [], "categories": [], "annotations": []}, [])
    found = run_here("labels", *paths)
    assert found.code == 0
    assert found.out.count("\n") == 6
    one = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [],
    }
    paths = write_coco(tmp_path, one, [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5], "score": 0.9}])
    assert run_here("labels", *paths).code == 0


def test_a_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    found = run_here("labels", GT, DT, "--report", tmp_path / "labels.html")
    assert found.code == 0
    assert f"wrote {tmp_path / 'labels.html'}" in found.err
    assert (tmp_path / "labels.html").read_text(encoding="utf-8").startswith("<!doctype html>")


@pytest.fixture(scope="module")
def errors() -> LabelErrors:
    return find_label_errors(evaluate(*read_coco(GT, DT)))


def decided(errors: LabelErrors, path: Path, words: Sequence[str]) -> Path:
    """The table of the labels, in which a person filled in a word per row, again and again."""
    errors.chosen(at_least=0.1).write_csv(path)
    first, *rows = path.read_text(encoding="utf-8").splitlines()
    lines = [f"{row},{word}" for row, word in zip(rows, itertools.cycle(words), strict=False)]
    path.write_text("\n".join([f"{first},decision", *lines]), encoding="utf-8")
    return path


def test_decisions_correct_the_ground_truth(errors: LabelErrors, tmp_path: Path) -> None:
    table = decided(errors, tmp_path / "decisions.csv", ["yes", "no", "unsure", "", "yes"])
    corrected, xml, tasks, left = (tmp_path / name for name in ("corrected.json", "t.xml", "t.json", "left.csv"))
    others = ("--cvat", xml, "--label-studio", tasks, "--csv", left)
    found = run_here("labels", GT, DT, "--decisions", table, "-o", corrected, *others)
    assert found.code == 0
    decisions = read_decisions(errors, table)
    truth, after = read(corrected), evaluate(corrected, DT).summary["AP"]
    expected = apply_decisions(errors, decisions)
    for name in ("ids", "image_ids", "category_ids", "boxes", "areas"):
        assert getattr(truth, name).tolist() == getattr(expected, name).tolist()
    before = errors.evaluation.summary["AP"]
    start = f"AP {before:.4f} before, {after:.4f} after ({100 * (after - before):+.2f} points): "
    assert found.out.startswith(start)
    changed = [(kind, errors[decisions == "yes"].kinds.count(kind.key)) for kind in LABEL_ERROR_KINDS]
    kinds = ", ".join(f"{count} {kind.key}" for kind, count in changed if count)
    counts = {word: int((decisions == word).sum()) for word in ("yes", "no", "unsure")}
    words = f"{start}{kinds} changed; {counts['no']} no, {counts['unsure']} unsure"
    assert found.out.split() == words.split()
    # What is not decided yet is left for others.
    rows = csv.DictReader(left.read_text(encoding="utf-8").splitlines())
    open_ones = errors[np.isin(decisions, ("", "unsure"))].chosen(at_least=0.1).rows()
    assert [(row["image_id"], row["annotation_id"]) for row in rows] == [
        (str(row.image_id), str(row.annotation_id or "")) for row in open_ones
    ]
    names = {row.file_name for row in open_ones}
    assert {task["data"]["image"] for task in json.loads(tasks.read_text())} == names
    assert set(read(xml).images.names) == names
    tried = run_here("labels", GT, DT, "--decisions", table, "--json")
    assert "note no labels are written: -o FILE writes the corrected ones\n" in tried.err
    told = json.loads(tried.out)
    assert told == {
        "counts": {kind.key: count for kind, count in changed}, "decisions": counts, "measure": "AP", "before": before,
        "after": after,
    }  # fmt: skip


def test_the_corrected_data_in_another_format(errors: LabelErrors, tmp_path: Path) -> None:
    table, yolo, again = (
        decided(errors, tmp_path / "decisions.csv", ["yes"]),
        tmp_path / "yolo",
        tmp_path / "again.json",
    )
    assert run_here("labels", GT, DT, "--decisions", table, "-o", yolo, "--to", "yolo").code == 0
    expected, back = apply_decisions(errors, read_decisions(errors, table)), read(yolo)
    assert sorted(map(tuple, back.boxes.round(2).tolist())) == sorted(map(tuple, expected.boxes.round(2).tolist()))
    # Decisions are about these data alone: the corrected ones have other labels.
    write(expected, tmp_path / "corrected.json", "coco")
    other = run_here("labels", tmp_path / "corrected.json", DT, "--decisions", table, "-o", again)
    assert (other.code, other.out, again.exists()) == (2, "", False)
    assert other.err.splitlines()[-1].startswith(f"Error: {table}: line ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "x.json"), "--output needs --decisions"),
        (("--decisions", "none.csv", "--to", "yolo"), "--to needs both"),
        (("--decisions", "none.csv"), "none.csv: there is no such file"),
        (("--decisions", "none.csv", "-o", "x", "--to", "labelme-xml"), "--to takes"),
        (("--decisions", DT, "-o", DT), "is an input and would be overwritten"),
        (("--cvat", "x.xml", "--label-studio", "x.xml"), "x.xml is the file of --cvat, too"),
        (("--kinds", "blurred"), "unknown kind 'blurred'; choose from overlooked, badly_drawn, swapped, doubled, "),
        (("--top", "0"), "--top"),
        (("--score-threshold", "1.5"), "--score-threshold"),
        (("--csv", GT), "is an input and would be overwritten"),
        (("--csv", "none/labels.csv"), "there is no folder"),
        (("--csv", "x.json", "--json=x.json"), "x.json is the file of --json"),
        (("--images", "."), "--images needs --report"),
        (("--classes", "horsey"), "horse"),
        (("--iou-type", "boxes"), "--iou-type"),
    ],
)
def test_refusals(arguments: tuple[str, ...], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = run_here("labels", GT, DT, *arguments)
    assert found.code == 2
    assert message in found.err
    assert "Traceback" not in found.err
    assert found.out == ""
    assert list(tmp_path.iterdir()) == []
