"""Lines that a command writes to stderr while it works."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from ioukit.cli._output import discard

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Talk"]


class Talk:
    """Lines for a person; scripts read only stdout.

    Args:
        quiet: Print nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        # If stderr is closed, print(file=None) would write to stdout.
        self._stream = None if quiet else sys.stderr

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is printed."""
        return self._stream is None

    @property
    def on_terminal(self) -> bool:
        """Whether a person may be watching."""
        return self._stream is not None and self._stream.isatty()

    def say(self, line: str) -> None:
        """Prints one line."""
        if self._stream is None:
            return
        try:
            print(line, file=self._stream, flush=True)
        except OSError:  # stderr is closed or its disk is full; the results do not depend on it
            discard(self._stream)
            self._stream = None

    @contextlib.contextmanager
    def busy(self, text: str, *, long: bool) -> Iterator[None]:
        """Shows that work goes on: a spinner, for `long` work and on a terminal only.

        Rich is imported here, because its import takes longer than most work does.
        """
        if not long or not self.on_terminal:
            yield
            return
        from rich.console import Console  # noqa: PLC0415

        with Console(stderr=True).status(text):
            yield
