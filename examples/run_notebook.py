"""Runs first_evaluation.ipynb and writes the outputs into it, or into another file.

python examples/run_notebook.py [file]; it needs `pip install 'ioukit[test]'`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parent / "first_evaluation.ipynb"


def run(target: Path) -> None:
    """Executes the notebook in its own folder; the result holds no names and times of the run."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    where = {"metadata": {"path": NOTEBOOK.parent}}
    client = NotebookClient(notebook, timeout=120, record_timing=False, resources=where)
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, target)


if __name__ == "__main__":
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else NOTEBOOK)
