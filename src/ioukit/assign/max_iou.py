"""Max-IoU assignment (Faster R-CNN, RetinaNet): every prediction to the object it overlaps most, by thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ioukit.assign._inputs import boxes_of, floats_of, pair_of_sets
from ioukit.assign._pairs import object_blocks
from ioukit.assign._thresholds import LowQuality, Thresholds, covered, match_rows
from ioukit.overlap import pairwise_iou

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = ["LowQuality", "assign_grid", "assign_max_iou", "assign_overlaps"]


def assign_max_iou(
    predictions: BoxesLike,
    objects: BoxesLike,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.4,
    low_quality: LowQuality = "none",
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
    ignore_regions: BoxesLike | None = None,
    ignore_ioa: float = 0.5,
    ignore_of: Literal["predictions", "regions"] = "predictions",
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns each prediction, usually an anchor, to the object it overlaps most, if enough.

    IoU **at or above** ``positive`` learns the object, IoU **below** ``negative`` learns that there is none, and what
    lies between is ignored. Of objects with equal IoU the first wins.

    ``low_quality="mmdet"`` then goes through the objects in order: each takes every prediction with its own best IoU
    (``every_tie``, else the first such), whoever had it. A later object thereby takes from an earlier one, which can
    end with nothing though it had predictions by the thresholds. ``low_quality="detectron2"`` makes the same
    predictions positive, and leaves each with the object it overlaps most. In both, an object that overlaps nothing
    gets nothing; the originals give it every prediction of IoU 0, which is all of them.

    Args:
        predictions: (P, 4), `Boxes` or numbers.
        objects: (G, 4) in the same unit; G may be 0.
        positive: Within [0, 1].
        negative: A threshold, or an interval ``(low, high)``: ``low <= IoU < high`` learns that there is no object.
        low_quality: ``"none"``, ``"mmdet"`` or ``"detectron2"``.
        min_positive_iou: The least best IoU of an object for ``low_quality``.
        every_tie: For ``"mmdet"``: whether all predictions tied for an object's best are taken, or the first.
        ignore_regions: (R, 4) regions such as crowds.
        ignore_ioa: A prediction is ignored if its intersection with a region is **above** this part of an area.
        ignore_of: Whose area that is.
        format: What plain numbers hold, ``"xyxy"`` by default. `Boxes` know their own.
        check: Whether plain numbers are checked.

    Returns:
        The assignment; its ``candidates`` are the pairs that reach ``positive`` or tie for the best of their object, 64
        of an object at most.

    Raises:
        ValueError: If thresholds contradict each other, or boxes are not valid.
        TypeError: If an argument is of the wrong kind.

    Examples:
        >>> from ioukit.assign import assign_max_iou
        >>> anchors = [[0, 0, 10, 10], [10, 10, 20, 20], [5, 5, 15, 15], [32, 32, 38, 42]]
        >>> result = assign_max_iou(anchors, [[0, 0, 10, 9], [0, 10, 10, 19]], low_quality="mmdet")
        >>> result.target
        array([ 0, -1,  1, -1])

    Reference: Ren et al., Faster R-CNN, NeurIPS 2015, arXiv:1506.01497; the low-quality rules are those of
    MMDetection's MaxIoUAssigner and Detectron2's Matcher.
    """
    thresholds = Thresholds.of(positive, negative)
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    ignored = None
    if ignore_regions is not None:
        if ignore_of not in {"predictions", "regions"}:
            raise ValueError(f"unknown ignore_of {ignore_of!r}; choose from predictions, regions")
        regions = boxes_of(ignore_regions, format, "ignore_regions", check).astype(first.dtype)
        ignored = covered(first, regions, ignore_ioa, of="second" if ignore_of == "predictions" else "first")
    return match_rows(
        predictions, _iou_rows(second, first), len(first), len(second), first.dtype, rule="assign_max_iou",
        thresholds=thresholds, low_quality=low_quality, least=min_positive_iou, every_tie=every_tie, ignored=ignored,
    )  # fmt: skip


def assign_overlaps(
    overlaps: Array,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.4,
    low_quality: LowQuality = "none",
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
) -> Assignment:
    """`assign_max_iou` from overlaps that are there already: of masks, of rotated boxes, or of any other measure.

    Args:
        overlaps: (G, P), each object with each prediction, within [0, 1].
        positive: As in `assign_max_iou`, like the rest.
        negative: A threshold or an interval.
        low_quality: ``"none"``, ``"mmdet"`` or ``"detectron2"``.
        min_positive_iou: The least best overlap of an object for ``low_quality``.
        every_tie: For ``"mmdet"``: all predictions tied for an object's best, or the first.

    Examples:
        >>> from ioukit.assign import assign_overlaps
        >>> assign_overlaps([[0.6, 0.3], [0.7, 0.2]], low_quality="detectron2").target
        array([ 1, -1])
    """
    table = floats_of(overlaps, "overlaps", (None, None))
    if table.size and not (table.min() >= 0 and table.max() <= 1):
        raise ValueError(f"overlaps must be within [0, 1], got {table.min():g} to {table.max():g}")
    objects, count = table.shape
    return match_rows(
        overlaps, table, count, objects, table.dtype, rule="assign_overlaps",
        thresholds=Thresholds.of(positive, negative), low_quality=low_quality, least=min_positive_iou,
        every_tie=every_tie,
    )  # fmt: skip


def assign_grid(
    predictions: BoxesLike,
    objects: BoxesLike,
    responsible: Array,
    *,
    positive: float = 0.5,
    negative: float | tuple[float, float] = 0.5,
    min_positive_iou: float = 0.0,
    every_tie: bool = True,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Max-IoU among the anchors of the cells that hold a centre, the rule of MMDetection's YOLOv3.

    Its thresholds are on the other side than those of `assign_max_iou`: IoU **above** ``positive`` is positive, IoU
    **at or below** ``negative`` is negative. Then each object takes the responsible predictions of its best IoU.

    Args:
        predictions: (P, 4), `Boxes` or numbers.
        objects: (G, 4) in the same unit.
        responsible: (P,) bools, true where the cell of the prediction holds the centre of an object.
        positive: Within [0, 1].
        negative: A threshold, or an interval ``(low, high)``: ``low < IoU <= high`` learns that there is no object.
        min_positive_iou: An object whose best responsible IoU is not above it takes nothing.
        every_tie: Whether all predictions tied for an object's best are taken, or the first.
        format: What plain numbers hold, ``"xyxy"`` by default. `Boxes` know their own.
        check: Whether plain numbers are checked.
    """
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    flags = floats_of(responsible, "responsible", (None,)) != 0
    if len(flags) != len(first):
        raise ValueError(f"responsible must have shape ({len(first)},), one per prediction, got {flags.shape}")
    return match_rows(
        predictions, _iou_rows(second, first), len(first), len(second), first.dtype, rule="assign_grid",
        thresholds=Thresholds.of(positive, negative, strict=True), low_quality="mmdet", least=min_positive_iou,
        every_tie=every_tie, eligible=flags,
    )  # fmt: skip


def _iou_rows(objects: FloatArray, predictions: FloatArray) -> Iterator[FloatArray]:
    for block in object_blocks(len(objects), len(predictions)):
        yield from pairwise_iou(objects[block], predictions, check=False)
