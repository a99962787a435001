"""Says which public names a built site does not describe: python docs/build/site/check.py FOLDER."""

from __future__ import annotations

import importlib
import pkgutil
import sys
import zlib
from pathlib import Path
from types import ModuleType

import ioukit

# Rooms without names of their own for a reader: programs, and packages whose names are described one level up or down.
NOT_IN_THE_REFERENCE = {
    "ioukit.cli",
    "ioukit.compat",
    "ioukit.compat.detectron2.layers",
    "ioukit.compat.detectron2.structures",
    "ioukit.compat.docsaidkit.structures",
    "ioukit.compat.pycocotools",
}
# Public modules that are no packages.
MODULES = ["ioukit.compat.patching", "ioukit.compat.pycocotools.mask", "ioukit.errors", "ioukit.typing"]


def rooms() -> list[str]:
    """Every package whose names the reference describes, and the public modules."""
    packages = [
        found.name
        for found in pkgutil.walk_packages(ioukit.__path__, "ioukit.", onerror=lambda _: None)
        if found.ispkg and "._" not in found.name and found.name not in NOT_IN_THE_REFERENCE
    ]
    return [*packages, *MODULES]


def missing(folder: Path) -> list[str]:
    """Public names that the inventory of the site lacks, which has a line for each place it describes."""
    _, _, _, _, packed = (folder / "objects.inv").read_bytes().split(b"\n", 4)
    described = {line.split()[0] for line in zlib.decompress(packed).decode().splitlines()}
    return [f"{room}.{name}" for room in rooms() for name in _public(room) if f"{room}.{name}" not in described]


def public_names() -> set[str]:
    """Every public name, without its room."""
    return {name for room in ("ioukit", *rooms()) for name in _public(room) if not name.startswith("_")}


def _public(room: str) -> list[str]:
    """The names of a room but those of other rooms; none if its package only groups files."""
    try:
        module = importlib.import_module(room)
    except ModuleNotFoundError as error:
        sys.stderr.write(f"not checked: {room}, which needs {error.name}\n")
        return []
    return [name for name in getattr(module, "__all__", ()) if not isinstance(getattr(module, name), ModuleType)]


if __name__ == "__main__":
    if names := missing(Path(sys.argv[1])):
        sys.exit(f"the reference lacks {', '.join(names)}")
