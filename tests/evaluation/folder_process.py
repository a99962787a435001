"""A process of `test_folder_gather.py`: evaluates its share of the images, and meets the others in a folder."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from evaluation.sync_process import IMAGES, digest, filled, loop_images
from ioukit.evaluation import FolderGather
from ioukit.evaluation.evaluator import folder as gathering


def share_of(rank: int, size: int) -> list[int]:
    """As a DistributedSampler: the first images come again, so that all processes have as many."""
    every = list(range(IMAGES))
    every += every[: -len(every) % size]
    return every[rank::size]


def die_at(moment: str) -> None:
    """Arrange that this process kills itself: as soon as it has written, or before its answer."""
    real = gathering._Round._write

    def write(self: Any, kind: str, content: bytes) -> None:
        if moment == "before the message" or (moment == "before the answer" and kind == ".read"):
            os.kill(os.getpid(), signal.SIGKILL)
        real(self, kind, content)

    gathering._Round._write = write  # type: ignore[method-assign]


def main(rank: int, size: int, folder: str, run: str, case: str, timeout: float) -> None:
    evaluator = filled([loop_images()[place] for place in share_of(rank, size)], share_of(rank, size), near=0.1)
    gather = FolderGather(Path(folder) / "shared", rank=rank, world_size=size, run=run, timeout=timeout)
    if case.startswith("die ") and rank == size - 1:
        die_at(case.removeprefix("die "))
    if case == "late" and rank == size - 1:
        time.sleep(1)
    started = time.monotonic()
    answer: dict[str, Any] = {}
    try:
        for _ in range(3 if case == "rounds" else 1):
            evaluator.sync(gather=gather)
        answer = {"digest": digest(evaluator.compute()), "notes": list(evaluator.compute().notes)}
    except Exception as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    answer["seconds"] = time.monotonic() - started
    (Path(folder) / f"{run}.{rank}.json").write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5], float(sys.argv[6]))
