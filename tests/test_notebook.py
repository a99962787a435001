"""examples/first_evaluation.ipynb runs from top to bottom, and its cells print what is stored in them."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

for module in ("ipykernel", "matplotlib", "nbclient"):
    pytest.importorskip(module, reason=f"notebooks need {module}: pip install 'ioukit[test]'")

RERUN = "run `python examples/run_notebook.py`"


def said(notebook: Path) -> list[tuple[str, list[str]]]:
    """Source and outputs of each cell; of pictures the size alone, for their bytes depend on matplotlib and fonts."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [("".join(cell["source"]), outputs_said(cell.get("outputs", []))) for cell in cells]


def outputs_said(outputs: list[dict[str, Any]]) -> list[str]:
    """What was printed in a row is one text here: a kernel sends it in one piece or in several, by chance."""
    said: list[str] = []
    for kind, together in groupby(outputs, key=lambda output: str(output["output_type"])):
        assert kind in ("stream", "display_data", "execute_result"), kind
        if kind == "stream":
            said.append("".join("".join(output["text"]) for output in together))
        else:
            said += ["".join(output["data"]["text/plain"]) for output in together]
    return said


def test_printing_in_pieces_is_printing() -> None:
    pieces: list[dict[str, Any]] = [
        {"output_type": "stream", "text": ["a\n", "b\n"]},
        {"output_type": "stream", "text": "c\n"},
    ]
    value: dict[str, Any] = {"output_type": "execute_result", "data": {"text/plain": ["4"]}}
    assert outputs_said([*pieces, value, value, pieces[1]]) == ["a\nb\nc\n", "4", "4", "c\n"]


def test_it_prints_what_is_stored_in_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "run_notebook.py", tmp_path / "ran.ipynb"], check=True)
    stored, ran = said(EXAMPLES / "first_evaluation.ipynb"), said(tmp_path / "ran.ipynb")
    assert ran == stored, RERUN
    outputs = [words for _, outputs in ran for words in outputs]
    assert any("@[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.400" in words for words in outputs)
    assert any("the same bits: True" in words for words in outputs)
    assert sum(words.startswith("<Figure") for words in outputs) >= 5
