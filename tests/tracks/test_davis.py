"""DAVIS' folders of masks beside TrackEval's own data set on the same folders: J and F, HOTA and the others."""

from __future__ import annotations

import contextlib
import io
import json
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import evaluate_tracks
from ioukit.tracks import evaluate_j_and_f
from ioukit.tracks.j_and_f import J_AND_F_KEYS
from support.command import run_here
from support.davis_files import VOID, random_davis_set, write_davis
from support.trackeval_runs import all_measures, differences, trackeval

if TYPE_CHECKING:
    from pathlib import Path

_ALL = "all sequences"


def numbers_of_trackeval(folder: Path) -> dict[str, dict[str, Any]]:
    """The numbers of TrackEval's ``DAVIS`` by sequence, and those of all."""
    for module in ("cv2", "skimage"):
        pytest.importorskip(module, reason="TrackEval's J and F need it")
    measures = [*all_measures(), trackeval().metrics.JAndF()]
    layout = {"TRACKERS_FOLDER": str(folder), "TRACKERS_TO_EVAL": ["."], "TRACKER_SUB_FOLDER": "found"}
    data = trackeval().datasets.DAVIS({"PRINT_CONFIG": False, "GT_FOLDER": str(folder / "gt"), **layout})
    parts: dict[str, dict[str, Any]] = {}
    for name in sorted(data.seq_list):
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sequence = data.get_preprocessed_seq_data(data.get_raw_seq_data(".", name), "general")
            parts[name] = {measure.get_name(): measure.eval_sequence(sequence) for measure in measures}
    names = [measure.get_name() for measure in measures]
    together = [one.combine_sequences({name: part[one.get_name()] for name, part in parts.items()}) for one in measures]
    return {**parts, _ALL: dict(zip(names, together, strict=True))}


def assert_bits(gt: Path, found: Path, expected: dict[str, dict[str, Any]]) -> None:
    """Refuses a number of any sequence, or of all, that differs from TrackEval's."""
    ours = evaluate_tracks(gt, found)
    assert ours.protocol == "DAVIS"
    assert {*ours.sequence_names, _ALL} == expected.keys()
    for name, numbers in expected.items():
        mine, fits = ours.summary if name == _ALL else ours.per_class[0].sequences[name], numbers["JAndF"]
        assert {key: mine[key] for key in J_AND_F_KEYS} == {key: fits[key] for key in J_AND_F_KEYS}
        assert {*differences(mine, numbers)} == {*J_AND_F_KEYS}  # which it does not know


@pytest.mark.parametrize("seed", range(12))
def test_all_numbers_have_the_bits_of_trackeval(seed: int, tmp_path: Path) -> None:
    trackeval()
    objects, found = random_davis_set(np.random.default_rng(seed), void=False)
    sides = write_davis(tmp_path / "gt", objects), write_davis(tmp_path / "found", found)
    assert_bits(*sides, numbers_of_trackeval(tmp_path))


@pytest.mark.parametrize("seed", range(12))
def test_void_pixels_do_not_count(seed: int, tmp_path: Path) -> None:
    """J and F are TrackEval's. Its other overlaps hold void pixels, unless the files have none on both sides."""
    trackeval()
    objects, found = random_davis_set(np.random.default_rng(seed), void=True)
    sides = write_davis(tmp_path / "gt", objects), write_davis(tmp_path / "found", found)
    fit = evaluate_j_and_f(*sides)
    for name, numbers in numbers_of_trackeval(tmp_path).items():
        assert (fit.summary if name == _ALL else fit.sequences[name]) == numbers["JAndF"]
    for name, frames in objects.items():
        for truth, result in zip(frames, found[name], strict=True):
            result[truth == VOID] = truth[truth == VOID] = 0
    without = tmp_path / "without"
    write_davis(without / "gt", objects)
    write_davis(without / "found", found)
    assert_bits(*sides, numbers_of_trackeval(without))


def test_the_protocol_is_that_of_the_files(tmp_path: Path) -> None:
    objects, found = random_davis_set(np.random.default_rng(3), void=True)
    gt, dt = write_davis(tmp_path / "gt", objects), write_davis(tmp_path / "found", found)
    expected = evaluate_tracks(gt, dt)
    run = run_here("tracks", gt, dt, "--json")
    assert json.loads(run.out)["protocol"] == "DAVIS"
    assert json.loads(run.out)["summary"]["J&F"] == expected.summary["J&F"]
    assert "evaluated by the protocol DAVIS" in run.err
    assert "evaluated by" not in run_here("tracks", gt, dt, "--protocol", "davis").err
    assert run_here("tracks", gt, dt).out.splitlines()[0].split()[1] == "J&F"
    boxes = evaluate_tracks(gt, dt, iou_type="bbox")
    assert boxes.protocol == "plain"
    assert any(
        note.endswith(
            "compared by 'bbox', so evaluated by the protocol plain and not by DAVIS, which compares 'segm' alone"
        )
        for note in boxes.notes
    )
    plain = evaluate_tracks(gt, dt, protocol="plain", iou_type="segm")
    assert (plain.protocol, plain.summary["HOTA"]) == ("plain", expected.summary["HOTA"])


def of_one_object(frames: list[np.ndarray], value: int) -> list[np.ndarray]:
    return [np.where(frame == value, 1, 0) for frame in frames]


@pytest.mark.parametrize("seed", range(8))
def test_where_objects_are_given_the_ids_are_the_pairs(seed: int, tmp_path: Path) -> None:
    """Each object is as if it and the track with its id were alone, in the frames between the first and the last."""
    rng = np.random.default_rng(seed)
    objects, found = random_davis_set(rng, void=False)
    objects = {name: frames for name, frames in objects.items() if len(frames) > 2}
    own = np.zeros(256, np.uint8)
    own[[1, 2, 3, 7, 200]] = rng.permutation([1, 2, 3, 4, 9])  # 9 is of no object
    found = {name: [own[frame] for frame in found[name]] for name in objects}
    assert objects
    sides = write_davis(tmp_path / "gt", objects), write_davis(tmp_path / "found", found)
    fit = evaluate_j_and_f(*sides, protocol="davis-semi-supervised")
    for one in fit.objects:
        alone = tmp_path / f"{one.sequence} {one.track}"
        parts = [
            write_davis(alone / side, {one.sequence: of_one_object(frames[one.sequence][1:-1], one.track)})
            for side, frames in (("gt", objects), ("found", found))
        ]
        if one.found is not None:
            assert one.found == one.track
        if not any(frame.any() for frame in of_one_object(objects[one.sequence][1:-1], one.track)):
            continue  # of which no label would be left
        assert dict(evaluate_j_and_f(*parts, protocol="davis").objects[0].numbers) == dict(one.numbers)
    tracks = evaluate_tracks(*sides, protocol="davis-semi-supervised")
    assert (tracks.main, tracks.summary["J&F"]) == ("J&F", fit.summary["J&F"])
    assert tracks.summary["HOTA"] == evaluate_tracks(*sides, protocol="davis").summary["HOTA"]


def test_a_sequence_needs_a_frame_between_the_first_and_the_last(tmp_path: Path) -> None:
    frames = [np.eye(8, dtype=np.uint8)] * 2
    sides = write_davis(tmp_path / "gt", {"bear": frames}), write_davis(tmp_path / "found", {"bear": frames})
    run = run_here("tracks", *sides, "--protocol", "davis-semi-supervised")
    assert run.code == 2
    assert "sequence 'bear' has 2 frames" in run.err
    assert "expected 3 or more" in run.err
