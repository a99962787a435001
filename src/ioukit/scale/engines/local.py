"""An evaluation in parts in this process: steps in threads, files between them."""

from __future__ import annotations

import dataclasses
import os
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ioukit._checks import check_threads
from ioukit._optional import import_extra
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation import Evaluation
from ioukit.evaluation.evaluating import ground_truth_of
from ioukit.scale.memory import Budget, bytes_of
from ioukit.scale.parts import GroundTruthParts
from ioukit.scale.requests import Request, prepare
from ioukit.scale.sources import Piece
from ioukit.scale.stages import Job, curves_of, draw, draws_in_parts, match_part, split
from ioukit.scale.stored_table import StoredTable, joined
from ioukit.scale.table_files import TableFile, write_table
from ioukit.scale.work import WorkFolder, remove_folder, work_folder

__all__ = ["evaluate_here"]

R = TypeVar("R")


def evaluate_here(request: Request, threads: int | None) -> Evaluation:
    """The evaluation of a request.

    Args:
        request: What is evaluated.
        threads: How many steps run at a time; all cores if ``None``.
    """
    import_extra("pyarrow.parquet", extra="tables", needed_by="ioukit.scale")  # once, before folders and threads
    gt = ground_truth_of(request.ground_truth, request.protocol, threads)
    count = check_threads(threads) or os.cpu_count() or 1
    prepared = prepare(request, gt, ground_truth_bytes=bytes_of(gt), threads=count)
    with work_folder(request.work, prepared.described) as (folder, run):
        local = _Run(prepared.job_of(run["parts"]), gt, prepared.source.pieces, folder, prepared.budget)
        evaluation = local.evaluation(prepared.categories)
        if request.work is None:
            weakref.finalize(evaluation.matches, remove_folder, folder.path, os.getpid())
        return evaluation


class _Range(NamedTuple):
    """A part, or a range of the images of a part that has too many detections to be matched at once."""

    part: int
    cut: int
    """Which range of the part."""
    cuts: int
    """How many ranges the part has."""


class _Run:
    """The three steps. What the folder has is not computed again."""

    def __init__(self, job: Job, gt: GroundTruth, pieces: Sequence[Piece], folder: WorkFolder, budget: Budget) -> None:
        self._job, self._gt, self._pieces, self._folder, self._budget = job, gt, pieces, folder, budget

    def evaluation(self, categories: Categories) -> Evaluation:
        """Split, match and draw."""
        gt, protocol, threads = self._gt, self._job.protocol, self._budget.threads
        _each(self._split, range(len(self._pieces)), threads)
        pieces = [self._folder.finished_piece(number) for number in range(len(self._pieces))]
        tables = self._match(pieces)
        sources = (len(gt), sum(piece["rows"] for piece in pieces))
        table = StoredTable.of_parts(tables, gt.images.labels, sources, categories)
        if draws_in_parts(protocol):
            drawing = self._budget.drawing_threads(len(tables))
            drawn = _each(lambda category: draw(protocol, category, tables), range(len(table.evaluated)), drawing)
            evaluation = Evaluation(table, curves_of(table, drawn))
        else:
            evaluation = Evaluation.from_table(joined([one.read() for one in tables], sources), threads=threads)
        notes = dict.fromkeys((*gt.notes, *(note for piece in pieces for note in piece["notes"])))
        if not sources[1]:
            notes |= dict.fromkeys(Detections.from_coco([]).notes)  # that there are none
        dropped = gt.dropped + sum(piece["dropped"] for piece in pieces)
        return dataclasses.replace(evaluation, notes=tuple(notes), dropped=dropped)

    def _split(self, number: int) -> None:
        """Write the rows of one piece of the input, by part."""
        if self._folder.has_piece(number):
            return
        rows = batches = dropped = 0
        notes = dict[str, None]()
        of_parts = np.zeros(self._job.parts, np.int64)
        for batch in self._pieces[number].read():
            parts = split(self._job, batch, rows, narrow=True)
            self._folder.add_batch(number, batches, parts)
            of_parts += [part.num_rows for part in parts]
            batches, rows, dropped = batches + 1, rows + len(batch), dropped + batch.dropped
            notes |= dict.fromkeys(batch.notes)
        about = {"batches": batches, "rows": rows, "dropped": dropped, "notes": list(notes)}
        self._folder.finish_piece(number, {**about, "parts": of_parts.tolist()})

    def _match(self, pieces: Sequence[Mapping[str, Any]]) -> list[TableFile]:
        """Match each part, or each of its ranges."""
        cuts, job = self._cuts(pieces)
        objects = GroundTruthParts(self._gt, job.edges)
        sources = (len(self._gt), sum(piece["rows"] for piece in pieces))
        inner = 1 if job.parts >= self._budget.threads else self._budget.threads

        def match(place: int) -> TableFile:
            cut = cuts[place]
            table = self._folder.table(*cut)
            if not table.folder.is_dir():
                ends = None if cut.cuts == 1 else (int(job.edges[place]), int(job.edges[place + 1]))
                batches = self._folder.batches(cut.part, pieces, ends)
                of_part, rows = objects.part(place), objects.rows(place)
                matched = match_part(job, place, of_part, rows, batches, sources=sources, threads=inner)
                write_table(matched, table.folder, block_rows=self._budget.block_rows(job.parts))
            return table

        return _each(match, range(job.parts), self._budget.threads)

    def _cuts(self, pieces: Sequence[Mapping[str, Any]]) -> tuple[list[_Range], Job]:
        """The parts, large ones in several ranges of images, and the job with these ranges as its parts."""
        sizes = np.sum([piece["parts"] for piece in pieces], axis=0, initial=0) + np.zeros(self._job.parts, np.int64)
        cuts, edges = [], [0]
        for part, size in enumerate(sizes.tolist()):
            first, end = self._job.edges[part : part + 2].tolist()
            count = max(1, min(-(-size // self._budget.most_rows), end - first))
            cuts += [_Range(part, number, count) for number in range(count)]
            edges += np.linspace(first, end, count + 1).astype(np.int64)[1:].tolist()
        return cuts, dataclasses.replace(self._job, edges=np.array(edges, np.int64))


def _each(step: Callable[[int], R], numbers: Iterable[int], threads: int) -> list[R]:
    """The results of a step for each number, in order; after an error, steps that have not begun do not begin."""
    if threads == 1:
        return [step(number) for number in numbers]
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(step, number) for number in numbers]
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
