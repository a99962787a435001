"""Which kinds of regions can be compared? One row per kind: what matching is given to measure overlaps with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._boundary import BoxColumns, MaskColumns, PairColumns
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError

__all__ = [
    "REGION_KINDS",
    "BoxColumns",
    "Comparison",
    "Kind",
    "MaskColumns",
    "PairColumns",
    "candidate_pairs",
    "find_kind",
    "region_kind",
    "register_kind",
]

Rows: TypeAlias = npt.NDArray[np.int64]


class Comparison(NamedTuple):
    """What is to be compared."""

    ground_truth: GroundTruth
    detections: Detections
    detection_images: Rows
    """(N,) the image of each detection, an id of the ground truth."""
    over_detection: npt.NDArray[np.bool_]
    """(G,) objects whose overlap is the intersection over the area of the detection, instead of the IoU."""
    all_categories: bool
    """Whether overlaps are wanted across categories, too."""
    threads: int
    """0 for all cores."""


@dataclass(frozen=True)
class Kind:
    """A kind of region that can be evaluated."""

    name: str
    """What ``iou_type=`` calls it."""
    title: str
    """One line about it."""
    columns: Callable[[Comparison], BoxColumns | MaskColumns | PairColumns]
    """What matching is given. It raises :class:`~ioukit.DatasetError` where a side has no such regions."""


REGION_KINDS: dict[str, Kind] = {}
"""The kinds by name."""


def register_kind(added: Kind) -> None:
    """Add a kind of region, so that ``match`` and ``evaluate`` know it as an ``iou_type``.

    Raises:
        ValueError: If there is a kind of that name.
    """
    if added.name in REGION_KINDS:
        raise ValueError(f"there is a kind of region {added.name!r} already: {REGION_KINDS[added.name].title}")
    REGION_KINDS[added.name] = added


def find_kind(name: str) -> Kind:
    """The kind of a name.

    Raises:
        ValueError: If there is none.
    """
    if name not in REGION_KINDS:
        raise ValueError(f"unknown iou_type {name!r}; choose from {', '.join(REGION_KINDS)}")
    return REGION_KINDS[name]


def region_kind(name: str, title: str, column: str) -> Kind:
    """A kind whose regions are a set of :class:`~ioukit.regions.Regions` on both sides, measured by their engine.

    Args:
        name: What ``iou_type=`` calls it.
        title: One line about it.
        column: The name of the type, which is that of the column in ``regions``: ``"RotatedBoxes"`` for example.
    """

    def columns(compared: Comparison) -> PairColumns:
        from ioukit.overlap.engines.engine import engine_of  # noqa: PLC0415 - who compares boxes waits for no engine

        objects, detections = (
            _column(side, name, column, array)
            for side, array in ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
        )
        rows, columns = candidate_pairs(compared)
        if not len(rows):
            return PairColumns(rows, columns, np.zeros(0))
        engine: Any = engine_of(detections, objects)
        overlap = np.zeros(len(rows))
        over = compared.over_detection[columns]
        for measure, chosen in (("iou", ~over), ("ioa_first", over)):
            if chosen.any():
                overlap[chosen] = engine.pairs(
                    measure, detections, objects, rows[chosen], columns[chosen], compared.threads
                )
        found = overlap > 0
        return PairColumns(rows[found], columns[found], overlap[found])

    return Kind(name, title, columns)


def candidate_pairs(compared: Comparison) -> tuple[Rows, Rows]:
    """(P,) rows of detections and (P,) rows of objects of one image whose boxes meet, by detection, then object.

    Only pairs of one category are listed, unless overlaps are wanted across categories.
    """
    gt, dt = compared.ground_truth, compared.detections
    order = np.argsort(gt.image_ids, kind="stable")
    images = gt.image_ids[order]
    starts = np.searchsorted(images, compared.detection_images, side="left")
    counts = np.searchsorted(images, compared.detection_images, side="right") - starts
    rows = np.repeat(np.arange(len(dt)), counts)
    within = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
    columns = order[starts[rows] + within]
    low = np.maximum(dt.boxes[rows, :2], gt.boxes[columns, :2])
    high = np.minimum(dt.boxes[rows, :2] + dt.boxes[rows, 2:], gt.boxes[columns, :2] + gt.boxes[columns, 2:])
    # Boxes around regions are rounded: those that touch may belong to regions that meet.
    margin = 1e-9 * (np.abs(low) + np.abs(high))
    near = (high + margin >= low).all(axis=1)
    if not compared.all_categories:
        near &= dt.category_ids[rows] == gt.category_ids[columns]
    return rows[near].astype(np.int64), columns[near].astype(np.int64)


def _column(side: GroundTruth | Detections, name: str, column: str, array: str) -> Any:
    found = side.regions.get(column)
    if found is None:
        if not len(side):
            return ()
        there = ", ".join(side.regions) or "boxes alone"
        raise DatasetError(f"{side.source}: iou_type={name!r} needs {array} with {column}, found {there}")
    return found


def _boxes(compared: Comparison) -> BoxColumns:
    return BoxColumns(compared.ground_truth.boxes, compared.detections.boxes)


def _masks(compared: Comparison) -> MaskColumns:
    from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - who compares boxes waits for no mask

    gt, dt = compared.ground_truth, compared.detections
    sizes = gt.images.sizes
    sides = []
    for side, image_ids, array in ((gt, gt.image_ids, "annotations"), (dt, compared.detection_images, "detections")):
        given = side.regions.get("Masks")
        if given is None:
            spelled = _column(side, "segm", "segmentations", array)
            image_sizes = sizes[np.searchsorted(gt.images.ids, image_ids)]
            given = decode(spelled, image_sizes, source=side.source, array=array, threads=compared.threads or None)
        sides.append((side, image_ids, array, given))
    _check_sizes(gt, sides)
    return MaskColumns(*(masks._parts for *_, masks in sides))


def _check_sizes(gt: GroundTruth, sides: list[tuple[GroundTruth | Detections, Rows, str, Any]]) -> None:
    """Refuses masks of one image whose sizes differ: their pixels are not those of one image."""
    first = np.zeros((len(gt.images), 2), np.int64)
    seen = np.zeros(len(gt.images), np.bool_)
    for side, image_ids, array, masks in sides:
        at = np.searchsorted(gt.images.ids, image_ids)
        sizes = np.array(masks._sizes, np.int64)
        images, row = np.unique(at, return_index=True)
        new = ~seen[images]
        first[images[new]] = sizes[row[new]]
        seen[images] = True
        other = np.flatnonzero((sizes != first[at]).any(axis=1))
        if len(other):
            (height, width), (high, wide) = first[at[other[0]]], sizes[other[0]]
            raise DatasetError(
                f"{side.source}: {array}[{other[0]}].segmentation: expected a mask of {height} x {width} (height x "
                f"width) as others of image {gt.images.labels[at[other[0]]]} have, found {high} x {wide}"
            )


register_kind(Kind("bbox", "upright boxes", _boxes))
register_kind(Kind("segm", "masks: polygons or RLE", _masks))
