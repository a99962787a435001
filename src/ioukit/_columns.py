"""Tables of frozen columns: data sets and match tables are made of them."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from ioukit._near_names import Answering
from ioukit._notebook import Shown

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from typing_extensions import Self

__all__ = ["Columns", "Frozen", "all_among", "concat_columns", "frozen", "positions_in", "record", "take_rows"]

T = TypeVar("T", bound=np.generic)

_MOST_IN_RANGE = 16
"""Known integers in one range of those that a search is spared for; with more, it is quicker."""
_LONGEST_LIST = 1 << 24
"""In bytes: a list of all integers between the known ones is quicker than a search, if the cache can hold it."""


def frozen(array: NDArray[T]) -> NDArray[T]:
    """Make an array read-only, and with it the arrays whose memory it shares."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base.flags.writeable = False
        base = base.base
    return array


# Every table asks for the fields of its class, a few times.
_fields: Callable[[Any], tuple[dataclasses.Field[Any], ...]] = functools.cache(dataclasses.fields)


def _take_values(self: Any, *args: Any, **kwargs: Any) -> None:
    """The ``__init__`` of every `record`: takes the values of the fields, in order or by name."""
    fields, name = _fields(type(self)), type(self).__name__
    if len(args) > len(fields):
        raise TypeError(f"{name} takes {len(fields)} values, got {len(args)}")
    given = dict(zip((field.name for field in fields), args, strict=False))
    if twice := given.keys() & kwargs.keys():
        raise TypeError(f"{name} got {', '.join(sorted(twice))} twice")
    given |= kwargs
    for field in fields:
        if field.name not in given:
            if field.default_factory is not dataclasses.MISSING:
                given[field.name] = field.default_factory()
            elif field.default is not dataclasses.MISSING:
                given[field.name] = field.default
            else:
                raise TypeError(f"{name} needs {field.name}{getattr(type(self), 'MADE_BY', '')}")
    if unknown := given.keys() - {field.name for field in fields}:
        raise TypeError(f"{name} has no field {', '.join(sorted(unknown))}")
    vars(self).update({field.name: given[field.name] for field in fields})
    if hasattr(self, "_freeze"):
        self._freeze()


if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:

    def record(**_: bool) -> Any:
        """Like ``dataclass(eq=False, repr=False)``, for classes that the first evaluation of a process makes.

        ``dataclass`` writes and compiles methods for every class; these classes share `_take_values` instead. With
        plain dataclasses, the first evaluation of examples/coco_val2017_100 takes 29.6 ms of CPU time instead of
        25.1 ms (medians of 40 processes that have loaded NumPy), and ``ioukit eval`` runs 6.6 % more instructions
        (callgrind). Type checkers see ``dataclass``.
        """

        def made(cls: type) -> type:
            cls.__init__ = _take_values
            return dataclasses.dataclass(init=False, eq=False, repr=False)(cls)

        return made


class Frozen(Shown, Answering):
    """A base of records whose arrays are read-only, also in copies and after pickling."""

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")

    def _freeze(self) -> None:
        for field in _fields(type(self)):
            value = getattr(self, field.name)  # a pickle of an earlier version may lack it
            if isinstance(value, np.ndarray):
                frozen(value)
            elif isinstance(value, Mapping):
                for column in value.values():
                    if isinstance(column, np.ndarray):
                        frozen(column)
                if isinstance(value, MutableMapping):
                    vars(self)[field.name] = MappingProxyType(dict(value))

    def __getstate__(self) -> dict[str, Any]:
        """What to pickle: the fields, without values that were computed from them."""
        state = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}  # type: ignore[arg-type]
        return {name: dict(value) if isinstance(value, MappingProxyType) else value for name, value in state.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the fields and freeze them again: NumPy does not pickle that an array is read-only."""
        vars(self).update(state)
        self._freeze()


class Columns(Frozen):
    """A base of dataclasses whose fields, except those in :attr:`SHARED`, are columns of one length.

    A column is an array, a list, a mapping of columns by name, a set of regions, or anything else that has a length and
    a method ``take``. A column that is ``None`` is absent. Two tables are equal only if they are the same object;
    compare their columns instead.
    """

    __iter__ = None  # a table is not a sequence of rows: without this, Python would try table[0], table[1], ...

    SHARED: ClassVar[frozenset[str]] = frozenset()
    """Names of the fields that belong to the whole table, not to its rows."""

    @classmethod
    def column_names(cls) -> list[str]:
        """The names of the columns."""
        return [field.name for field in _fields(cls) if field.name not in cls.SHARED]

    def take(self, rows: slice | NDArray[Any] | Sequence[int]) -> Self:
        """Choose rows: by a slice, by positions in any order, or by an array of bools, one per row.

        Raises:
            TypeError: If ``rows`` is none of these.
            IndexError: If a position is out of range, or the number of bools differs from the number of rows.
        """
        chosen = _rows(rows, len(self))  # type: ignore[arg-type]
        taken = {name: take_rows(getattr(self, name), chosen) for name in self.column_names()}
        return dataclasses.replace(self, **taken)  # type: ignore[type-var]

    @classmethod
    def _joined(cls, parts: Sequence[Self], names: Iterable[str], label: str = "{}") -> dict[str, Any]:
        """Some columns of several tables, joined: by name, with the rows of all tables in order.

        A table without rows is left out, so it does not need the optional columns of the others.
        """
        filled = [part for part in parts if len(part)] or parts[:1]  # type: ignore[arg-type]
        return {name: concat_columns([getattr(part, name) for part in filled], label.format(name)) for name in names}

    @classmethod
    def _parts(cls, parts: Iterable[Self]) -> list[Self]:
        """The tables that a ``concat`` was given.

        Raises:
            TypeError: If one of them is not a table of this class, or ``parts`` is one table instead of a list.
            ValueError: If the list is empty.
        """
        if isinstance(parts, Columns):
            raise TypeError(f"concat expects a list of {cls.__name__}, got one {type(parts).__name__}")
        listed = list(parts)
        if not listed:
            raise ValueError(f"concat needs at least one {cls.__name__}")
        for position, part in enumerate(listed):
            if not isinstance(part, cls):
                raise TypeError(f"parts[{position}] must be {cls.__name__}, got {type(part).__name__}")
        return listed


def _rows(rows: Any, count: int) -> Any:
    if isinstance(rows, slice):
        return rows
    positions = np.asarray(rows)
    if positions.size == 0 and positions.ndim == 1:
        positions = positions.astype(np.intp) if positions.dtype.kind != "b" else positions
    if positions.ndim != 1 or positions.dtype.kind not in "iub":
        hint = f": write [[{rows!r}]] for this row" if positions.ndim == 0 and positions.dtype.kind in "iu" else ""
        raise TypeError(f"rows are chosen by a slice, a list of positions or an array of bools, got {rows!r}{hint}")
    if positions.dtype.kind == "b":
        if len(positions) != count:
            raise IndexError(f"expected {count:,} bools, one per row, got {len(positions):,}")
        return np.flatnonzero(positions)
    if positions.size and not (-count <= positions.min() and positions.max() < count):
        wrong = positions[(positions < -count) | (positions >= count)][0]
        raise IndexError(f"row {wrong} is out of range: there are {count:,}")
    return positions.astype(np.intp)


def positions_in(known: NDArray[Any], values: NDArray[Any]) -> NDArray[np.intp]:
    """(N,) where each value stands among the known ones, which ascend; -1 if it is none of them, or of another kind."""
    if not len(known) or not len(values) or known.dtype.kind != values.dtype.kind:
        return np.full(len(values), -1)
    low, high = (int(known[0]), int(known[-1])) if known.dtype.kind == "i" else (0, 1 << 62)
    if len(known) <= len(values) and high - low < 1 << 62:
        # Equal ranges of integers, about two to four times as many as are known: most of them hold none or one. To go
        # on from the first of a range takes a seventh of the time of a search, for 1 million values of 50,000 ids.
        shift = max(0, (high - low).bit_length() - (2 * len(known)).bit_length())
        starts = (np.arange(((high - low) >> shift) + 1) << shift) + low
        firsts = np.searchsorted(known, starts).astype(np.int32)
        if np.diff(firsts, append=len(known)).max() <= _MOST_IN_RANGE:
            inside = np.clip(values, low, high)
            found = firsts[(inside - low) >> shift].astype(np.intp)
            rest = np.flatnonzero(known[found] < inside)
            while len(rest):
                found[rest] += 1
                rest = rest[known[found[rest]] < inside[rest]]
            return np.where(known[found] == values, found, -1)
    places = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.where(known[places] == values, places, -1)


def all_among(values: NDArray[np.int64], known: NDArray[np.int64]) -> bool:
    """Whether all of some integers are among the known ones, which ascend."""
    if not len(values) or not len(known):
        return not len(values)
    low, high = int(known[0]), int(known[-1])
    if values.min() < low or values.max() > high:
        return False
    if high - low >= _LONGEST_LIST:
        return bool((positions_in(known, values) >= 0).all())
    listed = np.zeros(high - low + 1, np.bool_)
    listed[known - low] = True
    return bool(listed[values - low].all())


def take_rows(column: Any, rows: Any) -> Any:
    """The chosen rows of a column, see :class:`Columns`; ``rows`` is a slice or positions."""
    if column is None:
        return None
    if isinstance(column, np.ndarray):
        return column[rows].copy() if isinstance(rows, slice) else column[rows]
    if isinstance(column, Mapping):
        return {name: take_rows(one, rows) for name, one in column.items()}
    if hasattr(column, "take"):
        return column.take(rows)
    if isinstance(column, list | tuple):
        chosen = column[rows] if isinstance(rows, slice) else [column[row] for row in rows.tolist()]
        return type(column)(chosen)
    return column[rows]


def concat_columns(columns: Sequence[Any], name: str) -> Any:
    """One column with the rows of all columns, in order.

    Arrays are concatenated, mappings name by name. Other types need a class method ``concat(columns)``. Sequences of
    different types become a list.

    Raises:
        ValueError: If some of the columns are ``None``, or the shapes of arrays differ after the first axis.
        TypeError: If the types of the columns do not fit together, or their type has no ``concat``.
    """
    if all(column is None for column in columns):
        return None
    if any(column is None for column in columns):
        raise ValueError(f"some of the parts have {name}, others have none")
    if all(isinstance(column, np.ndarray) for column in columns):
        return _concat_arrays(columns, name)
    if all(isinstance(column, Mapping) for column in columns):
        names = dict.fromkeys(key for column in columns for key in column)
        return {key: concat_columns([column.get(key) for column in columns], f"{name}[{key!r}]") for key in names}
    kinds = dict.fromkeys(type(column) for column in columns)
    first = next(iter(kinds))
    if len(kinds) == 1 and hasattr(first, "concat"):
        return first.concat(columns)
    if all(isinstance(column, Sequence) for column in columns):
        rows = [row for column in columns for row in column]
        return tuple(rows) if list(kinds) == [tuple] else rows
    if len(kinds) == 1:
        raise TypeError(f"{name}: {first.__name__} cannot be put together, it has no class method concat(parts)")
    raise TypeError(f"{name} must be of one kind in all parts, got {', '.join(kind.__name__ for kind in kinds)}")


def _concat_arrays(arrays: Sequence[NDArray[Any]], name: str) -> NDArray[Any]:
    shapes = dict.fromkeys(array.shape[1:] for array in arrays)
    if len(shapes) > 1:
        found = " and ".join("(" + ", ".join(["N", *map(str, shape)]) + ")" for shape in list(shapes)[:2])
        raise ValueError(f"{name} must have rows of one shape in all parts, got {found}")
    if len({array.dtype.kind == "U" for array in arrays}) > 1:  # NumPy would write the numbers as strings
        raise TypeError(f"{name} holds strings in some parts and numbers in others")
    return np.concatenate(arrays)
