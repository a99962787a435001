"""What an evaluation in parts would take, from a sample: parts, memory, disk and time, before it starts."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ioukit._checks import check_threads, duration
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.operations.subset import subset
from ioukit.evaluation.evaluating import GroundTruthLike, ground_truth_of
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.scale.memory import PER_ROW_MATCH, PER_ROW_SPLIT, PROCESS, bytes_of, parsed_memory
from ioukit.scale.parts import GroundTruthParts, Job, edges_of
from ioukit.scale.requests import Request, prepare
from ioukit.scale.sources.opening import open_detections
from ioukit.scale.sources.source import DetectionSource
from ioukit.scale.stages import draw, match_part, split
from ioukit.scale.table_files import write_table
from ioukit.scale.work import WorkFolder
from ioukit.typing import ProtocolName

SAMPLE_ROWS = 100_000
PER_ROW_JOINED = 130
"""Bytes per detection where the tables of all parts are joined in memory: they are there twice for a moment."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """What :func:`ioukit.scale.evaluate` would take."""

    detections: int
    """Rows of the detections; an estimate if :attr:`estimated`."""
    estimated: bool
    """Whether the number of rows is not known without reading them all."""
    images: int
    """Images of the ground truth."""
    annotations: int
    """Objects of the ground truth."""
    parts: int
    """Into how many parts the images are cut."""
    threads: int
    """Steps that run at a time."""
    memory: int
    """Bytes that the process is expected to take at most."""
    disk: int
    """Bytes in the folder of the run at most, without the input."""
    seconds: float
    """Time on this machine, without reading the ground truth."""
    sample: int
    """Detections that were read to find out."""

    def __str__(self) -> str:
        about = "about " if self.estimated else ""
        return "\n".join(
            [
                f"detections   {about}{self.detections:,}, of {self.images:,} images with {self.annotations:,} objects",
                f"parts        {self.parts:,}, {self.threads} at a time",
                f"memory       {_size(self.memory)}",
                f"disk         {_size(self.disk)}",
                f"time         {duration(self.seconds)} (from a sample of {self.sample:,} detections)",
            ]
        )


def plan(
    ground_truth: GroundTruthLike,
    detections: Any,
    protocol: Protocol | ProtocolName | None = None,
    *,
    categories: Sequence[int | str] | None = None,
    near: float | None = None,
    memory: int | str = "2GB",
    parts: int | None = None,
    threads: int | None = None,
) -> Plan:
    """Find out what :func:`ioukit.scale.evaluate` would take, from a sample of the detections.

    Up to 100,000 detections from the beginning, the middle and the end are read, matched and written to a temporary
    folder. Memory and disk are what their sizes add up to; the time is that of the sample, multiplied.

    Args:
        ground_truth: As for :func:`ioukit.scale.evaluate`, and all others.
        detections: The detections.
        protocol: The rules.
        categories: The categories to evaluate.
        near: The least overlap of near pairs.
        memory: The memory to stay under.
        parts: The number of parts.
        threads: The number of threads.

    Raises:
        DatasetError: If data is invalid.
        ValueError: If ``memory`` is too little.
    """
    count = check_threads(threads) or os.cpu_count() or 1
    rules = None if protocol is None else protocol_of(protocol)
    gt = ground_truth_of(ground_truth, rules, threads)
    given = Request(ground_truth, detections, rules, "bbox", categories, near, parsed_memory(memory), None, parts)
    prepared = prepare(given, gt, ground_truth_bytes=bytes_of(gt), threads=count)
    source, budget = prepared.source, prepared.budget
    job, owned = prepared.cut(prepared.described["parts"], by_piece=prepared.described["by_piece"])
    few = open_detections(detections, source.names, batch_rows=min(budget.batch_rows, SAMPLE_ROWS // 3))
    reading, sample = min((_sample(few) for _ in range(2)), key=lambda timed: timed[0])  # once to load what reads them
    size = sum(len(batch) for batch in sample)
    seconds, used = min(_units(gt, sample, job, split_to_files=not owned) for _ in range(2))
    rows = source.estimated_rows
    joined = 0 if job.protocol.draws_in_parts else rows * PER_ROW_JOINED
    largest = max((source.pieces[number].rows or 0 for number in owned), default=-(-rows // job.parts))
    split_rows = 0 if owned else budget.batch_rows
    each = max(split_rows * PER_ROW_SPLIT, min(largest, budget.most_rows) * PER_ROW_MATCH)
    return Plan(
        detections=rows,
        estimated=source.rows is None,
        images=len(gt.images),
        annotations=len(gt),
        parts=job.parts,
        threads=budget.threads,
        memory=PROCESS + int(1.5 * bytes_of(gt)) + budget.threads * min(each, rows * PER_ROW_MATCH) + joined,
        disk=int(rows * used),
        seconds=rows * (seconds + reading / size) / budget.threads if size else reading,
        sample=size,
    )


def _sample(source: DetectionSource) -> tuple[float, list[Detections]]:
    """The first batch of the first, the middle and the last piece, and the seconds to read them."""
    start, count = time.perf_counter(), len(source.pieces)
    chosen = dict.fromkeys([0, count // 2, count - 1]) if count else {}
    batches = [next(source.pieces[number].read(), None) for number in chosen]
    return time.perf_counter() - start, [batch for batch in batches if batch is not None and len(batch)]


def _units(gt: GroundTruth, sample: Sequence[Detections], job: Job, *, split_to_files: bool) -> tuple[float, float]:
    """Seconds of one thread, and bytes of disk, per detection of the sample; without the time to read it."""
    size = sum(len(batch) for batch in sample)
    if not size:
        return 0.0, 0.0
    small = subset(gt, images=np.unique(np.concatenate([np.unique(batch.image_labels()) for batch in sample])))
    images = dataclasses.replace(small.images, attributes={})
    job = dataclasses.replace(job, images=images, edges=edges_of(len(images), 1))
    objects = GroundTruthParts(small).between(0, len(images))
    with tempfile.TemporaryDirectory(prefix="ioukit-") as path:
        folder, start = WorkFolder(Path(path)), time.perf_counter()
        batches: Iterable[tuple[int, Any]] = [(0, split(job, batch, 0, narrow=split_to_files)[0]) for batch in sample]
        if split_to_files:
            checksums = [folder.add_batch(0, number, [batch]) for number, (_, batch) in enumerate(batches)]
            batches = folder.batches(0, [{"checksums": checksums, "rows": size, "parts": [size]}])
        table = match_part(job, 0, objects, batches, sources=(len(small), size))
        write_table(table, folder.table(0, len(images)).folder)
        if job.protocol.draws_in_parts:
            for category in range(len(table.evaluated)):
                draw(job.protocol, category, [folder.table(0, len(images))])
        seconds = time.perf_counter() - start
        used = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    return seconds / size, used / size


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"
