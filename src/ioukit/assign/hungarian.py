"""Hungarian assignment (DETR): one prediction per object, at the lowest total cost."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ioukit._checks import check_choice, check_count, check_positive
from ioukit.assign._inputs import finished, labels_of, pair_of_sets, scores_of, spread
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou, pairwise_giou
from ioukit.overlap.one_to_one import assign_rows
from ioukit.regions import Boxes
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


# The number of candidates that are kept per object, the cheapest ones.
_KEPT = 8


class _Cost(NamedTuple):
    """The cost of a pair."""

    classification: str
    class_weight: float
    l1_weight: float
    giou_weight: float


_COSTS = {"detr": _Cost("probability", 1.0, 5.0, 2.0), "deformable_detr": _Cost("focal", 2.0, 5.0, 2.0)}


def assign_hungarian(
    predictions: BoxesLike,
    scores: Array,
    objects: BoxesLike,
    labels: Array,
    *,
    image_size: tuple[float, float] | None = None,
    costs: Literal["detr", "deformable_detr"] = "detr",
    class_weight: float | None = None,
    l1_weight: float | None = None,
    giou_weight: float | None = None,
    classification: Literal["probability", "focal"] | None = None,
    repeats: int = 1,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns one prediction to each object, so that the total cost of all pairs is lowest.

    The cost of a pair is ``-class_weight * p + l1_weight * d - giou_weight * GIoU``. Here ``p`` is the probability of
    the object's class, and ``d`` is the sum of the absolute differences of centre and size, as fractions of the image.
    If there are fewer predictions than objects, some objects get none. Among assignments of equal cost, it is the one
    that SciPy's ``linear_sum_assignment`` chooses.

    The table of costs is dense and takes 8 bytes times P times G times ``repeats``.

    Args:
        predictions: (P, 4) decoded boxes, xyxy by default.
        scores: (P, C) probabilities, after the softmax (DETR, with or without its "no object" class) or the sigmoid.
        objects: (G, 4) in the same unit; G may be 0.
        labels: (G,) classes of the objects, integers below C.
        image_size: (width, height) in pixels; None if the boxes are normalized already.
        costs: The cost of a paper, which the next four options change: ``"detr"`` has the weights 1, 5 and 2 of class,
            coordinates and GIoU. ``"deformable_detr"`` has the focal cost and the weights 2, 5 and 2, as have DINO and
            RT-DETR.
        class_weight: Weight of the class.
        l1_weight: Weight of the coordinates.
        giou_weight: Weight of GIoU.
        classification: ``"probability"``, or ``"focal"``: the focal loss of the class as a positive minus that as a
            negative, with alpha 0.25 and gamma 2, takes the place of ``-p``.
        repeats: The number of predictions per object, at least 1.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked. A cost that is not finite is always an error.

    Returns:
        The assignment, with ``cost``. Its ``candidates`` are the cheapest pairs of each object.

    Raises:
        ValueError: If boxes, scores or costs are not finite (the message names the row), or if plain boxes in pixels
            come without ``image_size``.

    Examples:
        >>> from ioukit.assign import assign_hungarian
        >>> result = assign_hungarian([[0, 0, 5, 5], [0, 0, 9, 9]], [[0.9], [0.5]], [[0, 0, 10, 10]], [0],
        ...                           image_size=(20, 20))
        >>> result.target
        array([-1,  0])

    Reference: Carion et al., End-to-End Object Detection with Transformers, ECCV 2020, arXiv:2005.12872; Zhu et al.,
    Deformable DETR, ICLR 2021, arXiv:2010.04159.
    """
    check_choice("costs", costs, tuple(_COSTS))
    preset = _COSTS[costs]
    kind = preset.classification if classification is None else classification
    of_class = preset.class_weight if class_weight is None else class_weight
    of_l1 = preset.l1_weight if l1_weight is None else l1_weight
    of_giou = preset.giou_weight if giou_weight is None else giou_weight
    check_choice("classification", kind, ("probability", "focal"))
    check_count(repeats=repeats)
    times = operator.index(repeats)
    width, height = _image_sides(predictions, objects, image_size)
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    number, count = len(first), len(second)
    table = scores_of(scores, number, first.dtype)
    classes = labels_of(labels, count, table.shape[1])

    cost = _class_cost(table.astype(np.float64), classes, kind) * of_class
    scale = np.array([width, height, width, height])
    one, other = (convert(boxes.astype(np.float64), "xyxy", "cxcywh") / scale for boxes in (first, second))
    for k in range(4):
        cost += of_l1 * np.abs(one[:, k, None] - other[None, :, k])
    cost -= of_giou * pairwise_giou(first, second, check=False)
    bad = ~np.isfinite(cost)
    if bad.any():
        row, column = np.unravel_index(int(np.argmax(bad)), cost.shape)
        raise ValueError(
            f"the cost of predictions[{row}] and objects[{column}] is {cost[row, column]}: the prediction is "
            f"{first[row].tolist()}, its score {table[row, classes[column]]}; every cost must be finite"
        )
    chosen, of = assign_rows(np.tile(cost, (1, times)))
    of %= max(count, 1)
    target = np.full(number, -1, np.int64)
    target[chosen] = of
    overlap = spread(number, chosen, elementwise_iou(first[chosen], second[of], check=False))
    return finished(
        predictions, rule="assign_hungarian", objects=count, target=target, overlap=overlap,
        cost=spread(number, chosen, cost[chosen, of]),
        candidates=_cheapest(first, second, cost, target, _KEPT + times), facts={"taken": np.full(count, times)},
    )  # fmt: skip


def _image_sides(
    predictions: BoxesLike, objects: BoxesLike, image_size: tuple[float, float] | None
) -> tuple[float, float]:
    """Width and height of the image in the unit of the boxes."""
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
    """The cheapest predictions of each object, and the ones it is assigned."""
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
