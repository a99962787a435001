"""The sparse join of sets of boxes that are larger than memory."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ioukit._arrays import computing_dtype
from ioukit._checks import check_format, check_one_unit
from ioukit.overlap.join import OverlapPairs, join_measure, join_threshold, least_computed
from ioukit.scale.boxes.box_records import ChunkReader, columns_of
from ioukit.scale.boxes.box_room import Room, room_of
from ioukit.scale.boxes.cutting import cut_stored, guests_of, plan_cells
from ioukit.scale.boxes.pair_tasks import Block, JoinRule, PairTask, find_pairs
from ioukit.scale.boxes.reach import reach_of
from ioukit.scale.boxes.running import Place, place_of
from ioukit.scale.boxes.sorted_runs import merged, read_run
from ioukit.scale.boxes.spilling import temporary_folder
from ioukit.scale.boxes.storing import stored_boxes
from ioukit.scale.boxes.written_chunks import write_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from ioukit.overlap.variants import Measure, OverlapMetric
    from ioukit.scale.boxes.cutting import Runner
    from ioukit.scale.boxes.spilling import Stored
    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["JoinJob", "JoinedPairs", "PairChunk", "overlap_join"]


class PairChunk(NamedTuple):
    """Some pairs."""

    rows: NDArray[np.int64]
    """(P,) rows of the first set, counted over all of its chunks."""
    columns: NDArray[np.int64]
    """(P,) rows of the second set, counted in the same way."""
    values: FloatArray
    """(P,) the overlap of each pair, in the dtype of the dense functions."""


class JoinedPairs:
    """The pairs of a join of large sets: iterate over chunks of them, or call `read` or `write_parquet`, once.

    The work begins with the iteration and goes on while chunks are read. The temporary files are removed when the
    iteration ends, also by an error, or when its iterator is closed.
    """

    def __init__(self, job: JoinJob) -> None:
        self._job: JoinJob | None = job

    def __iter__(self) -> Iterator[PairChunk]:
        return self._start().chunks()

    def read(self) -> OverlapPairs:
        """All pairs in memory, sorted by row and then by column: what the in-memory `overlap_join` returns."""
        job = self._start()
        chunks = list(job.chunks())
        none = PairChunk(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, job.values_dtype))
        rows, columns, values = (np.concatenate(parts) for parts in zip(none, *chunks, strict=True))
        order = np.lexsort((columns, rows))
        return OverlapPairs(rows[order], columns[order], values[order], job.shape)

    def write_parquet(self, path: str | os.PathLike[str]) -> int:
        """Writes the pairs as columns ``row``, ``column`` and ``value``, in the order in which they come.

        Args:
            path: The file. It appears complete or not at all.

        Returns:
            The number of pairs.

        Raises:
            ModuleNotFoundError: If PyArrow is not installed; the message names the extra.
        """
        integers = np.dtype(np.int64)
        columns = {"row": integers, "column": integers, "value": np.dtype(np.float64)}
        return write_table(path, columns, iter(self))

    def _start(self) -> JoinJob:
        if self._job is None:
            raise ValueError("these pairs were read before: call overlap_join again")
        job, self._job = self._job, None
        return job


def overlap_join(
    a: Any,
    b: Any = None,
    *,
    min_iou: float,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    format: BoxFormat | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    memory: int | str = "1GB",
    sort: bool = False,
    folder: str | os.PathLike[str] | None = None,
    map: Runner | None = None,
    threads: int | None = None,
    on: str = "local",
    address: str | None = None,
    timeout: float | None = None,
) -> JoinedPairs:
    """The pairs of boxes whose overlap is at least ``min_iou``, for sets of boxes that are larger than memory.

    These are the pairs of the in-memory `ioukit.overlap_join` of the concatenated chunks, with the same bits. The sets
    are cut into cells by place, size and label, so that each cell fits in memory. The bounds of the join say which
    boxes near a cell belong to its task too. Each pair is found once, in the cell of one of its boxes.

    Args:
        a: The chunks of the first set, in the order of its rows: an iterable of arrays of shape (N, 4), of `Boxes`, of
            tuples ``(boxes, labels)``, of Arrow tables or record batches, or of paths of Parquet files. Or one array,
            one table, one Parquet file or one folder of Parquet files, which is read in the order of the names. All
            chunks have one dtype. Only boxes with equal labels can be pairs.
        b: The same for the second set. None joins ``a`` with itself: each pair of two different boxes occurs once, as
            ``(i, j)`` with ``i < j``.
        min_iou: The smallest overlap of a pair, in the chosen ``metric``: above 0 and at most 1.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``.
        of: For ``"ioa"`` only, the box whose area divides: ``"second"`` (the default) or ``"first"``.
        format: The format of boxes in arrays and tables: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        columns: The columns of tables: ``{"boxes": names of four columns or of one column of lists, "labels": name}``.
            By default, the boxes are in ``xmin, ymin, xmax, ymax`` or ``x1, y1, x2, y2``, and there are no labels.
        memory: The memory that a process should take, such as ``"500MB"`` or a number of bytes. The sizes of cells and
            of chunks follow from it. The chunks that come in are the caller's, and are not counted.
        sort: Whether the pairs come in the order of the in-memory join: by row, then by column. If False, a chunk is
            sorted, but the chunks are in no order. Sorting stores all pairs in files first.
        folder: Where the temporary files go, about as large as the boxes (and the pairs, if they are sorted or if
            ``map`` runs ahead). By default, where the system has its temporary files.
        map: Runs the tasks: called as ``map(function, tasks)``, it returns the results in the order of the tasks.
            Function and tasks can be pickled, and depend on nothing but the files in ``folder``. Examples are
            ``executor.map`` of `concurrent.futures`, or of a cluster whose workers share ``folder``. Each process then
            takes about ``memory``. By default, one task runs at a time, with ``threads`` threads. With it, Parquet
            files are read by the tasks, too, unless they come one by one from an iterator.
        threads: How many threads each task uses; by default one per core. It does not change a bit. On a Ray cluster
            that is started for the call: how many tasks run at a time.
        on: ``"ray"`` runs the tasks on a Ray cluster, with one thread each, instead of ``map``. If it has several
            machines, ``folder`` is one that all of them see.
        address: The address of the cluster, as for `ioukit.scale.evaluate`.
        timeout: Seconds after which a step on Ray ends with an error; no limit if None.

    Returns:
        The pairs, which are found while they are read.

    Raises:
        ValueError: If an argument is out of range or a name is unknown. While pairs are read, if a chunk does not fit
            those before, or a box is not valid; the message names the chunk and the box.
        TypeError: If an argument has the wrong type.
        OSError: While pairs are read, if the disk is full.

    Examples:
        >>> from ioukit import scale
        >>> chunks = [[[0, 0, 2, 2], [8, 8, 9, 9]], [[0, 0, 1, 2]]]
        >>> for chunk in scale.overlap_join(chunks, min_iou=0.1):
        ...     print(chunk.rows, chunk.columns, chunk.values)
        [0] [2] [0.5]
    """
    if format is not None:
        check_format(format)
    names = columns_of(columns)
    sides = [_reader(source, name, format, names) for source, name in ((a, "a"), (b, "b")) if source is not None]
    if a is None or (b is not None and b is a and iter(b) is b):
        raise ValueError("a and b must be sets of chunks; leave b out to join a with itself")
    return JoinedPairs(
        JoinJob(
            readers=sides,
            measure=join_measure(metric, of),
            least=join_threshold(min_iou),
            room=room_of(memory, ranked=False),
            sort=sort,
            place=place_of(map, on, address, timeout, threads, folder),
            format=format,
        )
    )


def _reader(source: Any, name: str, format: BoxFormat | None, columns: Any) -> ChunkReader:
    return ChunkReader(source, name, scored=False, format=format, columns=columns)


@dataclass
class JoinJob:
    """A join with checked arguments."""

    readers: list[ChunkReader]
    """One per set; one of a set that is joined with itself."""
    measure: Measure
    least: float
    room: Room
    sort: bool
    place: Place
    format: BoxFormat | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of boxes of both sets, after they were read."""
        return self.readers[0].rows, self.readers[-1].rows

    @property
    def values_dtype(self) -> np.dtype[Any]:
        """The dtype of the values, after the sets were read."""
        given = [reader.boxes_dtype for reader in self.readers if reader.boxes_dtype is not None]
        return np.result_type(*given) if given else np.dtype(np.float64)

    def chunks(self) -> Iterator[PairChunk]:
        """The pairs; the temporary files are removed at the end."""
        with temporary_folder(self.place.folder) as folder, self.place.running() as run:
            sets = [stored_boxes(reader, folder, self.room, run).stored for reader in self.readers]
            self._check_sets()
            runs = (pairs for found in run(find_pairs, self._tasks(sets, folder, run)) for pairs in found)
            if self.sort:
                yield from (PairChunk(*rows) for rows in merged(list(runs), self.room.pairs))
                return
            for pairs in runs:
                yield PairChunk(*read_run(pairs))
                os.unlink(pairs.path)

    def _check_sets(self) -> None:
        first, second = self.readers[0], self.readers[-1]
        if first.boxes_dtype is None or second.boxes_dtype is None:
            return
        if first.labelled != second.labelled:
            raise ValueError(f"{'a' if first.labelled else 'b'} has labels, the other set has none: label both or none")
        if first.normalized is not None and second.normalized is not None:
            check_one_unit(first.normalized, second.normalized)
        if self.format not in (None, "xyxy") and first.boxes_dtype != second.boxes_dtype:
            raise ValueError(
                f"a is {first.boxes_dtype} and b is {second.boxes_dtype}, both in {self.format!r}: use one dtype"
            )

    def _tasks(self, sets: list[Stored], folder: Path, run: Runner) -> Iterator[PairTask]:
        """One task per cell, or per pair of blocks of a cell that has too many boxes."""
        first, second = sets[0], sets[1] if len(sets) > 1 else None
        if not first.size or (second is not None and not second.size):
            return
        rule = JoinRule(self.measure, self.least, self.values_dtype)
        dtypes = first.dtype, (second or first).dtype
        number = 0
        for blocks, others in self._cells(first, second, folder, run):
            pairs = (
                [(block, other) for block in blocks for other in others]
                if others is not None
                else [(block, other) for place, block in enumerate(blocks) for other in [None, *blocks[place + 1 :]]]
            )
            for block, other in pairs:
                path = str(folder / f"pairs-{number:06}")
                yield PairTask(rule, block, other, dtypes, self.room.pairs, self.place.threads_of_task, path)
                number += 1

    def _cells(
        self, first: Stored, second: Stored | None, folder: Path, run: Runner
    ) -> Iterator[tuple[list[Block], list[Block] | None]]:
        """The boxes of both sets in each cell; None for the second set if it is the first."""
        most = self.room.boxes
        whole = (
            [Block(slices) for slices in first.chunks],
            None if second is None else [Block(s) for s in second.chunks],
        )
        if first.size + (0 if second is None else second.size) <= most:
            yield _few(whole[0], most), None if whole[1] is None else _few(whole[1], most)
            return
        dtype = computing_dtype(self.values_dtype)
        reach = reach_of(
            self.measure.variant, least_computed(self.least, self.values_dtype), dtype, either_order=second is None
        )
        guests_sample, guests_share = (None, first.share) if second is None else (second.sample, second.share)
        cells = plan_cells(first.sample, first.share, guests_sample, guests_share, reach, most)
        files = cut_stored(first, cells, folder, "a", run)
        if second is None:
            guests = guests_of(files, first.dtype, files, cells, reach, "lower", run)
            for cell in range(cells.number):
                blocks = [
                    Block((file.slice_of(cell),), (guest.slice_of(cell),))
                    for file, guest in zip(files, guests, strict=True)
                ]
                yield _few(blocks, most), None
            return
        others = cut_stored(second, cells, folder, "b", run)
        guests = guests_of(others, second.dtype, files, cells, reach, "all", run)
        for cell in range(cells.number):
            own = [Block((file.slice_of(cell),)) for file in files]
            yield _few(own, most), _few([Block((guest.slice_of(cell),)) for guest in guests], most)


def _few(blocks: Iterable[Block], most: int) -> list[Block]:
    """Blocks one after the other as few blocks. Two of them have at most ``most`` boxes, if there are several."""
    blocks = [block for block in blocks if block.size]
    if sum(block.size for block in blocks) > most:
        most = most // 2
    joined: list[Block] = []
    for block in blocks:
        if joined and joined[-1].size + block.size <= most:
            joined[-1] = Block(joined[-1].own + block.own, joined[-1].guests + block.guests)
        else:
            joined.append(block)
    return joined
