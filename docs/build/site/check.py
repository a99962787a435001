"""Says which public names a built site does not describe: python docs/build/site/check.py FOLDER."""

from __future__ import annotations

import importlib
import sys
import zlib
from pathlib import Path

ROOMS = [
    *(
        "anchors",
        "assign",
        "datasets",
        "datasets.shapes",
        "diagnosis",
        "errors",
        "evaluation",
        "losses",
        "overlap",
        "plots",
        "regions",
    ),
    *("compat.detectron2", "compat.docsaidkit", "compat.pycocotools.mask", "compat.torchvision_ops"),
    *("postprocess", "report", "torch.losses", "typing"),
]


def missing(folder: Path) -> list[str]:
    """Public names that the inventory of the site lacks, which has a line for each place it describes."""
    _, _, _, _, packed = (folder / "objects.inv").read_bytes().split(b"\n", 4)
    described = {line.split()[0] for line in zlib.decompress(packed).decode().splitlines()}
    return [
        f"ioukit.{room}.{name}"
        for room in ROOMS
        for name in _public(f"ioukit.{room}")
        if f"ioukit.{room}.{name}" not in described
    ]


def _public(room: str) -> list[str]:
    try:
        return list(importlib.import_module(room).__all__)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"not checked: {room}, which needs {error.name}\n")
        return []


if __name__ == "__main__":
    if names := missing(Path(sys.argv[1])):
        sys.exit(f"the reference lacks {', '.join(names)}")
