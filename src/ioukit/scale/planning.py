"""What an evaluation in parts would take, from a sample: parts, memory, disk and time, before it starts."""

from __future__ import annotations

import dataclasses
import os
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ioukit._checks import check_threads, duration
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.operations.subset import subset
from ioukit.evaluation import Evaluation
from ioukit.evaluation.evaluating import GroundTruthLike, ground_truth_of
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.scale.memory import Analysis, bytes_of, expected_memory, parsed_memory
from ioukit.scale.parts import GroundTruthParts, Job, edges_of
from ioukit.scale.requests import Request, prepare
from ioukit.scale.sources.opening import open_detections
from ioukit.scale.sources.source import DetectionSource
from ioukit.scale.stages import curves_of, draw_together, match_part, split
from ioukit.scale.table_files import write_table
from ioukit.scale.work import WorkFolder
from ioukit.typing import ProtocolName

SAMPLE_ROWS = 100_000


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
    analyses: Sequence[Analysis] = (),
) -> Plan:
    """Find out what :func:`ioukit.scale.evaluate` would take, from a sample of the detections.

    Up to 100,000 detections from the beginning, the middle and the end are read, matched and written to a temporary
    folder. Time and disk are what detections, objects, parts and classes take there, each multiplied by their number;
    memory is what their sizes add up to.

    Args:
        ground_truth: As for :func:`ioukit.scale.evaluate`, and all others.
        detections: The detections.
        protocol: The rules.
        categories: The categories to evaluate.
        near: The least overlap of near pairs.
        memory: The memory to stay under.
        parts: The number of parts.
        threads: The number of threads.
        analyses: What will be asked of the evaluation. The time includes ``"errors"`` alone.

    Raises:
        DatasetError: If data is invalid.
        ValueError: If ``memory`` is too little.
    """
    count = check_threads(threads) or os.cpu_count() or 1
    rules = None if protocol is None else protocol_of(protocol)
    gt = ground_truth_of(ground_truth, rules, threads)
    given = Request(
        ground_truth, detections, rules, "bbox", categories, near, parsed_memory(memory), None, parts, tuple(analyses)
    )
    prepared = prepare(given, gt, ground_truth_bytes=bytes_of(gt), threads=count)
    source, budget = prepared.source, prepared.budget
    job, owned = prepared.cut(prepared.described["parts"], by_piece=prepared.described["by_piece"])
    few = open_detections(detections, source.names, batch_rows=min(budget.batch_rows, SAMPLE_ROWS // 3))
    reading, sample = min((_sample(few) for _ in range(2)), key=lambda timed: timed[0])  # once to load what reads them
    size = sum(len(batch) for batch in sample)
    rows = source.estimated_rows
    cost = _Cost.of(gt, sample, job, split_to_files=not owned, analyses=analyses)
    pieces = max((piece.rows or rows for piece in source.pieces), default=0)
    busy = min(budget.threads, max(1, len(source.pieces)))
    return Plan(
        detections=rows,
        estimated=source.rows is None,
        images=len(gt.images),
        annotations=len(gt),
        parts=job.parts,
        threads=budget.threads,
        memory=expected_memory(
            budget,
            prepared.results,
            bytes_of(gt),
            rows=rows,
            split=0 if owned else busy * min(budget.batch_rows, pieces),
            matched=busy * budget.in_order(pieces)[0]
            if owned
            else budget.threads * min(-(-rows // job.parts), budget.most_rows),
            joins=not job.protocol.draws_in_parts,
            analyses=analyses,
        ),
        disk=int(rows * cost.row_bytes + len(gt) * cost.object_bytes + job.parts * cost.part_bytes),
        seconds=cost.once
        + (rows * (cost.row + reading / max(size, 1)) + len(gt) * cost.object + job.parts * cost.part) / budget.threads,
        sample=size,
    )


def _sample(source: DetectionSource) -> tuple[float, list[Detections]]:
    """The first batch of the first, the middle and the last piece, and the seconds to read them."""
    start, count = time.perf_counter(), len(source.pieces)
    chosen = dict.fromkeys([0, count // 2, count - 1]) if count else {}
    batches = [next(source.pieces[number].read(), None) for number in chosen]
    return time.perf_counter() - start, [batch for batch in batches if batch is not None and len(batch)]


class _Cost(NamedTuple):
    """Seconds of one thread and bytes of disk, without reading the detections.

    A sample of shuffled files has a few detections of many images, with all objects of these. And what classes cost
    depends on neither. So the three are told apart: by the sample, its objects alone, and next to nothing.
    """

    once: float
    """Seconds for all classes: their curves and numbers."""
    part: float
    """Seconds for a part, whatever it holds."""
    object: float
    row: float
    part_bytes: float
    object_bytes: float
    row_bytes: float

    @classmethod
    def of(
        cls, gt: GroundTruth, sample: Sequence[Detections], job: Job, *, split_to_files: bool, analyses: Sequence[str]
    ) -> _Cost:
        images = np.unique(np.concatenate([batch.image_labels() for batch in sample] or [gt.images.labels[:1]]))
        chosen, one = subset(gt, images=images), subset(gt, images=images[:1])
        runs = []
        for objects, batches in ((chosen, sample), (chosen, sample[:0]), (one, sample[:0])):
            measured = [_measured(objects, batches, job, split_to_files, analyses) for _ in range(2)]
            runs.append(np.min(measured, axis=0))  # (parts, once, bytes)
        rows, fewer = max(1, sum(map(len, sample))), max(1, len(chosen) - len(one))
        of_rows, of_objects = np.maximum(runs[0] - runs[1], 0) / rows, np.maximum(runs[1] - runs[2], 0) / fewer
        part, once, part_bytes = np.maximum(runs[2] - len(one) * of_objects, 0).tolist()
        return cls(
            once=once,
            part=part,
            object=of_objects[0] + of_objects[1],
            row=of_rows[0] + of_rows[1],
            part_bytes=part_bytes,
            object_bytes=of_objects[2],
            row_bytes=of_rows[2],
        )


def _measured(
    gt: GroundTruth, sample: Sequence[Detections], job: Job, split_to_files: bool, analyses: Sequence[str]
) -> tuple[float, float, float]:
    """The seconds of a part of these detections, those of its curves and analyses, and the bytes that it wrote."""
    images, size = dataclasses.replace(gt.images, attributes={}), sum(map(len, sample))
    job = dataclasses.replace(job, images=images, edges=edges_of(len(images), 1))
    objects = GroundTruthParts(gt).between(0, len(images))
    with tempfile.TemporaryDirectory(prefix="ioukit-") as path:
        folder, start = WorkFolder(Path(path)), time.perf_counter()
        batches: Iterable[tuple[int, Any]] = [(0, split(job, batch, 0, narrow=split_to_files)[0]) for batch in sample]
        if split_to_files:
            written = [folder.add_batch(0, number, [batch]) for number, (_, batch) in enumerate(batches)]
            batches = folder.batches(0, [{"batches": written, "rows": size, "parts": [size]}])
        table = match_part(job, 0, objects, batches, sources=(len(gt), size))
        write_table(table, folder.table(0, len(images)).folder)
        matched = time.perf_counter()
        if job.protocol.draws_in_parts:
            group = range(len(table.evaluated))
            drawn = draw_together(job.protocol, group, [folder.table(0, len(images))])
            evaluation = Evaluation(table, curves_of(table, [drawn]))
        else:
            evaluation = Evaluation.from_table(table, threads=1)
        evaluation.per_class  # noqa: B018 - it takes time
        if "errors" in analyses:
            evaluation.error_kinds(threads=1)
            evaluation.score_curves()
        done = time.perf_counter()
        used = sum(file.stat().st_size for file in Path(path).rglob("*") if file.is_file())
    return matched - start, done - matched, used


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"
