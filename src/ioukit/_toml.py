"""TOML, which Python reads itself from version 3.11 on."""

from __future__ import annotations

import sys
from typing import Any


def toml_fields(text: str) -> dict[str, Any]:
    """The fields of a TOML text.

    Raises:
        ValueError: If it is not TOML, or is nested too deeply.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - only files need it
    else:
        import tomli as tomllib  # noqa: PLC0415 - as above
    try:
        fields: dict[str, Any] = tomllib.loads(text)
    except RecursionError:
        raise ValueError("lists or tables are nested too deeply") from None
    return fields
