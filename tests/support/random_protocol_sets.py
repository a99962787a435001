"""Random sets with what benchmarks of trackers leave out: other classes, flags, limits, regions. Many overlaps tie."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import Detections, GroundTruth
from ioukit.datasets.formats.kitti import KITTI_NAMES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

MOT_CLASSES = (1, 1, 1, 2, 3, 6, 7, 8, 9, 12, 13)
"""Pedestrians, and classes of which some are distractors, drawn with equal chances."""
KITTI_CLASSES = (1, 1, 1, 2, 3, 4, 4, 4, 5, 6)
BDD_CLASSES = (1, 1, 1, 1, 3, 4, 4, 4, 4, 8)
BDD_NAMES = ("pedestrian", "rider", "other person", "car", "bus", "truck", "train", "trailer", "other vehicle")


class Regions(NamedTuple):
    """The regions of one side of a sequence, in the order of its file."""

    frames: np.ndarray  # from 0 on
    tracks: np.ndarray
    classes: np.ndarray
    boxes: np.ndarray  # (N, 4) x, y, width, height
    first: np.ndarray
    """MOTChallenge's `conf`, or KITTI's `truncated`; in BDD100K, 0 is a crowd."""
    second: np.ndarray
    """KITTI's `occluded`."""


class ProtocolSet(NamedTuple):
    """Sequences, with their number of frames."""

    lengths: dict[str, int]
    objects: dict[str, Regions]
    found: dict[str, Regions]

    def write_mot(self, folder: Path, *, with_classes: bool) -> None:
        """MOTChallenge's files in the folders `gt` and `found`, without classes as in 2D MOT 2015."""
        ends = "{first},{category},1" if with_classes else "{first},-1,-1,-1"
        for name, length in self.lengths.items():
            path = folder / "gt" / name / "gt" / "gt.txt"
            path.parent.mkdir(parents=True)
            path.write_text(_mot_lines(self.objects[name], ends))
            (path.parent.parent / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={length}\n")
            path = folder / "found" / f"{name}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(_mot_lines(self.found[name], "0.5,-1,-1,-1"))

    def write_kitti(self, folder: Path) -> None:
        """KITTI's files, as TrackEval reads them, which calls persons that sit `Person`."""
        (folder / "label_02").mkdir()
        (folder / "found").mkdir()
        lines = []
        for name, length in self.lengths.items():
            (folder / "label_02" / f"{name}.txt").write_text(_kitti_lines(self.objects[name]))
            (folder / "found" / f"{name}.txt").write_text(_kitti_lines(self.found[name], " 0.5"))
            lines.append(f"{name} empty 000000 {length:06d}\n")
        (folder / "evaluate_tracking.seqmap.training").write_text("".join(lines))

    def write_bdd(self, folder: Path) -> None:
        """BDD100K's files, in the folders `gt` and `found`."""
        for part, side in (("gt", self.objects), ("found", self.found)):
            (folder / part).mkdir()
            for name, length in self.lengths.items():
                frames: list[dict[str, Any]] = [{"index": frame, "labels": []} for frame in range(length)]
                for frame, track, category, (x, y, width, height), first, _ in _tuples(side[name]):
                    label: dict[str, Any] = {"id": str(track), "category": BDD_NAMES[category - 1]}
                    label["box2d"] = {"x1": x, "y1": y, "x2": x + width, "y2": y + height}
                    frames[frame]["labels"].append({**label, "attributes": {"Crowd": first == 0}})
                (folder / part / f"{name}.json").write_text(json.dumps(frames))

    def kitti_arrays(self) -> tuple[GroundTruth, Detections]:
        """The same as columns, as the reader of KITTI's labels fills them."""
        objects = _joined(self.objects)
        is_region = objects.classes == KITTI_NAMES.index("DontCare") + 1
        attributes = {"truncated": objects.first.astype(np.float64), "occluded": objects.second}
        return self._arrays(KITTI_NAMES, {"dont_care": is_region, "crowd": is_region}, attributes)

    def bdd_arrays(self) -> tuple[GroundTruth, Detections]:
        """The same as columns, as the reader of Scalabel's files fills them."""
        return self._arrays(BDD_NAMES, {"Crowd": _joined(self.objects).first == 0}, {})

    def _arrays(
        self, names: Sequence[str], flags: dict[str, np.ndarray], attributes: dict[str, np.ndarray]
    ) -> tuple[GroundTruth, Detections]:
        objects, found = (_joined(side) for side in (self.objects, self.found))
        images = [f"{name}/{frame:06d}" for name, length in self.lengths.items() for frame in range(length)]
        gt = GroundTruth.from_arrays(
            image_ids=_images(self.objects),
            category_ids=objects.classes,
            boxes=objects.boxes,
            images=np.array(images, np.str_),
            categories=dict(enumerate(names, start=1)),
            flags=flags,
            attributes={"track_id": objects.tracks, **attributes},
        )
        dt = Detections.from_arrays(
            image_ids=_images(self.found),
            category_ids=found.classes,
            boxes=found.boxes,
            scores=np.ones(len(found.boxes)),
            attributes={"track_id": found.tracks},
        )
        return gt, dt


def _tuples(rows: Regions) -> Iterator[tuple[Any, ...]]:
    return zip(*map(np.ndarray.tolist, rows), strict=True)


def _images(side: dict[str, Regions]) -> np.ndarray:
    return np.array([f"{name}/{frame:06d}" for name, rows in side.items() for frame in rows.frames], np.str_)


def _joined(side: dict[str, Regions]) -> Regions:
    return Regions(*map(np.concatenate, zip(*side.values(), strict=True)))


def _mot_lines(rows: Regions, ends: str) -> str:
    lines = []
    for frame, track, category, box, first, _ in _tuples(rows):
        end = ends.format(first=first, category=category)
        lines.append(f"{frame + 1},{track},{','.join(map(repr, box))},{end}\n")
    return "".join(lines)


def _kitti_lines(rows: Regions, score: str = "") -> str:
    names = [*KITTI_NAMES]
    names[4] = "Person"
    lines = []
    for frame, track, category, (x, y, width, height), first, second in _tuples(rows):
        box = f"{x!r} {y!r} {x + width!r} {y + height!r}"
        start = f"{frame} {track} {names[category - 1]} {first} {second} -10"
        lines.append(f"{start} {box} -1 -1 -1 -1000 -1000 -1000 -10{score}\n")
    return "".join(lines)


def random_mot_set(seed: int) -> ProtocolSet:
    """A set by its number: every third one on a grid, with overlaps that tie, and every fifth one crowded."""
    return _random_set(seed, MOT_CLASSES, regions=False)


def random_kitti_set(seed: int) -> ProtocolSet:
    """The same with heights around the limit of 25 pixels, and regions without objects. All corners are exact."""
    return _random_set(seed, KITTI_CLASSES, regions=True)


def random_bdd_set(seed: int) -> ProtocolSet:
    """The same with crowds, which are regions, in the place of flags."""
    return _random_set(seed, BDD_CLASSES, regions=False, crowd=(35, 50))


def _random_set(
    seed: int, classes: tuple[int, ...], *, regions: bool, crowd: tuple[int, int] = (12, 24)
) -> ProtocolSet:
    rng = np.random.default_rng(seed)
    lengths = {f"S{rng.integers(100)}-{at}": int(rng.integers(1, 8)) for at in range(rng.integers(1, 4))}
    objects, found = {}, {}
    for name, length in lengths.items():
        # With more than eight regions of a class in a frame, the order of sums decides last bits.
        count = int(rng.integers(*crowd) if seed % 5 == 0 else rng.integers(0, 9))
        sides = _sequence(rng, length, count, classes, step=8.0 if seed % 3 == 0 else 0.25, regions=regions)
        objects[name], found[name] = sides
    if seed % 11 == 0:
        found[next(iter(found))] = _rows([])
    if seed % 13 == 0:
        objects[next(iter(objects))] = _rows([])
    return ProtocolSet(lengths, objects, found)


def _sequence(
    rng: np.random.Generator, length: int, count: int, classes: tuple[int, ...], *, step: float, regions: bool
) -> tuple[Regions, Regions]:
    """Objects and regions that follow them; those near other objects take their places, as benchmarks fear."""
    space = 60 if step > 1 else 30 * np.sqrt(min(count, 9) + 1)
    places, sizes = rng.uniform(0, space, (count, 2)), rng.uniform((15, 18), (40, 45), (count, 2))
    kinds, followers = rng.choice(classes, count), rng.permutation(3 * count + 3)
    objects: list[tuple[object, ...]] = []
    found: list[tuple[object, ...]] = []
    evaluated = sorted({1, 4} & {*classes})
    for frame in range(length):
        places = places + rng.normal(0, 4, (count, 2))
        share = 0.1 if rng.random() < 0.1 else 0.85
        for at in rng.permutation(count):
            box = np.concatenate([places[at], sizes[at]])
            if rng.random() < share:
                first, second = (
                    (rng.choice([0, 0, 0, 1]), rng.choice([0, 1, 2, 3])) if regions else (rng.choice([0, 1, 1, 1]), 0)
                )
                objects.append((frame, at + 1, kinds[at], _snapped(box, step), first, second))
            if rng.random() < share:
                kind = kinds[at] if kinds[at] in evaluated else rng.choice(evaluated)
                shifted = box + rng.normal(0, 4, 4)
                found.append((frame, followers[at], kind, _snapped(shifted, step), 0, 0))
        for _ in range(rng.integers(0, 3) if regions else 0):
            box = np.concatenate([rng.uniform(0, space, 2), rng.uniform(20, 60, 2)])
            objects.append((frame, -1, 9, _snapped(box, step), -1, -1))
    return _rows(objects), _rows(found)


def _snapped(box: np.ndarray, step: float) -> list[float]:
    values = np.round(box / step) * step
    return [*values[:2].tolist(), *np.maximum(values[2:], step).tolist()]


def _rows(rows: list[tuple[object, ...]]) -> Regions:
    frames, tracks, classes, first, second = (np.array([row[at] for row in rows], np.int64) for at in (0, 1, 2, 4, 5))
    boxes = np.array([row[3] for row in rows], np.float64).reshape(-1, 4)
    return Regions(frames, tracks, classes, boxes, first, second)
