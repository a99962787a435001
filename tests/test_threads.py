"""Threads that the system refuses cost time, and nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT_THREADS = """
import os, resource, sys
import numpy as np
import ioukit

rng = np.random.default_rng(0)
corners = rng.uniform(0, 1000, (20_000, 2))
boxes = np.concatenate([corners, corners + rng.uniform(1, 100, (20_000, 2))], axis=1)
scores = rng.random(20_000)

def compute(threads):
    kept = ioukit.nms(boxes, scores, 0.5, threads=threads)
    pairs = ioukit.overlap_join(boxes[:9000], min_iou=0.5, threads=threads)
    table = ioukit.pairwise_iou(boxes[:600], boxes[:600], threads=threads)
    return len(kept), kept.sum(), len(pairs.values), pairs.values.sum(), table.sum()

compute(1)  # imports what is needed, and starts no thread
if sys.argv[1] == "refused":
    if os.getuid() == 0:
        os.setuid(65534)  # the limit is not for root
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    try:
        import threading
        threading.Thread(target=print).start()
    except RuntimeError:
        pass
    else:
        print("no limit")
        raise SystemExit
for threads in (None, 1, 3, 10_000):
    print(*compute(threads))
"""


def results(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_THREADS, *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="a limit on the threads of a user")
def test_a_system_without_threads_gives_the_same_results() -> None:
    refused = results("refused")
    if refused == "no limit\n":
        pytest.skip("this system sets no limit on the threads of a user")
    assert refused == results("allowed")
    assert len(set(refused.splitlines())) == 1, "whatever the number of threads"
