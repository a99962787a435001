"""The files that the options of a command name, checked before the work."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ioukit.cli._errors import bad_value
from ioukit.cli._output import check_output

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["check_outputs"]


def check_outputs(outputs: Mapping[str, Path | None], inputs: Sequence[Path]) -> None:
    """Refuses files that could not be written, files that are read, and one file for two results.

    Args:
        outputs: The files by their options; ``None`` where an option is not given.
        inputs: The files that the command reads.

    Raises:
        typer.BadParameter: If one of the files is refused. It names the option.
    """
    taken: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        with bad_value(option):
            check_output(path, inputs)
            other = taken.setdefault(os.path.realpath(path), option)
            if other != option:
                raise ValueError(f"{path} is the file of {other}, too")
