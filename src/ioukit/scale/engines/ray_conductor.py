"""The task that starts all tasks of an evaluation on Ray. It holds references, headers and curves, and no rows."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit.datasets import Categories, GroundTruth
from ioukit.evaluation import MatchTable
from ioukit.evaluation.curves import Curves
from ioukit.evaluation.evaluating import ground_truth_of
from ioukit.scale.engines.ray_steps import (
    combine_runs,
    draw_joined,
    draw_of_files,
    draw_of_runs,
    match_step,
    named_part,
    split_step,
)
from ioukit.scale.engines.ray_tasks import Deadline, Task, Tasks
from ioukit.scale.parts import GroundTruthParts
from ioukit.scale.requests import Request, prepare
from ioukit.scale.stages import Job, draws_in_parts
from ioukit.scale.table_files import TableFile
from ioukit.scale.work import WorkFolder, work_folder

__all__ = ["FAN_IN", "Kept", "Outcome", "conduct"]

FAN_IN = 64
"""Parts whose runs one task merges; more parts are merged in a tree."""
_GROUPS_PER_CORE = 2
_MOST_GROUPS = 256


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
        """The table, brought to this process."""
        ray = import_extra("ray", extra="ray", needed_by="on='ray'")
        try:
            table: MatchTable = ray.get(self.reference)
        except Exception as error:
            raise ConnectionError(
                "the match table is on a Ray cluster that cannot be reached any more: evaluate with work=, a folder "
                f"that all nodes see, to keep it ({error})"
            ) from None
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
    cores = max(1, int(ray.cluster_resources().get("CPU", 1)))
    gt = ground_truth_of(request.ground_truth, request.protocol, None)
    prepared = prepare(request, gt, ground_truth_bytes=0, threads=1, multiple_of=cores)
    with _folder(request.work, temporary, prepared.described) as (folder, parts):
        run = _Run(ray, tasks, gt, prepared.cut(parts, by_piece=False)[0], prepared.source.pieces, folder, cores)
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


class _Run:
    """The three steps, and what they share."""

    def __init__(
        self,
        ray: Any,
        tasks: Tasks,
        gt: GroundTruth,
        job: Job,
        pieces: Sequence[Any],
        folder: WorkFolder | None,
        cores: int,
    ) -> None:
        self._ray, self._tasks, self._gt, self._job, self._folder = ray, tasks, gt, job, folder
        self._pieces = pieces
        self._shared_job = ray.put(job)
        evaluated = 1 if job.protocol.class_agnostic else len(job.categories or job.known_categories)
        count = max(1, min(evaluated, _GROUPS_PER_CORE * cores, _MOST_GROUPS))
        self._groups = [range(group, evaluated, count) for group in range(count)]

    def outcome(self, categories: Categories) -> Outcome:
        """Split, match and draw."""
        gt, job, folder = self._gt, self._job, self._folder
        wanted = [
            part
            for part in range(job.parts)
            if folder is None or not folder.table(*job.images_of(part)).folder.is_dir()
        ]
        receipts: list[Any] = []
        matches: list[Task] = []
        if wanted:
            splits = self._split()
            receipts = self._tasks.receipts(splits)
            matches = self._match(wanted, splits, [rows for rows, _, _ in receipts])
            del splits
            headers = self._tasks.receipts(matches)
        tables: list[TableFile | Kept]
        if folder is None:
            tables = [
                Kept(header, task.results[0], job.protocol) for header, task in zip(headers, matches, strict=True)
            ]
        else:
            tables = [folder.table(*job.images_of(part)) for part in range(job.parts)]
        total = tables[0].header["sources"][1]
        drawn = self._draw(tables, matches, (len(gt), total))
        notes = dict.fromkeys((*gt.notes, *(note for _, _, several in receipts for note in several)))
        return Outcome(
            tables=tuple(tables),
            drawn=drawn,
            image_ids=gt.images.labels,
            categories=categories,
            sources=(len(gt), total),
            dropped=gt.dropped + sum(dropped for _, dropped, _ in receipts),
            notes=tuple(notes),
        )

    def _split(self) -> list[Task]:
        pieces = self._ray.put(self._pieces)
        return [
            self._tasks.submit(
                f"piece {number} ({piece.name})", split_step, self._shared_job, pieces, number, results=self._job.parts
            )
            for number, piece in enumerate(self._pieces)
        ]

    def _match(self, wanted: Sequence[int], splits: Sequence[Task], counts: Sequence[int]) -> list[Task]:
        objects, job = GroundTruthParts(self._gt), self._job
        starts = np.cumsum([0, *counts]).tolist()
        kept = self._folder is None
        return [
            self._tasks.submit(
                named_part(job, part),
                match_step,
                self._shared_job,
                part,
                self._ray.put(objects.between(*job.images_of(part))),
                starts[:-1],
                (len(self._gt), starts[-1]),
                None if self._folder is None else self._folder.table(*job.images_of(part)).folder,
                self._groups,
                *(task.results[part] for task in splits),
                results=1 + len(self._groups) if kept else 0,
            )
            for part in wanted
        ]

    def _draw(self, tables: Sequence[Any], matches: Sequence[Task], sources: tuple[int, int]) -> Any:
        protocol = self._job.protocol
        if not draws_in_parts(protocol):
            given = tables if self._folder is not None else [task.results[0] for task in matches]
            return self._tasks.receipts([self._tasks.submit("the curves", draw_joined, sources, *given)])[0]
        draws = []
        for number, group in enumerate(self._groups):
            name = f"the curves of {len(group)} of the categories (group {number} of {len(self._groups)})"
            if self._folder is not None:
                draws.append(self._tasks.submit(name, draw_of_files, protocol, group, tables))
                continue
            runs = [task.results[1 + number] for task in matches]
            while len(runs) > FAN_IN:
                runs = [
                    self._tasks.submit(name, combine_runs, group, *runs[first : first + FAN_IN], results=1).results[0]
                    for first in range(0, len(runs), FAN_IN)
                ]
            draws.append(self._tasks.submit(name, draw_of_runs, protocol, group, *runs))
        drawn: dict[int, Any] = {}
        for of_group in self._tasks.receipts(draws):
            drawn |= of_group
        return drawn
