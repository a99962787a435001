"""DAVIS' folders of masks: a PNG file per frame, with a palette, and the id of an object in each pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["VOID", "random_davis_set", "write_davis", "write_frame"]

SIZE = (90, 120)  # of a diagonal of 150: the boundaries of J and F may be 2 pixels apart
VOID = 255
Labels = dict[str, list[np.ndarray]]
"""The values of the pixels of each frame, by sequence."""


def write_frame(path: Path, values: np.ndarray, *, grey: bool = False) -> Path:
    """Write a frame; in grey, the values themselves are the colours."""
    pil = pytest.importorskip("PIL.Image", reason="PNG files need Pillow: pip install 'ioukit[shapes]'")
    path.parent.mkdir(parents=True, exist_ok=True)
    picture = pil.fromarray(np.asarray(values, np.uint8))
    if not grey:
        picture.putpalette([(37 * at) % 256 for at in range(768)])  # the colours mean nothing
    picture.save(path)
    return path


def write_davis(folder: Path, sequences: Mapping[str, Sequence[np.ndarray]], *, grey: bool = False) -> Path:
    """Write the frames of each sequence as 00000.png, 00001.png and so on."""
    for name, frames in sequences.items():
        for at, values in enumerate(frames):
            write_frame(folder / name / f"{at:05d}.png", values, grey=grey)
    return folder


def random_davis_set(rng: np.random.Generator, *, void: bool) -> tuple[Labels, Labels]:
    """Ellipses that move and hide each other, and results that follow them; some frames, or all, have none."""
    objects: Labels = {}
    found: Labels = {}
    down, across = np.mgrid[: SIZE[0], : SIZE[1]]
    for name in ("bear", "cows", "dance-twirl")[: rng.integers(1, 4)]:
        count, length = int(rng.integers(1, 5)), int(rng.integers(1, 10))
        places = rng.uniform(0, 90, (count, 2))
        followers = rng.permutation(np.array([1, 2, 3, 7, 200, VOID]))[:count]
        objects[name], found[name] = [], []
        for _ in range(length):
            places += rng.normal(0, 2, places.shape)
            frame = np.zeros((2, *SIZE), np.uint8)
            for at, follower in enumerate(followers):
                for pixels, value in zip(frame, (at + 1, follower), strict=True):
                    if rng.random() < 0.15:
                        continue
                    middle, radii = places[at] + rng.normal(0, 2, 2), rng.uniform(8, 25, 2)
                    pixels[((down - middle[0]) / radii[0]) ** 2 + ((across - middle[1]) / radii[1]) ** 2 <= 1] = value
            frame[1][rng.random(SIZE) < 0.01] = 0
            if void and rng.random() < 0.7:
                top, left = rng.integers(0, 70, 2)
                frame[0, top : top + 25, left : left + 30] = VOID
            frame[0, 0, 0] = 1  # TrackEval fails without an object
            objects[name].append(frame[0])
            found[name].append(frame[1])
    return objects, found
