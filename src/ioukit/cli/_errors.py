"""From an exception to the one line and the exit code that a command ends with."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import typer

import ioukit
from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["bad_input", "bad_value", "missing_extra"]


@contextlib.contextmanager
def bad_value(option: str | None) -> Iterator[None]:
    """Turns a `ValueError` into the usage error of `option`."""
    try:
        yield
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from None


@contextlib.contextmanager
def bad_input() -> Iterator[None]:
    """Turns what is wrong with a file into one message and exit code 2; a defect of ioukit keeps its traceback."""
    try:
        yield
    except (ioukit.DatasetError, OSError) as error:
        typer.echo(f"Error: {printable(str(error))}", err=True)
        raise typer.Exit(2) from None


@contextlib.contextmanager
def missing_extra() -> Iterator[None]:
    """Turns a package that is not installed into one message, which says how to install it, and exit code 2."""
    try:
        yield
    except ModuleNotFoundError as error:
        typer.echo(f"Error: {error}", err=True)
        raise typer.Exit(2) from None
