"""Memory that ends is a ``MemoryError`` of a function and one line of a command, never the end of the process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples" / "coco_val2017_100"
FILES = (str(EXAMPLES / "ground_truth.json"), str(EXAMPLES / "yolact.json"))

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the addresses of a process")

# Every function at some limits above what the process has, low to high. The result is the right one, or MemoryError.
FUNCTIONS = """
import ctypes
import resource
import numpy as np
import ioukit
from ioukit.regions import Masks, RotatedBoxes

rng = np.random.default_rng(0)
corners = rng.uniform(0, 4000, (20_000, 2))
boxes = np.concatenate([corners, corners + rng.uniform(8, 64, (20_000, 2))], axis=1)
scores = rng.uniform(0, 1, 20_000)
some = boxes[:2_000]
rows = np.concatenate([some[:, :2], rng.uniform(8, 64, (2_000, 2)), scores[:2_000, None]], axis=1)
turned = RotatedBoxes(rows, unit="radians", sense="clockwise")
data = ioukit.read_coco(*FILES)
polygons = [[[x1, y1, x2, y1, x2, y2, x1, y2]] for x1, y1, x2, y2 in some[:400] / 5]
masks = Masks.from_polygons(polygons, height=1000, width=1000)

frames = {
    "image_ids": np.repeat(np.arange(10), 2_000), "category_ids": np.ones(20_000, np.int64), "boxes": boxes,
    "attributes": {"track_id": np.tile(np.arange(2_000), 10)},
}
followed = ioukit.GroundTruth.from_arrays(**frames), ioukit.Detections.from_arrays(**frames, scores=scores)

FUNCTIONS = {
    "pairwise_iou": lambda: ioukit.pairwise_iou(some, boxes),
    "overlap_join": lambda: ioukit.overlap_join(boxes, boxes, min_iou=0.01),
    "match_boxes": lambda: ioukit.match_boxes(boxes, boxes, min_iou=0.9),
    "nms": lambda: ioukit.nms(boxes, scores, iou_threshold=0.5),
    "soft_nms": lambda: ioukit.soft_nms(boxes, scores),
    "weighted_boxes_fusion": lambda: ioukit.weighted_boxes_fusion([boxes], [scores], [np.zeros(20_000, int)]),
    "rotated": lambda: ioukit.pairwise_iou(turned, turned),
    "masks": lambda: ioukit.pairwise_iou(masks, masks),
    "read": lambda: ioukit.read_coco(*FILES)[1],
    "evaluate": lambda: ioukit.evaluate(*data).summary,
    "evaluate_tracks": lambda: dict(ioukit.evaluate_tracks(*followed).summary),
}


def size():
    return int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()


def text(found):
    with np.printoptions(threshold=10):
        return repr(found)[:2_000]


give_back = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)
for name, function in FUNCTIONS.items():
    expected, ended = text(function()), 0
    for more in (*range(0, 1 << 22, 1 << 18), 1 << 22, 1 << 23, 1 << 24, 1 << 26):
        give_back(0)  # what the C library holds for later would be enough for most
        resource.setrlimit(resource.RLIMIT_AS, (size() + more, resource.RLIM_INFINITY))
        try:
            found = function()
        except MemoryError:
            found, ended = None, ended + 1
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert found is None or text(found) == expected, (name, more, text(found))
    print(name, ended, flush=True)
"""


@pytest.mark.slow
def test_functions_raise_memory_error() -> None:
    program = f"FILES = {FILES!r}\n{FUNCTIONS}"
    # The C library asks the system for whatever is not small, and keeps nothing of it.
    settings = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "32768", "MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": "0"}
    call = [sys.executable, "-X", "faulthandler", "-c", program]
    done = subprocess.run(call, capture_output=True, text=True, check=False, env=settings)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout
    ended = dict(line.split() for line in done.stdout.splitlines())
    assert {name for name, times in ended.items() if times == "0"} <= {"read", "masks", "nms"}  # they need little


@pytest.mark.parametrize("command", [("eval", *FILES), ("convert", FILES[0])])
def test_commands_end_with_a_line(command: tuple[str, ...], tmp_path: Path) -> None:
    """Raised where a command does its work: the limit itself would already end the imports of NumPy."""
    words = [*command, str(tmp_path / "out"), "--to", "yolo"] if command[0] == "convert" else [*command]
    program = (
        "import sys; sys.argv = ['ioukit', *sys.argv[1:]]\n"
        "def fails(*_, **__): raise MemoryError('not enough memory')\n"
        "import ioukit._core as core\n"
        "core.read_coco_ground_truth = fails\n"
        "from ioukit.cli._start import main\nmain()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "Error: not enough memory\n")
    assert list(tmp_path.iterdir()) == []
