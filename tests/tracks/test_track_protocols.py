"""What benchmarks leave out: cases that can be counted, and TrackEval's own data sets, run beside on the same files."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate_tracks
from ioukit.datasets import read, read_detections
from ioukit.datasets.formats.kitti import KITTI_NAMES
from ioukit.datasets.formats.mot import MOT_NAMES
from ioukit.errors import DatasetError
from ioukit.tracks import TRACK_PROTOCOLS, TrackProtocol
from support.random_protocol_sets import random_bdd_set, random_kitti_set, random_mot_set
from support.trackeval_runs import all_measures, differences, trackeval

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import TrackEvaluation

QUIET = {"PRINT_CONFIG": False}
BENCHMARKS = ("MOT15", "MOT16", "MOT17", "MOT20")


def theirs(data: Any, classes: list[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """TrackEval's numbers by sequence and class; those of all sequences have the name "all"."""
    measures = all_measures()
    parts: dict[tuple[str, str], dict[str, Any]] = {}
    names = sorted(data.seq_list)  # as its Evaluator takes them
    for name in names:
        with contextlib.redirect_stdout(io.StringIO()):
            raw = data.get_raw_seq_data(".", name)
            sequences = {one: data.get_preprocessed_seq_data(raw, one) for one in classes}
        for one, sequence in sequences.items():
            parts[name, one] = {measure.get_name(): measure.eval_sequence(sequence) for measure in measures}
    for one in classes:
        of_class = {name: parts[name, one] for name in names}
        parts["all", one] = {
            measure.get_name(): measure.combine_sequences(
                {name: part[measure.get_name()] for name, part in of_class.items()}
            )
            for measure in measures
        }
    return parts


def compare(ours: TrackEvaluation, expected: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    """The names of the numbers that differ in a bit."""
    found: list[str] = []
    classes = {one.name.lower(): one for one in ours.per_class}
    assert {name for _, name in expected} == {*classes}
    for (sequence, name), numbers in expected.items():
        one = classes[name]
        found += differences(one.summary if sequence == "all" else one.sequences[sequence], numbers)
    return found


def mot_of_trackeval(folder: Path, benchmark: str, lengths: dict[str, int]) -> Any:
    folders = {"GT_FOLDER": str(folder / "gt"), "TRACKERS_FOLDER": str(folder), "TRACKERS_TO_EVAL": ["."]}
    layout = {"TRACKER_SUB_FOLDER": "found", "SKIP_SPLIT_FOL": True, "SEQ_INFO": dict.fromkeys(sorted(lengths))}
    return trackeval().datasets.MotChallenge2DBox({**QUIET, **folders, **layout, "BENCHMARK": benchmark})


@pytest.mark.parametrize("seed", range(24))
def test_motchallenge_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    given, benchmark = random_mot_set(seed), BENCHMARKS[seed % 4]
    given.write_mot(tmp_path, with_classes=benchmark != "MOT15")
    expected = theirs(mot_of_trackeval(tmp_path, benchmark, given.lengths), ["pedestrian"])
    gt = read(tmp_path / "gt", format="mot")
    dt = read_detections(tmp_path / "found", ground_truth=gt, format="mot", category="pedestrian")
    ours = evaluate_tracks(gt, dt, protocol=benchmark)
    assert compare(ours, expected) == []


@pytest.mark.parametrize("seed", range(16))
def test_kitti_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    given = random_kitti_set(seed)
    given.write_kitti(tmp_path)
    expected = theirs(other_of_trackeval("Kitti2DBox", tmp_path, tmp_path), ["car", "pedestrian"])
    assert compare(evaluate_tracks(*given.kitti_arrays(), protocol="kitti"), expected) == []
    if any(len(rows.frames) for rows in given.found.values()):  # empty files do not say that they are of tracking
        gt = read(tmp_path / "label_02", format="kitti")
        dt = read_detections(tmp_path / "found", ground_truth=gt, format="kitti")
        assert compare(evaluate_tracks(gt, dt), expected) == []


@pytest.mark.parametrize("seed", range(16))
def test_bdd100k_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    given = random_bdd_set(seed)
    given.write_bdd(tmp_path)
    classes = ["pedestrian", "rider", "car", "bus", "truck", "train"]
    expected = theirs(other_of_trackeval("BDD100K", tmp_path, tmp_path / "gt"), classes)
    assert compare(evaluate_tracks(*given.bdd_arrays(), protocol="bdd100k"), expected) == []


def other_of_trackeval(name: str, folder: Path, objects: Path) -> Any:
    folders = {"GT_FOLDER": str(objects), "TRACKERS_FOLDER": str(folder), "TRACKERS_TO_EVAL": ["."]}
    return getattr(trackeval().datasets, name)({**QUIET, **folders, "TRACKER_SUB_FOLDER": "found"})


def frame_of(
    names: tuple[str, ...], objects: list[tuple[str, list[float]]], boxes: list[list[float]], **options: Any
) -> tuple[GroundTruth, Detections]:
    """One frame: objects by class and box, and detections of the first class."""
    image = options.pop("image", "walk/1")
    gt = GroundTruth.from_arrays(
        image_ids=[image] * len(objects),
        category_ids=[names.index(name) + 1 for name, _ in objects],
        boxes=[box for _, box in objects],
        categories=dict(enumerate(names, start=1)),
        attributes={"track_id": np.arange(len(objects)), **options.pop("attributes", {})},
        **options,
    )
    dt = Detections.from_arrays(
        image_ids=[image] * len(boxes),
        category_ids=[1] * len(boxes),
        boxes=boxes,
        scores=[1] * len(boxes),
        attributes={"track_id": np.arange(len(boxes))},
    )
    return gt, dt


def counts(evaluation: TrackEvaluation) -> list[float]:
    """Objects, detections and true positives."""
    return [evaluation.summary[key] for key in ("GT_Dets", "Dets", "TP")]


PLACES = [[100.0 * at, 0.0, 40.0, 50.0] for at in range(6)]
STREET = ["pedestrian", "pedestrian", "static person", "car", "non motorized vehicle"]
MOT = frame_of(
    MOT_NAMES,
    [*zip(STREET, PLACES, strict=False)],
    PLACES,
    flags={"ignore": [False, True, True, True, True]},
)
"""A pedestrian, one that is zero-marked, and one object of three other classes; a detection on each, and one alone."""


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("plain", [2, 6, 2]),
        ("mot15", [1, 6, 1]),
        ("mot16", [1, 5, 1]),  # without the detection on the person that stands still
        ("mot17", [1, 5, 1]),
        ("mot20", [1, 4, 1]),  # nor that on the vehicle
        ("DanceTrack", [1, 5, 1]),
        ("sportsmot", [1, 5, 1]),
    ],
)
def test_motchallenge(protocol: str, expected: list[int]) -> None:
    found = evaluate_tracks(*MOT, protocol=protocol, categories=["pedestrian"])
    assert counts(found) == expected
    assert found.protocol == found.to_dict()["protocol"] == TRACK_PROTOCOLS[protocol.lower()].name


def test_another_object_keeps_a_detection_from_a_distractor() -> None:
    box, near = [0.0, 0.0, 40.0, 50.0], [4.0, 0.0, 40.0, 50.0]
    both = frame_of(MOT_NAMES, [("car", box), ("reflection", near)], [box])
    assert counts(evaluate_tracks(*both, protocol="mot17"))[1] == 1  # the car's, although no car is evaluated
    alone = frame_of(MOT_NAMES, [("reflection", near)], [box])
    assert counts(evaluate_tracks(*alone, protocol="mot17"))[1] == 0


ROAD = ("Car", "Car", "Car", "Van", "Person_sitting")
LOW, IN_REGION, HALF_IN = [700.0, 0.0, 40.0, 25.0], [810.0, 0.0, 40.0, 50.0], [880.0, 0.0, 40.0, 50.0]
KITTI = frame_of(
    KITTI_NAMES,
    [*zip(ROAD, PLACES, strict=False), ("DontCare", [800.0, 0.0, 100.0, 100.0])],
    [*PLACES, LOW, IN_REGION, HALF_IN],
    attributes={"truncated": [0, 1, 0, 0, 0, -1], "occluded": [2, 0, 3, 0, 0, -1]},
    flags={"dont_care": [False] * 5 + [True]},
)
"""Cars of which one is truncated and one is not seen well, a van, a person that sits, and a region."""


def test_kitti() -> None:
    # Left: the car, the detection on it, that on the person, that alone, and that which is half in the region.
    found = evaluate_tracks(*KITTI, protocol="kitti")
    assert [one.name for one in found.per_class] == ["Car", "Pedestrian"]
    assert counts(found) == [1, 4, 1]
    assert found.events.detection.tolist() == [0, 4, 5, 8]
    assert found.notes == (
        "ground truth: evaluated by the protocol KITTI, which leaves out 5 of 6 objects and 5 of 9 detections",
    )


def test_bdd100k() -> None:
    names = ("car", "trailer", "bus")
    region, inside, half, on_crowd = (
        [x, 0.0, width, 50.0] for x, width in ((300, 90), (310, 40), (370, 40), (400, 20))
    )
    gt, dt = frame_of(
        names,
        [("car", PLACES[0]), ("car", [400.0, 0.0, 30.0, 50.0]), ("trailer", region), ("bus", PLACES[1])],
        [PLACES[0], PLACES[1], inside, half, on_crowd],
        flags={"crowd": [False, True, False, False]},
    )
    found = evaluate_tracks(gt, dt, protocol="bdd100k")
    assert [one.name for one in found.per_class] == ["car", "bus"]
    # Left: a car and a bus, and for cars the detection on it, that on the bus, and that which is half in the trailer.
    assert counts(found) == [2, 3, 1]


def test_an_own_protocol() -> None:
    kitti = TRACK_PROTOCOLS["kitti"]
    every_height = dataclasses.replace(kitti, name="mine", least_height=None)
    assert counts(evaluate_tracks(*KITTI, protocol=every_height)) == [1, 5, 1]
    with pytest.raises(ValueError, match="distractors must be of a class that is evaluated, got 'Car'"):
        dataclasses.replace(kitti, classes=("Pedestrian",))
    with pytest.raises(ValueError, match="a protocol that leaves regions out must name its classes"):
        TrackProtocol(name="mine", least_height=10)
    assert all(isinstance(one, TrackProtocol) for one in TRACK_PROTOCOLS.values())


def test_kitti_is_recognised() -> None:
    found = evaluate_tracks(*KITTI)
    assert found.protocol == "KITTI"
    assert found.notes[-1].endswith("; protocol='plain' (--protocol plain) leaves out only regions")
    assert evaluate_tracks(*KITTI, categories=["Van"]).protocol == "plain"


@pytest.mark.parametrize(
    ("image", "source", "expected"),
    [
        ("MOT17-02-FRCNN/000001", "gt", "MOT17"),
        ("MOT16-02/000001", "gt", "MOT16"),
        ("MOT20-05/000001", "gt", "MOT20"),
        ("dancetrack0001/000001", "gt", "DanceTrack"),
        ("000001", "MOT17/train/MOT17-02-FRCNN/gt/gt.txt", "MOT17"),
        ("000001", "MOT17/train/mine/gt/gt.txt", "plain"),
        ("MOT17/000001", "gt", "plain"),
        ("my-MOT17-02/000001", "gt", "plain"),
    ],
)
def test_motchallenge_is_recognised(image: str, source: str, expected: str) -> None:
    gt, dt = frame_of(MOT_NAMES, [("pedestrian", PLACES[0])], PLACES[:1], image=image, source=source)
    assert evaluate_tracks(gt, dt).protocol == expected
    assert evaluate_tracks(gt, dt, categories=["car"]).protocol == "plain"
    cars, dt = frame_of(("car",), [("car", PLACES[0])], PLACES[:1], image=image, source=source)
    assert evaluate_tracks(cars, dt).protocol == "plain"


def test_what_a_protocol_cannot_evaluate_is_refused() -> None:
    gt, dt = MOT
    with pytest.raises(ValueError, match="unknown protocol of tracks 'mot18'; did you mean"):
        evaluate_tracks(gt, dt, protocol="mot18")
    with pytest.raises(TypeError, match="protocol must be a TrackProtocol, or the name of one, got int"):
        evaluate_tracks(gt, dt, protocol=17)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the protocol MOT17 compares upright boxes, 'bbox', and not 'segm'"):
        evaluate_tracks(gt, dt, protocol="mot17", iou_type="segm")
    with pytest.raises(DatasetError, match="ground truth: the protocol MOT17 evaluates pedestrian, and not car"):
        evaluate_tracks(gt, dt, protocol="mot17", categories=["car"])
    with pytest.raises(
        DatasetError, match="the protocol KITTI evaluates Car, Pedestrian, and not Van; the protocol plain"
    ):
        evaluate_tracks(*KITTI, protocol="kitti", categories=["Van"])
    with pytest.raises(
        DatasetError, match=r"KITTI expects Car or Pedestrian, found a, b, c, d, e, \.\.\.; rename a class"
    ):
        evaluate_tracks(*frame_of((*"abcdef",), [("a", PLACES[0])], PLACES[:1]), protocol="kitti")


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"occluded": [0]}, "annotations: the protocol KITTI expects the attribute truncated, a number for .* none"),
        ({"truncated": [0], "occluded": ["no"]}, "the attribute occluded, a number .*, found something else"),
        ({"truncated": [np.nan], "occluded": [0]}, r"annotations\[0\].truncated: the protocol KITTI expects a number"),
    ],
)
def test_objects_that_lack_what_a_protocol_needs_are_refused(attributes: dict[str, Any], message: str) -> None:
    gt, dt = frame_of(KITTI_NAMES, [("Car", PLACES[0])], PLACES[:1], attributes=attributes)
    with pytest.raises(DatasetError, match=message):
        evaluate_tracks(gt, dt, protocol="kitti")
    trams, dt = frame_of(KITTI_NAMES, [("Tram", PLACES[0])], PLACES[:1], attributes=attributes)
    assert counts(evaluate_tracks(trams, dt, protocol="kitti")) == [0, 1, 0]  # no object of these classes needs it
