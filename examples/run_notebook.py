"""Runs the notebooks of this folder and writes the outputs into them, or into another folder.

python examples/run_notebook.py [--into FOLDER] [NOTEBOOK ...]; it needs `pip install 'ioukit[test]'`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def run(path: Path, target: Path) -> None:
    """Executes a notebook in its own folder; the result holds no names and times of the run."""
    notebook = nbformat.read(path, as_version=4)
    where = {"metadata": {"path": path.parent}}
    client = NotebookClient(notebook, timeout=120, record_timing=False, resources=where)
    client.execute()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, target)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notebooks", nargs="*", type=Path, default=sorted(HERE.glob("*.ipynb")))
    parser.add_argument("--into", type=Path, help="another folder for the results")
    given = parser.parse_args()
    for path in given.notebooks:
        run(path, (given.into or path.parent) / path.name)
