"""Conditions that choose images or objects, written as text: ``weather == "rain" and speed > 30``.

The truth of a row has two sides: whether it can be true, and whether it can be false. A comparison with a value that
is missing can be neither. One with a value that is not known, such as whether a detection is occluded, can be both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit.slices._parsing import Step, parse
from ioukit.slices.columns import Values, near_names, values_of

Lookup: TypeAlias = Callable[[str], Values]

_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_ARITHMETIC = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
}


class _WrongKindError(ValueError):
    """A part of an expression is of a kind that does not fit there."""

    def __init__(self, problem: str, at: int) -> None:
        """Take what is wrong, and the position in the expression."""
        super().__init__(problem)
        self.at = at


@dataclass(frozen=True)
class Truth:
    """Whether each row can be true, and whether it can be false."""

    can_be_true: Flags
    can_be_false: Flags


class Expression:
    """A condition on the values of columns.

    It has names of columns, numbers, texts in quotes, ``true`` and ``false``; the comparisons ``< <= > >= == !=``,
    which may form a chain (``0.2 < x < 0.8``), ``in`` and ``not in`` with a list (``camera in ("front", "rear")``);
    ``and``, ``or``, ``not``; the arithmetic ``+ - * / // % **``; and parentheses. A name with other characters than
    letters, digits and ``_`` stands in backquotes: `` `time of day` == "night" ``. A column of flags is a condition by
    itself. There are no functions and no attributes, and the text is never run as a program.

    A comparison with a missing value is neither true nor false, so a row without the value is not chosen, also not by
    ``not``. Arithmetic is that of float64; a division of 0 by 0 is a missing value.

    Examples:
        >>> wet = Expression('weather == "rain" and speed > 30')
        >>> wet.names
        ('weather', 'speed')
        >>> wet.evaluate({"weather": ["rain", "sun", "rain"], "speed": [50, 50, 10]}).tolist()
        [True, False, False]
    """

    def __init__(self, text: str) -> None:
        """Read an expression.

        Raises:
            TypeError: If it is no text.
            ValueError: If it is no valid expression; the message has the place. It must have at most 2,000 characters
                and at most 40 parts within each other.
        """
        if not isinstance(text, str):
            raise TypeError(f"an expression is a text, got {type(text).__name__}")
        self.text = text
        """The expression as it was given."""
        self._step = parse(text)
        self.names: tuple[str, ...] = tuple(dict.fromkeys(str(one.value) for one in _names_in(self._step)))
        """The columns that it names, in order."""

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def evaluate(self, columns: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.bool_]:
        """Whether the condition is true for each row.

        Args:
            columns: (N,) values by name: numbers, texts or booleans. NaN and empty text are missing values.

        Returns:
            (N,) booleans.

        Raises:
            ValueError: If there is no column of a name, the columns have different lengths, or the kinds of values do
                not fit, such as a text that is compared with a number.
        """
        found = {name: values_of(np.asarray(column), name) for name, column in columns.items()}
        lengths = {len(values.data) for values in found.values()}
        if len(lengths) > 1:
            raise ValueError(f"columns must have the same length, got {', '.join(map(str, sorted(lengths)))}")

        def lookup(name: str) -> Values:
            if name not in found:
                raise self.unknown_name(name, list(found))
            return found[name]

        return self.truth(lookup, lengths.pop() if lengths else 0).can_be_true

    def unknown_name(self, name: str, known: list[str]) -> ValueError:
        """The error about a name that is no column."""
        at = next(one.at for one in _names_in(self._step) if one.value == name)
        return ValueError(f"{self._place(at)}: there is no column {name!r}{near_names(name, known)}")

    def truth(self, lookup: Lookup, rows: int) -> Truth:
        """The truth for each of some rows, whose columns ``lookup`` gives.

        Raises:
            ValueError: If the kinds of values do not fit.
        """
        try:
            return _truth_of(self._step, lookup, rows)
        except _WrongKindError as error:
            raise ValueError(f"{self._place(error.at)}: {error}") from None

    def _place(self, at: int) -> str:
        return f"expression {self.text!r}, character {at + 1}"


def _names_in(step: Step) -> Iterator[Step]:
    """The names of an expression, from left to right."""
    if step.sign == "name":
        yield step
    for part in step.parts:
        yield from _names_in(part)


def _truth_of(step: Step, lookup: Lookup, rows: int) -> Truth:
    """The truth of a step for each row; raises `_WrongKindError` if the kinds of values do not fit."""
    if step.sign == "not":
        found = _truth_of(step.parts[0], lookup, rows)
        return Truth(found.can_be_false, found.can_be_true)
    if step.sign in ("and", "or"):
        return _joined(step.sign, [_truth_of(part, lookup, rows) for part in step.parts])
    if step.sign in _COMPARISONS:
        left, right = (_values_of(part, lookup, rows) for part in step.parts)
        return _compared(step.sign, left, right, step.at)
    if step.sign == "in":
        values = _values_of(step.parts[0], lookup, rows)
        each = [_compared("==", values, _values_of(one, lookup, rows), one.at) for one in step.parts[1:]]
        return _joined("or", each)
    values = _values_of(step, lookup, rows)
    if values.kind != "flag":
        raise _WrongKindError(f"expected something that is true or false, got a {values.kind}: compare it", step.at)
    return _with_gaps(values.data.astype(np.bool_), values.missing, values.unknown)


def _joined(word: str, each: list[Truth]) -> Truth:
    every, some = (np.logical_and, np.logical_or) if word == "and" else (np.logical_or, np.logical_and)
    return Truth(every.reduce([one.can_be_true for one in each]), some.reduce([one.can_be_false for one in each]))


def _values_of(step: Step, lookup: Lookup, rows: int) -> Values:
    if step.sign == "name":
        return lookup(str(step.value))
    if step.sign == "value":
        no = np.zeros(rows, np.bool_)
        return Values(np.full(rows, step.value), no, no)
    if step.sign in _ARITHMETIC:
        numbers = [_number(_values_of(part, lookup, rows), step.at) for part in step.parts]
        if len(numbers) == 1:
            return Values(-numbers[0].data, numbers[0].missing, numbers[0].unknown)
        left, right = numbers
        with np.errstate(all="ignore"):
            data = _ARITHMETIC[step.sign](left.data, right.data)
        return Values(data, left.missing | right.missing | np.isnan(data), left.unknown | right.unknown)
    truth = _truth_of(step, lookup, rows)
    missing = ~truth.can_be_true & ~truth.can_be_false
    return Values(truth.can_be_true, missing, truth.can_be_true & truth.can_be_false)


def _number(values: Values, at: int) -> Values:
    if values.kind != "number":
        raise _WrongKindError(f"expected a number, got a {values.kind}", at)
    return values


def _compared(sign: str, left: Values, right: Values, at: int) -> Truth:
    if left.kind != right.kind:
        raise _WrongKindError(f"a {left.kind} cannot be compared with a {right.kind}", at)
    if left.kind != "number" and sign not in ("==", "!="):
        raise _WrongKindError(f"{sign} compares numbers, got a {left.kind}", at)
    with np.errstate(invalid="ignore"):
        found = _COMPARISONS[sign](left.data, right.data)
    return _with_gaps(np.asarray(found, np.bool_), left.missing | right.missing, left.unknown | right.unknown)


def _with_gaps(found: Flags, missing: Flags, unknown: Flags) -> Truth:
    """The truth of rows; what is not known can be both, and what is missing neither."""
    return Truth(unknown | (found & ~missing), unknown | (~found & ~missing))
