"""How exceptions end a command: with one line and an exit code, or with a traceback.

An error is shown as one line, with exit code 2, if its cause is the user's input. Every other error is a defect of
ioukit and keeps its traceback. So each block of a command is in the context manager for its kind of work:

- `bad_use`: options and data are checked. A `ValueError` is the user's.
- `bad_input`: files are read, and numbers computed. Only a `DatasetError` or an `OSError` is the user's.
- `bad_output`: files are written. Only an `OSError` is the user's.

In all three, a package that is not installed is one line, too. Around all of them is `no_answer_about_a_path`.
"""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING, NoReturn

import typer

import ioukit
from ioukit._near_names import did_you_mean, near_files
from ioukit._output import in_words, printable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_LONGEST = 2_000
"""Characters of a message that are shown: several times the longest that ioukit words itself."""


@contextlib.contextmanager
def bad_value(option: str | None) -> Iterator[None]:
    """Turns a `ValueError` into the usage error of `option`."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


def check_folder(option: str, folder: Path | None) -> None:
    """Refuses a folder that does not exist, with names of those that do.

    Raises:
        typer.BadParameter: If there is none. It names the option.
    """
    if folder is not None and not folder.is_dir():
        near = did_you_mean([path for path in near_files(folder) if os.path.isdir(path)])
        raise typer.BadParameter(f"expected a folder, got {str(folder)!r}{near}", param_hint=option)


@contextlib.contextmanager
def bad_argument(option: str) -> Iterator[None]:
    """Turns a `ValueError` about an argument into one line that names `option`, and exit code 2.

    It is about a format, not about the use of the command, so the line is alone. A `DatasetError` stays as it is.
    """
    try:
        yield
    except ioukit.DatasetError:
        raise
    except ValueError as error:
        end_command(f"Invalid value for {option}: {error}")


@contextlib.contextmanager
def bad_use() -> Iterator[None]:
    """Turns errors about options, data and files into one line and exit code 2; for checks before the work starts."""
    try:
        with bad_input():
            yield
    except ValueError as error:
        end_command(str(error))


@contextlib.contextmanager
def bad_input(*others: type[Exception]) -> Iterator[None]:
    """Turns errors about a file that is read into one line and exit code 2; other errors keep their traceback.

    For a missing file, the line suggests similar names of existing files. `others` are further classes of errors that
    are the user's in this block.
    """
    about_input: tuple[type[Exception], ...] = (ioukit.DatasetError, OSError, *others)
    try:
        with missing_extra():
            yield
    except FileNotFoundError as error:
        near = [] if error.filename is None else near_files(error.filename)
        end_command(f"{in_words(error)}{did_you_mean(near)}")
    except about_input as error:
        end_command(in_words(error))


@contextlib.contextmanager
def bad_output() -> Iterator[None]:
    """Turns errors about a file that is written into one line and exit code 2.

    It suggests no similar names, because the file need not exist.
    """
    try:
        with missing_extra():
            yield
    except OSError as error:
        end_command(in_words(error))


@contextlib.contextmanager
def missing_extra() -> Iterator[None]:
    """Turns the error about a missing package into one line, which says how to install it, and exit code 2."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ioukit":
            raise
        end_command(str(error))


@contextlib.contextmanager
def no_answer_about_a_path() -> Iterator[None]:
    """Ends the process if the system does not say whether there is a file, with one line and exit code 2.

    For a path without a file, `Path.exists` is ``False``. For a name that is too long, and in a folder that may not be
    entered, it raises, and so does any other question. So this is around a whole command.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENAMETOOLONG, errno.EACCES):
            raise
        typer.echo(f"Error: {one_line(in_words(error))}", err=True)
        raise SystemExit(2) from None


def end_command(message: str) -> NoReturn:
    """Ends the command with one line on stderr and exit code 2."""
    typer.echo(f"Error: {one_line(message)}", err=True)
    raise typer.Exit(2) from None


def one_line(message: str) -> str:
    """A message for a terminal: what files and words of the user hold may be long, and may control the terminal."""
    return printable(message if len(message) <= _LONGEST else f"{message[:_LONGEST]}...")
