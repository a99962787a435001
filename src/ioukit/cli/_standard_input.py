"""``-`` as an argument: standard input."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["STANDARD_INPUT", "input_files"]

STANDARD_INPUT = Path("/dev/stdin")


def input_files(*paths: Path) -> Sequence[Path]:
    """The files to read for these arguments: ``-`` means standard input, which can be read once.

    Raises:
        typer.BadParameter: If two arguments are ``-``, or the system has no file for standard input (Windows).
    """
    asked = sum(str(path) == "-" for path in paths)
    if asked > 1:
        raise typer.BadParameter("- (standard input) stands for one file, got it twice")
    if asked and not os.path.exists(STANDARD_INPUT):
        raise typer.BadParameter("- (standard input) cannot be read on this system: name a file")
    return [STANDARD_INPUT if str(path) == "-" else path for path in paths]
