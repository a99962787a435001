"""What a data set holds: the record of all measurements."""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._output import printable
from ioukit._plain_values import plain_value
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.evaluation.protocols.coco import COCO
from ioukit.inspection.region_values import RegionValues
from ioukit.inspection.words import facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import ArrayLike


_QUANTILES = {"minimum": 0.0, "p5": 0.05, "p25": 0.25, "median": 0.5, "p75": 0.75, "p95": 0.95, "maximum": 1.0}


UNKNOWN, OUTSIDE = -1, -2
"""In the place of a cell: the size of the image is unknown; the centre lies outside of the image."""


CELLS = 32
"""The number of cells along each side of the image in which centres are counted."""

SIZES = {area.label: (area.low, area.high) for area in COCO.area_ranges if area.label != "all"}
"""COCO's area ranges in square pixels: ``small``, ``medium`` and ``large``."""

_IOU_STEPS = (0.1, 0.3, 0.5, 0.7, 0.9)

_MOST_SIZES = 10

_MOST_PAIRS = 20


@record(frozen=True, eq=False, repr=False)
class Inspection(Frozen):
    """What a data set holds. Build one with :func:`inspect`. The arrays are read-only.

    ``N`` objects are in the order of the ground truth, ``I`` images and ``K`` classes in that of its lists.
    """

    ground_truth: GroundTruth
    """The data set."""
    format: str
    """The name of the format that it was read from, such as ``"coco"``; empty if it was not read from a path."""
    images: npt.NDArray[np.int64]
    """(N,) the position of the image of each object."""
    classes: npt.NDArray[np.int64]
    """(N,) the position of the class of each object."""
    objects_per_image: npt.NDArray[np.int64]
    """(I,) the number of objects on each image."""
    objects_per_class: npt.NDArray[np.int64]
    """(K,) the number of objects of each class."""
    images_per_class: npt.NDArray[np.int64]
    """(K,) the number of images with each class."""
    sides: npt.NDArray[np.float64]
    """(N,) the square root of the area of each object, in pixels: the side of a square of that area. Areas are those of
    the source, which are the areas of the masks in COCO's files."""
    aspect_ratios: npt.NDArray[np.float64]
    """(N,) width over height of each box; NaN for boxes without an area."""
    image_shares: npt.NDArray[np.float64]
    """(N,) the area of each box over that of its image; NaN if the size of the image is unknown."""
    positions: npt.NDArray[np.int64]
    """(G, G) how many centres of boxes lie in each cell of the image, from the upper left. Images are stretched to one
    square; objects on images of unknown size are left out."""
    outside: int
    """How many centres of boxes lie outside of their image."""
    overlap_of: str
    """What :attr:`overlaps` compares: ``"boxes"``, the upright boxes; or ``"RotatedBoxes"`` or ``"Polygons"``, if the
    data set has them."""
    overlaps: npt.NDArray[np.float64]
    """(N,) the IoU of each object with its nearest neighbour: the largest with any other object of the image. 0 without
    an overlap; NaN for objects with the flag ``crowd`` or ``group_of``, which stand for several and are no neighbours
    of others."""
    overlaps_of_class: npt.NDArray[np.float64]
    """(N,) the same with neighbours of the same class alone. NMS at a lower threshold removes one of the two."""
    together_classes: npt.NDArray[np.int64]
    """(C,) the positions of the classes on the most images, at most 100, most images first."""
    together_images: npt.NDArray[np.int64]
    """(C, C) the number of images that show both classes; on the diagonal, those that show the class."""
    regions: tuple[RegionValues, ...]
    """What is measured of regions other than boxes, by kind."""
    notes: tuple[str, ...]
    """What a user should know about the data, and what was left out."""

    def __len__(self) -> int:
        return len(self.images)

    def __repr__(self) -> str:
        read = f"{self.format}: " if self.format else ""
        return (
            f"Inspection({read}{pluralize(len(self.objects_per_image), 'image')}, {pluralize(len(self), 'object')}, "
            f"{pluralize(len(self.objects_per_class), 'class')})"
        )

    @cached_property
    def size_names(self) -> npt.NDArray[np.int64]:
        """(N,) 0 for small objects, 1 for medium and 2 for large ones, by COCO's bounds of 32 x 32 and 96 x 96 pixels.

        An area of exactly 32 x 32 is medium here. COCO's evaluation counts it in both ranges.
        """
        bounds = [low for low, _ in SIZES.values()][1:]
        return np.searchsorted(bounds, self.ground_truth.areas, side="right").astype(np.int64)

    @cached_property
    def sizes_per_class(self) -> npt.NDArray[np.int64]:
        """(K, 3) the number of small, medium and large objects of each class."""
        count = len(SIZES)
        codes = self.classes * count + self.size_names
        return np.bincount(codes, minlength=len(self.objects_per_class) * count).reshape(-1, count)

    @cached_property
    def median_sides(self) -> npt.NDArray[np.float64]:
        """(K,) the median of :attr:`sides` of the objects of each class; NaN for classes without objects."""
        ordered = self.sides[np.lexsort([self.sides, self.classes])]
        starts = np.cumsum(self.objects_per_class) - self.objects_per_class
        found = np.full(len(starts), np.nan)
        filled = self.objects_per_class > 0
        first, count = starts[filled], self.objects_per_class[filled]
        found[filled] = (ordered[first + (count - 1) // 2] + ordered[first + count // 2]) / 2
        return found

    @property
    def num_by_size(self) -> dict[str, int]:
        """The number of small, medium and large objects, see :attr:`size_names`."""
        return dict(zip(SIZES, np.bincount(self.size_names, minlength=len(SIZES)).tolist(), strict=True))

    @property
    def num_by_flag(self) -> dict[str, int]:
        """The number of objects with each flag that the data set has, such as ``crowd`` or ``difficult``."""
        return {name: int(flag.sum()) for name, flag in self.ground_truth.flags.items()}

    @property
    def images_without_objects(self) -> int:
        """The number of images without objects."""
        return int((self.objects_per_image == 0).sum())

    @property
    def classes_without_objects(self) -> int:
        """The number of classes without objects."""
        return int((self.objects_per_class == 0).sum())

    @cached_property
    def image_sizes(self) -> list[tuple[int, int, int]]:
        """Width, height and number of the images of each size, the most frequent first; without unknown sizes."""
        sizes = self.ground_truth.images.sizes
        known = sizes[~np.isnan(sizes).any(axis=1)].astype(np.int64)
        found, counts = np.unique(known, axis=0, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        return [(*size, count) for size, count in zip(found[order].tolist(), counts[order].tolist(), strict=True)]

    def pairs_of_classes(self) -> Iterator[tuple[int, int, int]]:
        """Positions of two classes and the number of images that show both, most images first, without zeros."""
        classes, counts = self.together_classes, self.together_images
        first, second = np.triu_indices(len(classes), 1)
        found = counts[first, second]
        order = np.argsort(-found, kind="stable")
        for place in order[: int((found > 0).sum())].tolist():
            yield int(classes[first[place]]), int(classes[second[place]]), int(found[place])

    def to_dict(self) -> dict[str, Any]:
        """All numbers in plain Python values, ``None`` where a number is undefined.

        ``images``, ``objects`` and ``classes`` are two counts and a list. Columns are given by their quantiles.
        """
        gt = self.ground_truth
        names = gt.categories.names
        columns = (gt.categories.ids, self.objects_per_class, self.images_per_class, self.median_sides)
        listed = zip(*(column.tolist() for column in columns), names, strict=True)
        return {
            "source": gt.source,
            "format": self.format,
            "images": len(gt.images),
            "objects": len(self),
            "classes": [
                {"id": number, "name": name, "count": count, "images": images, "median_side": plain_value(side)}
                for number, count, images, side, name in listed
            ],
            "images_without_objects": self.images_without_objects,
            "classes_without_objects": self.classes_without_objects,
            "image_sizes": {
                "known": sum(count for *_, count in self.image_sizes),
                "different": len(self.image_sizes),
                "most": [
                    {"width": width, "height": height, "count": count}
                    for width, height, count in self.image_sizes[:_MOST_SIZES]
                ],
            },
            "objects_per_image": spread(self.objects_per_image),
            "sizes": self.num_by_size,
            "sides": spread(self.sides),
            "image_shares": spread(self.image_shares),
            "aspect_ratios": spread(self.aspect_ratios),
            "positions": {"counts": self.positions.tolist(), "outside": self.outside},
            "overlaps": {
                "of": self.overlap_of,
                "any_class": _overlap_counts(self.overlaps),
                "same_class": _overlap_counts(self.overlaps_of_class),
            },
            "flags": self.num_by_flag,
            "regions": [
                {
                    "column": one.column,
                    "title": one.title,
                    "count": int(one.present.sum()),
                    "values": {name: spread(values) for name, values in one.values.items()},
                }
                for one in self.regions
            ],
            "classes_together": [
                {"first": names[first], "second": names[second], "images": count}
                for (first, second, count), _ in zip(self.pairs_of_classes(), range(_MOST_PAIRS), strict=False)
            ],
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def facts(self) -> list[tuple[str, str]]:
        """The main numbers in words: the name of each line and its text."""
        return facts(self.to_dict())

    def table(self) -> str:
        """The main numbers as lines of text."""
        lines = [(name, printable(text)) for name, text in self.facts()]
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:{width}}  {text}" for name, text in lines)

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The main numbers in words."""
        return [{"": name, "value": printable(text)} for name, text in self.facts()], 0

    def notebook_caption(self) -> str:
        """The data set in a line."""
        return printable(repr(self))


def _overlap_counts(overlaps: npt.NDArray[np.float64]) -> dict[str, Any]:
    """The spread of the overlaps, and how many of them reach some thresholds."""
    reached = {f"{step:g}": int((overlaps >= step).sum()) for step in _IOU_STEPS}
    return {**spread(overlaps), "overlapping": int((overlaps > 0).sum()), "at_least": reached}


def spread(values: ArrayLike) -> dict[str, float | int | None]:
    """The number of values that are not NaN, their quantiles (linear, as NumPy's) and their mean.

    All but the number are ``None`` if there is no value.
    """
    column = np.asarray(values, np.float64)
    column = column[~np.isnan(column)]
    names = [*_QUANTILES, "mean"]
    if not len(column):
        return {"count": 0, **dict.fromkeys(names)}
    found = [*np.quantile(column, list(_QUANTILES.values())).tolist(), float(column.mean())]
    return {"count": len(column), **dict(zip(names, found, strict=True))}


def cell_of_centres(gt: GroundTruth, images: npt.NDArray[np.int64], cells: int) -> npt.NDArray[np.int64]:
    """(N,) the cell of the centre of each box: row times ``cells`` plus column, or :data:`UNKNOWN` or :data:`OUTSIDE`.

    Args:
        gt: The data set.
        images: (N,) the position of the image of each object.
        cells: How many cells the image has along each side. The last ones include the edge of the image.
    """
    sizes = gt.images.sizes[images]
    known = np.logical_and(sizes[:, 0] > 0, sizes[:, 1] > 0)
    centres = (gt.boxes[known, :2] + gt.boxes[known, 2:] / 2) / sizes[known]
    inside: npt.NDArray[np.bool_] = np.asarray(((centres >= 0) & (centres <= 1)).all(axis=1))
    column, row = np.minimum(np.where(inside[:, np.newaxis], centres, 0.0) * cells, cells - 1).astype(np.int64).T
    found = np.full(len(gt), UNKNOWN)
    found[known] = np.where(inside, row * cells + column, OUTSIDE)
    return found
