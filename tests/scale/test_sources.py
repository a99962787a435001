"""Detections read piece by piece are those that are read at once."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ioukit import DatasetError
from ioukit.datasets import Detections, GroundTruth, read_detections
from ioukit.scale import open_detections

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.scale import DetectionSource

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
FREE = settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)


def truth(*, images: int = 9, names: bool = False, files: bool = False) -> GroundTruth:
    ids: Any = [f"p/{at}.jpg" for at in range(images)] if names else np.arange(images) * 3 + 1
    return GroundTruth.from_arrays(
        image_ids=ids[:1],
        category_ids=[1],
        boxes=[[0, 0, 1, 1]],
        images=ids,
        sizes=np.full((images, 2), [40, 20]),
        names=[f"photo_{at:03d}.jpg" for at in range(images)] if files else None,
        categories={1: "cat", 5: "dog"},
    )


def rows_of(rng: np.random.Generator, count: int, gt: GroundTruth, *, by_name: bool = False) -> dict[str, Any]:
    at = rng.integers(0, len(gt.images), count)
    image = np.array(list(gt.images.names))[at] if by_name else gt.images.labels[at]
    return {
        ("image_id" if image.dtype.kind == "i" else "file_name"): image,
        "category_id": rng.choice([1, 5], count),
        "x": rng.random(count),
        "y": rng.random(count),
        "width": rng.random(count),
        "height": rng.random(count),
        "score": rng.integers(0, 5, count) / 4,
    }


def all_of(source: DetectionSource) -> Detections:
    """All batches, of pieces that were pickled."""
    pieces = pickle.loads(pickle.dumps(source.pieces))
    batches = [batch for piece in pieces for batch in piece.read()]
    assert all(batches[at].dropped or len(batches[at]) for at in range(len(batches)))
    return Detections.concat(batches) if batches else Detections.from_coco([])


def assert_same(found: Detections, expected: Detections) -> None:
    assert found.image_labels().tolist() == expected.image_labels().tolist()
    assert found.category_ids.tolist() == expected.category_ids.tolist()
    np.testing.assert_array_equal(found.boxes, expected.boxes)
    np.testing.assert_array_equal(found.scores, expected.scores)
    np.testing.assert_array_equal(found.areas_or_those_of_boxes(), expected.areas_or_those_of_boxes())
    assert found.dropped == expected.dropped


@FREE
@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 60),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from(["ids", "names", "files"]),
)
def test_parquet_in_batches(tmp_path: Path, seed: int, count: int, group: int, batch: int, by: str) -> None:
    gt = truth(names=by == "names", files=by == "files")
    rows = rows_of(np.random.default_rng(seed), count, gt, by_name=by == "files")
    path = tmp_path / "dt.parquet"
    pq.write_table(pa.table(rows), path, row_group_size=group)
    source = open_detections(path, gt, piece_rows=20, batch_rows=batch)
    assert source.rows == count
    assert_same(all_of(source), read_detections(path, ground_truth=gt))


def test_detections_in_memory() -> None:
    rng = np.random.default_rng(3)
    dt = Detections.from_arrays(
        image_ids=rng.integers(0, 5, 50),
        category_ids=np.ones(50, int),
        boxes=rng.random((50, 4)),
        scores=rng.random(50),
    )
    source = open_detections(dt, truth(), piece_rows=20)
    assert [piece.rows for piece in source.pieces] == [20, 20, 10]
    assert_same(all_of(source), dt)
    assert len(pickle.dumps(source.pieces[2])) < 4000


def test_folders_of_parquet(tmp_path: Path) -> None:
    gt, rng = truth(), np.random.default_rng(5)
    tables = [rows_of(rng, 11, gt) for _ in range(4)]
    for at, rows in enumerate(tables):
        place = tmp_path / f"category_id={(1, 5)[at % 2]}" / f"part-{at}.parquet"
        place.parent.mkdir(exist_ok=True)
        pq.write_table(pa.table({name: column for name, column in rows.items() if name != "category_id"}), place)
    (tmp_path / "_SUCCESS").touch()
    found = all_of(open_detections(tmp_path, gt))
    assert found.category_ids.tolist() == [1] * 22 + [5] * 22
    scores = np.concatenate([tables[at]["score"] for at in (0, 2, 1, 3)])
    assert found.scores.tolist() == scores.tolist()
    assert_same(all_of(open_detections(str(tmp_path / "*" / "*.parquet"), gt)), found)
    assert_same(all_of(open_detections(tmp_path.as_uri(), gt)), found)
    assert_same(all_of(open_detections(f"{tmp_path.as_uri()}/**/*.parquet", gt)), found)


def test_faults_of_parquet(tmp_path: Path) -> None:
    gt, rng = truth(), np.random.default_rng(7)
    rows = rows_of(rng, 30, gt)
    good = tmp_path / "a.parquet"
    pq.write_table(pa.table(rows), good, row_group_size=10)
    with pytest.raises(DatasetError, match="nothing there"):
        open_detections(tmp_path / "missing.parquet", gt)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="found none"):
        open_detections(tmp_path / "empty", gt)
    cut = tmp_path / "cut.parquet"
    cut.write_bytes(good.read_bytes()[:-9])
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a Parquet file"):
        open_detections(cut, gt)
    cut.write_bytes(b"")
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a Parquet file"):
        open_detections(tmp_path, gt)
    pq.write_table(pa.table({**rows, "image_id": rows["image_id"].astype(str)}), cut)
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a column image_id of integers.*found one of text"):
        open_detections(tmp_path, gt)
    pq.write_table(pa.table({name: column for name, column in rows.items() if name != "score"}), cut)
    with pytest.raises(DatasetError, match=r"cut\.parquet: expected a column score of numbers.*no such column"):
        open_detections(tmp_path, gt)
    with pytest.raises(DatasetError, match="expected a column of scores"):
        open_detections(cut, gt)
    rows["score"][23] = np.nan
    pq.write_table(pa.table(rows), cut, row_group_size=10)
    with pytest.raises(DatasetError, match=r"cut\.parquet: row 23, score: expected a number") as found:
        all_of(open_detections(cut, gt))
    with pytest.raises(DatasetError) as expected:
        read_detections(cut, ground_truth=gt)
    assert str(found.value) == str(expected.value)
    source = open_detections(cut, gt)
    damaged = bytearray(cut.read_bytes())
    damaged[len(damaged) // 3 : len(damaged) // 2] = bytes(len(damaged) // 2 - len(damaged) // 3)
    cut.write_bytes(damaged)
    with pytest.raises(DatasetError, match=r"cut\.parquet: row group \d: expected a Parquet file"):
        all_of(source)
    cut.unlink()
    with pytest.raises(DatasetError, match=r"cut\.parquet: cannot be read"):
        all_of(source)
