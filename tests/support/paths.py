"""Paths of test data and of programs outside of the package, and a writer for data sets that a test makes."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import ioukit

__all__ = ["DATA", "DEMO", "EXAMPLES", "IMPORTED_FROM", "ROOT", "load", "program", "write_coco"]

DATA = Path(__file__).parents[1] / "data"
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DEMO = ROOT / "src" / "ioukit" / "cli" / "demo_files"
"""Six photographs with objects and detections; pycocotools' numbers are in `DATA`, in coco_ccby_images."""
# For the path of other processes. It need not be ROOT / "src": an installed ioukit has its compiled part elsewhere.
IMPORTED_FROM = Path(ioukit.__file__).parents[1]


def load(path: Path) -> Any:
    return json.loads(path.read_bytes())


def program(path: Path) -> Any:
    """The module of a file that is not in a package, such as a benchmark."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_coco(folder: Path, ground_truth: Any, detections: Any) -> tuple[Path, Path]:
    """Writes both as JSON; strings are written unchanged."""
    paths = folder / "gt.json", folder / "dt.json"
    for path, content in zip(paths, (ground_truth, detections), strict=True):
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return paths
