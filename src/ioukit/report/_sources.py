"""Where a page comes from: its input files, its time, and the software that made it."""

from __future__ import annotations

import datetime
import hashlib
import platform
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.report._names import shown

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["InputFile", "input_file", "made_with", "time_text"]


@dataclass(frozen=True)
class InputFile:
    """A file that the data of a page were read from."""

    role: str
    name: str
    """The name without the folder, which readers of the report need not know."""
    size: int
    """Bytes."""
    sha256: str
    """The hash of its bytes when the page was written, in hexadecimal digits."""


def input_file(role: str, path: Path) -> InputFile:
    """The name, the size and the hash of a file."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return InputFile(role, shown(path.name), path.stat().st_size, digest.hexdigest())


def made_with() -> tuple[tuple[str, str], ...]:
    """The versions of the software."""
    return (
        ("ioukit", _core.__version__),
        ("Python, NumPy", f"{platform.python_version()}, {np.__version__}"),
        ("System", f"{platform.system()} {platform.machine()}"),
    )


def time_text(created: datetime.datetime | None) -> str:
    """The time as a page shows it; now if ``None``."""
    now = created or datetime.datetime.now(datetime.timezone.utc)
    return f"{now:%Y-%m-%d %H:%M}" + (f" {now:%Z}" if now.tzinfo is not None else "")
