"""Between COCO's files and the predictions and targets that the metric takes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ioukit._output import write_whole
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.columns.masks import decode
from ioukit.errors import DatasetError
from ioukit.regions.masks import Masks
from ioukit.torch.metrics.arguments import checked_kinds
from ioukit.torch.metrics.inputs import Side
from ioukit.torch.metrics.packing import packed, unpacked

__all__ = ["packed_sides", "read_files", "write_files"]

_COLUMNS = ("counts", "labels", "boxes", "scores", "crowd", "given_areas")


def packed_sides(detections: Side, targets: Side) -> npt.NDArray[np.uint8]:
    """The predictions and targets of some images, as bytes."""
    columns: dict[str, npt.NDArray[Any]] = {}
    for name, side in (("preds", detections), ("target", targets)):
        given = {key: getattr(side, key) for key in _COLUMNS}
        if side.masks is not None:
            given |= dict(zip(("runs", "offsets", "sizes"), side.masks._parts, strict=True))
        columns |= {f"{name}.{key}": _narrow(column) for key, column in given.items() if column is not None}
    return packed({}, columns)


def _narrow(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers in half of the bytes if that changes none of them, as boxes and scores come in float32."""
    half = {"f8": np.float32, "i8": np.int32}.get(column.dtype.str[1:])
    if half is None:
        return column
    narrow = column.astype(half)
    return narrow if np.array_equal(narrow, column) else column


def write_files(path: str, records: Sequence[npt.NDArray[np.uint8]], kinds: Sequence[str]) -> None:
    """Write ``<path>_preds.json`` and ``<path>_target.json``.

    Args:
        path: What the paths begin with.
        records: Results of :func:`packed_sides`, in the order of the images.
        kinds: The kinds of regions that are evaluated.
    """
    images: list[dict[str, int]] = []
    rows: dict[str, list[dict[str, Any]]] = {"preds": [], "target": []}
    labels: set[int] = set()
    first = 0
    for record in (record for piece in records for record in unpacked(piece)):
        sides = {}
        for name, of_side in rows.items():
            side = sides[name] = _side(record.columns, name)
            of_side.extend(_annotations(side, first, kinds, len(of_side) + 1))
            labels |= set(side.labels.tolist())
        images += _images(sides["target"], first, kinds)
        first += len(sides["target"].counts)
    target = {
        "images": images,
        "annotations": rows["target"],
        "categories": [{"id": label, "name": str(label)} for label in sorted(labels)],
        "info": {"description": "Targets of ioukit.torch.MeanAveragePrecision"},
    }
    for suffix, content in (("preds", rows["preds"]), ("target", target)):
        write_whole(Path(f"{path}_{suffix}.json"), json.dumps(content, indent=4).encode())


def _side(columns: dict[str, npt.NDArray[Any]], name: str) -> Side:
    found = {key: columns.get(f"{name}.{key}") for key in _COLUMNS}
    for key in ("boxes", "scores", "given_areas"):
        column = found[key]
        found[key] = None if column is None else column.astype(np.float64)
    parts = [columns.get(f"{name}.{key}") for key in ("runs", "offsets", "sizes")]
    masks = None
    if parts[0] is not None:
        runs, offsets, sizes = parts
        masks = Masks._trusted(runs, np.asarray(offsets, np.int64), sizes)  # type: ignore[arg-type]
    return Side(**found, masks=masks)  # type: ignore[arg-type]


def _images(side: Side, first: int, kinds: Sequence[str]) -> list[dict[str, int]]:
    images = [{"id": first + at} for at in range(len(side.counts))]
    if side.masks is None:
        return images
    ends = np.cumsum(side.counts).tolist()
    sizes = side.masks.sizes.tolist()
    for image, count, end in zip(images, side.counts.tolist(), ends, strict=True):
        if count:
            image |= dict(zip(("height", "width"), sizes[end - 1], strict=True))
    return [image for image in images if "height" in image] if tuple(kinds) == ("segm",) else images


def _annotations(side: Side, first: int, kinds: Sequence[str], number: int) -> list[dict[str, Any]]:
    areas = side.areas("segm" if "segm" in kinds else "bbox").tolist()
    image = (first + np.repeat(np.arange(len(side.counts)), side.counts)).tolist()
    crowd = np.zeros(len(side), np.int64) if side.crowd is None else side.crowd.astype(np.int64)
    columns: dict[str, Sequence[Any]] = {"image_id": image, "category_id": side.labels.tolist(), "area": areas}
    columns["iscrowd"] = crowd.tolist()
    if side.boxes is not None:
        columns["bbox"] = side.boxes.tolist()
    if side.masks is not None:
        columns["segmentation"] = side.masks.to_rle()
    if side.scores is not None:
        columns["score"] = side.scores.tolist()
    rows = zip(*columns.values(), strict=True)
    return [{"id": number + at, **dict(zip(columns, row, strict=True))} for at, row in enumerate(rows)]


def read_files(
    coco_preds: str, coco_target: str, iou_type: str | Sequence[str]
) -> tuple[list[dict[str, torch.Tensor]], list[dict[str, torch.Tensor]]]:
    """The predictions and targets in COCO's files, a dict per image that has targets.

    The images are in the order of their first annotation, as in TorchMetrics.
    """
    kinds = checked_kinds(iou_type)
    if "bbox" in kinds:
        gt, dt = GroundTruth.from_coco(coco_target), Detections.from_coco(coco_preds)
    else:  # records of masks may have no box
        content = json.loads(Path(coco_target).read_bytes())
        gt = GroundTruth.from_coco({**content, "annotations": _with_boxes(content["annotations"])})
        dt = Detections.from_coco(_with_boxes(json.loads(Path(coco_preds).read_bytes())))
    ids, first = np.unique(gt.image_ids, return_index=True)
    ids = ids[np.argsort(first)]
    columns: dict[str, dict[str, Any]] = {"target": {}, "preds": {}}
    for name, side, array in (("target", gt, "annotations"), ("preds", dt, "detections")):
        columns[name]["labels"] = side.category_ids.astype(np.int32)
        if "bbox" in kinds:
            columns[name]["boxes"] = side.boxes.astype(np.float32)
        if "segm" in kinds:
            if side.segmentations is None:
                raise DatasetError(f"{side.source}: expected masks, as iou_type has 'segm', found {array} without any")
            sizes = gt.images.sizes[np.searchsorted(gt.images.ids, side.image_ids)]
            columns[name]["masks"] = decode(side.segmentations, sizes, source=side.source, array=array, threads=None)
    columns["target"] |= {"iscrowd": gt.crowd.astype(np.int32), "area": gt.areas.astype(np.float32)}
    columns["preds"]["scores"] = dt.scores.astype(np.float32)
    return _per_image(columns["preds"], dt.image_ids, ids), _per_image(columns["target"], gt.image_ids, ids)


def _with_boxes(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records that all have a box; one without sides if they had none."""
    return [{"bbox": [0, 0, 0, 0], **record} for record in records]


def _per_image(
    columns: dict[str, Any], image_ids: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]
) -> list[dict[str, torch.Tensor]]:
    order = np.argsort(image_ids, kind="stable")
    starts, ends = (np.searchsorted(image_ids[order], wanted, side=side) for side in ("left", "right"))
    items = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        rows = order[start:end]
        items.append({name: _tensor(column, rows) for name, column in columns.items()})
    return items


def _tensor(column: Any, rows: npt.NDArray[np.intp]) -> torch.Tensor:
    if isinstance(column, Masks):
        if not len(rows):
            return torch.zeros((0, 0, 0), dtype=torch.uint8)
        return torch.from_numpy(column[rows].to_arrays().astype(np.uint8))
    return torch.from_numpy(column[rows])
