"""Python's collector of cycles, switched off while many containers are made of which none can be garbage yet."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator

__all__ = ["collector_off", "made_to_last"]

_MANY = 10_000
"""A choice: below, a look at new objects is over in about a millisecond."""


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


@contextlib.contextmanager
def made_to_last(count: int) -> Iterator[None]:
    """Off within the block, like `collector_off`; what the block made is old afterwards.

    Soon after the block, the collector would look at all of it, as at everything new, and that needs as long as making
    it. What the caller keeps would be looked at in vain. Old objects are looked at when the program has made many more.
    Garbage of the program does not become old: the collector looks for it before the block.

    Args:
        count: About how many containers the block makes; for few, and where a program has frozen objects of its own,
            they stay new.
    """
    lasting = count >= _MANY and gc.isenabled() and not gc.get_freeze_count()
    if lasting:
        gc.collect(1)
    with collector_off():
        yield
        if lasting:
            gc.freeze()
            gc.unfreeze()
