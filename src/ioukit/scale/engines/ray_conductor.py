"""The task that starts all tasks of an evaluation on Ray. It holds references, headers and curves, and no rows.

Owns: which tasks run, in which order, and what a run that goes on need not do again. Does not own: what a task computes
(ray_steps.py), its repetition and its errors (ray_tasks.py), the connection and the result in the caller (ray.py).
It is a task itself, because Ray sends small results to the process that started their task: if the caller started the
tasks, rows would pass through it. A part is one task and one table, whatever its size: a task matches as many
detections at a time as fit into its memory, and half of them if it was killed for memory. Tried: to cut large parts
into several tasks, which needs two more steps for what is rare.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit._output import write_whole
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation import MatchTable
from ioukit.evaluation.curves import Curves
from ioukit.evaluation.evaluating import ground_truth_of
from ioukit.scale.engines.ray_steps import (
    PieceRows,
    Target,
    check_table,
    draw_joined,
    draw_step,
    match_step,
    named_part,
    read_step,
)
from ioukit.scale.engines.ray_tasks import Deadline, Task, Tasks, cores_of, value_of
from ioukit.scale.in_order import OutOfPlaceError
from ioukit.scale.kept_files import checked_digest, reading, with_digest
from ioukit.scale.memory import PER_ROW_DRAW, PER_ROW_JOINED, PER_ROW_MATCH, PER_ROW_PIECE, PROCESS
from ioukit.scale.parts import GroundTruthParts
from ioukit.scale.requests import Prepared, Request, check_ground_truth, prepare
from ioukit.scale.sources.source import Piece
from ioukit.scale.table_files import TableFile
from ioukit.scale.work import WorkFolder, remove_left, work_folder

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


def conduct(
    request: Request, temporary: Path | None, seconds: float | None, left: float | None
) -> tuple[list[Any], Outcome]:
    """The evaluation of a request, as a task.

    Args:
        request: What is evaluated.
        temporary: A folder of this machine for the match tables, if Ray is on this machine only.
        seconds: The time limit.
        left: What is left of it.
    """
    ray = import_extra("ray", extra="ray", needed_by="on='ray'")
    tasks = Tasks(ray, Deadline(seconds, left))
    check_ground_truth(request.ground_truth)
    gt = ground_truth_of(request.ground_truth, request.protocol, None)
    prepared = prepare(request, gt, ground_truth_bytes=0, threads=1, multiple_of=cores_of(ray), holds_pieces=True)
    with _folder(request.work, temporary, prepared.described) as (folder, run):
        try:
            return [], _Run(tasks, gt, prepared, run, folder).outcome()
        except OutOfPlaceError:  # known only now: nothing that was done is of use
            run["by_piece"] = False
            if folder is not None:
                folder.start_again(run)
            return [], _Run(tasks, gt, prepared, run, folder).outcome()


@contextlib.contextmanager
def _folder(
    work: Path | None, temporary: Path | None, described: dict[str, Any]
) -> Iterator[tuple[WorkFolder | None, dict[str, Any]]]:
    """Where the match tables go, ``None`` if they stay on the cluster, and the job."""
    if work is None:
        yield None if temporary is None else WorkFolder(temporary), dict(described)
        return
    with work_folder(work, described) as (folder, run):
        try:
            yield folder, run
        finally:
            remove_left(folder.path)  # of workers that were killed


def _read_record(path: Path) -> dict[str, Any]:
    """What is known of the detections when all of them were read once: ``rows``, ``dropped`` and ``notes``.

    Raises:
        DatasetError: If the file of an earlier run is damaged.
    """
    with reading(f"{path}: remove {path.parent}, and start again; the file is"):
        return checked_digest(path.read_text(encoding="utf-8"))


class _Run:
    """The three steps, and what they share. What the folder has is not done again."""

    def __init__(
        self, tasks: Tasks, gt: GroundTruth, prepared: Prepared, run: Mapping[str, Any], folder: WorkFolder | None
    ) -> None:
        self._tasks, self._gt, self._budget = tasks, gt, prepared.budget
        self._pieces, self._categories = prepared.source.pieces, prepared.categories
        self._check_unchanged = prepared.source.check_unchanged
        job, self._owned = prepared.cut(run["parts"], by_piece=run["by_piece"])
        self._job = job
        self._objects, self._shared = GroundTruthParts(gt), tasks.ray.put(job)
        self._record = None if folder is None else folder.path / _INPUT
        if folder is not None and self._owned:  # a task that ends late must not write to those that are made by a split
            folder = WorkFolder(folder.path / "by_piece")
        self._files = [] if folder is None else [folder.table(*job.images_of(part)) for part in range(job.parts)]
        evaluated = 1 if job.protocol.class_agnostic else len(job.categories or job.known_categories)
        count = max(1, min(evaluated, _GROUPS_PER_CORE * cores_of(tasks.ray), _MOST_GROUPS))
        self._groups = [range(group, evaluated, count) for group in range(count)]
        self._results = 0 if self._files else 1 + len(self._groups)

    def outcome(self) -> Outcome:
        """Read, match and draw."""
        gt = self._gt
        record = None if self._record is None or not self._record.exists() else _read_record(self._record)
        redone = self._without_damaged()
        missing = [part for part in range(self._job.parts) if not self._files or not self._files[part].path.is_file()]
        kept: dict[int, tuple[Any, list[Any]]] = {}
        if record is None or missing:
            record, kept = self._made(record, missing)
        tables: Sequence[TableFile | Kept] = self._files or [
            Kept(header, results[0], self._job.protocol) for _, (header, results) in sorted(kept.items())
        ]
        runs = [results[1:] for _, (_, results) in sorted(kept.items())]
        sources = (len(gt), record["rows"])
        notes = dict.fromkeys((*gt.notes, *record["notes"], *redone, *(() if record["rows"] else _NONE.notes)))
        return Outcome(
            tables=tuple(tables),
            drawn=self._draw(tables, runs, sources),
            image_ids=gt.images.labels,
            categories=self._categories,
            sources=sources,
            dropped=gt.dropped + record["dropped"],
            notes=tuple(notes),
        )

    def _without_damaged(self) -> list[str]:
        """Read the tables of an earlier run once, in tasks, and remove those that are damaged: notes about these."""
        tables = [table for table in self._files if table.path.is_file()]
        found = self._tasks.receipts([self._tasks.submit("the check of a table", check_table, one) for one in tables])
        for table in (table for table, why in zip(tables, found, strict=True) if why):
            table.path.unlink()
        return [f"{why}; it was made again" for why in found if why]

    def _parts_of(self, piece: Piece) -> range:
        """The parts that a piece may have: by its file if pieces own parts, else all."""
        if not self._owned:
            return range(self._job.parts)
        low, high = piece.image_ids or (1, 0)  # one without rows says nothing
        first, end = (np.searchsorted(self._job.images.ids, [low, high + 1])).tolist()
        return range(*(np.searchsorted(self._job.edges, [first, end - 1], side="right") - [1, 0]).tolist())

    def _made(
        self, record: dict[str, Any] | None, missing: Sequence[int]
    ) -> tuple[dict[str, Any], dict[int, tuple[Any, list[Any]]]]:
        """Read the pieces that have rows of missing parts, and match these: what is known of the input then.

        Also the header and the results of each table that stays on the cluster, by part.
        """
        wanted = [self._parts_of(piece) for piece in self._pieces]
        numbers = [at for at, parts in enumerate(wanted) if record is None or not set(parts).isdisjoint(missing)]
        *starts, total = np.cumsum([0, *(piece.rows or 0 for piece in self._pieces)]).tolist()
        sources = (len(self._gt), total)
        names = self._tasks.ray.put(self._pieces[0].names if self._pieces else None)
        reads = [self._read(at, names, wanted[at], missing, starts[at], sources) for at in numbers]
        receipts: list[PieceRows] = self._tasks.receipts(reads)
        self._check_unchanged()
        if not self._owned:  # all pieces have been read
            *starts, total = np.cumsum([0, *(receipt.rows for receipt in receipts)]).tolist()
            sources = (len(self._gt), total)
        if record is None:
            notes = dict.fromkeys(note for receipt in receipts for note in receipt.notes)
            record = {"rows": total, "dropped": sum(receipt.dropped for receipt in receipts), "notes": list(notes)}
            if self._record is not None:
                write_whole(self._record, with_digest(record))
        kept = {
            self._owned[number]: (receipt.header, task.results[len(wanted[number]) :])
            for number, task, receipt in zip(numbers, reads, receipts, strict=True)
            if receipt.header is not None
        }
        sizes = sum((receipt.sizes for receipt in receipts), np.zeros(self._job.parts, np.int64)).tolist()
        rows = {part: list[tuple[int, Any]]() for part in missing if part not in self._owned.values()}
        for number, task in zip(numbers, reads, strict=True):
            for part, reference in zip(wanted[number], task.results, strict=False):
                if part in rows:
                    rows[part].append((starts[number], reference))
        del reads  # a reference that nobody holds can go as soon as its rows are matched
        others = list(rows)
        matches = [self._match(self._target(part, sources), sizes[part], rows.pop(part)) for part in others]
        for part, header, task in zip(others, self._tasks.receipts(matches), matches, strict=True):
            kept[part] = (header, task.results)
        return record, kept

    def _target(self, part: int, sources: tuple[int, int]) -> Target:
        path = self._files[part].path if self._files else None
        return Target(part, sources, self._budget.block_rows(self._job.parts), path, self._groups)

    def _read(
        self, number: int, names: Any, wanted: range, missing: Sequence[int], start: int, sources: tuple[int, int]
    ) -> Task:
        piece, own = dataclasses.replace(self._pieces[number], names=None), self._owned.get(number)
        rows = piece.estimated_rows
        most_rows, memory, objects, results = piece.batch_rows, rows * PER_ROW_PIECE, None, len(wanted)
        target = None if own is None else self._target(own, sources)
        if own is not None and own in missing:
            most_rows, objects = self._budget.in_order(rows)[0], self._objects_of(own)
            memory, results = max(most_rows * PER_ROW_MATCH, rows * PER_ROW_JOINED), results + self._results
        given = (self._shared, names, piece, wanted, start, target, objects)
        name, memory = f"piece {number} ({piece.name})", PROCESS + memory
        return self._tasks.submit(name, read_step, *given, results=results, memory=memory, rows=max(1, most_rows))

    def _match(self, target: Target, size: int, rows: Sequence[tuple[int, Any]]) -> Task:
        most_rows, name = max(1, min(size, self._budget.most_rows)), named_part(self._job, target.part)
        memory = PROCESS + max(most_rows * PER_ROW_MATCH, size * PER_ROW_JOINED)
        starts, references = [start for start, _ in rows], [reference for _, reference in rows]
        given = (self._shared, target, self._objects_of(target.part), starts, *references)
        return self._tasks.submit(name, match_step, *given, results=self._results, memory=memory, rows=most_rows)

    def _objects_of(self, part: int) -> Any:
        return self._tasks.ray.put(self._objects.between(*self._job.images_of(part)))

    def _draw(self, tables: Sequence[Any], runs: Sequence[Sequence[Any]], sources: tuple[int, int]) -> Any:
        protocol, submit, rows = self._job.protocol, self._tasks.submit, sources[1]
        if not protocol.draws_in_parts:
            given, memory = self._files or [table.reference for table in tables], PROCESS + rows * PER_ROW_JOINED
            return self._tasks.receipts([submit("the curves", draw_joined, sources, *given, memory=memory)])[0]
        draws, memory = [], PROCESS + min(self._budget.free, rows * PER_ROW_DRAW)
        for number, group in enumerate(self._groups):
            name = f"the curves of {len(group)} of the categories (group {number} of {len(self._groups)})"
            parts = self._files or [of_part[number] for of_part in runs]
            draws.append(submit(name, draw_step, protocol, group, *parts, memory=memory))
        return {category: curves for group in self._tasks.receipts(draws) for category, curves in group.items()}
