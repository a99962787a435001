"""TOML, which Python reads itself from version 3.11 on, and the names of its fields."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from operator import methodcaller
from typing import Any

from ioukit._near_names import suggest
from ioukit._special_files import read_all

_MOST_DOTS = 5_000
"""In one line. Python's reader takes the square of the length of a dotted key, in time and in memory."""


def toml_fields(text: str) -> dict[str, Any]:
    """The fields of a TOML text.

    Raises:
        ValueError: If it is not TOML, is nested too deeply, or has a line of too many dots.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - only files need it
    else:
        import tomli as tomllib  # noqa: PLC0415 - as above
    if max(map(methodcaller("count", "."), text.splitlines()), default=0) > _MOST_DOTS:
        raise ValueError(f"a line with more than {_MOST_DOTS:,} dots")
    try:
        fields: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply") from None
    return fields


def read_toml(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The fields of a TOML file.

    Raises:
        ValueError: As :func:`toml_fields`, and if it is not UTF-8; the message names the file.
        OSError: If the file cannot be read.
    """
    content = read_all(path)
    try:
        return toml_fields(content.decode())
    except ValueError as error:  # an encoding or TOML that is invalid
        raise ValueError(f"{os.fspath(path)}: expected TOML, found something else: {error}") from None


def check_fields(given: Mapping[str, Any], known: tuple[str, ...], prefix: str = "") -> None:
    """Raises `ValueError` for an unknown field, with similar names; ``prefix`` is what stands before its name."""
    for name in given:
        if name not in known:
            every = f"choose from {', '.join(known)}"
            raise ValueError(f"{prefix}{name}: there is no such field{suggest(name, known, every, 1)}")
