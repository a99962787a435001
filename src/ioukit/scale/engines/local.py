"""An evaluation in parts in this process: steps in threads, files between them."""

from __future__ import annotations

import dataclasses
import itertools
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_threads
from ioukit._optional import import_extra
from ioukit.datasets import Detections, GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation import Evaluation
from ioukit.evaluation.curves import Curves, bytes_of_curves, curves_of
from ioukit.evaluation.evaluating import ground_truth_of
from ioukit.scale.in_order import OutOfPlaceError, RowsInOrder
from ioukit.scale.memory import LEAST_GROUP, PER_ROW_DRAW, bytes_of
from ioukit.scale.parts import GroundTruthParts, Range, counts_per_image, edges_of_ranges
from ioukit.scale.requests import Prepared, Request, prepare
from ioukit.scale.sources.source import fewer_batches
from ioukit.scale.stages import draw, draw_together, groups_of, match_part, split
from ioukit.scale.stored_table import StoredTable, joined
from ioukit.scale.table_files import TableFile, write_table
from ioukit.scale.work import WorkFolder, remove_folder, work_folder

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
        try:
            evaluation = _Run(prepared, gt, folder, run).evaluation()
        except OutOfPlaceError:  # known only now: nothing that was done is of use
            run["by_piece"] = False
            folder.start_again(run)
            evaluation = _Run(prepared, gt, folder, run).evaluation()
        if request.work is None:
            weakref.finalize(evaluation.matches, remove_folder, folder.path, os.getpid())
        return evaluation


class _Run:
    """The three steps. What the folder has is not computed again."""

    def __init__(self, prepared: Prepared, gt: GroundTruth, folder: WorkFolder, run: Mapping[str, Any]) -> None:
        self._job, self._owned = prepared.cut(run["parts"], by_piece=run["by_piece"])
        self._gt, self._folder, self._categories = gt, folder, prepared.categories
        self._pieces, self._budget, self._load = prepared.source.pieces, prepared.budget, prepared.load
        self._check_unchanged = prepared.source.check_unchanged
        self._objects = GroundTruthParts(gt)
        self._written = set[Path]()  # what was there before is checked once
        self._redone = list[str]()
        # If pieces own parts, they know their rows.
        self._starts = np.cumsum([0, *(piece.rows or 0 for piece in self._pieces)]).tolist()
        more_parts = self._starts[-1] // self._budget.part_rows if self._owned else 0
        self._block_rows = self._budget.block_rows(self._job.parts + more_parts)

    def evaluation(self) -> Evaluation:
        """Split, match and draw."""
        gt, protocol, threads = self._gt, self._job.protocol, self._budget.threads
        list(_each(self._read, range(len(self._pieces)), threads))
        self._check_unchanged()
        pieces = [self._folder.finished_piece(number) for number in range(len(self._pieces))]
        tables = self._match(pieces)
        sources = (len(gt), sum(piece["rows"] for piece in pieces))
        table = StoredTable.of_parts(tables, gt.images.labels, sources, self._categories, self._load)
        if protocol.draws_in_parts:
            evaluation = Evaluation(table, self._draw(table, tables))
        else:
            evaluation = Evaluation.from_table(joined([one.read() for one in tables], sources), threads=threads)
        notes = dict.fromkeys((*gt.notes, *(note for piece in pieces for note in piece["notes"])))
        notes |= dict.fromkeys(self._redone)
        if not sources[1]:
            notes |= dict.fromkeys(Detections.from_coco([]).notes)  # that there are none
        dropped = gt.dropped + sum(piece["dropped"] for piece in pieces)
        return dataclasses.replace(evaluation, notes_on_reading=tuple(notes), dropped=dropped)

    def _draw(self, table: StoredTable, tables: Sequence[TableFile]) -> Curves:
        protocol = self._job.protocol
        threads, most = self._budget.drawing(len(tables))
        ends: npt.NDArray[np.int64] = np.sum([one.header["ends"] for one in tables], axis=0, dtype=np.int64)
        rows = (ends[1:] - ends[:-1]) * PER_ROW_DRAW
        sizes = rows + bytes_of_curves(protocol, table.num_objects)
        groups = groups_of(sizes, min(most, max(LEAST_GROUP, int(sizes.sum()) // (2 * threads))))

        def draw_group(number: int) -> dict[str, Any]:
            group = groups[number]
            if rows[group.start] > most:
                return draw(protocol, group.start, tables)
            return draw_together(protocol, group, tables)

        return curves_of(table, _each(draw_group, range(len(groups)), threads))

    def _read(self, number: int) -> None:
        """Write the rows of one piece of the input, by part; match those of the part that it has alone."""
        if self._folder.has_piece(number) and self._is_whole(lambda: self._check_piece(number)):
            return
        piece, own = self._pieces[number], self._owned.get(number)
        in_order = None
        if own is not None:
            most_rows, batch_rows = self._budget.in_order(piece.rows or 0)
            count, threads = len(self._pieces), self._budget.threads
            inner = 1 if number < count - count % threads else threads  # the last ones have cores to spare

            def match_rows(first: int, end: int, batches: Sequence[Any]) -> None:
                sources = (len(self._gt), self._starts[-1])
                self._write(first, end, [(self._starts[number], batch) for batch in batches], sources, inner)

            in_order = RowsInOrder(self._job.images_of(own), most_rows, match_rows)
            piece = dataclasses.replace(piece, batch_rows=batch_rows)
        others = [part for part in self._owned.values() if part != own]
        rows = dropped = 0
        batches: list[dict[str, Any]] = []
        notes = dict[str, None]()
        of_parts = np.zeros(self._job.parts, np.int64)
        # A part reads each batch of each piece, so these are few; rows in order are matched as soon as they are there.
        for batch in piece.read() if in_order is not None else fewer_batches(piece.read(), piece.batch_rows):
            parts = split(self._job, batch, rows, narrow=in_order is None)
            if in_order is not None and own is not None:
                in_order.add(parts[own])
                parts[own] = parts[own].slice(0, 0)
            counts = np.array([part.num_rows for part in parts], np.int64)
            if counts[others].any():
                raise OutOfPlaceError
            if counts.any():
                batches.append(self._folder.add_batch(number, len(batches), parts))
            of_parts += counts
            rows, dropped = rows + len(batch), dropped + batch.dropped
            notes |= dict.fromkeys(batch.notes)
        if self._owned and rows != piece.rows:
            raise OutOfPlaceError
        about = {"batches": batches, "rows": rows, "dropped": dropped, "notes": list(notes)}
        if in_order is not None:
            in_order.finish()
            about["matched"] = in_order.matched
        self._folder.finish_piece(number, {**about, "parts": of_parts.tolist()})

    def _check_piece(self, number: int) -> None:
        """Compare what an earlier run wrote of a piece with its checksums: its rows, and tables that only it has."""
        self._folder.check_piece(number)
        for first, end in self._folder.finished_piece(number).get("matched", ()):
            table = self._folder.table(first, end)
            table.check()
            self._written.add(table.path)

    def _is_whole(self, check: Callable[[], None]) -> bool:
        """Whether a check passes. If it does not, what it checks is made again, and a note says so."""
        try:
            check()
        except DatasetError as error:
            self._redone.append(f"{error}; it was made again")
            return False
        return True

    def _match(self, pieces: Sequence[Mapping[str, Any]]) -> list[TableFile]:
        """Match each part that no piece has alone, or each of its ranges."""
        found = _each(lambda part: self._ranges_of(part, pieces), range(self._job.parts), self._budget.threads)
        ranges = [one for of_part in found for one in of_part]
        sources = (len(self._gt), sum(piece["rows"] for piece in pieces))
        inner = 1 if len(ranges) >= self._budget.threads else self._budget.threads

        def match(place: int) -> TableFile:
            part, first, end = ranges[place]
            places = None if (first, end) == self._job.images_of(part) else (first, end)
            return self._write(first, end, self._folder.batches(part, pieces, places), sources, inner)

        return list(_each(match, range(len(ranges)), self._budget.threads))

    def _write(
        self, first: int, end: int, batches: Iterable[tuple[int, Any]], sources: tuple[int, int], threads: int
    ) -> TableFile:
        """The table of a range of images, matched if it is not there, else checked."""
        table = self._folder.table(first, end)
        if table.path in self._written:
            return table
        if table.path.exists() and not self._is_whole(table.check):
            table.path.unlink()
        if not table.path.exists():
            objects = self._objects.between(first, end)
            matched = match_part(self._job, first, objects, batches, sources=sources, threads=threads)
            table = write_table(matched, table.path, block_rows=self._block_rows)
        self._written.add(table.path)
        return table

    def _ranges_of(self, part: int, pieces: Sequence[Mapping[str, Any]]) -> list[Range]:
        """A part as ranges of its images: as the piece that has it alone was matched, else as many rows as fit."""
        owner = next((piece for piece, own in self._owned.items() if own == part), None)
        if owner is not None:
            return [Range(part, *images) for images in pieces[owner]["matched"]]
        (first, end), edges = self._job.images_of(part), [0]
        if sum(piece["parts"][part] for piece in pieces) > self._budget.most_rows:
            rows = (counts_per_image(self._job, part, batch) for _, batch in self._folder.batches(part, pieces))
            edges = edges_of_ranges(sum(rows, np.zeros(end - first, np.int64)), self._budget.most_rows)[:-1]
        return [Range(part, first + one, first + other) for one, other in itertools.pairwise([*edges, end - first])]


def _each(step: Callable[[int], R], numbers: Iterable[int], threads: int) -> Iterator[R]:
    """The results of a step for each number, in order; after an error, steps that have not begun do not begin.

    Each comes as soon as it is there: nothing holds what the caller has let go.
    """
    with ThreadPoolExecutor(threads) as pool:
        yield from (map if threads == 1 else pool.map)(step, numbers)
