"""J and F beside TrackEval's, and beside dilation in plain loops."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, Masks, evaluate_tracks
from ioukit._boundary import PairColumns
from ioukit.datasets import Categories
from ioukit.errors import DatasetError
from ioukit.tracks import TrackProtocol, evaluate_j_and_f
from ioukit.tracks.j_and_f import MeasuredMasks
from support.trackeval_runs import trackeval

if TYPE_CHECKING:
    from ioukit.tracks import JAndF

SIZE = (120, 160)  # of a diagonal of 200: the radius is 2
Drawn = dict[str, list[dict[int, np.ndarray]]]
"""Pixels by sequence, frame and track."""


def random_sequences(rng: np.random.Generator) -> tuple[Drawn, Drawn]:
    """Ellipses that move, and masks that follow them; some are away, empty, or fill the image."""
    objects: Drawn = {}
    found: Drawn = {}
    down, across = np.mgrid[: SIZE[0], : SIZE[1]]
    for name in ("a", "b", "c")[: rng.integers(1, 4)]:
        count, length = int(rng.integers(1, 4)), int(rng.integers(1, 12))
        places, followers = rng.uniform(0, 110, (count, 2)), rng.permutation(count + 2)[:count]
        objects[name], found[name] = [], []
        for _ in range(length):
            places += rng.normal(0, 2, places.shape)
            frame: tuple[dict[int, np.ndarray], dict[int, np.ndarray]] = ({}, {})
            for at in range(count):
                for side, track in zip(frame, (at, int(followers[at])), strict=True):
                    if rng.random() < 0.2:
                        continue
                    shift, radii = places[at] + rng.normal(0, 2, 2), rng.uniform(5, 25, 2)
                    pixels = ((down - shift[0]) / radii[0]) ** 2 + ((across - shift[1]) / radii[1]) ** 2 <= 1
                    side[track] = rng.choice(
                        [pixels, pixels, pixels, pixels ^ (rng.random(SIZE) < 0.02), ~pixels & False]
                    )
                    side[track] = side[track] | (rng.random() < 0.03)
            objects[name].append(frame[0])
            found[name].append(frame[1])
        if rng.random() < 0.1:
            found[name] = [{} for _ in found[name]]
    return objects, found


def sides(objects: Drawn, found: Drawn) -> tuple[GroundTruth, Detections]:
    made: list[dict[str, Any]] = []
    for drawn in (objects, found):
        rows = [
            (f"{name}/{frame:03d}", track, pixels)
            for name, frames in drawn.items()
            for frame, masks in enumerate(frames)
            for track, pixels in masks.items()
        ]
        made.append(
            {
                "image_ids": np.array([image for image, _, _ in rows], np.str_),
                "category_ids": np.ones(len(rows), np.int64),
                "regions": Masks.from_arrays([pixels for *_, pixels in rows]) if rows else Masks.concat([]),
                "attributes": {"track_id": np.array([track for _, track, _ in rows], np.int64)},
            }
        )
    images = [f"{name}/{frame:03d}" for name, frames in objects.items() for frame in range(len(frames))]
    gt = GroundTruth.from_arrays(**made[0], images=np.array(images, np.str_), categories={1: "thing"})
    return gt, Detections.from_arrays(**made[1], scores=None)


def numbers_of_trackeval(objects: Drawn, found: Drawn) -> dict[str, dict[str, float]]:
    """Its numbers of each sequence, and of all as "all"."""
    from pycocotools import mask  # noqa: PLC0415 - TrackEval needs it, too

    measure = trackeval().metrics.JAndF()
    parts = {}
    for name in sorted(objects):
        data: dict[str, Any] = {"num_timesteps": len(objects[name])}
        for side, drawn in (("gt", objects[name]), ("tracker", found[name])):
            ids = sorted({track for masks in drawn for track in masks})
            data[f"num_{side}_ids"] = len(ids)
            data[f"{side}_ids"] = [np.array([ids.index(track) for track in masks], np.int64) for masks in drawn]
            data[f"{side}_dets"] = [
                [mask.encode(np.asfortranarray(pixels.astype(np.uint8))) for pixels in masks.values()]
                for masks in drawn
            ]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if data["num_gt_ids"]:
                parts[name] = measure.eval_sequence(data)
    return {**parts, "all": measure.combine_sequences(parts)}


@pytest.mark.parametrize("seed", range(20))
def test_numbers_have_the_bits_of_trackeval(seed: int) -> None:
    for module in ("cv2", "skimage", "trackeval"):
        pytest.importorskip(module)
    objects, found = random_sequences(np.random.default_rng(seed))
    ours, expected = evaluate_j_and_f(*sides(objects, found)), numbers_of_trackeval(objects, found)
    assert expected.pop("all") == ours.summary
    for name, numbers in expected.items():
        assert ours.sequences[name] == numbers


def plain_f(found: np.ndarray, objects: np.ndarray) -> float:
    """F of two masks, pixel by pixel."""
    edges = []
    for pixels in (found, objects):
        high, wide = pixels.shape
        edges.append(
            [
                (y, x)
                for y in range(high)
                for x in range(wide)
                if any(
                    pixels[min(y + down, high - 1), min(x + right, wide - 1)] != pixels[y, x]
                    for down, right in ((0, 1), (1, 0), (1, 1))
                )
            ]
        )
    if not all(edges):
        return float(not any(edges))
    radius = np.ceil(0.008 * np.hypot(*found.shape))
    precision, recall = (
        sum(any((y - v) ** 2 + (x - u) ** 2 <= radius**2 for v, u in other) for y, x in one) / len(one)
        for one, other in (edges, edges[::-1])
    )
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (12, 15), (150, 170)])
def test_f_is_that_of_pixels(size: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    for _ in range(3 if size[0] > 100 else 30):
        pair = []
        for _ in range(2):
            top, left = (int(rng.integers(0, side)) for side in size)
            pixels = np.zeros(size, np.bool_)
            pixels[top : top + rng.integers(0, 12), left : left + rng.integers(0, 12)] = True
            pair.append(pixels if rng.random() < 0.8 else ~pixels if size[0] < 100 else pixels)
        found, objects = (Masks.from_arrays([pixels]) for pixels in pair)
        measured = MeasuredMasks(objects, found, PairColumns(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)))
        assert measured.f(np.array([0]), np.array([0])).tolist() == [plain_f(*pair)]


def square(left: int) -> np.ndarray:
    pixels = np.zeros(SIZE, np.bool_)
    pixels[10:30, left : left + 20] = True
    return pixels


def evaluated(objects: Drawn, found: Drawn) -> JAndF:
    return evaluate_j_and_f(*sides(objects, found))


def test_numbers_of_objects_can_be_counted() -> None:
    objects: Drawn = {"a": [{1: square(10), 2: square(50)}] * 4}
    found: Drawn = {"a": [{7: square(10)}] * 3 + [{7: square(20)}]}  # at the end, J is 1 / 3
    ours = evaluated(objects, found)
    first, second = ours.objects
    assert (first.category, first.sequence, first.track, first.found) == ("thing", "a", 1, 7)
    assert first.numbers["J-Mean"] == pytest.approx((3 + 1 / 3) / 4)
    assert first.numbers["J-Recall"] == 0.75
    assert first.numbers["J-Decay"] == pytest.approx(1 - 2 / 3)  # frames 1 and 2, and 3 and 4
    assert (second.track, second.found, second.numbers["J-Mean"], second.numbers["F-Mean"]) == (2, None, 0, 0)
    assert ours.summary["J-Mean"] == pytest.approx((3 + 1 / 3) / 8)
    assert ours.summary["J&F"] == pytest.approx((ours.summary["J-Mean"] + ours.summary["F-Mean"]) / 2)
    assert ours.summary["num_gt_tracks"] == 2
    assert repr(ours).startswith("JAndF(J&F=0.4")


def test_sequences_without_objects_do_not_count_and_long_ones_decay() -> None:
    long: Drawn = {"a": [{1: square(10)}] * 300, "b": [{}]}
    ours = evaluated(long, {"a": [{7: square(10)}] * 150 + [{}] * 150, "b": [{7: square(10)}]})
    assert np.isnan(ours.sequences["b"]["J&F"])
    assert ours.summary["J-Decay"] == 1
    assert ours.per_class["thing"] == ours.summary == ours.sequences["a"]


KEYS = ["J&F", "J-Mean", "J-Recall", "J-Decay", "F-Mean", "F-Recall", "F-Decay"]


def test_davis_has_j_and_f_beside_the_other_numbers() -> None:
    objects, found = random_sequences(np.random.default_rng(7))
    gt, dt = sides({**objects, "d": [{}]}, {**found, "d": [{0: square(10)}]})
    of_objects, of_found = (1 + np.asarray(side.attributes["track_id"]) % 2 for side in (gt, dt))
    gt = replace(gt, category_ids=of_objects, categories=Categories(np.array([1, 2]), ("a", "b")))
    dt = replace(dt, category_ids=of_found)
    tracks, fit = evaluate_tracks(gt, dt, protocol="davis"), evaluate_j_and_f(gt, dt)
    plain = evaluate_tracks(gt, dt, protocol="plain", iou_type="segm")
    parts = [
        (tracks.summary, plain.summary, fit.summary),
        (tracks.class_average, plain.class_average, fit.summary),
        *((tracks.sequences[name], plain.sequences[name], fit.sequences[name]) for name in fit.sequence_names),
    ]
    for name in ("a", "b"):
        ours, expected = tracks.per_class[name], plain.per_class[name]
        parts += [(ours.summary, expected.summary, fit.per_class[name])]
        parts += [(ours.sequences[one], expected.sequences[one], fit.part(name, one)) for one in fit.sequence_names]
    for numbers, others, fits in parts:
        assert list(numbers) == [*others, *KEYS]
        np.testing.assert_equal(dict(numbers), {**others, **{key: fits[key] for key in KEYS}})
    assert np.isnan(tracks.sequences["d"]["J&F"])
    assert "J&F" not in plain.summary
    assert plain.j_and_f is None
    assert tracks.j_and_f is not None
    assert len(tracks.j_and_f.objects) == len(fit.objects)
    assert [list(row)[1:8] for row in tracks.notebook_rows()[0]] == [KEYS] * (len(fit.sequence_names) + 1)


def test_the_rule_needs_masks() -> None:
    objects: Drawn = {"a": [{1: square(10)}] * 2}
    gt, dt = sides(objects, objects)
    with pytest.raises(ValueError, match="the protocol DAVIS compares masks, 'segm', and not 'bbox'"):
        evaluate_tracks(gt, dt, protocol="davis", iou_type="bbox")
    with pytest.raises(ValueError, match="a protocol that counts J and F compares masks, 'segm', got 'bbox'"):
        TrackProtocol(name="mine", j_and_f=True)
    boxes = GroundTruth.from_arrays(
        image_ids=["a/000"], category_ids=[1], boxes=[[0, 0, 1, 1]], attributes={"track_id": [1]}, images=["a/000"]
    )
    found = Detections.from_arrays(
        image_ids=["a/000"], category_ids=[1], boxes=[[0, 0, 1, 1]], attributes={"track_id": [1]}, scores=None
    )
    with pytest.raises(DatasetError, match="segmentation"):
        evaluate_tracks(boxes, found, protocol="davis")
