"""The lists of images and categories of a data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ioukit._columns import Columns, record
from ioukit._near_names import suggest
from ioukit.datasets.columns._checks import image_labels, integers, label_runs, named_columns
from ioukit.datasets.columns.lazy import Names
from ioukit.errors import DatasetError


@record(frozen=True, eq=False, repr=False)
class Images(Columns):
    """The images of a data set, in ascending order of their ids."""

    SHARED: ClassVar[frozenset[str]] = frozenset({"made_up_ids"})

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
    made_up_ids: bool = False
    """Whether the reader numbered the images itself, because their files have names only, as YOLO's do. Ids in other
    files are then not these."""

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

    SHARED: ClassVar[frozenset[str]] = frozenset({"made_up_ids"})

    ids: npt.NDArray[np.int64]
    """(K,) ids, each once."""
    names: tuple[str, ...]
    """(K,) names; the digits of the id if there is no name."""
    attributes: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """Further columns by name, each (K, ...)."""
    made_up_ids: bool = False
    """Whether the reader numbered the classes in the order of their names, because the files have names only."""

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
                listed = [f"{number} ({self.names[at]})" for number, at in [*by_id.items()][:5]]
                raise ValueError(f"no category has the id {key}; there are {_first(listed, len(self))}")
            return by_id[int(key)]
        found = [position for position, name in enumerate(self.names) if name == key]
        if len(found) > 1:
            raise ValueError(f"{len(found)} categories have the name {key!r}; choose by id: {self.ids[found].tolist()}")
        if not found:
            others = f"there are {_first([*map(repr, self.names[:5])], len(self))}"
            raise ValueError(f"no category has the name {key!r}{suggest(key, self.names, others)}")
        return found[0]


def _first(listed: Sequence[str], count: int) -> str:
    return ", ".join(listed) + (", ..." if count > len(listed) else "")


def listed_images(
    labels: npt.NDArray[Any],
    images: Images | npt.ArrayLike | None,
    sizes: npt.ArrayLike | None,
    names: Sequence[str] | None,
    attributes: Mapping[str, Any] | None,
) -> Images:
    """The images that were given to `GroundTruth.from_arrays`, in their order; those of the labels if none were given.

    Raises:
        TypeError: If the ids of images and the labels are not both integers or both strings.
        ValueError: If columns come without images, or shapes do not fit.
        DatasetError: If a string occurs twice.
    """
    alone = images is None or isinstance(images, Images)
    for name, given in (("sizes", sizes), ("names", names), ("image_attributes", attributes)):
        if alone and given is not None:
            raise ValueError(f"{name} needs the ids of images, whose order it has")
    if isinstance(images, Images):
        return images
    listed: npt.NDArray[Any] = np.unique(labels) if images is None else image_labels(images, name="images")
    if len(listed) and len(labels) and listed.dtype.kind != labels.dtype.kind:
        given = f"{listed[0].item()!r}, {labels[0].item()!r}"
        raise TypeError(f"images and image_ids must both be integers or both strings, got {given}")
    count = len(listed)
    size_array = np.full((count, 2), np.nan) if sizes is None else np.array(sizes, np.float64)
    if size_array.shape != (count, 2) and (size_array.size or count):
        raise ValueError(f"sizes must have shape ({count}, 2), got {size_array.shape}")
    name_list = [] if names is None else list(names)
    if names is not None and len(name_list) != count:
        raise ValueError(f"names must have {count} strings, got {len(name_list)}")
    if wrong := [name for name in name_list if not isinstance(name, str)]:
        raise TypeError(f"names must be strings, got {wrong[0]!r}")
    packed = Names(b"", np.zeros(count, np.uint64)) if names is None else Names.of(name_list)
    keys, ids = None, listed
    if listed.dtype.kind == "U":
        keys = listed
        unique, counts = np.unique(keys, return_counts=True)
        if len(unique) < count:
            raise DatasetError(f"images: expected ids that differ, found {str(unique[counts > 1][0])!r} twice")
        ids = np.empty(count, np.int64)
        ids[np.argsort(keys, kind="stable")] = np.arange(1, count + 1)
    further = named_columns(attributes, name="image_attributes", length=count)
    return Images(ids, size_array.reshape(-1, 2), packed, keys, further)


def listed_categories(
    category_ids: npt.NDArray[np.int64],
    categories: Categories | Mapping[int, str] | npt.ArrayLike | None,
    attributes: Mapping[str, npt.ArrayLike] | None,
) -> Categories:
    """The categories that were given to `GroundTruth.from_arrays`; those of the annotations if none were given."""
    if isinstance(categories, Categories):
        return categories
    if isinstance(categories, Mapping):
        listed, names = integers(list(categories), name="categories"), tuple(map(str, categories.values()))
    else:
        listed = np.unique(category_ids) if categories is None else integers(categories, name="categories")
        names = tuple(map(str, listed.tolist()))
    return Categories(listed, names, named_columns(attributes, name="category_attributes", length=len(listed)))


def numbered(labels: npt.NDArray[Any], images: Images, source: str) -> npt.NDArray[np.int64]:
    """(N,) integer ids of images, also for labels that are strings.

    Raises:
        TypeError: If the labels are strings and the images have integers, or the other way round.
        DatasetError: If no image has such a string; integers are checked later.
    """
    if images.keys is None:
        if labels.dtype.kind == "U":
            raise TypeError(f"image ids of this data set are integers, got {str(labels[0])!r}")
        return labels.astype(np.int64)
    firsts, runs = label_runs(labels)
    ordered = by_id(images)
    try:
        return ordered.ids[ordered.positions(labels[firsts])][runs]
    except ValueError:
        row = int(np.flatnonzero(~np.isin(labels, images.keys))[0])
        problem = f"expected the id of an image of the ground truth, found {str(labels[row])!r}"
        raise DatasetError(f"{source}: annotations[{row}].image_id: {problem}") from None


def by_id(images: Images) -> Images:
    """The images in ascending order of their ids, or of their keys if they have strings."""
    if images.keys is not None:
        return images.take(np.argsort(images.keys, kind="stable"))
    return images.take(np.argsort(images.ids))


def sizes_for_fractions(images: Images, places: npt.NDArray[np.intp], source: str) -> npt.NDArray[np.float64]:
    """(N, 2) the sizes of the images at these positions, with which fractions become pixels.

    Raises:
        DatasetError: If one is not known; the message says how to give it.
    """
    sizes: npt.NDArray[np.float64] = images.sizes[places]
    unknown = np.isnan(sizes).any(axis=1)
    if unknown.any():
        label = images.labels[places[unknown.argmax()]].item()
        raise DatasetError(
            f"{source}: boxes are fractions of the image, and the size of image {label!r} is not known, which makes "
            "them pixels: give the folder of the images to the reader of the ground truth, images=FOLDER (in a command "
            "--gt-option, or --option of convert)"
        )
    return sizes
