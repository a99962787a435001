"""Fuzzes functions and commands by limits on memory and signals at random times.

    python tests/fuzz/limits.py [--seconds 600] [--first 0]

Each process draws data, and calls functions and commands on it, first as they are and then with less memory than they
may need, with a signal while they work, or with both. A call has the right result, or `MemoryError`, or what the
signal's handler raised, at most a second after it; a command has the right output, or one line and exit code 2. Every
other end is printed with the seed of its process. The status is 1 if there is one.

NumPy 2 itself crashes where a buffer of its iterators is refused, because it raises MemoryError without the lock. A
crash counts as another's if the line of Python that it comes from does not call the core.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import io
import itertools
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ioukit
from ioukit.cli import main as command_line
from ioukit.regions import Masks, Polygons, RotatedBoxes

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "coco_val2017_100"
FILES = (str(EXAMPLES / "ground_truth.json"), str(EXAMPLES / "yolact.json"))
TRIALS = 6
LATEST = 2.0
"""Seconds after the signal in which a call ends: twice what is promised, because machines that fuzz are busy."""


class StopError(Exception):
    """What the handler raises."""


def stop(*_: object) -> None:
    """The handler. It raises within a call alone, and not where the call has just ended."""
    if Working.now:
        raise StopError


class Working:
    """Whether a call is at work."""

    now = False


def calls(rng: np.random.Generator, folder: str) -> dict[str, Callable[[], Any]]:
    """Functions and commands, with data of any size."""
    count, side, threads = int(2 ** rng.uniform(4, 15)), rng.uniform(100, 5000), int(rng.choice([1, 2, 3]))
    corners = rng.uniform(0, side, (count, 2))
    boxes = np.concatenate([corners, corners + rng.uniform(1, 100, (count, 2))], axis=1).astype(
        rng.choice(["f4", "f8"])
    )
    scores, some = rng.random(count), boxes[: min(count, 1_000)]
    turned = RotatedBoxes(np.column_stack([some, some[:, 0]]), unit="radians", sense="clockwise")
    outlines = [[[x1, y1], [x2, y1], [x2, y2], [(x1 + x2) / 2, y1 + 0.1]] for x1, y1, x2, y2 in some[:200].tolist()]
    masks = Masks.from_polygons([[np.ravel(outline).tolist()] for outline in outlines], height=500, width=500)
    data = ioukit.read_coco(*FILES)
    evaluation = ioukit.evaluate(*data)

    def command(*words: str) -> Callable[[], Any]:
        def run() -> Any:
            out, err = io.StringIO(), io.StringIO()
            before, sys.argv = sys.argv, ["ioukit", *words]
            try:
                with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                    command_line()
            except SystemExit as end:
                code = end.code
            finally:
                sys.argv = before
            if code == 2 and err.getvalue().splitlines()[-1].startswith("Error: not enough memory"):
                raise MemoryError
            return code, out.getvalue() if code == 0 else err.getvalue()

        return run

    return {
        "pairwise_iou": lambda: ioukit.pairwise_iou(some, boxes, threads=threads),
        "pairwise_giou": lambda: ioukit.pairwise_giou(some, boxes, threads=threads),
        "overlap_join": lambda: ioukit.overlap_join(boxes, boxes, min_iou=0.1, threads=threads),
        "nms": lambda: ioukit.nms(boxes, scores, 0.5, threads=threads),
        "nms with reasons": lambda: ioukit.nms(boxes, scores, 0.5, explain=True, threads=threads),
        "soft_nms": lambda: ioukit.soft_nms(boxes, scores, threads=threads),
        "cluster_nms": lambda: ioukit.cluster_nms(boxes, scores, threads=threads),
        "non_maximum_merge": lambda: ioukit.non_maximum_merge(boxes, scores, threads=threads),
        "weighted_boxes_fusion": lambda: ioukit.weighted_boxes_fusion(
            [boxes, boxes], [scores, scores], threads=threads
        ),
        "rotated boxes": lambda: ioukit.pairwise_iou(turned, turned),
        "polygons": lambda: ioukit.pairwise_iou(Polygons(outlines), Polygons(outlines)),
        "masks": lambda: ioukit.pairwise_iou(masks, masks),
        "boundaries": lambda: ioukit.boundary_iou(masks, masks),
        "reading": lambda: ioukit.read_coco(*FILES, threads=threads)[1],
        "evaluate": lambda: ioukit.evaluate(*data, threads=threads).summary,
        "intervals": lambda: evaluation.intervals(replicates=50, threads=threads),
        "eval": command("eval", *FILES, "--per-class"),
        "check": command("check", *FILES),
        "convert": command("convert", FILES[0], f"{folder}/{rng.integers(1 << 60)}", "--to", "yolo"),
    }


def text(found: Any) -> str:
    with np.printoptions(threshold=10):
        return repr(found)[:2_000]


def size() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def limited(call: Callable[[], Any], more: int | None, after: float | None) -> str:
    """What a call returns as text, or why it ended early."""
    give_back(0)  # what the C library keeps for later would be enough for most
    limit = resource.RLIM_INFINITY if more is None else size() + more
    began = time.perf_counter()
    try:
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
        Working.now = True
        signal.setitimer(signal.ITIMER_REAL, after or 0)
        found = call()
        Working.now = False
        return text(found)
    except MemoryError:
        return "memory"
    except StopError:
        return "stopped"
    finally:
        Working.now = False
        signal.setitimer(signal.ITIMER_REAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        late = 0.0 if after is None else time.perf_counter() - began - after
        if late > LATEST:
            raise AssertionError(f"ended {late:.1f} s after the signal")


give_back: Callable[[int], Any] = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: None)


def child(seed: int) -> None:
    """One process: prints how many trials there were, and how many ended early."""

    rng = np.random.default_rng(seed)
    signal.signal(signal.SIGALRM, stop)
    trials, early = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        known = calls(rng, folder)
        for name in rng.permutation(list(known)).tolist()[:6]:
            began = time.perf_counter()
            expected = limited(known[name], None, None)
            took = time.perf_counter() - began
            for _ in range(TRIALS):
                more = None if rng.random() < 0.3 else int(2 ** rng.uniform(16, 27))
                after = None if more is not None and rng.random() < 0.7 else rng.uniform(1e-4, 1.2 * took)
                found = limited(known[name], more, after)
                if found not in {expected, "memory", "stopped"} and name != "convert":  # writes into a folder once
                    raise AssertionError(f"{name} with {more} bytes: {found[:300]} and not {expected[:300]}")
                trials, early = trials + 1, early + (found in {"memory", "stopped"})
    sys.stdout.write(f"{trials} {early}\n")


def is_of_another(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether a process crashed, and not in the core."""
    at = re.search(r'most recent call first\):\n\s+File "([^"]+)", line (\d+)', done.stderr)
    if done.returncode >= 0 or at is None:
        return False
    lines = Path(at[1]).read_text(encoding="utf-8").splitlines()
    return not any("_core." in line for line in lines[max(0, int(at[2]) - 4) : int(at[2]) + 3])


def main() -> None:
    """Reads the arguments, and runs processes until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first process")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child is not None:
        return child(given.child)
    # The C library asks the system for whatever is not small, and keeps nothing of it.
    settings = {
        **os.environ,
        "PYTHONFAULTHANDLER": "1",
        "MALLOC_MMAP_THRESHOLD_": "32768",
        "MALLOC_ARENA_MAX": "1",
        "MALLOC_TRIM_THRESHOLD_": "0",
    }
    end, trials, early, others, bad = time.monotonic() + given.seconds, 0, 0, 0, []
    for seed in itertools.count(given.first):
        call = [sys.executable, __file__, "--child", str(seed)]
        done = subprocess.run(call, capture_output=True, text=True, check=False, env=settings, timeout=600)
        if is_of_another(done):
            others += 1
        elif done.returncode or len(done.stdout.split()) != 2:
            bad.append(seed)
            sys.stderr.write(f"seed {seed}: status {done.returncode}: {done.stderr[-600:]}\n")
        else:
            trials, early = (one + int(word) for one, word in zip((trials, early), done.stdout.split(), strict=True))
        if time.monotonic() > end:
            break
    sys.stderr.write(f"{trials:,} calls, of which {early:,} ended early; {others:,} processes crashed elsewhere; ")
    sys.stderr.write(f"{len(bad):,} saw more: {bad}\n")
    raise SystemExit(bool(bad))


if __name__ == "__main__":
    main()
