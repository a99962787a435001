"""Columns that are computed from the data: size, shape, crowding, occlusion, truncation, position."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation import largest_overlaps
from ioukit.evaluation.protocols import COCO, Protocol
from ioukit.overlap.join import overlap_join
from ioukit.slices.columns import Column, values_of

Positions: TypeAlias = npt.NDArray[np.intp]

SIZE = "size"
"""The name of the column ``area``, cut by the area ranges of the protocol."""
_BORDER = 1.0
"""A box closer to the border of its image than this touches it, in pixels."""
_ANY_OVERLAP = 1e-300
_SHAPES = (("tall", 0.5), ("square", 2.0), ("wide", np.inf))
_CROWDING = (("alone", _ANY_OVERLAP), ("slight overlap", 0.25), ("strong overlap", np.inf))
_OCCLUSION = (("free", 0.1), ("partly covered", 0.5), ("mostly covered", np.inf))
_NINTHS = np.array([f"{row} {column}" for row in ("top", "middle", "bottom") for column in ("left", "centre", "right")])


class _Side(NamedTuple):
    """What is measured of objects or of detections."""

    boxes: Floats
    """(N, 4) ``[x, y, width, height]``."""
    areas: Floats
    """(N,) areas as the protocol uses them."""
    sizes: Floats
    """(N, 2) width and height of the image of each; NaN if unknown."""
    categories: Positions
    """(N,) positions in the list of categories."""


def computed_columns(
    gt: GroundTruth, dt: Detections, image_of_objects: Positions, image_of_detections: Positions
) -> Iterator[Column]:
    """The columns that are computed from a data set, each when it is asked for.

    Args:
        gt: The objects.
        dt: The detections.
        image_of_objects: (G,) positions in the list of images.
        image_of_detections: (N,) the same for the detections.
    """
    known = gt.categories.ids
    objects = _Side(gt.boxes, gt.areas, gt.images.sizes[image_of_objects], known.searchsorted(gt.category_ids))
    detections = _Side(
        dt.boxes,
        dt.areas_or_those_of_boxes(),
        gt.images.sizes[image_of_detections],
        known.searchsorted(dt.category_ids),
    )
    has_sizes = not np.isnan(gt.images.sizes).all()
    for name, (measure, needs_sizes, meaning) in _OF_BOTH.items():
        if has_sizes or not needs_sizes:
            yield _of_both(name, measure, objects, detections, meaning)
    yield from _category_columns(gt, objects, detections)
    yield from _object_columns(gt)
    if "truncated" not in gt.flags and has_sizes:
        yield _of_both("truncation", _truncation, objects, detections, "Whether the box touches the border.")
    yield from _image_columns(gt, image_of_objects)


def size_ranges(protocol: Protocol) -> dict[str, tuple[float, float]]:
    """The area ranges of a protocol without its main one, both ends included; COCO's if it has no others."""
    for ranges in (protocol.size_ranges, COCO.size_ranges):
        found = {area.label: (area.low, area.high) for area in ranges if area.label != protocol.main_area}
        if found:
            return found
    return {}


def _of_both(
    name: str, measure: Callable[[_Side], npt.NDArray[Any]], objects: _Side, detections: _Side, meaning: str
) -> Column:
    return Column(
        name,
        "object",
        "computed",
        lambda: values_of(measure(objects), name),
        lambda: values_of(measure(detections), name),
        meaning=meaning,
    )


def _category_columns(gt: GroundTruth, objects: _Side, detections: _Side) -> Iterator[Column]:
    columns = {"category": np.array(gt.categories.names, np.str_), **gt.categories.attributes}
    for name, values in columns.items():
        if values.ndim == 1 and values.dtype.kind in "iufbU":

            def of(side: _Side, values: npt.NDArray[Any] = values) -> npt.NDArray[Any]:
                return values[side.categories]

            meaning = "Name of the category." if name == "category" else "Attribute of the category."
            yield _of_both(name, of, objects, detections, meaning)


def _object_columns(gt: GroundTruth) -> Iterator[Column]:
    """Columns that detections do not have."""
    measured: dict[str, tuple[Callable[[], npt.NDArray[Any]], str]] = {
        "largest_overlap": (lambda: largest_overlaps(gt), "Largest IoU of the box with that of another object."),
        "crowding": (
            lambda: _named(largest_overlaps(gt), _CROWDING),
            "Largest overlap: alone 0, slight overlap below 0.25, strong overlap at least 0.25.",
        ),
        "covered": (lambda: _covered(gt), "Largest share of the box that the box of another object covers."),
        "occlusion": (
            (lambda: np.where(gt.flag("occluded"), "occluded", "free"))
            if "occluded" in gt.flags
            else (lambda: _named(_covered(gt), _OCCLUSION)),
            "Flag occluded; without it, covered: free below 0.1, mostly covered at least 0.5.",
        ),
    }
    if "truncated" in gt.flags:
        measured["truncation"] = (
            lambda: np.where(gt.flag("truncated"), "truncated", "whole"),
            "Flag truncated of the data.",
        )
    for name, (measure, meaning) in measured.items():
        yield Column(name, "object", "computed", lambda m=measure, n=name: values_of(m(), n), meaning=meaning)  # type: ignore[misc]


def _image_columns(gt: GroundTruth, image_of_objects: Positions) -> Iterator[Column]:
    def counts() -> npt.NDArray[Any]:
        return np.bincount(image_of_objects[~gt.flag("crowd")], minlength=len(gt.images))

    yield Column(
        "objects_in_image",
        "image",
        "computed",
        lambda: values_of(counts(), "objects_in_image"),
        meaning="Number of objects in the image, without crowds.",
    )
    for at, name in enumerate(("image_width", "image_height")):
        yield Column(
            name,
            "image",
            "computed",
            lambda at=at, name=name: values_of(gt.images.sizes[:, at], name),  # type: ignore[misc]
            meaning=f"{name[6:].title()} of the image in pixels.",
        )


def _named(values: Floats, limits: tuple[tuple[str, float], ...]) -> npt.NDArray[np.str_]:
    """The name of the first limit that is above each value; empty text for NaN."""
    names = np.array([name for name, _ in limits] + [""])
    place = np.searchsorted([limit for _, limit in limits], np.minimum(values, 1e300), side="right")
    return names[np.where(np.isnan(values), len(limits), place)]


def _aspect_ratios(side: _Side) -> Floats:
    found = np.full(len(side.boxes), np.nan)
    np.divide(side.boxes[:, 2], side.boxes[:, 3], out=found, where=side.boxes[:, 3] > 0)
    return found


def _centres(side: _Side) -> Floats:
    """(N, 2) centres over the size of the image; NaN where it is unknown or 0."""
    found = np.full((len(side.boxes), 2), np.nan)
    np.divide(side.boxes[:, :2] + side.boxes[:, 2:] / 2, side.sizes, out=found, where=side.sizes > 0)
    return found


def _positions(side: _Side) -> npt.NDArray[np.str_]:
    centres = _centres(side)
    known: npt.NDArray[np.bool_] = np.asarray(~np.isnan(centres).any(axis=1))
    column, row = np.clip(np.floor(np.where(known[:, np.newaxis], centres, 0) * 3), 0, 2).astype(np.int64).T
    return np.where(known, _NINTHS[row * 3 + column], "")


def _distances(side: _Side) -> Floats:
    """(N,) distances of the boxes from the nearest border, negative outside; NaN if the image size is unknown."""
    low, high = side.boxes[:, :2], side.boxes[:, :2] + side.boxes[:, 2:]
    return np.asarray(np.minimum(low, side.sizes - high).min(axis=1))


def _truncation(side: _Side) -> npt.NDArray[np.str_]:
    distances = _distances(side)
    return np.where(np.isnan(distances), "", np.where(distances < _BORDER, "truncated", "whole"))


def _covered(gt: GroundTruth) -> Floats:
    """(G,) the largest share of each box that the box of another object covers; crowds cover nothing."""
    labels = np.unique(gt.image_ids, return_inverse=True)[1].astype(np.int64)
    pairs = overlap_join(gt.boxes, min_iou=_ANY_OVERLAP, labels1=labels, format="xywh")
    area = gt.boxes[:, 2] * gt.boxes[:, 3]
    shared = pairs.values / (1 + pairs.values) * (area[pairs.rows] + area[pairs.columns])
    found, is_crowd = np.zeros(len(gt)), gt.flag("crowd")
    for of, other in ((pairs.rows, pairs.columns), (pairs.columns, pairs.rows)):
        kept = ~is_crowd[other]
        np.maximum.at(found, of[kept], shared[kept] / area[of[kept]])
    return np.minimum(found, 1.0)


_OF_BOTH: dict[str, tuple[Callable[[_Side], npt.NDArray[Any]], bool, str]] = {
    "area": (lambda side: side.areas, False, "Area in square pixels, as area ranges use it."),
    "width": (lambda side: side.boxes[:, 2], False, "Width of the box in pixels."),
    "height": (lambda side: side.boxes[:, 3], False, "Height of the box in pixels."),
    "aspect_ratio": (_aspect_ratios, False, "Width over height of the box."),
    "shape": (
        lambda side: _named(_aspect_ratios(side), _SHAPES),
        False,
        "Aspect ratio: tall below 0.5, square below 2, wide at least 2.",
    ),
    "x": (lambda side: _centres(side)[:, 0], True, "Centre of the box over the image width: 0 left, 1 right."),
    "y": (lambda side: _centres(side)[:, 1], True, "Centre of the box over the image height: 0 top, 1 bottom."),
    "position": (_positions, True, "Ninth of the image with the centre of the box."),
    "border_distance": (_distances, True, "Distance of the box from the nearest border in pixels; truncated below 1."),
}
