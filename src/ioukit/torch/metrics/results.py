"""The numbers of the mean average precision, under the names of TorchMetrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ioukit._array_types import Floats
from ioukit.evaluation.curves import accumulate
from ioukit.evaluation.table import MatchTable
from ioukit.torch.metrics.arguments import Arguments
from ioukit.torch.metrics.tables import MatchedImages

_SIZES = {"small": 1, "medium": 2, "large": 3}
"""The places of the area ranges of COCO; place 0 has all areas."""


class _Arrays:
    """The curves with pycocotools' axes: T IoU thresholds, R recalls, K classes, A area ranges, M caps."""

    def __init__(self, table: MatchTable, arguments: Arguments) -> None:
        curves, rules = accumulate(table), table.protocol
        # A user may give thresholds in any order, and twice.
        ious = _places(arguments.iou_thresholds, rules.iou_thresholds)
        recalls = _places(arguments.rec_thresholds, rules.recall_thresholds)
        caps = _places(arguments.max_detection_thresholds, rules.max_dets)
        self.precision = _chosen(_chosen(_chosen(curves.precision, 0, ious), 1, recalls), 4, caps)
        """(T, R, K, A, M), NaN where undefined."""
        self.scores = _chosen(_chosen(_chosen(curves.scores, 0, ious), 1, recalls), 4, caps)
        """(T, R, K, A, M), NaN where undefined."""
        self.recall = _chosen(_chosen(curves.recall, 0, ious), 3, caps)
        """(T, K, A, M), NaN where undefined."""
        self.iou_thresholds = np.array(arguments.iou_thresholds)
        self.cap_of_map = arguments.cap_of_map
        self.caps = arguments.max_detection_thresholds

    def ap(self, *, iou: float | None = None, area: int = 0) -> float:
        """AP at the last cap."""
        chosen = self.precision if iou is None else self.precision[self.iou_thresholds == iou]
        return _mean(chosen[:, :, :, area, -1])

    def mean_ap(self, rows: Any = slice(None)) -> float:
        """AP of some classes over all IoU thresholds, at its own cap."""
        if self.cap_of_map is None:
            return -1.0
        return _mean(self.precision[:, :, rows, 0, self.caps.index(self.cap_of_map)])

    def ar(self, *, cap: int = -1, area: int = 0, rows: Any = slice(None)) -> float:
        """AR of some classes."""
        return _mean(self.recall[:, rows, area, cap])


def _places(given: Sequence[float], kept: Sequence[float]) -> list[int]:
    return [kept.index(value) for value in given]


def _chosen(values: Floats, axis: int, places: list[int]) -> Floats:
    """Some places along an axis; the array itself if these are all in order."""
    return values if places == list(range(values.shape[axis])) else values.take(places, axis=axis)


def _mean(values: Floats) -> float:
    """The mean of the defined values, in pycocotools' order; -1 if there are none."""
    counted = values[~np.isnan(values)]
    return float(np.mean(counted)) if counted.size else -1.0


def results(images: MatchedImages | None, arguments: Arguments) -> dict[str, Any]:
    """What ``compute`` returns, before tensors with one value lose their dimensions."""
    found: dict[str, Any] = {}
    kinds, caps = arguments.kinds, arguments.max_detection_thresholds
    for at, kind in enumerate(kinds):
        prefix = "" if len(kinds) == 1 else f"{kind}_"
        if images is None or not images.with_predictions or not images.with_targets:
            found |= {f"{prefix}{key}": _tensor([-1.0]) for key in _keys(caps)}
            continue
        arrays = _Arrays(images.tables[at], arguments)
        numbers = {
            "map": arrays.mean_ap(),
            "map_50": arrays.ap(iou=0.5),
            "map_75": arrays.ap(iou=0.75),
            **{f"map_{size}": arrays.ap(area=place) for size, place in _SIZES.items()},
            **{f"mar_{cap}": arrays.ar(cap=place) for place, cap in enumerate(caps)},
            **{f"mar_{size}": arrays.ar(area=place) for size, place in _SIZES.items()},
        }
        found |= {f"{prefix}{key}": _tensor([value]) for key, value in numbers.items()}
        if arguments.extended_summary:
            found[f"{prefix}ious"] = _ious(images.tables[at], arguments)
            for name in ("precision", "recall", "scores"):
                values = getattr(arrays, name)
                values = np.ascontiguousarray(np.where(np.isnan(values), -1.0, values))  # as pycocotools has them
                found[f"{prefix}{name}"] = torch.from_numpy(values)
        per_class = _per_class(images, at, arrays, arguments)
        found[f"{prefix}map_per_class"], found[f"{prefix}mar_{caps[-1]}_per_class"] = per_class
    found["classes"] = torch.tensor(() if images is None else images.labels, dtype=torch.int32)
    return found


def _keys(caps: Sequence[int]) -> list[str]:
    return [
        *("map", "map_50", "map_75"),
        *(f"map_{size}" for size in _SIZES),
        *(f"mar_{cap}" for cap in caps),
        *(f"mar_{size}" for size in _SIZES),
    ]


def _tensor(values: Sequence[float]) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float32)


def _per_class(
    images: MatchedImages, at: int, arrays: _Arrays, arguments: Arguments
) -> tuple[torch.Tensor, torch.Tensor]:
    """AP and AR of each class; -1 alone if they are not asked for."""
    if not arguments.class_metrics:
        return _tensor([-1.0]), _tensor([-1.0])
    if arguments.average == "micro":
        arrays = _Arrays(images.tables[len(arguments.kinds) + at], arguments)
    rows = [slice(row, row + 1) for row in range(len(images.labels))]
    return _tensor([arrays.mean_ap(row) for row in rows]), _tensor([arrays.ar(rows=row) for row in rows])


def _ious(table: MatchTable, arguments: Arguments) -> dict[tuple[int, int], Any]:
    """The IoUs of each image and class: (n, m) for n detections in the order of their scores, and m targets.

    An image and class without detections or without targets has an empty list, as in pycocotools.
    """
    labels, cap = table.categories.ids.tolist(), arguments.max_detection_thresholds[-1]
    shown = np.arange(len(table.image_ids))
    if arguments.kinds == ("segm",):
        shown = np.unique(table.objects.image).astype(np.int64)
    found: dict[tuple[int, int], Any] = {
        (image, label): [] for image in table.image_ids[shown].tolist() for label in labels
    }
    near = table.near
    assert near is not None
    groups = [rows.image.astype(np.int64) * len(labels) + rows.category for rows in (table.detections, table.objects)]
    heights, widths = (np.bincount(group, minlength=len(table.image_ids) * len(labels)) for group in groups)
    heights = np.minimum(heights, cap)
    starts = np.cumsum(heights * widths) - heights * widths
    flat = np.zeros(int((heights * widths).sum()), np.float32)
    places = _places_in(groups[0], table.detections.rank), _places_in(groups[1], table.objects.row)
    group, row = groups[0][near.detection], places[0][near.detection]
    listed = (group == groups[1][near.object]) & (row < cap)
    group, row, column = group[listed], row[listed], places[1][near.object][listed]
    flat[starts[group] + row * widths[group] + column] = near.iou[listed]
    for at in np.flatnonzero(heights * widths).tolist():
        image, label = divmod(at, len(labels))
        values = flat[starts[at] : starts[at] + heights[at] * widths[at]].reshape(heights[at], widths[at])
        found[int(table.image_ids[image]), labels[label]] = torch.from_numpy(values)
    return found


def _places_in(group: npt.NDArray[np.int64], key: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """(N,) the place of each row in its group, in the order of a key."""
    order = np.lexsort((key, group))
    places = np.empty(len(group), np.int64)
    places[order] = np.arange(len(group)) - np.searchsorted(group[order], group[order])
    return places
