"""Every number has the bits of TrackEval, run beside it."""

from __future__ import annotations

import contextlib
import io
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Masks, evaluate_tracks
from support.random_tracks import random_track_set
from support.trackeval_runs import Run, differences, painted, trackeval

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.random_tracks import Rows, TrackSet

SETS = 60


def compare(seed: int, *, masks: bool = False) -> list[str]:
    """What differs in a random set, by boxes or by masks."""
    given = random_track_set(seed)
    if not len(given.objects.classes):
        return []
    classes = sorted({*given.objects.classes.tolist(), *given.found.classes.tolist()})
    run = Run(given, classes, masks=masks)
    sides: list[Any] = [given.ground_truth(), given.detections()]
    if masks:
        drawn = [{"Masks": Masks.from_arrays(painted(rows.boxes))} for rows in (given.objects, given.found)]
        sides = [replace(side, regions=regions) for side, regions in zip(sides, drawn, strict=True)]
    ours = evaluate_tracks(*sides, iou_type="segm" if masks else "bbox")
    assert list(ours.sequences) == run.sequences
    assert [one.id for one in ours.per_class] == classes
    found: list[str] = []
    for one in ours.per_class:
        found += differences(one.summary, run.classes[one.id])
        for name, numbers in one.sequences.items():
            found += differences(numbers, run.parts[one.id, name])
    for name, numbers in ours.sequences.items():
        found += differences(numbers, run.of_all_classes(name)) if len(classes) > 1 else []
    found += differences(ours.summary, run.det_average)
    return found + differences(ours.class_average, run.class_average)


@pytest.mark.parametrize("first", range(0, SETS, 10))
def test_numbers_have_the_bits_of_trackeval(first: int) -> None:
    trackeval()
    assert {seed: found for seed in range(first, first + 10) if (found := compare(seed))} == {}


def test_masks_have_the_bits_of_trackeval() -> None:
    trackeval()
    assert {seed: found for seed in range(12) if (found := compare(seed, masks=True))} == {}


def write_side(rows: Rows, given: TrackSet, ends: str, file: Callable[[str], Path]) -> None:
    """Write the regions of class 1 as MOTChallenge's files."""
    _, tracks = np.unique(rows.tracks, return_inverse=True)  # its readers take memory for every id up to the highest
    for place, name in enumerate(given.lengths):
        lines = []
        for row in np.flatnonzero((rows.sequences == place) & (rows.classes == 1)):
            box = ",".join(map(repr, rows.boxes[row].tolist()))
            lines.append(f"{rows.frames[row] + 1},{tracks[row]},{box},1,{ends}\n")
        file(name).parent.mkdir(parents=True, exist_ok=True)
        file(name).write_text("".join(lines))


@pytest.mark.parametrize("seed", [7, 21, 28])
def test_files_have_the_numbers_that_trackeval_reads(seed: int, tmp_path: Path) -> None:
    package, given = trackeval(), random_track_set(seed)  # crowded: the order in memory decides the last bits
    write_side(given.objects, given, "1,1", lambda name: tmp_path / "gt" / name / "gt" / "gt.txt")
    write_side(given.found, given, "-1,-1,-1", lambda name: tmp_path / "found" / f"{name}.txt")
    for name, length in given.lengths.items():
        (tmp_path / "gt" / name / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={length}\n")
    quiet = {"PRINT_CONFIG": False}
    folders = {"GT_FOLDER": str(tmp_path / "gt"), "TRACKERS_FOLDER": str(tmp_path), "TRACKERS_TO_EVAL": ["."]}
    layout = {"TRACKER_SUB_FOLDER": "found", "SKIP_SPLIT_FOL": True, "SEQ_INFO": dict.fromkeys(given.lengths)}
    data = package.datasets.MotChallenge2DBox({**quiet, **folders, **layout, "DO_PREPROC": False})
    metrics = package.metrics
    measures = [metrics.HOTA(), metrics.CLEAR(quiet), metrics.Identity(quiet), metrics.VACE()]
    off = ("PRINT_RESULTS", "TIME_PROGRESS", "OUTPUT_SUMMARY", "OUTPUT_DETAILED", "PLOT_CURVES")
    with contextlib.redirect_stdout(io.StringIO()):
        evaluator = package.Evaluator({**quiet, **dict.fromkeys(off, False)})
        result = evaluator.evaluate([data], measures)[0]["MotChallenge2DBox"]["."]
    ours = evaluate_tracks(tmp_path / "gt", tmp_path / "found", categories=["pedestrian"])
    assert differences(ours.summary, result["COMBINED_SEQ"]["pedestrian"]) == []
    for name, numbers in ours.sequences.items():
        assert differences(numbers, result[name]["pedestrian"]) == []
