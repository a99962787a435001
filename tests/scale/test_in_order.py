"""Files in the order of the images are matched while they are read: the same bits, and the split where that fails."""

from __future__ import annotations

import dataclasses
import functools
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - the profile
from ioukit import Detections, Evaluation, GroundTruth, evaluate, scale
from ioukit.datasets.columns.lazy import Names
from ioukit.evaluation import match
from ioukit.scale import open_detections, stages
from ioukit.scale.engines import local
from ioukit.scale.in_order import OutOfPlaceError, RowsInOrder, layout_of
from ioukit.scale.sources.source import Cut, Piece
from support.same_columns import assert_same_evaluation

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
LEAST = np.array([0, 0, 4, 4])
"""Added to boxes: sizes of at least 4."""
ORDERS = ("by image", "by image, backwards", "by image inside files", "files of some images", "any")


def scene(rng: np.random.Generator, rows: int, images: int = 12) -> tuple[GroundTruth, dict[str, Any]]:
    """Images with ids 5, 10, ..., of which some have no detections; scores and boxes that are equal often."""
    ids = np.arange(1, images + 1) * 5
    objects = 2 * images
    gt = GroundTruth.from_arrays(
        image_ids=rng.choice(ids, objects),
        category_ids=rng.integers(1, 3, objects),
        boxes=rng.choice([0, 2, 4, 8], (objects, 4)) + LEAST,
        images=ids,
        categories=[1, 2],
    )
    boxes = rng.choice([0, 2, 4, 8], (rows, 4)) + LEAST
    columns = {
        "image_id": rng.choice(ids[rng.random(images) < 0.8] if rows else ids, rows),
        "category_id": rng.integers(1, 3, rows),
        **dict(zip(("x", "y", "width", "height"), boxes.T.astype(float), strict=True)),
        "score": rng.choice([0.1, 0.5, 0.50001, 0.9], rows),
    }
    return gt, columns


def in_order(columns: dict[str, Any], order: str, ends: Sequence[int], rng: np.random.Generator) -> list[Any]:
    """The rows of each file."""
    image = columns["image_id"]
    rows = np.arange(len(image)) if order == "any" else np.argsort(image, kind="stable")
    files = np.split(rows[::-1] if order == "by image, backwards" else rows, ends)
    if order == "files of some images":
        files = [files[at] for at in rng.permutation(len(files))]
    if order == "by image inside files":
        files = [rows[np.argsort(image[rows], kind="stable")] for rows in np.split(np.arange(len(image)), ends)]
    return files


def write(folder: Path, columns: dict[str, Any], files: Sequence[Any], group: int = 5) -> Path:
    folder.mkdir(parents=True)
    for number, rows in enumerate(files):
        table = pa.table({name: column[rows] for name, column in columns.items()})
        pq.write_table(table, folder / f"{number:03d}.parquet", row_group_size=group)
    return folder


def matched_directly(work: Path) -> int:
    """How many pieces had rows that were matched while they were read."""
    return sum("matched" in json.loads(file.read_text()) for file in (work / "pieces").glob("*.json"))


def expected_of(gt: GroundTruth, folder: Path, **options: Any) -> Evaluation:
    return evaluate(gt, Detections.concat(list(open_detections(folder, gt).batches())), **options)


@settings(max_examples=60)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 90),
    st.lists(st.integers(0, 90), max_size=5),
    st.sampled_from(ORDERS),
    st.integers(1, 40),
    st.integers(1, 40),
    st.sampled_from([None, 0.1]),
)
def test_any_files_give_the_same_bits(
    seed: int, count: int, ends: list[int], order: str, piece_rows: int, most_rows: int, near: float | None
) -> None:
    rng = np.random.default_rng(seed)
    gt, columns = scene(rng, count)
    with tempfile.TemporaryDirectory() as path, pytest.MonkeyPatch.context() as patch:
        folder = write(Path(path) / "detections", columns, in_order(columns, order, sorted(ends), rng))
        expected = expected_of(gt, folder, near=near)
        patch.setattr("ioukit.scale.in_order.LEAST_ROWS", 0)
        patch.setattr("ioukit.scale.memory.MOST_ROWS", most_rows)
        patch.setattr("ioukit.scale.requests.Cut", functools.partial(Cut, piece_rows))
        ours = scale.evaluate(gt, folder, near=near, work=Path(path) / "w", threads=2)
        event(f"{order}: {'matched while read' if matched_directly(Path(path) / 'w') else 'split'}")
        assert_same_evaluation(ours, expected)
        if near is None:
            patch.setattr("ioukit.scale.memory.MOST_ROWS", 2 * most_rows)
            assert_same_evaluation(scale.evaluate(gt, folder, work=Path(path) / "w", threads=1), expected)


@pytest.fixture
def sorted_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[GroundTruth, dict[str, Any], list[Any]]:
    """Four files in the order of the images; the second and the third share an image."""
    monkeypatch.setattr("ioukit.scale.in_order.LEAST_ROWS", 0)
    monkeypatch.setattr("ioukit.scale.memory.MOST_ROWS", 40)
    monkeypatch.setattr("ioukit.scale.memory.BATCH_ROWS", 7)
    rng = np.random.default_rng(3)
    gt, columns = scene(rng, 200)
    rows = np.argsort(columns["image_id"], kind="stable")
    image = columns["image_id"][rows]
    starts = np.flatnonzero(np.diff(image)) + 1
    ends = [starts[1], starts[4] + 2, starts[7]]
    files = np.split(rows, ends)
    write(tmp_path / "detections", columns, files, group=1000)
    return gt, columns, files


Sorted = tuple[GroundTruth, dict[str, Any], list[Any]]


def test_no_rows_are_written_but_those_of_shared_images(sorted_files: Sorted, tmp_path: Path) -> None:
    gt, columns, files = sorted_files
    ours = scale.evaluate(gt, tmp_path / "detections", work=tmp_path / "work")
    assert_same_evaluation(ours, expected_of(gt, tmp_path / "detections"))
    assert matched_directly(tmp_path / "work") == 4
    written = [pa.ipc.open_stream(file).read_all() for file in (tmp_path / "work" / "pieces").glob("*.arrow")]
    shared = columns["image_id"][files[1][-1]]
    assert sum(map(len, written)) == (columns["image_id"] == shared).sum() > 2
    assert (
        len(list((tmp_path / "work" / "tables").iterdir())) > 5
    )  # some pieces have more rows than are matched at once


def test_goes_on_where_it_stopped(sorted_files: Sorted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gt, done = sorted_files[0], list[int]()

    def fourth_fails(*given: Any, **options: Any) -> Any:
        done.append(1)
        if len(done) == 4:
            raise OSError(28, "No space left on device")
        return match(*given, **options)

    monkeypatch.setattr(stages, "match", fourth_fails)
    work = tmp_path / "work"
    with pytest.raises(OSError, match="No space left"):
        scale.evaluate(gt, tmp_path / "detections", work=work, threads=1)
    kept = len(list((work / "tables").iterdir()))
    assert kept == 3
    finished = matched_directly(work)
    assert 0 < finished < 4
    assert_same_evaluation(
        scale.evaluate(gt, tmp_path / "detections", work=work, threads=1), expected_of(gt, tmp_path / "detections")
    )
    assert len(done) == 4 + len(list((work / "tables").iterdir())) - kept  # tables that were there are not made again
    monkeypatch.setattr(stages, "match", lambda *_, **__: pytest.fail("matched again"))
    ours = scale.evaluate(gt, tmp_path / "detections", work=work, threads=2, parts=2)  # it keeps its parts
    assert_same_evaluation(ours, expected_of(gt, tmp_path / "detections"))


@pytest.mark.parametrize("damage", ["flipped", "removed"])
def test_a_table_that_only_its_piece_can_make_is_made_again(sorted_files: Sorted, tmp_path: Path, damage: str) -> None:
    work = tmp_path / "work"
    expected = expected_of(sorted_files[0], tmp_path / "detections")
    scale.evaluate(sorted_files[0], tmp_path / "detections", work=work)
    for table in sorted((work / "tables").iterdir())[::3]:
        if damage == "removed":
            table.unlink()
        else:
            table.write_bytes(b"\0" + table.read_bytes()[1:])
    again = scale.evaluate(sorted_files[0], tmp_path / "detections", work=work)
    assert_same_evaluation(again, expected)
    assert any(note.endswith("it was made again") for note in again.notes)


def with_pieces(monkeypatch: pytest.MonkeyPatch, change: Any) -> None:
    """Open detections with pieces that say something else."""

    def opened(*given: Any, **options: Any) -> Any:
        source = open_detections(*given, **options)
        return dataclasses.replace(source, pieces=change(source.pieces))

    monkeypatch.setattr("ioukit.scale.requests.open_detections", opened)


@pytest.mark.parametrize("threads", [1, 2])
def test_wrong_statistics_are_noticed(
    sorted_files: Sorted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    def lie(pieces: Sequence[Piece]) -> list[Piece]:
        """The second piece does not say that it has the image that it shares with the third."""
        second = pieces[1]
        assert second.image_ids is not None
        said = dataclasses.replace(second, image_ids=(second.image_ids[0], second.image_ids[1] - 1))
        return [pieces[0], said, *pieces[2:]]

    with_pieces(monkeypatch, lie)
    work = tmp_path / "work"
    ours = scale.evaluate(sorted_files[0], tmp_path / "detections", work=work, threads=threads)
    assert matched_directly(work) == 0
    assert list((work / "pieces").glob("*.arrow"))
    monkeypatch.setattr(local, "RowsInOrder", lambda *_: pytest.fail("tried again"))
    assert_same_evaluation(
        scale.evaluate(sorted_files[0], tmp_path / "detections", work=work),
        expected_of(sorted_files[0], tmp_path / "detections"),
    )
    assert_same_evaluation(ours, expected_of(sorted_files[0], tmp_path / "detections"))


def test_rows_that_are_left_out(sorted_files: Sorted, tmp_path: Path) -> None:
    """A row without a box moves the numbers of those behind it, which statistics do not say."""
    gt, columns, files = sorted_files
    for name in ("x", "y", "width", "height"):
        columns[name][files[1][3]] = np.nan
    shutil.rmtree(tmp_path / "detections")
    write(tmp_path / "detections", columns, files, group=1000)
    ours = scale.evaluate(gt, tmp_path / "detections", work=tmp_path / "work")
    assert ours.matches.sources[1] == 199
    assert matched_directly(tmp_path / "work") == 0
    assert_same_evaluation(ours, expected_of(gt, tmp_path / "detections"))


def test_ids_that_are_names_of_other_images(sorted_files: Sorted, tmp_path: Path) -> None:
    """The number 61 is no id, but names a photo of another place."""
    gt, columns, files = sorted_files
    names = Names.of([f"{one + 1}.jpg" for one in gt.images.ids[::-1].tolist()])
    gt = dataclasses.replace(gt, images=dataclasses.replace(gt.images, names=names))
    columns["image_id"][files[3][-3:]] = 61
    shutil.rmtree(tmp_path / "detections")
    write(tmp_path / "detections", columns, files, group=1000)
    ours = scale.evaluate(gt, tmp_path / "detections", work=tmp_path / "work")
    assert matched_directly(tmp_path / "work") == 0
    assert_same_evaluation(ours, expected_of(gt, tmp_path / "detections"))


def test_a_given_number_of_parts_is_kept(sorted_files: Sorted, tmp_path: Path) -> None:
    scale.evaluate(sorted_files[0], tmp_path / "detections", parts=2, work=tmp_path / "work")
    assert matched_directly(tmp_path / "work") == 0


class TestLayout:
    def images(self, count: int = 10) -> Any:
        return scene(np.random.default_rng(0), 0, count)[0].images  # 5, 10, ...

    def pieces(self, *ranges: tuple[int, int] | None, rows: int | None = 100_000) -> list[Piece]:
        return [Piece(name="", rows=rows, batch_rows=9, image_ids=one) for one in ranges]

    def test_shared_images_are_parts_of_their_own(self) -> None:
        layout = layout_of(self.pieces((10, 25), (25, 40)), self.images())
        assert layout is not None
        assert layout.edges.tolist() == [0, 4, 5, 10]
        assert layout.owned == {0: 0, 1: 2}

    def test_any_order_of_pieces(self) -> None:
        layout = layout_of(self.pieces((35, 50), (5, 15), (20, 25)), self.images())
        assert layout is not None
        assert layout.edges.tolist() == [0, 3, 6, 10]
        assert layout.owned == {1: 0, 2: 1, 0: 2}

    def test_a_piece_without_images_of_its_own(self) -> None:
        layout = layout_of(self.pieces((5, 20), (20, 20), (20, 40)), self.images())
        assert layout is not None
        assert layout.edges.tolist() == [0, 3, 4, 10]
        assert layout.owned == {0: 0, 2: 2}

    @pytest.mark.parametrize("ranges", [[(5, 30), (20, 50)], [(5, 50), (25, 25)], [(5, 20), None], [(1, 2)], []])
    def test_none(self, ranges: list[Any]) -> None:
        assert layout_of(self.pieces(*ranges), self.images()) is None

    def test_none_of_small_pieces(self) -> None:
        assert layout_of(self.pieces((5, 20), (25, 50), rows=99_999), self.images()) is None
        assert layout_of([*self.pieces((5, 20), (25, 50)), *self.pieces(None, rows=0)], self.images()) is not None

    def test_none_if_images_are_names_or_rows_are_not_known(self) -> None:
        named = dataclasses.replace(self.images(), keys=np.array(list("abcdefghij")))
        assert layout_of(self.pieces((1, 5)), named) is None
        assert layout_of(self.pieces((5, 50), rows=None), self.images()) is None


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 9), st.integers(1, 6), st.booleans())
def test_rows_are_matched_once_in_whole_images(places: list[int], most: int, batch: int, is_sorted: bool) -> None:
    places = sorted(places) if is_sorted else places
    found: list[tuple[int, int, list[tuple[int, int]]]] = []

    def match_rows(first: int, end: int, batches: Sequence[Any]) -> None:
        rows = [(row["place"], row["row"]) for one in batches for row in one.to_pylist()]
        assert all(first <= place < end for place, _ in rows)
        found.append((first, end, rows))

    rows = RowsInOrder((0, 10), most, match_rows)
    try:
        for start in range(0, len(places), batch):
            of_batch = places[start : start + batch]
            numbers = range(start, start + len(of_batch))
            rows.add(pa.RecordBatch.from_pydict({"place": pa.array(of_batch, pa.uint32()), "row": numbers}))
        rows.finish()
    except OutOfPlaceError:
        assert not is_sorted
        return
    assert [first for first, _, _ in found] == [0, *(end for _, end, _ in found[:-1])]
    assert found[-1][1] == 10
    assert [(first, end) for first, end, _ in found] == rows.matched
    every = sorted((row for _, _, of_range in found for row in of_range), key=lambda one: one[1])
    assert every == [(place, row) for row, place in enumerate(places)]
    largest = max(map(places.count, places), default=0)
    for _, _, of_range in found:
        assert of_range == sorted(of_range, key=lambda one: one[1])
        if is_sorted:
            several = len({place for place, _ in of_range}) > 1
            assert not several or len(of_range) <= max(most, largest + batch)
