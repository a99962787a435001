"""`ioukit figures` writes the files that it names, all or with one line of what is wrong."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.command import run_here
from support.paths import DEMO

pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")

if TYPE_CHECKING:
    from pathlib import Path

QUICK = ("--replicates", "5", "--permutations", "5")


def test_it_writes_pdf_and_svg_and_a_table(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "figures"
    only = ("--only", "precision_recall,differences,confusion")
    files = [DEMO / name for name in ("gt.json", "a.json", "b.json")]
    outcome = run_here("figures", *files, "-o", folder, *QUICK, *only, "--name", "A", "--name", "B 1/2", "--json")
    assert outcome.code == 0, outcome.err
    stems = ["precision_recall", "differences", "confusion_A", "confusion_B_1_2"]
    expected = ["table.tex", *(f"{stem}.{kind}" for stem in stems for kind in ("pdf", "svg"))]
    summary = json.loads(outcome.out)
    assert summary["files"] == expected
    assert sorted(path.name for path in folder.iterdir()) == sorted(expected)
    pdf = (folder / "precision_recall.pdf").read_bytes()
    assert b"/MediaBox [ 0 0 237.6 " in pdf  # 3.3 inches of 72 points
    assert b"/Type3" not in pdf
    assert (folder / "table.tex").read_text() == summary["table"]
    assert r"B 1/2 & " in summary["table"]


def test_names_that_differ_in_signs_alone_have_files_of_their_own(tmp_path: Path) -> None:
    files = [DEMO / name for name in ("gt.json", "a.json", "b.json")]
    names = ("--name", "B 1", "--name", "B/1")
    outcome = run_here("figures", *files, "-o", tmp_path, *QUICK, "--only", "score_curves", *names)
    assert outcome.code == 0, outcome.err
    svg = sorted(path for path in tmp_path.iterdir() if path.suffix == ".svg")
    assert [path.name for path in svg] == ["score_curves_B_1.svg", "score_curves_B_1_2.svg"]
    assert svg[0].read_text() != svg[1].read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--only", "confusio"), "Invalid value for --only: unknown figure 'confusio'"),
        (("-o", DEMO / "gt.json"), "gt.json is a file, expected a folder"),
        (tuple(6 * [DEMO / "b.json"]), "Invalid value for DT: expected at most 6 models, got 7"),
        (("--only", "class_ap", "--replicates", "0"), "'--replicates': 0 is not in the range x>=2"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    folder = () if "-o" in words else ("-o", tmp_path / "out")
    outcome = run_here("figures", DEMO / "gt.json", DEMO / "a.json", *folder, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
    assert list(tmp_path.iterdir()) == []
