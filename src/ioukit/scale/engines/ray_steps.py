"""The steps of an evaluation in parts as tasks: functions of values, which give results that stay on the cluster."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Bytes, Counts
from ioukit._optional import import_extra
from ioukit.datasets import GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation import MatchTable, accumulate
from ioukit.evaluation.protocols import Protocol
from ioukit.scale.merging import merged, sorted_rows
from ioukit.scale.parts import Job, counts_per_image
from ioukit.scale.stages import draw, match_part, split
from ioukit.scale.stored_table import joined
from ioukit.scale.table_files import BLOCK_ROWS, Run, TableFile, header_of, write_table


def check_tables(tables: Sequence[TableFile]) -> tuple[list[Any], dict[Path, str]]:
    """Compare the files of tables with their checksums: the folders that are damaged, and why."""
    found = {table.folder: _damage(table) for table in tables}
    return [], {folder: why for folder, why in found.items() if why}


def _damage(table: TableFile) -> str:
    try:
        table.check()
    except DatasetError as error:
        return str(error)
    return ""


class SplitRows(NamedTuple):
    """The receipt of a piece of the input that was split."""

    rows: int
    dropped: int
    """Records that were left out."""
    notes: tuple[str, ...]
    sizes: npt.NDArray[np.int64]
    """(P,) rows of each part."""


def split_step(job: Job, pieces: Sequence[Any], number: int) -> tuple[list[Bytes], SplitRows]:
    """The rows of a piece of the input for each part, as a stream of Arrow; none is no bytes."""
    arrow = import_extra("pyarrow", extra="ray", needed_by="on='ray'")
    batches: list[list[Any]] = [[] for _ in range(job.parts)]
    rows, dropped, notes = 0, 0, dict[str, None]()
    for detections in pieces[number].read():
        for listed, batch in zip(batches, split(job, detections, rows), strict=True):
            if batch.num_rows:
                listed.append(batch)
        rows, dropped = rows + len(detections), dropped + detections.dropped
        notes |= dict.fromkeys(detections.notes)
    sizes = np.array([sum(batch.num_rows for batch in listed) for listed in batches], np.int64)
    return [_packed(arrow, listed) for listed in batches], SplitRows(rows, dropped, tuple(notes), sizes)


def count_step(job: Job, large: Sequence[int], *packed: Bytes) -> tuple[list[Counts], None]:
    """How many rows of a piece each image of some parts has, one part after the other.

    Args:
        job: The job.
        large: The numbers of the parts.
        packed: The rows of the piece for each of them.
    """
    counts = []
    for part, stream in zip(large, packed, strict=True):
        first, end = job.images_of(part)
        of_part = np.zeros(end - first, np.int64)
        for _, rows in _unpacked([stream], [0], named_part(job, part)):
            of_part += counts_per_image(job, part, rows)
        counts.append(of_part)
    return [np.concatenate(counts)], None


def add_counts(*counts: Counts) -> tuple[list[Counts], Counts]:
    """The sum of what :func:`count_step` gives for several pieces."""
    total: Counts = np.sum(counts, axis=0)
    return [total], total


def cut_step(edges: Sequence[npt.NDArray[np.int64]], *packed: Bytes) -> tuple[list[Bytes], None]:
    """The rows of a piece for each range of images of some parts, one part after the other.

    Args:
        edges: For each of the parts, the positions of images at which its ranges begin, and that behind the last image.
        packed: The rows of the piece for each of the parts.
    """
    arrow = import_extra("pyarrow", extra="ray", needed_by="on='ray'")
    cut: list[Bytes] = []
    for of_part, stream in zip(edges, packed, strict=True):
        batches: list[list[Any]] = [[] for _ in of_part[1:]]
        for _, rows in _unpacked([stream], [0], "a part with many detections"):
            which = np.searchsorted(of_part, rows.column("place").to_numpy(), side="right") - 1
            if (which[1:] < which[:-1]).any():
                rows = rows.take(arrow.array(np.argsort(which, kind="stable")))  # noqa: PLW2901 - the same rows, sorted
            ends = np.cumsum(np.bincount(which, minlength=len(batches))).tolist()
            for listed, first, end in zip(batches, [0, *ends], ends, strict=False):
                if end > first:
                    listed.append(rows.slice(first, end - first))
        cut += [_packed(arrow, listed) for listed in batches]
    return cut, None


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
    """The detections of some categories of one part, or of several: what curves are drawn from."""

    header: dict[str, Any]
    """As of :class:`TableFile`: only ``num_objects`` is needed."""
    ends: dict[int, tuple[int, int]]
    """The rows of each category of the group."""
    rows: Run
    """One category after another, each in falling order of score."""

    def blocks(self, category: int) -> Iterator[Run]:
        """As :meth:`TableFile.blocks`."""
        first, end = self.ends[category]
        for start in range(first, end, BLOCK_ROWS):
            yield self.rows.cut(start, min(start + BLOCK_ROWS, end))


def match_step(
    job: Job,
    part: int,
    objects: tuple[GroundTruth, npt.NDArray[np.int64]],
    starts: Sequence[int],
    sources: tuple[int, int],
    folder: Path | None,
    groups: Sequence[range],
    *packed: Bytes,
) -> tuple[list[Any], dict[str, Any] | None]:
    """The match table of a part: written to a folder that all nodes see, or kept on the cluster.

    If it is kept, the results are the table, then the runs of each group of categories; the receipt is its header.
    """
    batches = _unpacked(packed, starts, named_part(job, part))
    table = match_part(job, job.images_of(part)[0], objects, batches, sources=sources, threads=1)
    if folder is None:
        header = header_of(table)
        return [table, *_runs(table, header, groups)], header
    try:
        write_table(table, folder)
    except OSError:  # a task that ran twice: the other one was first, and its table is the same
        if not (folder / "header.json").exists():
            raise
    return [], None


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
                {"num_objects": header["num_objects"]},
                {one: (counts[at], counts[at + 1]) for at, one in enumerate(group)},
                Run(rows.rank[taken], rows.score[taken], rows.matched[taken], rows.ignored[taken]),
            )
        )
    return runs


def combine_runs(group: range, *parts: GroupRuns) -> tuple[list[GroupRuns], None]:
    """The runs of parts that follow each other as those of one part."""
    ends: dict[int, tuple[int, int]] = {}
    slabs: list[Run] = []
    rows = 0
    for category in group:
        first = rows
        for slab in merged([part.blocks(category) for part in parts]):
            slabs.append(slab)
            rows += len(slab.score)
        ends[category] = (first, rows)
    objects = np.sum([part.header["num_objects"] for part in parts], axis=0)
    joined_rows = Run.joined([sorted_rows(slab) for slab in slabs]) if slabs else parts[0].rows.cut(0, 0)
    return [GroupRuns({"num_objects": objects}, ends, joined_rows)], None


def draw_of_runs(protocol: Protocol, group: range, *parts: GroupRuns) -> tuple[list[Any], dict[int, Any]]:
    """The curves of the categories of a group, by the position of each."""
    return [], {category: draw(protocol, category, parts) for category in group}


def draw_of_files(protocol: Protocol, group: range, files: Sequence[TableFile]) -> tuple[list[Any], dict[int, Any]]:
    """The same from the tables in a folder that all nodes see."""
    return [], {category: draw(protocol, category, files) for category in group}


def draw_joined(sources: tuple[int, int], *tables: MatchTable | TableFile) -> tuple[list[Any], Any]:
    """The curves of rules that need the rows of all images at once."""
    read = [table if isinstance(table, MatchTable) else table.read() for table in tables]
    return [], accumulate(joined(read, sources), threads=1)
