"""Writes seeded synthetic data sets shaped like COCO val2017, for the benchmarks.

    python benchmarks/make_coco.py bench-data small large
    python benchmarks/make_coco.py bench-data x10 --seed 7
    python benchmarks/make_coco.py bench-data x100 --parquet --shuffle

    gt.json, dt_small.json    5,000 images, 36k annotations with polygons; 36k boxes, rounded so that scores tie
    gt.json, dt_large.json    the same, 100 boxes an image = 500k in full float32 digits, as detectors dump them
    gt.json, dt_segm.json     the same, 36k masks as compressed RLE (needs pycocotools)
    gt_keypoints.json, dt_keypoints.json
                              the objects of the commonest class with 17 keypoints, 20 detections of it an image
    gt_x10.json, dt_x10.json  50,000 images, 360k annotations, 5M boxes
    gt_xN_parquet.json, dt_xN.parquet/, dt_xN_shuffled.parquet/
                              N times 5,000 images, 36k annotations (without polygons) and 500k boxes, as a folder of
                              files of 1M boxes: sorted by image, or --shuffle over all files (needs pyarrow). They are
                              made 10,000 images at a time, so memory does not grow with N

The model of the data, whose figures are those of val2017 where it has them:
    images      its six commonest sizes; 1 + negative binomial annotations an image, 7.3 on average; 1 % have none
    classes     80 with COCO's gapped ids, Zipf-distributed; an image draws 1 to 6 and its annotations take one of
                those, so that the groups of one image and class are as small as COCO's
    boxes       log-normal side (41 % small, 34 % medium, 24 % large) and aspect; 1 % are crowds with a wide box
    detections  86 % of the annotations are found, some several times; centre and size are off by a half-normal share
                of the side and the score falls with it; 7 % change class; false positives of low score fill up
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from coco_model import CATEGORY_IDS, CLASS_SHARES, Detections, World, detect, make_world
from parquet_data import write_parquet

if TYPE_CHECKING:
    from coco_model import Array

KINDS = ("small", "large", "segm", "keypoints", "x10")


def filled_box_rle(width: int, height: int, box: Array) -> dict[str, Any]:
    """Uncompressed column-major RLE of a filled box, the form in which COCO writes crowds."""
    x1, y1, x2, y2 = int(box[0]), int(box[1]), int(box[0] + box[2]), int(box[1] + box[3])
    x2, y2 = min(max(x2, x1 + 1), width), min(max(y2, y1 + 1), height)
    rows = y2 - y1
    counts = [x1 * height + y1, *[rows, height - rows] * (x2 - x1 - 1), rows]
    return {"counts": [*counts, height * width - sum(counts)], "size": [height, width]}


def write_ground_truth(path: Path, world: World) -> None:
    """One record at a time: the whole as dictionaries would take gigabytes."""
    with path.open("wb") as file:
        file.write(b'{"info":{"description":"synthetic val2017-like"},"licenses":[],"images":')
        images = [
            {
                "license": 1,
                "file_name": f"{i:012d}.jpg",
                "height": h,
                "width": w,
                "date_captured": "2013-11-14 17:02:52",
                "id": i,
                "coco_url": f"http://images.cocodataset.org/val2017/{i:012d}.jpg",
            }
            for i, (w, h) in zip(world.image_ids.tolist(), world.image_sizes.tolist(), strict=True)
        ]
        file.write(orjson.dumps(images))
        file.write(b',"annotations":[')
        for position, i in enumerate(world.file_order.tolist()):
            segmentation: Any = [world.polygons[i]]
            area = float(round(world.areas[i], 4))
            if world.crowd[i]:
                w, h = world.image_sizes[world.image[i]].tolist()
                segmentation = filled_box_rle(w, h, world.tight[i])
                area = float(sum(segmentation["counts"][1::2]))
            record = {
                "segmentation": segmentation,
                "area": area,
                "iscrowd": int(world.crowd[i]),
                "image_id": int(world.image_ids[world.image[i]]),
                "bbox": np.round(world.tight[i], 2),
                "category_id": int(CATEGORY_IDS[world.category[i]]),
                "id": int(world.ids[i]),
            }
            file.write(b"," * (position > 0) + orjson.dumps(record, option=orjson.OPT_SERIALIZE_NUMPY))
        file.write(b'],"categories":')
        file.write(
            orjson.dumps([{"supercategory": "thing", "id": i, "name": f"class{i}"} for i in CATEGORY_IDS.tolist()])
        )
        file.write(b"}")


def write_detections(path: Path, world: World, found: Detections, *, decimals: tuple[int, int] | None) -> None:
    """`decimals` of boxes and scores; None writes all digits of a float32."""
    if decimals is None:
        boxes, scores = (a.astype(np.float32).astype(float) for a in (found.boxes, found.scores))
    else:
        boxes, scores = np.round(found.boxes, decimals[0]), np.round(found.scores, decimals[1])
    columns = world.image_ids[found.image], CATEGORY_IDS[found.category], boxes, scores
    with path.open("wb") as file:
        file.write(b"[")
        for start in range(0, len(scores), 100_000):
            rows = zip(*(column[start : start + 100_000].tolist() for column in columns), strict=True)
            records = [{"image_id": i, "category_id": c, "bbox": b, "score": s} for i, c, b, s in rows]
            file.write(b"," * (start > 0) + orjson.dumps(records)[1:-1])
        file.write(b"]")


def write_masks(path: Path, world: World, seed: int) -> None:
    """Polygons of the truth, stretched and shifted, as compressed RLE; a fifth are false positives."""
    from pycocotools import mask  # noqa: PLC0415  # for these files alone

    rng = np.random.default_rng(seed)
    n = len(world.boxes)
    records: list[dict[str, Any]] = []

    def add(image: int, category: int, polygon: Array, score: float) -> None:
        w, h = world.image_sizes[image].tolist()
        rle = mask.frPyObjects([polygon.ravel().tolist()], h, w)[0]
        records.append(
            {
                "image_id": int(world.image_ids[image]),
                "category_id": int(CATEGORY_IDS[category]),
                "segmentation": {"size": [h, w], "counts": rle["counts"].decode()},
                "score": float(np.float32(score)),
            }
        )

    for i in range(n):
        if world.crowd[i] or rng.random() > 0.8:
            continue
        off = abs(rng.normal(0, 0.07))
        side = np.sqrt(world.boxes[i, 2] * world.boxes[i, 3])
        polygon = world.polygons[i].reshape(-1, 2)
        centre = polygon.mean(0)
        polygon = (polygon - centre) * np.exp(rng.normal(0, off, 2)) + centre + rng.normal(0, off, 2) * side
        polygon = np.clip(polygon + rng.normal(0, 0.01, polygon.shape) * side, 0, world.image_sizes[world.image[i]])
        add(world.image[i], world.category[i], polygon, 1 / (1 + np.exp(-(rng.normal(1.6, 1.3) - 9 * off))))
    for _ in range(int(0.2 * n)):
        image = int(rng.integers(0, len(world.image_ids)))
        w, h = world.image_sizes[image].tolist()
        side = float(np.exp(rng.normal(np.log(42), 1.0)))
        box = np.array([min(side, w - 2), min(side, h - 2)])
        corner = rng.random(2) * (np.array([w, h]) - box)
        angle = np.linspace(0, 2 * np.pi, 20, endpoint=False)
        circle = 0.5 + 0.5 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        category = int(rng.choice(80, p=CLASS_SHARES))
        add(image, category, corner + box * circle, rng.random() * 0.4)
    order = np.argsort([record["image_id"] for record in records], kind="stable")
    path.write_bytes(orjson.dumps([records[i] for i in order]))


def write_keypoints(truth: Path, results: Path, world: World, seed: int) -> None:
    """Keypoints anywhere in the boxes of the truth, shifted in the detections; an eighth of the objects has none."""
    rng = np.random.default_rng(seed)
    chosen = np.flatnonzero((world.category == 0) & ~world.crowd)
    place, side = world.boxes[chosen, None, :2], world.boxes[chosen, None, 2:]
    points = np.round(place + rng.random((len(chosen), 17, 2)) * side)
    labelled = (rng.random((len(chosen), 17)) < 0.6) & (rng.random((len(chosen), 1)) < 7 / 8)
    images = [
        {"id": i, "width": w, "height": h, "file_name": f"{i:012d}.jpg"}
        for i, (w, h) in zip(world.image_ids.tolist(), world.image_sizes.tolist(), strict=True)
    ]
    annotations = [
        {
            "id": int(world.ids[row]),
            "image_id": int(world.image_ids[world.image[row]]),
            "category_id": 1,
            "iscrowd": 0,
            "area": float(round(world.areas[row], 4)),
            "bbox": np.round(world.tight[row], 2),
            "num_keypoints": int(seen.sum()),
            "keypoints": np.column_stack([np.where(seen[:, None], where, 0), 2 * seen]).astype(int).ravel(),
        }
        for row, where, seen in zip(chosen.tolist(), points, labelled, strict=True)
    ]
    data = {"images": images, "categories": [{"id": 1, "name": "person"}], "annotations": annotations}
    truth.write_bytes(orjson.dumps(data, option=orjson.OPT_SERIALIZE_NUMPY))
    of_image = np.split(np.arange(len(chosen)), np.searchsorted(world.image[chosen], np.arange(1, len(images))))
    found = []
    for image, rows in zip(images, of_image, strict=True):
        for source in rng.choice(rows, 20).tolist() if len(rows) else []:
            off = abs(rng.normal(0, 0.1))
            where = points[source] + rng.normal(0, off, (17, 2)) * np.sqrt(side[source].prod())
            record = {"image_id": image["id"], "category_id": 1, "score": float(np.float32(1 / (1 + 20 * off)))}
            found.append({**record, "keypoints": np.column_stack([np.round(where, 2), np.ones(17)]).ravel()})
    results.write_bytes(orjson.dumps(found, option=orjson.OPT_SERIALIZE_NUMPY))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("what", nargs="+", help="small, large, segm, keypoints, x10; with --parquet: x1, x2, ...")
    parser.add_argument("--seed", type=int, default=20170901)
    parser.add_argument("--parquet", action="store_true", help="detections as a folder of Parquet files")
    parser.add_argument("--shuffle", action="store_true", help="with --parquet: rows in random order over all files")
    options = parser.parse_args()
    folder, what, seed = options.folder, set(options.what), options.seed
    known = {name for name in what if re.fullmatch(r"x[1-9]\d*", name)} if options.parquet else set(KINDS)
    if unknown := what - known:
        parser.error(f"unknown data sets: {', '.join(sorted(unknown))}")
    if options.shuffle and not options.parquet:
        parser.error("--shuffle needs --parquet")
    folder.mkdir(parents=True, exist_ok=True)
    if options.parquet:
        for name in sorted(what):
            write_parquet(folder, int(name[1:]), seed, shuffle=options.shuffle)
        return
    if what - {"x10"}:
        world = make_world(5_000, seed)
        write_ground_truth(folder / "gt.json", world)
        if "small" in what:
            found = detect(world, seed + 2, per_image=None)
            write_detections(folder / "dt_small.json", world, found, decimals=(3, 5))
        if "large" in what:
            write_detections(folder / "dt_large.json", world, detect(world, seed + 3, per_image=100), decimals=None)
        if "segm" in what:
            write_masks(folder / "dt_segm.json", world, seed + 4)
        if "keypoints" in what:
            write_keypoints(folder / "gt_keypoints.json", folder / "dt_keypoints.json", world, seed + 5)
    if "x10" in what:
        world = make_world(50_000, seed + 10)
        write_ground_truth(folder / "gt_x10.json", world)
        write_detections(folder / "dt_x10.json", world, detect(world, seed + 12, per_image=100), decimals=None)


if __name__ == "__main__":
    main()
