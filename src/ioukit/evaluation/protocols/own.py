"""Reading a protocol from a file."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from ioukit._near_names import suggest
from ioukit._special_files import read_all
from ioukit._toml import toml_fields
from ioukit.evaluation.protocols.measures import Measure, MissRateRule, Quantity, Reading
from ioukit.evaluation.protocols.object_choice import ObjectChoice, ObjectLimit
from ioukit.evaluation.protocols.parts import IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol
from ioukit.evaluation.protocols.registry import find_protocol

if TYPE_CHECKING:
    import os


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
    given = fields_of_file(path, "a protocol")
    try:
        based_on = given.pop("based_on", None)
        given.setdefault("name", path.stem)
        made = _values(given, Protocol, "", "a protocol")
        if based_on is not None:
            _expect(isinstance(based_on, str), "based_on", "the name of a protocol", based_on)
            return find_protocol(based_on).replace(**made)
        if missing := [name for name in _required(Protocol) if name not in given]:
            raise ValueError(
                f"expected a field {missing[0]}, found none: give it, or take the fields of another protocol, for "
                'example with based_on = "coco"'
            )
        return Protocol(**made)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def fields_of_file(path: Path, what: str) -> dict[str, Any]:
    """The fields of a TOML or JSON file that describes something, such as ``"a protocol"``.

    Raises:
        ValueError: If the file is not TOML or JSON, or holds no fields; the message names the file.
        OSError: If the file cannot be read.
    """
    if path.suffix not in PROTOCOL_FILES:
        raise ValueError(f"{path}: expected the name of {what}'s file to end with {' or '.join(PROTOCOL_FILES)}")
    content = read_all(path)
    try:
        text = content.decode()
        fields = json.loads(text) if path.suffix == ".json" else toml_fields(text)
    except (ValueError, RecursionError) as error:  # an encoding, TOML or JSON that is invalid
        raise ValueError(f"{path}: expected {path.suffix[1:].upper()}, found something else: {error}") from None
    if not isinstance(fields, dict):
        raise ValueError(f"{path}: expected an object with the fields of {what}, found {fields!r}")
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


_TABLE = _Expected("a table", lambda value: isinstance(value, dict))
_TABLES = _Expected("a list of tables", lambda value: _all(value, lambda row: isinstance(row, dict)))
_TEXT = _Expected("text", lambda value: isinstance(value, str))
_EXPECTED = {
    "bool": _Expected("true or false", lambda value: isinstance(value, bool)),
    "int": _Expected("a whole number", _is_whole),
    "int | None": _Expected("a whole number", lambda value: value is None or _is_whole(value)),
    "float": _Expected("a number", _is_number),
    "float | None": _Expected("a number", _is_high),
    "str | None": _Expected("text", lambda value: value is None or isinstance(value, str)),
    "tuple[float, ...]": _Expected("a list of numbers", lambda value: _all(value, _is_number)),
    "tuple[int, ...]": _Expected("a list of whole numbers", lambda value: _all(value, _is_whole)),
    "tuple[str, ...]": _Expected(
        "a list of kinds of region", lambda value: _all(value, lambda kind: isinstance(kind, str))
    ),
    "tuple[AreaRange, ...]": _Expected(
        "a table with [lowest, highest] for each label",
        lambda value: isinstance(value, dict) and all(map(_is_range, value.values())),
    ),
    "tuple[ValueRange, ...]": _Expected(
        'a list of ["name of a value", lowest, highest]', lambda rows: _all(rows, _is_value_range)
    ),
    "tuple[tuple[str, float], ...]": _Expected(
        "a table with the IoU threshold of each category",
        lambda value: isinstance(value, dict) and all(map(_is_number, value.values())),
    ),
    "tuple[tuple[str, str], ...]": _Expected(
        "a table with the neighbour of each category",
        lambda value: isinstance(value, dict) and all(isinstance(name, str) for name in value.values()),
    ),
    "Quantity": _Expected(" or ".join(get_args(Quantity)), lambda value: value in get_args(Quantity)),
    "Reading": _Expected(" or ".join(get_args(Reading)), lambda value: value in get_args(Reading)),
    "MissRateRule": _TABLE,
    "ObjectChoice | None": _TABLE,
    "tuple[IgnoreRule, ...]": _TABLES,
    "tuple[ObjectLimit, ...]": _TABLES,
    "str | tuple[Measure, ...]": _Expected(
        "the name of a rule or a list of tables", lambda value: isinstance(value, str) or _TABLES.holds(value)
    ),
}
"""What a value must be, by the type of its field. All other fields are text."""
_RECORDS: dict[str, tuple[type[Any], str]] = {
    "MissRateRule": (MissRateRule, "a rule"),
    "ObjectChoice | None": (ObjectChoice, "the table"),
    "tuple[IgnoreRule, ...]": (IgnoreRule, "a rule"),
    "tuple[ObjectLimit, ...]": (ObjectLimit, "a limit"),
    "str | tuple[Measure, ...]": (Measure, "a measure"),
}
"""What a table stands for, by the type of its field, and what messages call it."""


def _types(kind: type[Any]) -> dict[str, str]:
    """The fields of a record, each with its type as it is written."""
    if dataclasses.is_dataclass(kind):
        return {field.name: str(field.type) for field in dataclasses.fields(kind)}
    return {name: annotation.__forward_arg__ for name, annotation in kind.__annotations__.items()}


def _required(kind: type[Any]) -> list[str]:
    """The fields without a default."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind) if field.default is dataclasses.MISSING]
    return [name for name in kind._fields if name not in kind._field_defaults]


def _expect(holds: bool, where: str, words: str, value: Any) -> None:
    if not holds:
        raise ValueError(f"{where}: expected {words}, found {json.dumps(value, default=str)}")


def _check(given: Mapping[str, Any], kind: type[Any], prefix: str, owner: str) -> None:
    """Refuses unknown fields, and values of a wrong type."""
    types = _types(kind)
    for name, value in given.items():
        if name not in types:
            every = f"choose from {', '.join(types)}"
            raise ValueError(f"{prefix}{name}: {owner} has no such field{suggest(name, tuple(types), every, 1)}")
        wanted = _EXPECTED.get(types[name], _TEXT)
        _expect(wanted.holds(value), prefix + name, wanted.words, value)


def _values(given: Mapping[str, Any], kind: type[Any], prefix: str, owner: str) -> dict[str, Any]:
    """The fields of a record, checked, with records in the place of tables."""
    _check(given, kind, prefix, owner)
    types, made = _types(kind), dict(given)
    for name, value in given.items():
        if types[name] in _RECORDS and isinstance(value, dict):
            made[name] = _record(value, types[name], prefix + name)
        elif types[name] in _RECORDS and isinstance(value, list):
            made[name] = tuple(_record(one, types[name], f"{prefix}{name}[{at}]") for at, one in enumerate(value))
    return made


def _record(fields: Mapping[str, Any], of_type: str, where: str) -> Any:
    kind, owner = _RECORDS[of_type]
    made = _values(fields, kind, f"{where}.", owner)
    for name in _required(kind):
        if name not in fields:
            words = _EXPECTED.get(_types(kind)[name], _TEXT).words
            raise ValueError(f"{where}.{name}: expected {words}, found none")
    return kind(**made)
