"""The data and the file of the page of tracks."""

from __future__ import annotations

import datetime
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Masks, evaluate_tracks
from ioukit.comparison import compare_tracks
from ioukit.comparison.words import needed_sentence
from ioukit.report import tracks_page, write_tracks
from ioukit.report.tracks_page import tracks_data
from ioukit.tracks import EVENT_KINDS, TRACK_PROTOCOLS, TubeRules
from support.random_tracks import random_track_set
from support.tracked_scenes import tracked_truth, tracker, walking
from support.trackeval_runs import painted

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit import TrackEvaluation
    from ioukit.comparison import TrackComparison
    from ioukit.report.tracks_page import TracksPage
    from ioukit.tracks import TrackEvents

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")


def page_data(tracks: TrackEvaluation | TrackComparison) -> TracksPage:
    return tracks_data(tracks, title=None, created=None)


def random_evaluation(seed: int) -> TrackEvaluation:
    given = random_track_set(seed)
    return evaluate_tracks(given.ground_truth(), given.detections())


def covered(flat: list[int], names: list[str]) -> set[tuple[str, int]]:
    """The names and frames that lines cover, each once."""
    lines = np.array(flat).reshape(-1, 3).tolist()
    frames = [(names[row], frame) for row, first, last in lines for frame in range(first, last + 1)]
    assert len(frames) == len(set(frames))
    return set(frames)


def listed(events: TrackEvents, kinds: tuple[str, ...]) -> set[tuple[str, int]]:
    """The same of the rows of these kinds."""
    rows = events[np.isin(events.kind, [EVENT_KINDS.index(kind) for kind in kinds])]
    ids = rows.track if kinds == ("false",) else rows.object_track
    columns = zip(rows.category.tolist(), ids.tolist(), rows.frame.tolist(), strict=True)
    return {(f"{events.class_names[category]} {track}", frame) for category, track, frame in columns}


@pytest.mark.parametrize("seed", range(1, 25))
def test_lines_are_the_events(seed: int) -> None:
    evaluation = random_evaluation(seed)
    events, drawn = evaluation.events, page_data(evaluation).drawn["trackers"][0]
    for at, one in enumerate(drawn["sequences"]):
        here = events[events.sequence == at]
        assert covered(one["followed"], one["objects"]) == listed(here, ("match", "switch"))
        assert covered(one["missed"], one["objects"]) == listed(here, ("miss",))
        assert covered(one["false"], one["tracks"]) == listed(here, ("false",))
        assert {(one["objects"][row], frame) for row, frame, *_ in one["switches"]} == listed(here, ("switch",))
        assert one["unlisted"] == [0, 0]
        for row, frame, before, after in one["switches"]:
            mine = here[
                [
                    f"{here.class_names[k]} {t}" == one["objects"][row]
                    for k, t in zip(here.category.tolist(), here.object_track.tolist(), strict=True)
                ]
            ]
            pairs = dict(zip(mine.frame.tolist(), map(str, mine.track.tolist()), strict=True))
            assert pairs[frame] == after
            assert before == [track for at, track in sorted(pairs.items()) if at < frame and track != "-1"][-1]
        mistakes = [sum(name == other for other, _ in listed(here, ("switch", "miss"))) for name in one["objects"]]
        assert mistakes == sorted(mistakes, reverse=True)


@pytest.mark.parametrize("seed", range(1, 9))
def test_costs_are_those_of_the_evaluation(seed: int) -> None:
    evaluation = random_evaluation(seed)
    costs, drawn = evaluation.costs, page_data(evaluation).drawn["trackers"][0]
    assert len(drawn["costs"]) + drawn["unlisted"] == len(costs)
    for k, (name, is_object, sequence, points, frames, alone, changes) in enumerate(drawn["costs"]):
        assert name == f"{costs.class_names[costs.category[k]]} {costs.track[k]}"
        assert points == pytest.approx(100 * costs.cost[k], abs=1e-4)
        found = (bool(is_object), sequence, frames, alone, changes)
        assert found == (costs.is_object[k], costs.sequence[k], costs.frames[k], costs.alone[k], costs.changes[k])


def test_numbers_are_those_of_the_evaluation() -> None:
    evaluation = random_evaluation(2)
    sequences, classes = page_data(evaluation).tables
    assert [name for name, *_ in sequences.rows] == ["all", *evaluation.sequence_names]
    assert [name for name, *_ in classes.rows] == ["all", "class average", *evaluation.categories.names]
    for name, tracker_name, cells in sequences.rows[1:]:
        assert tracker_name == ""
        assert cells[0] == f"{100 * evaluation.sequences[name]['HOTA']:.2f}"
        assert cells[8] == f"{evaluation.sequences[name]['IDSW']:,}"


def compared() -> TrackComparison:
    gt = tracked_truth(6)
    return compare_tracks(
        {
            name: evaluate_tracks(gt, tracker(6, seed, found=found))
            for seed, (name, found) in enumerate((("A", 0.6), ("B", 0.8), ("C", 0.9)))
        }
    )


def test_a_comparison_has_all_trackers() -> None:
    comparison = compared()
    data = page_data(comparison)
    assert data.title == "B, C compared with A"
    assert data.trackers == ("A", "B", "C")
    assert [one["name"] for one in data.drawn["trackers"]] == ["A", "B", "C"]
    assert [name for _, name, _ in data.tables[0].rows[:4]] == ["A", "B", "C", "A"]
    for part, pair in zip(data.parts, comparison.pairs, strict=True):
        assert part.verdict == pair.verdict()
        assert part.words[0] == needed_sentence(pair.difference, is_corrected=True)
        assert part.rows[0][1:4] == tuple(
            f"{100 * value:{form}}"
            for value, form in zip(
                (pair["HOTA"].a, pair["HOTA"].b, pair["HOTA"].difference), (".2f", ".2f", "+.2f"), strict=True
            )
        )
        by_sequence = pair.changes.by_sequence()
        rows = np.array([row[1:] for row in data.drawn["changes"][comparison.pairs.index(pair)]["rows"]])
        for at, key in enumerate(("found", "lost", "new_switches", "gone_switches"), start=1):
            found = np.bincount(rows[:, 0], rows[:, at], minlength=6).tolist()
            assert found == [by_sequence[name][key] for name in comparison.evaluations[0].sequence_names]
        assert (np.diff(rows[:, 1:].sum(axis=1)) <= 0).all()
        assert [row[4] for row in part.sequences] == [f"{by_sequence[row[0]]['found']:,}" for row in part.sequences]


def test_notes_that_differ_name_their_tracker() -> None:
    a, b, c = compared().evaluations
    notes = (("of all", "of a"), ("of all", "of two"), ("of all", "of two"))
    given = [replace(one, notes=said) for one, said in zip((a, b, c), notes, strict=True)]
    assert page_data(compare_tracks(*given)).notes == ("of all", "A: of a", "B, C: of two")
    assert page_data(given[0]).notes == ("of all", "of a")


def test_long_sequences_say_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    evaluation = random_evaluation(7)
    every = page_data(evaluation).drawn["trackers"][0]["sequences"][0]
    monkeypatch.setattr(tracks_page, "MOST_RUNS", 12 * len(evaluation.sequence_names))
    monkeypatch.setattr(tracks_page, "MOST_COSTS", 3)
    drawn = page_data(evaluation).drawn["trackers"][0]
    one = drawn["sequences"][0]
    assert 0 < len(one["objects"]) < len(every["objects"])
    assert one["objects"] == every["objects"][: len(one["objects"])]
    assert len(one["followed"]) + len(one["missed"]) <= 3 * 12
    assert len(one["false"]) <= 3 * 12
    left_out = len(every["objects"]) - len(one["objects"]), (len(every["false"]) - len(one["false"])) // 3
    assert one["unlisted"] == [*left_out]
    assert (len(drawn["costs"]), drawn["unlisted"]) == (3, len(evaluation.costs) - 3)
    comparison = compared()
    for changes, pair in zip(page_data(comparison).drawn["changes"], comparison.pairs, strict=True):
        listed = pair.to_dict()["changed_objects"]
        assert [[*one.values()][3:] for one in listed[:3]] == [row[2:] for row in changes["rows"]]
        assert (len(changes["rows"]), changes["unlisted"]) == (3, len(listed) - 3)


def test_whole_tracks_and_j_and_f_have_columns() -> None:
    gt, a, b = walking()
    protocol = replace(TRACK_PROTOCOLS["plain"], tubes=TubeRules(), main="AP_all", name="mine")
    comparison = compare_tracks(*(evaluate_tracks(gt, dt, protocol=protocol) for dt in (a, b)))
    (pair,), data = comparison.pairs, page_data(comparison)
    assert data.tables[0].columns[:3] == ("AP_all", "AR_all", "HOTA")
    assert data.tables[0].rows[1][2][:2] == tuple(f"{100 * pair.b.summary[key]:.2f}" for key in ("AP_all", "AR_all"))
    assert data.tables[0].rows[2][2][:2] == ("-", "-")  # a sequence has none
    assert [row[0] for row in data.parts[0].rows[:3]] == ["AP_all", "AR_all", "HOTA"]
    assert f"{100 * pair['AP_all'].difference:+.2f}" == data.parts[0].rows[0][3]
    assert "\nAP_all " in comparison.text()
    assert (data.has_tubes, data.has_j_and_f) == (True, False)
    assert data.parts[0].sequence_head[3] == "HOTA"
    given = random_track_set(2)
    masks = [{"Masks": Masks.from_arrays(painted(rows.boxes))} for rows in (given.objects, given.found)]
    gt, dt = replace(given.ground_truth(), regions=masks[0]), replace(given.detections(), regions=masks[1])
    davis = page_data(evaluate_tracks(gt, dt, protocol="davis"))
    assert (davis.tables[0].columns[0], davis.has_tubes, davis.has_j_and_f) == ("J&F", False, True)


def written(path: Path, tracks: Any, **options: Any) -> str:
    write_tracks(tracks, path, **options)
    return path.read_text(encoding="utf-8")


def test_the_file(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    evaluation = random_evaluation(1)
    created = datetime.datetime(2026, 11, 28, 12, 0)
    evaluation.report(path, title="Night <b>", created=created)
    text = path.read_text(encoding="utf-8")
    assert text == written(tmp_path / "again.html", evaluation, title="Night <b>", created=created)
    assert "<title>Night &lt;b&gt; \N{EN DASH} tracks</title>" in text
    assert "2026-11-28 12:00" in text
    found = re.search('<script type="application/json" id="data">(.*?)</script>', text)
    assert found is not None
    assert [one["name"] for one in json.loads(found[1])["trackers"][0]["sequences"]] == [*evaluation.sequence_names]
    with pytest.raises(TypeError, match="evaluate_tracks"):
        write_tracks("tracks", path)  # type: ignore[arg-type]


def test_inputs_are_not_overwritten(tmp_path: Path) -> None:
    for name, rest in (("gt.csv", ""), ("dt.csv", ",score")):
        (tmp_path / name).write_text(
            f"sequence,frame,track,class,x,y,width,height{rest}\nwalk,1,1,person,0,0,9,9{',1' if rest else ''}\n"
        )
    evaluation = evaluate_tracks(tmp_path / "gt.csv", tmp_path / "dt.csv")
    with pytest.raises(ValueError, match=r"dt\.csv is an input and would be overwritten"):
        write_tracks(evaluation, tmp_path / "dt.csv")
    data = page_data(evaluation)
    assert [(file.role, file.name) for file in data.files] == [("Ground truth", "gt.csv"), ("Results", "dt.csv")]
    assert data.title == "dt.csv"
