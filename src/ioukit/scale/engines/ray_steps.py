"""The steps of an evaluation in parts as tasks: functions of values, which give results that stay on the cluster."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Bytes
from ioukit._optional import import_extra
from ioukit.datasets import GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation import MatchTable, accumulate
from ioukit.evaluation.protocols import Protocol
from ioukit.scale.in_order import OutOfPlaceError, RowsInOrder
from ioukit.scale.parts import GroundTruthParts, Job, counts_per_image, edges_of_ranges, rows_of_images
from ioukit.scale.sources.source import Piece
from ioukit.scale.stages import draw, match_part, split
from ioukit.scale.stored_table import joined
from ioukit.scale.table_files import Run, TableFile, header_of, write_table


def check_table(table: TableFile) -> tuple[list[Any], str]:
    """Compare the file of a table with its checksum: what is wrong with it, if something is."""
    try:
        table.check()
    except DatasetError as error:
        return [], str(error)
    return [], ""


class PieceRows(NamedTuple):
    """The receipt of a piece of the input that was read."""

    rows: int
    dropped: int
    """Records that were left out."""
    notes: tuple[str, ...]
    sizes: npt.NDArray[np.int64]
    """(P,) rows of each part that were not matched at once."""
    header: dict[str, Any] | None
    """Of the table of the part that the piece has alone, if it is kept on the cluster."""


Objects: TypeAlias = tuple[GroundTruth, npt.NDArray[np.int64]]
"""The images of a part with their objects, and the rows of these in the whole ground truth."""


class Target(NamedTuple):
    """What is made of the rows of a part."""

    part: int
    sources: tuple[int, int]
    """As of :class:`MatchTable`."""
    block_rows: int
    """How many detections are read at a time when curves are drawn."""
    path: Path | None
    """The file to which the table is written; ``None`` if it is kept on the cluster."""
    groups: Sequence[range]
    """The categories whose curves one task draws."""


class _PartTable:
    """The match table of a part, from ranges of its images that are matched one after the other."""

    def __init__(self, job: Job, target: Target, objects: Objects) -> None:
        self._job, self._target, self._rows = job, target, objects[1]
        self._objects = GroundTruthParts(objects[0])
        self._first = job.images_of(target.part)[0]
        self._tables = list[MatchTable]()

    def add(self, first: int, end: int, batches: Sequence[tuple[int, Any]]) -> None:
        """Match images from one position to before another one."""
        chosen, order = self._objects.between(first - self._first, end - self._first)
        objects, sources = (chosen, self._rows[order]), self._target.sources
        self._tables.append(match_part(self._job, first, objects, batches, sources=sources, threads=1))

    def finish(self) -> tuple[list[Any], dict[str, Any] | None]:
        """Write the table; if it is kept: it, then the runs of each group of categories, and its header."""
        target = self._target
        table = self._tables[0] if len(self._tables) == 1 else joined(self._tables, target.sources)
        if target.path is None:
            header = header_of(table)
            return [table, *_runs(table, {**header, "block_rows": target.block_rows}, target.groups)], header
        write_table(table, target.path, block_rows=target.block_rows)
        return [], None


def read_step(
    most_rows: int,
    job: Job,
    names: Any,
    piece: Piece,
    wanted: range,
    start: int,
    target: Target | None,
    objects: Objects | None,
) -> tuple[list[Any], PieceRows]:
    """The rows of a piece of the input for each part that it has, as a stream of Arrow; none is no bytes.

    Behind them, what is made of the part that it has alone. The rows of this part are matched while they are read.

    Args:
        most_rows: How many rows of its own part are matched at a time. No more than that are read at a time.
        job: The job.
        names: Those of :class:`Piece`, which all pieces share.
        piece: The piece, without them.
        wanted: The parts that it may have.
        start: The row of the whole input at which it begins.
        target: What is made of the part that it has alone, if there is one.
        objects: Those of this part; ``None`` if it has been made.

    Raises:
        OutOfPlaceError: If it has other rows than its file says.
    """
    arrow = import_extra("pyarrow", extra="ray", needed_by="on='ray'")
    own, batches = None if target is None else target.part, {part: list[Any]() for part in wanted}
    table = in_order = None
    if target is not None and objects is not None:
        table = made = _PartTable(job, target, objects)

        def match_rows(first: int, end: int, given: Sequence[Any]) -> None:
            made.add(first, end, [(start, batch) for batch in given])

        in_order = RowsInOrder(job.images_of(target.part), most_rows, match_rows)
    rows, dropped, notes = 0, 0, dict[str, None]()
    for detections in dataclasses.replace(piece, names=names, batch_rows=min(piece.batch_rows, most_rows)).read():
        for part, batch in enumerate(split(job, detections, rows)):
            if batch.num_rows and part not in batches:
                raise OutOfPlaceError
            if batch.num_rows and part != own:
                batches[part].append(batch)
            elif batch.num_rows and in_order is not None:
                in_order.add(batch)
        rows, dropped = rows + len(detections), dropped + detections.dropped
        notes |= dict.fromkeys(detections.notes)
    if len(wanted) < job.parts and rows != piece.rows:
        raise OutOfPlaceError
    results, header = [_packed(arrow, listed) for listed in batches.values()], None
    if in_order is not None and table is not None:
        in_order.finish()
        made_of_own, header = table.finish()
        results += made_of_own
    sizes = np.zeros(job.parts, np.int64)
    sizes[list(wanted)] = [sum(batch.num_rows for batch in listed) for listed in batches.values()]
    return results, PieceRows(rows, dropped, tuple(notes), sizes, header)


def _packed(arrow: Any, batches: Sequence[Any]) -> Bytes:
    if not batches:
        return np.zeros(0, np.uint8)
    if any(batch.schema != batches[0].schema for batch in batches):
        raise DatasetError("the detections of one piece differ in their columns")
    sink = arrow.BufferOutputStream()
    with arrow.ipc.new_stream(sink, batches[0].schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return np.frombuffer(sink.getvalue(), np.uint8)


def _unpacked(packed: Sequence[Bytes], starts: Sequence[int], part: str) -> Iterator[tuple[int, Any]]:
    arrow = import_extra("pyarrow", extra="ray", needed_by="on='ray'")
    for piece, start in zip(packed, starts, strict=True):
        if len(piece):
            try:
                with arrow.ipc.open_stream(arrow.py_buffer(piece)) as reader:
                    for batch in reader:
                        yield start, batch
            except (arrow.ArrowException, OSError) as error:
                raise DatasetError(f"{part}: its rows are cut or damaged: {error}") from None


def named_part(job: Job, part: int) -> str:
    """A part in messages: its number, and its first and last image."""
    images = job.images.labels[job.edges[part] : job.edges[part + 1]]
    span = f" (images {images[0]} to {images[-1]})" if len(images) else ""
    return f"part {part} of {job.parts}{span}"


@dataclasses.dataclass(frozen=True)
class GroupRuns:
    """The detections of some categories of one part: what curves are drawn from."""

    header: dict[str, Any]
    """As of :class:`TableFile`: ``num_objects`` and ``block_rows``."""
    ends: dict[int, tuple[int, int]]
    """The rows of each category of the group."""
    rows: Run
    """One category after another, each in falling order of score."""

    def blocks(self, category: int) -> Iterator[Run]:
        """As :meth:`TableFile.blocks`."""
        first, end = self.ends[category]
        for start in range(first, end, self.header["block_rows"]):
            yield self.rows.cut(start, min(start + self.header["block_rows"], end))


def match_step(
    most_rows: int, job: Job, target: Target, objects: Objects, starts: Sequence[int], *packed: Bytes
) -> tuple[list[Any], dict[str, Any] | None]:
    """What is made of the rows of a part, of which at most ``most_rows`` are matched at a time, in whole images."""
    batches, (first, end) = list(_unpacked(packed, starts, named_part(job, target.part))), job.images_of(target.part)
    counts = sum((counts_per_image(job, target.part, rows) for _, rows in batches), np.zeros(end - first, np.int64))
    table = _PartTable(job, target, objects)
    for one, other in itertools.pairwise(first + edge for edge in edges_of_ranges(counts, most_rows)):
        table.add(one, other, [(start, rows_of_images(batch, one, other)) for start, batch in batches])
    return table.finish()


def _runs(table: MatchTable, header: dict[str, Any], groups: Sequence[range]) -> list[GroupRuns]:
    rows = table.detections
    category = table.evaluated_category(rows.category)
    order, ends = _core.order_by_category(category, rows.score, len(table.evaluated), 1)
    edges = [0, *ends.tolist()]
    runs = []
    for group in groups:
        chosen = [order[edges[one] : edges[one + 1]] for one in group]
        counts = np.cumsum([0, *map(len, chosen)]).tolist()
        taken = np.concatenate(chosen) if chosen else np.zeros(0, np.int64)
        runs.append(
            GroupRuns(
                {name: header[name] for name in ("num_objects", "block_rows")},
                {one: (counts[at], counts[at + 1]) for at, one in enumerate(group)},
                Run(rows.rank[taken], rows.score[taken], rows.matched[taken], rows.ignored[taken]),
            )
        )
    return runs


def draw_step(protocol: Protocol, group: range, *parts: GroupRuns | TableFile) -> tuple[list[Any], dict[int, Any]]:
    """The curves of the categories of a group, by the position of each."""
    return [], {category: draw(protocol, category, parts) for category in group}


def draw_joined(sources: tuple[int, int], *tables: MatchTable | TableFile) -> tuple[list[Any], Any]:
    """The curves of rules that need the rows of all images at once."""
    read = [table if isinstance(table, MatchTable) else table.read() for table in tables]
    return [], accumulate(joined(read, sources), threads=1)
