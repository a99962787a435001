"""examples/first_evaluation.ipynb runs from top to bottom, and its cells print what is stored in them."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

for module in ("ipykernel", "matplotlib", "nbclient"):
    pytest.importorskip(module, reason=f"notebooks need {module}: pip install 'ioukit[test]'")

RERUN = "run `python examples/run_notebook.py`"


def said(notebook: Path) -> list[tuple[str, list[Any]]]:
    """Source and outputs of each cell; of pictures the size alone, for their bytes depend on matplotlib and fonts."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [("".join(cell["source"]), [_words(output) for output in cell.get("outputs", [])]) for cell in cells]


def _words(output: dict[str, Any]) -> str:
    assert output["output_type"] in ("stream", "display_data", "execute_result"), output
    return "".join(output["text"] if output["output_type"] == "stream" else output["data"]["text/plain"])


def test_it_prints_what_is_stored_in_it(tmp_path: Path) -> None:
    subprocess.run([sys.executable, EXAMPLES / "run_notebook.py", tmp_path / "ran.ipynb"], check=True)
    stored, ran = said(EXAMPLES / "first_evaluation.ipynb"), said(tmp_path / "ran.ipynb")
    assert ran == stored, RERUN
    outputs = [words for _, outputs in ran for words in outputs]
    assert any("@[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.400" in words for words in outputs)
    assert any("the same bits: True" in words for words in outputs)
    assert sum(words.startswith("<Figure") for words in outputs) >= 5
