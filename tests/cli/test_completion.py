"""`ioukit completion`: the scripts, and what a shell is answered."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ioukit.cli._app import COMMANDS
from ioukit.datasets import FORMATS
from ioukit.evaluation.kinds import REGION_KINDS
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path


def completed(line: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What bash gets for a line that ends where the cursor is."""
    monkeypatch.setenv("_IOUKIT_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
    done = run_here()
    assert (done.code, done.err) == (0, "")
    return done.out.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ioukit ", [*COMMANDS]),
        ("ioukit co", ["compare", "convert", "completion"]),
        ("ioukit eval --iou", ["--iou-type", "--iou-thresholds"]),
        ("ioukit compare gt a b --fail", ["--fail-if-worse"]),
        ("ioukit eval gt dt --protocol voc", ["voc2007", "voc2012"]),
        ("ioukit slices gt dt --iou-type ", [*REGION_KINDS]),
        ("ioukit convert a b --to ", [*FORMATS]),
        ("ioukit eval gt dt --gt-format yol", ["yolo"]),
        ("ioukit eval gt dt --like torch", ["torchmetrics"]),
        ("ioukit eval gt dt --on-invalid ", ["error", "drop", "pycocotools"]),
        ("ioukit labels gt dt --kinds over", ["overlooked"]),
        ("ioukit completion ", ["bash", "zsh", "fish"]),
        ("ioukit eval g", []),  # the shell looks for files then
        ("ioukit eval gt dt --protocol ./own", []),
    ],
)
def test_what_is_completed(line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    assert completed(line, monkeypatch) == expected


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script(shell: str) -> None:
    done = run_here("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert f"_IOUKIT_COMPLETE=complete_{shell}" in done.out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_with_it(tmp_path: Path) -> None:
    program = tmp_path / "ioukit"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m ioukit "$@"\n')
    program.chmod(0o755)
    script = (
        f'PATH="{tmp_path}:$PATH"\neval "$(ioukit completion bash)"\ncomplete -p ioukit\n'
        "COMP_WORDS=(ioukit eval gt dt --protocol voc2)\nCOMP_CWORD=5\n_ioukit_completion ioukit\n"
        'echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "complete -o default -F _ioukit_completion ioukit\nvoc2007 voc2012\n"
