"""Signals that stop a command: it removes its unfinished files, then ends."""

from __future__ import annotations

import contextlib
import signal
import threading
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

__all__ = ["stopped_by_signals"]


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise an exception in the block, as Ctrl-C does, so that unfinished files are removed.

    The exit code is that of a shell, 128 plus the number of the signal. A signal that is ignored, as under nohup, stays
    ignored.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names]
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
