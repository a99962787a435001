"""Dense overlaps against other libraries, in one run on one machine.

    pip install 'ioukit[bench]' && python benchmarks/bench_overlap.py

Prints a Markdown table: medians of interleaved calls, and how many times faster than the best peer. A peer that is not
installed is left out. Boxes are uniform in an image of 1000 x 1000 pixels with sides up to 100 (COCO's are about so).
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from _machine import described

import ioukit
from ioukit import _core

Call = Callable[[], Any]


def boxes(count: int, dtype: Any, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 900, (count, 2))
    return np.concatenate([low, low + rng.uniform(1, 100, (count, 2))], axis=1).astype(dtype)


def peers(variant: str, a: Any, b: Any) -> dict[str, Call]:
    """What each installed library offers for the variant, on arrays of its own kind and format."""
    calls: dict[str, Call] = {}
    try:
        import powerboxes  # noqa: PLC0415

        calls["powerboxes"] = lambda: getattr(powerboxes, f"{variant}_distance")(a, b)
        parallel = getattr(powerboxes, f"parallel_{variant}_distance", None)
        if parallel is not None:
            calls["powerboxes parallel"] = lambda: parallel(a, b)
    except ImportError:
        pass
    if variant == "iou":
        try:
            from hotcoco import primitives  # noqa: PLC0415

            sizes = [np.concatenate([x[:, :2], x[:, 2:] - x[:, :2]], axis=1) for x in (a, b)]
            crowd = np.zeros(len(b), np.bool_)
            calls["hotcoco"] = lambda: primitives.bbox_iou(sizes[0], sizes[1], crowd)
        except ImportError:
            pass
        if len(a) <= 1000:  # beyond, its temporary arrays do not fit
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    from supervision.detection.utils.iou_and_nms import box_iou_batch  # noqa: PLC0415

                calls["supervision"] = lambda: box_iou_batch(a, b)
            except ImportError:
                pass
    try:
        import torch  # noqa: PLC0415
        from torchvision import ops  # noqa: PLC0415

        names = {
            "iou": "box_iou",
            "giou": "generalized_box_iou",
            "diou": "distance_box_iou",
            "ciou": "complete_box_iou",
        }
        tensors = torch.from_numpy(a), torch.from_numpy(b)
        if len(a) <= 1000:
            calls["torchvision"] = lambda: getattr(ops, names[variant])(*tensors)
    except ImportError:
        pass
    return calls


def medians(calls: dict[str, Call], seconds: float) -> dict[str, float]:
    """Median time of each call, in seconds; bursts of five take turns, so that a slow phase of the machine hits all.

    In a burst the calls follow each other as in a loop, where a library finds its last result's memory again.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    inner = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        inner[name] = max(1, int(100e-6 / (time.perf_counter() - start)))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, call in calls.items():
            for _ in range(5):
                start = time.perf_counter()
                for _ in range(inner[name]):
                    call()
                times[name].append((time.perf_counter() - start) / inner[name])
    return {name: statistics.median(values) for name, values in times.items()}


def compare(title: str, variant: str, size: int, dtype: Any, seconds: float) -> None:
    a, b = boxes(size, dtype, 1), boxes(size, dtype, 2)
    out = np.zeros((size, size), dtype)
    function = getattr(ioukit, f"pairwise_{variant}")
    ours: dict[str, Call] = {"new": lambda: function(a, b), "out=": lambda: function(a, b, out=out)}
    others = peers(variant, a, b)
    times = medians({**ours, "memset": lambda: out.fill(0.5), **others}, seconds)
    best = min(others, key=times.__getitem__, default=None)
    cells = [time_text(times["new"]), time_text(times["out="])]
    if best is None:
        cells += ["-", "-", "-"]
    else:
        ratios = [f"{times[best] / times[name]:.1f} x" for name in ours]
        cells += [f"{best} {time_text(times[best])}", *ratios]
    cells.append(f"{times['out='] / times['memset']:.2f}")
    print(f"| {title} | {' | '.join(cells)} |", flush=True)


def time_text(seconds: float) -> str:
    for unit, factor in (("us", 1e6), ("ms", 1e3)):
        if seconds * factor < 1000:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds:.3g} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="about how long a row may take (default: 3)")
    parser.add_argument("--quick", action="store_true", help="leave out 10,000 x 10,000, which needs 2 GB")
    options = parser.parse_args()

    packages = ("ioukit", "numpy", "powerboxes", "hotcoco", "supervision", "torchvision")
    print(f"{described(*packages)}; {_core.simd_levels()[-1]}\n")
    print("| work | new | `out=` | best peer | new, faster by | `out=`, faster by | `out=` / memset |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for size in (100, 1000):
        for dtype in (np.float32, np.float64):
            compare(f"IoU {size:,} x {size:,} {dtype.__name__}", "iou", size, dtype, options.seconds)
    for variant, name in (("giou", "GIoU"), ("diou", "DIoU"), ("ciou", "CIoU")):
        compare(f"{name} 1,000 x 1,000 float32", variant, 1000, np.float32, options.seconds)
    if not options.quick:
        compare("IoU 10,000 x 10,000 float32", "iou", 10_000, np.float32, options.seconds)


if __name__ == "__main__":
    main()
