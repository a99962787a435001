"""Python's collector of cycles, switched off while many containers are made of which none can be garbage yet."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["collector_off"]


@contextlib.contextmanager
def collector_off() -> Iterator[None]:
    """Within the block, nobody looks for cycles: each look would go through all that the block has made so far.

    The switch is that of the whole process. Blocks in several threads leave it as the first of them found it.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
