"""Classes and images that are chosen by what people call them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePosixPath

import numpy as np
import numpy.typing as npt

from ioukit._near_names import suggest
from ioukit.datasets.columns.images import Images

_SHOWN = 5


def near(name: str, known: Collection[str]) -> str:
    """The end of a message about an unknown name: similar names, or the first ones."""
    listed = list(known)
    first = f"there are {', '.join(map(repr, listed[:_SHOWN]))}{', ...' if len(listed) > _SHOWN else ''}"
    return suggest(name, listed, first)


def image_positions(images: Images, wanted: Sequence[int | str] | npt.NDArray[np.generic]) -> npt.NDArray[np.intp]:
    """Positions of images in the list, in ascending order and each once.

    Args:
        images: The list.
        wanted: Ids as in the source, or names of files with or without folders and suffix. A text that is an id as well
            as a name is the id.

    Raises:
        ValueError: If no image has such an id or name, or several images have the name.
    """
    if isinstance(wanted, str):
        raise TypeError(f"expected a list of images, got {wanted!r}; write [{wanted!r}]")
    labels = {str(label): place for place, label in enumerate(images.labels.tolist())}
    names: dict[str, list[int]] = {}
    chosen: set[int] = set()
    for item in np.asarray(wanted).tolist() if isinstance(wanted, np.ndarray) else wanted:
        key = str(item)
        if key in labels:
            chosen.add(labels[key])
            continue
        if not names:
            names = _by_name(images)
        found = names.get(key, [])
        if not found:
            raise ValueError(f"no image has the id or the name {key!r}{near(key, names or labels)}")
        if len(set(found)) > 1:
            raise ValueError(f"{len(set(found)):,} images have the name {key!r}: choose them by id")
        chosen.add(found[0])
    return np.array(sorted(chosen), np.intp)


def _by_name(images: Images) -> dict[str, list[int]]:
    """Positions by the whole name, by the name without folders, and by that without its suffix."""
    found: dict[str, list[int]] = {}
    for place, name in enumerate(images.names):
        if name:
            path = PurePosixPath(name)
            for spelled in {name, path.name, path.stem}:
                found.setdefault(spelled, []).append(place)
    return found
