"""Files that appear whole or not at all, and text that shows what it holds."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["check_output", "printable", "write_whole"]


def printable(text: str) -> str:
    """`text` with whatever a terminal would obey (escape codes, line breaks) or cannot show written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def check_output(path: Path, inputs: Iterable[Path]) -> None:
    """Raises `ValueError` if `path` is one of the inputs or cannot become a file: before the work, not after it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder, expected a file to write")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    target = Path(os.path.realpath(path))
    if (target.is_file() or not target.exists()) and not os.access(target.parent, os.W_OK):
        raise ValueError(f"{path}: the folder {target.parent} does not let files be written")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"{path} is an input and would be overwritten")


def write_whole(path: Path, text: str | bytes) -> None:
    """Writes a file beside `path` and renames it: `path` never holds half of it, whatever happens meanwhile."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    target = Path(os.path.realpath(path))  # a link goes on pointing where it points
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        target.write_bytes(data)  # a pipe or /dev/null must not be replaced by a file
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
