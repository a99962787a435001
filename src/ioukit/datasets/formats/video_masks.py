"""Masks of the frames of videos, from records of whole tracks: what YouTube-VIS's and BURST's files share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit.datasets.columns.masks import decode
from ioukit.datasets.formats.text_files import abbreviate, member, refuse
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit._array_types import Floats, Ids
    from ioukit.regions.masks import Masks


class Frame(NamedTuple):
    """An image of a video."""

    id: int
    size: tuple[float, float]
    """Width and height."""


class MaskRows:
    """The masks of all tracks so far, each in its frame."""

    def __init__(self) -> None:
        """Begin without masks."""
        self.frames: list[Frame] = []
        self.masks: list[Any] = []
        self._places: list[str] = []
        self._columns: list[tuple[int, int, float]] = []

    def add(self, frame: Frame, mask: Any, place: str, track: int, category: int, value: float) -> None:
        """Add a mask; ``place`` is where it stands, and ``value`` its score or area."""
        self.frames.append(frame)
        self.masks.append(mask)
        self._places.append(place)
        self._columns.append((track, category, value))

    @property
    def image_ids(self) -> Ids:
        """(N,) the images."""
        return np.array([frame.id for frame in self.frames], np.int64)

    def columns(self) -> tuple[Ids, Ids, Floats]:
        """(N,) tracks, classes, and scores or areas."""
        tracks, categories = (np.array([row[at] for row in self._columns], np.int64) for at in (0, 1))
        return tracks, categories, np.array([row[2] for row in self._columns], np.float64)

    def regions(self, threads: int | None) -> Masks:
        """The masks.

        Args:
            threads: How many threads; all cores if ``None``.

        Raises:
            DatasetError: If one is neither RLE nor polygons.
        """
        sizes = np.array([frame.size for frame in self.frames], np.float64).reshape(-1, 2)
        try:
            return decode(self.masks, sizes, source="", array="", threads=threads)
        except DatasetError:
            for mask, size, place in zip(self.masks, sizes, self._places, strict=True):
                _check(mask, size, place)
            raise


def _check(mask: Any, size: np.ndarray[Any, Any], place: str) -> None:
    try:
        decode([mask], size[np.newaxis], source="", array="")
    except DatasetError as error:
        raise DatasetError(f"{place}: {str(error).partition('segmentation')[2].lstrip(': ')}") from None


def classes_in(source: Any, file: str) -> dict[int, str]:
    """The names of the classes in ``categories``, by their ids.

    Raises:
        DatasetError: If a record has no id or no name.
    """
    return {
        id_in(record, "id", f"{file}: categories[{at}]"): member(record, "name", str, f"{file}: categories[{at}]")
        for at, record in enumerate(member(source, "categories", list, file))
    }


def id_in(
    record: Any,
    name: str,
    where: str,
    *,
    known: Mapping[int, Any] | None = None,
    new_in: Mapping[int, Any] | None = None,
) -> int:
    """An id of a record, one of those that are known, or one that is new.

    Raises:
        DatasetError: If it is none.
    """
    value = member(record, name, int, where)
    if isinstance(value, bool) or abs(value) >= 2**53:
        refuse(f"{where}.{name}", "an integer below 2**53", abbreviate(value))
    if known is not None and value not in known:
        refuse(f"{where}.{name}", "one that the ground truth lists", str(value))
    if new_in is not None and value in new_in:
        refuse(f"{where}.{name}", "one that differs from those before", str(value))
    return int(value)


def check_one_per_frame(values: Sequence[Any], count: int, where: str, of: str = "frame of the video") -> None:
    """Refuses a list that has not one item per frame.

    Raises:
        DatasetError: If it has more or fewer.
    """
    if len(values) != count:
        refuse(where, f"{count} items, one per {of}", str(len(values)))
