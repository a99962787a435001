"""Hungarian assignment (DETR): one prediction an object, so that all objects together cost least."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal

import numpy as np

from ioukit._checks import check_positive
from ioukit._optional import import_extra
from ioukit.assign._inputs import finished, labels_of, pair_of_sets, scores_of
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou, pairwise_giou
from ioukit.regions import Boxes
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = ["assign_hungarian"]

# Candidates remembered of each object: its cheapest predictions.
_KEPT = 8


def assign_hungarian(
    predictions: BoxesLike,
    scores: Array,
    objects: BoxesLike,
    labels: Array,
    *,
    image_size: tuple[float, float] | None = None,
    class_weight: float = 1.0,
    l1_weight: float = 5.0,
    giou_weight: float = 2.0,
    classification: Literal["probability", "focal"] = "probability",
    repeats: int = 1,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns each object one prediction, at the least total cost.

    The cost of a pair is ``-class_weight`` times the probability of the object's class, plus ``l1_weight`` times the
    sum of the absolute differences of centre and size as parts of the image, less ``giou_weight`` times GIoU. With
    fewer predictions than objects, the cheapest of the objects are served. Among assignments of equal cost, SciPy's
    stands.

    The table of costs is whole, in float64: 8 bytes times P times G times ``repeats``.

    Args:
        predictions: (P, 4) decoded boxes.
        scores: (P, C) probabilities, after the softmax (DETR, with or without the class for none) or the sigmoid.
        objects: (G, 4) in the same unit; G may be 0.
        labels: (G,) classes of the objects, integers below C.
        image_size: (width, height) in pixels; None where the unit of the boxes is the image already.
        class_weight: Of the class.
        l1_weight: Of the coordinates.
        giou_weight: Of GIoU.
        classification: ``"probability"``, or ``"focal"``: the focal loss of the class, positive less negative, with
            alpha 0.25 and gamma 2, as in Deformable DETR.
        repeats: How many predictions each object gets, as if it were there so often.
        format: What plain numbers hold, ``"xyxy"`` by default. `Boxes` know their own.
        check: Whether plain numbers are checked. Without it, a cost that is not finite is an error all the same.

    Returns:
        The assignment, with ``cost``; its ``candidates`` are the cheapest pairs of each object.

    Raises:
        ValueError: If boxes, scores or costs are not finite (the message names the row), or the unit is unknown.
        ModuleNotFoundError: If SciPy is not installed: ``pip install 'ioukit[sparse]'``.

    Examples:
        >>> from ioukit.assign import assign_hungarian
        >>> result = assign_hungarian([[0, 0, 5, 5], [0, 0, 9, 9]], [[0.9], [0.5]], [[0, 0, 10, 10]], [0],
        ...                           image_size=(20, 20))
        >>> result.target
        array([-1,  0])

    Reference: Carion et al., End-to-End Object Detection with Transformers, ECCV 2020, arXiv:2005.12872.
    """
    if classification not in {"probability", "focal"}:
        raise ValueError(f"unknown classification {classification!r}; choose from probability, focal")
    times = operator.index(repeats)
    if times < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    width, height = _unit(predictions, objects, image_size)
    solve = import_extra("scipy.optimize", extra="sparse", needed_by="assign_hungarian").linear_sum_assignment
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    number, count = len(first), len(second)
    table = scores_of(scores, number, first.dtype)
    classes = labels_of(labels, count, table.shape[1])

    cost = _class_cost(table.astype(np.float64), classes, classification) * class_weight
    scale = np.array([width, height, width, height])
    one, other = (convert(boxes.astype(np.float64), "xyxy", "cxcywh") / scale for boxes in (first, second))
    for k in range(4):
        cost += l1_weight * np.abs(one[:, k, None] - other[None, :, k])
    cost -= giou_weight * pairwise_giou(first, second, check=False)
    bad = ~np.isfinite(cost)
    if bad.any():
        row, column = np.unravel_index(int(np.argmax(bad)), cost.shape)
        raise ValueError(
            f"the cost of predictions[{row}] and objects[{column}] is {cost[row, column]}: the prediction is "
            f"{first[row].tolist()}, its score {table[row, classes[column]]}; every cost must be finite"
        )
    chosen, of = solve(np.tile(cost, (1, times)))
    of %= max(count, 1)
    target = np.full(number, -1, np.int64)
    target[chosen] = of
    overlap, paid = np.full(number, np.nan, first.dtype), np.full(number, np.nan)
    overlap[chosen] = elementwise_iou(first[chosen], second[of], check=False)
    paid[chosen] = cost[chosen, of]
    return finished(
        predictions, rule="assign_hungarian", objects=count, target=target, overlap=overlap, cost=paid,
        candidates=_cheapest(first, second, cost, target, _KEPT + times), facts={"taken": np.full(count, times)},
    )  # fmt: skip


def _unit(predictions: BoxesLike, objects: BoxesLike, image_size: tuple[float, float] | None) -> tuple[float, float]:
    given = [boxes for boxes in (predictions, objects) if isinstance(boxes, Boxes)]
    if image_size is not None:
        if any(boxes.normalized for boxes in given):
            raise ValueError("the boxes are normalized, their unit is the image: leave image_size out")
        width, height = map(float, image_size)
        check_positive(width=width, height=height)
        return width, height
    if any(not boxes.normalized for boxes in given):
        raise ValueError("image_size is needed: the boxes are in pixels, and L1 compares parts of the image")
    return 1.0, 1.0


def _class_cost(scores: FloatArray, classes: NDArray[np.int64], classification: str) -> FloatArray:
    probability = scores[:, classes]
    if classification == "probability":
        return -probability
    alpha, gamma, least = 0.25, 2.0, 1e-8  # the constants of Deformable DETR
    positive = -alpha * (1 - probability) ** gamma * np.log(probability + least)
    negative = -(1 - alpha) * probability**gamma * np.log(1 - probability + least)
    cost: FloatArray = positive - negative
    return cost


def _cheapest(
    predictions: FloatArray, objects: FloatArray, cost: FloatArray, target: NDArray[np.int64], most: int
) -> Candidates:
    """The cheapest predictions of each object, and those it has."""
    number, count = cost.shape
    order = np.argsort(cost, axis=0, kind="stable")[:most]
    rows, columns = np.tile(np.arange(count), (len(order), 1)).T.ravel(), order.T.ravel()
    assigned = np.flatnonzero(target >= 0)
    keys = np.unique(np.concatenate([rows * number + columns, target[assigned] * number + assigned]))
    rows, columns = np.divmod(keys, max(number, 1))
    value = cost[columns, rows]
    by_cost = np.lexsort((columns, value, rows))
    rows, columns, value = rows[by_cost], columns[by_cost], value[by_cost]
    outcome = np.full(len(rows), Outcome.RANK, np.uint8)
    outcome[(target[columns] >= 0) & (target[columns] != rows)] = Outcome.STOLEN
    outcome[target[columns] == rows] = Outcome.ASSIGNED
    overlap = elementwise_iou(predictions[columns], objects[rows], check=False)
    return Candidates(rows, columns, overlap, value, outcome)
