"""The images and the categories of a data set that is built from columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._checks import image_labels, integers, named_columns
from ioukit.datasets.columns.images import Categories, Images
from ioukit.datasets.columns.lazy import Names
from ioukit.errors import DatasetError

__all__ = ["by_id", "listed_categories", "listed_images", "numbered"]


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
    if images is None:
        listed: npt.NDArray[Any] = np.unique(labels)
    else:
        listed = image_labels(images, name="images")
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
    keys = ids = None
    if listed.dtype.kind == "U":
        keys = listed
        unique, counts = np.unique(keys, return_counts=True)
        if len(unique) < count:
            raise DatasetError(f"images: expected ids that differ, found {str(unique[counts > 1][0])!r} twice")
        ids = np.empty(count, np.int64)
        ids[np.argsort(keys, kind="stable")] = np.arange(1, count + 1)
    else:
        ids = listed
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
    try:
        return by_id(images).ids[by_id(images).positions(labels)]
    except ValueError:
        row = int(np.flatnonzero(~np.isin(labels, images.keys))[0])
        expected = "the id of an image of the ground truth"
        raise DatasetError(
            f"{source}: annotations[{row}].image_id: expected {expected}, found {str(labels[row])!r}"
        ) from None


def by_id(images: Images) -> Images:
    """The images in ascending order of their ids, or of their keys if they have strings."""
    if images.keys is not None:
        return images.take(np.argsort(images.keys, kind="stable"))
    return images.take(np.argsort(images.ids))
