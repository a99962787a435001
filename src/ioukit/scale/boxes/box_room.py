"""How many boxes and pairs a task of a join may hold in memory."""

from __future__ import annotations

from dataclasses import dataclass

from ioukit.scale.memory import parsed_memory

__all__ = ["Room", "room_of"]

_PROCESS = 90_000_000
"""Python, NumPy and the core, before any data."""
_PER_BOX = 140
"""Bytes per box of a cell that is joined: its record, its columns in the order of rows, and the index of the join."""
_PER_RANKED_BOX = 280
"""Bytes per box of a cell whose boxes are suppressed: its record, in the order of scores, and as a survivor."""
_PER_PAIR = 110
"""Bytes per pair: as the core collects and sorts it, its rows in the input, the copy that is written; or in a merge."""
_PER_BOX_OF_CHUNK = 450
"""Bytes per box of a chunk that is cut, and of one that waits for its guests."""
_LEAST = 20_000_000


@dataclass(frozen=True)
class Room:
    """Numbers of boxes and pairs that are in memory at a time."""

    boxes: int
    """Boxes of a cell, with the guests."""
    chunk: int
    """Boxes that are read or cut at a time."""
    pairs: int
    """Pairs that are found at a time."""
    sample: int
    """Boxes of the sample that decides the cut."""


def room_of(memory: int | str, *, ranked: bool) -> Room:
    """The room that a process has.

    Args:
        memory: The bytes that the process should take.
        ranked: Whether boxes are suppressed, not joined.

    Raises:
        ValueError: If ``memory`` is not a size, or too small.
    """
    free = parsed_memory(memory) - _PROCESS
    if free < _LEAST:
        raise ValueError(f"memory must be at least {(_PROCESS + _LEAST) / 1e6:.0f}MB, got {memory!r}")
    return Room(
        boxes=int(free * 0.6 / (_PER_RANKED_BOX if ranked else _PER_BOX)),
        chunk=min(int(free * 0.8 / _PER_BOX_OF_CHUNK), 1 << 20),
        pairs=int(free * 0.4 / _PER_PAIR),
        sample=1 << 16,
    )
