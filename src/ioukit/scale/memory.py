"""How much memory a run may take, and how large its parts can be then."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._checks import pluralize
from ioukit.datasets import GroundTruth
from ioukit.evaluation.curves import bytes_of_curves, bytes_of_points
from ioukit.evaluation.protocols import Protocol

PROCESS = 230_000_000
"""Python, NumPy, PyArrow and the core, before any data, with the pages of their files."""
PER_THREAD = 40_000_000
"""What a thread that reads holds beside its batch, such as a part of a row group."""
_BASE, _SPLIT, _MATCH = 120_000_000, 280, 290
"""What the process, a detection of a batch and one of a part took in runs of 1 to 5 million detections. The budget has
more for each of them: the next numbers are the most that any run took."""
PER_ROW_SPLIT = 350
"""Bytes per detection of a batch that is read and split."""
PER_ROW_PIECE = 250
"""Bytes per detection of a piece whose rows are split in memory: as they are read, and in streams by part."""
PER_ROW_MATCH = 500
"""Bytes per detection of a part that is matched and written."""
PER_ROW_DRAW = 120
"""Bytes per detection of a block that is merged with those of other parts."""
PER_ROW_JOINED = 130
"""Bytes per detection where the tables of all parts are joined in memory: they are there twice for a moment."""
PER_CLASS = 3_000
"""Bytes of a class: its names, and its numbers as Python's."""
PER_CLASS_AND_PART = 16
"""Bytes of a class in what is known of a part: its objects to find, and where its rows end."""
LEAST_BLOCK, MOST_BLOCK = 2_048, 65_536
"""Rows of such a block."""
MOST_ROWS = 1 << 20
"""Larger parts are no faster. It is the most that PyArrow writes to a row group of Parquet: none is read in two."""
BATCH_ROWS = 262_144
"""Rows that are read at a time if they are matched at once: more are no faster, and take more memory."""
LEAST_GROUP = 16_000_000
"""Bytes of detections and curves that are drawn together, if there are as many: fewer are no faster."""
Analysis: TypeAlias = Literal["errors", "intervals", "log", "report", "tables"]
ANALYSES: dict[str, tuple[int, int, int, int]] = {
    "errors": (0, 110, 6_000, 0),
    "intervals": (60_000_000, 220, 20_000, 16_000),
    "log": (0, 300, 6_000, 0),
    "report": (0, 540, 48_000, 16_000),
    "tables": (125_000_000, 400, 10_000, 0),
    "comparison": (75_000_000, 470, 50_000, 16_000),
    "analysis": (0, 220, 6_000, 0),
}
"""What is asked of an evaluation and needs the rows of its match table: bytes, those per detection, per class, and per
class and thread. Those of a comparison with another one are per detection of both; the last ones are of anything else.
"""
PER_VALUE = 25
"""Bytes of a number of another data set, which an interval or a test needs, with all that is computed of it."""


def parsed_memory(memory: int | str) -> int:
    """Bytes of ``"2GB"``, ``"500 MiB"`` or a number of bytes.

    Raises:
        ValueError: If it is neither.
    """
    if isinstance(memory, int) and not isinstance(memory, bool) and memory > 0:
        return memory
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(?:([kmgt])(i?))?b?\s*", str(memory).lower())
    if match is None or not float(match[1]):
        raise ValueError(f"memory must be a number of bytes, or a text such as '2GB' or '500MiB', got {memory!r}")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** " kmgt".index(match[2] or " "))


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


class Results(NamedTuple):
    """The most memory that the results of an evaluation take."""

    curves: int = 0
    """Bytes of all curves."""
    summary: int = 0
    """Bytes of the numbers while they are taken from the curves: NumPy adds up all points of a measure at once."""
    classes: int = 0
    """The evaluated categories."""

    @classmethod
    def of(cls, protocol: Protocol, num_objects: npt.NDArray[np.integer[Any]]) -> Results:
        """Those of a protocol, with (E, A) objects to find."""
        curves, points = bytes_of_curves(protocol, num_objects), bytes_of_points(protocol, num_objects)
        return cls(int(curves.sum()), points + len(num_objects) * PER_CLASS, len(num_objects))


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
    """Bytes for the rows from which curves are drawn, and for what is known of each part."""
    classes: int
    """The evaluated categories."""

    def drawing(self, parts: int) -> tuple[int, int]:
        """How many threads draw, and the bytes that each of them has for detections and their curves.

        There are fewer than :attr:`threads` if even the least blocks of all parts are too many.
        """
        free = self.free - parts * self.classes * PER_CLASS_AND_PART
        least = max(1, parts) * LEAST_BLOCK * PER_ROW_DRAW
        threads = max(1, min(self.threads, free // least))
        return threads, max(least, free // threads)

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
        """Detections of each part that are read at a time: half of its share of those that are in memory together."""
        share = self.drawing(parts)[1] // (max(1, parts) * PER_ROW_DRAW)
        return max(LEAST_BLOCK, min(MOST_BLOCK, share // 2))


def budget_of(memory: int, ground_truth_bytes: int, threads: int, results: Results) -> Budget:
    """The sizes of batches and parts that fit.

    Raises:
        ValueError: If not even small ones fit.
    """
    given = memory - PROCESS - int(1.5 * ground_truth_bytes)
    while threads > 1 and given / threads < PER_THREAD + 150_000 * PER_ROW_MATCH:
        threads -= 1
    free, least = given - threads * PER_THREAD, 20_000 * PER_ROW_MATCH
    missing = max(least - free, least + results.curves + results.summary - given)
    if missing > 0:
        raise ValueError(
            f"memory of {_size(memory)} is too little: expected at least "
            f"{math.ceil((memory + missing) / 1e6):,} MB, of which Python and its libraries take "
            f"{PROCESS / 1e6:,.0f} MB, the ground truth {1.5 * ground_truth_bytes / 1e6:,.0f} MB and "
            f"the results of {pluralize(results.classes, 'class')} "
            f"{(results.curves + results.summary) / 1e6:,.0f} MB"
        )
    return Budget(
        batch_rows=min(MOST_ROWS, int(free / threads / PER_ROW_SPLIT)),
        piece_rows=max(1, int(free / threads / PER_ROW_PIECE)),
        part_rows=min(MOST_ROWS, int(free / threads / PER_ROW_MATCH / 1.5)),
        most_rows=int(free / threads / PER_ROW_MATCH),
        threads=threads,
        free=given - results.curves,
        classes=results.classes,
    )


class Load(NamedTuple):
    """What a run has to hold, apart from its steps."""

    memory: int
    """The memory that it should stay under."""
    threads: int
    """How many threads work at the end."""
    ground_truth: int
    """The bytes of the ground truth."""
    results: Results
    rows: int
    """The detections, about."""
    joins: bool
    """Whether the protocol has numbers that need all rows of the match table at once."""
    analyses: Sequence[str]
    """What will be asked of the evaluation."""
    values: int = 0
    """How many numbers of other data sets are kept for it."""

    def _of_rows(self) -> dict[str, int]:
        """The bytes at the end, by what needs all rows."""
        held = _BASE + int(1.5 * self.ground_truth) + self.results.curves
        sizes = {"this protocol": held + self.rows * PER_ROW_JOINED} if self.joins else {}
        counts = 1, self.rows, self.results.classes, self.results.classes * self.threads
        for name in self.analyses:
            sizes[f"the {name}"] = held + int(np.dot(counts, ANALYSES[name])) + self.values * PER_VALUE
        return sizes

    def check(self, hint: str = "") -> None:
        """Refuse what needs all rows, if they do not fit: of several, what needs most.

        Args:
            hint: What to do then.

        Raises:
            ValueError: If so: says what it would need.
        """
        needed, name = max(((needed, name) for name, needed in self._of_rows().items()), default=(0, ""))
        if needed > self.memory:
            raise ValueError(
                f"memory of {_size(self.memory)} is too little for {name}, with the matches of all {self.rows:,} "
                f"detections at once: expected at least {math.ceil(needed / 1e6):,} MB{hint}"
            )

    def expected(self, budget: Budget, split: int, matched: int) -> int:
        """The memory that the run takes at most, by what was measured: less than the budget leaves for each step.

        Args:
            budget: The sizes of batches and parts.
            split: How many detections are split at a time, in all threads.
            matched: How many are matched at a time.
        """
        threads, most = budget.drawing(1)
        drawn = min(threads * most, max(LEAST_GROUP, (self.rows * PER_ROW_DRAW + self.results.curves) // 2))
        drawn = self.results.curves + max(drawn, self.results.summary)
        steps = max(split * _SPLIT, min(matched, self.rows) * _MATCH, drawn)
        return max(_BASE + int(1.5 * self.ground_truth) + steps, *self._of_rows().values(), 0)


def _size(count: int) -> str:
    return f"{count / 1e6:,.0f} MB" if count >= 1e6 else f"{count:,} bytes"
