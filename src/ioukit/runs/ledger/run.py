"""One run of a ledger: everything but its match table."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ioukit._plain_values import plain_values
from ioukit.errors import DatasetError
from ioukit.runs.ledger.input_files import InputFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


COLUMNS = (
    "id", "uid", "name", "number", "created", "protocol", "iou_type", "dropped", "tags", "user_values", "summary",
    "intervals", "counts", "notes", "options", "inputs", "versions", "rules", "table_sha256", "table_bytes",
)  # fmt: skip
"""The columns of the table ``runs``, in the order of :func:`run_of_row`."""


class Limits(NamedTuple):
    """An interval of a number, see :class:`ioukit.statistics.Interval`."""

    low: float
    high: float
    level: float
    """The probability that such an interval holds the number on endlessly many images, for example 0.95."""


@dataclass(frozen=True, repr=False)
class Run:
    """An evaluation that a ledger holds, without its match table, which :meth:`Ledger.evaluation` reads."""

    id: int
    """Its number in the ledger. No other run of the ledger ever has it."""
    uid: str
    """32 hexadecimal digits that no other run has, in any ledger."""
    name: str
    """Its name; several runs may have it."""
    number: int
    """Its number among the runs with this name, beginning with 1: ``B@2`` is the second run of the name ``B``."""
    created: str
    """When it was added, in UTC, by ISO 8601: ``2026-11-22T19:30:00Z``."""
    protocol: str
    """The name of the protocol."""
    iou_type: str
    """The kind of region that was compared."""
    dropped: int
    """How many invalid records were left out."""
    tags: Mapping[str, str]
    """The text of the user by names, such as ``{"lr": "1e-3"}``."""
    values: Mapping[str, float]
    """The numbers of the user by names, such as ``{"latency": 12.3}``."""
    summary: Mapping[str, float]
    """The numbers of the protocol by their keys, NaN where undefined."""
    intervals: Mapping[str, Limits]
    """Intervals of numbers by the same keys, as far as :meth:`Ledger.add` was given some."""
    counts: Mapping[str, int]
    """How many images, objects and so on were evaluated, as :attr:`ioukit.Evaluation.counts`."""
    notes: tuple[str, ...]
    """Notes about the data."""
    options: Mapping[str, Any]
    """The options of the command, or what :meth:`Ledger.add` was given."""
    inputs: tuple[InputFile, ...]
    """The files that were evaluated, with their hashes."""
    versions: Mapping[str, str]
    """The versions of ``ioukit``, ``python`` and ``numpy`` that evaluated."""
    rules: str
    """The protocol as JSON, see :attr:`settings`."""
    table_sha256: str
    """The SHA-256 of the match table. Two runs with the same one have the same match table."""
    table_bytes: int
    """How many bytes the match table takes in the ledger."""

    @cached_property
    def settings(self) -> Mapping[str, Any]:
        """All rules: ``protocol`` with its fields, ``iou_type`` and ``options``."""
        fields = json.loads(self.rules)
        return MappingProxyType({"protocol": fields, "iou_type": self.iou_type, "options": dict(self.options)})

    @property
    def reference(self) -> str:
        """What chooses this run, and will do so when there are newer ones: ``B@2``."""
        return f"{self.name}@{self.number}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python values, ``None`` where a number is undefined."""
        fields = plain_values(self)
        fields["table"] = {"sha256": fields.pop("table_sha256"), "bytes": fields.pop("table_bytes")}
        return {name: value for name, value in fields.items() if name not in ("dropped", "rules")}

    def __hash__(self) -> int:
        return hash(self.uid)

    def __repr__(self) -> str:
        main = next(iter(self.summary.items()), None)
        number = "" if main is None else f", {main[0]} {main[1]:.4f}"
        return f"Run({self.reference}, id {self.id}, {self.created}{number})"


def stored_numbers(numbers: Mapping[str, float]) -> str:
    """Numbers as JSON, every one to its last bit; null for NaN."""
    return json.dumps({key: None if math.isnan(value) else float(value) for key, value in numbers.items()})


def run_of_row(row: tuple[Any, ...], source: str) -> Run:
    """The run of a row with :data:`COLUMNS`.

    Raises:
        DatasetError: If a column does not hold what it should, as in a file that is damaged.
    """
    found = dict(zip(COLUMNS, row, strict=True))
    try:
        for name, kind in _KINDS.items():
            if type(found[name]) is not kind:
                raise TypeError(f"{name} is {type(found[name]).__name__}, not {kind.__name__}")
        for name in ("tags", "versions"):
            found[name] = _mapping(name, found[name])
            _check_texts(name, found[name].values())
        for name in ("counts", "options"):
            found[name] = _mapping(name, found[name])
        _mapping("rules", found["rules"])
        summary = _mapping("summary", found["summary"]).items()
        found["summary"] = MappingProxyType({key: _number(key, value, math.nan) for key, value in summary})
        limits = _mapping("intervals", found["intervals"]).items()
        found["intervals"] = MappingProxyType(
            {key: Limits(*(_number(key, one, None) for one in ends)) for key, ends in limits}
        )
        values = _mapping("user_values", found.pop("user_values")).items()
        found["values"] = MappingProxyType({key: _number(key, value, None) for key, value in values})
        found["notes"] = tuple(map(str, json.loads(found["notes"])))
        found["inputs"] = _inputs(found["inputs"])
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise DatasetError(f"{source}: the run with the id {found['id']!r} is damaged: {error}") from None
    return Run(**found)


_KINDS = {
    **dict.fromkeys(("id", "number", "dropped", "table_bytes"), int),
    **dict.fromkeys((name for name in COLUMNS if name not in ("id", "number", "dropped", "table_bytes")), str),
}


# Most runs of a ledger have the same texts in some columns: each is parsed once.
@lru_cache(maxsize=256)
def _mapping(name: str, text: str) -> Mapping[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError(f"{name} is {type(found).__name__}, not a mapping")
    return MappingProxyType(found)


@lru_cache(maxsize=256)
def _inputs(text: str) -> tuple[InputFile, ...]:
    found = tuple(InputFile(*one) for one in json.loads(text))
    for one in found:
        _check_texts("inputs", (one.role, one.name, one.sha256 or ""))
    return found


def _check_texts(name: str, values: Iterable[Any]) -> None:
    for value in values:
        if not isinstance(value, str):
            raise TypeError(f"{name} holds {value!r:.40}, not text")


def _number(key: str, value: Any, undefined: float | None) -> float:
    value = undefined if value is None else value
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise TypeError(f"{key} is {value!r:.40}, not a number")
    return float(value)
