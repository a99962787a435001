"""Tags and notes: what is stored, what they are about, and what happens to the file under bad conditions."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.marking.noted_marks import Noting, Place
from ioukit.viewer.marking.notes import (
    MOST_SIGNS_OF_NOTE,
    MOST_TAGS,
    Entry,
    Notes,
    NotesConflictError,
    Subject,
    notes_file,
)
from support.evaluated_scenes import made

IMAGE = Subject("image", 7)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "val.view.db", timeout=0.2)


def texts(entry: Entry) -> tuple[tuple[str, ...], str]:
    return entry.tags, entry.note


class TestStore:
    def test_an_entry_is_read_back_by_another_process(self, notes: Notes) -> None:
        assert notes.read().of(IMAGE) == Entry()
        assert notes.problem() is None
        assert not os.path.exists(notes.path or "")
        entry = notes.write(IMAGE, ["night", "  wet   road ", "night"], "line 1\r\nline 2 \x00\n")
        assert texts(entry) == (("night", "wet road"), "line 1\nline 2")
        assert notes.read().of(IMAGE) == Notes(notes.path).read().of(IMAGE) == entry
        assert entry.changed.endswith("Z")

    def test_ids_of_numbers_and_strings_differ(self, notes: Notes) -> None:
        notes.write(Subject("image", 1), ["number"], "")
        notes.write(Subject("image", "1"), ["text"], "")
        notes.write(Subject("object", 1, annotation=-(2**63)), ["object"], "")
        notes.write(Subject("detection", 1, model="a", fingerprint="f"), ["a"], "")
        notes.write(Subject("detection", 1, model="b", fingerprint="f"), ["b"], "")
        assert [entry.tags for entry in notes.read().entries.values()] == [
            ("number",), ("text",), ("object",), ("a",), ("b",)
        ]  # fmt: skip
        assert notes.read().tag_counts() == {"a": 1, "b": 1, "number": 1, "object": 1, "text": 1}

    def test_what_is_empty_is_removed(self, notes: Notes) -> None:
        notes.write(IMAGE, ["a"], "")
        assert notes.write(IMAGE, [], "  \n ") == Entry()
        assert not notes.read().entries
        with closing(sqlite3.connect(notes.path or "")) as db:
            assert db.execute("SELECT count(*) FROM tags").fetchone() == (0,)
        assert notes.write(IMAGE, [], "") == Entry()

    def test_nothing_is_written_if_nothing_changes(self, notes: Notes) -> None:
        first = notes.write(IMAGE, ["a", "b"], "n")
        before = Path(notes.path or "").read_bytes()
        assert notes.write(IMAGE, ["b", "a"], "n") == first
        assert Path(notes.path or "").read_bytes() == before
        assert notes.read() is notes.read()

    def test_characters_are_composed_and_halves_are_replaced(self, notes: Notes) -> None:
        entry = notes.write(IMAGE, ["cafe\u0301", "caf\u00e9", "\U0001f9d1\u200d\U0001f33e"], "\ud800 猫")
        assert texts(entry) == (("caf\u00e9", "\U0001f9d1\u200d\U0001f33e"), "? 猫")
        assert notes.read().of(IMAGE) == entry

    @pytest.mark.parametrize(
        ("tags", "note", "message"),
        [
            (["a" * 65], "", "a tag must have 1 to 64 characters, got 65"),
            ([" "], "", "a tag must have 1 to 64 characters, got 0"),
            (["a\u202eb"], "", "printable characters"),
            (["a; b"], "", "no ';'"),
            ([str(k) for k in range(MOST_TAGS + 1)], "", "at most 32 tags, got 33"),
            ([], "x" * (MOST_SIGNS_OF_NOTE + 1), "at most 10,000 characters, got 10,001"),
        ],
    )
    def test_limits(self, notes: Notes, tags: list[str], note: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            notes.write(IMAGE, tags, note)
        assert not os.path.exists(notes.path or "")

    def test_data_without_a_file_has_no_notes(self) -> None:
        notes = Notes(None)
        assert "Notes need a file" in str(notes.problem())
        assert notes.name is None
        assert not notes.read().entries
        with pytest.raises(OSError, match="Notes need a file"):
            notes.write(IMAGE, ["a"], "")


class TestTwoWriters:
    """Two windows that read the same entry, and change it one after the other."""

    def test_tags_of_both_are_kept(self, notes: Notes) -> None:
        was = notes.write(IMAGE, ["a", "b"], "")
        other = Notes(notes.path)
        other.write(IMAGE, ["a", "b", "theirs"], "", was)
        assert notes.write(IMAGE, ["b", "mine"], "", was).tags == ("b", "theirs", "mine")
        assert notes.read().of(IMAGE).tags == other.read().of(IMAGE).tags

    def test_a_note_and_a_tag_do_not_disturb_each_other(self, notes: Notes) -> None:
        was = notes.write(IMAGE, ["a"], "old")
        notes.write(IMAGE, ["a"], "theirs", was)
        assert texts(notes.write(IMAGE, ["a", "b"], "old", was)) == (("a", "b"), "theirs")

    def test_a_note_that_both_changed_is_refused_with_what_is_stored(self, notes: Notes) -> None:
        was = notes.write(IMAGE, ["a"], "old")
        notes.write(IMAGE, ["a"], "theirs", was)
        with pytest.raises(NotesConflictError) as caught:
            notes.write(IMAGE, ["a", "b"], "mine", was)
        assert caught.value.entry.note == "theirs"
        assert texts(notes.read().of(IMAGE)) == (("a",), "theirs")
        assert notes.write(IMAGE, ["a"], "theirs", was).note == "theirs"  # both wrote the same

    def test_merged_tags_keep_the_limit(self, notes: Notes) -> None:
        notes.write(IMAGE, [f"t{k}" for k in range(20)], "")
        with pytest.raises(ValueError, match="at most 32 tags, got 40"):
            notes.write(IMAGE, [f"m{k}" for k in range(20)], "", Entry())
        assert len(notes.read().of(IMAGE).tags) == 20

    def test_what_another_process_writes_is_seen(self, notes: Notes) -> None:
        notes.write(IMAGE, ["a"], "")
        first = notes.read()
        Notes(notes.path).write(IMAGE, ["a", "b"], "")
        assert notes.read() is not first
        assert notes.read().of(IMAGE).tags == ("a", "b")
        os.remove(notes.path or "")
        assert not notes.read().entries
        Notes(notes.path).write(IMAGE, ["c"], "")
        assert notes.read().of(IMAGE).tags == ("c",)


def collection(**more: Any) -> Collection:
    evaluation = made(images=6, **more)
    assert evaluation.ground_truth is not None
    return Collection.of(evaluation.ground_truth, {"a": evaluation, "b": evaluation})


def doubled_detections() -> Collection:
    """Three equal detections, and one with a zero of the other sign."""
    gt = GroundTruth.from_arrays(image_ids=["x"], category_ids=[1], boxes=[[0, 0, 9, 9]])
    boxes = [[1.0, 2, 3, 4]] * 3 + [[0.0, 2, 3, 4], [-0.0, 2, 3, 4]]
    dt = Detections.from_arrays(image_ids=["x"] * 5, category_ids=[1] * 5, boxes=boxes, scores=[0.5] * 5)
    return Collection.of(gt, {"a": evaluate(gt, dt)})


class TestPlaces:
    def test_every_image_and_mark_is_found_again_in_a_new_evaluation(self, notes: Notes) -> None:
        shown = collection()
        noting = Noting(shown, notes)
        places = [Place(at) for at in range(6)]
        places += [
            Place(int(at), 0, int(row))
            for at, row in zip(shown.table.objects.image, shown.table.objects.row, strict=True)
        ]
        for side, model in enumerate(shown.models, 1):
            rows = model.table.detections
            places += [Place(int(at), side, int(row)) for at, row in zip(rows.image, rows.row, strict=True)]
        subjects = [noting.subject(place) for place in places]
        assert len(set(subjects)) == len(places) > 60

        truth, found = shown.ground_truth, shown.models[0].evaluation.detections
        assert found is not None
        order = np.random.default_rng(0).permutation(len(found))
        mixed = evaluate(truth.take(np.arange(len(truth))[::-1]), found.take(order))
        assert mixed.ground_truth is not None
        again = Noting(Collection.of(mixed.ground_truth, {"b": mixed, "a": mixed}), notes)
        for place, subject in zip(places, subjects, strict=True):
            there = again.place(subject)
            assert there is not None
            assert there.at == place.at
            if place.side == 0:
                assert mixed.ground_truth.ids[there.row] == truth.ids[place.row]
            elif place.side is not None:
                assert there.side == 3 - place.side  # the models are in the other order
                assert order[there.row] == place.row

    def test_equal_detections_are_numbered(self, notes: Notes) -> None:
        noting = Noting(doubled_detections(), notes)
        prints = [noting.subject(Place(0, 1, row)).fingerprint for row in range(5)]
        assert [one[24:] for one in prints] == ["", ":2", ":3", "", ":2"]
        assert len({one[:24] for one in prints}) == 2

    def test_what_is_not_there_is_refused(self, notes: Notes) -> None:
        noting = Noting(collection(), notes)
        for place, message in (
            (Place(6), "no image at position 6"),
            (Place(-1), "no image at position -1"),
            (Place(0, 0, 10**6), "no object 1000000 on image 1"),
            (Place(0, 0, None), "no object None"),
            (Place(0, 1, 10**6), "no detection 1000000 on image 1"),
            (Place(0, 3, 0), "side must be from 0 to 2, got 3"),
        ):
            with pytest.raises(ValueError, match=message):
                noting.subject(place)

    def test_entries_about_something_else_are_kept_and_counted(self, notes: Notes) -> None:
        notes.write(Subject("image", 99), ["other"], "")
        notes.write(Subject("image", 1), ["mine"], "")
        notes.write(Subject("object", 1, annotation=10**6), ["gone"], "")
        notes.write(Subject("detection", 1, model="c", fingerprint="f"), ["gone"], "")
        notes.write(Subject("detection", 1, model="a", fingerprint="f"), ["gone"], "")
        noting = Noting(collection(), notes)
        assert list(noting.entries()) == [Place(0)]
        assert noting.to_json()["elsewhere"] == 4
        assert {one["name"] for one in noting.to_json()["tags"]} == {"other", "mine", "gone"}

    def test_images_are_tagged_by_themselves_and_by_their_marks(self, notes: Notes) -> None:
        shown = collection()
        noting = Noting(shown, notes)
        row = int(shown.table.objects.row[shown.objects_of(2)][0])
        noting.write({"at": 0, "tags": ["t"], "note": ""})
        noting.write({"at": 2, "side": 0, "row": row, "tags": ["t", "u"], "note": "n"})
        tagged = noting.tagged()
        assert {tag: places.tolist() for tag, places in tagged.tags.items()} == {"t": [0, 2], "u": [2]}
        assert tagged.noted.tolist() == [2]
        assert dict(noting.of_image(2)) == {Place(2, 0, row): noting.entry(Place(2, 0, row))}
        assert noting.tagged() is tagged
        assert noting.to_json()["tags"][0] == {"name": "t", "count": 2, "images": 2}

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            ([], "expected an object with at"),
            ({"tags": []}, "at must be a whole number, got None"),
            ({"at": True}, "at must be a whole number, got True"),
            ({"at": 0.0}, "at must be a whole number"),
            ({"at": 10**30}, "no image at position"),
            ({"at": 0, "side": "0"}, "side must be a whole number"),
            ({"at": 0, "tags": "t"}, "tags must be a list of texts"),
            ({"at": 0, "tags": [1]}, "tags must be a list of texts"),
            ({"at": 0, "note": None}, "note must be a text"),
            ({"at": 0, "was": []}, "was must be an object"),
            ({"at": 0, "was": {"tags": 3}}, "tags must be a list"),
        ],
    )
    def test_requests_that_are_none(self, notes: Notes, request_: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Noting(collection(), notes).write(request_)
        assert not os.path.exists(notes.path or "")


def test_the_file_stands_beside_the_ground_truth(tmp_path: Path) -> None:
    for name, expected in (("val.json", "val.view.db"), ("a.b.json.gz", "a.b.view.db"), ("x", "x.view.db")):
        (tmp_path / name).touch()
        assert notes_file(str(tmp_path / name)) == str(tmp_path / expected)
    (tmp_path / "labels.v2").mkdir()
    assert notes_file(str(tmp_path / "labels.v2")) == str(tmp_path / "labels.v2.view.db")
    assert notes_file("ground truth") is None
    for device in ("/dev/stdin", "/dev/null", "/dev/fd/0"):
        assert notes_file(device) is None
