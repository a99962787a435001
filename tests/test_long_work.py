"""Work that takes long ends when a signal's handler raises, whoever does it and however many threads."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import ioukit
from ioukit import COCO

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="signals at a time are those of POSIX")

BEGUN = 0.2
"""Seconds after which the signal comes: the work is in its longest loop. Sooner where a machine is done by then."""
LATEST = 1.0
"""Seconds after the signal in which the call must end."""


class StopError(Exception):
    """What the handler raises: any exception must do, not KeyboardInterrupt alone."""


@pytest.fixture(autouse=True)
def handler() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise StopError

    before = signal.signal(signal.SIGALRM, stop)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


def crowded(count: int, side: float = 1000.0) -> np.ndarray:
    """Boxes in one place: each overlaps many others."""
    rng = np.random.default_rng(count)
    corners = rng.uniform(0, side, (count, 2))
    return np.concatenate([corners, corners + rng.uniform(1, 300, (count, 2))], axis=1)


def star(corners: int, seed: int) -> np.ndarray:
    """A polygon with a tooth at every second corner."""
    angles = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    radii = np.random.default_rng(seed).uniform(50, 100, corners)
    return np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


def records(count: int, images: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Records of crowded images, with ten times as many detections as objects, all of one class."""
    corners = crowded(count)
    boxes = [[x1, y1, x2 - x1, y2 - y1] for x1, y1, x2, y2 in corners.tolist()]
    rows = [{"image_id": k % images, "category_id": 1, "bbox": box} for k, box in enumerate(boxes)]
    ground_truth = {
        "images": [{"id": number, "width": 1300, "height": 1300} for number in range(images)],
        "categories": [{"id": 1, "name": "one"}],
        "annotations": [{**row, "id": k + 1, "area": 9.0, "iscrowd": 0} for k, row in enumerate(rows[::10])],
    }
    return ground_truth, [{**row, "score": 1 / (k + 1)} for k, row in enumerate(rows)]


def tracks() -> Callable[[], Any]:
    """Frames in which every object and every track is near many others."""
    frames, boxes = 100, crowded(400)
    columns: dict[str, Any] = {
        "image_ids": np.repeat(np.arange(frames), len(boxes)),
        "category_ids": np.ones(frames * len(boxes), np.int64),
        "boxes": np.tile(np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1), (frames, 1)),
        "attributes": {"track_id": np.tile(np.arange(len(boxes)), frames)},
    }
    gt = ioukit.GroundTruth.from_arrays(**columns)
    dt = ioukit.Detections.from_arrays(**columns, scores=np.ones(frames * len(boxes)))
    return lambda: ioukit.evaluate_tracks(gt, dt)


def works() -> dict[str, Callable[[], Callable[[], Any]]]:
    """For each name, what makes the input and returns the work."""

    def boxes(count: int, work: Callable[[np.ndarray, np.ndarray], Any]) -> Callable[[], Callable[[], Any]]:
        def make() -> Callable[[], Any]:
            given, scores = crowded(count), np.random.default_rng(1).random(count)
            return lambda: work(given, scores)

        return make

    def polygons(*given: np.ndarray) -> Callable[[], Callable[[], Any]]:
        return lambda: lambda: ioukit.pairwise_iou(ioukit.Polygons(given), ioukit.Polygons(given[::-1]))

    def masks() -> Callable[[], Any]:
        given = ioukit.Masks.from_arrays(np.random.default_rng(0).random((300, 400, 400)) > 0.5)
        return lambda: ioukit.pairwise_iou(given, given)

    def rotated() -> Callable[[], Any]:
        sides = crowded(20_000)
        given = ioukit.RotatedBoxes(
            np.column_stack([sides, np.arange(len(sides))]), unit="radians", sense="counterclockwise"
        )
        return lambda: ioukit.pairwise_iou(given, given)

    def matching() -> Callable[[], Any]:
        data, every = records(100_000, images=1), COCO.replace(max_dets=(1, 10, 100_000))
        return lambda: ioukit.evaluate(*data, every)

    def one_to_one() -> Callable[[], Any]:
        corners = np.random.default_rng(0).uniform(0, 50, (2, 8_000, 2))  # where every box overlaps every other
        first, second = np.concatenate([corners, corners + 60], axis=2)
        return lambda: ioukit.match_boxes(first, second, min_iou=0.01)

    def intervals() -> Callable[[], Any]:
        evaluation = ioukit.evaluate(*records(20_000, images=200))
        return lambda: evaluation.intervals(replicates=100_000)

    return {
        "matching": matching,
        "intervals": intervals,
        "tracks": tracks,
        "nms": boxes(1_000_000, lambda given, scores: ioukit.nms(given, scores, 0.9)),
        "nms, one thread": boxes(1_000_000, lambda given, scores: ioukit.nms(given, scores, 0.9, threads=1)),
        "nms without a bound": boxes(300_000, lambda given, scores: ioukit.nms(given, scores, 0.9, metric="giou")),
        "nms with reasons": boxes(1_000_000, lambda given, scores: ioukit.nms(given, scores, 0.9, explain=True)),
        "soft-NMS": boxes(60_000, lambda given, scores: ioukit.soft_nms(given, scores, iou_threshold=0.0)),
        "join": boxes(200_000, lambda given, _: ioukit.overlap_join(given, min_iou=0.9)),
        "join, one thread": boxes(200_000, lambda given, _: ioukit.overlap_join(given, min_iou=0.9, threads=1)),
        "one to one": one_to_one,
        "pairwise": boxes(30_000, lambda given, _: ioukit.pairwise_ciou(given, given)),
        "pairwise, one thread": boxes(20_000, lambda given, _: ioukit.pairwise_ciou(given, given, threads=1)),
        "huge coordinates": boxes(9_000, lambda given, _: ioukit.pairwise_iou(given * 1e140, given * 1e140)),
        "fusion": boxes(
            100_000,
            lambda given, scores: ioukit.weighted_boxes_fusion([given, given], [scores, scores], iou_threshold=0.9),
        ),
        "merging": boxes(60_000, lambda given, scores: ioukit.non_maximum_merge(given, scores, 0.9)),
        "two polygons of many corners": polygons(star(20_000, 0), star(20_000, 1)),
        "masks": masks,
        "rotated boxes": rotated,
    }


@pytest.mark.parametrize("name", works())
def test_it_ends(name: str) -> None:
    work = works()[name]()
    after, took = BEGUN, stopped(work, BEGUN)
    while took is not None and took < after:  # a machine with many cores: the signal would have come too late
        after = took / 2
        assert after > 0.01, f"the work takes {took:.3f} s: too short to be stopped within it"
        took = stopped(work, after)
    assert took is None, f"a signal after {after:.3f} s did not end the work, which took {took:.3f} s"


def stopped(work: Callable[[], Any], after: float) -> float | None:
    """Give a signal after so many seconds: None where it ends the work in time, else the seconds the work took."""
    began = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        work()
    except StopError:
        assert time.perf_counter() - began - after < LATEST
        return None
    took = time.perf_counter() - began
    signal.setitimer(signal.ITIMER_REAL, 0)
    return took
