"""WIDER FACE's rules against their arithmetic, written plainly."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from evaluation.plain_wider_face import Photo, plain_wider_ap
from ioukit import COCO, DatasetError, Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import MatchTable, match
from ioukit.evaluation.protocols import WIDER_FACE, find_protocol

SUBSETS = ("easy", "medium", "hard")


def album(seed: int) -> tuple[GroundTruth, Detections, list[list[Photo]]]:
    """Faces in subsets that need not lie within each other, detections near them, and images without faces."""
    random = np.random.default_rng(seed)
    photos: list[list[Photo]] = [[], [], []]
    for image in range(int(random.integers(1, 5))):
        count, number = int(random.integers(0, 8)) + (image == 0), int(random.integers(0, 20))
        faces = np.hstack([random.integers(0, 90, (count, 2)), random.integers(5, 40, (count, 2))]).astype(float)
        of_subset = random.random((3, count)) < 0.6
        of_subset[:, :1] |= image == 0
        near = faces[random.integers(0, count, number)] if count else np.full((number, 4), 30.0)
        found = near + random.normal(0, 2.5, (number, 4))
        found[:, 2:] = np.maximum(found[:, 2:], 0)
        if seed % 3 == 0:
            found = np.round(found)
        scores = random.random(number) * (3 if seed % 7 == 0 else 0.8) - (seed % 7 == 0)
        if seed % 5 == 0:
            scores = np.round(scores, 1)
        for subset in range(3):
            photos[subset].append(Photo(faces, of_subset[subset].tolist(), found, scores))
    every = photos[0]
    flags = {
        name: np.concatenate([np.array(photo.counts, bool) for photo in photos[k]]) for k, name in enumerate(SUBSETS)
    }
    sides: list[dict[str, Any]] = []
    for name in ("faces", "detections"):
        boxes = [getattr(photo, name) for photo in every]
        ids = np.repeat(np.arange(len(every)), [len(each) for each in boxes])
        sides.append({"image_ids": ids, "category_ids": np.ones(len(ids), int), "boxes": np.concatenate(boxes)})
    gt = GroundTruth.from_arrays(**sides[0], flags=flags, images=range(len(every)))
    return gt, Detections.from_arrays(**sides[1], scores=np.concatenate([photo.scores for photo in every])), photos


def test_each_subset_has_the_number_of_the_plain_arithmetic() -> None:
    for seed in range(40):
        gt, dt, photos = album(seed)
        summary = evaluate(gt, dt, WIDER_FACE).summary
        for subset, of_subset in zip(SUBSETS, photos, strict=True):
            assert summary[f"AP{subset}"] == pytest.approx(plain_wider_ap(of_subset), rel=1e-13), seed


def test_a_sum_of_splits_has_the_same_bits() -> None:
    for seed in range(10):
        gt, dt, _ = album(seed)
        whole = evaluate(gt, dt, WIDER_FACE)
        parts = [match(gt, dt, WIDER_FACE, images=[image]) for image in gt.images.ids[::-1].tolist()]
        assert dict(Evaluation.from_table(MatchTable.merge(parts)).summary) == dict(whole.summary)


def test_detections_on_images_without_faces_only_set_the_scale_of_scores() -> None:
    box, small = [10.0, 10.0, 20.0, 20.0], [50.0, 50.0, 9.0, 9.0]
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1],
        category_ids=[1, 1],
        boxes=[box, small],
        images=[1, 2],
        flags={"easy": [True, False], "medium": [True, True], "hard": [False, False]},
    )
    dt = Detections.from_arrays(
        image_ids=[1, 2, 1], category_ids=[1] * 3, boxes=[box, box, small], scores=[0.8, 0.9, 0.1]
    )
    evaluation = evaluate(gt, dt, WIDER_FACE)
    assert {key: value for key, value in evaluation.summary.items() if not math.isnan(value)} == {
        "APeasy": 1.0,
        "APmedium": 1.0,
    }
    assert evaluation.table().splitlines() == ["Easy   AP: 1.0000", "Medium AP: 1.0000", "Hard   AP: -1.0000"]
    assert evaluation.matches.is_ignored(area_range="easy").tolist() == [False, True, True]


def test_detections_with_one_score_for_all_are_below_every_step() -> None:
    box = [[10.0, 10.0, 20.0, 20.0]]
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=box, flags={key: [True] for key in SUBSETS})
    one = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=box, scores=[1.0])
    assert evaluate(gt, one, WIDER_FACE).summary["APeasy"] == 0
    assert evaluate(gt, one[:0], WIDER_FACE).summary["APeasy"] == 0


def test_a_flag_that_is_missing_is_named() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], flags={"easy": [True]})
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[1.0])
    with pytest.raises(DatasetError, match=r"'WIDER FACE' needs the flag 'medium' of the objects: .*found easy"):
        evaluate(gt, dt, WIDER_FACE)
    with pytest.raises(ValueError, match="unknown ranges_by 'height'; choose from area, flag"):
        COCO.replace(ranges_by="height")


def test_it_is_found_by_its_name_and_survives_a_file() -> None:
    protocol = find_protocol("wider-face")
    assert type(protocol).from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
