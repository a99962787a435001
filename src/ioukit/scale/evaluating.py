"""Evaluation of detections that need not fit in memory: in parts, on this machine or on a cluster."""

from __future__ import annotations

import os
import weakref
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ioukit._checks import check_choice, check_threads
from ioukit.datasets import GroundTruth
from ioukit.evaluation import Evaluation
from ioukit.evaluation.evaluating import GroundTruthLike, ground_truth_of
from ioukit.evaluation.protocols import Protocol
from ioukit.scale.memory import Budget, bytes_of, parsed_memory
from ioukit.scale.parts import GroundTruthParts
from ioukit.scale.requests import Request, prepare
from ioukit.scale.stages import Job, curves_of, draw, draws_in_parts, match_part, split
from ioukit.scale.stored_table import StoredTable, joined
from ioukit.scale.table_files import TableFile, write_table
from ioukit.scale.work import WorkFolder, _removed, work_folder

__all__ = ["evaluate"]

T = TypeVar("T")
R = TypeVar("R")


def evaluate(
    ground_truth: GroundTruthLike,
    detections: Any,
    protocol: Protocol | None = None,
    *,
    iou_type: str = "bbox",
    categories: Sequence[int | str] | None = None,
    near: float | None = None,
    memory: int | str = "2GB",
    work: str | os.PathLike[str] | None = None,
    parts: int | None = None,
    threads: int | None = None,
    on: str = "local",
    address: str | None = None,
    timeout: float | None = None,
) -> Evaluation:
    """Evaluate detections in parts, in bounded memory: the same numbers as :func:`ioukit.evaluate`, to the last bit.

    The detections are read once and cut by image into files; each part is matched on its own; the curves of each
    category are drawn from a merge of the parts. The ground truth is read as a whole. Protocols whose numbers need all
    detections of a category at once (miss rates, the Jaccard index, KITTI's rules, caps over all images) are computed
    from the joined table, which takes about 60 bytes per detection.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`.
        detections: What :func:`ioukit.scale.open_detections` takes: a Parquet file, a folder of them or a pattern, a
            CSV, JSON lines or COCO results file, or :class:`~ioukit.Detections`. Only boxes are compared.
        protocol: The rules; if ``None``, those of the kind of region.
        iou_type: The kind of region that is compared: ``"bbox"``.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        near: As for :func:`ioukit.evaluation.match`: 0.1 for the confusion matrix and the error kinds.
        memory: The memory that the process should stay under: bytes, or text such as ``"2GB"``.
        work: A folder for what is done. A run that was interrupted goes on where it stopped if it is started again with
            the same arguments. If ``None``, a temporary folder that is removed with the evaluation.
        parts: Into how many parts the images are cut; by the memory if ``None``. The result does not depend on it.
        threads: How many steps run at a time; all cores if ``None``. The result does not depend on it.
        on: Where the steps run: ``"local"`` in this process, ``"ray"`` as tasks on a Ray cluster. There, ``memory`` is
            what each task may take, a path is one that all nodes see or a URI such as ``s3://bucket/detections``, and
            no rows pass through this process. Without ``work``, a cluster keeps the match table for as long as the
            evaluation and the connection exist.
        address: The address of the Ray cluster. If ``None``, the one that the program is connected to, else that of the
            environment variable ``RAY_ADDRESS``, else one of this machine that is started for this call.
        timeout: Seconds after which a run on Ray ends with an error; no limit if ``None``.

    Returns:
        An evaluation. Its numbers are computed; its match table is read from the files when an analysis asks for it.

    Raises:
        DatasetError: If data is invalid, or ``work`` belongs to another run.
        ValueError: If an argument is invalid, or ``memory`` is too little.
        OSError: If a file cannot be read or written. What was finished stays in ``work``.
        ModuleNotFoundError: If PyArrow is not installed: ``pip install 'ioukit[tables]'``.
    """
    check_choice("iou_type", iou_type, ("bbox",))
    check_choice("on", on, ("local", "ray"))
    request = Request(
        ground_truth=ground_truth,
        detections=detections,
        protocol=protocol,
        iou_type=iou_type,
        categories=categories,
        near=near,
        memory=parsed_memory(memory),
        work=None if work is None else Path(work).absolute(),
        parts=parts,
    )
    if on == "ray":
        from ioukit.scale.engines.ray import evaluate_on_ray  # noqa: PLC0415 - only Ray needs it

        return evaluate_on_ray(request, address=address, threads=threads, timeout=timeout)
    if address is not None or timeout is not None:
        raise ValueError("address and timeout need on='ray'")
    gt = ground_truth_of(ground_truth, protocol, threads)
    count = check_threads(threads) or os.cpu_count() or 1
    prepared = prepare(request, gt, ground_truth_bytes=bytes_of(gt), threads=count)
    with work_folder(work, prepared.described) as (folder, run):
        job, budget = prepared.job_of(run["parts"]), prepared.budget
        tables, rows = _tables(job, gt, prepared.source.pieces, folder, budget)
        return _evaluation(job, gt, tables, rows, budget, remove=None if work is not None else folder)


def _tables(
    job: Job, gt: GroundTruth, pieces: Sequence[Any], folder: WorkFolder, budget: Budget
) -> tuple[list[TableFile], int]:
    """The tables of all parts, and the number of detections; what the folder has is not computed again."""

    def split_piece(number: int) -> None:
        if folder.piece(number) is not None:
            return
        rows = batches = 0
        for batch in pieces[number].read():
            folder.add_batch(number, batches, split(job, batch, rows, narrow=True))
            batches, rows = batches + 1, rows + len(batch)
        folder.finish_piece(number, batches, rows)

    _each(split_piece, range(len(pieces)), budget.threads)
    known = [folder.piece(number) or {"batches": 0, "rows": 0} for number in range(len(pieces))]
    total = sum(piece["rows"] for piece in known)
    objects = GroundTruthParts(gt, job.edges)

    def match_one(part: int) -> None:
        if folder.has_table(part):
            return
        batches = folder.batches(part, known)
        sources = (len(gt), total)
        inner = 1 if job.parts >= budget.threads else budget.threads
        table = match_part(job, part, objects.part(part), objects.rows(part), batches, sources=sources, threads=inner)
        write_table(table, folder.table(part).folder)

    _each(match_one, range(job.parts), budget.threads)
    return [folder.table(part) for part in range(job.parts)], total


def _evaluation(
    job: Job, gt: GroundTruth, tables: Sequence[TableFile], rows: int, budget: Budget, remove: WorkFolder | None
) -> Evaluation:
    categories = (
        gt.categories
        if job.categories is None
        else gt.categories.take(np.flatnonzero(np.isin(gt.categories.ids, job.categories)))
    )
    table = StoredTable.of_parts(tables, gt.images.labels, (len(gt), rows), categories)
    if remove is not None:
        weakref.finalize(table, _removed, remove.path)
    if not draws_in_parts(job.protocol):
        return Evaluation.from_table(joined([one.read() for one in tables], table.sources), threads=budget.threads)
    drawn = _each(lambda category: draw(job.protocol, category, tables), range(len(table.evaluated)), budget.threads)
    return Evaluation(table, curves_of(table, drawn), gt.dropped, gt.notes)


def _each(step: Callable[[int], R], numbers: Iterable[int], threads: int) -> list[R]:
    """The results of a step for each number, in order; the first error ends the others that have not begun."""
    if threads == 1:
        return [step(number) for number in numbers]
    pool = ThreadPoolExecutor(threads)
    try:
        futures = [pool.submit(step, number) for number in numbers]
        return [future.result() for future in futures]
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
