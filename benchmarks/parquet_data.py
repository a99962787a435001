"""Writes detections as folders of Parquet files, block by block: what make_coco.py --parquet does."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import orjson
from coco_model import CATEGORY_IDS, World, detect, make_world

if TYPE_CHECKING:
    from pathlib import Path

    from coco_model import Array


def write_parquet(folder: Path, times: int, seed: int, *, shuffle: bool) -> None:
    """The ground truth as one file, the detections as a folder of files, in memory that does not grow with `times`."""
    pa = importlib.import_module("pyarrow")  # for these files alone
    pq = importlib.import_module("pyarrow.parquet")

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
    columns: dict[str, Array] = {
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
