"""AP of whole tracks: cases that can be counted by hand, and TrackEval's numbers, run beside on the same tracks."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, Masks, RotatedBoxes, evaluate_tracks
from ioukit.errors import DatasetError
from ioukit.tracks import TRACK_PROTOCOLS, TubeRules
from support.random_federated_sets import random_vis_set
from support.random_tracks import random_track_set
from support.trackeval_runs import all_differences, numbers_of, painted, trackeval

if TYPE_CHECKING:
    from pathlib import Path

    from support.random_tracks import Rows, TrackSet

BOUNDS = (8.0, 20.0), (2.0, 5.0)
RULES = TubeRules(areas=BOUNDS[0], lengths=BOUNDS[1])
PLAIN = TRACK_PROTOCOLS["plain"]


def encoded(masks: np.ndarray) -> list[Any]:
    """Masks as RLE, which pycocotools counts."""
    mask = pytest.importorskip("pycocotools.mask")
    return [mask.encode(np.asfortranarray(one)) for one in masks]


def tracks_of(rows: Rows, scores: np.ndarray, place: int, number: int, ids: dict[str, int], *, masks: bool) -> Any:
    """The tracks of a class in a sequence as TrackEval's data sets give them: name of the field and values."""
    chosen = (rows.sequences == place) & (rows.classes == number)
    tracks = {track: np.flatnonzero(chosen & (rows.tracks == track)) for track in dict.fromkeys(rows.tracks[chosen])}
    tracks = {track: of[np.argsort(rows.frames[of])] for track, of in tracks.items()}
    regions: Any = encoded(painted(rows.boxes)) if masks else rows.boxes
    areas = painted(rows.boxes).sum(axis=(1, 2)) if masks else rows.boxes[:, 2] * rows.boxes[:, 3]
    return {
        "tracks": [{ids[f"{place}/{rows.frames[at]}"]: regions[at] for at in of} for of in tracks.values()],
        "track_ids": list(range(1, len(tracks) + 1)),  # 0 is no id there
        "track_lengths": [len(of) for of in tracks.values()],
        "track_areas": [sum(areas[of].tolist()) / len(of) for of in tracks.values()],
        "track_scores": [np.mean(scores[of]) for of in tracks.values()],
    }


def theirs(given: TrackSet, scores: np.ndarray, classes: list[int], ids: dict[str, int], *, masks: bool) -> Any:
    """TrackEval's numbers of each class, and their mean."""
    areas, lengths = (np.array([[0, low], [low, high], [high, 1e10]]) for low, high in BOUNDS)
    options = {"PRINT_CONFIG": False, "AREA_RANGES": areas, "TIME_RANGES": lengths}
    measure = trackeval().metrics.TrackMAP(options)
    found = {}
    names = list(given.lengths)
    for number in classes:
        parts = {}
        for name in sorted(names):
            data: dict[str, Any] = {"iou_type": "mask" if masks else "bbox"}
            for side, rows, of_side in (
                ("gt", given.objects, np.ones(len(given.objects.frames))),
                ("dt", given.found, scores),
            ):
                columns = tracks_of(rows, of_side, names.index(name), number, ids, masks=masks)
                order = np.argsort([-score for score in columns["track_scores"]], kind="mergesort")
                data |= {f"{side}_{key}": [values[at] for at in order] for key, values in columns.items()}
            parts[name] = measure.eval_sequence(data)
        found[number] = measure.combine_sequences(parts)
    return found, measure.combine_classes_class_averaged(found)


def differing(ours: Any, expected: Any) -> list[str]:
    names = [name for name in expected if name.startswith(("AP_", "AR_"))]
    assert len(names) == 14
    return [
        name
        for name in names
        if not np.array_equal(np.where(np.isnan(ours.curves[name]), -1, ours.curves[name]), expected[name])
    ]


def compare(seed: int, *, masks: bool = False) -> list[str]:
    """What differs in a random set, by boxes or by masks."""
    given, rng = random_track_set(seed), np.random.default_rng(seed)
    scores = np.round(rng.random(len(given.found.frames)), 2 if seed % 2 else 1)
    if seed % 4 == 0:
        scores[:] = 0.1  # all are equal, apart from the last bit of their means
    classes = sorted({*given.objects.classes.tolist(), *given.found.classes.tolist()})
    if not classes:
        return []
    sides: list[Any] = [given.ground_truth(), replace(given.detections(), scores=scores)]
    if masks:
        drawn = [{"Masks": Masks.from_arrays(painted(rows.boxes))} for rows in (given.objects, given.found)]
        sides = [replace(side, regions=regions) for side, regions in zip(sides, drawn, strict=True)]
    keys = dict(zip(sides[0].images.labels.tolist(), sides[0].images.ids.tolist(), strict=True))
    names = list(given.lengths)
    ids = {
        f"{names.index(name)}/{int(frame) - 1}": number
        for key, number in keys.items()
        for name, frame in [key.split("/")]
    }
    ours = evaluate_tracks(*sides, protocol=replace(PLAIN, tubes=RULES), iou_type="segm" if masks else "bbox")
    expected, mean = theirs(given, scores, classes, ids, masks=masks)
    found = [name for one in ours.per_class for name in differing(one.summary, expected[one.id])]
    return found + differing(ours.summary, mean) + differing(ours.class_average, mean)


@pytest.mark.parametrize("first", range(0, 60, 10))
def test_numbers_have_the_bits_of_trackeval(first: int) -> None:
    assert {seed: found for seed in range(first, first + 10) if (found := compare(seed))} == {}


def test_masks_have_the_bits_of_trackeval() -> None:
    assert {seed: found for seed in range(12) if (found := compare(seed, masks=True))} == {}


def sides_of(found: list[tuple[int, int, float]]) -> tuple[GroundTruth, Detections]:
    """An object in four frames, and detections on it: frame, track and score."""
    box = [0.0, 0.0, 10.0, 10.0]
    gt = GroundTruth.from_arrays(
        image_ids=[1, 2, 3, 4], category_ids=[1] * 4, boxes=[box] * 4, attributes={"track_id": [1] * 4}
    )
    frames, tracks, scores = zip(*found, strict=True)
    dt = Detections.from_arrays(
        image_ids=frames,
        category_ids=[1] * len(found),
        boxes=[box] * len(found),
        scores=scores,
        attributes={"track_id": tracks},
    )
    return gt, dt


def test_a_track_is_found_up_to_its_overlap_over_all_frames() -> None:
    gt, dt = sides_of([(1, 5, 0.9), (2, 5, 0.9), (3, 5, 0.9), (4, 6, 1.0)])
    found = evaluate_tracks(gt, dt, protocol=replace(PLAIN, tubes=TubeRules()))
    assert found.summary.curves["AR_all"].tolist() == [1] * 6 + [0] * 4  # 3 of 4 frames: 0.75
    assert found.summary["AP_all"] == pytest.approx(0.3)  # track 6 is surer and wrong, so that precision is 1 / 2
    assert set(found.summary) - set(found.sequences["sequence"]) == {"AP_all", "AR_all"}
    assert found.class_table().split()[:4] == ["class", "HOTA", "AP_all", "AR_all"]


def test_the_score_of_a_track_is_the_mean_of_its_detections() -> None:
    gt, dt = sides_of([(1, 0, 1.0), (2, 0, 0.2), (3, 0, 0.2), (4, 6, 0.5)])
    found = evaluate_tracks(gt, dt, protocol=replace(PLAIN, tubes=TubeRules()))
    assert found.summary["AP_all"] == pytest.approx(0.3)  # 0.47 for the track on the object, 0.5 for the other


def test_a_number_without_objects_is_null_in_json() -> None:
    gt, dt = sides_of([(1, 5, 0.9)])
    found = evaluate_tracks(gt, dt, protocol=replace(PLAIN, tubes=TubeRules(areas=(200, 300), lengths=(1, 3))))
    numbers = json.loads(found.to_json())["summary"]
    assert [numbers[f"AP_{name}"] for name in ("all", "area_s", "area_m", "time_l")] == [0, 0, None, 0]


def test_results_without_scores_are_refused() -> None:
    gt, dt = sides_of([(1, 5, 1.0)])
    with pytest.raises(DatasetError, match="have no scores, and AP of whole tracks ranks by scores"):
        evaluate_tracks(gt, replace(dt, scored=False), protocol=replace(PLAIN, tubes=TubeRules()))
    assert evaluate_tracks(gt, replace(dt, scored=False)).summary["HOTA"] > 0


def test_other_regions_than_boxes_and_masks_are_refused() -> None:
    gt, dt = sides_of([(1, 5, 0.9)])
    turned = RotatedBoxes(np.array([[5.0, 5.0, 4.0, 4.0, 0.3]]), unit="radians", sense="clockwise")
    gt, dt = replace(gt[:1], regions={"RotatedBoxes": turned}), replace(dt, regions={"RotatedBoxes": turned})
    with pytest.raises(ValueError, match="AP of whole tracks needs boxes or masks, 'bbox' or 'segm', got 'rotated'"):
        evaluate_tracks(gt, dt, protocol=replace(PLAIN, tubes=TubeRules()), iou_type="rotated")


def vis_of_trackeval(folder: Path, truth: Any, found: Any) -> Any:
    mask = pytest.importorskip("pycocotools.mask")
    for name in ("gt/youtube_vis_all", "found/youtube_vis_all/ours/data"):
        (folder / name).mkdir(parents=True)
    packed = copy.deepcopy(found)
    for record in packed:
        runs = [one and mask.frPyObjects(one, *one["size"]) for one in record["segmentations"]]
        record["segmentations"] = [one and {**one, "counts": one["counts"].decode()} for one in runs]
    (folder / "gt/youtube_vis_all/all.json").write_text(json.dumps(truth))
    (folder / "found/youtube_vis_all/ours/data/all.json").write_text(json.dumps(packed))
    folders = {"GT_FOLDER": f"{folder}/gt/", "TRACKERS_FOLDER": f"{folder}/found/", "SPLIT_TO_EVAL": "all"}
    data = trackeval().datasets.YouTubeVIS({"PRINT_CONFIG": False, **folders})
    data.global_tid_counter = 1  # 0 is no id there
    data.get_raw_seq_data = lambda _, name: type(data).get_raw_seq_data(data, "ours", name)
    return data


@pytest.mark.parametrize("seed", range(24))
def test_youtube_vis_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    truth, found = random_vis_set(seed)
    if not found or not truth["annotations"]:
        return
    data = vis_of_trackeval(tmp_path, truth, found)
    limits = [[0, 60], [60, 150], [150, 1e10]]
    expected = numbers_of(data, AREA_RANGES=limits, USE_TIME_RANGES=False)
    rules = replace(TRACK_PROTOCOLS["youtube-vis"], tubes=TubeRules(areas=(60.0, 150.0), of_files=True))
    files = tmp_path / "gt/youtube_vis_all/all.json", tmp_path / "found/youtube_vis_all/ours/data/all.json"
    assert all_differences(evaluate_tracks(*files, protocol=rules), expected) == []


@pytest.mark.parametrize("bounds", [3, (3,), (3, 5, 10), (10, 3), (3, 3), (-1, 3), (3, float("nan")), "ab", ("a", "b")])
def test_bounds_are_two_numbers(bounds: Any) -> None:
    for name in ("areas", "lengths"):
        with pytest.raises(ValueError, match=f"{name} must be two numbers of at least 0, the lower one first, got "):
            TubeRules(**{name: bounds})
