"""TOML, which Python reads itself from version 3.11 on, and fields of such files that are unknown."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["field_hint", "toml_fields"]


def toml_fields(text: str) -> dict[str, Any]:
    """The fields of a TOML text.

    Raises:
        ValueError: If it is not TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - only files need it
    else:
        import tomli as tomllib  # noqa: PLC0415 - as above
    fields: dict[str, Any] = tomllib.loads(text)
    return fields


def field_hint(name: str, known: Sequence[str]) -> str:
    """The end of a message about a field that does not exist: the one that is probably meant, or all."""
    import difflib  # noqa: PLC0415 - only for the message

    close = difflib.get_close_matches(name, known, n=1)
    return f"did you mean {close[0]}?" if close else f"choose from {', '.join(known)}"
