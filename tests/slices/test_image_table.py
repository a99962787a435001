"""Tables with a row per image: of every format, by id and by file name, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.slices.image_table import image_columns

if TYPE_CHECKING:
    from pathlib import Path

LABELS = np.array([3, 5, 9])
NAMES = ["day/a.png", "day/b.png", "night/c.png"]
ROWS = {"image_id": [9, 3, 5], "weather": ["rain", "sun", ""], "speed": [30.5, None, 2], "wet": [True, False, None]}


def _checked(found: Any) -> None:
    assert list(found.columns) == ["weather", "speed", "wet"]
    weather, speed, wet = (found.columns[name] for name in found.columns)
    assert weather.data[[0, 2]].tolist() == ["sun", "rain"]
    assert weather.missing.tolist() == [False, True, False]
    assert speed.kind == "number"
    assert speed.data[[1, 2]].tolist() == [2.0, 30.5]
    assert speed.missing.tolist() == [True, False, False]
    assert (wet.kind, wet.data[[0, 2]].tolist(), wet.missing.tolist()) == ("flag", [False, True], [False, True, False])


def test_csv_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "scenes.csv"
    path.write_text("image_id,weather,speed,wet\n9,rain,30.5,true\n3,sun,,False\n5,,2,\n")
    _checked(image_columns(path, LABELS, None))
    path = tmp_path / "scenes.tsv"
    path.write_text("speed\tfile\n30\tday/a.png\n4\tnight/c.png\n")
    found = image_columns(path, LABELS, NAMES)
    assert found.columns["speed"].data[[0, 2]].tolist() == [30, 4]
    assert found.notes == (f"{path}: 1 of 3 images have no row, so they are in no slice of it",)


def test_json_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "scenes.jsonl"
    rows = [dict(zip(ROWS, row, strict=True)) for row in zip(*ROWS.values(), strict=True)]
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n")
    _checked(image_columns(path, LABELS, None))
    path.write_text('{"name": "a.png", "attributes": {"weather": "rain"}, "boxes": [1]}\n')
    assert list(image_columns(path, LABELS, NAMES).columns) == ["attributes.weather"]


def test_parquet_and_arrow_files_are_read(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table(ROWS)
    parquet.write_table(table, tmp_path / "scenes.parquet")
    _checked(image_columns(tmp_path / "scenes.parquet", LABELS, None))
    _checked(image_columns(table, LABELS, None))


def test_data_frames_and_mappings_are_read() -> None:
    pandas = pytest.importorskip("pandas")
    _checked(image_columns(pandas.DataFrame(ROWS), LABELS, None))


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        (["day/a.png", "night/c.png"], [0, 1]),
        (["/data/day/a.png", "night\\c.png"], [0, 1]),
        (["a.jpg", "c"], [0, 1]),
        (["3", "9"], [0, 1]),
        ([3.0, 9.0], [0, 1]),
    ],
)
def test_images_are_found_by_id_name_or_stem(keys: list[Any], place: list[int]) -> None:
    found = image_columns({"image": keys, "value": [10, 20]}, LABELS, NAMES).columns["value"]
    assert found.data[[0, 2]].tolist() == [10 * (one + 1) for one in place]
    assert found.missing.tolist() == [False, True, False]


@pytest.mark.parametrize("keys", [["a", "c"], ["c", "a"], ["a", "a"], ["a.png", "c.png"], ["a.png", "a.png"]])
def test_a_name_of_two_images_is_refused(keys: list[str]) -> None:
    """A row that could be about either image is neither read nor counted as one about another image."""
    names = ["day/a.png", "night/a.png", "night/c.png"]
    known = f"row {min(at for at, one in enumerate(keys) if one[0] == 'a')}, image: .*found 'a.*', which is that of"
    with pytest.raises(DatasetError, match=known):
        image_columns({"image": keys, "value": [10, 20]}, LABELS, names)
    with pytest.raises(DatasetError, match="row 0, image: expected the id or the file name of an image, found 'b'"):
        image_columns({"image": ["b", "d"], "value": [10, 20]}, LABELS, names)


def test_spans_of_time_are_texts() -> None:
    spans = np.array([1, 2, 1], "timedelta64[s]")
    found = image_columns({"image_id": LABELS, "time": spans}, LABELS, None).columns["time"]
    assert found.data.tolist() == ["0:00:01", "0:00:02", "0:00:01"]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"picture": [3], "a": [1]}, "expected a column with the image of each row, named image_id"),
        (
            {"image_id": [3, 3], "a": [1, 2]},
            "row 1, image_id: expected one row per image, found a second one about '3'",
        ),
        ({"image_id": [4], "a": [1]}, "row 0, image_id: expected the id or the file name of an image, found '4'"),
        ({"image_id": [3]}, "expected another column than 'image_id', found none"),
        ({"image_id": [3], "a": [[1, 2]]}, "expected another column than 'image_id', found only lists"),
        ({"image_id": [3], "a": [1, 2]}, "expected columns of one length"),
    ],
)
def test_tables_that_do_not_fit_are_refused(table: Any, message: str) -> None:
    with pytest.raises(DatasetError, match=message):
        image_columns(table, LABELS, None)


def test_a_column_that_is_asked_for_must_be_there() -> None:
    with pytest.raises(DatasetError, match=r"expected a column 'frame'.*found image_id, a"):
        image_columns({"image_id": [3], "a": [1]}, LABELS, None, "frame")
    found = image_columns({"image_id": [1], "frame": [3]}, LABELS, None, "frame")
    assert list(found.columns) == ["image_id"]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.jsonl", "[1]\n", "line 1: expected an object, found a list"),
        ("a.jsonl", "{\n", "line 1, column"),
        ("a.csv", "image_id,a\n3\n", "line 2: expected 2 fields"),
        ("a.csv", "image_id,a,a\n3,1,2\n", "columns of different names"),
        ("a.csv", "", "expected"),
        ("a.parquet", "no table", "Parquet or Arrow"),
    ],
)
def test_files_that_are_damaged_are_refused(tmp_path: Path, name: str, text: str, message: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(DatasetError, match=message):
        image_columns(path, LABELS, None)


def test_what_is_no_table_is_refused() -> None:
    with pytest.raises(TypeError, match="a table is a path, a data frame or a mapping of columns, got int"):
        image_columns(3, LABELS, None)
