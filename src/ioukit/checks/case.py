"""`Case`: the data that rules look at, and what several rules need."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._columns import positions_in
from ioukit.checks.repairs.boxes import sizes_of_rows
from ioukit.checks.repairs.regions import masks_of
from ioukit.checks.repairs.repair import Data, repaired
from ioukit.datasets.columns.detections import placed
from ioukit.evaluation import evaluate
from ioukit.evaluation.counting import counted_objects
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.evaluation.matching import default_protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Repair, Side
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Protocol
    from ioukit.typing import FloatArray

    Rows = NDArray[np.intp]
    Mask = NDArray[np.bool_]


MATCH = 0.5
"""The IoU of a detection and an object that belong together."""
MOST_PAIRS = 200_000
FEWER_PAIRS = 30_000
MOST_DETECTIONS = 100


class Pairs(NamedTuple):
    """All pairs of a detection and an object of one image, for the images that are looked at."""

    detections: Rows
    """(P,) rows of detections."""
    objects: Rows
    """(P,) rows of objects, ascending."""
    images: Rows
    """(P,) positions of images."""
    starts: Rows
    """(O,) where the pairs of each object begin."""
    same: Mask
    """(P,) whether both are of one class."""

    def best(self, values: FloatArray) -> FloatArray:
        """(O,) the largest of (P,) values of each object."""
        if not len(self.starts):
            return np.zeros(0)
        largest: FloatArray = np.maximum.reduceat(values, self.starts)
        return largest

    def per_image(self, best: FloatArray) -> tuple[Rows, FloatArray, Rows]:
        """The images of the pairs, the mean over the objects of each of them of (O,) values, and their number."""
        images, where = np.unique(self.images[self.starts], return_inverse=True)
        count = np.bincount(where, minlength=len(images))
        return images, np.bincount(where, best, minlength=len(images)) / np.maximum(count, 1), count


def _corners(boxes: FloatArray) -> FloatArray:
    """(N, 4) corners of boxes in xywh; those of boxes with a negative side are all 0."""
    corners = convert(boxes, "xywh", "xyxy")
    corners[~(np.minimum(boxes[:, 2], boxes[:, 3]) >= 0)] = 0
    return corners


def _iou(first: FloatArray, second: FloatArray) -> FloatArray:
    iou = np.empty(len(first))
    _core.elementwise("iou", (), first, second, iou, 1)
    iou[np.isnan(iou)] = 0  # an area of 0 by 0
    return iou


def pairwise_iou(first: FloatArray, second: FloatArray) -> FloatArray:
    """(M, N) IoU of all pairs of boxes in xywh; 0 for boxes with a negative side."""
    iou = np.empty((len(first), len(second)))
    _core.pairwise("iou", (), _corners(first), _corners(second), iou, 1)
    iou[np.isnan(iou)] = 0
    return iou


def different(boxes: FloatArray) -> float:
    """How many different boxes these are: a car parked before a fixed camera is about one, in all frames together.

    A coincidence that all frames repeat must not count once per frame. Boxes are put on a grid of a quarter of the
    median side; the number is that of equally frequent cells with the same chance that two boxes share one (Simpson,
    Measurement of diversity, 1949).
    """
    unit = float(np.median(boxes[:, 2:])) / 4 if len(boxes) else 0.0
    if not unit > 0:
        return float(len(boxes))
    with np.errstate(all="ignore"):  # of huge boxes beside tiny ones
        # One number for each cell: rows are slow to sort.
        cells = np.round(boxes / unit) @ np.sqrt([2.0, 3.0, 5.0, 7.0])
    times = np.unique(cells, return_counts=True)[1].astype(np.float64)
    return len(boxes) ** 2 / float((times**2).sum())


def most_by_chance(expected: float, times: float = 3.0) -> float:
    """How many chance explains at most: so many times the expected number and its standard deviation."""
    return times * (expected + math.sqrt(expected))


def rows_by(values: NDArray[Any], rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Each image or class, and which of the rows are on it, in their order; ``values`` has that of every row."""
    rows = rows[np.argsort(values[rows], kind="stable")]
    present, starts = np.unique(values[rows], return_index=True)
    yield from zip(present.tolist(), np.split(rows, starts)[1:], strict=True)


class Case:
    """The data that rules look at.

    Args:
        data: Ground truth, and detections if there are any. They may be of images and classes that it does not list.
        protocol: The rules of the evaluation; ``None`` for those of the kind of region.
        iou_type: What the evaluation compares.
        train: Ground truth of the images that the detector was trained on.
        folders: Folders of the images of ``data`` and of ``train``.
        threads: How many threads; all cores if ``None``.
    """

    def __init__(
        self,
        data: Data,
        protocol: Protocol | None = None,
        *,
        iou_type: str = "bbox",
        train: GroundTruth | None = None,
        folders: tuple[str | None, str | None] = (None, None),
        threads: int | None = None,
    ) -> None:
        self.data, self.protocol, self.iou_type = data, protocol, iou_type
        self.train, self.folders, self.threads = train, folders, threads
        self._masks: dict[int, Any] = {}

    @property
    def ground_truth(self) -> GroundTruth:
        """The ground truth."""
        return self.data.ground_truth

    @property
    def detections(self) -> Detections:
        """The detections.

        Raises:
            ValueError: If there are none; rules with ``needs_detections`` are not called then.
        """
        if self.data.detections is None:
            raise ValueError("the check has no detections")
        return self.data.detections

    @cached_property
    def places(self) -> Rows:
        """(N,) the position of the image of each detection in the list of images; -1 if it is not listed."""
        images = self.ground_truth.images
        if images.made_up_ids and self.detections.ids_of_file:
            return np.full(len(self.detections), -1)  # equal numbers mean nothing
        return positions_in(images.labels, self.detections.image_labels())

    @cached_property
    def object_places(self) -> Rows:
        """(G,) the position of the image of each annotation."""
        return np.searchsorted(self.ground_truth.images.ids, self.ground_truth.image_ids)

    @cached_property
    def class_names(self) -> Mapping[int, str]:
        """The name of each listed class, by its id."""
        listed = self.ground_truth.categories
        return dict(zip(listed.ids.tolist(), listed.names, strict=True))

    @cached_property
    def sizes(self) -> FloatArray:
        """(N, 2) width and height of the image of each detection, NaN if unknown."""
        return sizes_of_rows(self.data, self.detections)

    @cached_property
    def object_sizes(self) -> FloatArray:
        """(G, 2) width and height of the image of each annotation, NaN if unknown."""
        return self.ground_truth.images.sizes[self.object_places]

    @cached_property
    def rules(self) -> Protocol:
        """The rules of the evaluation: those given, or those that `evaluate` takes where none are."""
        if self.protocol is not None:
            return protocol_of(self.protocol, self.iou_type)
        kind = find_kind(self.iou_type)
        return kind.protocol if self.data.detections is None else default_protocol(kind, self.data.detections)

    @cached_property
    def counted(self) -> Mask:
        """(G,) whether each annotation is an object that counts.

        Raises:
            DatasetError: If the annotations lack what the protocol needs.
        """
        return counted_objects(self.ground_truth, self.rules)

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of all images."""
        return self.pairs_on()

    def pairs_on(self, images: Rows | None = None) -> Pairs:
        """Pairs of detections and objects, crowds left out: up to 100 detections of an image, those of highest score.

        If there are more than 200,000 pairs, objects are left out, spread evenly over the images.

        Args:
            images: The positions of the images that are looked at; ``None`` for all.
        """
        gt, places = self.ground_truth, self.places
        kept = ~gt.crowd & (gt.boxes[:, 2:] > 0).all(axis=1)
        objects = np.flatnonzero(kept if images is None else kept & np.isin(self.object_places, images))
        objects = objects[np.argsort(self.object_places[objects], kind="stable")]
        rows = np.lexsort((-self.detections.scores, places))
        rows = rows[places[rows] >= 0]
        first = np.searchsorted(places[rows], places[rows], side="left")
        rows = rows[np.arange(len(rows)) - first < MOST_DETECTIONS]
        per_image = np.bincount(places[rows], minlength=len(gt.images))
        total = int(per_image[self.object_places[objects]].sum())
        objects = objects[:: max(1, -(-total // MOST_PAIRS))]
        image = self.object_places[objects]
        counts = per_image[image]
        objects, image, counts = objects[counts > 0], image[counts > 0], counts[counts > 0]
        starts = np.cumsum(counts) - counts
        begin = np.searchsorted(places[rows], image, side="left")
        at = np.repeat(begin - starts, counts) + np.arange(int(counts.sum()))
        found, wanted = rows[at], np.repeat(objects, counts)
        same = self.detections.category_ids[found] == gt.category_ids[wanted]
        return Pairs(found, wanted, np.repeat(image, counts), starts, same)

    @cached_property
    def fewer_pairs(self) -> Pairs:
        """The pairs of some of the objects, spread evenly: about 30,000, for rules that try many readings."""
        pairs = self.pairs
        step = -(-len(pairs.objects) // FEWER_PAIRS)
        if step <= 1:
            return pairs
        counts = np.diff(np.append(pairs.starts, len(pairs.objects)))
        kept = np.arange(len(counts)) % step == 0
        chosen = np.repeat(kept, counts)
        starts = np.cumsum(counts[kept]) - counts[kept]
        found, wanted, images = (each[chosen] for each in pairs[:3])
        return Pairs(found, wanted, images, starts, pairs.same[chosen])

    @cached_property
    def overlaps(self) -> FloatArray:
        """(P,) the IoU of the pairs."""
        return self.overlaps_of(self.detections.boxes)

    def overlaps_of(self, boxes: FloatArray, side: Side = "detections", *, pairs: Pairs | None = None) -> FloatArray:
        """(P,) the IoU of the pairs for other boxes of one side."""
        pairs = self.pairs if pairs is None else pairs
        of_detections = side == "detections"
        ours = _corners(boxes) if of_detections else self._corners
        theirs = self._object_corners if of_detections else _corners(boxes)
        return _iou(ours.take(pairs.detections, axis=0), theirs.take(pairs.objects, axis=0))

    @cached_property
    def _corners(self) -> FloatArray:
        return _corners(self.detections.boxes)

    @cached_property
    def _object_corners(self) -> FloatArray:
        return _corners(self.ground_truth.boxes)

    def masks_of(self, side: GroundTruth | Detections) -> Any:
        """The `Masks` of one side, which are read once; ``None`` if it has none.

        Raises:
            DatasetError: If a mask cannot be read.
        """
        if id(side) not in self._masks:
            self._masks[id(side)] = masks_of(self.data, side)
        return self._masks[id(side)]

    def labels(self, images: Rows) -> tuple[int | str, ...]:
        """The ids of images, for their positions."""
        return tuple(self.ground_truth.images.labels[images].tolist())

    def repaired(self, *repairs: Repair) -> Case:
        """The case after some repairs.

        Raises:
            ValueError: If a repair does not fit the data, as for the option ``--repair``.
        """
        data = Data(*repaired(*self.data, repairs))
        return Case(
            data, self.protocol, iou_type=self.iou_type, train=self.train, folders=self.folders, threads=self.threads
        )

    def mended(self, repair: Repair) -> Case | None:
        """The case after a repair; ``None`` if it is refused, or the data cannot be evaluated then."""
        try:
            after = self.repaired(repair)
            _ = after.summary
        except ValueError:
            return None
        return after

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """The numbers of the data. Boxes with a negative side, and images and classes not listed, do not count.

        Raises:
            DatasetError: If the data cannot be evaluated.
        """
        gt, dt = self.ground_truth, self.detections
        listed = (self.places >= 0) & np.isin(dt.category_ids, gt.categories.ids)
        counted = listed & (dt.boxes[:, 2:] >= 0).all(axis=1)
        found = placed(dt, gt.images, np.where(counted, self.places, -1))
        fine = np.minimum(gt.boxes[:, 2], gt.boxes[:, 3]) >= 0
        truth = gt if fine.all() else gt.take(fine)
        return evaluate(truth, found, self.protocol, iou_type=self.iou_type, threads=self.threads).summary
