"""The file of operating points: strict JSON with the version of its format."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.formats.text_files import abbreviate, member, numbers, parse_json, read_text, refuse, to_number
from ioukit.errors import DatasetError
from ioukit.postprocess.score_maps import IsotonicMap, PlattMap, TemperatureMap

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ioukit.postprocess.score_maps import ScoreMap


_FORMAT = "ioukit operating points"
_VERSION = 1
_MEMBERS = ("format", "version", "ioukit", "rule", "chosen_on", "calibration", "classes")


def points_text(fields: Mapping[str, Any]) -> str:
    """The text of the file for the fields of the points; one line per class."""
    maps: Sequence[ScoreMap] = fields["maps"]
    per_class = len(maps) > 1  # of a single class, the map is that of all classes
    classes = []
    rows = zip(fields["category_ids"].tolist(), fields["names"], fields["thresholds"].tolist(), strict=True)
    for at, (number, name, threshold) in enumerate(rows):
        line: dict[str, Any] = {"id": number, "name": name, "threshold": None if math.isnan(threshold) else threshold}
        if per_class:
            line["calibration"] = _map_record(maps[at])
        classes.append(json.dumps(line, allow_nan=False))
    head = {
        "format": _FORMAT,
        "version": _VERSION,
        "ioukit": fields["version"],
        "rule": fields["rule"],
        "chosen_on": dict(fields["chosen_on"]),
        "calibration": _map_record(maps[0]) if len(maps) == 1 else None,
    }
    lines = [f" {json.dumps(key)}: {json.dumps(value, allow_nan=False)}," for key, value in head.items()]
    body = ",\n  ".join(classes)
    return "\n".join(["{", *lines, f' "classes": [\n  {body}\n ]' if classes else ' "classes": []', "}"])


def read_points(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of the points in a file.

    Raises:
        DatasetError: If the file is no file of operating points, is damaged, or is of a newer version.
        OSError: If it cannot be read.
    """
    where = os.fspath(path)
    data = parse_json(read_text(path), where)
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        found = f"format {abbreviate(data.get('format'))}" if isinstance(data, dict) else abbreviate(data)
        refuse(where, f"a file of operating points, with format {_FORMAT!r}", found)
    version = to_number(data.get("version"), f"{where}: version", lowest=1, whole=True, text=False)
    if version > _VERSION:
        raise DatasetError(
            f"{where}: expected version {_VERSION} of the format, found {version:g}: a newer ioukit wrote it "
            f"({abbreviate(data.get('ioukit'))})"
        )
    _check_members(data, _MEMBERS, where)
    records = member(data, "classes", list, f"{where}: the file")
    shared = data["calibration"]
    per_class = bool(records) and isinstance(records[0], dict) and "calibration" in records[0]
    if per_class and shared is not None:
        refuse(f"{where}: calibration", "one for all classes, or one in each class", "both")
    names = ("id", "name", "threshold", *(("calibration",) if per_class else ()))
    maps = [] if shared is None else [_map(shared, f"{where}: calibration")]
    classes: dict[int, tuple[str, float]] = {}
    for at, entry in enumerate(records):
        place = f"{where}: classes[{at}]"
        _check_members(entry, names, place)
        number = _category_id(entry["id"], f"{place}.id")
        if number in classes:
            refuse(f"{place}.id", "each id once", f"{number} again")
        given = entry["threshold"]
        threshold = math.nan if given is None else to_number(given, f"{place}.threshold", text=False)
        classes[number] = member(entry, "name", str, place), threshold
        if per_class:
            maps.append(_map(entry["calibration"], f"{place}.calibration"))
    return {
        "category_ids": np.array(list(classes), np.int64),
        "names": tuple(name for name, _ in classes.values()),
        "thresholds": np.array([threshold for _, threshold in classes.values()], np.float64),
        "maps": tuple(maps),
        "rule": member(data, "rule", str, f"{where}: the file"),
        "chosen_on": _chosen_on(data, where),
        "version": member(data, "ioukit", str, f"{where}: the file"),
    }


def _check_members(value: Any, names: Collection[str], where: str) -> None:
    """Refuses an object that lacks a member, or has one of another name."""
    if not isinstance(value, dict):
        refuse(where, "an object", abbreviate(value))
    for name in names:
        if name not in value:
            refuse(where, f"the member {name!r}", "none")
    for name in value:
        if name not in names:
            refuse(where, f"the members {', '.join(names)} alone", f"the member {abbreviate(name)}")


def _category_id(value: Any, where: str) -> int:
    """An id to its last digit: it may be any integer of 64 bits, more than a float can tell apart."""
    if type(value) is int and -(2**63) <= value < 2**63:
        return value
    return int(to_number(value, where, whole=True, text=False))


def _chosen_on(data: dict[str, Any], where: str) -> dict[str, Any]:
    found: dict[str, Any] = member(data, "chosen_on", dict, f"{where}: the file")
    for name, value in found.items():
        if not (value is None or isinstance(value, str | int | float | bool)):
            refuse(f"{where}: chosen_on.{name}", "text, a number, true, false or null", abbreviate(value))
    return found


def _map_record(one: ScoreMap) -> dict[str, Any]:
    if isinstance(one, TemperatureMap):
        return {"method": "temperature", "temperature": one.temperature}
    if isinstance(one, PlattMap):
        return {"method": "platt", "slope": one.slope, "offset": one.offset}
    return {"method": "isotonic", "scores": one.scores.tolist(), "values": one.values.tolist()}


_MAPS = {"temperature": ("temperature",), "platt": ("slope", "offset"), "isotonic": ("scores", "values")}


def _map(value: Any, where: str) -> ScoreMap:
    method = value.get("method") if isinstance(value, dict) else None
    if not isinstance(method, str) or method not in _MAPS:
        refuse(
            f"{where}.method", f"one of {', '.join(_MAPS)}", abbreviate(method if isinstance(value, dict) else value)
        )
    _check_members(value, ("method", *_MAPS[method]), where)
    try:
        if method == "isotonic":
            lists = [member(value, name, list, where) for name in ("scores", "values")]
            x, y = (
                np.array(numbers(each, [name] * len(each), f"{where}.{name}", text=False), np.float64)
                for name, each in zip(("scores", "values"), lists, strict=True)
            )
            return IsotonicMap(x, y).checked()
        read = {name: to_number(value[name], f"{where}.{name}", text=False) for name in _MAPS[method]}
        return TemperatureMap(**read) if method == "temperature" else PlattMap(**read)
    except DatasetError:
        raise
    except ValueError as error:
        raise DatasetError(f"{where}: {error}") from None
