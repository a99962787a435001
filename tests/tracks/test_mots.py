"""Masks of MOTS files, beside TrackEval's own data sets on the same files."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import GroundTruth, Masks, evaluate_tracks
from ioukit.datasets import read, read_detections
from ioukit.tracks import TRACK_PROTOCOLS
from support.trackeval_runs import all_measures, differences, trackeval

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import TrackEvaluation

SIZE = (36, 48)
IGNORED = 10


def labelled(rng: np.random.Generator, rectangles: list[tuple[int, np.ndarray]]) -> dict[int, np.ndarray]:
    """The pixels of each label: of overlapping rectangles, the later ones hide the others."""
    pixels = np.zeros(SIZE, np.int64)
    for label, (top, left, height, width) in rectangles:
        pixels[max(top, 0) : max(top + height, 0), max(left, 0) : max(left + width, 0)] = label
    pixels[rng.random(SIZE) < 0.05] = 0
    return {label: pixels == label for label, _ in rectangles}


def lines_of(frame: int, masks: dict[int, np.ndarray]) -> str:
    rle = Masks.from_arrays(list(masks.values())).to_rle() if masks else []
    rows = zip(masks, rle, strict=True)
    return "".join(f"{frame} {track} {track // 1000} {SIZE[0]} {SIZE[1]} {one['counts']}\n" for track, one in rows)


def write_random(folder: Path, seed: int, first: int, called: str, pattern: str) -> dict[str, int]:
    """Write objects and results of some sequences; returns the numbers of frames."""
    rng = np.random.default_rng(seed)
    lengths = {f"{called}{at:02d}": int(rng.integers(1, 8)) for at in rng.choice(50, rng.integers(1, 4), replace=False)}
    for name, length in lengths.items():
        texts = {"gt": "", "found": ""}
        tracks = [1000 * rng.integers(1, 3) + at for at in range(rng.integers(0, 8))]
        places = {track: rng.integers(0, 30, 2) for track in tracks}
        for frame in range(first, first + length):
            objects, found = [], []
            for track in tracks:
                places[track] = places[track] + rng.integers(-2, 3, 2)
                side = rng.integers(5, 14, 2)
                shape = np.concatenate([places[track], side])
                objects += [(track, shape)] if rng.random() < 0.85 else []
                follower = track if rng.random() < 0.9 else track // 1000 * 1000 + int(rng.integers(500, 505))
                found += [(follower, shape + rng.integers(-2, 3, 4))] if rng.random() < 0.85 else []
            found += [(int(1000 * rng.integers(1, 3) + 900), rng.integers(0, 20, 4))]
            masks = labelled(rng, objects)
            regions = [(IGNORED * 1000, rng.integers(5, 20, 4)), (IGNORED * 1000 + 1, rng.integers(5, 20, 4))]
            free = ~np.any([*masks.values(), np.zeros(SIZE, np.bool_)], axis=0)
            if rng.random() < 0.8:  # regions may overlap each other
                masks |= {label: labelled(rng, [(label, shape)])[label] & free for label, shape in regions}
            texts["gt"] += lines_of(frame, masks)
            texts["found"] += lines_of(frame, labelled(rng, found))
        for part, text in texts.items():
            file = folder / part / (pattern.format(name) if part == "gt" else f"{name}.txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
    return lengths


def theirs(data: Any, classes: list[str]) -> dict[tuple[str, str], dict[str, Any]]:
    """TrackEval's numbers by sequence and class; those of all sequences have the name "all"."""
    measures = all_measures()
    parts: dict[tuple[str, str], dict[str, Any]] = {}
    names = sorted(set(data.seq_list))  # as its Evaluator takes them
    for name in names:
        with contextlib.redirect_stdout(io.StringIO()):
            raw = data.get_raw_seq_data(".", name)
        for one in classes:
            sequence = data.get_preprocessed_seq_data(raw, one)
            parts[name, one] = {measure.get_name(): measure.eval_sequence(sequence) for measure in measures}
    for one in classes:
        parts["all", one] = {
            measure.get_name(): measure.combine_sequences(
                {name: parts[name, one][measure.get_name()] for name in names}
            )
            for measure in measures
        }
    return parts


def compare(ours: TrackEvaluation, expected: dict[tuple[str, str], dict[str, Any]]) -> list[str]:
    """The names of the numbers that differ in a bit."""
    found: list[str] = []
    classes = {one.name: one for one in ours.per_class}
    assert {name for _, name in expected} == {*classes}
    for (sequence, name), numbers in expected.items():
        one = classes[name]
        found += differences(one.summary if sequence == "all" else one.sequences[sequence], numbers)
    return found


def data_of_trackeval(name: str, folder: Path, **options: Any) -> Any:
    folders = {"TRACKERS_FOLDER": str(folder), "TRACKERS_TO_EVAL": ["."], "TRACKER_SUB_FOLDER": "found"}
    return getattr(trackeval().datasets, name)({"PRINT_CONFIG": False, **folders, **options})


@pytest.mark.parametrize("seed", range(24))
def test_mots_challenge_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    trackeval()
    lengths = write_random(tmp_path, seed, 1, "MOTS20-", "{}/gt/gt.txt")
    for name, length in lengths.items():
        (tmp_path / "gt" / name / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={length}\n")
    layout = {"GT_FOLDER": str(tmp_path / "gt"), "SKIP_SPLIT_FOL": True, "SEQ_INFO": dict.fromkeys(lengths)}
    expected = theirs(data_of_trackeval("MOTSChallenge", tmp_path, **layout), ["pedestrian"])
    ours = evaluate_tracks(tmp_path / "gt", tmp_path / "found")
    assert ours.protocol == "MOTS"
    assert compare(ours, expected) == []


@pytest.mark.parametrize("seed", range(24))
def test_kitti_mots_has_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    trackeval()
    lengths = write_random(tmp_path, 100 + seed, 0, "00", "label_02/{}.txt")
    seqmap = "".join(f"{name} empty 000000 {length - 1:06d}\n" for name, length in lengths.items())
    (tmp_path / "gt" / "evaluate_mots.seqmap.val").write_text(seqmap)
    (tmp_path / "seqmap").write_text(3 * seqmap)  # its reader guesses what stands between fields, from several lines
    options = {"GT_FOLDER": str(tmp_path / "gt"), "SEQMAP_FILE": str(tmp_path / "seqmap")}
    data = data_of_trackeval("KittiMOTS", tmp_path, **options)
    ours = evaluate_tracks(tmp_path / "gt", tmp_path / "found")
    assert ours.protocol == "KITTI-MOTS"
    assert compare(ours, theirs(data, ["car", "pedestrian"])) == []


def frame(folder: Path, objects: dict[int, np.ndarray], found: dict[int, np.ndarray]) -> tuple[Path, Path]:
    for side, masks in (("gt", objects), ("found", found)):
        (folder / side).mkdir()
        (folder / side / "0002.txt").write_text(lines_of(0, masks))
    return folder / "gt", folder / "found"


def rectangle(top: int, left: int, height: int, width: int) -> np.ndarray:
    pixels = np.zeros(SIZE, np.bool_)
    pixels[top : top + height, left : left + width] = True
    return pixels


def test_regions_take_detections_that_are_more_than_half_in_them(tmp_path: Path) -> None:
    regions = {10000: rectangle(0, 0, 4, 6), 10001: rectangle(0, 6, 4, 4)}  # both together are 10 wide
    objects = {2001: rectangle(20, 0, 6, 6)}
    found = {
        2001: rectangle(20, 0, 6, 6),
        2002: rectangle(0, 0, 4, 20),  # half of it is in regions
        2003: rectangle(4, 0, 1, 10),  # none of it
    }
    sides = frame(tmp_path, objects | regions, found)
    ours = evaluate_tracks(*sides)
    assert "leaves out 2 of 3 objects and 0 of 3 detections" in ours.notes[-1]
    assert [ours.summary[key] for key in ("GT_Dets", "Dets", "TP")] == [1, 3, 1]
    found[2002] = rectangle(0, 1, 4, 17)  # 9 of 17 columns are in regions
    (sides[1] / "0002.txt").write_text(lines_of(0, found))
    assert evaluate_tracks(*sides).summary["Dets"] == 2
    plain = evaluate_tracks(*sides, protocol="plain", iou_type="segm")
    assert [one.name for one in plain.per_class] == ["pedestrian"]  # regions are no objects of a class
    assert plain.summary["Dets"] == 3
    boxes = evaluate_tracks(*sides, iou_type="bbox")
    assert (boxes.protocol, boxes.summary["Dets"]) == ("plain", 3)


def test_a_detection_that_is_on_an_object_counts_whatever_covers_it(tmp_path: Path) -> None:
    """MOTS allows no such masks, but other data may have them."""
    sides = frame(tmp_path, {2001: rectangle(0, 0, 6, 6)}, {2001: rectangle(0, 0, 6, 6)})
    gt = read(sides[0])
    dt = read_detections(sides[1], ground_truth=gt)
    both = GroundTruth.from_arrays(
        image_ids=np.repeat(gt.image_labels(), 2),
        category_ids=[2, 10],
        regions=Masks.concat([gt.regions["Masks"]] * 2),
        images=gt.images,
        categories=gt.categories,
        attributes={"track_id": [1, 2]},
    )
    ours = evaluate_tracks(both, dt, protocol="mots")
    assert [ours.summary[key] for key in ("GT_Dets", "Dets", "TP")] == [1, 1, 1]


def test_a_protocol_of_masks_compares_no_boxes(tmp_path: Path) -> None:
    sides = frame(tmp_path, {2001: rectangle(0, 0, 6, 6)}, {2001: rectangle(0, 0, 6, 6)})
    with pytest.raises(ValueError, match="the protocol KITTI-MOTS compares masks, 'segm', and not 'bbox'"):
        evaluate_tracks(*sides, protocol="kitti-mots", iou_type="bbox")
    note = "evaluated by the protocol plain and not by KITTI-MOTS, which compares 'segm' alone"
    assert any(one.endswith(note) for one in evaluate_tracks(*sides, iou_type="bbox").notes)
    with pytest.raises(ValueError, match="the protocol MOT17 compares upright boxes, 'bbox', and not 'segm'"):
        evaluate_tracks(*sides, protocol="mot17", iou_type="segm")
    with pytest.raises(ValueError, match="iou_type must be 'bbox', or 'segm' without least_height, got 'rotated'"):
        dataclasses.replace(TRACK_PROTOCOLS["mots"], iou_type="rotated")
