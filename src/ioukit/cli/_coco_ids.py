"""The ids of a COCO file for the images and classes of a network's results."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from ioukit.cli._near_names import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.datasets import GroundTruth

__all__ = ["class_ids", "image_ids"]


def class_ids(ground_truth: GroundTruth, names: Sequence[str], num_classes: int, *, source: Path) -> list[int]:
    """(K,) the category id of each class of a network: by name, or by position if the network has no names.

    Raises:
        ValueError: If a name belongs to no category or to several, or if there are no names and the number of
            categories differs.
    """
    categories = ground_truth.categories
    if names:
        try:
            positions = categories.positions(list(names))
        except ValueError as error:
            raise ValueError(f"{source}: {error}") from None
        return [int(categories.ids[position]) for position in positions]
    if len(categories) != num_classes:
        raise ValueError(
            f"the network has {num_classes} classes without names, and {source} has {len(categories)} categories: "
            f"expected the same number"
        )
    return [int(number) for number in categories.ids]


def image_ids(ground_truth: GroundTruth, files: Sequence[Path], *, source: Path) -> list[int]:
    """The id of each file: that of the image whose ``file_name`` is the end of the path of the file.

    If several names are, the longest one counts.

    Raises:
        ValueError: If there is no such image, or several of the same name.
    """
    images = ground_truth.images
    named: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for number, name in zip(images.ids.tolist(), images.names, strict=True):
        parts = PurePosixPath(name.replace("\\", "/")).parts
        if parts:
            named[parts[-1]].append((parts, number))
    found = [_ends(named.get(file.name, []), file) for file in files]
    missing = [file for file, ids in zip(files, found, strict=True) if not ids]
    if missing:
        name = missing[0].name
        like = [name] if name in named else difflib.get_close_matches(name, named, n=3, cutoff=0.8)
        close = ["/".join(parts) for one in like for parts, _ in named[one]][:3]
        more = f" (and {len(missing) - 1:,} other files)" if len(missing) > 1 else ""
        raise ValueError(f"{source} lists no image {missing[0]}{more}{did_you_mean(close)}")
    for file, ids in zip(files, found, strict=True):
        if len(ids) > 1:
            raise ValueError(f"{source}: {len(ids)} images have the name of {file}: ids {ids}")
    return [ids[0] for ids in found]


def _ends(candidates: list[tuple[tuple[str, ...], int]], file: Path) -> list[int]:
    """The ids of the longest names that the path of the file ends with."""
    whole = Path(os.path.abspath(file)).parts
    fitting = [(parts, number) for parts, number in candidates if whole[-len(parts) :] == parts]
    longest = max((len(parts) for parts, _ in fitting), default=0)
    return [number for parts, number in fitting if len(parts) == longest]
