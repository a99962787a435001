"""`ioukit.scale.overlap_join` compared with the join in memory."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Boxes, scale
from ioukit.scale.boxes import joining
from ioukit.scale.boxes.box_records import record_dtype
from ioukit.scale.boxes.box_room import Room, room_of
from ioukit.scale.boxes.reach import box_extents, reach_of
from support.far_boxes import box_sets, chunked, rooms

METRICS: list[dict[str, Any]] = [
    *({"metric": metric} for metric in ("iou", "iom", "giou", "diou", "ciou", "ioa")),
    {"metric": "ioa", "of": "first"},
]
SMALL = Room(boxes=40, chunk=16, pairs=50, sample=200)


def joined(room: Room, *sets: Any, **options: Any) -> scale.JoinedPairs:
    with mock.patch.object(joining, "room_of", return_value=room):
        return scale.overlap_join(*sets, **options)


def assert_same(found: ioukit.OverlapPairs, wanted: ioukit.OverlapPairs) -> None:
    assert_array_equal(found.rows, wanted.rows)
    assert_array_equal(found.columns, wanted.columns)
    assert found.values.dtype == wanted.values.dtype
    assert found.values.tobytes() == wanted.values.tobytes()
    assert found.shape == wanted.shape


def some_boxes(count: int = 500, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 200, (count, 2))
    return np.concatenate([low, low + rng.uniform(5, 40, (count, 2))], axis=1)


@settings(deadline=None, max_examples=60)
@given(
    box_sets(),
    box_sets(),
    st.sampled_from(METRICS),
    st.sampled_from([0.01, 0.1, 0.3, 0.5, 0.75, 0.9, 1.0]),
    rooms(),
    st.integers(1, 250),
    st.integers(0, 3),
)
def test_pairs_are_those_in_memory(
    first: Any, second: Any, metric: dict[str, Any], least: float, room: Room, size: int, classes: int
) -> None:
    for other in (None, second):
        sets = [first] if other is None else [first, other]
        labels = [np.arange(len(boxes)) % classes for boxes in sets] if classes else [None] * len(sets)
        named: dict[str, Any] = {f"labels{k + 1}": column for k, column in enumerate(labels)}
        wanted = ioukit.overlap_join(first, other, min_iou=least, **metric, **named)
        columns = [(boxes,) if column is None else (boxes, column) for boxes, column in zip(sets, labels, strict=True)]
        found = joined(room, *(chunked(column, size) for column in columns), min_iou=least, **metric).read()
        assert_same(found, wanted)


@settings(deadline=None, max_examples=30)
@given(box_sets(100), st.sampled_from([0.1, 0.5]), rooms(), st.integers(1, 250))
@example(np.tile([[0.0, 0, 1, 1]], (120, 1)), 0.5, SMALL, 50)
def test_sorted_pairs_come_in_the_order_of_the_join_in_memory(boxes: Any, least: float, room: Room, size: int) -> None:
    wanted = ioukit.overlap_join(boxes, min_iou=least)
    chunks = list(joined(room, chunked((boxes,), size), min_iou=least, sort=True))
    assert all(len(chunk.rows) <= room.pairs for chunk in chunks)
    assert_array_equal(np.concatenate([[], *(chunk.rows for chunk in chunks)]), wanted.rows)
    assert_array_equal(np.concatenate([[], *(chunk.columns for chunk in chunks)]), wanted.columns)
    assert_array_equal(np.concatenate([[], *(chunk.values for chunk in chunks)]), wanted.values)


@settings(deadline=None, max_examples=60)
@given(box_sets(), st.sampled_from(METRICS), st.sampled_from([0.01, 0.3, 0.75, 1.0]))
def test_the_bound_holds_for_every_pair(boxes: Any, metric: dict[str, Any], least: float) -> None:
    pairs = ioukit.overlap_join(boxes, boxes, min_iou=least, **metric)
    records = np.zeros(len(boxes), record_dtype(boxes.dtype, labelled=False, scored=False))
    records["box"] = boxes
    extents = box_extents(records)
    variant = f"ioa_{metric.get('of', 'second')}" if metric["metric"] == "ioa" else metric["metric"]
    for either_order in (False, True):
        reach = reach_of(variant, least, boxes.dtype, either_order=either_order)
        assert reach.meets(extents.take(pairs.rows), extents.take(pairs.columns)).all()


def test_the_sets_are_cut_and_a_large_cell_is_divided() -> None:
    """So the tests above try both."""
    tasks = []

    def recorded(function: Any, given: Any) -> Any:
        for task in given:
            tasks.append((function.__name__, task))
            yield function(task)

    joined(SMALL, [some_boxes()], min_iou=0.3, map=recorded).read()
    names = [name for name, _ in tasks]
    assert min(names.count("cut"), names.count("find_guests"), names.count("find_pairs")) > 10
    assert any(part.length for name, task in tasks if name == "find_pairs" for part in task.first.guests)
    tasks.clear()
    joined(SMALL, [np.tile([[0.0, 0, 1, 1]], (100, 1))], min_iou=0.3, map=recorded).read()
    assert any(task.second is not None for name, task in tasks if name == "find_pairs")


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int64])
@pytest.mark.parametrize("form", ["xyxy", "xywh", "cxcywh"])
def test_dtypes_and_formats(dtype: Any, form: Any) -> None:
    boxes = some_boxes().astype(dtype)
    if form != "xyxy":
        boxes = np.abs(boxes) % 50
    wanted = ioukit.overlap_join(boxes, min_iou=0.4, format=form)
    assert_same(joined(SMALL, chunked((boxes,), 30), min_iou=0.4, format=form).read(), wanted)


def test_sets_of_two_dtypes() -> None:
    first, second = some_boxes().astype(np.float32), some_boxes(seed=1)
    wanted = ioukit.overlap_join(first, second, min_iou=0.4)
    assert_same(joined(SMALL, [first], [second], min_iou=0.4).read(), wanted)
    with pytest.raises(ValueError, match=r"a is float32 and b is float64, both in 'xywh': use one dtype"):
        scale.overlap_join([abs(first)], [abs(second)], min_iou=0.4, format="xywh").read()


@pytest.mark.parametrize("executor", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_tasks_run_on_any_executor(executor: Any, tmp_path: Path) -> None:
    first, second = some_boxes(), some_boxes(seed=1)
    with executor(2) as pool:
        found = joined(SMALL, [first], [second], min_iou=0.4, map=pool.map, folder=tmp_path, threads=1).read()
    assert_same(found, ioukit.overlap_join(first, second, min_iou=0.4))
    assert not list(tmp_path.iterdir())


def test_a_task_that_runs_twice_changes_nothing() -> None:
    boxes = some_boxes()

    def twice(function: Any, tasks: Any) -> Any:
        for task in list(tasks):
            function(task)
            yield function(task)

    assert_same(joined(SMALL, [boxes], min_iou=0.4, map=twice).read(), ioukit.overlap_join(boxes, min_iou=0.4))


def test_parquet_in_and_out(tmp_path: Path) -> None:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    boxes, labels = some_boxes(), np.arange(500) % 3
    table = arrow.table({**dict(zip(("x1", "y1", "x2", "y2"), boxes.T, strict=True)), "kind": labels})
    parquet.write_table(table.slice(0, 300), tmp_path / "0.parquet", row_group_size=70)
    parquet.write_table(table.slice(300), tmp_path / "1.parquet")
    wanted = ioukit.overlap_join(boxes, min_iou=0.2, labels1=labels)
    for source in (tmp_path, [tmp_path / "0.parquet", str(tmp_path / "1.parquet")], table, table.to_batches(50)):
        assert_same(joined(SMALL, source, min_iou=0.2, columns={"labels": "kind"}).read(), wanted)
    lists = arrow.table({"bbox": boxes.tolist()})
    assert_same(
        joined(SMALL, lists, min_iou=0.2, columns={"boxes": "bbox"}).read(), ioukit.overlap_join(boxes, min_iou=0.2)
    )
    out = tmp_path / "pairs.parquet"
    assert scale.overlap_join([(boxes, labels)], min_iou=0.2, sort=True).write_parquet(out) == len(wanted)
    written = parquet.read_table(out)
    assert_array_equal(written["row"], wanted.rows)
    assert_array_equal(written["column"], wanted.columns)
    assert_array_equal(written["value"], wanted.values)


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([[some_boxes(), np.array([[0.0, 0, 1, np.nan]])]], r"the boxes of chunk 1 of a\[0\] is .*finite"),
        ([[some_boxes()], [[[3, 0, 1, 1]]]], r"the boxes of chunk 0 of b\[0\] is .*inverted"),
        ([[some_boxes(), some_boxes().astype(np.float32)]], "chunk 1 of a are float32, those before are float64"),
        ([[(some_boxes(3), [1, 2, 3]), some_boxes()]], "chunk 1 of a has no labels"),
        ([[(some_boxes(3), [1, 2])]], r"the labels of chunk 0 of a must have shape \(3,\)"),
        ([[some_boxes()], [(some_boxes(3), [1, 2, 3])]], "b has labels, the other set has none"),
        ([["nowhere.parquet"]], "there is no file nowhere.parquet"),
        ([[np.zeros((2, 5))]], r"must have shape \(\.\.\., 4\)"),
        ([[Boxes([[0, 0, 1, 1]], normalized=True)], [Boxes([[0, 0, 1, 1]])]], "normalized and absolute boxes"),
    ],
)
def test_bad_chunks_are_named_and_nothing_is_left(sets: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        scale.overlap_join(*sets, min_iou=0.5, folder=tmp_path).read()
    assert not list(tmp_path.iterdir())


def test_bad_arguments() -> None:
    with pytest.raises(ValueError, match="min_iou must be above 0"):
        scale.overlap_join([], min_iou=0)
    with pytest.raises(ValueError, match="memory must be at least 110MB"):
        scale.overlap_join([], min_iou=0.5, memory="50MB")
    with pytest.raises(ValueError, match="unknown key 'box'"):
        scale.overlap_join([], min_iou=0.5, columns={"box": "x"})
    with pytest.raises(ValueError, match="no folder"):
        scale.overlap_join([], min_iou=0.5, folder="/nowhere").read()
    with pytest.raises(TypeError, match="a must be an iterable of chunks"):
        scale.overlap_join(3, min_iou=0.5).read()
    pairs = scale.overlap_join([some_boxes()], min_iou=0.5)
    pairs.read()
    with pytest.raises(ValueError, match="read before"):
        pairs.read()


def test_nothing_is_left_when_the_reader_stops(tmp_path: Path) -> None:
    chunks = iter(joined(SMALL, [some_boxes()], min_iou=0.1, folder=tmp_path))
    next(chunks)
    assert list(tmp_path.iterdir())
    chunks.close()  # type: ignore[attr-defined]
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_an_error_that_leaves_nothing(tmp_path: Path) -> None:
    full = mock.patch("ioukit.scale.boxes.record_files.os.replace", side_effect=OSError(28, "No space left on device"))
    with full, pytest.raises(OSError, match="No space left on device"):
        scale.overlap_join([some_boxes()], min_iou=0.5, folder=tmp_path).read()
    assert not list(tmp_path.iterdir())


def test_sets_without_boxes() -> None:
    assert len(scale.overlap_join([], min_iou=0.5).read()) == 0
    assert scale.overlap_join([some_boxes(3)], [], min_iou=0.5).read().shape == (3, 0)
    assert list(scale.overlap_join([np.zeros((0, 4))], min_iou=0.5)) == []


def test_room_grows_with_memory() -> None:
    small, large = room_of("200MB", ranked=False), room_of("2GB", ranked=False)
    assert small.boxes < large.boxes
    assert small.pairs < large.pairs
