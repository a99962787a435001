"""What is looked at, as data: the filter that stands in the address of the page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, NamedTuple

from ioukit.evaluation.analysis.tide import ERROR_KINDS

OUTCOMES = ("detected", "tp", "fp", "fn", "ignored")
"""The outcomes of marks: a detected object, a true positive, a false positive, a missed object, an ignored mark."""
CHANGES = ("won", "lost", "both", "neither")
"""What became of an object from one model to the other: only the other finds it, only the one, both, or neither."""
SORT_KEYS = (
    *("errors", "fp", "fn", "tp", "f1", "precision", "recall"),
    *("objects", "detections", "score", "name", "position", "frame"),
)
"""By what images are sorted, besides ``column.NAME``."""
BACKGROUND = "background"
"""The row and the column of the confusion matrix for no class."""

_SPELLINGS = {"localization": "localisation"}
_COLUMN = "column."


class Range(NamedTuple):
    """From ``low`` to ``high``, both included; infinity for no limit."""

    low: float
    high: float

    @classmethod
    def parse(cls, text: str, key: str) -> Range:
        """The range of a text such as ``0.5..0.9``, ``..0.9`` or ``0.5..``; a single number is both ends.

        Raises:
            ValueError: If the text is no range.
        """
        low, dots, high = text.partition("..")
        try:
            first = float(low) if low.strip() else -math.inf
            last = float(high) if high.strip() else math.inf
        except ValueError:
            first = last = math.nan
        if not dots:
            last = first
        if math.isnan(first) or math.isnan(last) or not text.strip():
            raise ValueError(f"{key} must be a range such as 0.5..0.9, 0.5.. or ..0.9, got {text!r}")
        if first > last:
            raise ValueError(f"{key} must be a range from a lower to a higher number, got {text!r}")
        return cls(first, last)

    def __str__(self) -> str:
        return _number(self.low) if self.low == self.high else f"{_number(self.low)}..{_number(self.high)}"


def _number(value: float) -> str:
    return "" if math.isinf(value) else f"{value:.17g}" if float(f"{value:.15g}") != value else f"{value:.15g}"


@dataclass(frozen=True)
class Filter:
    """Which marks and images are looked at, at which thresholds, and in which order.

    Values of one field are alternatives; different fields must hold all. An empty field chooses everything.
    """

    classes: tuple[str, ...] = field(default=(), metadata={"key": "class"})
    """Names of classes, or ``id:NUMBER``."""
    outcome: tuple[str, ...] = ()
    """``"tp"``, ``"fp"``, ``"fn"`` (missed objects), ``"detected"`` (detected objects) or ``"ignored"``."""
    error: tuple[str, ...] = ()
    """Some of :data:`~ioukit.evaluation.ERROR_KINDS`."""
    true: tuple[str, ...] = ()
    """Rows of the confusion matrix: names of classes, ``id:NUMBER`` or ``"background"``."""
    predicted: tuple[str, ...] = ()
    """Columns of the confusion matrix."""
    score: tuple[Range, ...] = ()
    """Scores; the score of an object is that of the detection that finds it."""
    iou: tuple[Range, ...] = ()
    """IoU of a match, or else the highest IoU with a mark of the other side."""
    size: tuple[Range, ...] = ()
    """Square roots of areas, in pixels."""
    area: tuple[str, ...] = ()
    """Labels of the protocol's area ranges; a mark is in the narrowest one."""
    text: tuple[str, ...] = ()
    """Words that file names contain; upper and lower case are alike."""
    flag: tuple[str, ...] = ()
    """Flags of objects, ``"crowd"`` for example."""
    columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """For columns by name: ranges ``LOW..HIGH``, or texts."""
    tag: tuple[str, ...] = ()
    """Tags of images or of marks on them."""
    noted: bool | None = None
    """Whether images have a note."""
    issue: tuple[str, ...] = ()
    """Kinds of issues of labels."""
    change: tuple[str, ...] = ()
    """Of objects: ``"won"``, ``"lost"``, ``"both"`` or ``"neither"``, by which of two models finds them."""
    models: tuple[str, str] | None = None
    """The models of the changes; the first two if ``None``."""
    model: str | None = None
    """The model whose detections are looked at; the first if ``None``."""
    at_score: float | None = None
    """The score threshold; the one of the best F1 of each model if ``None``."""
    at_iou: float | None = None
    """The IoU threshold; the protocol's main one if ``None``."""
    sort: str | None = None
    """``"errors"``, ``"fp"``, ``"fn"``, ``"tp"``, ``"f1"``, ``"precision"``, ``"recall"``, ``"objects"``,
    ``"detections"``, ``"score"``, ``"name"``, ``"position"`` or ``column.NAME``; ``"errors"`` if ``None``,
    ``"position"`` without models."""
    order: str | None = None
    """``"asc"`` or ``"desc"``; the larger numbers first, or names and positions in ascending order if ``None``."""

    def __post_init__(self) -> None:
        if not isinstance(self.columns, MappingProxyType):
            object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    def __hash__(self) -> int:
        return hash(tuple(self.items()))

    @classmethod
    def parse(cls, items: Iterable[tuple[str, str]]) -> Filter:
        """The filter of the keys and values of an address, such as ``[("class", "person"), ("score", "0.5..")]``.

        Keys may repeat. An empty value of a key other than ``class``, ``true`` and ``predicted`` chooses everything.

        Raises:
            ValueError: If a key or a value is unknown, or a key that has one value has two.
        """
        found: dict[str, Any] = {}
        columns: dict[str, tuple[str, ...]] = {}
        for key, text in items:
            if key.startswith(_COLUMN):
                columns[key.removeprefix(_COLUMN)] = (*columns.get(key.removeprefix(_COLUMN), ()), text)
                continue
            if key not in _FIELD_OF:
                raise ValueError(f"no filter is called {key!r}; there are {', '.join(_FIELD_OF)} and column.NAME")
            if not text and key not in ("class", "true", "predicted", "model", "models"):
                continue
            name = _FIELD_OF[key]
            value = _value(key, text)
            if key in _SINGLE:
                if name in found and found[name] != value:
                    raise ValueError(f"{key} must have one value, got {text!r}, too")
                found[name] = value
            elif value not in found.get(name, ()):
                found[name] = (*found.get(name, ()), value)
        return cls(columns=columns, **found)

    def items(self) -> list[tuple[str, str]]:
        """The keys and values that :meth:`parse` makes this filter of."""
        found: list[tuple[str, str]] = []
        for one in fields(self):
            value = getattr(self, one.name)
            key = one.metadata.get("key", one.name)
            if one.name == "columns":
                found += [(_COLUMN + name, text) for name, texts in value.items() for text in texts]
            elif isinstance(value, bool):
                found.append((key, "yes" if value else "no"))
            elif isinstance(value, float):
                found.append((key, _number(value)))
            elif key == "models" and value is not None:
                found.append((key, ",".join(map(_escaped, value))))
            elif isinstance(value, tuple):
                found += [(key, str(each)) for each in value]
            elif value is not None:
                found.append((key, value))
        return found


_SINGLE = ("noted", "models", "model", "at_score", "at_iou", "sort", "order")
_FIELD_OF = {one.metadata.get("key", one.name): one.name for one in fields(Filter) if one.name != "columns"}
_KNOWN: dict[str, tuple[str, ...]] = {
    "outcome": OUTCOMES,
    "error": ERROR_KINDS,
    "change": CHANGES,
    "noted": ("yes", "no"),
    "order": ("asc", "desc"),
}


def _value(key: str, text: str) -> Any:
    """The value of a key's text."""
    if key in ("score", "iou", "size"):
        return Range.parse(text, key)
    if key in ("at_score", "at_iou"):
        try:
            number = float(text)
        except ValueError:
            number = math.nan
        if not math.isfinite(number):
            raise ValueError(f"{key} must be a number, got {text!r}")
        return number
    if key == "models":
        names = _split(text)
        if len(names) != 2:
            raise ValueError(f"models must be two names with a comma between them, got {text!r}")
        return tuple(names)
    if key == "error":
        text = _SPELLINGS.get(text, text)
    if key in _KNOWN and text not in _KNOWN[key]:
        raise ValueError(f"{key} must be {_listed(_KNOWN[key])}, got {text!r}")
    if key == "sort" and text not in SORT_KEYS and not text.startswith(_COLUMN):
        raise ValueError(f"sort must be {_listed((*SORT_KEYS, 'column.NAME'))}, got {text!r}")
    return text == "yes" if key == "noted" else text


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _escaped(name: str) -> str:
    """A name of a list; a backslash stands before its commas and backslashes."""
    return name.replace("\\", "\\\\").replace(",", "\\,")


def _split(text: str) -> list[str]:
    """The names of a list."""
    names, escaped = [""], False
    for sign in text:
        if escaped or sign not in "\\,":
            names[-1] += sign
            escaped = False
        elif sign == ",":
            names.append("")
        else:
            escaped = True
    return names
