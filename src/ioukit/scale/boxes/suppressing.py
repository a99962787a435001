"""Non-maximum suppression of sets of boxes that are larger than memory."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ioukit._checks import check_format
from ioukit.postprocess._options import least_reaching, limits_of, rule_of
from ioukit.scale.boxes.box_records import ChunkReader, columns_of, scores_of_keys
from ioukit.scale.boxes.box_room import Room, room_of
from ioukit.scale.boxes.cutting import cut_stored, guests_of, plan_cells
from ioukit.scale.boxes.reach import reach_of
from ioukit.scale.boxes.record_files import read_slices
from ioukit.scale.boxes.running import Place, place_of
from ioukit.scale.boxes.settling import FateTask, Settled, settle
from ioukit.scale.boxes.sorted_runs import merged
from ioukit.scale.boxes.spilling import Sampler, Stored, grouped, store, temporary_folder
from ioukit.scale.boxes.storing import stored_boxes
from ioukit.scale.boxes.written_chunks import write_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._options import Limits, Rule, Suppress
    from ioukit.scale.boxes.cutting import Runner
    from ioukit.scale.boxes.record_files import Slice
    from ioukit.scale.boxes.sorted_runs import Run
    from ioukit.typing import BoxFormat

__all__ = ["SuppressionJob", "SurvivorChunk", "Survivors", "nms"]

_LEAST_PROGRESS = 0.1
"""A round that decides a smaller part of the boxes is the last one that cuts space."""


class SurvivorChunk(NamedTuple):
    """Some boxes that survive."""

    rows: NDArray[np.int64]
    """(K,) their rows, counted over all chunks."""
    scores: NDArray[np.float64]
    """(K,) descending."""


class Survivors:
    """The boxes that survive, from the best score down: iterate over chunks, or call `read` or `write_parquet`, once.

    The work begins with the iteration. The temporary files are removed when the iteration ends, also by an error, or
    when its iterator is closed.
    """

    def __init__(self, job: SuppressionJob) -> None:
        self._job: SuppressionJob | None = job

    def __iter__(self) -> Iterator[SurvivorChunk]:
        if self._job is None:
            raise ValueError("these survivors were read before: call nms again")
        job, self._job = self._job, None
        return job.chunks()

    def read(self) -> NDArray[np.int64]:
        """(K,) the rows of all survivors in memory: what the in-memory `nms` returns."""
        return np.concatenate([np.zeros(0, np.int64), *(chunk.rows for chunk in self)])

    def write_parquet(self, path: str | os.PathLike[str]) -> int:
        """Writes the survivors as columns ``row`` and ``score``, from the best score down.

        Args:
            path: The file. It appears complete or not at all.

        Returns:
            The number of survivors.

        Raises:
            ModuleNotFoundError: If PyArrow is not installed; the message names the extra.
        """
        return write_table(path, {"row": np.dtype(np.int64), "score": np.dtype(np.float64)}, iter(self))


def nms(
    chunks: Any,
    *,
    iou_threshold: float,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    suppress: Suppress = "above",
    score_threshold: float | None = None,
    max_keep: int | None = None,
    format: BoxFormat | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    memory: int | str = "1GB",
    folder: str | os.PathLike[str] | None = None,
    map: Runner | None = None,
    threads: int | None = None,
    on: str = "local",
    address: str | None = None,
    timeout: float | None = None,
) -> Survivors:
    """The boxes that survive greedy non-maximum suppression, for sets of boxes that are larger than memory.

    These are the rows that the in-memory `ioukit.nms` returns for the concatenated chunks, in the same order. The set
    is cut into cells by place, size and label. A cell decides each of its boxes that depends on no undecided box of
    another cell. What is left is cut again, in other places, until every box is decided.

    Args:
        chunks: Chunks in the order of the rows: an iterable of tuples ``(boxes, scores)`` or
            ``(boxes, scores, labels)``, of Arrow tables or record batches, or of paths of Parquet files. Or one table,
            one Parquet file or one folder of Parquet files, which is read in the order of the names. Boxes are arrays
            of shape (N, 4) or `Boxes`. All chunks have one dtype. Only boxes with equal labels remove each other.
        iou_threshold: At least 0 and at most 1, as in `ioukit.nms`. An overlap **above** it removes a box.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``.
        of: For ``"ioa"`` only, the box whose area divides: ``"second"`` (the default), which may be removed, or
            ``"first"``, which is kept.
        suppress: ``"above"`` (the default), or ``"at_or_above"``, which also removes a box whose overlap is equal to
            the threshold.
        score_threshold: Boxes with a score **below** this are left out first.
        max_keep: The largest number of boxes to keep, the best ones.
        format: The format of boxes in arrays and tables: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        columns: The columns of tables: ``{"boxes": ..., "scores": ..., "labels": ...}``, as in `overlap_join`. By
            default, the scores are in ``score``, and there are no labels.
        memory: The memory that a process should take, such as ``"500MB"`` or a number of bytes. The chunks that come in
            are the caller's, and are not counted.
        folder: Where the temporary files go, at most about four times as large as the boxes.
        map: Runs the tasks, as in `overlap_join`.
        threads: How many threads each task uses, as in `overlap_join`. It does not change a bit.
        on: ``"ray"`` runs the tasks on a Ray cluster, as in `overlap_join`.
        address: The address of the cluster, as for `ioukit.scale.evaluate`.
        timeout: Seconds after which a step on Ray ends with an error; no limit if None.

    Returns:
        The survivors, which are found when they are read.

    Raises:
        ValueError: If an argument is out of range or a name is unknown. While survivors are read, if a chunk does not
            fit those before, a box is not valid, or a score is NaN; the message names the chunk and the box.
        TypeError: If an argument has the wrong type.
        OSError: While survivors are read, if the disk is full.

    Examples:
        >>> from ioukit import scale
        >>> chunks = [([[0, 0, 4, 4], [0, 0, 4, 3]], [0.8, 0.9]), ([[6, 6, 8, 8]], [0.7])]
        >>> scale.nms(chunks, iou_threshold=0.5).read()
        array([1, 2])
    """
    rule, limits = rule_of(metric, of, iou_threshold, suppress), limits_of(score_threshold, max_keep)
    if rule.threshold < 0 or (rule.threshold == 0 and not rule.strict):
        raise ValueError(
            f"iou_threshold must be at least 0, and above 0 for suppress='at_or_above', got {rule.threshold:g}: below, "
            "boxes remove each other however far apart they are"
        )
    if format is not None:
        check_format(format)
    reader = ChunkReader(
        chunks,
        "chunks",
        scored=True,
        format=format,
        columns=columns_of(columns),
        score_threshold=limits.score_threshold,
    )
    return Survivors(
        SuppressionJob(
            reader, rule, limits, room_of(memory, ranked=True), place_of(map, on, address, timeout, threads, folder)
        )
    )


@dataclass
class SuppressionJob:
    """A suppression with checked arguments."""

    reader: ChunkReader
    rule: Rule
    limits: Limits
    room: Room
    place: Place

    def chunks(self) -> Iterator[SurvivorChunk]:
        """The survivors; the temporary files are removed at the end."""
        with temporary_folder(self.place.folder) as folder, self.place.running() as run:
            left = self.limits.max_keep
            for keys, rows, _ in merged(self._survivors(folder, run), self.room.pairs):
                if not left:
                    return
                yield SurvivorChunk(rows[:left], scores_of_keys(keys[:left]))
                left = max(left - len(rows), 0)

    def _survivors(self, folder: Path, run: Runner) -> list[Run]:
        stored, flat = stored_boxes(self.reader, folder, self.room, run)
        runs: list[Run] = [*flat]
        cuts = True
        for number in itertools.count():
            count = stored.size
            if not count:
                return runs
            settled = list(run(settle, self._tasks(stored, folder, f"round-{number:03}", cuts, run)))
            runs += [kept for cell in settled for kept in cell.kept]
            cuts = sum(cell.waiting for cell in settled) < (1 - _LEAST_PROGRESS) * count
            stored = self._next(stored.dtype, settled, folder, f"left-{number:03}")
        raise AssertionError("the rounds end when every box is decided")

    def _tasks(self, stored: Stored, folder: Path, name: str, cuts: bool, run: Runner) -> list[FateTask]:
        """One task per cell; one for all if they fit in memory, or if cutting space does not help."""
        kind = stored.dtype["box"].base
        variant, least = self.rule.measure.variant, least_reaching(self.rule, kind)

        def task(number: int, own: Sequence[Slice], border: Sequence[Slice], guests: Sequence[Slice]) -> FateTask:
            path = str(folder / f"{name}-{number:05}")
            sizes = self.room.boxes, self.room.pairs, self.place.threads_of_task
            return FateTask(variant, least, tuple(own), tuple(border), tuple(guests), stored.dtype, *sizes, path)

        if stored.size <= self.room.boxes or not cuts:
            return [task(0, [part for slices in stored.chunks for part in slices], (), ())]
        reach = reach_of(variant, least, kind, either_order=True)
        cells = plan_cells(stored.sample, stored.share, None, stored.share, reach, self.room.boxes)
        files = cut_stored(stored, cells, folder, name, run)
        guests = guests_of(files, stored.dtype, files, cells, reach, "others", run)
        tasks = []
        for cell in range(cells.number):
            own = [file.slice_of(cell) for file in files]
            border = [part._replace(path=guest.border) for part, guest in zip(own, guests, strict=True)]
            tasks.append(task(cell, own, border, [guest.slice_of(cell) for guest in guests]))
        return tasks

    def _next(self, dtype: np.dtype[Any], settled: list[Settled], folder: Path, name: str) -> Stored:
        """What a round leaves."""
        if not any(cell.waiting for cell in settled):
            return Stored(dtype, (), np.zeros(0, dtype), 1.0)
        left = grouped((part for cell in settled for part in cell.left), self.room.chunk)
        records = (read_slices(slices, dtype) for slices in left)
        return store(records, dtype, folder, name, self.room.chunk, Sampler(self.room.sample))
