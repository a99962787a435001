"""The ids of the images of an evaluator: given, or running numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit.datasets.formats.text_files import abbreviate, refuse

Labels = list[int] | list[str]


class ImageIds:
    """The ids so far. No image may come twice."""

    def __init__(self) -> None:
        self.count = 0
        self.running: bool | None = None
        """Whether images are numbered in order; ``None`` before the first image."""
        self._seen: set[int | str] = set()

    def of_batch(self, given: Any, targets: Sequence[Any], count: int) -> Labels:
        """The ids of the images of a batch. Nothing is kept.

        Args:
            given: (I,) ids, or ``None`` for those of the targets, or else running numbers.
            targets: (I,) dicts that may have ``image_id``.
            count: The number of images.

        Raises:
            DatasetError: If an id is of another type, an image comes twice, or only some images have an id.
            ValueError: If there are not as many ids as images.
        """
        if given is None and any("image_id" in target for target in targets):
            for at, target in enumerate(targets):
                if "image_id" not in target:
                    found = ", ".join(map(repr, target))
                    refuse(f"targets[{at}]", "the key 'image_id', as other targets have it", found)
            listed = [_plain(target["image_id"], f"targets[{at}]: image_id") for at, target in enumerate(targets)]
            return self.checked(listed, "targets[{}]: image_id")
        if given is None:
            if self.running is False:
                refuse("update", "image_ids, as earlier images had them", "none")
            return list(range(self.count, self.count + count))
        listed = _listed(given)
        if len(listed) != count:
            raise ValueError(f"image_ids must hold one id per image, expected {count:,}, got {len(listed):,}")
        return self.checked([_plain(one, f"image_ids[{at}]") for at, one in enumerate(listed)], "image_ids[{}]")

    def checked(self, ids: list[Any], place: str) -> Labels:
        """The ids, if they fit those of earlier images.

        Raises:
            DatasetError: If not.
        """
        if self.running:
            refuse("update", "no image_ids, as earlier images had none: they were numbered", abbreviate(ids[0]))
        kinds = {type(one) for one in ids}
        if self._seen:
            kinds.add(type(next(iter(self._seen))))
        if len(kinds) > 1:
            refuse("image_ids", "all integers or all strings", "both")
        batch: set[int | str] = set()
        for at, one in enumerate(ids):
            if one in self._seen or one in batch:
                when = "in this update" if one in batch else "in an earlier update"
                refuse(place.format(at), "an image that is new", f"{abbreviate(one)}, which was {when}")
            batch.add(one)
        return ids

    def add(self, ids: Sequence[Any], *, running: bool) -> None:
        """Keep the ids of a batch."""
        self.count += len(ids)
        if not len(ids):
            return
        self.running = running
        if not running:
            self._seen.update(ids)

    def listed(self) -> list[Any]:
        """All ids."""
        return list(range(self.count)) if self.running else list(self._seen)


def _listed(given: Any) -> list[Any]:
    if isinstance(given, str | bytes):
        raise TypeError(f"image_ids must be a list with one id per image, got {given!r}")
    host: Any = given if library_of(given) == "numpy" else as_numpy(given)
    if isinstance(host, np.ndarray):
        if host.ndim != 1:
            raise ValueError(f"image_ids must have shape (I,), got {host.shape}")
        return list(host.tolist())
    try:
        return list(host)
    except TypeError:
        raise TypeError(f"image_ids must be a list with one id per image, got {type(given).__name__}") from None


def _plain(value: Any, where: str) -> int | str:
    """An id as a Python integer or string."""
    if type(value) is str or (type(value) is int and -(2**63) <= value < 2**63):
        return value
    array = np.asarray(value if library_of(value) == "numpy" else as_numpy(value))
    if array.size != 1 or array.dtype.kind not in "iuU":
        refuse(
            where, "the id of one image, an integer or a string", abbreviate(value) if array.ndim == 0 else f"{array!r}"
        )
    one = array.reshape(-1)[0].item()
    if isinstance(one, int) and one >= 2**63:
        refuse(where, "an integer of 64 signed bits", str(one))
    plain: int | str = one
    return plain
