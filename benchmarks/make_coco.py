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
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import orjson

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

KINDS = ("small", "large", "segm", "keypoints", "x10")
CATEGORY_IDS = np.array([i for i in range(1, 91) if i not in {12, 26, 29, 30, 45, 66, 68, 69, 71, 83}])
IMAGE_SIZES = np.array([(640, 480), (640, 427), (480, 640), (427, 640), (500, 375), (612, 612)])
IMAGE_SIZE_SHARES = [0.35, 0.25, 0.15, 0.1, 0.1, 0.05]
CLASSES_PER_IMAGE_SHARES = [0.28, 0.26, 0.2, 0.14, 0.08, 0.04]
CLASS_SHARES = (1 / np.arange(1, 81)) / (1 / np.arange(1, 81)).sum()


@dataclass(frozen=True)
class World:
    """The truth: one row an image, and one row an annotation in the order of the images."""

    image_ids: Array  # (I,)
    image_sizes: Array  # (I, 2) width, height
    image: Array  # (N,) row of the image
    category: Array  # (N,) row of the category
    crowd: Array  # (N,)
    boxes: Array  # (N, 4) xywh; the polygons lie within
    polygons: list[Array]  # (2 P,) x and y in turn
    areas: Array  # (N,)
    tight: Array  # (N, 4) xywh around the polygons, as the file has them
    ids: Array  # (N,)
    file_order: Array  # (N,) rows in the order of the file: COCO's annotations come in no order of images


@dataclass(frozen=True)
class Detections:
    """One row a detection."""

    image: Array
    category: Array
    boxes: Array  # (N, 4) xywh
    scores: Array


def make_world(images: int, seed: int) -> World:
    rng = np.random.default_rng(seed)
    sizes = IMAGE_SIZES[rng.choice(len(IMAGE_SIZES), images, p=IMAGE_SIZE_SHARES)]
    image_ids = np.sort(rng.choice(580_000 * max(1, images // 5000), images, replace=False) + 1)
    counts = 1 + rng.negative_binomial(1.15, 1.15 / (1.15 + 6.3), images)
    counts[rng.random(images) < 0.01] = 0
    image, n = np.repeat(np.arange(images), counts), int(counts.sum())

    pool = rng.choice(80, (images, 6), p=CLASS_SHARES)
    classes = rng.choice(6, images, p=CLASSES_PER_IMAGE_SHARES) + 1
    category = pool[image, (rng.random(n) * classes[image]).astype(np.int64)]

    width, height = sizes[image].T.astype(float)
    side, aspect = np.exp(rng.normal(np.log(46.0), 1.02, n)), np.exp(rng.normal(0, 0.45, n))
    w = np.clip(side * np.sqrt(aspect), 3, width * 0.98)
    h = np.clip(side / np.sqrt(aspect), 3, height * 0.98)
    crowd = rng.random(n) < 0.01
    w = np.where(crowd, np.clip(width * rng.uniform(0.2, 0.9, n), 16, width * 0.98), w)
    h = np.where(crowd, np.clip(height * rng.uniform(0.1, 0.4, n), 16, height * 0.98), h)
    boxes = np.stack([rng.random(n) * (width - w), rng.random(n) * (height - h), w, h], axis=1)

    rng = np.random.default_rng(seed + 1)
    polygons, areas, tight = draw_polygons(boxes, rng)
    tight = np.where(crowd[:, None], np.floor(boxes), np.round(tight, 2))
    order, ids = rng.permutation(n), rng.permutation(n) + 1
    return World(image_ids, sizes, image, category, crowd, boxes, polygons, areas, tight, ids, order)


def draw_polygons(boxes: Array, rng: np.random.Generator) -> tuple[list[Array], Array, Array]:
    """A star of 12 to 40 points with 2 decimals within each box, its area and the box around it."""
    n = len(boxes)
    points = rng.integers(12, 41, n)
    ends = np.concatenate([[0], np.cumsum(points)])
    starts = ends[:-1]
    owner = np.repeat(np.arange(n), points)
    rank = np.arange(ends[-1]) - ends[owner]
    angle = 2 * np.pi * rank / points[owner] + rng.normal(0, 0.02, ends[-1])
    radius = rng.uniform(0.75, 1.0, ends[-1])
    x = np.round(boxes[owner, 0] + boxes[owner, 2] * (0.5 + 0.5 * radius * np.cos(angle)), 2)
    y = np.round(boxes[owner, 1] + boxes[owner, 3] * (0.5 + 0.5 * radius * np.sin(angle)), 2)
    left, right = np.minimum.reduceat(x, starts), np.maximum.reduceat(x, starts)
    top, bottom = np.minimum.reduceat(y, starts), np.maximum.reduceat(y, starts)
    following = np.where(rank == points[owner] - 1, ends[owner], np.arange(ends[-1]) + 1)
    areas = np.abs(np.add.reduceat(x * y[following] - x[following] * y, starts)) / 2
    flat = np.stack([x, y], axis=1)
    polygons = [flat[a:b].ravel() for a, b in itertools.pairwise(ends)]
    return polygons, areas, np.stack([left, top, right - left, bottom - top], axis=1)


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


def detect(world: World, seed: int, *, per_image: int | None) -> Detections:
    """Detections sorted by image and score; `per_image` of them in each image, or about one an annotation."""
    rng = np.random.default_rng(seed)
    images, n = len(world.image_ids), len(world.boxes)
    parts = []
    for again in range(1 if per_image is None else 4):
        share = 0.5 if again else 0.72 if per_image is None else 0.86
        hit = np.flatnonzero(rng.random(n) < share)
        off = np.abs(rng.normal(0, 0.2 if again else 0.09, len(hit)))
        truth = world.boxes[hit]
        shift = rng.normal(0, 1, (len(hit), 4)) * off[:, None]
        boxes = np.empty_like(truth)
        boxes[:, 2:] = truth[:, 2:] * np.exp(shift[:, 2:])
        side = np.sqrt(truth[:, 2] * truth[:, 3])
        boxes[:, :2] = truth[:, :2] + truth[:, 2:] / 2 + shift[:, :2] * side[:, None] - boxes[:, 2:] / 2
        scores = 1 / (1 + np.exp(-(rng.normal(-2.2 if again else 1.6, 1.3, len(hit)) - 9 * off)))
        category = world.category[hit].copy()
        wrong = rng.random(len(hit)) < 0.07
        category[wrong] = rng.choice(80, int(wrong.sum()), p=CLASS_SHARES)
        parts.append(Detections(world.image[hit], category, boxes, scores))
    parts.append(false_positives(world, parts, rng, per_image=per_image))

    image, category = (np.concatenate([getattr(p, name) for p in parts]) for name in ("image", "category"))
    boxes, scores = (np.concatenate([getattr(p, name) for p in parts]) for name in ("boxes", "scores"))
    width, height = world.image_sizes[image].T.astype(float)
    left, top = np.clip(boxes[:, 0], 0, width - 2), np.clip(boxes[:, 1], 0, height - 2)
    right = np.clip(boxes[:, 0] + boxes[:, 2], left + 1, width)
    bottom = np.clip(boxes[:, 1] + boxes[:, 3], top + 1, height)
    boxes = np.stack([left, top, right - left, bottom - top], axis=1)

    order = np.lexsort((-scores, image))
    if per_image is not None:
        rank = np.arange(len(order)) - np.searchsorted(image[order], np.arange(images))[image[order]]
        order = order[rank < per_image]
    return Detections(image[order], category[order], boxes[order], scores[order])


def false_positives(
    world: World, found: list[Detections], rng: np.random.Generator, *, per_image: int | None
) -> Detections:
    """Boxes of low score that fill each image up to `per_image`, or a third as many as there are annotations."""
    images = len(world.image_ids)
    if per_image is None:
        image = rng.integers(0, images, int(0.35 * len(world.boxes)))
    else:
        have = np.bincount(np.concatenate([part.image for part in found]), minlength=images)
        image = np.repeat(np.arange(images), np.maximum(per_image - have, 0))
    n = len(image)
    width, height = world.image_sizes[image].T.astype(float)
    side, aspect = np.exp(rng.normal(np.log(42.0), 1.0, n)), np.exp(rng.normal(0, 0.45, n))
    w, h = np.clip(side * np.sqrt(aspect), 2, width), np.clip(side / np.sqrt(aspect), 2, height)
    boxes = np.stack([rng.random(n) * (width - w), rng.random(n) * (height - h), w, h], axis=1)
    scores = 1 / (1 + np.exp(-rng.normal(-3.2, 1.1, n)))
    pool = rng.choice(80, (images, 12), p=CLASS_SHARES)
    return Detections(image, pool[image, rng.integers(0, 12, n)], boxes, scores)


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


def write_parquet(folder: Path, times: int, seed: int, *, shuffle: bool) -> None:
    """The ground truth as one file, the detections as a folder of files, in memory that does not grow with `times`."""
    import pyarrow as pa  # noqa: PLC0415  # for these files alone
    import pyarrow.parquet as pq  # noqa: PLC0415

    blocks = [min(10_000, 5_000 * times - start) for start in range(0, 5_000 * times, 10_000)]
    place = folder / f"dt_x{times}{'_shuffled' if shuffle else ''}.parquet"
    place.mkdir(exist_ok=True)
    paths = [place / f"part-{block:05d}.parquet" for block in range(len(blocks))]
    rng = np.random.default_rng(seed + 20)
    writers: list[Any] = []
    listed: list[tuple[Array, Array]] = []  # ids and sizes of images
    first_image, first_annotation = 0, 0
    with (folder / f"gt_x{times}_parquet.json").open("wb") as truth:
        truth.write(b'{"annotations":[')
        for block, images in enumerate(blocks):
            world = make_world(images, seed + 30 + 10 * block)
            ids = world.image_ids + first_image
            write_boxes(truth, world, ids, first_annotation, comma=block > 0)
            found = detect(world, seed + 35 + 10 * block, per_image=100)
            columns = {"image_id": ids[found.image], "category_id": CATEGORY_IDS[found.category]}
            columns |= dict(zip(("x", "y", "width", "height"), found.boxes.T.astype(np.float32), strict=True))
            table = pa.table({**columns, "score": found.scores.astype(np.float32)})
            if shuffle:
                writers = writers or [pq.ParquetWriter(path, table.schema) for path in paths]
                target = rng.integers(0, len(paths), len(table))
                order = np.argsort(target, kind="stable")
                ends = np.searchsorted(target[order], np.arange(len(paths)), side="right")
                for writer, rows in zip(writers, np.split(order, ends[:-1]), strict=True):
                    writer.write_table(table.take(rows))
            else:
                pq.write_table(table, paths[block])
            listed.append((ids, world.image_sizes))
            first_image += 580_000 * max(1, images // 5_000)
            first_annotation += len(world.boxes)
        write_lists(truth, listed)
    for writer in writers:
        writer.close()
    for path in paths if shuffle else ():
        table = pq.read_table(path)
        pq.write_table(table.take(rng.permutation(len(table))), path)


def write_boxes(file: BinaryIO, world: World, image_ids: Array, first_id: int, *, comma: bool) -> None:
    """The annotations of one block, without polygons."""
    order = world.file_order
    columns = {
        "area": np.round(world.areas, 4),
        "iscrowd": world.crowd.astype(np.int64),
        "image_id": image_ids[world.image],
        "bbox": np.round(world.tight, 2),
        "category_id": CATEGORY_IDS[world.category],
        "id": world.ids + first_id,
    }
    rows = zip(*(column[order].tolist() for column in columns.values()), strict=True)
    file.write(b"," * comma + orjson.dumps([dict(zip(columns, row, strict=True)) for row in rows])[1:-1])


def write_lists(file: BinaryIO, listed: list[tuple[Array, Array]]) -> None:
    """The categories and images behind the annotations, and the end of the file."""
    categories = [{"supercategory": "thing", "id": i, "name": f"class{i}"} for i in CATEGORY_IDS.tolist()]
    file.write(b'],"categories":' + orjson.dumps(categories) + b',"images":[')
    for position, (ids, sizes) in enumerate(listed):
        rows = zip(ids.tolist(), sizes.tolist(), strict=True)
        images = [{"file_name": f"{i:012d}.jpg", "height": h, "width": w, "id": i} for i, (w, h) in rows]
        file.write(b"," * (position > 0) + orjson.dumps(images)[1:-1])
    file.write(b"]}")


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
