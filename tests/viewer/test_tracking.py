"""Frames, events and trails in the viewer are those of the library's own tracks."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate, evaluate_tracks
from ioukit.errors import DatasetError
from ioukit.tracks import EVENT_KINDS, TrackEvents
from ioukit.tracks.sequences import frames_of
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.tracking import JUMPS, Happened, sequences
from ioukit.viewer.images.large_image import explained
from ioukit.viewer.images.trails import LENGTH
from ioukit.viewer.server.building import app_of
from support.random_tracks import random_track_set
from support.report_cases import drawn
from support.tracked_scenes import tracked_truth, tracker

SEEDS = range(40)


def of_scenes() -> Collection:
    """Two trackers in two sequences of eight frames."""
    truth = tracked_truth(2)
    found = {"a": tracker(2, 1, found=0.7), "b": tracker(2, 2, found=0.9)}
    return Collection.of(truth, {name: evaluate(truth, one) for name, one in found.items()})


def of_random_set(seed: int) -> Collection:
    drawn_set = random_track_set(seed)
    truth = drawn_set.ground_truth()
    return Collection.of(truth, {"tracker": evaluate(truth, drawn_set.detections())})


def events_of(shown: Collection, model: int = 0) -> TrackEvents:
    return evaluate_tracks(shown.ground_truth, shown.models[model].detections).events


def kinds_of(events: TrackEvents, row: int) -> list[str]:
    flags = {"transfer": bool(events.transfer[row]), "fragment": bool(events.fragment[row])}
    return [kind for kind in JUMPS if flags.get(kind, EVENT_KINDS[events.kind[row]] == kind)]


def told(events: TrackEvents) -> Iterator[tuple[int, list[str], str]]:
    """The image, the kinds and the sentences of each event, frame by frame in plain loops."""
    named = " ({})" if len(events.class_names) > 1 else ""
    lasts: dict[Any, int] = {}
    alone: dict[Any, list[int]] = {}
    columns = zip(events.category.tolist(), events.sequence.tolist(), strict=True)
    keys = [
        ((*scope, "object", object_), (*scope, "track", track))
        for scope, object_, track in zip(columns, events.object_track.tolist(), events.track.tolist(), strict=True)
    ]
    for row, both in enumerate(keys):
        kind = EVENT_KINDS[events.kind[row]]
        if kind in ("miss", "false"):
            alone.setdefault(both[kind == "false"], []).append(row)

    def span(row: int, key: Any) -> str:
        frames = {int(events.frame[one]) for one in alone[key]}
        first = last = int(events.frame[row])
        while first - 1 in frames:
            first -= 1
        while last + 1 in frames:
            last += 1
        return f", from frame {first:,} to {last:,}" if first < last else ""

    for row, (of_object, of_track) in enumerate(keys):
        thing = f"bject {of_object[-1]}" + named.format(events.class_names[events.category[row]])
        kinds, words = kinds_of(events, row), []
        for kind in kinds:
            before, earlier = lasts.get(of_object), lasts.get(of_track)
            if kind == "switch":
                assert before is not None
                words.append(f"O{thing} was followed by track {events.track[before]}, now by {of_track[-1]}.")
            elif kind == "transfer":
                assert earlier is not None
                other = f"object {events.object_track[earlier]}" + named.format(events.class_names[of_track[0]])
                words.append(f"Track {of_track[-1]} followed {other} before.")
            elif kind == "fragment":
                assert before is not None
                words.append(f"O{thing} is followed again, after frame {events.frame[before]:,}.")
            elif kind == "miss":
                words.append(f"No track follows o{thing}{span(row, of_object)}.")
            else:
                words.append(f"Track {of_track[-1]} follows no object{span(row, of_track)}.")
        if EVENT_KINDS[events.kind[row]] in ("match", "switch"):
            lasts[of_object] = lasts[of_track] = row
        if kinds:
            yield int(events.image[row]), kinds, " ".join(words)


@pytest.mark.parametrize("seed", SEEDS)
def test_each_sentence_says_what_the_events_say(seed: int) -> None:
    shown = of_random_set(seed)
    happened = Happened(shown, 0)
    found = [
        (int(shown.image_rows[at]), event["kinds"], event["words"])
        for at in range(len(shown.table.image_ids))
        for event in happened.to_json(at)["events"]
    ]
    assert sorted(found) == sorted(told(events_of(shown)))


def test_the_sentences_of_two_trackers() -> None:
    shown = of_scenes()
    said = [[event["words"] for event in Happened(shown, model).to_json(5)["events"]] for model in (0, 1)]
    assert said[0] == [
        "Object 2 (car) was followed by track 6, now by 10.",
        "Object 1 (person) was followed by track 5, now by 9.",
        "No track follows object 0 (car), from frame 6 to 7.",
        "No track follows object 3 (person).",
    ]
    assert said[0] != said[1]


def test_all_kinds_are_told() -> None:
    seen = {
        kind
        for seed in SEEDS
        for kinds in (kinds_of(found, row) for found in [events_of(of_random_set(seed))] for row in range(len(found)))
        for kind in kinds
    }
    assert seen == set(JUMPS)


@pytest.mark.parametrize("seed", SEEDS)
def test_jumps_go_to_the_nearest_event_of_the_kind(seed: int) -> None:
    shown = of_random_set(seed)
    events, frames, happened = events_of(shown), frames_of(shown.ground_truth), Happened(shown, 0)
    places: dict[str, set[int]] = {kind: set() for kind in JUMPS}
    rows = range(len(events))
    seen = {
        (kind, events.category[row], events.sequence[row], events.frame[row], track)
        for row in rows
        for kind, track in [(EVENT_KINDS[events.kind[row]], track_of(events, row))]
    }
    for row in rows:
        for kind in kinds_of(events, row):
            frame = (kind, events.category[row], events.sequence[row], events.frame[row] - 1, track_of(events, row))
            if kind not in ("miss", "false") or frame not in seen:  # a row of misses is one event
                places[kind].add(int(frames.place[events.image[row]]))
    images = shown.positions[frames.images].tolist()
    for place, at in enumerate(images):
        expected = {
            kind: [
                images[max(before)] if (before := [one for one in listed if one < place]) else None,
                images[min(after)] if (after := [one for one in listed if one > place]) else None,
            ]
            for kind, listed in places.items()
        }
        assert happened.to_json(at)["jumps"] == expected


def track_of(events: TrackEvents, row: int) -> Any:
    return (events.track if EVENT_KINDS[events.kind[row]] == "false" else events.object_track)[row]


def test_images_are_ordered_by_sequence_and_frame() -> None:
    truth = tracked_truth(2, frames=12)
    shown = Collection.of(truth, {"a": evaluate(truth, tracker(2, 1, found=0.7))})
    listed = sequences(shown)
    assert [one["name"] for one in listed] == ["S00", "S01"]
    names = [[shown.image_names[at] for at in one["images"]] for one in listed]
    assert names == [[f"S{sequence:02d}/{frame}" for frame in range(1, 13)] for sequence in range(2)]
    assert answer(shown, Filter.parse([("sort", "frame")])).order.tolist() == [
        at for one in listed for at in one["images"]
    ]


@pytest.mark.parametrize("at_score", [None, "0.5"])
def test_trails_are_the_centres_of_the_last_frames(at_score: str | None) -> None:
    rng = np.random.default_rng(3)
    frames = 2 * LENGTH
    images = [f"walk/{frame}" for frame in range(frames)] + ["run/0", "run/1"]
    boxes = np.round(rng.uniform(0, 90, (len(images), 4)), 1)
    scores = rng.random(len(images))
    common: dict[str, Any] = {"category_ids": [1] * len(images), "boxes": boxes}
    ids = {"track_id": np.array(["ä"] * len(images))}
    truth = GroundTruth.from_arrays(image_ids=images, **common, attributes=ids)
    found = Detections.from_arrays(image_ids=images, **common, scores=scores, attributes=ids)
    shown = Collection.of(truth, {"a": evaluate(truth, found)})
    low = shown.models[0].best_score if at_score is None else float(at_score)
    chosen = Filter.parse([] if at_score is None else [("at_score", at_score)])
    for frame in (0, 1, LENGTH, frames - 1):
        image = explained(shown, chosen, shown.image_names.index(f"walk/{frame}"))
        window = range(max(0, frame - LENGTH), frame + 1)
        points = [
            [one + 1, *np.round(10 * (boxes[one, :2] + boxes[one, 2:] / 2)).astype(int).tolist()] for one in window
        ]
        expected = [(0, [*chain(*points)])]
        kept = [point for one, point in zip(window, points, strict=True) if scores[one] >= low]
        expected += [(1, [*chain(*kept)])] if kept else []
        assert [(trail["side"], trail["points"]) for trail in image["trails"]] == expected
        assert {trail["track"] for trail in image["trails"]} == {"ä"}


def test_each_mark_has_its_track_id_and_frames_one_size() -> None:
    shown = of_scenes()
    sides = [shown.ground_truth, *(model.detections for model in shown.models)]
    sizes = set()
    for at in range(len(shown.table.image_ids)):
        image = explained(shown, Filter.parse([("model", "b")]), at)
        places = np.array(image["boxes"]).reshape(-1, 9)[:, 7:]
        expected = [str(sides[side].attributes["track_id"][row]) for side, row in places.tolist()]
        assert [entry["track"] for entry in image["marks"]] == expected
        sizes.add((image["w"], image["h"]))
    assert sizes == {(100.0, 10.0)}


def test_data_without_track_ids_are_as_before() -> None:
    evaluation = drawn(40, ["car"], images=6)
    assert evaluation.ground_truth is not None
    shown = Collection.of(evaluation.ground_truth, {"a": evaluation})
    image = explained(shown, Filter.parse([]), 0)
    assert not shown.has_tracks
    assert "trails" not in image
    assert all("track" not in entry for entry in image["marks"])
    alone = tracked_truth(1)
    assert not Collection.of(alone, {}).has_tracks


def test_tracks_are_evaluated_at_the_first_question_about_events(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = tracked_truth(2)
    asked: list[Any] = []

    def counted(*data: Any, **options: Any) -> Any:
        asked.append(data)
        return evaluate_tracks(*data, **options)

    monkeypatch.setattr("ioukit.viewer.answers.tracking.evaluate_tracks", counted)
    views = app_of({name: evaluate(truth, tracker(2, at, found=0.7)) for at, name in enumerate("ab")})[0].views
    assert views.data()["tracks"] is True
    views.answer([("sort", "frame")])
    views.drawings([0, 1], [])
    views.image(0, [])
    assert [len(one["images"]) for one in views.sequences()["sequences"]] == [8, 8]
    assert asked == []
    for at in range(4):
        views.events(at, [])
    views.events(0, [("model", "b")])
    assert len(asked) == 2


def test_events_need_track_ids() -> None:
    views = app_of(drawn(40, ["car"], images=6))[0].views
    assert "tracks" not in views.data()
    with pytest.raises(ValueError, match="events need track ids: the objects, or the detections of a model, have none"):
        views.events(0, [])


def test_images_are_shown_where_their_frames_are_not_known() -> None:
    truth = tracked_truth(1)
    lacking = dataclasses.replace(
        truth, images=dataclasses.replace(truth.images, attributes={"sequence": np.array(["", *["a"] * 7])})
    )
    views = app_of(evaluate(lacking, tracker(1, 1, found=0.7)))[0].views
    image = views.image(0, [])
    assert len(image["marks"]) > 0
    assert image["trails"] == []
    for ask in (views.sequences, lambda: views.events(0, []), lambda: views.answer([("sort", "frame")])):
        with pytest.raises(DatasetError, match="expected a sequence, as other images have, found none"):
            ask()


def test_what_a_protocol_leaves_out_is_said() -> None:
    truth = tracked_truth(1)
    named = GroundTruth.from_arrays(
        image_ids=[f"MOT17-02-FRCNN/{one + 1}" for one in truth.image_ids - truth.image_ids.min()],
        category_ids=np.ones(len(truth), np.int64),
        boxes=truth.boxes,
        categories={1: "pedestrian"},
        attributes=truth.attributes,
    )
    found = Detections.from_arrays(
        image_ids=["MOT17-02-FRCNN/1"],
        category_ids=[1],
        boxes=[[0, 0, 10, 10]],
        scores=[1],
        attributes={"track_id": [1]},
    )
    shown = Collection.of(named, {"a": evaluate(named, found)})
    (note,) = Happened(shown, 0).to_json(0)["notes"]
    assert "evaluated by the protocol MOT17, which leaves out 0 of 32 objects" in note
