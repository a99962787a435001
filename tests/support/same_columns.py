"""Equality of results, field by field and bit by bit."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ioukit import Evaluation

__all__ = ["arrays_of", "assert_same_columns", "assert_same_evaluation"]


def assert_same_columns(ours: Any, expected: Any, *, but: Sequence[str] = (), where: str = "") -> None:
    """Compares dataclasses, mappings, sequences and arrays; names the first field that differs.

    Arrays must have the same type, shape and bytes, so that -0.0 and 0.0 differ and NaN equals NaN.

    Args:
        ours: The value to check.
        expected: The expected value.
        but: Names of fields that may differ.
        where: The name of the value in messages.
    """
    if isinstance(expected, str | int):  # most values are these or floats
        assert ours == expected, f"{where}: {ours!r}, expected {expected!r}"
    elif isinstance(expected, float):
        if type(ours) is not type(expected) or ours != expected or ours == 0:  # else they have the same bits
            assert_same_columns(np.array(ours), np.array(expected), where=where)
    elif isinstance(expected, np.ndarray):
        _assert_same_array(ours, expected, where)
    elif dataclasses.is_dataclass(expected):
        assert type(ours) is type(expected), where
        for field in dataclasses.fields(expected):
            if field.name not in but:
                mine, its = getattr(ours, field.name), getattr(expected, field.name)
                assert_same_columns(mine, its, but=but, where=f"{where}.{field.name}".lstrip("."))
    elif isinstance(expected, Mapping):
        assert list(ours) == list(expected), where
        for key in expected:
            assert_same_columns(ours[key], expected[key], but=but, where=f"{where}[{key!r}]")
    elif isinstance(expected, Sequence) and not isinstance(expected, bytes):
        assert len(ours) == len(expected), where
        for at, (mine, its) in enumerate(zip(ours, expected, strict=True)):
            assert_same_columns(mine, its, but=but, where=f"{where}[{at}]")
    else:
        assert ours == expected, f"{where}: {ours!r}, expected {expected!r}"


def _assert_same_array(ours: Any, expected: np.ndarray[Any, Any], where: str) -> None:
    assert isinstance(ours, np.ndarray), where
    assert (ours.dtype.kind, ours.shape) == (expected.dtype.kind, expected.shape), where
    if expected.dtype.kind == "U":
        assert ours.tolist() == expected.tolist(), where
    else:
        assert ours.dtype == expected.dtype, where
        if ours.tobytes() != expected.tobytes():
            np.testing.assert_array_equal(ours, expected, err_msg=where)  # names the values
            raise AssertionError(f"{where} differs in its bits")


def arrays_of(value: Any, where: str = "") -> list[tuple[str, np.ndarray[Any, Any]]]:
    """Every array in a result, with the name of its field."""
    if isinstance(value, np.ndarray):
        return [(where, value)]
    if dataclasses.is_dataclass(value):
        parts: Any = [(field.name, getattr(value, field.name)) for field in dataclasses.fields(value)]
    elif isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, tuple | list):
        parts = enumerate(value)
    else:
        return []
    return [found for name, part in parts for found in arrays_of(part, f"{where}.{name}".lstrip("."))]


def assert_same_evaluation(ours: Evaluation, expected: Evaluation) -> None:
    """Compares table, curves and numbers, bit for bit; also after the table was pickled."""
    assert_same_columns(pickle.loads(pickle.dumps(ours.matches)), expected.matches)
    # As they are asked for: evaluations in parts keep curves of categories that have none.
    for name in ("precision", "scores", "recall", "ap", "miss_rate", "jaccard"):
        assert_same_columns(getattr(ours.curves, name), getattr(expected.curves, name), where=name)
    assert_same_columns(ours.curves._others, expected.curves._others)
    fields = ours.to_dict(), expected.to_dict()
    for each in fields:
        each.pop("notes")
    assert fields[0] == fields[1]
