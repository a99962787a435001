"""Existing files whose names are similar to that of a missing one."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["did_you_mean", "near_files"]

_MOST = 3


def near_files(path: str | os.PathLike[str]) -> list[str]:
    """At most three existing paths that are similar to `path`, the most similar first.

    Only the first part of the path that does not exist is replaced, by names from its folder.
    """
    import difflib  # noqa: PLC0415 - only for the message

    missing, rest = Path(path), Path()
    while missing.name and not os.path.lexists(missing.parent):
        missing, rest = missing.parent, missing.name / rest
    try:
        names = sorted(os.listdir(missing.parent))
    except OSError:
        return []
    close = difflib.get_close_matches(missing.name, names, n=_MOST)
    # For short names, difflib does not find names that differ only in upper and lower case.
    same = [name for name in names if name.lower() == missing.name.lower() and name not in close]
    found = [missing.parent / name / rest for name in [*same, *close]]
    return [str(one) for one in found if one.exists()][:_MOST]


def did_you_mean(names: list[str]) -> str:
    """The end of a message that suggests these names; empty if there are none."""
    return f"; did you mean {' or '.join(map(repr, names))}?" if names else ""
