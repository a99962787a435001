"""Names from data, as a page shows them."""

from __future__ import annotations

from ioukit._output import printable

__all__ = ["shown"]

_LONGEST = 200  # longer than usual names; a matrix repeats each name hundreds of times


def shown(name: str, otherwise: str = "") -> str:
    """The name with escapes for invisible characters, cut if it is very long; ``otherwise`` if it is empty."""
    text = printable(name[: _LONGEST + 1])
    return (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}") or otherwise
