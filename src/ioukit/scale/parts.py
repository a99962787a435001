"""Parts of a data set: contiguous ranges of its images, each with the objects on them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Detections, GroundTruth

__all__ = ["ATTRIBUTE", "GroundTruthParts", "detections_of_part", "edges_of"]

Positions = npt.NDArray[np.int64]
ATTRIBUTE = "attribute."  # before the names of further columns


def edges_of(images: int, parts: int) -> Positions:
    """(P + 1,) the positions at which the parts begin, and the number of images: as equal as possible."""
    count = max(1, min(parts, images))
    return np.linspace(0, images, count + 1).astype(np.int64)


class GroundTruthParts:
    """A ground truth that hands out ranges of its images, with their objects."""

    def __init__(self, ground_truth: GroundTruth) -> None:
        """Sort the objects by image, once; objects of one image keep their order."""
        self._gt = ground_truth
        places = np.searchsorted(ground_truth.images.ids, ground_truth.image_ids)
        self._order = np.argsort(places, kind="stable")
        self._places = places[self._order].astype(np.uint32)

    def between(self, first: int, end: int) -> tuple[GroundTruth, Positions]:
        """The images from one position to before another one, with their objects in the order of the images.

        Also (G,) the rows of the whole ground truth that these objects are.
        """
        gt, chosen = self._gt, slice(*np.searchsorted(self._places, np.array([first, end], np.uint32)).tolist())
        images, objects = gt.images.take(slice(first, end)), gt.take(self._order[chosen])
        if images.keys is None:
            return dataclasses.replace(objects, images=images), self._order[chosen]
        ids = np.arange(1, len(images) + 1)  # ids that stand for strings are 1 to I
        image_ids = ids[np.searchsorted(images.ids, objects.image_ids)]
        images = dataclasses.replace(images, ids=ids)
        return dataclasses.replace(objects, images=images, image_ids=image_ids), self._order[chosen]


def detections_of_part(
    ground_truth: GroundTruth, places: Positions, columns: Mapping[str, npt.NDArray[Any]], source: str
) -> Detections:
    """The detections of a part: ``places`` (N,) are positions in its images, ``columns`` all others by name."""
    images = ground_truth.images
    return Detections(
        image_ids=images.ids[places] if images.keys is None else places,
        category_ids=columns["category_ids"],
        boxes=columns["boxes"],
        scores=columns["scores"],
        areas=columns.get("areas"),
        attributes={
            name.removeprefix(ATTRIBUTE): column for name, column in columns.items() if name.startswith(ATTRIBUTE)
        },
        image_keys=images.keys,
        source=source,
    )
