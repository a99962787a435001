"""Objects in a few sequences, and trackers that miss some of them and switch some ids."""

from __future__ import annotations

from collections.abc import Sequence

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
