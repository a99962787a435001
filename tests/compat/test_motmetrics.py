"""`ioukit.compat.motmetrics` has the events and the numbers of py-motmetrics 1.4.0."""

from __future__ import annotations

import importlib
import json
import pickle
import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit
from support import motmetrics_runs
from support.paths import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pandas = pytest.importorskip("pandas")
mm: Any = importlib.import_module("ioukit.compat.motmetrics")
nan = float("nan")

RECORDED = json.loads((ROOT / "tests" / "data" / "compat" / "motmetrics.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return motmetrics_runs.run(mm)


@pytest.mark.parametrize("key", RECORDED)
def test_random_sequences_have_the_values_of_the_original(key: str, ours: dict[str, Any]) -> None:
    assert ours[key] == RECORDED[key]


def test_recorded_sequences_have_all_events() -> None:
    kinds = [row[2] for rows in RECORDED["events"] for row in rows]
    assert min(kinds.count(kind) for kind in ("ASCEND", "MIGRATE", "TRANSFER", "SWITCH", "MATCH", "MISS", "FP")) > 3


def walk(**options: Any) -> Any:
    """Two objects that their hypotheses leave and exchange."""
    accumulator = mm.MOTAccumulator(**options)
    accumulator.update([1, 2], [1, 2], [[0.1, nan], [nan, 0.2]], frameid=1)
    accumulator.update([1, 2], [], [], frameid=2)
    accumulator.update([1, 2], [1, 2], [[nan, 0.3], [0.4, nan]], frameid=5)
    return accumulator


def test_events_are_a_data_frame() -> None:
    events = walk().mot_events
    assert list(events.columns) == ["Type", "OId", "HId", "D"]
    assert list(events.index.names) == ["FrameId", "Event"]
    expected = ["MATCH", "MATCH", "MISS", "MISS", "TRANSFER", "SWITCH", "TRANSFER", "SWITCH"]
    assert events.Type.tolist() == expected
    assert events.loc[5].D.tolist() == [0.3, 0.3, 0.4, 0.4]


def test_no_switch_after_a_long_absence() -> None:
    assert walk(max_switch_time=2).mot_events.Type.tolist().count("SWITCH") == 0
    assert walk(max_switch_time=3).mot_events.Type.tolist().count("SWITCH") == 2


def test_frames_number_themselves() -> None:
    accumulator = mm.MOTAccumulator(auto_id=True)
    assert [accumulator.update([1], [], []) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(AssertionError, match="Cannot provide frame id when auto-id is enabled"):
        accumulator.update([1], [], [], frameid=3)
    with pytest.raises(AssertionError, match="auto-id is not enabled"):
        mm.MOTAccumulator().update([1], [], [])
    accumulator.reset()
    assert len(accumulator.events) == len(mm.MOTAccumulator.new_event_dataframe()) == 0


def test_distances_have_a_row_per_object() -> None:
    with pytest.raises(ValueError, match=r"dists must have shape \(2, 3\), got \(2, 2\)"):
        mm.MOTAccumulator(auto_id=True).update([1, 2], [1, 2, 3], [[1, 2], [3, 4]])


def test_an_object_may_stand_twice_in_its_first_frame() -> None:
    """The original ends with a KeyError."""
    accumulator = mm.MOTAccumulator(auto_id=True)
    accumulator.update([1, 1], [1, 2], [[0, 1], [1, 0]])
    assert accumulator.mot_events.Type.tolist() == ["MATCH", "ASCEND", "SWITCH"]


def test_merged_sequences_share_no_ids() -> None:
    merged, mappings = mm.MOTAccumulator.merge_event_dataframes([walk(), walk().events], return_mappings=True)
    assert mappings == [
        {"frame_offset": 0, "oid_map": {1: "0", 2: "1"}, "hid_map": {1: "0", 2: "1"}},
        {"frame_offset": 6, "oid_map": {1: "2", 2: "3"}, "hid_map": {1: "2", 2: "3"}},
    ]
    assert merged.index.get_level_values(0).unique().tolist() == [1, 2, 5, 7, 8, 11]
    host = mm.metrics.create()
    assert host.compute(merged, metrics="num_switches", return_dataframe=False) == {"num_switches": 4}
    same = mm.MOTAccumulator.merge_event_dataframes(
        [walk()], update_frame_indices=False, update_oids=False, update_hids=False
    )
    pandas.testing.assert_frame_equal(same, walk().events)
    assert len(mm.MOTAccumulator.merge_event_dataframes([])) == 0


def test_programs_add_metrics() -> None:
    def doubled(_: Any, num_misses: Any) -> Any:
        """Twice   the misses."""
        return 2 * num_misses

    host = mm.metrics.create()
    host.register(doubled, formatter="{:d}!".format)
    host.register(lambda _, ana=None: ana, name="given")
    frame = host.compute(walk(), ana=7, metrics=["doubled", "given"], name="walk")
    assert (frame.loc["walk"].tolist(), frame.columns.tolist()) == ([4, 7], ["doubled", "given"])
    assert host.formatters["doubled"](4) == "4!"
    assert host.list_metrics(include_deps=True).iloc[-2].tolist() == ["doubled", "Twice the misses.", ["num_misses"]]
    assert host.list_metrics_markdown().splitlines()[:2] == ["Name|Description", ":---|:---"]
    assert list(host.compute(walk(), metrics="doubled", return_dataframe=False, return_cached=True)) == [
        "num_misses",
        "doubled",
    ]
    with pytest.raises(AssertionError, match="merge function for metric doubled is None"):
        host.compute_many([walk()], metrics="doubled", generate_overall=True)
    with pytest.raises(AssertionError, match="Cannot find metric nonsense required by summarize"):
        host.compute(walk(), metrics="nonsense")
    host.register(lambda _, nonsense: nonsense, name="needs it")
    with pytest.raises(AssertionError, match="Cannot find metric nonsense required by needs it"):
        host.compute(walk(), metrics="needs it")
    with pytest.raises(AssertionError, match="expected 1 names, got 2"):
        host.compute_many([walk()], names=["a", "b"])


def test_costs_that_are_forbidden_are_never_chosen() -> None:
    costs = np.array([[nan, 5.0, 9], [nan, nan, 1], [nan, np.inf, 2]])
    assert_array_equal(mm.lap.linear_sum_assignment(costs), [[0, 1], [1, 2]])
    assert_array_equal(mm.lap.linear_sum_assignment(costs, solver="lapsolver"), [[0, 1], [1, 2]])
    for none in (np.full((2, 2), nan), np.zeros((0, 3))):
        assert_array_equal(mm.lap.linear_sum_assignment(none), np.zeros((2, 0)))
    with pytest.raises(AssertionError, match="Invalid LAP solver 'fastest': expected one of"):
        mm.lap.linear_sum_assignment(costs, solver="fastest")


def test_programs_bring_their_solver() -> None:
    before = mm.lap.default_solver  # a program of another test may have set it
    with mm.lap.set_default_solver(lambda _: ([0], [1])):
        accumulator = mm.MOTAccumulator(auto_id=True)
        accumulator.update([1], [1, 2], [[0, 1]])
    assert accumulator.mot_events.HId.tolist() == [2, 1]
    assert mm.lap.default_solver == before


def test_distances() -> None:
    boxes = [[0, 0, 2, 2], [1, 0, 2, 2], [9, 9, 0, 1]]
    assert_array_equal(mm.distances.iou_matrix(boxes[:1], boxes), [[0, 1 - 1 / 3, 1]])
    assert_array_equal(mm.distances.iou_matrix(boxes[:1], boxes, max_iou=0.5), [[0, nan, nan]])
    assert_array_equal(mm.distances.norm2squared_matrix([0, 0], [[3, 4], [1, 1]], max_d2=20), [[nan, 2]])
    for measure in (mm.distances.iou_matrix, mm.distances.norm2squared_matrix):
        assert measure([], boxes).shape == (0, 0)
    with pytest.raises(ValueError, match=r"boxes2 must have shape .*4\), got \(1, 3\)"):
        mm.distances.iou_matrix(boxes, [[1, 2, 3]])
    with pytest.raises(AssertionError, match="Dimension mismatch: objs have 2 coordinates, hyps 3"):
        mm.distances.norm2squared_matrix([[1, 2]], [[1, 2, 3]])


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Ground truth and results: one object of three frames that counts, and one that does not."""
    truth, found = tmp_path / "gt.txt", tmp_path / "found.txt"
    truth.write_text("".join(f"{frame},1,11,21,10,10,1,1,1\n{frame},2,50,50,5,5,0,1,1\n" for frame in (1, 2, 3)))
    found.write_text("1,7,11,21,10,10,0.9,-1,-1,-1\n2,7,13,21,10,10,0.8,-1,-1,-1\n4,7,11,21,10,10,0.9,-1,-1,-1\n")
    return truth, found


def test_files_of_motchallenge(files: tuple[Path, Path]) -> None:
    truth = mm.io.loadtxt(files[0], fmt="mot15-2D", min_confidence=1)
    found = mm.io.loadtxt(files[1], mm.io.Format.MOT16)
    assert list(truth.columns) == ["X", "Y", "Width", "Height", "Confidence", "ClassId", "Visibility"]
    assert truth.index.tolist() == [(1, 1), (2, 1), (3, 1)]
    assert truth.iloc[0].tolist() == [10, 20, 10, 10, 1, 1, 1]
    accumulator = mm.utils.compare_to_groundtruth(truth, found, "iou", distth=0.5)
    assert accumulator.mot_events.Type.tolist() == ["MATCH", "MATCH", "MISS", "FP"]
    assert accumulator.mot_events.D.tolist()[:2] == [0, 1 - 80 / 120]
    for dist, expected in (("EUC", 2), ("seuc", 4)):
        accumulator = mm.utils.compare_to_groundtruth(truth, found, dist, distfields=["X", "Y"], distth=4)
        assert accumulator.mot_events.D.tolist()[1] == expected
    with pytest.raises(ValueError, match="'vatic-txt' is not a valid Format"):
        mm.io.loadtxt(files[0], "vatic-txt")
    with pytest.raises(ValueError, match="Unknown distance metric 'giou'"):
        mm.utils.compare_to_groundtruth(truth, found, "giou")
    found.loc[(2, 7), "Width"] = -1
    with pytest.raises(ValueError, match=r"^frame 2: boxes2\[0\] is .*: negative width"):
        mm.utils.compare_to_groundtruth(truth, found)


Frame = dict[int, float]
"""The left sides of boxes of width 10, by the ids of their tracks."""


def both(truth: list[Frame], found: list[Frame]) -> tuple[Any, dict[str, Any]]:
    """The numbers of TrackEval, and those of py-motmetrics."""
    accumulator = mm.MOTAccumulator(auto_id=True)
    for first, second in zip(truth, found, strict=True):
        boxes = ([[left, 0, 10, 10] for left in side.values()] for side in (first, second))
        accumulator.update([*first], [*second], mm.distances.iou_matrix(*boxes, max_iou=0.5))
    columns: list[dict[str, Any]] = []
    for side in (truth, found):
        rows = [(str(at), track, [left, 0, 10, 10]) for at, frame in enumerate(side) for track, left in frame.items()]
        images, tracks, places = map(list, zip(*rows, strict=True))
        columns.append({"image_ids": images, "boxes": places, "category_ids": [1] * len(rows)})
        columns[-1]["attributes"] = {"track_id": tracks}
    objects = ioukit.GroundTruth.from_arrays(**columns[0])
    detections = ioukit.Detections.from_arrays(**columns[1], scores=[1] * len(columns[1]["boxes"]))
    numbers = mm.metrics.create().compute(accumulator, metrics=RECORDED["numbers"], return_dataframe=False)
    return ioukit.evaluate_tracks(objects, detections).summary, numbers


def test_what_differs_from_trackeval() -> None:
    """The rows of the table in docs/tracks.md."""
    alone = [{1: 0.0}] * 5
    theirs, numbers = both(alone, [{4: 0.0}, {4: 0.0}, {5: 0.0}, {5: 2.5}, {5: 9.0}])
    assert (numbers["mota"], numbers["idf1"]) == pytest.approx((theirs["MOTA"], theirs["IDF1"]))
    assert (theirs["MT"], numbers["mostly_tracked"]) == (0, 1)
    assert (theirs["MOTP"], numbers["motp"]) == pytest.approx((1 - 0.4 / 4, 0.4 / 4))
    # The better track is another one after a gap; py-motmetrics keeps the earlier one.
    theirs, numbers = both(alone, [{4: 0.0}, {4: 99.0}, {4: 3.0, 5: 0.0}, {5: 99.0}, {5: 99.0}])
    assert (theirs["IDSW"], numbers["num_switches"]) == (1, 0)
    # An object leaves the picture, and returns.
    truth = [{1: 0.0, 2: 50.0}, {2: 50.0}, {1: 0.0, 2: 50.0}]
    theirs, numbers = both(truth, truth)
    assert (theirs["Frag"], numbers["num_fragmentations"]) == (1, 0)
    # Three pairs, or the two that overlap most.
    theirs, numbers = both([{1: 0.0, 2: 2.9, 3: 5.8}], [{1: 2.9, 2: 5.8, 3: 8.7}])
    assert (theirs["TP"], numbers["num_matches"]) == (2, 3)


def test_pandas_is_named_if_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    accumulator = walk()
    monkeypatch.setitem(sys.modules, "pandas", None)
    calls: dict[str, Callable[[], Any]] = {
        "MOTAccumulator.events": lambda: accumulator.events,
        "io.loadtxt": lambda: mm.io.loadtxt("gt.txt"),
        "metrics.MetricsHost": lambda: mm.metrics.create().list_metrics(),
    }
    for says, call in calls.items():
        with pytest.raises(ModuleNotFoundError, match=re.escape(f"{says} needs pandas: pip install 'ioukit[pandas]'")):
            call()


@pytest.mark.filterwarnings("ignore:modules that imported")  # other tests of the process have imported the originals
def test_pickles_name_the_original() -> None:
    with ioukit.patched():
        accumulator = importlib.import_module("motmetrics").MOTAccumulator(auto_id=True)
        accumulator.update([1], [1], [[0.5]])
        text = pickle.dumps(accumulator)
        assert b"motmetrics.mot" in text
        assert b"ioukit" not in text
        assert pickle.loads(text).mot_events.D.tolist() == [0.5]
