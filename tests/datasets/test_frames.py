"""Tables in memory: pandas, Polars and PyArrow give the same data set as a file, and are not imported by ioukit."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, evaluate
from ioukit.datasets import read, read_detections, read_frame, write
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

COLUMNS: dict[str, list[Any]] = {
    "image_id": [3, 3, 5, 9],
    "file_name": ["a.jpg", "a.jpg", "b.jpg", "c.jpg"],
    "image_width": [640, 640, 320, 100],
    "image_height": [480, 480, 200, 50],
    "category": ["cat", "dog", "cat", None],
    "xmin": [1.5, 2, 3, None],
    "ymin": [1.0, 2, 3, None],
    "xmax": [5.0, 7, 9, None],
    "ymax": [5.5, 7, 9, None],
    "iscrowd": [False, True, False, False],
    "plate": ["12", "13", None, None],
    "depth": [1.0, None, 2.0, None],
}
KINDS = ("pandas", "polars", "pyarrow", "stream")


class Stream:
    """Hands out a stream of Arrow's, and nothing else, as tables of many libraries do."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def frame(kind: str, columns: dict[str, list[Any]] = COLUMNS) -> Any:
    if kind == "stream":
        return Stream(frame("pyarrow", columns))
    library: Any = pytest.importorskip(kind, reason=f"its tables need {kind}")
    return library.table(columns) if kind == "pyarrow" else library.DataFrame(columns)


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_in_memory(kind: str) -> None:
    gt = read(frame(kind))
    assert gt.images.ids.tolist() == [3, 5, 9]
    assert list(gt.images.names) == ["a.jpg", "b.jpg", "c.jpg"]
    assert gt.images.sizes.tolist() == [[640, 480], [320, 200], [100, 50]]
    assert gt.boxes.tolist() == [[1.5, 1, 3.5, 4.5], [2, 2, 5, 5], [3, 3, 6, 6]]
    assert (gt.categories.names, gt.category_ids.tolist()) == (("cat", "dog"), [1, 2, 1])
    assert gt.crowd.tolist() == [False, True, False]
    assert gt.attributes["plate"].tolist() == ["12", "13", ""], "text that is typed as text stays text"
    np.testing.assert_array_equal(gt.attributes["depth"], [1, np.nan, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_detections_in_memory(kind: str) -> None:
    gt = read(frame(kind))
    found: dict[str, list[Any]] = {
        "file_name": ["b.jpg", "a.jpg"],
        "label": ["cat", "dog"],
        "score": [0.5, 0.25],
        "bbox": [[3.0, 3.0, 9.0, 9.0], [2.0, 2.0, 7.0, 7.0]],  # Polars 1.0 takes no integers among floats
    }
    dt = read_detections(frame(kind, found), ground_truth=gt, boxes="xyxy")
    assert (dt.image_ids.tolist(), dt.category_ids.tolist()) == ([5, 3], [1, 2])
    assert dt.boxes.tolist() == [[3, 3, 6, 6], [2, 2, 5, 5]]
    named = {**found, "x": [3, 2], "y": [3, 2], "w": [6, 5], "h": [6, 5]}
    del named["bbox"]
    assert evaluate(frame(kind), frame(kind, named)).summary["AP50"] > 0


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_file_and_its_frame_are_the_same(kind: str, tmp_path: Path) -> None:
    gt = read(frame(kind))
    write(gt, tmp_path / "t.csv", "csv")
    again = read(tmp_path / "t.csv")
    assert_same_columns(again.images, gt.images)
    for name in ("boxes", "areas", "ids", "image_ids", "category_ids"):
        assert getattr(again, name).tobytes() == getattr(gt, name).tobytes(), name


def test_bad_tables_are_refused() -> None:
    columns: dict[str, list[Any]] = {
        name: COLUMNS[name] for name in ("image_id", "category", "xmin", "ymin", "xmax", "ymax")
    }
    with pytest.raises(DatasetError, match="pandas table: row 1, ymax: expected a number within"):
        read(frame("pandas", {**columns, "ymax": [1, "x", 3, None]}))
    both = frame("pandas", columns)
    both.columns = ["image_id", "category", "xmin", "ymin", "xmax", "xmax"]
    with pytest.raises(DatasetError, match="pandas table: expected columns of different names"):
        read(both)
    with pytest.raises(TypeError, match="expected a table of pandas, Polars or PyArrow, got int"):
        read_frame(7)
    with pytest.raises(ValueError, match="format is for paths, got 'csv' and DataFrame"):
        read(frame("pandas", columns), "csv")
    others: Sequence[object] = (3, None, [1, 2], object())
    for other in others:
        with pytest.raises(TypeError, match="expected a path"):
            read(other)
        with pytest.raises(TypeError, match="expected a path"):
            read_detections(other)


def test_nullable_columns_of_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="its tables need pandas")
    given = frame("pandas").convert_dtypes()
    given["category"] = given["category"].astype(pandas.CategoricalDtype(["cat", "dog"]))
    gt = read(given)
    assert gt.boxes.tolist() == read(frame("pandas")).boxes.tolist()
    assert gt.categories.names == ("cat", "dog")
    assert gt.crowd.tolist() == [False, True, False]
    given = frame("pandas")
    given["iscrowd"] = [False, True, np.nan, None]  # as pandas reads true, false and empty fields
    assert read(given).crowd.tolist() == [False, True, False]


def test_lazy_frames_are_to_be_collected() -> None:
    polars = pytest.importorskip("polars", reason="its tables need Polars")
    with pytest.raises(TypeError, match=r"collect\(\)"):
        read(polars.DataFrame(COLUMNS).lazy())


def test_reading_a_frame_imports_no_other_library() -> None:
    program = """
import sys
class Series(list):
    def to_numpy(self):
        import numpy
        return numpy.array(self)
class Frame:
    columns = ["image", "label", "x", "y", "w", "h"]
    shape = (1, 6)
    def __getitem__(self, name):
        return Series([{"image": "a", "label": "cat"}.get(name, 1.0)])
import ioukit.datasets
boxes = ioukit.datasets.read(Frame()).boxes.tolist()
print(boxes, sorted({"pandas", "polars", "pyarrow", "datasets"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[[1.0, 1.0, 1.0, 1.0]] []\n"
