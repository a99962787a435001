"""Parts of a data set: contiguous ranges of its images, and what every step needs to know of them.

Owns: where parts begin, the objects of a part, and how a part with too many detections is cut into ranges. Does not
own: how many parts the memory asks for (memory.py, requests.py), parts that pieces of the input have alone
(in_order.py).
Parts are ranges of images because matching looks at one image at a time: so no part changes the row of another one.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Positions
from ioukit.datasets import GroundTruth, Images
from ioukit.evaluation.protocols import Protocol
from ioukit.scale.kept_files import pyarrow


@dataclasses.dataclass(frozen=True)
class Job:
    """What every step needs to know: rules, images, and where the parts begin. It holds no objects or detections."""

    protocol: Protocol
    """The rules."""
    iou_type: str
    """The kind of region."""
    categories: tuple[int, ...] | None
    """Ids of the categories that are evaluated; all if ``None``."""
    near: float | None
    """As for :func:`ioukit.evaluation.match`."""
    images: Images
    """All images."""
    known_categories: npt.NDArray[np.int64]
    """(K,) the ids of all categories."""
    edges: npt.NDArray[np.int64]
    """(P + 1,) positions in the images at which the parts begin."""

    @property
    def parts(self) -> int:
        """How many parts there are."""
        return len(self.edges) - 1

    def images_of(self, part: int) -> tuple[int, int]:
        """The positions of the first image of a part, and of the one behind its last."""
        first, end = self.edges[part : part + 2].tolist()
        return first, end


def edges_of(images: int, parts: int) -> Positions:
    """(P + 1,) the positions at which the parts begin, and the number of images: as equal as possible."""
    return np.linspace(0, images, max(1, min(parts, images)) + 1).astype(np.int64)


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


class Range(NamedTuple):
    """A part, or a range of the images of a part that has too many detections to be matched at once."""

    part: int
    first: int
    """The position of the first image."""
    end: int
    """The position behind the last image."""


def counts_per_image(job: Job, part: int, rows: Any) -> Positions:
    """(n,) how many rows of a part, as :func:`ioukit.scale.stages.split` gives them, each of its images has."""
    first, end = job.images_of(part)
    places = rows.column("place").to_numpy().astype(np.int64)
    return np.bincount(places - first, minlength=end - first)


def edges_of_ranges(counts: Positions, most_rows: int) -> list[int]:
    """Where ranges of images begin that have at most ``most_rows`` detections each, and the number of images.

    An image is never cut: one with more detections than that is a range of its own.

    Args:
        counts: The detections of each image.
        most_rows: How many detections are matched at a time.
    """
    ends, edges = np.cumsum(counts), [0]
    while edges[-1] < len(ends):
        done = int(ends[edges[-1] - 1]) if edges[-1] else 0
        edges.append(max(int(np.searchsorted(ends, done + most_rows, side="right")), edges[-1] + 1))
    return edges


def rows_of_images(rows: Any, first: int, end: int) -> Any:
    """Those of a record batch that are on the images from the position ``first`` to before ``end``."""
    place = rows.column("place").to_numpy()
    chosen = (place >= first) & (place < end)
    return rows if chosen.all() else rows.filter(pyarrow().array(chosen))
