"""What commands print is as wide as the terminal: columns are left out, and no line is broken by the terminal."""

from __future__ import annotations

import pytest

from support.command import run_here
from support.paths import DEMO

FILES = ("gt.json", "a.json")
FEW = ("--replicates", "20")


@pytest.mark.parametrize(
    "words",
    [
        ("check", *FILES),
        ("compare", *FILES, "b.json", *FEW, "--permutations", "20"),
        ("eval", *FILES, "--per-class", "--errors"),
        ("gate", *FILES, "b.json"),
        ("inspect", "gt.json"),
        ("labels", *FILES),
        ("operate", *FILES, *FEW),
        ("protocols", *FILES),
        ("slices", *FILES, "--least-objects", "5"),
    ],
    ids=lambda words: words[0],
)
@pytest.mark.parametrize("columns", [60, 80])
def test_no_line_is_wider_than_the_terminal(
    words: tuple[str, ...], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.chdir(DEMO)
    command = run_here(*words)
    assert command.code in (None, 0), command.err
    assert command.out
    assert [line for line in command.out.splitlines() if len(line) > columns] == []
