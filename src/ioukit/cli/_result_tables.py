"""`--tables` and `--tables-format`: checks before the work, and the folder of tables after it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import typer

from ioukit._optional import import_extra
from ioukit.cli._errors import bad_output, bad_value, missing_extra
from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.evaluation import Evaluation
    from ioukit.evaluation.tables.files import TableFormat

__all__ = ["ResultTables"]


class ResultTables(NamedTuple):
    """What the options ask for."""

    folder: Path | None
    """The folder to write."""
    format: TableFormat | None
    """The files in it; CSV if ``None``."""

    def check(self, files: Sequence[Path | None]) -> None:
        """Refuses, before the work, a folder that could not be written after it.

        Args:
            files: What the command reads, and the other files that it writes.

        Raises:
            typer.BadParameter: If one of the options is wrong. It names the option.
            typer.Exit: If a package that the format needs is not installed, after a message.
        """
        folder = self.folder
        if folder is None:
            raise typer.BadParameter("--tables-format needs --tables, the folder to write")
        with bad_value("--tables"):
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                raise ValueError(f"{folder} exists: expected a new or an empty folder")
            target = os.path.realpath(folder)
            if any(file is not None and os.path.realpath(file) == target for file in files):
                raise ValueError(f"{folder} is the file of another option, too")
            existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
            if not existing.is_dir() or not os.access(existing, os.W_OK):
                raise ValueError(f"{folder}: {existing} does not let folders be made")
        if self.format == "parquet":
            with missing_extra():
                import_extra("pyarrow", extra="tables", needed_by="--tables-format parquet")

    def write(self, evaluation: Evaluation, talk: Talk, *, long: bool) -> None:
        """Writes the tables, at the main IoU threshold and area range of the protocol."""
        from ioukit.evaluation import write_tables  # noqa: PLC0415 - after the checks

        assert self.folder is not None
        with bad_output(), talk.busy("writing tables", long=long):
            written = write_tables(evaluation, self.folder, format=self.format or "csv")
        talk.say(f"wrote {printable(str(self.folder))}  {len(written)} tables")
