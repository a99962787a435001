"""An evaluation that grows frame by frame has the numbers of the whole, however frames are split."""

from __future__ import annotations

import itertools
import json
import pickle
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ioukit import Boxes, DatasetError, Masks, RotatedBoxes, TrackEvaluator, evaluate_tracks
from support.random_tracks import random_track_set
from support.trackeval_runs import painted

PERSON = {"boxes": [[0, 0, 10, 10]], "labels": [0], "track_ids": [1]}


@pytest.mark.parametrize("seed", range(1, 25))
def test_parts_have_the_bits_of_the_whole(seed: int) -> None:
    given, rng = random_track_set(seed), np.random.default_rng(seed)
    whole = evaluate_tracks(given.ground_truth(), given.detections())
    evaluators = [TrackEvaluator(categories=given.names) for _ in range(2)]
    for place in rng.permutation(len(given.lengths)).tolist():
        evaluator, name = evaluators[place % 2], list(given.lengths)[place]
        predictions, targets = (given.frames_of(rows, place) for rows in (given.found, given.objects))
        first = 0
        while first < len(targets):
            last = first + int(rng.integers(1, 4))
            evaluator.update(predictions[first:last], targets[first:last], sequence=name)
            first = last
    evaluators[0].merge(pickle.loads(pickle.dumps(evaluators[1])))
    found = evaluators[0].compute()
    assert len(evaluators[0]) == sum(given.lengths.values())
    of_found, of_whole = ({**one.to_dict(), "notes": []} for one in (found, whole))  # notes name other sources
    assert json.dumps(of_found) == json.dumps(of_whole)


def test_no_bit_depends_on_which_evaluator_is_merged_first() -> None:
    given = random_track_set(10)
    parts = []
    for place, name in enumerate(given.lengths):
        part = TrackEvaluator(categories=given.names)
        part.update(given.frames_of(given.found, place), given.frames_of(given.objects, place), sequence=name)
        parts.append(part)
    answers = set()
    for order in itertools.permutations(parts):
        evaluator = TrackEvaluator(categories=given.names)
        for part in order:
            evaluator.merge(part)
        found = evaluator.compute()
        rows = [column.tolist() for column in (found.events.image, found.events.object, found.events.detection)]
        answers.add(json.dumps([found.to_dict(), found.events.to_dicts(), rows]))
    assert len(parts) > 2
    assert len(answers) == 1


def test_an_evaluator_of_many_updates_is_small() -> None:
    """A sequence per process: what is sent is little more than the columns of its boxes."""
    evaluator, rng = TrackEvaluator(), np.random.default_rng(0)
    for _ in range(100):
        frame = {"boxes": Boxes(rng.uniform(0, 9, (25, 4)), "xywh"), "labels": [0] * 25, "track_ids": np.arange(25)}
        evaluator.update([frame], [frame], sequence="a")
    assert len(pickle.dumps(evaluator)) < 64 * 2 * 100 * 25


def test_other_regions() -> None:
    given = random_track_set(2)
    boxes = np.maximum(given.objects.boxes, 1)
    turned = np.column_stack([boxes[:, :2], boxes[:, 2:], np.full(len(boxes), 0.3)])
    labels = {"labels": np.zeros(len(boxes), int), "track_ids": np.arange(len(boxes))}
    for kind, regions in (
        ("rotated", {"boxes": RotatedBoxes(turned, unit="radians", sense="clockwise")}),
        ("segm", {"masks": Masks.from_arrays(painted(np.array([[5.0, 5, 9, 9], [20, 20, 9, 9]])))}),
    ):
        count = len(next(iter(regions.values())))
        frame = {**regions, **{name: column[:count] for name, column in labels.items()}}
        evaluator = TrackEvaluator(iou_type=kind)
        for _ in range(2):
            evaluator.update([frame], [frame], sequence="a")
        assert evaluator.compute().summary["IDTP"] == 2 * count
    with pytest.raises(ValueError, match="got 'keypoints'"):
        TrackEvaluator(iou_type="keypoints")


def test_tracks_of_tools() -> None:
    columns = {"xyxy": [[0.0, 0, 10, 10]], "confidence": [0.5], "class_id": [0], "tracker_id": [7]}
    found = SimpleNamespace(**{name: np.array(value) for name, value in columns.items()}, mask=None, data={})
    evaluator = TrackEvaluator(categories=["person"])
    evaluator.update([found], [PERSON], sequence="a")
    assert evaluator.compute().summary["MOTA"] == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"track_ids": [-1]}, r"predictions\[1\]: track_ids: row 0: expected the id of a track, .* found -1"),
        ({"track_ids": [0.5]}, r"predictions\[1\]: track_ids: expected integers"),
        ({"track_ids": [1, 2]}, r"predictions\[1\]: track_ids: expected 1 value, one per detection, found 2"),
        ({"boxes": [[5, 0, 0, 9]]}, r"predictions\[1\]: boxes: row 0: expected x1 <= x2"),
        (
            {"boxes": [[0, 0, 1, 1]] * 2, "labels": [0, 0], "track_ids": [3, 3]},
            r"predictions\[1\]: track_ids: row 1: expected each track once per class in a frame, found 3",
        ),
    ],
)
def test_what_is_wrong_changes_nothing(change: dict[str, Any], message: str) -> None:
    evaluator = TrackEvaluator()
    evaluator.update([PERSON], [PERSON], sequence="a")
    with pytest.raises(DatasetError, match=message):
        evaluator.update([PERSON, {**PERSON, **change}], [PERSON, PERSON], sequence="a")
    assert len(evaluator) == 1
    assert evaluator.compute().summary["IDTP"] == 1


def test_wrong_arguments() -> None:
    evaluator, other = TrackEvaluator(categories=["person"]), TrackEvaluator()
    with pytest.raises(ValueError, match="at least one frame, got none"):
        evaluator.compute()
    lacking = {name: value for name, value in PERSON.items() if name != "track_ids"}
    with pytest.raises(DatasetError, match="expected the key 'track_ids'"):
        evaluator.update([lacking], [PERSON], sequence="a")
    with pytest.raises(ValueError, match="got 1 predictions and 2 targets"):
        evaluator.update([PERSON], [PERSON, PERSON], sequence="a")
    with pytest.raises(TypeError, match="must be a list with one entry per frame, got dict"):
        evaluator.update(PERSON, [PERSON], sequence="a")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="sequence must be the name of a sequence, got 3"):
        evaluator.update([PERSON], [PERSON], sequence=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"must have the same categories, expected {0: 'person'}, got None"):
        evaluator.merge(other)
    other.update([PERSON], [PERSON], sequence="a")
    with pytest.raises(ValueError, match="the sequence 'a' is in both evaluators"):
        other.merge(other)
