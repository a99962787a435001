"""What objects and tracks cost is what plain HOTA says of the changed data."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate_tracks, pairwise_iou
from ioukit._core import assign_rows
from ioukit.tracks import THRESHOLDS
from support.random_tracks import random_track_set

if TYPE_CHECKING:
    from support.random_tracks import Rows

Region: TypeAlias = tuple[int, int]
"""The sequence and the track of a region."""
SEEDS = range(40)


class Scene(NamedTuple):
    """The regions of one class, and which are pairs with which overlap: positions of an object and a detection."""

    objects: list[Region]
    found: list[Region]
    pairs: list[tuple[int, int, float]]

    def hota(self, threshold: float) -> float:
        """HOTA of these pairs, by its definition."""
        pairs = [(self.objects[a], self.found[b]) for a, b, overlap in self.pairs if overlap >= threshold - 1e-15]
        long, other, both = Counter(self.objects), Counter(self.found), Counter(pairs)
        association = sum(both[pair] / (long[pair[0]] + other[pair[1]] - both[pair]) for pair in pairs)
        return math.sqrt(association / max(1, len(self.objects) + len(self.found) - len(pairs)))

    def at(self, threshold: float) -> Scene:
        """The pairs of a threshold, of which the changes are made."""
        return self._replace(pairs=[pair for pair in self.pairs if pair[2] >= threshold - 1e-15])

    def followed(self, track: Region) -> Scene:
        """The same, with an object that a track of its own follows in all of its frames."""
        found, pairs, own = [*self.found], [*self.pairs], (track[0], -5)
        pair_of = {a: b for a, b, _ in pairs}
        for a in [a for a, one in enumerate(self.objects) if one == track]:
            if a in pair_of:
                found[pair_of[a]] = own
            else:
                pairs.append((a, len(found), 1.0))
                found.append(own)
        return Scene(self.objects, found, pairs)

    def without_false(self, track: Region) -> Scene:
        """The same, without the regions of a track that are at no object."""
        paired = {b for _, b, _ in self.pairs}
        kept = [b for b, one in enumerate(self.found) if one != track or b in paired]
        return Scene(
            self.objects, [self.found[b] for b in kept], [(a, kept.index(b), overlap) for a, b, overlap in self.pairs]
        )


def scene_of(objects: Rows, found: Rows, number: int) -> Scene:
    """The pairs of HOTA of one class, by the paper."""
    sides = [(rows, np.flatnonzero(rows.classes == number)) for rows in (objects, found)]
    regions = [[(int(rows.sequences[k]), int(rows.tracks[k])) for k in chosen] for rows, chosen in sides]
    long, other = map(Counter, regions)
    together: Counter[tuple[Region, Region]] = Counter()
    tables = []
    for frame in sorted({(int(rows.sequences[k]), int(rows.frames[k])) for rows, chosen in sides for k in chosen}):
        here = [
            [at for at, k in enumerate(chosen) if (rows.sequences[k], rows.frames[k]) == frame]
            for rows, chosen in sides
        ]
        boxes = [rows.boxes[chosen[at]].reshape(-1, 4) for (rows, chosen), at in zip(sides, here, strict=True)]
        corners = [np.concatenate([one[:, :2], one[:, :2] + one[:, 2:]], axis=1) for one in boxes]
        overlaps = np.asarray(pairwise_iou(*corners))
        tables.append((here[0], here[1], overlaps))
        share = overlaps / np.maximum(overlaps.sum(0) + overlaps.sum(1)[:, np.newaxis] - overlaps, 1e-300)
        for a, row in zip(here[0], share, strict=True):
            for b, value in zip(here[1], row, strict=True):
                together[regions[0][a], regions[1][b]] += value
    pairs = []
    for rows_here, columns_here, overlaps in tables:
        if not overlaps.size:
            continue
        scores = np.zeros(overlaps.shape)
        for i, a in enumerate(rows_here):
            for j, b in enumerate(columns_here):
                pair = regions[0][a], regions[1][b]
                scores[i, j] = together[pair] / (long[pair[0]] + other[pair[1]] - together[pair]) * overlaps[i, j]
        chosen = assign_rows(-scores)
        assert chosen is not None
        pairs += [(rows_here[i], columns_here[j], float(overlaps[i, j])) for i, j in zip(*chosen, strict=True)]
    return Scene(regions[0], regions[1], pairs)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cost_is_the_difference_to_the_hota_of_changed_pairs(seed: int) -> None:
    given = random_track_set(seed)
    evaluation = evaluate_tracks(given.ground_truth(), given.detections())
    costs = evaluation.costs
    assert (np.diff(costs.cost) <= 0).all()
    assert costs.cost.min() >= -1e-12
    assert costs.frames.sum() == len(given.objects.tracks) + len(given.found.tracks)
    assert costs.alone[costs.is_object].sum() == evaluation.summary["FN"]
    assert costs.alone[~costs.is_object].sum() == evaluation.summary["FP"]
    assert costs.changes[costs.is_object].sum() == evaluation.summary["IDSW"]
    assert costs.changes[~costs.is_object].sum() == evaluation.events.transfer.sum()
    numbers = {name: number for number, name in given.names.items()}
    scenes = {name: scene_of(given.objects, given.found, numbers[name]) for name in costs.class_names}
    for one in evaluation.per_class:
        plain = [scenes[one.name].hota(threshold) for threshold in THRESHOLDS]
        np.testing.assert_allclose(one.summary.curves["HOTA"], plain, atol=1e-12)
    places = {name: place for place, name in enumerate(given.lengths)}
    for k in range(len(costs)):
        scene = scenes[costs.class_names[costs.category[k]]]
        track = places[costs.sequence_names[costs.sequence[k]]], int(costs.track[k])
        changed = [Scene.without_false, Scene.followed][int(costs.is_object[k])]
        rises = [changed(scene.at(alpha), track).hota(alpha) - scene.hota(alpha) for alpha in THRESHOLDS.tolist()]
        assert costs.cost[k] == pytest.approx(np.mean(rises), abs=1e-12)


def walks(seed: int) -> tuple[GroundTruth, dict[str, np.ndarray]]:
    """Objects that stand apart, and what follows them: each box is exactly one of an object, or far from all."""
    rng = np.random.default_rng(seed)
    rows, found = [], []
    for sequence in range(2):
        ids = rng.permutation(6)
        for frame in range(8):
            if rng.random() < 0.4:
                ids = rng.permutation(6)
            for at, track in enumerate(ids.tolist()):
                if at < 4 and rng.random() < 0.9:
                    rows.append((sequence, frame, at, at))
                if rng.random() < 0.75:
                    found.append(
                        (sequence, frame, track, at if rows and rows[-1] == (sequence, frame, at, at) else 10 + at)
                    )
    truth, result = np.array(rows), np.array(found)
    gt = GroundTruth.from_arrays(
        image_ids=images_of(truth[:, 0], truth[:, 1]),
        category_ids=np.ones(len(truth), int),
        boxes=boxes_of(truth[:, 3]),
        images=images_of(*(one.ravel() for one in np.mgrid[0:2, 0:8])),
        attributes={"track_id": truth[:, 2]},
    )
    return gt, dict(zip(("sequence", "frame", "track", "place"), result.T, strict=True))


def images_of(sequences: np.ndarray, frames: np.ndarray) -> np.ndarray:
    return np.array([f"S{sequence}/{frame}" for sequence, frame in zip(sequences, frames, strict=True)])


def boxes_of(places: np.ndarray) -> np.ndarray:
    return np.stack([30.0 * places, 0 * places, 10 + 0 * places, 10 + 0 * places], axis=1)


def result_of(columns: dict[str, np.ndarray]) -> Detections:
    return Detections.from_arrays(
        image_ids=images_of(columns["sequence"], columns["frame"]),
        category_ids=np.ones(len(columns["track"]), int),
        boxes=boxes_of(columns["place"]),
        scores=np.ones(len(columns["track"])),
        attributes={"track_id": columns["track"]},
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_a_cost_is_what_another_evaluation_of_changed_data_shows(seed: int) -> None:
    """Where no box is near two objects, pairs stay by themselves."""
    gt, columns = walks(seed)
    evaluation = evaluate_tracks(gt, result_of(columns))
    costs, tracks = evaluation.costs, gt.attributes["track_id"]
    truth = np.array([[int(part) for part in label[1:].split("/")] for label in gt.image_labels()])
    for k in range(len(costs)):
        sequence, track = int(costs.sequence[k]), int(costs.track[k])
        if costs.is_object[k]:
            is_on_it = (columns["sequence"] == sequence) & (columns["place"] == track)
            frames = truth[(truth[:, 0] == sequence) & (tracks == track), 1]
            own = {
                "sequence": 0 * frames + sequence,
                "frame": frames,
                "track": 0 * frames + 77,
                "place": 0 * frames + track,
            }
            changed = {name: np.concatenate([values[~is_on_it], own[name]]) for name, values in columns.items()}
        else:
            is_false = (columns["sequence"] == sequence) & (columns["track"] == track) & (columns["place"] >= 10)
            changed = {name: values[~is_false] for name, values in columns.items()}
        again = evaluate_tracks(gt, result_of(changed))
        assert costs.cost[k] == pytest.approx(again.summary["HOTA"] - evaluation.summary["HOTA"], abs=1e-12)


def test_rows_of_a_table() -> None:
    gt, columns = walks(1)
    named = np.array([f"t{track}" for track in columns["track"].tolist()])
    costs = evaluate_tracks(gt, result_of({**columns, "track": named})).costs
    assert repr(costs[:3]) in [f"TrackCosts({objects} objects, {3 - objects} tracks)" for objects in (0, 2, 3)]
    assert set(costs[~costs.is_object].track.tolist()) == set(named.tolist())
    assert set(costs[costs.is_object].track.tolist()) <= {"0", "1", "2", "3"}
    frame = pytest.importorskip("pandas").DataFrame(costs.to_pandas())
    assert frame["of"].tolist()[0] == "object"
    assert [*frame] == ["of", "sequence", "class", "track", "cost", "frames", "alone", "changes"]
