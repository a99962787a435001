"""A bar on the terminal while a command goes through its steps."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ioukit.cli._talk import Talk

__all__ = ["steps"]


@contextlib.contextmanager
def steps(talk: Talk, total: int, *, long: bool) -> Iterator[Callable[[str], None]]:
    """Gives the block a function that begins the next of so many steps, with a few words about it.

    A bar shows them on a terminal, for `long` work. It disappears at the end. Lines are printed after the block.
    """
    if not long or not talk.on_terminal:
        yield lambda _: None
        return
    # Imported here, because the import of Rich takes longer than most work does.
    from rich.console import Console  # noqa: PLC0415
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total, completed=-1)

        def begin(words: str) -> None:
            bar.update(task, description=words, advance=1, refresh=True)

        yield begin
