"""Benchmarks fed frame by frame have the numbers of their files, by every protocol."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Boxes, DatasetError, Detections, GroundTruth, Masks, TrackEvaluator, evaluate_tracks
from ioukit.datasets import read, read_detections
from ioukit.tracks import TRACK_PROTOCOLS, TubeRules
from ioukit.tracks.sequences import frames_of
from support.davis_files import random_davis_set, write_davis
from support.random_federated_sets import ODD, random_burst_set, random_tao_set, random_vis_set
from support.random_protocol_sets import random_bdd_set, random_kitti_set, random_mot_set
from support.random_tracks import random_track_set
from support.trackeval_runs import painted

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import TrackEvaluation

PROTOCOLS = (
    *("plain", "mot15", "mot16", "mot17", "mot20", "dancetrack", "sportsmot", "kitti", "bdd100k", "mots"),
    *("kitti-mots", "tao", "burst", "burst-exemplar-guided", "youtube-vis", "davis"),
)
LISTS = ("neg_category_ids", "not_exhaustive_category_ids")


def sides_of(name: str, seed: int, folder: Path) -> tuple[GroundTruth, Detections]:
    """Random data of a benchmark, from its files where tests can write them."""
    if name == "bdd100k":
        return random_bdd_set(seed).bdd_arrays()
    if name == "tao":
        truth, found = random_tao_set(seed)
        # A track has the class of its first detection, and equal scores the order of the file: here, that of time.
        place = {one["id"]: (one["file_name"],) for one in truth["images"]}
        found.sort(key=lambda record: place[record["image_id"]])
        for record in found:
            record["track_id"] += 100 * record["video_id"]  # ids of one video alone, as TAO asks
        return of_files(folder, truth, found)
    if name == "youtube-vis":
        return of_files(folder, *random_vis_set(seed))
    if name.startswith("burst"):
        return of_files(folder, *random_burst_set(seed, ODD, 6, guided=name != "burst"))
    if TRACK_PROTOCOLS[name].iou_type == "segm":
        return masks_of(seed, regions=bool(TRACK_PROTOCOLS[name].region_classes))
    if name == "kitti":
        random_kitti_set(seed).write_kitti(folder)
        format_of, labels, options = "kitti", "label_02", {}
    else:
        random_mot_set(seed).write_mot(folder, with_classes=name != "mot15")
        format_of, labels, options = "mot", "gt", {"category": "pedestrian"}
    gt = read(folder / labels, format=format_of)
    return gt, read_detections(folder / "found", ground_truth=gt, format=format_of, **options)


def of_files(folder: Path, truth: Any, found: Any) -> tuple[GroundTruth, Detections]:
    for part, values in (("gt", truth), ("found", found)):
        (folder / f"{part}.json").write_text(json.dumps(values))
    if "annotations" in truth and "tracks" in truth:
        gt = GroundTruth.from_coco(folder / "gt.json", attributes=True)
        return gt, Detections.from_coco(folder / "found.json", attributes=True)
    gt = read(folder / "gt.json")
    return gt, read_detections(folder / "found.json", ground_truth=gt)


def masks_of(seed: int, *, regions: bool) -> tuple[GroundTruth, Detections]:
    """Ellipses of pedestrians, cars and a third class, which is perhaps of regions without a track."""
    given = random_track_set(seed)
    gt, dt = given.ground_truth(), given.detections()
    names = ("pedestrian", "car", "ignore")[: len(gt.categories)]
    is_region = (gt.category_ids == 3) & regions
    gt = dataclasses.replace(
        gt,
        categories=dataclasses.replace(gt.categories, names=names),
        flags={"ignore_region": is_region},
        attributes={"track_id": np.where(is_region, -1, gt.attributes["track_id"])},
        regions={"Masks": Masks.from_arrays(painted(gt.boxes))},
    )
    return gt, dataclasses.replace(dt, regions={"Masks": Masks.from_arrays(painted(dt.boxes))})


def frame(side: GroundTruth | Detections, rows: np.ndarray, *, masks: bool) -> dict[str, Any]:
    """What `TrackEvaluator.update` takes of one side of a frame."""
    attributes = {name: column[rows] for name, column in side.attributes.items()}
    given = {"labels": side.category_ids[rows], "track_ids": np.asarray(attributes.pop("track_id")).astype(int)}
    if masks:
        given["masks"] = side.regions["Masks"][rows]
    else:
        given["boxes"] = Boxes(side.boxes[rows], "xywh")
    if isinstance(side, Detections):
        return {**given, "scores": side.scores[rows]}
    flags = {name: column[rows] for name, column in side.flags.items()}
    return {**given, **flags, "area": side.areas[rows], **attributes}


def fed(protocol: Any, gt: GroundTruth, dt: Detections, *, masks: bool) -> TrackEvaluation:
    """The evaluation of the data, given frame by frame to two evaluators in turn of sequences."""
    frames = frames_of(gt)
    evaluators = [TrackEvaluator(protocol=protocol, categories=gt.categories) for _ in range(2)]
    found_in = dt.image_ids_in(gt.images)
    for image in frames.images.tolist():
        number = gt.images.ids[image]
        objects = frame(gt, np.flatnonzero(gt.image_ids == number), masks=masks)
        found = frame(dt, np.flatnonzero(found_in == number), masks=masks)
        for name in LISTS:
            if name in gt.images.attributes and (
                name == LISTS[1] or not getattr(protocol, "classes_of_objects", False)
            ):
                objects[name] = gt.images.attributes[name][image]
        sequence = int(frames.sequence[image])
        evaluators[sequence % 2].update([found], [objects], sequence=frames.names[sequence])
    evaluators[1].merge(pickle.loads(pickle.dumps(evaluators[0])))
    return evaluators[1].compute()


def differing(one: TrackEvaluation, other: TrackEvaluation) -> list[str]:
    """The names of what differs, without the sources that notes name."""
    first, second = (
        {**found.to_dict(), "notes": [note.partition(": ")[2] for note in found.notes if "leaves out" in note]}
        for found in (one, other)
    )
    return [name for name in first if json.dumps(first[name]) != json.dumps(second[name])]


@pytest.mark.parametrize("seed", [1, 5, 6, 8])
@pytest.mark.parametrize("name", PROTOCOLS)
def test_frames_have_the_bits_of_files(name: str, seed: int, tmp_path: Path) -> None:
    protocol = TRACK_PROTOCOLS[name]
    if name == "youtube-vis":  # bounds at which the small masks of the test differ
        protocol = dataclasses.replace(protocol, tubes=TubeRules(areas=(60.0, 150.0), of_files=True))
    if name == "tao":
        protocol = dataclasses.replace(protocol, most_detections=3)
    gt, dt = sides_of(name, seed, tmp_path)
    expected = evaluate_tracks(gt, dt, protocol=protocol)
    assert differing(fed(protocol, gt, dt, masks=protocol.iou_type == "segm"), expected) == []


PEDESTRIANS = {1: "pedestrian", 2: "static person"}
PAIR = {"boxes": [[0, 0, 9, 9], [20, 0, 29, 9]], "labels": [1, 1], "track_ids": [1, 2]}


def counted(evaluator: TrackEvaluator, **marks: Any) -> list[float]:
    """Objects and detections that count of a frame with two of both."""
    evaluator.update([PAIR], [{**PAIR, **marks}], sequence="MOT17-02-DPM")
    return [evaluator.compute().summary[name] for name in ("GT_Dets", "Dets")]


def test_marks_of_a_frame() -> None:
    def mot17() -> TrackEvaluator:
        return TrackEvaluator(protocol="mot17", categories=PEDESTRIANS)

    assert counted(mot17()) == [2, 2]
    assert counted(mot17(), ignore=[0, 1]) == [1, 2]
    assert counted(mot17(), labels=[1, 2]) == [1, 1]
    assert counted(mot17(), labels=[1, 2], track_ids=[1, -1]) == [1, 1]
    assert counted(TrackEvaluator(protocol="plain", categories=PEDESTRIANS), ignore=[0, 1]) == [2, 2]
    # The names of the sequences show the benchmark.
    assert counted(TrackEvaluator(categories=PEDESTRIANS), ignore=[False, True]) == [1, 2]
    crowds = {1: "pedestrian"}
    for marks in ({"iscrowd": [0, 1]}, {"crowd": [0, 1]}, {"iscrowd": [0, 1], "Crowd": [0, 0]}):
        assert counted(TrackEvaluator(protocol="bdd100k", categories=crowds), **marks, track_ids=[1, -1]) == [1, 1]


def test_a_mark_that_only_some_updates_have() -> None:
    evaluator = TrackEvaluator(protocol="kitti", categories=["Car", "DontCare"])
    car = {"boxes": [[0, 0, 40, 40]], "labels": [0], "track_ids": [1]}
    seen = {"truncated": [0], "occluded": [0]}
    region = {"boxes": [[0, 0, 90, 90]] * 2, "labels": [1, 1], "track_ids": [-1, -1]}
    hidden = {"truncated": [float("nan")] * 2, "occluded": [float("nan")] * 2}
    evaluator.update([car], [{**car, **seen}], sequence="a")
    evaluator.update([car], [{**region, **hidden, "dont_care": [1, 1]}], sequence="a")
    evaluator.update([car], [{**car, **seen, "occluded": [3]}], sequence="a")
    summary = evaluator.compute().summary
    assert [summary[name] for name in ("GT_Dets", "Dets", "TP")] == [1, 1, 1]


def test_what_a_protocol_needs_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="categories must have a class of the protocol MOT17, pedestrian, got none"):
        TrackEvaluator(protocol="mot17")
    with pytest.raises(ValueError, match="of the protocol KITTI, Car or Pedestrian, got person"):
        TrackEvaluator(protocol="kitti", categories=["person"])
    with pytest.raises(ValueError, match="the protocol MOTS compares masks, 'segm', and not 'bbox'"):
        TrackEvaluator(protocol="mots", iou_type="bbox", categories=["pedestrian"])
    with pytest.raises(DatasetError, match=r"targets\[0\]: expected the key 'truncated'"):
        TrackEvaluator(protocol="kitti", categories=["x", "Car"]).update([PAIR], [PAIR], sequence="a")
    with pytest.raises(DatasetError, match=r"targets\[0\]: expected the key 'neg_category_ids'"):
        TrackEvaluator(protocol="tao").update([{**PAIR, "scores": [1, 1]}], [PAIR], sequence="a")
    guided = TrackEvaluator(protocol="burst-exemplar-guided", iou_type="bbox")  # which needs no neg_category_ids
    with pytest.raises(DatasetError, match=r"targets\[0\]: expected the key 'not_exhaustive_category_ids'"):
        guided.update([{**PAIR, "scores": [1, 1]}], [PAIR], sequence="a")
    with pytest.raises(DatasetError, match=r"predictions\[0\]: expected the key 'scores'"):
        TrackEvaluator(protocol="tao").update([PAIR], [PAIR], sequence="a")


@pytest.mark.parametrize(
    ("marks", "message"),
    [
        ({"ignore": [0, 2]}, r"targets\[0\]: ignore: row 1: expected 0 or 1, found 2"),
        ({"ignore": [1]}, r"targets\[0\]: ignore: expected 2 values, one per object, found 1"),
        ({"ignored": [0, 1]}, r"targets\[0\]: expected the key 'ignore', or no such key, found 'ignored'"),
        ({"track_ids": [1, -1]}, r"targets\[0\]: track_ids: row 1: expected the id of a track, .* found -1"),
        ({"track_ids": [1, -2], "ignore": [0, 1]}, r"targets\[0\]: track_ids: row 1: .* found -2"),
        ({"track_ids": [1, -1], "crowd": [0, 1]}, r"targets\[0\]: track_ids: row 1: .* found -1"),
        ({"track_ids": [1, -1], "dont_care": [0, 1]}, r"targets\[0\]: track_ids: row 1: .* found -1"),
        ({"conf": [1, 0]}, r"targets\[0\]: expected the key 'ignore', true where conf is 0, found 'conf'"),
    ],
)
def test_wrong_marks(marks: dict[str, Any], message: str) -> None:
    evaluator = TrackEvaluator(protocol="mot17", categories=PEDESTRIANS)
    with pytest.raises(DatasetError, match=message):
        counted(evaluator, **marks)
    assert len(evaluator) == 0


@pytest.mark.parametrize(
    ("protocol", "mark", "note"),
    [
        ("mot17", "crowd", "the protocol MOT17 does not read this flag, so they count as objects to track"),
        ("mot17", "iscrowd", "the protocol MOT17 does not read this flag, so they count as objects to track"),
        ("plain", "ignore", "nothing is left out, so they count as objects to track; a protocol such as 'mot17'"),
    ],
)
def test_a_mark_that_the_protocol_does_not_read_is_noted(protocol: str, mark: str, note: str) -> None:
    evaluator = TrackEvaluator(protocol=protocol, categories=PEDESTRIANS)
    assert counted(evaluator, **{mark: [0, 1]}) == [2, 2]
    notes = evaluator.compute().notes
    assert any(f"targets: 1 object with the flag {mark.removeprefix('is')}: {note}" in one for one in notes)
    read_by = TrackEvaluator(protocol="mot17", categories=PEDESTRIANS)
    assert counted(read_by, ignore=[0, 1]) == [1, 2]
    assert not any("with the flag" in one for one in read_by.compute().notes)


def test_the_lists_of_a_video_are_the_same_in_each_frame() -> None:
    evaluator = TrackEvaluator(protocol="tao")
    objects = {**PAIR, LISTS[0]: [3, 4], LISTS[1]: []}
    found = {**PAIR, "scores": [1, 1]}
    evaluator.update([found], [objects], sequence="a")
    evaluator.update([found] * 2, [{**objects, LISTS[0]: [4, 3, 3]}, objects], sequence="a")
    evaluator.update([found], [{**objects, LISTS[0]: []}], sequence="b")
    expected = r"expected the list of the video in each frame, \[3, 4\], found \[4\]"
    with pytest.raises(DatasetError, match=rf"targets\[1\]: neg_category_ids: {expected}"):
        evaluator.update([found] * 2, [objects, {**objects, LISTS[0]: [4]}], sequence="a")
    with pytest.raises(DatasetError, match=rf"targets\[0\]: neg_category_ids: {expected}"):
        evaluator.update([found], [{**objects, LISTS[0]: [4]}], sequence="a")
    assert len(evaluator) == 4


@pytest.mark.parametrize(("scores", "expected"), [((0.1, 0.9), 0.5), ((0.9, 0.1), 1.0)])
def test_the_score_of_a_record_is_that_of_its_first_frame(scores: tuple[float, float], expected: float) -> None:
    evaluator = TrackEvaluator(protocol="youtube-vis")
    objects = painted_frame([slice(0, 2)], track_ids=[1])
    for score in scores:
        found = painted_frame([slice(0, 2), slice(4, 6)], track_ids=[1, 2], scores=[score, 0.5])
        evaluator.update([found], [objects], sequence="a")
    assert evaluator.compute().summary["AP_all"] == pytest.approx(expected)


def test_conf_is_refused_only_where_it_may_be_meant() -> None:
    with pytest.raises(DatasetError, match="expected the key 'ignore', true where conf is 0"):
        counted(TrackEvaluator(), conf=[1, 0])
    assert counted(TrackEvaluator(protocol="plain"), conf=[1, 0]) == [2, 2]
    found = counted(TrackEvaluator(protocol="mot17", categories=PEDESTRIANS), conf=[1, 0], ignore=[0, 1])
    assert found == [1, 2]


def painted_frame(rows: list[slice], width: int = 9, **values: Any) -> dict[str, Any]:
    """Masks of whole rows of a picture of 8 rows."""
    pixels = np.zeros((len(rows), 8, width), np.bool_)
    for mask, filled in zip(pixels, rows, strict=True):
        mask[filled] = True
    return {"masks": Masks.from_arrays(pixels), "labels": [1] * len(rows), **values}


@pytest.mark.parametrize("protocol", ["davis", "davis-semi-supervised", "plain", "youtube-vis"])
def test_void_pixels_must_be_out_of_the_result(protocol: str) -> None:
    objects = painted_frame([slice(0, 2), slice(2, 4)], track_ids=[1, -1], void=[0, 1], labels=[1, 255])
    evaluator = TrackEvaluator(protocol=protocol, iou_type="segm", categories={1: "object", 255: "void"})
    whole = painted_frame([slice(6, 8), slice(0, 3)], track_ids=[2, 1], scores=[1, 1])
    with pytest.raises(
        DatasetError,
        match=r"predictions\[1\]: masks: row 1: expected no pixel that is void in targets\[1\], row 1: take these "
        r"pixels out of the predictions, and leave out masks that have no other, found 9 pixels",
    ):
        evaluator.update([painted_frame([], track_ids=[], scores=[]), whole], [objects] * 2, sequence="a")
    assert len(evaluator) == 0
    without = painted_frame([slice(0, 2)], track_ids=[1], scores=[1])
    evaluator.update([without] * 3, [objects] * 3, sequence="a")
    found = evaluator.compute()
    assert [found.summary[name] for name in ("GT_Dets", "TP", "HOTA")] == [3, 3, 1]
    assert found.summary.get("J&F", 1) == 1


def test_frames_of_void_pixels_have_the_bits_of_files(tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    given = random_davis_set(np.random.default_rng(3), void=True)
    gt = read(write_davis(tmp_path / "gt", given[0]))
    dt = read_detections(write_davis(tmp_path / "found", given[1]), ground_truth=gt)
    assert gt.flag("void").any()
    expected = evaluate_tracks(gt, dt, protocol="davis")
    assert differing(fed("davis", gt, dt, masks=True), expected) == []


def test_masks_of_a_frame_have_one_size() -> None:
    evaluator = TrackEvaluator(protocol="davis")
    one, other = (painted_frame([slice(0, 2)], width, track_ids=[1]) for width in (9, 10))
    evaluator.update([one, other], [one, other], sequence="a")
    with pytest.raises(
        DatasetError,
        match=r"predictions\[1\]: masks: row 0: expected a mask of 8 x 9 \(height x width\), as others of the frame, "
        "found 8 x 10",
    ):
        evaluator.update([one, other], [one, one], sequence="a")
    assert len(evaluator) == 2


@pytest.mark.parametrize(
    ("protocol", "names", "mark"),
    [("kitti", ["x", "Car"], "ignore"), ("davis", None, "crowd"), ("mots", ["x", "pedestrian"], "ignore_region")],
)
def test_only_what_is_left_out_lacks_a_track(protocol: str, names: list[str] | None, mark: str) -> None:
    marks = {mark: [0, 1], "truncated": [0, 0], "occluded": [0, 0]}
    frame = {**PAIR, **painted_frame([slice(0, 2), slice(2, 4)])}
    evaluator = TrackEvaluator(protocol=protocol, categories=names)
    with pytest.raises(DatasetError, match=r"targets\[0\]: track_ids: row 1: .* found -1"):
        evaluator.update([frame], [{**frame, **marks, "track_ids": [1, -1]}], sequence="a")


@pytest.mark.parametrize("mark", ["dont_care", "ignore_region"])
def test_a_region_of_an_evaluated_class_without_a_track(mark: str) -> None:
    evaluator = TrackEvaluator(protocol="plain")
    assert counted(evaluator, track_ids=[1, -1], **{mark: [0, 1]}) == [1, 2]
    with pytest.raises(DatasetError, match=r"targets\[0\]: track_ids: row 1: expected each track once per class"):
        counted(evaluator, track_ids=[1, 1], **{mark: [1, 1]})  # with an id, both count
    assert len(evaluator) == 1


def test_evaluators_of_two_protocols_do_not_merge() -> None:
    one, other = (TrackEvaluator(protocol=name, categories=PEDESTRIANS) for name in ("mot17", None))
    with pytest.raises(ValueError, match="must have the same protocol, expected MOT17, got None"):
        one.merge(other)
