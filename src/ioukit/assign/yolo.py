"""The grid rules of YOLO: an object is assigned to anchors of a similar shape in the cell of its centre."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._checks import check_positive
from ioukit.assign._inputs import boxes_of, finished, floats_of, spread
from ioukit.assign._pairs import near_an_object
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou
from ioukit.overlap.shape import pairwise_shape_iou

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


def assign_yolov3(
    objects: BoxesLike,
    *,
    anchors: Sequence[Array],
    strides: Sequence[int],
    image_size: tuple[int, int],
    predictions: BoxesLike | None = None,
    ignore_threshold: float = 0.5,
    extra_iou: float | None = None,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns each object to one anchor of one cell: the rule of YOLOv2 (one scale) and YOLOv3 (three).

    The anchor is the one whose shape is most similar to the object's, among the anchors of **all** scales. Similar
    means the highest IoU with both boxes at one centre; of equal values the first anchor wins. The cell is the one that
    holds the object's centre in the grid of that scale. A later object of the same cell and anchor overwrites an
    earlier one, which is left without a prediction. A centre outside the image, or on its right or lower edge, has no
    cell.

    Predictions are numbered scale by scale, then anchor by anchor, then by row and column of the grid. This is the
    order of a head of shape (anchors, rows, columns), flattened.

    Args:
        objects: (G, 4) in pixels of the network's input, xyxy by default.
        anchors: Widths and heights in pixels, (A, 2) for each scale.
        strides: Pixels per cell of each scale, such as 8, 16 and 32 for grids of 52, 26 and 13 at 416 pixels.
        image_size: (width, height) of the network's input, multiples of the strides.
        predictions: (P, 4) decoded boxes in this order. If given, a prediction without an object is ignored when its
            best IoU with any object is **above** ``ignore_threshold``. It is then not trained as background.
        ignore_threshold: Within [0, 1]; 0.5 in the paper, 0.7 in Darknet's configuration.
        extra_iou: Darknet's ``iou_thresh``. Further anchors are assigned to the object if their shape IoU is above it.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment. Its ``overlap`` is the IoU of the shapes. Its ``facts`` are ``"best"``, the best shape IoU of
        each object, and ``"on_image"``, whether its centre has a cell.

    Raises:
        ValueError: If scales, strides and image do not fit.

    Examples:
        >>> from ioukit.assign import assign_yolov3
        >>> result = assign_yolov3([[40, 40, 56, 56], [41, 41, 57, 57]], anchors=[[[16, 16]], [[64, 64]]],
        ...                        strides=[8, 16], image_size=(64, 64))
        >>> result.counts
        array([0, 1])
        >>> print(result.explain(0))
        object 0: no prediction
        - 1 place: object 1, which came later, took its cell

    Reference: Redmon and Farhadi, YOLOv3: An Incremental Improvement, arXiv:1804.02767.
    """
    scales = _scales(anchors, strides, image_size)
    boxes = boxes_of(objects, format, "objects", check)
    centres, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    count = len(boxes)
    alike = pairwise_shape_iou(sizes, np.concatenate([scale.anchors for scale in scales]))  # (G, all anchors)
    best = alike.argmax(axis=1)
    wanted = np.zeros(alike.shape, bool) if extra_iou is None else alike > extra_iou
    wanted[np.arange(count), best] = True
    gts, chosen = np.nonzero(wanted)
    place = np.full(len(gts), -1, np.int64)
    on_image = np.ones(count, bool)
    first = 0
    for scale in scales:
        cell = np.floor(centres / centres.dtype.type(scale.stride)).astype(np.int64)
        outside = (cell < 0).any(axis=1) | (cell[:, 0] >= scale.columns) | (cell[:, 1] >= scale.rows)
        on_image &= ~outside
        here = (chosen >= first) & (chosen < first + len(scale.anchors)) & ~outside[gts]
        place[here] = scale.place(chosen[here] - first, *cell[gts[here]].T)
        first += len(scale.anchors)
    found = place >= 0
    gts, chosen, place = gts[found], chosen[found], place[found]

    number = scales[-1].stop
    target = np.full(number, -1, np.int64)
    target[place] = gts  # of repeated places NumPy keeps the last value, which is the later object
    value = alike[gts, chosen]
    overlap = spread(number, place, value.astype(boxes.dtype))
    outcome = np.where(target[place] == gts, Outcome.ASSIGNED, Outcome.OVERWRITTEN).astype(np.uint8)
    ignore = None
    if predictions is not None:
        decoded = boxes_of(predictions, format, "predictions", check).astype(boxes.dtype)
        if len(decoded) != number:
            raise ValueError(f"predictions must have shape ({number}, 4), one per anchor and cell, got {decoded.shape}")
        if not 0 <= ignore_threshold <= 1:
            raise ValueError(f"ignore_threshold must be within [0, 1], got {ignore_threshold}")
        ignore = near_an_object(decoded, boxes, ignore_threshold) & (target < 0)
    return finished(
        objects, rule="assign_yolov3", objects=count, target=target, overlap=overlap, ignore=ignore,
        candidates=Candidates(gts, place, value, value.copy(), outcome),
        facts={"best": alike.max(axis=1), "on_image": on_image},
    )  # fmt: skip


def assign_yolov5(
    objects: BoxesLike,
    *,
    anchors: Sequence[Array],
    strides: Sequence[int],
    image_size: tuple[int, int],
    ratio: float = 4.0,
    offset: float = 0.5,
    duplicates: bool = True,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns each object to every anchor of similar shape, in up to three cells: the rule of YOLOv5 and YOLOv7.

    An anchor of any scale is assigned if both its sides differ from the object's by a factor below ``ratio``. The cells
    are the cell of the centre, and its neighbours in x and in y that are nearer to the centre than ``offset`` cells.

    The rule has two consequences. First, a prediction may be assigned to several objects: ``pairs`` has them all,
    ``target`` has the last. Second, a centre exactly on a line of the grid gives its **own** cell once more for each
    such line, so up to three times, because rounding leads from the neighbour back to it. ``duplicates=False`` keeps
    each pair once.

    Predictions are numbered as in `assign_yolov3`. Pairs are sorted by scale, then by cell (own cell, left, upper,
    right and lower neighbour), then by anchor and by object.

    Args:
        objects: (G, 4) in pixels of the network's input, xyxy by default.
        anchors: Widths and heights in pixels, (A, 2) for each scale.
        strides: Pixels per cell of each scale.
        image_size: (width, height) of the network's input, multiples of the strides.
        ratio: The factor by which sides may differ, above 1.
        offset: How near a neighbour cell must be, in cells, within [0, 1). 0 takes only the cell of the centre.
        duplicates: Whether a pair may occur in ``pairs`` more than once.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment. Its ``overlap`` is the IoU of the object with the anchor at the centre of its cell. Its
        ``facts`` are ``"ratio"``, the smallest ratio of sides over all anchors, and ``"on_image"``.

    Raises:
        ValueError: If scales, strides and image do not fit.

    Examples:
        >>> from ioukit.assign import assign_yolov5
        >>> result = assign_yolov5([[4, 4, 12, 12]], anchors=[[[8, 8]]], strides=[8], image_size=(32, 32))
        >>> result.pairs[:, 1], result.duplicates
        (array([5, 5, 5]), 2)

    Reference: Wang et al., YOLOv7, CVPR 2023, arXiv:2207.02696, describes the rule.
    """
    if not (math.isfinite(ratio) and ratio > 1):
        raise ValueError(f"ratio must be above 1, got {ratio}")
    if not 0 <= offset < 1:
        raise ValueError(f"offset must be within [0, 1), got {offset}")
    scales = _scales(anchors, strides, image_size)
    boxes = boxes_of(objects, format, "objects", check)
    centres, sizes = (boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]
    count = len(boxes)
    on_image = ((centres >= 0) & (centres <= np.array(image_size))).all(axis=1)
    gts, place, shapes = [np.empty(0, np.int64)], [np.empty(0, np.int64)], [np.empty((0, 4), boxes.dtype)]
    least = np.full(count, np.inf)
    for scale in scales:
        unlike = _side_ratio(scale.anchors.astype(boxes.dtype), sizes)  # (A, G)
        np.minimum(least, unlike.min(axis=0, initial=np.inf), out=least)
        anchor, gt = np.nonzero((unlike < ratio) & on_image)
        for near, shift in _neighbours(centres / centres.dtype.type(scale.stride), scale, offset):
            chosen = near[gt]
            of, which = gt[chosen], anchor[chosen]
            cell = np.floor(centres[of] / centres.dtype.type(scale.stride) - shift).astype(np.int64)
            column, row = np.clip(cell, 0, (scale.columns - 1, scale.rows - 1)).T
            gts.append(of)
            place.append(scale.place(which, column, row))
            middle = (np.stack([column, row], axis=1) + 0.5) * scale.stride
            half = scale.anchors[which] / 2
            shapes.append(np.concatenate([middle - half, middle + half], axis=1).astype(boxes.dtype))
    pairs = np.stack([np.concatenate(gts), np.concatenate(place)], axis=1)
    anchor_boxes = np.concatenate(shapes)
    if not duplicates:
        _, once = np.unique(pairs, axis=0, return_index=True)
        once.sort()
        pairs, anchor_boxes = pairs[once], anchor_boxes[once]

    value = elementwise_iou(anchor_boxes, boxes[pairs[:, 0]], check=False)
    target = np.full(scales[-1].stop, -1, np.int64)
    target[pairs[:, 1]] = pairs[:, 0]
    overlap = spread(len(target), pairs[:, 1], value)
    order = np.argsort(pairs[:, 0], kind="stable")
    return finished(
        objects, rule="assign_yolov5", objects=count, target=target, overlap=overlap, pairs=pairs,
        candidates=Candidates(pairs[order, 0], pairs[order, 1], value[order], value[order],
                              np.full(len(pairs), Outcome.ASSIGNED, np.uint8)),
        facts={"ratio": least, "on_image": np.asarray(on_image)},
    )  # fmt: skip


class _Scale(NamedTuple):
    """One grid, and the positions of its first and its last prediction among all."""

    anchors: FloatArray
    stride: int
    columns: int
    rows: int
    start: int

    @property
    def stop(self) -> int:
        return self.start + len(self.anchors) * self.rows * self.columns

    def place(self, anchor: NDArray[Any], column: NDArray[Any], row: NDArray[Any]) -> NDArray[np.int64]:
        """Positions of the predictions among those of all scales."""
        number: NDArray[np.int64] = self.start + (anchor * self.rows + row) * self.columns + column
        return number


def _scales(anchors: Sequence[Array], strides: Sequence[int], image_size: tuple[int, int]) -> list[_Scale]:
    if len(anchors) != len(strides) or not len(strides):
        raise ValueError(f"anchors and strides must be one each per scale, got {len(anchors)} and {len(strides)}")
    width, height = (operator.index(side) for side in image_size)
    check_positive(width=width, height=height)
    scales: list[_Scale] = []
    for number, (sizes, stride) in enumerate(zip(anchors, strides, strict=True)):
        step = operator.index(stride)
        if step < 1 or width % step or height % step:
            raise ValueError(f"strides[{number}] is {stride}, which does not divide an image of {width} x {height}")
        shapes = floats_of(sizes, f"anchors[{number}]", (None, 2))
        if not len(shapes) or not shapes.min() > 0:
            raise ValueError(f"anchors[{number}] must be (A, 2) positive widths and heights, got {shapes.tolist()}")
        scales.append(_Scale(shapes, step, width // step, height // step, scales[-1].stop if scales else 0))
    return scales


def _side_ratio(anchors: FloatArray, sizes: FloatArray) -> FloatArray:
    """(A, G) the larger of the two factors by which the sides differ; infinite for an object without area."""
    with np.errstate(divide="ignore"):
        ratio = sizes[None] / anchors[:, None]
        unlike: FloatArray = np.maximum(ratio, 1 / ratio).max(axis=2)
    return unlike


def _neighbours(grid: FloatArray, scale: _Scale, offset: float) -> Iterator[tuple[NDArray[np.bool_], FloatArray]]:
    """For the own cell and its four neighbours: which objects are near enough, and the shift to subtract."""
    yield np.ones(len(grid), bool), np.zeros(2, grid.dtype)
    back = np.array([scale.columns, scale.rows], grid.dtype) - grid
    for distance, sign in ((grid, 1), (back, -1)):
        near = (distance % 1 < offset) & (distance > 1)
        for axis in (0, 1):
            shift = np.zeros(2, grid.dtype)
            shift[axis] = sign * offset
            yield near[:, axis], shift
