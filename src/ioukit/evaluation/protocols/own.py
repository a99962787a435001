"""Reading a protocol from a file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ioukit._near_names import suggest
from ioukit._toml import toml_fields
from ioukit.evaluation.protocols.measures import Measure, MissRateRule, Quantity, Reading
from ioukit.evaluation.protocols.protocol import IgnoreRule, Protocol
from ioukit.evaluation.protocols.registry import find_protocol

if TYPE_CHECKING:
    import os

__all__ = ["PROTOCOL_FILES", "read_protocol"]

PROTOCOL_FILES = (".toml", ".json")
"""The suffixes of files with a protocol."""


def read_protocol(path: str | os.PathLike[str]) -> Protocol:
    r"""Read a protocol from a TOML or JSON file.

    The file has the fields of :meth:`Protocol.to_dict`. A field ``based_on`` may name a registered protocol: then the
    fields that the file leaves out are those of that protocol. If the file has no ``name``, the protocol has the name
    of the file.

    Args:
        path: A file whose name ends with ``.toml`` or ``.json``. TOML has no value for "none": leave out the fields of
            a measure that have none. No upper limit of an area range is ``inf`` in TOML and ``null`` in JSON.

    Raises:
        ValueError: If the file is not TOML or JSON, or a field is unknown, missing or invalid; the message names the
            file and the field.
        OSError: If the file cannot be read.

    Examples:
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     file = Path(folder, "loose.toml")
        ...     _ = file.write_text('based_on = "coco"\niou_thresholds = [0.3]')
        ...     read_protocol(file).iou_thresholds
        (0.3,)
    """
    path = Path(path)
    given = _fields(path)
    try:
        based_on = given.pop("based_on", None)
        _check(given, _PROTOCOL, "", "a protocol", (field.name for field in dataclasses.fields(Protocol)))
        given.setdefault("name", path.stem)
        if "ignored" in given:
            given["ignored"] = tuple(
                _made(IgnoreRule, rule, f"ignored[{at}]") for at, rule in enumerate(given["ignored"])
            )
        if "miss_rate" in given:
            given["miss_rate"] = _made(MissRateRule, given["miss_rate"], "miss_rate")
        if "objects_choose" in given:
            given["objects_choose"] = _object_choice(given["objects_choose"])
        if not isinstance(given.get("summary", ""), str):
            given["summary"] = tuple(_made(Measure, one, f"summary[{at}]") for at, one in enumerate(given["summary"]))
        if based_on is not None:
            _expect(isinstance(based_on, str), "based_on", "the name of a protocol", based_on)
            return find_protocol(based_on).replace(**given)
        if missing := [name for name in _REQUIRED if name not in given]:
            raise ValueError(
                f"expected a field {missing[0]}, found none: give it, or take the fields of another protocol, for "
                'example with based_on = "coco"'
            )
        return Protocol(**given)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _fields(path: Path) -> dict[str, Any]:
    if path.suffix not in PROTOCOL_FILES:
        raise ValueError(f"{path}: expected the name of a protocol's file to end with {' or '.join(PROTOCOL_FILES)}")
    content = path.read_bytes()
    try:
        text = content.decode()
        fields = json.loads(text) if path.suffix == ".json" else toml_fields(text)
    except ValueError as error:  # an encoding, TOML or JSON that is invalid
        raise ValueError(f"{path}: expected {path.suffix[1:].upper()}, found something else: {error}") from None
    if not isinstance(fields, dict):
        raise ValueError(f"{path}: expected an object with the fields of a protocol, found {fields!r}")
    return fields


class _Expected(NamedTuple):
    """What the value of a field must be."""

    words: str
    holds: Callable[[Any], bool]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _all(values: Any, holds: Callable[[Any], bool]) -> bool:
    return isinstance(values, list) and all(map(holds, values))


def _is_range(limits: Any) -> bool:
    return isinstance(limits, list) and len(limits) == 2 and _is_number(limits[0]) and _is_high(limits[1])


def _is_value_range(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 3 and isinstance(row[0], str) and all(map(_is_high, row[1:]))


def _is_high(value: Any) -> bool:
    return value is None or _is_number(value)


_TEXT = _Expected("text", lambda value: isinstance(value, str))
_BOOL = _Expected("true or false", lambda value: isinstance(value, bool))
_NUMBERS = _Expected("a list of numbers", lambda value: _all(value, _is_number))
_TABLES = _Expected("a list of tables", lambda value: _all(value, lambda row: isinstance(row, dict)))
_NUMBER = _Expected("a number", _is_number)
_VALUE_RANGES = _Expected('a list of ["name of a value", lowest, highest]', lambda rows: _all(rows, _is_value_range))
_PROTOCOL = {
    "iou_thresholds": _NUMBERS,
    "recall_thresholds": _NUMBERS,
    "max_dets": _Expected("a list of whole numbers", lambda value: _all(value, _is_whole)),
    "area_ranges": _Expected(
        "a table with [lowest, highest] for each label",
        lambda value: isinstance(value, dict) and all(map(_is_range, value.values())),
    ),
    "class_agnostic": _BOOL,
    "inclusive_boxes": _BOOL,
    "clipped_boxes": _BOOL,
    "box_aspect_ratio": _NUMBER,
    "overlap_epsilon": _NUMBER,
    "counted_values": _VALUE_RANGES,
    "detection_values": _VALUE_RANGES,
    "precision_epsilon": _BOOL,
    "miss_rate": _Expected("a table", lambda value: isinstance(value, dict)),
    "ignored": _TABLES,
    "objects_choose": _Expected("a table", lambda value: isinstance(value, dict)),
    "meant_for": _Expected("a list of kinds of region", lambda value: _all(value, lambda kind: isinstance(kind, str))),
    "summary": _Expected(
        "the name of a rule or a list of tables", lambda value: isinstance(value, str) or _TABLES.holds(value)
    ),
}
_IGNORED = {"over_detection": _BOOL, "repeated": _BOOL, "more_than": _BOOL, "counts_once": _BOOL}
_MEASURE = {
    "quantity": _Expected(" or ".join(get_args(Quantity)), lambda value: value in get_args(Quantity)),
    "iou_threshold": _Expected("a number", _is_high),
    "area_range": _Expected("the label of an area range", lambda value: value is None or isinstance(value, str)),
    "max_dets": _Expected("a whole number", lambda value: value is None or _is_whole(value)),
    "group": _Expected("text", lambda value: value is None or isinstance(value, str)),
    "headline": _BOOL,
}
_MISS_RATE = {
    "fppi": _NUMBERS,
    "reading": _Expected(" or ".join(get_args(Reading)), lambda value: value in get_args(Reading)),
    "floor": _NUMBER,
}
_KINDS: dict[type[Any], tuple[str, Mapping[str, _Expected]]] = {
    IgnoreRule: ("a rule", _IGNORED),
    MissRateRule: ("a rule", _MISS_RATE),
    Measure: ("a measure", _MEASURE),
}
_LIMIT = {"at_most": _NUMBERS}
_OBJECT_CHOICE = {
    "iou_thresholds": _Expected(
        "a table with the IoU threshold of each category",
        lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    ),
    "neighbours": _Expected(
        "a table with the neighbour of each category",
        lambda value: isinstance(value, dict) and all(isinstance(name, str) for name in value.values()),
    ),
    "limits": _TABLES,
    "steps": _Expected("a whole number", _is_whole),
}
_REQUIRED = ("iou_thresholds", "recall_thresholds", "max_dets", "area_ranges")


def _expect(holds: bool, where: str, words: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{where}: expected {words}, found {json.dumps(value, default=str)}")


def _check(
    given: Mapping[str, Any], expected: Mapping[str, _Expected], prefix: str, owner: str, known: Iterable[str]
) -> None:
    """Refuses unknown fields, and values of a wrong type. Fields that are not in `expected` are text."""
    names = tuple(known)
    for name, value in given.items():
        if name not in names:
            every = f"choose from {', '.join(names)}"
            raise ValueError(f"{prefix}{name}: {owner} has no such field{suggest(name, names, every, 1)}")
        wanted = expected.get(name, _TEXT)
        _expect(wanted.holds(value), prefix + name, wanted.words, value)


def _object_choice(fields: dict[str, Any]) -> Any:
    """An `ObjectChoice` from the fields of a table."""
    from ioukit.evaluation.protocols.object_choice import (  # noqa: PLC0415 - few protocols have one
        ObjectChoice,
        ObjectLimit,
    )

    names = tuple(field.name for field in dataclasses.fields(ObjectChoice))
    _check(fields, _OBJECT_CHOICE, "objects_choose.", "the table", names)
    _expect("iou_thresholds" in fields, "objects_choose.iou_thresholds", "a table", None)
    for at, limit in enumerate(fields.get("limits", ())):
        where = f"objects_choose.limits[{at}]."
        _check(limit, _LIMIT, where, "a limit", ObjectLimit._fields)
        for name in ObjectLimit._fields:
            _expect(name in limit, where + name, "a value", None)
    return ObjectChoice(**fields)


def _made(kind: type[Any], fields: dict[str, Any], where: str) -> Any:
    """An `IgnoreRule`, a `MissRateRule` or a `Measure` from the fields of a table."""
    owner, expected = _KINDS[kind]
    names = tuple(field.name for field in dataclasses.fields(kind)) if kind is Measure else kind._fields
    _check(fields, expected, f"{where}.", owner, names)
    if kind is not MissRateRule and names[0] not in fields:
        raise ValueError(f"{where}.{names[0]}: expected text, found none")
    return kind(**fields)
