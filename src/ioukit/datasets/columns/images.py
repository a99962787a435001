"""The lists of images and categories of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._columns import Columns, record
from ioukit.datasets.columns.lazy import Names

__all__ = ["Categories", "Images"]


@record(frozen=True, eq=False, repr=False)
class Images(Columns):
    """The images of a data set, in ascending order of their ids."""

    ids: npt.NDArray[np.int64]
    """(I,) ids, each once; 1 to I if the data set has strings instead, see :attr:`keys`."""
    sizes: npt.NDArray[np.float64]
    """(I, 2) width and height in pixels; NaN if unknown."""
    names: Names
    """(I,) file names; empty if unknown."""
    keys: npt.NDArray[np.str_] | None = None
    """(I,) ids in ascending order if the data set identifies its images by strings; else ``None``."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    """Further columns by name: arrays (I, ...), or :class:`~ioukit.datasets.IdLists`."""

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def labels(self) -> npt.NDArray[Any]:
        """(I,) the ids as in the source: :attr:`keys` if they are strings, else :attr:`ids`."""
        return self.ids if self.keys is None else self.keys

    def positions(self, wanted: Sequence[int | str] | npt.NDArray[Any]) -> npt.NDArray[np.intp]:
        """(W,) positions of images in the list.

        Args:
            wanted: (W,) ids as in the source: integers or strings.

        Raises:
            TypeError: If ``wanted`` is no list, or holds strings where the data set has integers, or integers where
                it has strings.
            ValueError: If there is no such image.
        """
        given = np.asarray(wanted)
        if given.ndim != 1:
            raise TypeError(f"expected a list of image ids, got {wanted!r}")
        if not given.size:
            return np.zeros(0, np.intp)
        if (given.dtype.kind == "U") != (self.keys is not None):
            kinds = "integers" if self.keys is None else "strings"
            raise TypeError(f"image ids of this data set are {kinds}, got {given[0].item()!r}")
        known = self.labels
        places = np.minimum(np.searchsorted(known, given), max(len(known) - 1, 0))
        unknown = np.ones(len(given), np.bool_) if not len(known) else known[places] != given
        if unknown.any():
            raise ValueError(f"no image has the id {given[unknown][0]}")
        return places.astype(np.intp)


@record(frozen=True, eq=False, repr=False)
class Categories(Columns):
    """The categories of a data set, in ascending order of their ids."""

    ids: npt.NDArray[np.int64]
    """(K,) ids, each once."""
    names: tuple[str, ...]
    """(K,) names; the digits of the id if there is no name."""
    attributes: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Further columns by name, each (K, ...)."""

    def __len__(self) -> int:
        return len(self.ids)

    def column(self, name: str) -> npt.NDArray[Any] | None:
        """(K, ...) the attribute of that name, or the names for ``"name"``; ``None`` if there is no such column."""
        return np.array(self.names, np.str_) if name == "name" else self.attributes.get(name)

    def positions(self, wanted: Sequence[int | str]) -> list[int]:
        """Positions of categories in the list, by id or name.

        Raises:
            TypeError: If ``wanted`` is one name instead of a list.
            ValueError: If there is no such category, or more than one of that name; the message offers similar names.
        """
        if isinstance(wanted, str):
            raise TypeError(f"expected a list of category ids or names, got {wanted!r}; write [{wanted!r}]")
        by_id = {number: position for position, number in enumerate(self.ids.tolist())}
        return [self._position(key, by_id) for key in wanted]

    def _position(self, key: int | str, by_id: Mapping[int, int]) -> int:
        if not isinstance(key, str):
            if int(key) not in by_id:
                raise ValueError(f"no category has the id {key}")
            return by_id[int(key)]
        found = [position for position, name in enumerate(self.names) if name == key]
        if len(found) > 1:
            raise ValueError(f"{len(found)} categories have the name {key!r}; choose by id: {self.ids[found].tolist()}")
        if not found:
            import difflib  # noqa: PLC0415 - only for the message

            close = difflib.get_close_matches(key, self.names, n=3)
            others = ", ".join(map(repr, self.names[:5])) + (", ..." if len(self) > 5 else "")
            hint = f"; did you mean {' or '.join(map(repr, close))}?" if close else f"; there are {others}"
            raise ValueError(f"no category has the name {key!r}{hint}")
        return found[0]
