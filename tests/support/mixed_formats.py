"""One small data set as files of every format: what `tests/datasets/test_any_two_formats.py` and the fuzzer mix."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import datasets
from ioukit.datasets import FORMATS, Detections, GroundTruth
from support.icdar2015_files import write_icdar2015
from support.nuscenes_files import write_nuscenes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["data_set", "pictures", "read_ground_truth", "write_detections", "write_ground_truth"]

IDS = (7, 123, 5)
SIZES = ((64, 48), (48, 64), (64, 64))
MOVES = ((1, 0, 0, 0), (0, 2, 0, 0), (0, 0, 3, 0), (0, 0, 0, 0), (5, 5, 0, 0))
"""What the detections add to the boxes of the objects."""


def data_set(
    classes: Sequence[str],
    *,
    stems: Sequence[str] = ("000007", "000123", "000005"),
    ids: Sequence[int] = IDS,
    crowd: bool = False,
) -> tuple[GroundTruth, Detections]:
    """Three images of three sizes with five objects, and detections of them.

    Args:
        classes: Their names, with ids from 1 on; one, or three.
        stems: The names of the images, without ``.jpg``.
        ids: The ids of the images.
        crowd: Whether the object on the second image is a crowd.
    """
    boxes = np.array([[4, 6, 20, 12], [30.5, 8.25, 12, 24], [2, 3, 40, 30], [10, 10, 8, 8], [20, 30, 16, 16]], float)
    columns: dict[str, Any] = {
        "image_ids": np.array(ids)[[0, 0, 1, 2, 2]],
        "category_ids": np.array([1, 2, 3, 1, 2] if len(classes) > 1 else [1] * 5),
    }
    gt = GroundTruth.from_arrays(
        **columns,
        boxes=boxes,
        images=ids,
        sizes=SIZES,
        names=[f"{stem}.jpg" for stem in stems],
        categories=dict(enumerate(classes, start=1)),
        crowd=np.arange(5) == 2 if crowd else None,
    )
    dt = Detections.from_arrays(**columns, boxes=boxes + MOVES, scores=[0.9, 0.25, 0.5, 0.75, 0.125])
    return gt, dt


def write_ground_truth(gt: GroundTruth, name: str, folder: Path) -> Path:
    """Write ground truth in a format, also in those that ioukit reads only."""
    place = folder / f"{name}_gt{FORMATS[name].suffix}"
    if FORMATS[name].write is not None:
        datasets.write(gt, place, name)
    elif name == "roboflow-coco":
        datasets.write(gt, folder / "coco.json", "coco")
        (place / "valid").mkdir(parents=True)
        shutil.move(folder / "coco.json", place / "valid" / "_annotations.coco.json")
    elif name == "coco-panoptic":
        place = place.with_suffix(".json")
        place.write_text(json.dumps(_panoptic(gt)))
    elif name == "nuscenes":
        place = write_nuscenes(gt, place.with_suffix(".json"))
    elif name == "icdar2015":
        place = write_icdar2015(gt, gt, place, "gt", ["word"] * len(gt))
    else:
        assert name == "labelme-xml", f"add a way to write {name}"
        place.mkdir()
        for image, (number, file) in enumerate(zip(gt.images.ids.tolist(), gt.images.names, strict=True)):
            rows = np.flatnonzero(gt.image_ids == number).tolist()
            objects = "".join(_labelme_object(gt, row) for row in rows)
            width, height = gt.images.sizes[image].astype(int).tolist()
            size = f"<imagesize><nrows>{height}</nrows><ncols>{width}</ncols></imagesize>"
            text = f"<annotation><filename>{file}</filename>{objects}{size}</annotation>"
            (place / f"{file.removesuffix('.jpg')}.xml").write_text(text)
    return place


def read_ground_truth(path: Path, name: str, gt: GroundTruth) -> GroundTruth:
    """Read what was written; KITTI's and nuScenes' readers take the classes, which their files do not list."""
    names = {"names": gt.categories.names}
    options: dict[str, dict[str, Any]] = {"kitti": names, "nuscenes": names, "roboflow-coco": {"split": "valid"}}
    return datasets.read(path, name, **options.get(name, {}))


def write_detections(dt: Detections, gt: GroundTruth, name: str, folder: Path) -> Path:
    """Write detections in a format."""
    place = folder / f"{name}_dt{FORMATS[name].detections_suffix}"
    datasets.write(dt, place, name, ground_truth=gt)
    return place


def pictures(gt: GroundTruth, folder: Path) -> Path:
    """Write the images, black, into a folder."""
    from PIL import Image  # noqa: PLC0415 - few tests need photographs

    folder.mkdir()
    for name, size in zip(gt.images.names, gt.images.sizes.astype(int).tolist(), strict=True):
        Image.new("L", tuple(size)).save(folder / name)
    return folder


def _panoptic(gt: GroundTruth) -> dict[str, object]:
    def segments(image: int) -> list[dict[str, object]]:
        return [
            {
                "id": row + 1,
                "category_id": int(gt.category_ids[row]),
                "area": float(gt.areas[row]),
                "bbox": gt.boxes[row].tolist(),
                "iscrowd": int(gt.crowd[row]),
            }
            for row in np.flatnonzero(gt.image_ids == image).tolist()
        ]

    named = list(zip(gt.images.ids.tolist(), gt.images.names, gt.images.sizes.astype(int).tolist(), strict=True))
    classes = zip(gt.categories.ids.tolist(), gt.categories.names, strict=True)
    return {
        "images": [{"id": number, "file_name": file, "width": w, "height": h} for number, file, (w, h) in named],
        "annotations": [
            {"image_id": number, "file_name": file.replace(".jpg", ".png"), "segments_info": segments(number)}
            for number, file, _ in named
        ],
        "categories": [{"id": number, "name": name, "isthing": 1} for number, name in classes],
    }


def _labelme_object(gt: GroundTruth, row: int) -> str:
    x, y, width, height = gt.boxes[row].tolist()
    corners = [(x, y), (x + width, y), (x + width, y + height), (x, y + height)]
    points = "".join(f"<pt><x>{px}</x><y>{py}</y></pt>" for px, py in corners)
    name = gt.categories.names[int(gt.category_ids[row]) - 1]
    return (
        f"<object><name>{name}</name><deleted>0</deleted><verified>0</verified><id>{row}</id>"
        f"<type>bounding_box</type><polygon>{points}</polygon></object>"
    )
