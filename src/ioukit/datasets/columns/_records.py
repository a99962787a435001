"""Columns from Python records: lists of dictionaries as in COCO's files."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from numbers import Integral, Real
from typing import Any

import numpy as np

from ioukit.datasets.columns._checks import AnyArray, OnInvalid
from ioukit.errors import DatasetError


class Field:
    """A kind of value in records: how values become a column, and whether a single value is right."""

    def __init__(
        self,
        expected: str,
        good: Callable[[Any], bool],
        kinds: str,
        *,
        shape: tuple[int, ...] = (),
        all_good: Callable[[AnyArray], bool] = lambda array: True,  # noqa: ARG005 - every column passes
        value_in: Callable[[Mapping[str, Any], str], Any] = operator.getitem,
    ) -> None:
        """A kind of value.

        Args:
            expected: What messages say was expected.
            good: Whether one value is right.
            kinds: The kinds of dtype that a good column may have.
            shape: The shape of one value.
            all_good: Whether all values of a column of the right dtype and shape are right.
            value_in: Finds the value in a record by the name of the field; raises `KeyError` if there is none.
        """
        self.expected = expected
        self.good = good
        self.kinds = kinds
        self.shape = shape
        self.all_good = all_good
        self.value_in = value_in

    def column(self, values: list[Any]) -> AnyArray | None:
        """The column, or ``None`` if a value is not of this kind."""
        if not values:
            return np.zeros((0, *self.shape), np.float64)
        try:
            array = np.asarray(values)
        except (ValueError, TypeError, OverflowError):
            return None
        fits = array.dtype.kind in self.kinds and array.shape[1:] == self.shape and self.all_good(array)
        # NumPy turns a bool among numbers into a number.
        numbers = chain.from_iterable(values) if self.shape else values
        return array if fits and ("b" in self.kinds or bool not in set(map(type, numbers))) else None


def _is_real(value: Any) -> bool:
    return isinstance(value, Real | np.number) and not isinstance(value, bool | np.bool_)


def _is_integer(value: Any) -> bool:
    # NumPy has no larger integers. Floats without a fraction are taken, because some tools write ids as floats.
    if isinstance(value, Integral | np.integer) and not isinstance(value, bool | np.bool_):
        return -(2**63) <= int(value) < 2**63
    return _is_real(value) and float(value).is_integer() and abs(float(value)) < 2**53


def _is_four(value: Any) -> bool:
    return (
        not isinstance(value, str | Mapping)
        and hasattr(value, "__len__")
        and len(value) == 4
        and all(map(_is_real, value))
    )


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or (_is_real(value) and value in (0, 1))


INTEGER = Field("an integer", _is_integer, "iu", all_good=lambda array: array.dtype != np.uint64)
NUMBER = Field("a number", _is_real, "iuf")
FOUR = Field("4 numbers [x, y, width, height]", _is_four, "iuf", shape=(4,))
FLAG = Field("0 or 1", _is_flag, "iufb", all_good=lambda array: bool(np.isin(array, (0, 1)).all()))


def _value_or_zero(record: Mapping[str, Any], name: str) -> Any:
    return record.get(name, 0)


OPTIONAL_FLAG = Field(FLAG.expected, FLAG.good, FLAG.kinds, all_good=FLAG.all_good, value_in=_value_or_zero)
OPTIONAL_NUMBER = Field(NUMBER.expected, NUMBER.good, NUMBER.kinds, value_in=_value_or_zero)


def _crowd_of_pycocotools(record: Mapping[str, Any], name: str) -> Any:
    """Whether a value is a crowd wherever pycocotools uses it, by its truth or as an ``int()``; else the value."""
    value = record[name]
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):
        return value
    return whole > 0 if 0 <= whole < 256 and bool(value) == bool(whole) else value


CROWD_OF_PYCOCOTOOLS = Field(
    FLAG.expected, FLAG.good, FLAG.kinds, all_good=FLAG.all_good, value_in=_crowd_of_pycocotools
)


def check_lists(
    records: Sequence[Any], names: Sequence[str], *, source: str, array: str, on_invalid: OnInvalid
) -> list[Any]:
    """The records that have a list of ids under each of the names. Records that are no mappings stay.

    Raises:
        DatasetError: If a record has none, and records are not dropped.
    """
    kept = []
    for row, record in enumerate(records):
        wrong = [name for name in names if isinstance(record, Mapping) and not _is_id_list(record.get(name))]
        if not wrong:
            kept.append(record)
        elif on_invalid != "drop":
            found = _show(record[wrong[0]]) if wrong[0] in record else "no such key"
            where = f"{source}: {array}[{row}].{wrong[0]}"
            raise DatasetError(f"{where}: expected a list of ids of categories, found {found}")
    return kept


def _is_id_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_integer, value))


def has_box(record: Mapping[str, Any]) -> bool:
    """Whether a record has a box, valid or not. As in pycocotools, an empty list is no box, and ``None`` is one."""
    box = record.get("bbox", ())
    return not hasattr(box, "__len__") or len(box) > 0


def _box_or_nan(record: Mapping[str, Any], name: str) -> Any:
    """The box of a record; four NaN for a record that has only a mask or keypoints, which its box will surround."""
    has_other = any(record.get(key) is not None for key in ("segmentation", "keypoints"))
    return (float("nan"),) * 4 if has_other and not has_box(record) else record[name]


BOX_OR_OTHER = Field(FOUR.expected, FOUR.good, FOUR.kinds, shape=FOUR.shape, value_in=_box_or_nan)


def columns(
    records: Sequence[Mapping[str, Any]],
    fields: Mapping[str, Field],
    *,
    source: str,
    array: str,
    on_invalid: OnInvalid,
) -> tuple[dict[str, AnyArray], AnyArray | None]:
    """One column per field, and the positions of the records that they hold (``None`` for all records).

    Raises:
        DatasetError: If a record lacks a field or has a wrong value, and records are not dropped.
    """
    try:
        found = {
            name: field.column([field.value_in(record, name) for record in records]) for name, field in fields.items()
        }
    except (KeyError, TypeError, IndexError, AttributeError):
        found = dict.fromkeys(fields)
    if all(column is not None for column in found.values()):
        return {name: column for name, column in found.items() if column is not None}, None
    # At least one value is wrong or unusual, so look at the records one by one.
    rows = []
    for row, record in enumerate(records):
        problem = _problem(record, fields)
        if problem is None:
            rows.append(row)
        elif on_invalid != "drop":
            field, expected, came = problem
            raise DatasetError(f"{source}: {array}[{row}]{field}: expected {expected}, found {came}")
    exact = {
        name: np.array([_plain(field.value_in(records[row], name)) for row in rows], np.float64).reshape(
            -1, *field.shape
        )
        if field is not INTEGER
        else np.array([int(field.value_in(records[row], name)) for row in rows], np.int64)
        for name, field in fields.items()
    }
    return exact, np.array(rows, np.intp)


def _plain(value: Any) -> Any:
    return [float(number) for number in value] if hasattr(value, "__len__") else float(value)


def _problem(record: Any, fields: Mapping[str, Field]) -> tuple[str, str, str] | None:
    """The first wrong field of a record, what was expected there and what came."""
    if not isinstance(record, Mapping):
        return "", "an object", _show(record)
    for name, field in fields.items():
        try:
            value = field.value_in(record, name)
        except KeyError:
            return f".{name}", field.expected, "no such key"
        if not field.good(value):
            return f".{name}", field.expected, _show(value)
    return None


def _show(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
