"""`--tables` and `--tables-format`: checks before the work, and the folder of tables after it."""

from __future__ import annotations

import os
from enum import Enum
from typing import TYPE_CHECKING

import typer

from ioukit._optional import import_extra
from ioukit.cli._errors import bad_output, bad_value, missing_extra
from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.evaluation import Evaluation

__all__ = ["TablesFormat", "check_tables", "write_result_tables"]


class TablesFormat(str, Enum):
    """The files that tables are written to."""

    CSV = "csv"
    PARQUET = "parquet"


def check_tables(folder: Path | None, format: TablesFormat | None, files: Sequence[Path | None]) -> None:
    """Refuses, before the work, a folder that could not be written after it.

    Args:
        folder: The folder of tables, if there is to be one.
        format: The format that the options name.
        files: What the command reads, and the other files that it writes.

    Raises:
        typer.BadParameter: If one of the options is wrong. It names the option.
        typer.Exit: If a package that the format needs is not installed, after a message.
    """
    if folder is None:
        if format is not None:
            raise typer.BadParameter("--tables-format needs --tables, the folder to write")
        return
    with bad_value("--tables"):
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise ValueError(f"{folder} exists: expected a new or an empty folder")
        target = os.path.realpath(folder)
        for file in files:
            if file is not None and os.path.realpath(file) == target:
                raise ValueError(f"{folder} is the file of another option, too")
        existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
        if not existing.is_dir() or not os.access(existing, os.W_OK):
            raise ValueError(f"{folder}: {existing} does not let folders be made")
    if format is TablesFormat.PARQUET:
        with missing_extra():
            import_extra("pyarrow", extra="tables", needed_by="--tables-format parquet")


def write_result_tables(
    evaluation: Evaluation, folder: Path, format: TablesFormat | None, talk: Talk, *, long: bool
) -> None:
    """Writes the tables, at the main IoU threshold and area range of the protocol."""
    from ioukit.evaluation import write_tables  # noqa: PLC0415 - only tables need it

    with bad_output(), talk.busy("writing tables", long=long):
        written = write_tables(evaluation, folder, format=(format or TablesFormat.CSV).value)
    talk.say(f"wrote {printable(str(folder))}  {len(written)} tables")
