"""Folders whose names are columns, such as `camera=3`: all files lie in folders of the same names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.scale import open_detections
from scale.test_sources import rows_of, truth

if TYPE_CHECKING:
    from pathlib import Path

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


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
