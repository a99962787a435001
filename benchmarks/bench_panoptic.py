"""Panoptic quality beside panopticapi: from two JSON files and two folders of PNG to the nine numbers.

    pip install ".[bench]" git+https://github.com/cocodataset/panopticapi.git
    python benchmarks/bench_panoptic.py bench-panoptic

The data are drawn on the first run: images of 640 x 480 pixels with about as many segments as COCO val2017 has, and
predictions near them. Each engine runs in a fresh process; both take turns. panopticapi starts a process per core;
ioukit starts a thread per core, or runs in one. All numbers must agree to 12 digits. The second table counts the pairs
of segments alone, in one image at a time, without reading files.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
from pathlib import Path

from _fresh import Run, run_program
from _machine import described

ENGINES = {
    "ioukit": """
import json, sys
from ioukit.evaluation import panoptic_quality
print(json.dumps(dict(panoptic_quality(*sys.argv[1:]).summary)))
""",
    "ioukit, one thread": """
import json, sys
from ioukit.evaluation import panoptic_quality
print(json.dumps(dict(panoptic_quality(*sys.argv[1:], threads=1).summary)))
""",
    "panopticapi": """
import contextlib, io, json, sys
from panopticapi.evaluation import pq_compute
with contextlib.redirect_stdout(io.StringIO()):
    found = pq_compute(*sys.argv[1:])
groups = (("", "All"), ("_things", "Things"), ("_stuff", "Stuff"))
print(json.dumps({f"{key.upper()}{end}": found[group][key] for end, group in groups for key in ("pq", "sq", "rq")}))
""",
}

DRAW = """
import json, sys
from pathlib import Path
import numpy as np
from PIL import Image

folder, count = Path(sys.argv[1]), int(sys.argv[2])
rng = np.random.default_rng(20181)
categories = [{"id": k, "name": f"class {k}", "isthing": int(k <= 80)} for k in range(1, 134)]

def paint(ids, number, centre, axes, angle):
    reach = 1.1 * axes.max()
    low = np.clip(centre - reach, 0, (640, 480)).astype(int)
    high = np.clip(centre + reach + 1, 0, (640, 480)).astype(int)
    y, x = np.mgrid[low[1] : high[1], low[0] : high[0]]
    along = (x - centre[0]) * np.cos(angle) + (y - centre[1]) * np.sin(angle)
    across = (y - centre[1]) * np.cos(angle) - (x - centre[0]) * np.sin(angle)
    bumps = 1 + 0.15 * np.sin(7 * np.arctan2(across, along))
    ids[y, x] = np.where((along / axes[0]) ** 2 + (across / axes[1]) ** 2 < bumps, number, ids[y, x])

def drawn(shapes, keep):
    ids = np.zeros((480, 640), np.uint32)
    for number, category, crowd, *form in shapes:
        if rng.random() < keep:
            paint(ids, number, *form)
    return ids

for side in ("gt", "dt"):
    (folder / side).mkdir(parents=True)
documents = {"gt": {"categories": categories, "images": [], "annotations": []}, "dt": {"annotations": []}}
for image in range(count):
    ids = rng.choice(2**24 - 1, 40, replace=False) + 1
    shapes = []
    for k in range(int(rng.integers(4, 20))):
        thing = k >= 4
        size = rng.uniform(8, 90, 2) if thing else rng.uniform(150, 500, 2)
        category = int(rng.integers(1, 81) if thing else rng.integers(81, 134))
        shapes.append((int(ids[k]), category, int(thing and rng.random() < 0.02),
                       rng.uniform((0, 0), (640, 480)), size, rng.uniform(0, 3)))
    for side in ("gt", "dt"):
        if side == "dt":
            shapes = [(n, c if rng.random() < 0.9 else int(rng.integers(1, 134)), 0, p + rng.normal(0, 4, 2),
                       s * rng.uniform(0.9, 1.1, 2), a) for n, c, _, p, s, a in shapes]
        pixels = drawn(shapes, 1 if side == "gt" else 0.9)
        name = f"{image:012d}.png"
        colours = np.stack([pixels >> shift & 255 for shift in (0, 8, 16)], axis=-1).astype(np.uint8)
        Image.fromarray(colours).save(folder / side / name)
        area = dict(zip(*(part.tolist() for part in np.unique(pixels, return_counts=True))))
        info = [{"id": n, "category_id": c, "iscrowd": w, "area": area[n]} for n, c, w, *_ in shapes if n in area]
        documents[side]["annotations"].append({"image_id": image, "file_name": name, "segments_info": info})
for side, document in documents.items():
    (folder / f"{side}.json").write_text(json.dumps(document))
"""

COUNT = """
import json, sys, time
from pathlib import Path
import numpy as np
from PIL import Image
from ioukit.datasets.formats.panoptic_png import SegmentMap
from ioukit.evaluation.segmentation.panoptic import pair_areas

folder = Path(sys.argv[1])
times = {"ioukit, runs": [], "np.unique of both ids": []}
for file in sorted((folder / "gt").iterdir())[:100]:
    colours = [np.asarray(Image.open(side / file.name)) for side in (folder / "gt", folder / "dt")]
    for _ in range(2):  # the second time counts
        start = time.perf_counter()
        found = pair_areas(*(SegmentMap(one, "") for one in colours))
        middle = time.perf_counter()
        ids = [one[..., 0] + 256 * one[..., 1] + 65536 * one[..., 2] for one in (c.astype(np.uint32) for c in colours)]
        pairs, areas = np.unique(ids[0].astype(np.uint64) << np.uint64(24) | ids[1], return_counts=True)
        end = time.perf_counter()
    assert found.area.tolist() == areas.tolist()
    for key, seconds in zip(times, (middle - start, end - middle)):
        times[key].append(seconds)
print(json.dumps({key: float(np.median(each)) for key, each in times.items()}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder of the data; drawn if there is none")
    parser.add_argument("--images", type=int, default=1000, help="how many to draw")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    if not options.data.exists():
        subprocess.run([sys.executable, "-c", DRAW, str(options.data), str(options.images)], check=True)
    engines = dict(ENGINES)
    if subprocess.run([sys.executable, "-c", "import panopticapi"], capture_output=True, check=False).returncode:
        del engines["panopticapi"]
    print(described("ioukit", "numpy", "pillow", "panopticapi"))
    files = [str(options.data / name) for name in ("gt.json", "dt.json")]
    images = len(json.loads(Path(files[0]).read_text(encoding="utf-8"))["annotations"])
    runs: dict[str, list[Run]] = {name: [] for name in engines}
    for _ in range(options.rounds):
        for name, program in engines.items():
            runs[name].append(run_program(program, *files))

    peer = statistics.median(run.wall for run in runs.get("panopticapi", runs["ioukit"]))
    expected = json.loads(runs["ioukit"][0].output)
    print(f"\n{images:,} images, median of {options.rounds}\n")
    print("| engine | wall | peak memory | wall / panopticapi | numbers |\n| --- | ---: | ---: | ---: | --- |")
    for name, each in runs.items():
        wall = statistics.median(run.wall for run in each)
        peak = statistics.median(run.peak for run in each) / 1e6
        found = json.loads(each[0].output)
        alike = found.keys() == expected.keys() and all(abs(found[key] - expected[key]) < 1e-12 for key in found)
        ratio = f"{wall / peer:.2f}" if "panopticapi" in runs else "-"
        print(f"| {name} | {wall:.2f} s | {peak:.0f} MB | {ratio} | {'same' if alike else 'OTHER'} |")
    counted = json.loads(run_program(COUNT, str(options.data)).output)
    print("\n| pairs of one image | time |\n| --- | ---: |")
    for name, seconds in counted.items():
        print(f"| {name} | {seconds * 1000:.2f} ms |")


if __name__ == "__main__":
    main()
