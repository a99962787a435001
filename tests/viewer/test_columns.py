"""Columns of a table of the user's: which images they are about, what they hold, and embeddings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ioukit import GroundTruth
from ioukit.errors import DatasetError
from ioukit.viewer.answers.columns import MOST_COLUMNS, UserColumns, principal_components, user_columns
from ioukit.viewer.answers.values import Value
from ioukit.viewer.server.building import app_of

IDS = [3, 5, 9]
GT = GroundTruth.from_arrays(
    image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), images=IDS, names=["day/a.png", "day/b.png", "night/c.png"]
)


def named(found: UserColumns) -> dict[str, Value]:
    return {value.name: value for value in found.values}


def listed(value: Value) -> list[Any]:
    """The values, ``None`` for none."""
    if value.texts is None:
        return [None if math.isnan(number) else number for number in value.values.tolist()]
    return [None if at < 0 else value.texts[at] for at in value.values.tolist()]


def columns_of(table: Any, **more: Any) -> dict[str, list[Any]]:
    return {name: listed(value) for name, value in named(user_columns(table, GT, **more)).items()}


def test_numbers_texts_and_flags_are_found_by_name_or_id(tmp_path: Path) -> None:
    path = tmp_path / "scenes.csv"
    path.write_text("file,speed,weather,night\nc.png,30.5,rain,true\na.png,,,false\n")
    expected = {"speed": [None, None, 30.5], "weather": [None, None, "rain"], "night": ["no", None, "yes"]}
    assert columns_of(path) == expected
    assert user_columns(path, GT).notes == (f"{path}: 1 of 3 images have no row",)
    path.write_text("image_id,speed\n9,1\n5,2\n3,3\n77,4\n")
    found = user_columns(path, GT)
    assert listed(found.values[0]) == [3, 2, 1]
    assert "1 of 4 rows are about images that are not evaluated, such as '77' (by id)" in found.notes[0]


def test_only_the_images_that_are_shown_count() -> None:
    table = {"image_id": [3, 9], "speed": [1.0, 2.0]}
    found = user_columns(table, GT, np.array([9, 5]))
    assert listed(found.values[0]) == [2.0, None]


def test_infinite_numbers_are_none() -> None:
    assert columns_of({"image_id": IDS, "a": [1.0, math.inf, math.nan]}) == {"a": [1.0, None, None]}


def test_data_frames_and_parquet_files_hold_embeddings(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    vectors = [[0.0, 0.0, 1.0], [4.0, 0.0, 1.0], [-4.0, 0.5, 1.0]]
    table = arrow.table({"image_id": IDS, "clip": vectors, "speed": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "a.parquet")
    plain = {"image_id": IDS, "clip": np.array(vectors), "speed": [1, 2, 3]}
    (tmp_path / "a.jsonl").write_text(
        "".join(
            json.dumps({"image_id": a, "clip": b, "speed": 1 + k}) + "\n"
            for k, (a, b) in enumerate(zip(IDS, vectors, strict=True))
        )
    )
    expected = principal_components(np.array(vectors))
    for source in (tmp_path / "a.parquet", table, plain, tmp_path / "a.jsonl"):
        found = named(user_columns(source, GT))
        assert list(found) == ["clip.x", "clip.y", "speed"]
        np.testing.assert_array_equal(found["clip.x"].values, expected[:, 0])
        np.testing.assert_array_equal(found["clip.y"].values, expected[:, 1])


@pytest.mark.parametrize("text", ['"[1, 2]"', "[1 2]", '"[1.0,2.0]"', "[ 1.  2. ]"])
def test_lists_may_be_texts_and_pairs_stay_as_they_are(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"image_id,umap\n3,{text}\n9,\n")
    assert columns_of(path) == {"umap.x": [1, None, None], "umap.y": [2, None, None]}


def test_lists_with_gaps() -> None:
    table = {"image_id": IDS, "clip": [[1.0, 0.0, 0.0], None, [3.0, 0.0, math.inf]], "none": [[], None, []]}
    found = user_columns(_frame(table), GT)
    assert {value.name: listed(value) for value in found.values} == {
        "clip.x": [0.0, None, None],
        "clip.y": [0.0, None, None],
    }
    assert "'none' is left out: its lists have different lengths: 0" in found.notes[-1]


def _frame(columns: dict[str, Any]) -> Any:
    """What a data frame has, with columns of Python's objects."""

    class Series:
        def __init__(self, values: list[Any]) -> None:
            self.values = values

        def to_numpy(self) -> Any:
            made = np.empty(len(self.values), object)
            made[:] = self.values
            return made

        def to_list(self) -> list[Any]:
            return self.values

    class Frame:
        shape = (3, 1)
        columns: Any = None  # a table is known by its class

        def __init__(self, given: dict[str, list[Any]]) -> None:
            self.given, self.columns = given, list(given)

        def __getitem__(self, name: str) -> Series:
            return Series(self.given[name])

    return Frame(columns)


@pytest.mark.parametrize(
    ("lists", "message"),
    [
        ([[1.0], [1.0, 2.0], [1.0]], "its lists have different lengths: 1, 2"),
        ([["a", "b"]] * 3, "its lists hold other values than numbers"),
        ([[[1.0]], [[2.0]], [[3.0]]], "its lists hold other values than numbers"),
        ([f"[{'9' * 400},1]"] * 3, "its lists hold other values than numbers"),
        ([[10**400, 1]] * 3, "its lists hold other values than numbers"),
        (["[" * 100_000 + "1,2" + "]" * 100_000] * 3, "its lists hold other values than numbers"),
    ],
)
def test_lists_of_something_else_are_left_out_with_a_note(lists: list[Any], message: str) -> None:
    found = user_columns(_frame({"image_id": IDS, "x": lists, "speed": [1, 2, 3]}), GT)
    assert list(named(found)) == ["speed"]
    assert f"the column 'x' is left out: {message}" in found.notes[0]


def test_columns_that_cannot_be_chosen_from_are_left_out() -> None:
    many = list(range(1, 1001))
    gt = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), images=many)
    table = {"image_id": many, "caption": [f"text {k}" for k in many]}
    table |= {f"c{k}": many for k in range(MOST_COLUMNS + 5)}
    found = user_columns(table, gt)
    assert len(found.values) == MOST_COLUMNS
    assert "'caption' is left out: it has 1,000 different texts" in found.notes[0]
    assert "the first 64 of 69 columns are shown" in found.notes[1]


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(DatasetError, match="expected another column than 'image_id', found none"):
        user_columns({"image_id": IDS}, GT)
    with pytest.raises(DatasetError, match="expected one row per image"):
        user_columns({"image_id": [3, 3], "a": [1, 2]}, GT)
    with pytest.raises(FileNotFoundError):
        user_columns("missing.csv", GT)


# ---- Principal components.


def plain_components(points: Any) -> Any:
    """By the eigenvectors of the covariance."""
    centred = points - points.mean(axis=0)
    sizes, directions = np.linalg.eigh(np.cov(centred.T))
    kept = directions[:, np.argsort(-sizes)[:2]]
    return centred @ (kept * np.sign(kept[np.abs(kept).argmax(axis=0), range(2)]))


@pytest.mark.parametrize(("rows", "width"), [(40, 3), (500, 16), (9, 9), (5, 30)])
def test_components_are_those_of_the_covariance(rows: int, width: int) -> None:
    rng = np.random.default_rng(rows)
    points = rng.normal(size=(rows, width)) * np.linspace(5, 0.5, width) + 100
    found = principal_components(points)
    np.testing.assert_allclose(found, plain_components(points), rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(principal_components(points[::-1])[::-1], found, rtol=1e-7, atol=1e-7)


@given(arrays.arrays(np.float64, st.tuples(st.integers(0, 6), st.integers(1, 4)), elements=st.one_of(
    st.floats(-1e300, 1e300), st.just(math.nan))))  # fmt: skip
def test_any_points_have_coordinates(points: Any) -> None:
    found = principal_components(points)
    known = ~np.isnan(points).any(axis=1)
    assert found.shape == (len(points), 2)
    assert np.isfinite(found[known]).all()
    assert np.isnan(found[~known]).all()
    assert (principal_components(points)[known] == found[known]).all()


def test_points_on_a_line_have_one_coordinate() -> None:
    found = principal_components(np.array([[0.0, 0, 0], [1, 1, 0], [3, 3, 0]]))
    np.testing.assert_allclose(found[:, 0], np.sqrt(2) * (np.array([0, 1, 3]) - 4 / 3), rtol=1e-12)
    assert (found[:, 1] == 0).all()
    assert (principal_components(np.ones((4, 3))) == 0).all()
    assert principal_components(np.array([[1.0], [3.0]])).tolist() == [[-1, 0], [1, 0]]


@pytest.mark.parametrize("count", [500, 501])
def test_attributes_with_many_texts_are_left_out(count: int) -> None:
    """As for the user's table: a number per text is in every answer, and a box per text on the page."""
    many = np.array([f"plate {at}" for at in range(count)])
    truth = GroundTruth.from_arrays(
        image_ids=np.arange(count),
        category_ids=np.ones(count),
        boxes=[[0, 0, 9, 9]] * count,
        attributes={"plate": many, "side": np.where(np.arange(count) % 2, "left", "right")},
    )
    app, notes = app_of(truth)
    found = app.views.answer([])["facets"]
    assert found["column.side"] == {"left": count // 2, "right": count - count // 2}
    assert ("column.plate" in found) == (count == 500)
    words = (
        "the attribute 'plate' of objects is left out: it has 501 different texts, and at most 500 can be chosen from"
    )
    assert notes == (() if count == 500 else (words,))
