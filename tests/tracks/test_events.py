"""Events are the rows that CLEAR counts."""

from __future__ import annotations

import csv
import pickle
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate_tracks
from ioukit.tracks import EVENT_KINDS, TrackEvents
from support.random_tracks import random_track_set

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import TrackEvaluation

BOX, BESIDE = [0.0, 0.0, 10.0, 10.0], [50.0, 0.0, 10.0, 10.0]


def evaluation(names: bool = False) -> TrackEvaluation:
    """Two objects in five frames. Track 7 follows the first, then the second; in frames 2 and 5, tracks follow none."""
    objects = [("walk/1", 1, BOX), ("walk/2", 1, BOX), ("walk/3", 1, BOX), ("walk/4", 1, BOX), ("walk/4", 2, BESIDE)]
    found = [("walk/1", 7, BOX), ("walk/2", 7, BESIDE), ("walk/3", 8, BOX), ("walk/4", 8, BOX)]
    found += [("walk/4", 7, BESIDE), ("walk/5", 8, BOX)]

    def columns(rows: list[tuple[str, int, list[float]]]) -> dict[str, object]:
        images, tracks, boxes = map(list, zip(*rows, strict=True))
        ids = np.array([f"t{track}" for track in tracks]) if names else np.array(tracks)
        return {"image_ids": images, "category_ids": [3] * len(rows), "boxes": boxes, "attributes": {"track_id": ids}}

    images = [f"walk/{frame}" for frame in range(1, 6)]
    gt = GroundTruth.from_arrays(**columns(objects), images=images, categories={3: "=person"})  # type: ignore[arg-type]
    return evaluate_tracks(gt, Detections.from_arrays(**columns(found), scores=[1] * 6))  # type: ignore[arg-type]


ALL = ["match", "miss", "false", "switch", "match", "match", "false"]


def words(events: TrackEvents) -> list[str]:
    return [EVENT_KINDS[kind] for kind in events.kind.tolist()]


def test_events_that_can_be_counted() -> None:
    events = evaluation().events
    assert words(events) == ALL
    assert events.frame.tolist() == [1, 2, 2, 3, 4, 4, 5]
    assert events.image.tolist() == [0, 1, 1, 2, 3, 3, 4]
    assert events.object_track.tolist() == [1, 1, -1, 1, 1, 2, -1]
    assert events.track.tolist() == [7, -1, 7, 8, 8, 7, 8]
    assert events.object.tolist() == [0, 1, -1, 2, 3, 4, -1]
    assert events.detection.tolist() == [0, -1, 1, 2, 3, 4, 5]
    assert np.flatnonzero(events.fragment).tolist() == [3]
    assert np.flatnonzero(events.transfer).tolist() == [5]
    np.testing.assert_array_equal(events.overlap, [1, np.nan, np.nan, 1, 1, 1, np.nan])
    assert repr(events) == "TrackEvents(7 rows: 3 match, 1 switch, 1 miss, 2 false)"
    assert words(events[events.fragment]) == ["switch"]
    assert evaluation(names=True).events.track.tolist() == ["t7", "", "t7", "t8", "t8", "t7", "t8"]


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_what_clear_counts(seed: int) -> None:
    given = random_track_set(seed)
    gt, dt = given.ground_truth(), given.detections()
    found = evaluate_tracks(gt, dt)
    events = found.events
    for at, one in enumerate(found.per_class):
        for place, numbers in enumerate(one.sequences.values()):
            here = events[(events.category == at) & (events.sequence == place)]
            match, switch, miss, false = np.bincount(here.kind, minlength=4).tolist()
            counted = {"TP": match + switch, "IDSW": switch, "FN": miss, "FP": false, "Frag": here.fragment.sum()}
            assert counted == {key: numbers[key] for key in counted}
    pairs = events[events.overlap >= 0]
    assert gt.image_labels()[pairs.object].tolist() == dt.image_labels()[pairs.detection].tolist()
    assert gt.attributes["track_id"][pairs.object].tolist() == pairs.object_track.tolist()
    assert dt.attributes["track_id"][pairs.detection].tolist() == pairs.track.tolist()
    assert len(set(events.object[events.object >= 0].tolist())) == int((events.object >= 0).sum()) == len(gt)
    # Transfers, followed track by track.
    last: dict[object, int] = {}
    for k in range(len(events)):
        if events.overlap[k] >= 0:
            key = (events.category[k], events.sequence[k], events.track[k])
            assert events.transfer[k] == (last.get(key, events.object_track[k]) != events.object_track[k])
            last[key] = events.object_track[k]


def test_a_file_for_a_table(tmp_path: Path) -> None:
    evaluation().events.write_csv(tmp_path / "events.csv")
    with (tmp_path / "events.csv").open(encoding="utf-8", newline="") as file:
        head, *rows = csv.reader(file)
    assert head == [
        *("event", "sequence", "frame", "class", "object_track", "track", "overlap", "fragment", "transfer"),
        *("image", "object", "detection"),
    ]
    assert rows[1] == ["miss", "walk", "2", "'=person", "1", "", "", "0", "0", "walk/2", "1", ""]
    assert rows[3] == ["switch", "walk", "3", "'=person", "1", "8", "1.0", "1", "0", "walk/3", "2", "2"]


def test_a_data_frame() -> None:
    pytest.importorskip("pandas")
    frame = evaluation().events.to_pandas()
    assert frame["event"].tolist() == ALL
    assert frame["class"].unique().tolist() == ["=person"]


def test_a_table_of_arrow() -> None:
    pytest.importorskip("pyarrow")
    table = evaluation().events.to_arrow()
    assert table["event"].to_pylist() == ALL
    assert {name: table[name][1].as_py() for name in ("object_track", "track", "overlap", "image", "detection")} == {
        "object_track": 1,
        "track": None,
        "overlap": None,
        "image": "walk/2",
        "detection": None,
    }
    assert table["object"].null_count == ALL.count("false")


def test_events_are_kept_in_a_pickle() -> None:
    found = pickle.loads(pickle.dumps(evaluation()))
    assert words(found.events) == words(evaluation().events)
