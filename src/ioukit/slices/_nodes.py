"""The parts of an expression, and their values for many rows at once.

The truth of a row has two sides: whether it can be true, and whether it can be false. A comparison with a value that
is missing can be neither. One with a value that is not known, such as whether a detection is occluded, can be both.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.slices.columns import Values

__all__ = ["Arithmetic", "Both", "Constant", "Either", "Lookup", "Member", "Name", "Negative", "Node", "Not", "Ordered",
           "Truth", "WrongKindError", "names_in", "truth_of"]  # fmt: skip

Bools: TypeAlias = npt.NDArray[np.bool_]
Lookup: TypeAlias = Callable[[str], Values]

_ORDERS: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_STEPS = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "//": np.floor_divide,
    "%": np.remainder,
    "**": np.power,
}


class WrongKindError(ValueError):
    """A part of an expression is of a kind that does not fit there."""

    def __init__(self, problem: str, at: int) -> None:
        """Take what is wrong, and the position in the expression."""
        super().__init__(problem)
        self.at = at


@dataclass(frozen=True)
class Truth:
    """Whether each row can be true, and whether it can be false."""

    can_be_true: Bools
    can_be_false: Bools


@dataclass(frozen=True)
class Constant:
    """A number, a text, true or false."""

    value: float | str | bool
    at: int


@dataclass(frozen=True)
class Name:
    """The value of a column."""

    name: str
    at: int


@dataclass(frozen=True)
class Negative:
    """The negative of a number."""

    part: Node
    at: int


@dataclass(frozen=True)
class Arithmetic:
    """A step of arithmetic with two numbers."""

    sign: str
    left: Node
    right: Node
    at: int


@dataclass(frozen=True)
class Ordered:
    """A comparison of two values."""

    sign: str
    left: Node
    right: Node
    at: int


@dataclass(frozen=True)
class Member:
    """Whether a value is in a list."""

    part: Node
    values: tuple[Constant, ...]
    at: int


@dataclass(frozen=True)
class Not:
    """The opposite."""

    part: Node


@dataclass(frozen=True)
class Both:
    """Two parts that must both be true."""

    left: Node
    right: Node


@dataclass(frozen=True)
class Either:
    """Two parts of which one must be true."""

    left: Node
    right: Node


Node: TypeAlias = Constant | Name | Negative | Arithmetic | Ordered | Member | Not | Both | Either


def names_in(node: Node) -> Iterator[Name]:
    """The names of an expression, from left to right."""
    if isinstance(node, Name):
        yield node
    elif isinstance(node, Negative | Not | Member):
        yield from names_in(node.part)
    elif isinstance(node, Arithmetic | Ordered | Both | Either):
        yield from names_in(node.left)
        yield from names_in(node.right)


def truth_of(node: Node, lookup: Lookup, rows: int) -> Truth:
    """The truth of an expression for each row.

    Args:
        node: The expression.
        lookup: Gives the values of a column.
        rows: How many rows there are.

    Raises:
        WrongKindError: If the kinds of values do not fit.
    """
    if isinstance(node, Not):
        found = truth_of(node.part, lookup, rows)
        return Truth(found.can_be_false, found.can_be_true)
    if isinstance(node, Both | Either):
        left, right = (truth_of(part, lookup, rows) for part in (node.left, node.right))
        if isinstance(node, Both):
            return Truth(left.can_be_true & right.can_be_true, left.can_be_false | right.can_be_false)
        return Truth(left.can_be_true | right.can_be_true, left.can_be_false & right.can_be_false)
    if isinstance(node, Ordered):
        left_values, right_values = (_values(part, lookup, rows) for part in (node.left, node.right))
        return _compared(node.sign, left_values, right_values, node.at)
    if isinstance(node, Member):
        values = _values(node.part, lookup, rows)
        each = [_compared("==", values, _constant(one, rows), one.at) for one in node.values]
        return Truth(
            np.logical_or.reduce([one.can_be_true for one in each]),
            np.logical_and.reduce([one.can_be_false for one in each]),
        )
    values = _values(node, lookup, rows)
    if values.kind != "flag":
        raise WrongKindError(f"expected something that is true or false, got a {values.kind}: compare it", node.at)
    return _with_gaps(values.data.astype(np.bool_), values.missing, values.unknown)


def _values(node: Node, lookup: Lookup, rows: int) -> Values:
    if isinstance(node, Name):
        return lookup(node.name)
    if isinstance(node, Constant):
        return _constant(node, rows)
    if isinstance(node, Negative):
        values = _number(_values(node.part, lookup, rows), node.at)
        return Values(-values.data, values.missing, values.unknown)
    if isinstance(node, Arithmetic):
        left, right = (_number(_values(part, lookup, rows), node.at) for part in (node.left, node.right))
        with np.errstate(all="ignore"):
            data = _STEPS[node.sign](left.data, right.data)
        missing = left.missing | right.missing | np.isnan(data)
        return Values(data, missing, left.unknown | right.unknown)
    truth = truth_of(node, lookup, rows)
    missing = ~truth.can_be_true & ~truth.can_be_false
    return Values(truth.can_be_true, missing, truth.can_be_true & truth.can_be_false)


def _constant(node: Constant, rows: int) -> Values:
    no = np.zeros(rows, np.bool_)
    return Values(np.full(rows, node.value), no, no)


def _number(values: Values, at: int) -> Values:
    if values.kind != "number":
        raise WrongKindError(f"expected a number, got a {values.kind}", at)
    return values


def _compared(sign: str, left: Values, right: Values, at: int) -> Truth:
    if left.kind != right.kind:
        raise WrongKindError(f"a {left.kind} cannot be compared with a {right.kind}", at)
    if left.kind != "number" and sign not in ("==", "!="):
        raise WrongKindError(f"{sign} compares numbers, got a {left.kind}", at)
    with np.errstate(invalid="ignore"):
        found = _ORDERS[sign](left.data, right.data)
    return _with_gaps(np.asarray(found, np.bool_), left.missing | right.missing, left.unknown | right.unknown)


def _with_gaps(found: Bools, missing: Bools, unknown: Bools) -> Truth:
    """The truth of rows; what is not known can be both, and what is missing neither."""
    return Truth(unknown | (found & ~missing), unknown | (~found & ~missing))
