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
import numpy.typing as npt

from ioukit._checks import check_threads, duration
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.operations.subset import subset
from ioukit.evaluation import Evaluation
from ioukit.evaluation.curves import curves_of
from ioukit.evaluation.evaluating import GroundTruthLike, ground_truth_of
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.scale.memory import Analysis, bytes_of, parsed_memory
from ioukit.scale.parts import GroundTruthParts, Job, edges_of
from ioukit.scale.requests import Request, prepare
from ioukit.scale.sources.source import DetectionSource
from ioukit.scale.stages import draw_together, match_part, split
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
        return (
            f"detections   {about}{self.detections:,}, of {self.images:,} images with {self.annotations:,} objects\n"
            f"parts        {self.parts:,}, {self.threads} at a time\n"
            f"memory       {_size(self.memory)}\n"
            f"disk         {_size(self.disk)}\n"
            f"time         {duration(self.seconds)} (from a sample of {self.sample:,} detections)"
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
    few = source.in_batches(min(budget.batch_rows, SAMPLE_ROWS // 3))
    reading, sample = min((_sample(few) for _ in range(2)), key=lambda timed: timed[0])  # once to load what reads them
    size = sum(map(len, sample))
    by_piece = prepared.described["by_piece"]
    if by_piece and size:
        # Rows in another order are split, if a piece has more of them than are matched at once.
        count = source.pieces[0].rows or 0
        in_order = sample[0].image_ids.max() <= np.mean(source.pieces[0].image_ids or 0)
        by_piece = bool(in_order) or budget.in_order(count)[0] >= count
    job, owned = prepared.cut(prepared.described["parts"], by_piece=by_piece)
    rows = source.estimated_rows
    fixed, of_object, of_row = _costs(gt, sample, job, split_to_files=not owned, analyses=analyses)
    matching, drawing, used = len(gt) * of_object + rows * of_row
    piece = max((one.rows or rows for one in source.pieces), default=0)
    busy, part = min(budget.threads, max(1, len(source.pieces))), min(-(-rows // job.parts), budget.most_rows)
    return Plan(
        detections=rows,
        estimated=source.rows is None,
        images=len(gt.images),
        annotations=len(gt),
        parts=job.parts,
        threads=budget.threads,
        memory=prepared.load.expected(
            budget,
            split=0 if owned else busy * min(budget.batch_rows, piece),
            matched=busy * budget.in_order(piece)[0] if owned else budget.threads * part,
        ),
        disk=int(used + job.parts * fixed[2]),
        seconds=float(fixed[1])
        + (matching + drawing + job.parts * fixed[0] + rows * reading / max(size, 1)) / budget.threads,
        sample=size,
    )


def _sample(source: DetectionSource) -> tuple[float, list[Detections]]:
    """The first batch of the first, the middle and the last piece, and the seconds to read them."""
    start, count = time.perf_counter(), len(source.pieces)
    chosen = dict.fromkeys([0, count // 2, count - 1]) if count else {}
    batches = [next(source.pieces[number].read(), None) for number in chosen]
    return time.perf_counter() - start, [batch for batch in batches if batch is not None and len(batch)]


def _costs(
    gt: GroundTruth, sample: Sequence[Detections], job: Job, *, split_to_files: bool, analyses: Sequence[str]
) -> list[npt.NDArray[np.float64]]:
    """What :func:`_measured` gives for a part without data, and for each object and each detection beside that.

    A sample of shuffled files has a few detections of many images, with all objects of these. And what classes cost
    depends on neither. So the three are told apart: by the sample, its objects alone, and next to nothing.
    """
    images = np.unique(np.concatenate([batch.image_labels() for batch in sample] or [gt.images.labels[:1]]))
    chosen, one = subset(gt, images=images), subset(gt, images=images[:1])
    timed = (2, chosen, sample), (1, chosen, sample[:0]), (1, one, sample[:0])  # the first one once to load it
    whole, alone, least = (
        np.min([_measured(objects, batches, job, split_to_files, analyses) for _ in range(times)], axis=0)
        for times, objects, batches in timed
    )
    of_object = np.maximum(alone - least, 0) / max(1, len(chosen) - len(one))
    of_row = np.maximum(whole - alone, 0) / max(1, sum(map(len, sample)))
    return [np.maximum(least - len(one) * of_object, 0), of_object, of_row]


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
        write_table(table, folder.table(0, len(images)).path)
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
