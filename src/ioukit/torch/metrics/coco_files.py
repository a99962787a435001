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

_NO_BOX: dict[str, Any] = {"bbox": [0, 0, 0, 0]}
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
        images += _images(list(sides.values()), first)
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
    runs, offsets, sizes = (columns.get(f"{name}.{key}") for key in ("runs", "offsets", "sizes"))
    masks = None
    if runs is not None:
        masks = Masks._trusted(runs, np.asarray(offsets, np.int64), sizes)  # type: ignore[arg-type]
    return Side(**found, masks=masks)  # type: ignore[arg-type]


def _images(sides: Sequence[Side], first: int) -> list[dict[str, int]]:
    """The images, with their sizes if they have masks."""
    images = [{"id": first + at} for at in range(len(sides[0].counts))]
    for side in sides:
        if side.masks is None:
            continue
        sizes = side.masks.sizes
        for image, end in zip(images, np.cumsum(side.counts).tolist(), strict=True):
            if side.counts[image["id"] - first]:
                image["height"], image["width"] = sizes[end - 1].tolist()
    return images


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
    gt = GroundTruth.from_coco(_complete(_json_of(coco_target), coco_target))
    dt = Detections.from_coco(_with_boxes(_json_of(coco_preds), coco_preds))
    ids, first = np.unique(gt.image_ids, return_index=True)
    dt = dt.take(np.isin(dt.image_ids, ids))
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


def _json_of(path: str) -> Any:
    try:
        return json.loads(Path(path).read_bytes())
    except ValueError as error:
        raise DatasetError(f"{path}: expected JSON: {error}") from None


def _complete(content: Any, path: str) -> dict[str, Any]:
    """The content of a file of annotations, with all categories that annotations have: TorchMetrics lists one alone."""
    if not isinstance(content, dict):
        raise DatasetError(f"{path}: expected a file of annotations, a JSON object, found {type(content).__name__}")
    annotations = _with_boxes(content.get("annotations"), f"{path}: annotations")
    ids = {record.get("id") for record in content.get("categories", ())}
    new = dict.fromkeys(record.get("category_id") for record in annotations if record.get("category_id") not in ids)
    categories = [*content.get("categories", ()), *({"id": number, "name": str(number)} for number in new)]
    return {**content, "annotations": annotations, "categories": categories}


def _with_boxes(records: Any, where: str) -> list[dict[str, Any]]:
    """Records that all have a box. Those of masks may lack it; it gets no sides."""
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DatasetError(f"{where}: expected a list of records, found {type(records).__name__}")
    return [record if "bbox" in record or "segmentation" not in record else record | _NO_BOX for record in records]


def _per_image(
    columns: dict[str, Any], image_ids: npt.NDArray[np.int64], wanted: npt.NDArray[np.int64]
) -> list[dict[str, torch.Tensor]]:
    order = np.argsort(image_ids, kind="stable")
    starts, ends = (np.searchsorted(image_ids[order], wanted, side=side) for side in ("left", "right"))
    return [
        {name: _tensor(column, order[start:end]) for name, column in columns.items()}
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]


def _tensor(column: Any, rows: npt.NDArray[np.intp]) -> torch.Tensor:
    if isinstance(column, Masks):
        if not len(rows):
            return torch.zeros((0, 0, 0), dtype=torch.uint8)
        return torch.from_numpy(column[rows].to_arrays().astype(np.uint8))
    return torch.from_numpy(column[rows])
