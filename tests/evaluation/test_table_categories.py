"""Tables of different categories add up with `categories="union"`: to the table of all categories."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from evaluation.loop_batches import data_of_images, random_images
from ioukit import GroundTruth, MatchTable
from ioukit.datasets import Categories
from ioukit.evaluation import match
from support.same_columns import assert_same_columns


def tables_of(seed: int, *, agnostic: bool, near: float | None) -> tuple[list[MatchTable], MatchTable]:
    """Tables of parts, each with the categories that it has, and the table of all images and categories."""
    images = random_images(seed, 12, classes=9)
    gt, dt = data_of_images(images)
    protocol = ioukit.COCO.replace(class_agnostic=agnostic)
    tables = []
    for part in range(3):
        ids = gt.images.ids[part::3]
        truth, found = gt.filter(images=ids), dt.filter(images=ids)
        seen = np.union1d(truth.category_ids, found.category_ids)
        tables.append(match(truth.filter(categories=seen.tolist()), found, protocol, near=near))
    return tables, match(gt, dt, protocol, near=near)


@settings(deadline=None, max_examples=40)
@given(seed=st.integers(0, 10**6), agnostic=st.booleans(), near=st.sampled_from([None, 0.1]))
def test_the_sum_is_the_table_of_all_categories(seed: int, agnostic: bool, near: float | None) -> None:
    tables, whole = tables_of(seed, agnostic=agnostic, near=near)
    merged = MatchTable.merge(tables, categories="union")
    assert_same_columns(merged, whole, but=("row",))
    assert_same_columns(MatchTable.merge(tables[::-1], categories="union"), whole, but=("row",))


def test_different_categories_are_refused_by_default() -> None:
    tables, _ = tables_of(1, agnostic=False, near=None)
    with pytest.raises(ValueError, match="match all of them with the same categories"):
        MatchTable.merge(tables)
    with pytest.raises(ValueError, match="unknown categories 'all'; choose from equal, union"):
        MatchTable.merge(tables, categories="all")


def with_categories(table: MatchTable, names: tuple[str, ...], **attributes: Any) -> MatchTable:
    ids = np.arange(len(names))
    empty = match(
        GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=[len(names)], categories=ids),
        ioukit.Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[]),
    )
    return dataclasses.replace(empty, categories=Categories(ids, names, attributes), protocol=table.protocol)


def test_names_and_attributes_must_agree() -> None:
    table = match(*data_of_images(random_images(1, 3)))
    assert table.categories.names == ("0", "1", "2")
    named = with_categories(table, ("cat", "dog", "2", "cow"))
    merged = MatchTable.merge([table, named], categories="union")
    assert merged.categories.names == ("cat", "dog", "2", "cow")
    other = with_categories(table, ("cat", "bird"))
    with pytest.raises(ValueError, match="1 is 'dog' in one and 'bird' in another"):
        MatchTable.merge([named, other], categories="union")
    rare = with_categories(table, ("0",), frequency=np.array(["r"]))
    common = with_categories(table, ("0", "1"), frequency=np.array(["c", "f"]))
    with pytest.raises(ValueError, match="the frequency of 0 differs"):
        MatchTable.merge([rare, common], categories="union")
    same = with_categories(table, ("0", "1"), frequency=np.array(["r", "f"]))
    assert MatchTable.merge([rare, same], categories="union").categories.attributes["frequency"].tolist() == ["r", "f"]
