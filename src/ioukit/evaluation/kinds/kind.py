"""What matching needs to know about a kind of region."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Rows
from ioukit._boundary import BoxColumns, MaskColumns, PairColumns
from ioukit._columns import record
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols import COCO, Protocol

if TYPE_CHECKING:
    from ioukit.evaluation.outlines.outline import Outlines

__all__ = [
    "BoxColumns",
    "Comparison",
    "Kind",
    "MaskColumns",
    "PairColumns",
    "candidate_pairs",
    "column_of",
    "image_pairs",
    "measured_pairs",
    "region_kind",
]


@record(eq=False, repr=False)
class Comparison:
    """The regions to compare."""

    ground_truth: GroundTruth
    detections: Detections
    detection_images: Rows
    """(N,) the image of each detection, as the ground truth identifies it."""
    over_detection: npt.NDArray[np.bool_]
    """(G,) whether the overlap with an object is the intersection over the area of the detection, not the IoU."""
    all_categories: bool
    """Whether overlaps across categories are needed, too."""
    least: float
    """Overlaps below this one change no result, so they need not be listed."""
    threads: int
    """How many threads; 0 for all cores."""
    protocol: Protocol = COCO
    """The rules, of which some say how upright boxes are compared, such as :attr:`Protocol.inclusive_boxes`."""
    counted: npt.NDArray[np.bool_] | None = None
    """(G,) whether each object counts, for :attr:`Protocol.box_aspect_ratio`; ``None`` for other protocols."""


@dataclass(frozen=True)
class Kind:
    """A kind of region that can be evaluated."""

    name: str
    """The value of ``iou_type`` for this kind."""
    title: str
    """A one-line description."""
    columns: Callable[[Comparison], BoxColumns | MaskColumns | PairColumns]
    """Makes the columns that matching reads. Raises :class:`~ioukit.DatasetError` if a side has no such regions."""
    protocol: Protocol = COCO
    """The default protocol of this kind."""
    outlines: Callable[[GroundTruth | Detections, GroundTruth], Outlines] | None = None
    """How figures and reports draw these regions: takes some rows of either side and the whole ground truth, returns an
    outline per row. The upright boxes of the rows are drawn if ``None``."""
    needs: str | None = None
    """The column of regions that both sides must have: ``"Masks"``, ``"keypoints"`` or the name of another type of
    regions; ``None`` for boxes, or if the kind does not say it."""

    def outlines_of(self, rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:
        """How the regions of some rows are drawn: what :attr:`outlines` returns, or else their boxes.

        Raises:
            ValueError: If there are not as many outlines as rows.
        """
        if self.outlines is None or not len(rows):
            from ioukit.evaluation.outlines.outline import box_outlines  # noqa: PLC0415 - matching does not draw

            return box_outlines(rows.boxes)
        found = self.outlines(rows, ground_truth)
        if len(found) != len(rows):
            raise ValueError(f"the kind {self.name!r} must return {len(rows):,} outlines, got {len(found):,}")
        return found

    def compare(self, compared: Comparison) -> BoxColumns | MaskColumns | PairColumns:
        """What :attr:`columns` returns; pairs are checked and sorted.

        Raises:
            ValueError: If pairs name rows that do not exist, or list a pair twice.
        """
        found = self.columns(compared)
        if not isinstance(found, PairColumns):
            return found
        detection, place = (np.ascontiguousarray(rows, np.int64) for rows in (found.detection, found.object))
        overlap = np.ascontiguousarray(found.overlap, np.float64)
        if not len(detection) == len(place) == len(overlap):
            raise ValueError(
                f"the kind {self.name!r} must return columns of one length, got {len(detection):,} detections, "
                f"{len(place):,} objects and {len(overlap):,} overlaps"
            )
        for name, rows, side in (
            ("detections", detection, compared.detections),
            ("objects", place, compared.ground_truth),
        ):
            if len(rows) and not 0 <= rows.min() <= rows.max() < len(side):
                raise ValueError(
                    f"the kind {self.name!r} returned rows of {name} that do not exist: there are {len(side):,}"
                )
        if not (overlap >= 0).all():
            raise ValueError(f"the kind {self.name!r} must return overlaps of at least 0")
        if not overlap.all():
            meets = overlap > 0
            detection, place, overlap = detection[meets], place[meets], overlap[meets]
        number = detection * max(len(compared.ground_truth), 1) + place
        if (number[1:] <= number[:-1]).any():
            order = np.argsort(number, kind="stable")
            detection, place, overlap, number = detection[order], place[order], overlap[order], number[order]
            if (number[1:] == number[:-1]).any():
                raise ValueError(f"the kind {self.name!r} returned a pair twice")
        return PairColumns(detection, place, overlap)


def region_kind(
    name: str,
    title: str,
    column: str,
    outlines: Callable[[GroundTruth | Detections, GroundTruth], Outlines] | None = None,
) -> Kind:
    """A kind whose regions are a set of :class:`~ioukit.regions.Regions` on both sides, compared by their engine.

    Args:
        name: The value of ``iou_type`` for this kind.
        title: A one-line description.
        column: The name of the type, which is also the name of the column in ``regions``, ``"RotatedBoxes"`` for
            example.
        outlines: How the regions are drawn, see :attr:`Kind.outlines`. If ``None``, as
            :func:`ioukit.evaluation.region_outlines` draws them.
    """

    def of_column(rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:  # noqa: ARG001
        from ioukit.evaluation.outlines.regions import region_outlines  # noqa: PLC0415 - matching does not draw

        return region_outlines(rows.regions[column])

    def columns(compared: Comparison) -> PairColumns:
        sides = ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
        objects, detections = (column_of(side, name, column, array) for side, array in sides)
        return measured_pairs(compared, objects, detections)

    return Kind(name, title, columns, outlines=of_column if outlines is None else outlines, needs=column)


def measured_pairs(compared: Comparison, objects: Any, detections: Any) -> PairColumns:
    """The overlaps of the pairs of two sets of regions that may overlap, computed by their engine."""
    from ioukit.overlap.engines.engine import engine_of  # noqa: PLC0415 - comparing boxes should not load this

    rows, places = candidate_pairs(compared, objects, detections)
    if not len(rows):
        return PairColumns(rows, places, np.zeros(0))
    engine: Any = engine_of(detections, objects)
    overlap = np.zeros(len(rows))
    over = compared.over_detection[places]
    for measure, chosen in (("iou", ~over), ("ioa_first", over)):
        if chosen.any():
            overlap[chosen] = engine.pairs(measure, detections, objects, rows[chosen], places[chosen], compared.threads)
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])


def candidate_pairs(compared: Comparison, objects: Any, detections: Any) -> tuple[Rows, Rows]:
    """The pairs of one image whose regions may overlap: (P,) rows of detections and (P,) rows of objects, sorted.

    Only pairs of one category are listed, unless overlaps are wanted across categories.

    Args:
        compared: What is compared.
        objects: (G,) regions with a method ``to_boxes``.
        detections: (N,) regions of the same kind.
    """
    rows, places = image_pairs(compared)
    if not len(rows):
        return rows, places
    first, second = (_corners(regions) for regions in (detections, objects))
    low = np.maximum(first[rows, :2], second[places, :2])
    high = np.minimum(first[rows, 2:], second[places, 2:])
    # Boxes around regions are rounded: regions whose boxes only touch may overlap.
    margin = 1e-9 * (np.abs(low) + np.abs(high))
    near = (high + margin >= low).all(axis=1)
    return rows[near], places[near]


def _corners(regions: Any) -> npt.NDArray[np.float64]:
    return np.asarray(regions.to_boxes().convert("xyxy").numpy(), np.float64)


def image_pairs(compared: Comparison) -> tuple[Rows, Rows]:
    """(P,) rows of detections and (P,) rows of objects of one image, by detection, then object.

    Only pairs of one category are listed, unless overlaps are wanted across categories.
    """
    gt, dt = compared.ground_truth, compared.detections
    images = np.ascontiguousarray(gt.image_ids), np.ascontiguousarray(compared.detection_images)
    categories = np.ascontiguousarray(gt.category_ids), np.ascontiguousarray(dt.category_ids)
    return _core.pairs_of_images(*images, None if compared.all_categories else categories)


def column_of(side: GroundTruth | Detections, name: str, column: str, array: str) -> Any:
    """The regions of a side; an empty column if the side has no rows.

    Raises:
        DatasetError: If the side has rows, but no regions of that kind.
    """
    if (found := side.regions.get(column)) is None:
        if not len(side):
            return ()
        there = ", ".join(side.regions) or "boxes alone"
        raise DatasetError(f"{side.source}: iou_type={name!r} needs {array} with {column}, found {there}")
    return found
