"""Folders of MOTChallenge with random sequences, for TrackEval and what stands in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path


def write_folders(folder: Path, seed: int, benchmark: str = "MOT17", trackers: int = 2) -> dict[str, Any]:
    """Write ground truth and results, and return the configuration that names them.

    There are objects of all classes, objects that do not count, frames without boxes, and sequences without results.
    """
    random = np.random.default_rng(seed)
    split = f"{benchmark}-train"
    names = [f"{benchmark}-{number:02}-{random.choice(['DPM', 'SDP'])}" for number in range(int(random.integers(1, 4)))]
    (folder / "gt" / "seqmaps").mkdir(parents=True)
    (folder / "gt" / "seqmaps" / f"{split}.txt").write_text("\n".join(["name", *names, ""]))
    for name in names:
        length, objects = int(random.integers(1, 15)), int(random.integers(0, 8))
        sequence = folder / "gt" / split / name
        (sequence / "gt").mkdir(parents=True)
        (sequence / "seqinfo.ini").write_text(f"[Sequence]\nname={name}\nseqLength={length}\n")
        start, speed = random.random((objects, 4)) * [60, 60, 20, 20] + [1, 1, 8, 8], random.normal(0, 2, (objects, 2))
        classes = random.choice([1, 1, 1, 2, 6, 7, 8, 12, 13] if benchmark != "MOT15" else [1, -1], objects)
        lines: list[str] = []
        found: list[list[str]] = [[] for _ in range(trackers)]
        for frame in range(1, length + 1):
            for at in np.flatnonzero(random.random(objects) < 0.8):
                box = start[at] + [*speed[at] * frame, 0, 0]
                box[random.random(4) < 0.3] = np.round(box[random.random(4) < 0.3].sum() % 40 + 5)
                lines.append(_line(frame, at + 1, box, int(random.random() < 0.85), int(classes[at]), 1))
                for own in found:
                    if random.random() < 0.8:
                        moved = box + random.normal(0, 1.5, 4) * [1, 1, 0.5, 0.5]
                        number = at + 1 if random.random() < 0.9 else at + 20 + frame
                        own.append(_line(frame, number, np.maximum(moved, [-9, -9, 1, 1]), 0.9, -1, -1, -1))
            for own in found:
                if random.random() < 0.4:
                    own.append(_line(frame, 99, random.random(4) * 50 + 1, 0.5, -1, -1, -1))
        (sequence / "gt" / "gt.txt").write_text("\n".join(lines))
        for number, own in enumerate(found):
            path = folder / "trackers" / split / f"tracker{number}" / "data" / f"{name}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(own if random.random() < 0.9 else []))
    return {
        "GT_FOLDER": str(folder / "gt"),
        "TRACKERS_FOLDER": str(folder / "trackers"),
        "TRACKERS_TO_EVAL": [f"tracker{number}" for number in range(trackers)],
        "BENCHMARK": benchmark,
        "PRINT_CONFIG": False,
    }


def _line(frame: int, number: int, box: Any, *more: float) -> str:
    return ",".join(map(str, [frame, int(number), *(f"{value:.2f}" for value in box), *more]))
