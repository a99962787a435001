"""The notebooks in examples/ run from top to bottom, and their cells print and show what is stored in them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from support.paths import EXAMPLES, ROOT

if TYPE_CHECKING:
    from pathlib import Path

for module in ("ipykernel", "matplotlib", "nbclient"):
    pytest.importorskip(module, reason=f"notebooks need {module}: pip install 'ioukit[test]'")

RERUN = "run `python examples/run_notebook.py`"
NOTEBOOKS = {
    "first_evaluation": [
        "@[ IoU=0.50:0.95 | area=   all | maxDets=100 ] = 0.400",
        "COCOeval and evaluate, the same bits: True\nthe numbers of pycocotools, to 1e-15:   True",
    ],
    "write_a_detector": ["iou   loss 1.000   gradient of x2 +0.0000", "after NMS    75 detections   AP50 0.874"],
    "compare_and_release": ["<caption>B is worse than A by ", "<caption>broken: B compared with A, 100 images"],
    "what_is_iou": ["= 0.45454545454545453\nioukit:  0.45454545454545453", "20 x  20 pixels, moved by  7: IoU 0.48"],
}
"""One notebook for each kind of user, and what it says at least."""
LARGEST = 300_000  # bytes


def said(notebook: Path) -> list[tuple[str, list[str]]]:
    """Source and outputs of each cell; of pictures the kind alone, for their bytes depend on matplotlib and fonts."""
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
            said += [shown(output["data"]) for output in together]
    return said


def shown(data: dict[str, Any]) -> str:
    """What a reader sees of an output: its picture, its table or its text."""
    for kind in ("image/png", "image/jpeg"):
        if kind in data:
            return kind
    return "".join(data.get("text/html", data["text/plain"]))


def test_printing_in_pieces_is_printing() -> None:
    pieces: list[dict[str, Any]] = [
        {"output_type": "stream", "text": ["a\n", "b\n"]},
        {"output_type": "stream", "text": "c\n"},
    ]
    value: dict[str, Any] = {"output_type": "execute_result", "data": {"text/plain": ["4"]}}
    assert outputs_said([*pieces, value, value, pieces[1]]) == ["a\nb\nc\n", "4", "4", "c\n"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_it_prints_what_is_stored_in_it(name: str, tmp_path: Path) -> None:
    path = EXAMPLES / f"{name}.ipynb"
    subprocess.run([sys.executable, EXAMPLES / "run_notebook.py", path, "--into", tmp_path], check=True)
    stored, ran = said(path), said(tmp_path / path.name)
    assert ran == stored, RERUN
    outputs = [words for _, outputs in ran for words in outputs]
    assert [part for part in NOTEBOOKS[name] if not any(part in words for words in outputs)] == []
    assert sum(words.startswith("image/") for words in outputs) >= 2
    assert not [words for words in outputs if re.search(r"^<[A-Z]|object at 0x", words)], "a result without a form"


def test_every_notebook_is_small_and_known() -> None:
    paths = sorted(EXAMPLES.glob("*.ipynb"))
    assert [path.stem for path in paths] == sorted(NOTEBOOKS)
    assert [path.name for path in paths if path.stat().st_size > LARGEST] == []
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert [path.name for path in paths if f"(../examples/{path.name})" not in index] == []


def test_links_of_notebooks_lead_to_files() -> None:
    links = [
        (path.parent / link, path.name)
        for path in EXAMPLES.glob("*.ipynb")
        for source, _ in said(path)
        for link in re.findall(r"\]\(([^)#:]+)[^)]*\)", source)
        if link.endswith((".md", ".ipynb"))
    ]
    assert len(links) >= 12
    assert [link for link in links if not link[0].is_file()] == []
