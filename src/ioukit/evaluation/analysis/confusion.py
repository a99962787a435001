"""Which classes are confused? The confusion matrix."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_choice, check_number, pluralize
from ioukit._columns import Frozen, frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._near import Rematched, match_again, near_pairs
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.protocols import NO_CAP, AreaRange, Protocol
from ioukit.evaluation.table import IGNORED, MatchTable, threshold_bits


@record(frozen=True, eq=False, repr=False)
class ConfusionMatrix(Frozen):
    """The result of :func:`confusion_matrix`.

    Rows are true classes, columns predicted ones; the last row and the last column stand for the background. There are
    ``P`` entries: one for each matched pair, each missed object and each detection that matches nothing.
    """

    categories: Categories
    """(K,) the classes, in the order of rows and columns."""
    iou_threshold: float
    """The lowest IoU of a match."""
    score_threshold: float
    """Detections with this score or a higher one count; minus infinity if the protocol does not rank: all count."""
    image_ids: npt.NDArray[Any]
    """(I,) ids of the images looked at, in ascending order."""
    image: npt.NDArray[np.int64]
    """(P,) position of the image in :attr:`image_ids`."""
    object: npt.NDArray[np.int64]
    """(P,) row of the object in the table; -1 for a detection that matches nothing."""
    detection: npt.NDArray[np.int64]
    """(P,) row of the detection in the table; -1 for a missed object."""
    true: npt.NDArray[np.int64]
    """(P,) row of the matrix, K for the background."""
    predicted: npt.NDArray[np.int64]
    """(P,) column of the matrix, K for the background."""

    @cached_property
    def counts(self) -> npt.NDArray[np.int64]:
        """(K + 1, K + 1) objects of the true class that detections of the predicted class match.

        Last row: detections that match nothing. Last column: objects that no detection matches. The corner where both
        meet is 0. With 13,000 classes this takes 1.4 GB, so it is made when it is asked for.
        """
        size = len(self.categories) + 1
        places = self.true * size + self.predicted
        return frozen(np.bincount(places, minlength=size * size).reshape(size, size))

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The confused classes, the most frequent first."""
        names = (*self.categories.names, "background")
        pairs, counts = np.unique(np.stack([self.true, self.predicted]), axis=1, return_counts=True)
        order = np.argsort(-counts, kind="stable")
        listed = zip(*pairs[:, order].tolist(), counts[order].tolist(), strict=True)
        wrong = [
            {"true": names[true], "predicted": names[predicted], "count": count}
            for true, predicted, count in listed
            if true != predicted
        ]
        return wrong, len(wrong)

    def __repr__(self) -> str:
        background = len(self.categories)
        missed, extra = (int(np.count_nonzero(side == background)) for side in (self.predicted, self.true))
        right = int(np.count_nonzero(self.true == self.predicted))
        return (
            f"ConfusionMatrix({pluralize(background, 'class')}, {right:,} right, "
            f"{len(self.true) - right - missed - extra:,} confused, {missed:,} missed, {extra:,} background)"
        )

    def cell(self, true: int, predicted: int) -> npt.NDArray[np.int64]:
        """Which of the P entries a cell counts.

        Args:
            true: Row of the matrix, K for the background.
            predicted: Column of the matrix, K for the background.

        Raises:
            ValueError: If there is no such row or column.
        """
        size = len(self.categories) + 1
        for name, place in (("true", true), ("predicted", predicted)):
            if not 0 <= operator.index(place) < size:
                raise ValueError(f"{name} must be within 0 to {size - 1} (the background), got {place}")
        return np.flatnonzero((self.true == true) & (self.predicted == predicted))

    def normalized(self, by: Literal["truth", "prediction"] = "truth") -> npt.NDArray[np.float64]:
        """The matrix as shares.

        Args:
            by: ``"truth"`` divides each row by its sum, so that the diagonal holds the recall of each class;
                ``"prediction"`` each column, so that it holds the precision.

        Returns:
            (K + 1, K + 1), NaN along rows (columns) that are empty.

        Raises:
            ValueError: If ``by`` is neither.
        """
        check_choice("by", by, ("truth", "prediction"))
        return quotient(self.counts, self.counts.sum(axis=1 if by == "truth" else 0, keepdims=True))


def confusion_matrix(
    table: MatchTable,
    *,
    iou_threshold: float = 0.5,
    score_threshold: float = 0.25,
    max_dets: int | None = None,
    threads: int | None = None,
) -> ConfusionMatrix:
    """How often objects of each class are detected as each class.

    The matching rule differs from that of AP. On each image the detections with at least ``score_threshold`` choose in
    the order of their scores, regardless of their class. Each takes the free object of **any** class with the highest
    IoU, if that is at least ``iou_threshold``; among objects with the same IoU it takes the last one in the file. A
    detection that finds no free object and lies on a crowd of any class (intersection over its own area) is left out.
    So every object except the crowds counts once, in its row, and every detection that is not left out counts once, in
    its column. If the category of a detection is not annotated exhaustively on the image (LVIS), it is left out if it
    has no match.

    A detection next to two objects of different classes takes the one with the higher IoU, not the one of its class.
    For AP, each class is matched separately.

    Where the protocol does not rank, all detections count, and its own rules choose the pairs, regardless of class.

    Args:
        table: The matches, with near pairs.
        iou_threshold: The lowest IoU of a match, within (0, 1], and at least that of the near pairs.
        score_threshold: Detections with this score or a higher one count, if the protocol ranks by scores.
        max_dets: Cap on the detections of an image, all classes together, best first; no cap if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If a threshold or the cap is out of range, or the table does not list the near pairs that are
            needed.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> from ioukit.evaluation import match
        >>> boxes = [[0, 0, 9, 9], [20, 0, 9, 9], [40, 0, 9, 9]]
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1, 1], category_ids=[1, 1, 2], boxes=boxes, categories={1: "cat", 2: "dog"}
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1, 1], category_ids=[1, 2, 2], boxes=[*boxes[:2], [60, 0, 9, 9]], scores=[0.9, 0.8, 0.7]
        ... )
        >>> table = match(ground_truth, detections, near=0.5)
        >>> confusion_matrix(table).counts  # a cat found, a cat detected as a dog, a dog missed, a dog on background
        array([[1, 1, 0],
               [0, 0, 1],
               [0, 1, 0]])
    """
    check_number(score_threshold=score_threshold)
    protocol = _rules(table.protocol, iou_threshold, NO_CAP if max_dets is None else max_dets)
    if not table.protocol.ranks:
        score_threshold = -math.inf
    found, before = list[_Entries](), np.zeros(3, np.int64)
    for part in table.parts():
        found.append(_entries(part, protocol, iou_threshold, score_threshold, threads).shifted(before))
        before += (len(part.image_ids), len(part.objects), len(part.detections))
    return ConfusionMatrix(
        table.categories,
        float(iou_threshold),
        float(score_threshold),
        table.image_ids,
        *(np.concatenate(column) for column in zip(*found, strict=True)),
    )


class _Entries(NamedTuple):
    """The last five columns of :class:`ConfusionMatrix`."""

    image: npt.NDArray[np.int64]
    object: npt.NDArray[np.int64]
    detection: npt.NDArray[np.int64]
    true: npt.NDArray[np.int64]
    predicted: npt.NDArray[np.int64]

    def shifted(self, before: npt.NDArray[np.int64]) -> _Entries:
        """The same behind so many images, objects and detections of other parts."""
        images, objects, detections = before
        return self._replace(
            image=self.image + images,
            object=np.where(self.object < 0, -1, self.object + objects),
            detection=np.where(self.detection < 0, -1, self.detection + detections),
        )


def _entries(
    table: MatchTable, protocol: Protocol, iou_threshold: float, score_threshold: float, threads: int | None
) -> _Entries:
    """The entries of some images."""
    near = near_pairs(table, iou_threshold)
    chosen = np.flatnonzero((table.detections.score >= score_threshold) & table.takes_part())
    dt_of, object_of = _matched(match_again(table, near, chosen, protocol, threads=threads), chosen)
    counted = (object_of >= 0) | ~table.is_not_exhaustive()[dt_of]
    dt_of, object_of = dt_of[counted], object_of[counted]
    found = np.zeros(len(table.objects), np.bool_)
    found[object_of[object_of >= 0]] = True
    missed = np.flatnonzero(~found & (table.objects.special & IGNORED == 0))
    # By image: detections, best first, then missed objects in the order of the ground truth.
    missed = missed[np.argsort(table.objects.row[missed], kind="stable")]
    image = np.concatenate([table.detections.image[dt_of], table.objects.image[missed]]).astype(np.int64)
    dt_of, object_of = np.append(dt_of, np.full(len(missed), -1)), np.append(object_of, missed)
    order = np.argsort(image, kind="stable")
    image, object_of, dt_of = image[order], object_of[order], dt_of[order]
    background = len(table.categories)
    true = _at(table.objects.category, object_of, background)
    predicted = _at(table.detections.category, dt_of, background)
    return _Entries(image, object_of, dt_of, true, predicted)


def _rules(protocol: Protocol, iou_threshold: float, cap: int) -> Protocol:
    """The rules of the pairs: by scores as in COCO's, or the protocol's own if it ranks nothing. Classes are one."""
    rules: dict[str, Any] = {
        "name": "confusion",
        "iou_thresholds": (iou_threshold,),
        "max_dets": (cap,),
        "area_ranges": (AreaRange("all", 0.0, math.inf),),
        "class_agnostic": True,
    }
    if protocol.ranks:
        return Protocol(recall_thresholds=(1.0,), **rules)
    return protocol.replace(**rules)


def _matched(rematched: Rematched, chosen: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The rows of the detections that are not ignored, and the row of the object that each matches, -1 for none."""
    object_of = np.full(len(rematched.detections["row"]), -1)
    object_of[rematched.pairs["detection"]] = rematched.objects["row"][rematched.pairs["object"]]
    object_of[~threshold_bits(rematched.detections["matched"][:, 0], 0)] = -1  # a match with a void object
    counted = ~threshold_bits(rematched.detections["ignored"][:, 0], 0)
    return chosen[rematched.detections["row"]][counted], object_of[counted]


def _at(column: npt.NDArray[Any], rows: npt.NDArray[np.int64], other: int) -> npt.NDArray[np.int64]:
    """The values at these rows; ``other`` where a row is -1."""
    values = np.full(len(rows), other)
    values[rows >= 0] = column[rows[rows >= 0]]
    return values
