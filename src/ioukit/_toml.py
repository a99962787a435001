"""TOML, which Python reads itself from version 3.11 on."""

from __future__ import annotations

import sys
from operator import methodcaller
from typing import Any

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
