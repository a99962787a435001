"""How much memory a run may take, and how large its parts can be then."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import numpy as np

from ioukit.datasets import GroundTruth

_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4}
_UNITS = {"": 1, "b": 1}
_UNITS |= {f"{letter}b": 1000**power for letter, power in _POWERS.items()}
_UNITS |= {f"{letter}ib": 1024**power for letter, power in _POWERS.items()}
PROCESS = 230_000_000
"""Python, NumPy, PyArrow and the core, before any data, with the pages of their files."""
PER_THREAD = 40_000_000
"""What a thread that reads holds beside its batch, such as a part of a row group."""
PER_ROW_SPLIT = 350
"""Bytes per detection of a batch that is read and split."""
PER_ROW_PIECE = 250
"""Bytes per detection of a piece whose rows are split in memory: as they are read, and in streams by part."""
PER_ROW_MATCH = 500
"""Bytes per detection of a part that is matched and written."""
PER_ROW_DRAW = 120
"""Bytes per detection of a block that is merged with those of other parts."""
LEAST_BLOCK, MOST_BLOCK = 2_048, 65_536
"""Rows of such a block."""
MOST_ROWS = 1_000_000
"""Larger parts are no faster."""
BATCH_ROWS = 262_144
"""Rows that are read at a time if they are matched at once: more are no faster, and take more memory."""


def parsed_memory(memory: int | str) -> int:
    """Bytes of ``"2GB"``, ``"500 MiB"`` or a number of bytes.

    Raises:
        ValueError: If it is neither.
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?i?b?)\s*", str(memory).lower())
    unit = None if match is None else _UNITS.get(match[2] if match[2].endswith("b") or not match[2] else match[2] + "b")
    if match is None or unit is None or not float(match[1]):
        raise ValueError(f"memory must be a number of bytes, or a text such as '2GB' or '500MiB', got {memory!r}")
    return int(float(match[1]) * unit)


def bytes_of(ground_truth: GroundTruth) -> int:
    """The memory of the columns of a ground truth, about."""
    return sum(_bytes(value) for part in (ground_truth, ground_truth.images) for value in vars(part).values())


def _bytes(value: Any) -> int:
    if isinstance(value, np.ndarray):
        return value.nbytes
    if hasattr(value, "values") and not callable(value.values):
        return 0
    if isinstance(value, dict) or hasattr(value, "items"):
        return sum(_bytes(one) for one in value.values())
    return 24 * len(value) if hasattr(value, "__len__") and not isinstance(value, str) else 0


@dataclasses.dataclass(frozen=True)
class Budget:
    """How much of the data is in memory at a time."""

    batch_rows: int
    """Rows that each thread reads and splits at a time."""
    piece_rows: int
    """Rows of a piece that is split in memory."""
    part_rows: int
    """Detections of a part, on average."""
    most_rows: int
    """Detections that are matched at a time; larger parts are cut."""
    threads: int
    """Steps that run at a time."""
    free: int
    """Bytes for what is not there all the time."""

    def drawing_threads(self, parts: int) -> int:
        """Categories that are drawn at a time: fewer than :attr:`threads` if even the least blocks are too many."""
        return max(1, min(self.threads, self.free // (max(1, parts) * LEAST_BLOCK * PER_ROW_DRAW)))

    def in_order(self, rows: int) -> tuple[int, int]:
        """How many rows of a piece are matched at a time if it is in the order of the images, and how many are read.

        Args:
            rows: The rows of the piece.
        """
        largest = min(self.most_rows, MOST_ROWS)
        cuts = 1 if rows <= largest else -(-5 * rows // (4 * largest))  # batches do not end where an image does
        each = max(1, -(-rows // cuts))
        batch = -(-each // -(-each // BATCH_ROWS))
        return (rows if cuts == 1 else each + batch // 2), batch

    def block_rows(self, parts: int) -> int:
        """Detections of each part that are in memory at a time while the curves of a category are drawn."""
        return max(LEAST_BLOCK, min(MOST_BLOCK, self.free // (self.threads * max(1, parts) * PER_ROW_DRAW)))


def budget_of(memory: int, ground_truth_bytes: int, threads: int) -> Budget:
    """The sizes of batches and parts that fit.

    Raises:
        ValueError: If not even small ones fit.
    """
    given = memory - PROCESS - int(1.5 * ground_truth_bytes)
    while threads > 1 and given / threads < PER_THREAD + 150_000 * PER_ROW_MATCH:
        threads -= 1
    free, least = given - threads * PER_THREAD, 20_000 * PER_ROW_MATCH
    if free < least:
        raise ValueError(
            f"memory of {_size(memory)} is too little: expected at least "
            f"{(memory - free + least) / 1e6:,.0f} MB, of which Python and its libraries take "
            f"{PROCESS / 1e6:,.0f} MB and the ground truth {1.5 * ground_truth_bytes / 1e6:,.0f} MB"
        )
    return Budget(
        batch_rows=min(MOST_ROWS, int(free / threads / PER_ROW_SPLIT)),
        piece_rows=max(1, int(free / threads / PER_ROW_PIECE)),
        part_rows=min(MOST_ROWS, int(free / threads / PER_ROW_MATCH / 1.5)),
        most_rows=int(free / threads / PER_ROW_MATCH),
        threads=threads,
        free=free,
    )


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 1e6 else f"{count:,} bytes"
