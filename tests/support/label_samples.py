"""A small data set in every format: ground truth, and detections of it where the format holds them."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ioukit import Masks, datasets
from ioukit.datasets import FORMATS, Detections, GroundTruth
from support.davis_files import write_davis
from support.icdar2015_files import write_icdar2015
from support.nuscenes_files import write_nuscenes
from support.panoptic_files import write_panoptic
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Sample", "small_data_set", "write_sample"]

PLAIN = {
    "labelme-xml": "formats_small/labelme_xml/Annotations/subset1",
    "roboflow-coco": "formats_small/coco_json/train",
}
"""Samples of the formats that are only read, in the folder of test data."""

CLASSES = {
    "kitti": ("Car", "Pedestrian"),
    "nuscenes": ("car", "pedestrian"),
    "crowdhuman": ("person",),
    "icdar2015": ("text",),
    "wider-face": ("face",),
}
"""Names of classes, where a format has its own."""

IMAGES = {"mot": ("1", "2", "3"), "icdar2015": ("img_1", "img_2", "img_3")}
"""Stems of images, where a format has its own."""


@dataclass(frozen=True)
class Sample:
    """Files of one format."""

    ground_truth: Path
    """The path to read; there is nothing if the format holds none."""
    detections: Path | None
    """The path of detections of the same images, if the format holds them."""
    reference: GroundTruth
    """The ground truth that was written, for the readers of detections that need one."""


def small_data_set(
    classes: tuple[str, ...] = ("cat", "dog"), stems: tuple[str, ...] = ("a", "b", "c")
) -> tuple[GroundTruth, Detections]:
    """Three images with three objects, polygons, flags and attributes; and three detections."""
    boxes = np.array([[4, 6, 20, 12], [30.5, 8.25, 12, 24], [2, 3, 40, 30]], np.float64)
    ids = np.array([stems[0], stems[0], stems[1]])
    last = len(classes)
    gt = GroundTruth.from_arrays(
        image_ids=ids,
        category_ids=np.array([1, last, 1]),
        boxes=boxes,
        areas=boxes[:, 2] * boxes[:, 3],
        images=np.array(stems),
        sizes=np.array([[64, 48], [48, 64], [64, 64]], np.float64),
        names=[f"{stem}.jpg" for stem in stems],
        categories=dict(enumerate(classes, start=1)),
        flags={"crowd": np.array([False, False, True]), "difficult": np.array([False, True, False])},
        attributes={"angle": np.array([0.5, 1.0, -1.5]), "colour": np.array(["red", "", "blue"])},
        segmentations=[_outline(box) for box in boxes.tolist()],
    )
    dt = Detections.from_arrays(
        image_ids=ids,
        category_ids=np.array([1, last, last]),
        boxes=boxes + 0.5,
        scores=np.array([0.9, 0.25, 0.5]),
    )
    return gt, dt


def _outline(box: list[float]) -> list[list[float]]:
    x, y, width, height = box
    return [[x, y, x + width, y, x + width, y + height, x, y + height]]


def write_sample(name: str, folder: Path) -> Sample:
    """Write a small data set of a format into an empty folder."""
    known = FORMATS[name]
    gt, dt = small_data_set(CLASSES.get(name, ("cat", "dog")), IMAGES.get(name, ("a", "b", "c")))
    if name == "answers":
        return Sample(folder / "none", _answers(folder / "dt.jsonl", dt), gt)
    if name in ("davis", "mots"):
        make = _masks_of_sequence if name == "mots" else _masks_of_frames
        gt_path, dt_path = (make(folder / side) for side in ("gt", "dt"))
        return Sample(gt_path, dt_path, datasets.read(gt_path, name))
    if name == "nuscenes":
        return Sample(write_nuscenes(gt, folder / "gt.json"), None, gt)
    if name == "icdar2015":
        found = write_icdar2015(dt, gt, folder / "dt", "res", list(map(str, dt.scores)))
        return Sample(write_icdar2015(gt, gt, folder / "gt", "gt", ["a, b", "word", "###"]), found, gt)
    if known.write is None:
        return Sample(_plain_sample(name, folder / "gt"), None, gt)
    path = folder / f"gt{known.suffix}"
    datasets.write(gt, path, name)
    detections = None if known.write_detections is None else folder / f"dt{known.detections_suffix}"
    if detections is not None:
        datasets.write(dt, detections, name, ground_truth=gt)
    return Sample(path, detections, gt)


def _answers(path: Path, dt: Detections) -> Path:
    """The corners of the boxes as an answer each, as Qwen3-VL writes them."""
    lines = []
    for image, (x, y, width, height) in zip(dt.image_labels().tolist(), dt.boxes.tolist(), strict=True):
        answer = json.dumps([{"bbox_2d": [x, y, x + width, y + height], "label": "cat"}])
        lines.append(json.dumps({"image": image, "answer": answer}))
    path.write_text("\n".join(lines))
    return path


def _masks_of_sequence(folder: Path) -> Path:
    """A text file of MOTS with two objects in two frames, and a region."""
    masks = np.zeros((3, 12, 16), np.bool_)
    masks[0, 2:5, 3:9] = masks[1, 6:8, 2:12] = masks[2, 9:, 10:] = True
    spelled = [one["counts"] for one in Masks.from_arrays(masks).to_rle()]
    rows = [(frame, track, at) for frame in (0, 1) for at, track in enumerate((1001, 2002))] + [(1, 2003, 2)]
    folder.mkdir()
    text = "".join(f"{frame} {track} {track // 1000} 12 16 {spelled[at]}\n" for frame, track, at in rows)
    (folder / "0002.txt").write_text(text)
    return folder


def _masks_of_frames(folder: Path) -> Path:
    """Two frames of DAVIS with two objects, and void pixels."""
    return write_davis(folder, {"bear": [np.array([[0, 1, 1], [2, 2, 0]]), np.array([[0, 0, 1], [2, 255, 0]])]})


def _plain_sample(name: str, place: Path) -> Path:
    if name == "coco-panoptic":
        place.mkdir()
        ids = np.array([[1, 1, 2], [1, 2, 2]])
        segments = [{"id": 1, "category_id": 7, "area": 3, "iscrowd": 0, "bbox": [0, 0, 2, 2]}]
        segments.append({"id": 2, "category_id": 8, "area": 3, "iscrowd": 0, "bbox": [1, 0, 2, 2]})
        categories = [{"id": 7, "name": "cat", "isthing": 1}, {"id": 8, "name": "sky", "isthing": 0}]
        return write_panoptic(place / "panoptic.json", {1: (ids, segments)}, categories)
    if name == "youtube-vis":
        mask = {"size": [4, 6], "counts": [4, 8, 12]}
        videos = [{"id": 1, "width": 6, "height": 4, "file_names": ["walk/a.jpg", "walk/b.jpg"]}]
        track = {"id": 3, "video_id": 1, "category_id": 7, "segmentations": [mask, None], "areas": [8, None]}
        categories = [{"id": 7, "name": "cat"}]
        place = place.with_suffix(".json")
        place.write_text(json.dumps({"videos": videos, "annotations": [track], "categories": categories}))
        return place
    if name == "burst":
        walk = {
            "dataset": "set",
            "seq_name": "walk",
            "width": 6,
            "height": 4,
            "annotated_image_paths": ["a.jpg", "b.jpg"],
        }
        lists: dict[str, list[int]] = {"neg_category_ids": [], "not_exhaustive_category_ids": []}
        masks = {"track_category_ids": {"3": 7}, "segmentations": [{"3": {"rle": "48<"}}, {}]}
        place = place.with_suffix(".json")
        categories = [{"id": 7, "name": "cat"}]
        place.write_text(json.dumps({"sequences": [{**walk, **lists, **masks}], "categories": categories}))
        return place
    shutil.copytree(DATA / PLAIN[name], place)
    return place
