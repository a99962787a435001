"""Files that say which classes get which names."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path

from ioukit._optional import import_extra
from ioukit.datasets.formats.text_files import abbreviate, member, parse_json, read_lines, read_text, refuse

_HEADER = ("old", "new")


def read_class_map(path: str | os.PathLike[str]) -> dict[str, str | None]:
    """The mapping for :func:`ioukit.datasets.remap` from a file: new names by old names.

    A class without a new name gets ``None``.

    - ``.csv``: two columns, old and new name; a first line ``old,new`` is a header.
    - ``.json``: an object; ``null`` is an empty name.
    - ``.yaml``, ``.yml``: a mapping; ``null`` is an empty name. This needs ``pip install 'ioukit[yolo]'``.
    - other names: a line ``old: new`` per class. Empty lines and lines that begin with ``#`` are passed over.

    Args:
        path: The file, in UTF-8.

    Raises:
        DatasetError: If a line is invalid, or a class comes twice; names file and line, what was expected and what
            came.
        OSError: If the file cannot be read.
    """
    suffix = Path(path).suffix.lower()
    pairs = {".csv": _of_table, ".json": _of_json, ".yaml": _of_yaml, ".yml": _of_yaml}.get(suffix, _of_lines)
    mapping: dict[str, str | None] = {}
    for where, old, new in pairs(path):
        if not old:
            refuse(where, "the name of a class", "nothing")
        if old in mapping:
            refuse(where, "a class that differs from those before", abbreviate(old))
        mapping[old] = new or None
    if not mapping:
        refuse(os.fspath(path), "old and new names of classes", "none")
    return mapping


def _of_lines(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, str]]:
    for number, line in enumerate(read_lines(path), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        where = f"{os.fspath(path)}: line {number}"
        if line.count(":") != 1:
            refuse(where, "old: new (names with a colon can be in a .csv file)", abbreviate(line))
        old, _, new = line.partition(":")
        yield where, old.strip(), new.strip()


def _of_table(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, str]]:
    rows = csv.reader(read_text(path).splitlines(keepends=True), strict=True)
    try:
        for cells in rows:
            where = f"{os.fspath(path)}: line {rows.line_num}"
            if not cells or (rows.line_num == 1 and tuple(cell.strip().lower() for cell in cells) == _HEADER):
                continue
            if len(cells) != len(_HEADER):
                refuse(where, "two cells, the old name and the new one", f"{len(cells)}")
            yield where, cells[0].strip(), cells[1].strip()
    except csv.Error as error:
        refuse(f"{os.fspath(path)}: line {rows.line_num}", "CSV", f"something else: {error}")


def _of_json(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, str]]:
    where, text = os.fspath(path), read_text(path)
    found = parse_json(text, where)
    if not isinstance(found, dict):
        refuse(where, "an object of old and new names", abbreviate(found))
    for old, new in json.loads(text, object_pairs_hook=tuple):  # pairs, to see a class that comes twice
        yield where, old, "" if new is None else member({old: new}, old, str, where)


def _of_yaml(path: str | os.PathLike[str]) -> Iterator[tuple[str, str, str]]:
    yaml = import_extra("yaml", extra="yolo", needed_by="a .yaml file of classes")
    where = os.fspath(path)
    try:
        found = yaml.compose(read_text(path), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        refuse(where, "YAML", f"something else: {error}".splitlines()[0])
    if not isinstance(found, yaml.MappingNode):
        refuse(where, "a mapping of old to new names", "something else")
    for old, new in found.value:
        line = f"{where}: line {old.start_mark.line + 1}"
        if not isinstance(old, yaml.ScalarNode) or not isinstance(new, yaml.ScalarNode):
            refuse(line, "old: new", "a list or a mapping")
        yield line, old.value, "" if new.tag == "tag:yaml.org,2002:null" else new.value
