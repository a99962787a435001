"""The task that starts all tasks of an evaluation on Ray. It holds references, headers and curves, and no rows.

Owns: which tasks run, in which order, and what a run that goes on need not do again. Does not own: what a task computes
(ray_steps.py), its repetition and its errors (ray_tasks.py), the connection and the result in the caller (ray.py).
It is a task itself, because Ray sends small results to the process that started their task: if the caller started the
tasks, rows would pass through it. More than ``FAN_IN`` parts are merged in a tree, so that no task holds the runs of
all.
"""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit._output import write_whole
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation import MatchTable
from ioukit.evaluation.curves import Curves
from ioukit.evaluation.evaluating import ground_truth_of
from ioukit.scale.engines.ray_steps import (
    SplitRows,
    add_counts,
    check_tables,
    combine_runs,
    count_step,
    cut_step,
    draw_joined,
    draw_of_files,
    draw_of_runs,
    match_step,
    named_part,
    split_step,
)
from ioukit.scale.engines.ray_tasks import Deadline, Task, Tasks, cores_of, value_of
from ioukit.scale.kept_files import checked_digest, reading, with_digest
from ioukit.scale.parts import GroundTruthParts, Job, Range, large_parts, ranges_of_parts
from ioukit.scale.requests import Prepared, Request, check_ground_truth, prepare
from ioukit.scale.table_files import TableFile
from ioukit.scale.work import WorkFolder, work_folder

FAN_IN = 64
"""Parts whose runs one task merges; more parts are merged in a tree."""
_GROUPS_PER_CORE = 2
_MOST_GROUPS = 256
_NONE = Detections.from_coco([])
_INPUT = "input.json"
"""Where a run keeps what the tasks that read the input found."""
_TO_KEEP = "evaluate with work=, a folder that all nodes see, to keep it"


@dataclasses.dataclass(frozen=True)
class Kept:
    """The match table of a part that stays on the cluster, with the names of :class:`TableFile`."""

    header: dict[str, Any]
    """As of :class:`TableFile`."""
    reference: Any
    """The reference of the table."""
    protocol: Any
    """The rules."""

    def read(self) -> MatchTable:
        """The table, brought to this process.

        Raises:
            ConnectionError: If the cluster has it no more, or the connection has ended.
            MemoryError: If there is not enough memory.
        """
        ray = import_extra("ray", extra="ray", needed_by="on='ray'")
        name, lost = "the match table", f"it is lost on the Ray cluster ({_TO_KEEP})"
        if not ray.is_initialized():  # ray.get would start another cluster
            raise ConnectionError(f"{name} is on a Ray cluster, and the connection to it has ended ({_TO_KEEP})")
        try:
            table: MatchTable = value_of(ray, self.reference, name, lost)
        except ValueError as error:
            if "owner is unknown" not in str(error):
                raise
            raise ConnectionError(f"{name} is on another Ray cluster than the connected one ({_TO_KEEP})") from None
        return table


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the conductor returns."""

    tables: tuple[TableFile | Kept, ...]
    """The match tables of all parts: in files, or on the cluster."""
    drawn: Curves | dict[int, Any]
    """The curves: all, or of each category."""
    image_ids: npt.NDArray[Any]
    """(I,) as in :class:`MatchTable`."""
    categories: Categories
    """As in :class:`MatchTable`."""
    sources: tuple[int, int]
    """As in :class:`MatchTable`."""
    dropped: int
    """Records that were left out."""
    notes: tuple[str, ...]
    """Notes about the data."""


def conduct(request: Request, temporary: Path | None, seconds: float | None) -> tuple[list[Any], Outcome]:
    """The evaluation of a request, as a task.

    Args:
        request: What is evaluated.
        temporary: A folder of this machine for the match tables, if Ray is on this machine only.
        seconds: The time limit.
    """
    ray = import_extra("ray", extra="ray", needed_by="on='ray'")
    tasks = Tasks(ray, Deadline(seconds))
    check_ground_truth(request.ground_truth)
    gt = ground_truth_of(request.ground_truth, request.protocol, None)
    prepared = prepare(request, gt, ground_truth_bytes=0, threads=1, multiple_of=cores_of(ray), holds_pieces=True)
    with _folder(request.work, temporary, prepared.described) as (folder, parts):
        run = _Run(ray, tasks, gt, prepared, prepared.cut(parts, by_piece=False)[0], folder)
        return [], run.outcome(prepared.categories)


@contextlib.contextmanager
def _folder(
    work: Path | None, temporary: Path | None, described: dict[str, Any]
) -> Iterator[tuple[WorkFolder | None, int]]:
    """Where the match tables go, ``None`` if they stay on the cluster, and the number of parts."""
    if work is None:
        yield None if temporary is None else WorkFolder(temporary), described["parts"]
        return
    with work_folder(work, described) as (folder, run):
        try:
            yield folder, run["parts"]
        finally:
            for left in (folder.path / "tables").glob(".ioukit-*"):  # of workers that were killed
                shutil.rmtree(left, ignore_errors=True)


@dataclasses.dataclass(frozen=True)
class _Input:
    """What is known of the detections when all of them were read once."""

    rows: int
    """How many detections."""
    dropped: int
    """Records that were left out."""
    notes: tuple[str, ...]
    """Notes about the data."""
    ranges: tuple[Range, ...]
    """The parts, large ones in several ranges."""
    most_rows: int
    """How many detections could be matched at a time when the parts were cut."""

    @property
    def edges(self) -> npt.NDArray[np.int64]:
        """The positions of images at which the ranges begin, and the number of images."""
        return np.array([*(one.first for one in self.ranges), self.ranges[-1].end], np.int64)


def _read_record(folder: Path) -> _Input | None:
    """The record in the folder of a run; ``None`` if there is none.

    Raises:
        DatasetError: If it is damaged.
    """
    path = folder / _INPUT
    if not path.exists():
        return None
    with reading(f"{path}: remove {folder}, and start again; the file is"):
        given = checked_digest(path.read_text(encoding="utf-8"))
        ranges = tuple(Range(*one) for one in given["ranges"])
        return _Input(**{**given, "notes": tuple(given["notes"]), "ranges": ranges})


PartRows: TypeAlias = list[Any]
"""The rows of a part, or of a range of its images: for each piece of the input, the reference of its rows."""


class _Run:
    """The three steps, and what they share."""

    def __init__(
        self, ray: Any, tasks: Tasks, gt: GroundTruth, prepared: Prepared, job: Job, folder: WorkFolder | None
    ) -> None:
        self._ray, self._tasks, self._gt, self._job, self._folder = ray, tasks, gt, job, folder
        self._pieces, self._most_rows = prepared.source.pieces, prepared.budget.most_rows
        self._check_unchanged = prepared.source.check_unchanged
        evaluated = 1 if job.protocol.class_agnostic else len(job.categories or job.known_categories)
        count = max(1, min(evaluated, _GROUPS_PER_CORE * cores_of(ray), _MOST_GROUPS))
        self._groups = [range(group, evaluated, count) for group in range(count)]
        self._starts: list[int] = []
        """The row of the whole input at which each piece begins, as soon as all of them have been read."""

    def outcome(self, categories: Categories) -> Outcome:
        """Split, match and draw."""
        gt, folder = self._gt, self._folder
        record = None if folder is None else _read_record(folder.path)
        if record is not None and record.most_rows > self._most_rows:
            record = None  # the memory was larger then: parts may have to be cut
        redone = [] if record is None else self._without_damaged(record)
        parts: Sequence[PartRows] = ()
        if record is None or self._missing(record):
            known = record
            record, parts = self._split(known)
            redone += [] if known else self._without_damaged(record)
        files = [] if folder is None else [folder.table(one.first, one.end) for one in record.ranges]
        if folder is not None:
            write_whole(folder.path / _INPUT, with_digest(dataclasses.asdict(record)))
        matches = self._match(record, parts) if parts else []
        del parts
        headers = self._tasks.receipts(matches)
        tables: Sequence[TableFile | Kept] = files or [
            Kept(header, task.results[0], self._job.protocol) for header, task in zip(headers, matches, strict=True)
        ]
        sources = (len(gt), record.rows)
        return Outcome(
            tables=tuple(tables),
            drawn=self._draw(tables, matches, sources),
            image_ids=gt.images.labels,
            categories=categories,
            sources=sources,
            dropped=gt.dropped + record.dropped,
            notes=tuple(dict.fromkeys((*gt.notes, *record.notes, *redone, *(() if record.rows else _NONE.notes)))),
        )

    def _without_damaged(self, record: _Input) -> list[str]:
        """Read the tables of an earlier run once, in tasks, and remove those that are damaged: notes about these."""
        files = [] if self._folder is None else [self._folder.table(one.first, one.end) for one in record.ranges]
        tables = [table for table in files if table.folder.is_dir()]
        groups = [tables[first : first + FAN_IN] for first in range(0, len(tables), FAN_IN)]
        checks = [self._tasks.submit("the check of tables", check_tables, group) for group in groups]
        damaged: dict[Path, str] = {}
        for found in self._tasks.receipts(checks):
            damaged |= found
        for path in damaged:
            shutil.rmtree(path)
        return [f"{why}; it was made again" for why in damaged.values()]

    def _missing(self, record: _Input) -> list[int]:
        """The ranges without a table."""
        folder, ranges = self._folder, enumerate(record.ranges)
        return [at for at, one in ranges if folder is None or not folder.table(one.first, one.end).folder.is_dir()]

    def _split(self, record: _Input | None) -> tuple[_Input, list[PartRows]]:
        """Read all pieces: what is known then, and the rows of each range, by reference."""
        job = self._job if record is None else dataclasses.replace(self._job, edges=record.edges)
        shared, pieces = self._ray.put(job), self._ray.put(self._pieces)
        splits = [
            self._tasks.submit(f"piece {number} ({piece.name})", split_step, shared, pieces, number, results=job.parts)
            for number, piece in enumerate(self._pieces)
        ]
        receipts: list[SplitRows] = self._tasks.receipts(splits)
        self._check_unchanged()
        *self._starts, total = np.cumsum([0, *(receipt.rows for receipt in receipts)]).tolist()
        rows = [[task.results[part] for task in splits] for part in range(job.parts)]
        if record is not None:
            return record, rows
        sizes = sum((receipt.sizes for receipt in receipts), np.zeros(job.parts, np.int64))
        large = large_parts(sizes.tolist(), self._most_rows)
        counts = self._counts(job, large, splits) if large else {}
        found = _Input(
            rows=total,
            dropped=sum(receipt.dropped for receipt in receipts),
            notes=tuple(dict.fromkeys(note for receipt in receipts for note in receipt.notes)),
            ranges=tuple(ranges_of_parts(job, counts, self._most_rows)),
            most_rows=self._most_rows,
        )
        return found, self._cut(found, large, rows) if large else rows

    def _counts(self, job: Job, large: Sequence[int], splits: Sequence[Task]) -> dict[int, npt.NDArray[np.int64]]:
        """The detections of each image of the large parts."""
        name, shared = "the count of a part with many detections", self._ray.put(job)
        counts = [
            self._tasks.submit(name, count_step, shared, large, *(task.results[part] for part in large), results=1)
            for task in splits
        ]
        added = self._in_tree(name, add_counts, [task.results[0] for task in counts])
        total = self._tasks.receipts([self._tasks.submit(name, add_counts, *added, results=1)])[0]
        ends = np.cumsum([job.edges[part + 1] - job.edges[part] for part in large])
        return dict(zip(large, np.split(total, ends[:-1]), strict=True))

    def _cut(self, record: _Input, large: Sequence[int], rows: Sequence[PartRows]) -> list[PartRows]:
        """The rows of each range, where parts are cut."""
        edges = [
            np.array([*(one.first for one in record.ranges if one.part == part), self._job.edges[part + 1]])
            for part in large
        ]
        cuts = [
            self._tasks.submit(
                f"the cut of parts with many detections (piece {number})",
                cut_step,
                edges,
                *(rows[part][number] for part in large),
                results=sum(len(of_part) - 1 for of_part in edges),
            )
            for number in range(len(self._pieces))
        ]
        found = {part: [of_part] for part, of_part in enumerate(rows)}
        first = 0
        for part, of_part in zip(large, edges, strict=True):
            end = first + len(of_part) - 1
            found[part] = [[task.results[at] for task in cuts] for at in range(first, end)]
            first = end
        return [one for of_part in found.values() for one in of_part]

    def _match(self, record: _Input, parts: Sequence[PartRows]) -> list[Task]:
        job = dataclasses.replace(self._job, edges=record.edges)
        objects, shared = GroundTruthParts(self._gt), self._ray.put(job)
        folder = self._folder
        return [
            self._tasks.submit(
                named_part(job, place),
                match_step,
                shared,
                place,
                self._ray.put(objects.between(*job.images_of(place))),
                self._starts,
                (len(self._gt), record.rows),
                None if folder is None else folder.table(*job.images_of(place)).folder,
                self._groups,
                *parts[place],
                results=1 + len(self._groups) if folder is None else 0,
            )
            for place in self._missing(record)
        ]

    def _in_tree(self, name: str, function: Callable[..., Any], given: list[Any], *shared: Any) -> list[Any]:
        """References of values, so few that one task can take them: a task adds some of them at a time."""
        while len(given) > FAN_IN:
            groups = [given[first : first + FAN_IN] for first in range(0, len(given), FAN_IN)]
            given = [self._tasks.submit(name, function, *shared, *group, results=1).results[0] for group in groups]
        return given

    def _draw(self, tables: Sequence[Any], matches: Sequence[Task], sources: tuple[int, int]) -> Any:
        protocol = self._job.protocol
        if not protocol.draws_in_parts:
            given = tables if self._folder is not None else [task.results[0] for task in matches]
            return self._tasks.receipts([self._tasks.submit("the curves", draw_joined, sources, *given)])[0]
        draws = []
        for number, group in enumerate(self._groups):
            name = f"the curves of {len(group)} of the categories (group {number} of {len(self._groups)})"
            if self._folder is not None:
                draws.append(self._tasks.submit(name, draw_of_files, protocol, group, tables))
                continue
            runs = self._in_tree(name, combine_runs, [task.results[1 + number] for task in matches], group)
            draws.append(self._tasks.submit(name, draw_of_runs, protocol, group, *runs))
        return {category: curves for group in self._tasks.receipts(draws) for category, curves in group.items()}
