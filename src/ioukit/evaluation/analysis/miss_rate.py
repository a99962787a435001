"""Curves of the miss rate over the false positives per image (FPPI): their log-average, and FROC."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._ranking import last_of_equal, ranking
from ioukit.evaluation.protocols.measures import MissRateRule
from ioukit.evaluation.table import MatchTable


@record(frozen=True, eq=False, repr=False)
class MissRateCurve(Frozen):
    """Miss rate and FPPI after each detection, best first, of one class or of several classes pooled.

    Ignored detections are left out.
    """

    scores: Floats
    """(N,) scores in descending order."""
    miss_rate: Floats
    """(N,) share of the objects that this detection and those before it do not find; NaN if there are no objects."""
    fppi: Floats
    """(N,) false positives among them, divided by the number of images."""
    num_ground_truth: int
    """Objects to find."""
    rule: MissRateRule
    """How :meth:`at` and :attr:`log_average` read the curve."""

    def at(self, fppi: npt.ArrayLike) -> Floats:
        """(M,) the miss rate at some FPPI, by the reading of the rule; NaN if there are no objects.

        Without detections it is 1.

        Args:
            fppi: (M,) false positives per image.
        """
        wanted = np.asarray(fppi, np.float64).reshape(-1)
        if not self.num_ground_truth or not len(self.fppi):
            return np.full(len(wanted), 1.0 if self.num_ground_truth else np.nan)
        if self.rule.reading == "interpolated":
            return 1.0 - self.sensitivity(wanted)
        if self.rule.reading == "first_at_least":
            places = np.minimum(np.searchsorted(self.fppi, wanted, side="left"), len(self.fppi) - 1)
            return np.asarray(self.miss_rate[places])
        places = np.searchsorted(self.fppi, wanted, side="right") - 1
        return np.where(places < 0, 1.0, self.miss_rate[np.maximum(places, 0)])

    @property
    def log_average(self) -> float:
        """The geometric mean of the miss rates at the FPPI of the rule; NaN if there are no objects."""
        rates = np.maximum(self.at(self.rule.fppi), self.rule.floor)
        with np.errstate(divide="ignore"):  # a miss rate of 0 without a floor
            return float(np.exp(np.log(rates).mean()))

    def sensitivity(self, fppi: npt.ArrayLike) -> Floats:
        """(M,) the share of the objects that are found at some FPPI; NaN if there are no objects.

        The curve is that of FROC (free-response operating characteristic). It begins at 0, has a point behind each run
        of detections with equal scores, and is read along straight lines between them; behind the last point, it stays
        as it is.

        Args:
            fppi: (M,) false positives per image.
        """
        wanted = np.asarray(fppi, np.float64).reshape(-1)
        if not self.num_ground_truth:
            return np.full(len(wanted), np.nan)
        # The miss rate falls at each true positive; counts divide without the rounding of 1 - miss rate.
        found = np.cumsum(np.diff(self.miss_rate, prepend=1.0) < 0, dtype=np.int64) / self.num_ground_truth
        ends = last_of_equal(self.scores)
        return np.asarray(np.interp(wanted, np.append(0.0, self.fppi[ends]), np.append(0.0, found[ends])))

    @property
    def froc(self) -> float:
        """The mean of the sensitivities at the FPPI of the rule; NaN if there are no objects."""
        return float(self.sensitivity(self.rule.fppi).mean())

    def __repr__(self) -> str:
        return f"MissRateCurve({pluralize(len(self.scores), 'detection')}, log-average {self.log_average:.4f})"


@record(frozen=True, eq=False, repr=False)
class MissRateCurves(Frozen):
    """The result of :func:`miss_rate_curves`."""

    categories: Categories
    """(K,) the categories; a single one for all if the protocol is class-agnostic."""
    iou_threshold: float
    """The IoU threshold of a match."""
    area_range: str
    """Label of the area range."""
    num_images: int
    """The number of images, with and without detections."""
    overall: MissRateCurve
    """All classes pooled: every detection and every object weighs the same."""
    per_class: tuple[MissRateCurve, ...]
    """(K,) each class alone."""

    def __repr__(self) -> str:
        classes, images = pluralize(len(self.per_class), "class"), pluralize(self.num_images, "image")
        return f"MissRateCurves({classes}, {images}, {self.overall!r})"


def miss_rate_curves(
    table: MatchTable,
    *,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    max_dets: int | None = None,
) -> MissRateCurves:
    """Curves of the miss rate over the false positives per image, from a match table.

    After the ``n`` best detections, with ``TP`` and ``FP`` true and false positives among them::

        miss rate = 1 - TP / objects        FPPI = FP / images

    Detections are sorted by score; those with equal scores by image and rank. The tables of a split of the images add
    up to the table of all images, so their sum has the same curves, to the last bit.

    Args:
        table: The matches. Its protocol's rule :attr:`Protocol.miss_rate` says how the curves are read.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        max_dets: One of the protocol's caps; the last one if ``None``.

    Raises:
        ValueError: If the protocol has no such threshold, area range or cap.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> from ioukit.evaluation import match, miss_rate_curves
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]]
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [50, 0, 9, 9]], scores=[0.9, 0.3]
        ... )
        >>> curve = miss_rate_curves(match(ground_truth, detections)).overall
        >>> curve.miss_rate.tolist(), curve.fppi.tolist()
        ([0.5, 0.5], [0.0, 0.5])
        >>> curve.log_average
        0.5

    Reference: Dollar, Wojek, Schiele, Perona, Pedestrian Detection: An Evaluation of the State of the Art, PAMI 2012.
    """
    protocol = table.protocol
    cap = protocol.max_dets[-1 if max_dets is None else protocol.position_of_max_dets(max_dets)]
    ranked = ranking(table, iou_threshold, area_range)
    found = table.is_true_positive(ranked.iou_threshold, ranked.area_range)
    within = table.is_within_cap(cap)
    images = len(table.image_ids)
    score = table.detections.score

    def curve(rows: npt.NDArray[np.intp], objects: int) -> MissRateCurve:
        rows = rows[within[rows]]
        tp = np.cumsum(found[rows], dtype=np.int64)
        fp = np.arange(1, len(rows) + 1) - tp
        missed = 1.0 - tp / objects if objects else np.full(len(rows), np.nan)
        return MissRateCurve(score[rows], missed, fp / max(images, 1), objects, protocol.miss_rate)

    overall, *per_class = (curve(rows, objects) for rows, objects in ranked.curves())
    return MissRateCurves(ranked.categories, ranked.iou_threshold, ranked.area_range, images, overall, tuple(per_class))
