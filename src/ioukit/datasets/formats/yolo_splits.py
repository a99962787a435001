"""Where the folders of a split of a YOLO data set lie."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = [
    "SIZES",
    "is_missing",
    "label_folder",
    "other_splits",
    "split_path",
    "table_of_sizes",
    "usual_folder",
]

SIZES = "sizes.csv"
"""The name of a table of the sizes of images, for data sets without images: name, width, height."""
_SAME_SPLIT = {"val": ("val", "valid", "validation")}
"""The usual names of the folders of a split, if there are others than its own name."""


def label_folder(images: str) -> str:
    """The folder of the text files of the images in a folder: the last ``images`` in its path becomes ``labels``."""
    parts = list(Path(images).parts)
    if "images" not in parts:
        return images
    parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return os.fspath(Path(*parts))


def table_of_sizes(images: Path) -> Path:
    """The table of the sizes of the images of a folder: beside their text files, for data sets without images."""
    return Path(label_folder(os.fspath(images)), SIZES)


def is_missing(place: Path) -> bool:
    """Whether there is no folder of images, and no table of their sizes. A list of images is no folder."""
    return place.suffix != ".txt" and not os.path.lexists(place) and not os.path.isfile(table_of_sizes(place))


def split_path(root: Path, named: str) -> Path:
    """Where a split lies. ``../train/images`` may mean ``train/images``, as in data sets that Roboflow writes."""
    place = root / named
    inner = root / named.removeprefix("../")
    return inner if not os.path.exists(place) and os.path.exists(inner) else place


def usual_folder(path: Path, root: str, split: str) -> Path | None:
    """The folder of a split at one of its usual places inside the folder of the data set.

    It has images, or its text files have a table of sizes beside them.
    """
    for folder in dict.fromkeys((path.parent / root, path.parent)):
        for name in _SAME_SPLIT.get(split, (split,)):
            for inner in (f"{name}/images", f"images/{name}"):
                place = folder / inner
                if (os.path.isdir(place) or os.path.isfile(table_of_sizes(place))) and _is_inside(place, folder):
                    return place
    return None


def _is_inside(place: Path, folder: Path) -> bool:
    """Whether a path does not lead out of a folder, by its name or by a link."""
    return Path(os.path.realpath(place)).is_relative_to(os.path.realpath(folder))


def other_splits(path: Path, root: str, settings: Mapping[Any, Any]) -> str:
    """Words about the splits of a data set that have a folder, or a list of files."""
    there = []
    for split, named in settings.items():
        if split in ("path", "names", "download") or not isinstance(split, str):
            continue
        places = named if isinstance(named, list) else [named]
        if not places or not all(isinstance(place, str) and place for place in places):
            continue
        if all(os.path.exists(split_path(path.parent / root, place)) for place in places) or usual_folder(
            path, root, split
        ):
            there.append(split)
    return f"; the splits that exist: {', '.join(there)}" if there else "; no split has a folder"
