"""From predictions and targets to match tables in bytes, and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Categories, Detections, GroundTruth, Images
from ioukit.datasets.columns.lazy import Names
from ioukit.evaluation.matching import match
from ioukit.evaluation.table import MatchTable
from ioukit.torch.metrics.arguments import Arguments, Task
from ioukit.torch.metrics.inputs import Side
from ioukit.torch.metrics.packing import joined_table, packed, table_columns, unpacked

_MANY = 4096
"""Detections from which matching is worth all threads."""


@dataclass(frozen=True)
class MatchedImages:
    """All images that a metric has got."""

    tables: tuple[MatchTable, ...]
    """A table per task. The ids of images are 0, 1, ... in the order in which they came."""
    labels: tuple[int, ...]
    """All labels in predictions and targets, in ascending order."""
    with_predictions: int
    """Number of images that take part on the side of the predictions."""
    with_targets: int
    """Number of images that take part on the side of the targets."""


def matched(detections: Side, targets: Side, arguments: Arguments) -> npt.NDArray[np.uint8]:
    """The match tables of some images, as bytes."""
    labels = np.unique(np.concatenate([detections.labels, targets.labels]))
    counts = (detections.counts, targets.counts)
    present = [len(count) for count in counts]
    if arguments.kinds == ("segm",):
        # TorchMetrics lists an image only if it has a mask, and evaluates the images that the targets list.
        present = [int(np.count_nonzero(count)) for count in counts]
        detections = _without(detections, targets.counts == 0)
    # TorchMetrics gives targets the areas of their masks if there are any, also where boxes are compared.
    area = "segm" if "segm" in arguments.kinds else "bbox"
    columns: dict[str, npt.NDArray[Any]] = {"labels": labels}
    for at, task in enumerate(arguments.tasks):
        table = match(
            *_scene(detections, targets, task, _categories(labels, task), area),
            task.protocol,
            iou_type=task.kind,
            near=task.near,
            threads=1 if len(detections) < _MANY else None,
        )
        columns |= table_columns(table, f"{at}.")
    return packed({"rules": arguments.digest, "present": present}, columns)


def _without(side: Side, left_out: npt.NDArray[np.bool_]) -> Side:
    """A side without the rows of some images."""
    if not left_out.any():
        return side
    kept = np.flatnonzero(~np.repeat(left_out, side.counts))
    assert side.masks is not None
    assert side.scores is not None
    counts = np.where(left_out, 0, side.counts)
    return Side(counts, side.labels[kept], boxes=None, masks=side.masks[kept], scores=side.scores[kept])


def _scene(
    detections: Side, targets: Side, task: Task, categories: Categories, area: str
) -> tuple[GroundTruth, Detections]:
    """The columns that are matched. ``area`` is the kind of region whose areas targets have, unless these are given.

    The columns are made without the checks of `GroundTruth.from_arrays`, which refuses boxes whose sides are negative.
    TorchMetrics takes them; they overlap nothing, like boxes without sides.
    """
    count = len(targets.counts)
    images = Images(np.arange(count), np.full((count, 2), np.nan), Names.of(()))
    gt = GroundTruth(
        images=images,
        categories=categories,
        ids=np.arange(1, len(targets) + 1),
        image_ids=np.repeat(np.arange(count), targets.counts),
        category_ids=np.zeros_like(targets.labels) if task.one_class else targets.labels,
        boxes=_sides_of_zero(targets),
        areas=targets.areas(area),
        flags={"crowd": targets.crowd},  # type: ignore[dict-item]
        regions={"Masks": targets.masks} if task.kind == "segm" else {},
        source="target",
    )
    assert detections.scores is not None
    dt = Detections(
        image_ids=np.repeat(np.arange(count), detections.counts),
        category_ids=np.zeros_like(detections.labels) if task.one_class else detections.labels,
        boxes=_sides_of_zero(detections),
        scores=detections.scores,
        areas=detections.areas(task.kind),
        regions={"Masks": detections.masks} if task.kind == "segm" else {},
        source="preds",
    )
    return gt, dt


def _categories(labels: npt.NDArray[np.int64], task: Task) -> Categories:
    if task.one_class:
        return Categories(np.zeros(1, np.int64), ("0",))
    return Categories(labels, tuple(map(str, labels.tolist())))


def _sides_of_zero(side: Side) -> npt.NDArray[np.float64]:
    """(N, 4) the boxes, with sides of 0 where a side is negative; zeros if there are only masks."""
    if side.boxes is None:
        return np.zeros((len(side), 4))
    boxes: npt.NDArray[np.float64] = side.boxes.copy()  # the columns become read-only
    boxes[(boxes[:, 2:] < 0).any(axis=1), 2:] = 0.0
    return boxes


def merged(streams: Sequence[Sequence[npt.NDArray[np.uint8]]], arguments: Arguments) -> MatchedImages | None:
    """All images of the results of :func:`matched`; ``None`` if there are none.

    The images are numbered in turn: the first image of each process, then the second of each, and so on. So images that
    a sampler dealt out one by one get back their order, which decides between equal scores.

    Args:
        streams: For each process, the bytes of its images in order, some of them joined.
        arguments: The arguments of the metric.

    Raises:
        ValueError: If images were matched with other arguments.
    """
    parts = [[part for piece in stream for part in unpacked(piece)] for stream in streams]
    headers = [part.header for stream in parts for part in stream]
    if any(header["rules"] != arguments.digest for header in headers):
        raise ValueError(
            "some images were matched with other arguments than those of this metric: thresholds, iou_type, average, "
            "class_metrics and extended_summary must not change between update and compute"
        )
    if not headers:
        return None
    labels = np.unique(np.concatenate([part.columns["labels"] for stream in parts for part in stream]))
    numbers = _image_numbers([[len(part.columns["0.image_detections"]) for part in stream] for stream in parts])
    tables: list[list[MatchTable]] = [[] for _ in arguments.tasks]
    for stream, image_ids in zip(parts, numbers, strict=True):
        columns = [part.columns for part in stream]
        if not columns:
            continue
        places = [np.searchsorted(labels, each["labels"]).astype(np.uint32) for each in columns]
        for at, task in enumerate(arguments.tasks):
            table = joined_table(
                columns,
                f"{at}.",
                protocol=task.protocol,
                iou_type=task.kind,
                categories=_categories(labels, task),
                places=[np.zeros(1, np.uint32)] * len(places) if task.one_class else places,
                image_ids=image_ids,
                near=task.near,
            )
            tables[at].append(table)
    with_predictions, with_targets = np.sum([header["present"] for header in headers], axis=0).tolist()
    return MatchedImages(
        tuple(MatchTable.merge(each) for each in tables), tuple(labels.tolist()), with_predictions, with_targets
    )


def _image_numbers(counts: Sequence[Sequence[int]]) -> list[npt.NDArray[np.int64]]:
    """The numbers of the images of each process, given how many there are in each of its parts."""
    turns = [np.arange(sum(of_process), dtype=np.int64) for of_process in counts]
    order = np.lexsort((np.repeat(np.arange(len(turns)), list(map(len, turns))), np.concatenate(turns)))
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.arange(len(order))
    return np.split(numbers, np.cumsum(list(map(len, turns)))[:-1])
