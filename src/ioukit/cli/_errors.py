"""From an exception to the one line and the exit code that a command ends with.

An error is shown as one line, with exit code 2, only where it must be about what the user gave. Every other error is a
defect of ioukit and keeps its traceback. So each block of a command stands in the context for the kind of its work:

- `bad_use`: options and data are checked. Here a `ValueError` is about them.
- `bad_input`: files are read, and numbers computed. Here only a `DatasetError` or an `OSError` is.
- `bad_output`: files are written. Here only an `OSError` is.

In all, a package that is not installed is one line, too.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, NoReturn

import typer

import ioukit
from ioukit.cli._near_names import did_you_mean, near_files
from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["bad_input", "bad_output", "bad_use", "bad_value", "missing_extra"]


@contextlib.contextmanager
def bad_value(option: str | None) -> Iterator[None]:
    """Turns a `ValueError` into the usage error of `option`."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


@contextlib.contextmanager
def bad_use() -> Iterator[None]:
    """Turns what is wrong with options, data and files into one message and exit code 2; for checks before the work."""
    try:
        with bad_input():
            yield
    except ValueError as error:
        _end(str(error))


@contextlib.contextmanager
def bad_input(*others: type[Exception]) -> Iterator[None]:
    """Turns what is wrong with a file into one message and exit code 2; other errors keep their traceback.

    For a missing file, the message offers the names of files that exist. `others` are further classes of errors that
    are about the input in this block.
    """
    about_input: tuple[type[Exception], ...] = (ioukit.DatasetError, OSError, *others)
    try:
        with missing_extra():
            yield
    except FileNotFoundError as error:
        near = [] if error.filename is None else near_files(error.filename)
        _end(f"{error}{did_you_mean(near)}")
    except about_input as error:
        _end(str(error))


@contextlib.contextmanager
def bad_output() -> Iterator[None]:
    """Turns what is wrong with a file to write into one message and exit code 2.

    No other name is offered: a file that is written need not exist.
    """
    try:
        with missing_extra():
            yield
    except OSError as error:
        _end(str(error))


@contextlib.contextmanager
def missing_extra() -> Iterator[None]:
    """Turns a package that is not installed into one message, which says how to install it, and exit code 2."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "ioukit":
            raise
        _end(str(error))


def _end(message: str) -> NoReturn:
    typer.echo(f"Error: {printable(message)}", err=True)
    raise typer.Exit(2) from None
