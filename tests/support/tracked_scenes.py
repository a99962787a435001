"""Objects in a few sequences, and trackers that miss some of them and switch some ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ioukit import Detections, GroundTruth

FRAMES, OBJECTS = 8, 4


def tracked_truth(sequences: int, *, frames: int = FRAMES) -> GroundTruth:
    """Four objects that stand still, of two classes."""
    images, tracks = _rows(sequences, frames)
    return GroundTruth.from_arrays(
        image_ids=images,
        category_ids=1 + tracks % 2,
        boxes=_boxes(tracks),
        categories={1: "car", 2: "person"},
        attributes={"track_id": tracks},
    )


def tracker(sequences: int, seed: int, *, found: float, switches: float = 0.1, same: Sequence[int] = ()) -> Detections:
    """What a tracker makes of them.

    Args:
        sequences: How many sequences there are.
        seed: The seed of what it misses and switches.
        found: The share of the objects that it finds.
        switches: How often an id changes.
        same: Sequences in which all trackers are the same.
    """
    images, tracks = _rows(sequences, FRAMES)
    sequence = np.repeat(np.arange(sequences), FRAMES * OBJECTS)
    own, shared = (np.random.default_rng(number).random((2, len(tracks))) for number in (seed, 0))
    chances = np.where(np.isin(sequence, same), shared, own)
    is_same = np.isin(sequence, same)
    kept = chances[0] < np.where(is_same, 0.5, found)
    changed = chances[1] < np.where(is_same, 0.1, switches)
    ids = tracks + OBJECTS * np.cumsum(changed)
    return Detections.from_arrays(
        image_ids=images[kept],
        category_ids=(1 + tracks % 2)[kept],
        boxes=_boxes(tracks)[kept],
        scores=np.ones(kept.sum()),
        attributes={"track_id": ids[kept]},
    )


def _rows(sequences: int, frames: int) -> tuple[np.ndarray, np.ndarray]:
    images = [f"S{at:02d}/{frame + 1}" for at in range(sequences) for frame in range(frames)]
    return np.repeat(np.array(images), OBJECTS), np.tile(np.arange(OBJECTS), sequences * frames)


def _boxes(tracks: np.ndarray) -> np.ndarray:
    return np.stack([30.0 * tracks, 0 * tracks, 10 + 0 * tracks, 10 + 0 * tracks], axis=1)


def walking() -> tuple[GroundTruth, Detections, Detections]:
    """Three persons who walk for twelve frames, in a picture of known size, and two trackers.

    The first one confuses the persons 1 and 2 from frame 7 on, loses person 3 in frames 4 to 6 and gives it another id
    then, and sees somebody in frames 9 and 10. The second one misses person 2 in frame 5.
    """
    walks = {1: (20, 15, 90, 0), 2: (230, -15, 150, 0), 3: (140, 0, 0, 5)}  # x and y at frame 0, and per frame
    rows = [
        (frame, person, x + right * frame, y + down * frame)
        for frame in range(1, 13)
        for person, (x, right, y, down) in walks.items()
    ]
    confused = {1: 2, 2: 1, 3: 4}
    first = [(frame, person if frame < 7 else confused[person], x + 2, y) for frame, person, x, y in rows]
    first = [row for row in first if row[:2] not in ((4, 3), (5, 3), (6, 3))] + [(9, 9, 270, 20), (10, 9, 272, 20)]
    second = [(frame, person + 10, x, y + 3) for frame, person, x, y in rows if (frame, person) != (5, 2)]

    def columns(side: list[tuple[int, int, int, int]]) -> dict[str, Any]:
        frame, track, x, y = np.array(side).T
        return {
            "image_ids": [f"street/{one}" for one in frame],
            "category_ids": np.ones(len(side), np.int64),
            "boxes": np.stack([x, y, 0 * x + 40, 0 * x + 80], axis=1).astype(np.float64),
            "attributes": {"track_id": track},
        }

    truth = GroundTruth.from_arrays(
        **columns(rows),
        images=[f"street/{frame}" for frame in range(1, 13)],
        sizes=np.full((12, 2), (320.0, 240.0)),
        categories={1: "person"},
    )
    a, b = (Detections.from_arrays(**columns(side), scores=np.full(len(side), 0.9)) for side in (first, second))
    return truth, a, b
