"""Masks beside pycocotools: every function, both in one process, in turns; medians.

    pip install 'ioukit[bench]' && python benchmarks/bench_masks.py

The masks are objects of 480 x 640 images (unions of ellipses, a tenth of the image on average) and larger ones. The
same records go in and come out on both sides (`ioukit.compat.pycocotools.mask`), and the results are compared before
anything is timed; below each stands `Masks`, which holds runs and reads no records. Drawing polygons takes those of
--coco, a COCO file, if it is given, else made ones of 20 points.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pycocotools.mask as theirs
from _machine import described

import ioukit
from ioukit import Masks
from ioukit.compat.pycocotools import mask as ours

if TYPE_CHECKING:
    from collections.abc import Callable

    Work = Callable[[], Any]


def objects(rng: np.random.Generator, count: int, height: int, width: int) -> Any:
    """(H, W, N) in Fortran order."""
    masks = np.zeros((count, width, height), np.uint8)
    for mask in masks:
        cy, cx = rng.uniform(0.1, 0.9, 2) * (height, width)
        size = rng.uniform(0.05, 0.35)
        for _ in range(3):
            y0, x0 = (cy, cx) + rng.normal(0, size / 3, 2) * height
            ry, rx = rng.uniform(0.3, 1, 2) * size * height
            ys = slice(max(0, int(y0 - ry)), max(0, int(y0 + ry) + 1))
            xs = slice(max(0, int(x0 - rx)), max(0, int(x0 + rx) + 1))
            x, y = np.mgrid[:width, :height][:, xs, ys]
            mask[xs, ys] |= ((y - y0) / ry) ** 2 + ((x - x0) / rx) ** 2 <= 1
    return masks.transpose(2, 1, 0)


def in_turns(works: list[Work], runs: int) -> list[float]:
    """Medians in seconds."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(runs):
        for work, seconds in zip(works, times, strict=True):
            start = time.perf_counter()
            work()
            seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds) for seconds in times]


def same(mine: Any, its: Any) -> bool:
    return bool(np.array_equal(mine, its)) if isinstance(its, np.ndarray) else bool(mine == its)


def compare(name: str, peer: Work, compat: Work, own: Work | None, runs: int) -> dict[str, Any]:
    if not same(compat(), peer()):
        raise AssertionError(f"{name}: the results differ")
    works = [peer, compat] + ([own] if own else [])
    seconds = in_turns(works, runs)
    row = {"work": name, "pycocotools_ms": seconds[0] * 1e3, "compat_ms": seconds[1] * 1e3}
    if own:
        row["masks_ms"] = seconds[2] * 1e3
    cells = [f"{seconds[0] * 1e3:.3g} ms"]
    cells += [f"{took * 1e3:.3g} ms | {seconds[0] / took:.1f} x" for took in seconds[1:]]
    print(f"| {name} | " + " | ".join(cells + ["| "] * (own is None)) + " |", flush=True)
    return row


def pixels_and_records(count: int, height: int, width: int, runs: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    pixels = objects(rng, count, height, width)
    arrays = np.ascontiguousarray(pixels.transpose(2, 0, 1))
    records = theirs.encode(pixels)
    masks = Masks.from_rle(records)
    what = f"{count:,} masks of {height} x {width}"
    return [
        compare(
            f"encode, {what}", lambda: theirs.encode(pixels), lambda: ours.encode(pixels),
            lambda: Masks.from_arrays(arrays), runs,
        ),
        compare(
            f"decode, {what}", lambda: _decode(records), lambda: ours.decode(records), masks.to_arrays, runs
        ),
        compare(f"area, {what}", lambda: theirs.area(records), lambda: ours.area(records), lambda: masks.area, runs),
        compare(f"toBbox, {what}", lambda: theirs.toBbox(records), lambda: ours.toBbox(records), masks.to_boxes, runs),
        compare(f"merge, {what}", lambda: theirs.merge(records), lambda: ours.merge(records), masks.merge, runs),
        compare(
            f"intersection, {what}", lambda: theirs.merge(records, 1), lambda: ours.merge(records, 1),
            lambda: masks.merge(intersect=True), runs,
        ),
        compare(
            f"merge, 2 masks of {height} x {width}", lambda: theirs.merge(records[:2]), lambda: ours.merge(records[:2]),
            masks[:2].merge, 20 * runs,
        ),
    ]  # fmt: skip


def _decode(records: Any) -> Any:
    import warnings  # noqa: PLC0415

    with warnings.catch_warnings():  # NumPy 2 on pycocotools' __array__
        warnings.simplefilter("ignore")
        return theirs.decode(records)


def overlaps(count: int, height: int, width: int, runs: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    first, second = (theirs.encode(objects(rng, count, height, width)) for _ in range(2))
    crowd = (rng.random(count) < 0.1).tolist()
    masks1, masks2 = Masks.from_rle(first), Masks.from_rle(second)
    name = f"iou, {count:,} x {count:,} masks of {height} x {width}"
    row = compare(
        name, lambda: theirs.iou(first, second, crowd), lambda: ours.iou(first, second, crowd),
        lambda: ioukit.pairwise_mask_iou(masks1, masks2, crowd=crowd), runs,
    )  # fmt: skip
    one = in_turns([lambda: ioukit.pairwise_mask_iou(masks1, masks2, crowd=crowd, threads=1)], runs)[0]
    print(f"| {name}, one thread | | | | {one * 1e3:.3g} ms | {row['pycocotools_ms'] / one / 1e3:.1f} x |")
    return [row]


def drawing(path: str | None, runs: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(2)
    if path:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        rings = [r for a in data["annotations"] if isinstance(a["segmentation"], list) for r in a["segmentation"]]
        rings = [ring for ring in rings if len(ring) >= 6]
    else:
        angle = np.sort(rng.uniform(0, 2 * np.pi, (2000, 20)), axis=1)
        around = rng.uniform(20, 120, (2000, 1, 1)) * np.stack([np.cos(angle), np.sin(angle)], axis=2)
        rings = (around + rng.uniform(0, 1, (2000, 1, 2)) * (640, 480)).reshape(2000, -1).round(2).tolist()
    polygons = [[ring] for ring in rings]
    boxes = np.concatenate([rng.uniform(0, 500, (1000, 2)), rng.uniform(1, 200, (1000, 2))], axis=1)
    upright = ioukit.Boxes(boxes, "xywh")
    others = rng.permutation(boxes)
    crowd = np.zeros(1000, bool)
    return [
        compare(
            f"frPyObjects, {len(rings):,} polygons in 480 x 640", lambda: theirs.frPyObjects(rings, 480, 640),
            lambda: ours.frPyObjects(rings, 480, 640), lambda: Masks.from_polygons(polygons, height=480, width=640),
            runs,
        ),
        compare(
            "frPyObjects, 1,000 boxes in 480 x 640", lambda: theirs.frPyObjects(boxes, 480, 640),
            lambda: ours.frPyObjects(boxes, 480, 640), lambda: Masks.from_boxes(upright, height=480, width=640), runs,
        ),
        compare(
            "iou, 1,000 x 1,000 boxes", lambda: theirs.iou(boxes, others, crowd),
            lambda: ours.iou(boxes, others, crowd),
            lambda: ioukit.pairwise_iou(boxes, others, format="xywh"), runs,
        ),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="calls of each function (default: 7)")
    parser.add_argument("--count", type=int, default=1000, help="masks on either side of the IoU (default: 1000)")
    parser.add_argument("--coco", help="a COCO file whose polygons are drawn")
    parser.add_argument("--json", help="write the figures here, too")
    options = parser.parse_args()

    print(f"{described('ioukit', 'pycocotools', 'numpy')}\n")
    print("| work | pycocotools | same call here | faster | `Masks` | faster |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rows = pixels_and_records(100, 480, 640, options.runs)
    rows += pixels_and_records(20, 2000, 2000, options.runs)
    rows += drawing(options.coco, options.runs)
    rows += overlaps(options.count, 480, 640, max(3, options.runs // 2))
    rows += overlaps(options.count // 10, 2000, 2000, max(3, options.runs // 2))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
