"""Parquet files that are read by tasks give what chunks in memory give."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import support.strategies  # noqa: F401 - the profile
from ioukit import nms, overlap_join, scale
from ioukit.scale.boxes import joining, suppressing
from ioukit.scale.boxes.box_records import record_dtype
from ioukit.scale.boxes.box_room import Room
from ioukit.scale.boxes.record_files import Slice, read_slices, write_array
from ioukit.scale.boxes.spilling import Sampler, Stored, joined_samples
from support.far_boxes import rooms

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def in_order(function: Any, tasks: Any) -> list[Any]:
    """A `map` that is not Python's: tasks read the files."""
    return [function(task) for task in tasks]


def written(folder: Path, boxes: Any, scores: Any, labels: Any, files: int, group: int) -> None:
    """Boxes as Parquet files with row groups of some rows."""
    for number, rows in enumerate(np.array_split(np.arange(len(boxes)), files)):
        columns = dict(zip(("x1", "y1", "x2", "y2"), boxes[rows].T, strict=True))
        columns |= {"score": scores[rows], "kind": labels[rows]}
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=group)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 300), st.integers(1, 4), st.integers(1, 80), rooms())
def test_any_files_give_the_same(
    tmp_path_factory: pytest.TempPathFactory, seed: int, count: int, files: int, group: int, room: Room
) -> None:
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("files")
    low = rng.integers(0, 60, (count, 2)).astype(np.float64)
    boxes = np.concatenate([low, low + rng.integers(0, 12, (count, 2))], axis=1)  # some have no area
    scores, labels = rng.integers(0, 20, count) / 20, rng.integers(0, 3, count)
    written(folder, boxes, scores, labels, files, group)
    columns = {"labels": "kind"}
    with (
        mock.patch.object(suppressing, "room_of", return_value=room),
        mock.patch.object(joining, "room_of", return_value=room),
    ):
        kept = scale.nms(folder, iou_threshold=0.3, score_threshold=0.2, columns=columns, map=in_order).read()
        listed = sorted(folder.iterdir())
        pairs = scale.overlap_join(listed, min_iou=0.3, columns=columns, map=in_order).read()
        both = scale.overlap_join(folder, [boxes], min_iou=0.3, map=in_order).read()
    assert_array_equal(kept, nms(boxes, scores, 0.3, labels=labels, score_threshold=0.2))
    for found, wanted in [
        (pairs, overlap_join(boxes, min_iou=0.3, labels1=labels)),
        (both, overlap_join(boxes, boxes, min_iou=0.3)),
    ]:
        for name in ("rows", "columns", "values"):
            assert_array_equal(getattr(found, name), getattr(wanted, name))
        assert found.shape == wanted.shape


@given(st.lists(st.integers(0, 400), max_size=6), st.integers(1, 300))
def test_the_sample_of_parts_is_one_of_the_whole(counts: list[int], most: int) -> None:
    kind = record_dtype(np.dtype(np.float64), labelled=False, scored=False)
    records = np.zeros(sum(counts), kind)
    records["row"] = np.arange(len(records))
    parts = []
    for part in np.split(records, np.cumsum(counts)[:-1]) if counts else []:
        sampler = Sampler.for_rows(most, len(records))
        sampler.add(part)
        parts.append(Stored(kind, ((Slice("none", 0, len(part)),),), sampler.records(kind), sampler.share))
    found = joined_samples(parts, most)
    assert len(found.records(kind)) <= most
    expected = Sampler(most, round(found.share * 2**24))
    expected.add(records)
    assert_array_equal(found.records(kind), expected.records(kind))


def test_files_that_differ_are_named(tmp_path: Path) -> None:
    boxes, scores, labels = np.array([[0.0, 0, 1, 1]] * 4), np.ones(4), np.zeros(4, np.int64)
    written(tmp_path, boxes, scores, labels, 2, 10)
    narrow = pq.read_table(tmp_path / "1.parquet")
    narrow = pa.table({name: narrow[name].cast(pa.float32()) for name in ("x1", "y1", "x2", "y2", "score")})
    pq.write_table(narrow, tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet are float32, those before are float64: use one dtype"):
        scale.overlap_join(tmp_path, min_iou=0.5, map=in_order).read()
    (tmp_path / "1.parquet").write_text("no")
    with pytest.raises(ValueError, match=r"a: .*1\.parquet cannot be read as Parquet"):
        scale.overlap_join(tmp_path, min_iou=0.5, map=in_order).read()
    boxes[:, 3] = np.nan
    written(tmp_path, boxes, scores, labels, 2, 1)
    with pytest.raises(ValueError, match=r"chunk 0 of a \(.*0\.parquet, from row group 0\)\[0\] is .*finite"):
        scale.overlap_join(tmp_path, min_iou=0.5, map=in_order).read()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"boxes": ("x1", "y1")},
            r"columns\['boxes'\] must name four columns, or one column of lists, got \('x1', 'y1'\)",
        ),
        ({"classes": "kind"}, "columns has the unknown key 'classes'; choose from boxes, scores, labels"),
        ({"labels": "class"}, r"0\.parquet has no column 'class', it has x1, y1, x2, y2, score, kind"),
        ({"scores": "p"}, r"0\.parquet has no column 'p', it has x1, y1, x2, y2, score, kind"),
        ({"labels": "kind"}, r"0\.parquet.*: column 'kind' has 1 empty cells"),
    ],
)
def test_columns_that_are_not_there_are_named(columns: Any, message: str, tmp_path: Path) -> None:
    written(tmp_path, np.array([[0.0, 0, 1, 1]] * 4), np.ones(4), np.zeros(4, np.int64), 1, 10)
    table = pq.read_table(tmp_path / "0.parquet")
    kinds = pa.array([0, 1, None, 3], pa.int64())
    pq.write_table(table.set_column(table.schema.get_field_index("kind"), "kind", kinds), tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=message):
        scale.nms(tmp_path, iou_threshold=0.5, columns=columns, map=in_order).read()


def test_a_file_of_the_work_folder_that_was_cut_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    write_array(path, np.arange(10, dtype=np.int64))
    kind = np.dtype(np.int64)
    assert read_slices([Slice(path, 2, 3), Slice(path, 0, 0), Slice(path, 9, 1)], kind).tolist() == [2, 3, 4, 9]
    with open(path, "r+b") as file:
        file.truncate(44)
    with pytest.raises(OSError, match="records was cut short: it has 5 records, expected 9"):
        read_slices([Slice(path, 4, 5)], kind)


def test_a_full_disk_names_the_file_and_leaves_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left on device while writing to the work folder") as caught:
        write_array(str(tmp_path / "records"), np.arange(10))
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path / "records"))
    assert not list(tmp_path.iterdir())


def test_where_tasks_run() -> None:
    with pytest.raises(ValueError, match="map and on='ray' both say where tasks run"):
        scale.nms([], iou_threshold=0.5, map=in_order, on="ray")
    with pytest.raises(ValueError, match="address and timeout need on='ray'"):
        scale.overlap_join([], min_iou=0.5, timeout=3)
    with pytest.raises(ValueError, match="on"):
        scale.overlap_join([], min_iou=0.5, on="mars")
