"""Random objects and trackers' results: sequences, classes, ids, gaps, and boxes that tie."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ioukit import Boxes, Detections, GroundTruth

Row: TypeAlias = tuple[Any, ...]
"""The values of a region: whole numbers, then its box."""


class Rows(NamedTuple):
    """The regions of one side, in the order of a file."""

    sequences: np.ndarray
    frames: np.ndarray
    classes: np.ndarray
    tracks: np.ndarray
    boxes: np.ndarray  # (N, 4) x, y, width, height


class TrackSet(NamedTuple):
    """A data set and a result."""

    lengths: dict[str, int]
    """The number of frames of each sequence."""
    names: dict[int, str]
    """The classes by their ids."""
    objects: Rows
    found: Rows

    def ground_truth(self) -> GroundTruth:
        images = [f"{name}/{frame + 1:06d}" for name, length in self.lengths.items() for frame in range(length)]
        return GroundTruth.from_arrays(
            image_ids=self._images(self.objects),
            category_ids=self.objects.classes,
            boxes=self.objects.boxes,
            images=np.array(images, np.str_),
            categories=self.names,
            attributes={"track_id": self.objects.tracks},
        )

    def detections(self) -> Detections:
        return Detections.from_arrays(
            image_ids=self._images(self.found),
            category_ids=self.found.classes,
            boxes=self.found.boxes,
            scores=np.ones(len(self.found.boxes)),
            attributes={"track_id": self.found.tracks},
        )

    def frames_of(self, rows: Rows, sequence: int) -> list[dict[str, Any]]:
        """What `TrackEvaluator.update` takes of one side: a dictionary for each frame of a sequence."""
        found = []
        for frame in range(list(self.lengths.values())[sequence]):
            chosen = (rows.sequences == sequence) & (rows.frames == frame)
            boxes = Boxes(rows.boxes[chosen], "xywh")
            found.append({"boxes": boxes, "labels": rows.classes[chosen], "track_ids": rows.tracks[chosen]})
        return found

    def _images(self, rows: Rows) -> np.ndarray:
        named = list(self.lengths)
        pairs = zip(rows.sequences.tolist(), rows.frames.tolist(), strict=True)
        return np.array([f"{named[sequence]}/{frame + 1:06d}" for sequence, frame in pairs] or [], np.str_)


def random_track_set(seed: int) -> TrackSet:
    """A set by its number. Every third one is on a grid, so that overlaps and costs tie."""
    rng = np.random.default_rng(seed)
    lengths = {f"S{rng.integers(100)}-{at}": int(rng.integers(1, 9)) for at in range(rng.integers(1, 5))}
    names = {number: f"class {number}" for number in range(1, 1 + int(rng.integers(1, 4)))}
    objects: list[Row] = []
    found: list[Row] = []
    for sequence, length in enumerate(lengths.values()):
        for number in names:
            # More than eight regions in a frame: NumPy's sums add them up side by side.
            count = int(rng.integers(9, 20) if seed % 7 == 0 else rng.integers(0, 7))
            for side, rows in zip((objects, found), _walk(rng, length, count, on_grid=seed % 3 == 0), strict=True):
                side += [(sequence, frame, number, track, *box) for frame, track, *box in rows]
    if seed % 11 == 0:
        found = [row for row in found if row[0] != 0]  # a sequence without results
    if seed % 13 == 0:
        objects = [row for row in objects if row[2] != 1]  # a class without objects
    return TrackSet(lengths, names, columns_of(objects), columns_of(found))


def _walk(rng: np.random.Generator, length: int, count: int, *, on_grid: bool) -> tuple[list[Row], list[Row]]:
    """Objects of one class in one sequence, and regions that follow them: frame, track and box of each."""
    space = 6 if on_grid else 4 * count + 8
    places, sizes = rng.uniform(0, space, (count, 2)), rng.uniform(2, 6, (count, 2))
    ids, followers = _ids(rng, count), _ids(rng, count)
    objects: list[Row] = []
    found: list[Row] = []
    for frame in range(length):
        places = places + rng.normal(0, 0.7, (count, 2))
        if count > 1 and rng.random() < 0.4:
            first, second = rng.choice(count, 2, replace=False)
            followers[[first, second]] = followers[[second, first]]
        if count and rng.random() < 0.3:
            followers[rng.integers(count)] = rng.integers(2**62)
        share = 0.0 if rng.random() < 0.1 else 0.85  # some frames are empty
        for at in rng.permutation(count):
            box = np.concatenate([places[at], sizes[at]])
            if rng.random() < share:
                objects.append((frame, ids[at], *_snapped(box, on_grid)))
            if rng.random() < share:
                found.append((frame, followers[at], *_snapped(box + rng.normal(0, 0.6, 4), on_grid)))
    return objects, found


def _ids(rng: np.random.Generator, count: int) -> np.ndarray:
    largest = [50, 2**31, 2**62][int(rng.integers(3))]
    return np.array(sorted({int(one) for one in rng.integers(0, largest, 4 * count + 4)}))[rng.permutation(count)]


def _snapped(box: np.ndarray, on_grid: bool) -> tuple[float, ...]:
    box = np.concatenate([box[:2], np.maximum(box[2:], 0)])
    return tuple((np.round(box / 2) * 2 if on_grid else np.round(box, 2)).tolist())


def columns_of(rows: list[Row]) -> Rows:
    """Rows of a sequence, frame, class, track and box as columns."""
    sequences, frames, classes, tracks = (np.array([row[at] for row in rows], np.int64) for at in range(4))
    boxes = np.array([row[4:] for row in rows], np.float64).reshape(-1, 4)
    return Rows(sequences, frames, classes, tracks, boxes)
