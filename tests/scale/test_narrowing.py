"""Columns in fewer bytes are the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as stn

import support.strategies  # noqa: F401 - the profile
from ioukit.scale.table_files import arrow_array, narrowed, numpy_column

pa = pytest.importorskip("pyarrow")
TYPES = (np.uint8, np.uint16, np.uint32, np.int64, np.float64)
EDGES = [sign * 2**bits + one for bits in (7, 8, 15, 16, 24, 31, 32, 53, 62) for one in (-1, 0, 1) for sign in (-1, 1)]


@given(st.sampled_from(TYPES).flatmap(lambda kind: stn.arrays(kind, st.integers(0, 6))))
def test_any_numbers(column: Any) -> None:
    found = narrowed(column)
    assert found.itemsize <= column.itemsize
    back = numpy_column(arrow_array(pa, found), column.dtype)
    assert back.dtype == column.dtype
    assert np.isnan(back).tolist() == np.isnan(column).tolist()
    kept = ~np.isnan(column)
    assert back[kept].tobytes() == column[kept].tobytes()


@given(st.lists(st.sampled_from(EDGES), min_size=1, max_size=4))
def test_numbers_at_the_limits_of_types(numbers: list[int]) -> None:
    column = np.array(numbers, np.int64)
    found = narrowed(column)
    assert found.tolist() == numbers
    smaller = [kind for kind in (np.uint8, np.uint16, np.uint32, np.int32) if np.dtype(kind).itemsize < found.itemsize]
    assert not any(np.iinfo(kind).min <= min(numbers) and max(numbers) <= np.iinfo(kind).max for kind in smaller)
    as_floats = column.astype(np.float64)
    assert numpy_column(arrow_array(pa, narrowed(as_floats)), np.float64).tobytes() == as_floats.tobytes()


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.array([0, 255]), np.uint8),
        (np.array([0, 256]), np.uint16),
        (np.array([70_000, 2**32 - 1]), np.uint32),
        (np.array([-1, 5]), np.int32),
        (np.array([-1, 2**31]), np.int64),
        (np.array([0.5, -0.0]), np.float32),
        (np.array([0.1]), np.float64),
        (np.array([[1.0, 2.0]]), np.float32),
        (np.zeros(0, np.int64), np.int64),
    ],
)
def test_the_smallest_type(column: Any, expected: Any) -> None:
    assert narrowed(column).dtype == expected
