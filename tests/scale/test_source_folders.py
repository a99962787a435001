"""Folders and names of files: folders that are columns, such as `camera=3`, names that are left out, odd names."""

from __future__ import annotations

import gzip
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.scale import open_detections
from scale.test_sources import all_of, assert_same, rows_of, truth

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather")


def test_folders_with_other_names_are_refused(tmp_path: Path) -> None:
    gt, rng = truth(), np.random.default_rng(5)
    for name in ("a/category_id=1", "b/camera=1"):
        (tmp_path / name).mkdir(parents=True)
        pq.write_table(pa.table(rows_of(rng, 5, gt)), tmp_path / name / "0.parquet")
    with pytest.raises(DatasetError, match=r"camera=1/0\.parquet: expected folders as those of .*: category_id=\.\.\."):
        open_detections(tmp_path, gt)
    (tmp_path / "a" / "category_id=1" / "0.parquet").rename(tmp_path / "a" / "0.parquet")
    with pytest.raises(DatasetError, match=r"camera=1/0\.parquet: .*: no folders with names such as camera=3"):
        open_detections(tmp_path, gt)


def write_csv(rows: dict[str, Any], path: Path) -> None:
    lines = [",".join(map(repr, row)) for row in zip(*(column.tolist() for column in rows.values()), strict=True)]
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        file.write("\n".join([",".join(rows), *lines, ""]))


@pytest.mark.parametrize("by", ["category_id", "image_id", "label"])
def test_tables_of_all_kinds_get_the_columns_of_their_folders(tmp_path: Path, by: str) -> None:
    gt, rng = truth(), np.random.default_rng(5)
    names = {"category_id": ("1", "5"), "image_id": ("1", "4"), "label": ("cat", "dog")}[by]
    for value in names:
        rows = rows_of(rng, 9, gt)
        del rows["category_id" if by == "label" else by]
        for kind in ("parquet", "feather", "csv", "csv.gz"):
            path = tmp_path / kind / f"{by}={value}" / f"0.{kind}"
            path.parent.mkdir(parents=True)
            if kind == "parquet":
                pq.write_table(pa.table(rows), path)
            elif kind == "feather":
                feather.write_feather(pa.table(rows), str(path), compression="uncompressed")
            else:
                write_csv(rows, path)
    expected = all_of(open_detections(tmp_path / "parquet", gt, piece_rows=4))
    ids = {"category_id": [1] * 9 + [5] * 9, "image_id": [1] * 9 + [4] * 9, "label": [1] * 9 + [5] * 9}[by]
    assert (expected.image_ids if by == "image_id" else expected.category_ids).tolist() == ids
    for kind in ("feather", "csv", "csv.gz"):
        assert_same(all_of(open_detections(tmp_path / kind, gt, piece_rows=4)), expected)


def test_a_column_of_the_file_counts_and_not_that_of_its_folder(tmp_path: Path) -> None:
    gt = truth()
    rows = rows_of(np.random.default_rng(5), 9, gt)
    (tmp_path / "category_id=1").mkdir()
    pq.write_table(pa.table(rows), tmp_path / "category_id=1" / "0.parquet")
    assert all_of(open_detections(tmp_path, gt)).category_ids.tolist() == rows["category_id"].tolist()


def test_names_that_begin_with_an_underscore_are_left_out(tmp_path: Path) -> None:
    gt = truth()
    for name in ("0.parquet", "_1.parquet", "_temporary/0.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        pq.write_table(pa.table(rows_of(np.random.default_rng(5), 9, gt)), tmp_path / name)
    for source in (tmp_path, str(tmp_path / "*.parquet"), str(tmp_path / "**" / "*.parquet"), tmp_path.as_uri()):
        assert open_detections(source, gt).rows == 9
    assert open_detections(tmp_path / "_1.parquet", gt).rows == 9  # unless it is named itself


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz"])
def test_names_that_are_not_utf8(tmp_path: Path, kind: str) -> None:
    gt = truth()
    rows = rows_of(np.random.default_rng(5), 9, gt)
    if kind == "parquet":
        pq.write_table(pa.table(rows), tmp_path / "a")
    else:
        write_csv(rows, tmp_path / f"a.{kind}")
    odd = tmp_path / os.fsdecode(b"\xe9\xff." + kind.encode())
    next(tmp_path.iterdir()).rename(odd)
    for source in (odd, tmp_path, str(tmp_path / "*")):
        assert all_of(open_detections(source, gt)).scores.tolist() == rows["score"].tolist()
    odd.write_bytes(b"?")
    with pytest.raises(DatasetError, match=r"\\udce9\\udcff"):
        all_of(open_detections(odd, gt))
