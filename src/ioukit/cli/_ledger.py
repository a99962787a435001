"""What the commands that read a ledger share: `--log`, and how runs are shown."""

from __future__ import annotations

import contextlib
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from ioukit.cli._errors import bad_use
from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ioukit.runs import InputFile, Run

__all__ = ["LedgerOption", "about_runs", "described", "number", "shown_pairs"]

LedgerOption: TypeAlias = Annotated[
    Path, typer.Option("--log", metavar="FILE", help="The ledger, made by `ioukit eval --log`.")
]


@contextlib.contextmanager
def about_runs() -> Iterator[None]:
    """Turns errors about a ledger and its runs into one line and exit code 2."""
    with bad_use():
        try:
            yield
        except LookupError as error:
            raise ValueError(str(error)) from None


def described(run: Run) -> str:
    """A few lines about a run: everything but its numbers."""
    rows = [
        ("run", f"{printable(run.reference)}, id {run.id}, {printable(run.created)}"),
        ("tags", shown_pairs(run.tags)),
        ("values", shown_pairs(run.values)),
        ("protocol", f"{printable(run.protocol)}, {printable(run.iou_type)}"),
        ("options", shown_pairs(run.options)),
        *((printable(one.role.replace("_", " ")), printable(_file(one))) for one in run.inputs),
        ("versions", ", ".join(f"{printable(key)} {printable(text)}" for key, text in run.versions.items())),
        *(("note", printable(note)) for note in run.notes),
    ]
    width = max(len(name) for name, text in rows if text)
    return "\n".join(f"{name:{width}}  {text}" for name, text in rows if text)


def _file(one: InputFile) -> str:
    return f"{one.name}  {one.sha256 or 'not hashed'}"


def shown_pairs(pairs: Mapping[str, object]) -> str:
    """Names and what they have, as ``lr=1e-3, latency=12.3``."""
    return ", ".join(printable(f"{name}={text}" if text != "" else name) for name, text in pairs.items())


def number(value: float) -> str:
    """A number with four decimals; a dash if it is undefined."""
    return "-" if math.isnan(value) else f"{value:.4f}" if abs(value) < 1000 else f"{value:,.1f}"
