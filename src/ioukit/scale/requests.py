"""What is evaluated, and what follows of it before any detection is read: the parts and the rules."""

from __future__ import annotations

import dataclasses
import errno
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ioukit._checks import check_choice, check_count
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.matching import checked_near, match
from ioukit.evaluation.protocols import Protocol
from ioukit.scale.in_order import Layout, layout_of
from ioukit.scale.kept_files import digest_of
from ioukit.scale.memory import Analysis, Budget, Load, Results, budget_of
from ioukit.scale.parts import Job, edges_of
from ioukit.scale.sources.opening import open_detections
from ioukit.scale.sources.source import Cut, DetectionSource


@dataclasses.dataclass(frozen=True)
class Request:
    """The arguments of :func:`ioukit.scale.evaluate` that an engine needs."""

    ground_truth: Any
    detections: Any
    protocol: Protocol | None
    iou_type: str
    categories: Sequence[int | str] | None
    near: float | None
    memory: int
    work: Path | None
    parts: int | None
    analyses: tuple[Analysis, ...] = ()


@dataclasses.dataclass(frozen=True)
class Prepared:
    """What follows of a request and its ground truth."""

    source: DetectionSource
    """The detections, not read yet."""
    budget: Budget
    """The sizes of batches and parts."""
    load: Load
    """What is held apart from the steps, unless it is elsewhere."""
    categories: Categories
    """The categories that are evaluated."""
    described: dict[str, Any]
    """What a work folder remembers of the run."""
    job: Job
    """The job, with as many parts as ``described`` says."""
    layout: Layout | None
    """The parts that pieces have alone, if there are such."""

    def cut(self, parts: int, *, by_piece: bool) -> tuple[Job, Mapping[int, int]]:
        """The job with its parts, and the part that a piece has alone, by the number of the piece.

        Args:
            parts: The number of parts, if they are equal.
            by_piece: Whether the parts are those that pieces have alone.
        """
        if by_piece and self.layout is not None:
            return dataclasses.replace(self.job, edges=self.layout.edges), self.layout.owned
        return dataclasses.replace(self.job, edges=edges_of(len(self.job.images), parts)), {}


def check_engine(on: str, address: str | None, timeout: float | None) -> None:
    """Refuse an engine that is not known, and arguments of a cluster without one."""
    check_choice("on", on, ("local", "ray"))
    if on == "local" and (address is not None or timeout is not None):
        raise ValueError("address and timeout need on='ray'")


def check_ground_truth(given: Any) -> None:
    """Say that the ground truth is missing, if its path is: a run has other paths, too.

    Raises:
        FileNotFoundError: If nothing is at the path.
    """
    if isinstance(given, str | os.PathLike) and not os.path.exists(given):
        raise FileNotFoundError(errno.ENOENT, "the ground truth is not there", os.fspath(given))


def _opened(given: Any, gt: GroundTruth, budget: Budget, *, holds_pieces: bool) -> DetectionSource:
    """The detections, in batches that fit, and in pieces that fit if a step holds one."""
    piece_rows = min(Cut().piece_rows, budget.piece_rows) if holds_pieces else Cut().piece_rows
    if not isinstance(given, DetectionSource):
        return open_detections(given, gt, batch_rows=budget.batch_rows, piece_rows=piece_rows)
    known = given.names.ground_truth
    if digest_of(known.images, known.categories) != digest_of(
        dataclasses.replace(gt.images, attributes={}), gt.categories
    ):
        raise ValueError("the detections were opened with other images or classes: open them with those to evaluate")
    largest = max((piece.estimated_rows for piece in given.pieces), default=0)
    if holds_pieces and largest > piece_rows:
        raise ValueError(
            f"expected pieces of at most {piece_rows:,} rows with this memory, got one of {largest:,}: open the "
            f"detections with piece_rows={piece_rows}"
        )
    return given.in_batches(budget.batch_rows)


def prepare(
    request: Request,
    gt: GroundTruth,
    *,
    ground_truth_bytes: int,
    threads: int,
    multiple_of: int = 1,
    holds_pieces: bool = False,
) -> Prepared:
    """Open the detections and cut the images into parts.

    Args:
        request: What is evaluated.
        gt: Its ground truth.
        ground_truth_bytes: The memory of the ground truth in each process that does the work.
        threads: How many steps share the memory.
        multiple_of: The number of parts is a multiple of it, unless the request says how many.
        holds_pieces: Whether a step holds the rows of a whole piece, so that pieces have to fit into the memory, too.
    """
    rules = find_kind(request.iou_type).protocol if request.protocol is None else request.protocol
    if request.parts is not None:
        check_count(parts=request.parts)
    # What the rules need is missing: now.
    objects = match(gt, Detections.from_coco([]), rules, iou_type=request.iou_type, categories=request.categories)
    results = Results() if holds_pieces else Results.of(rules, objects.num_objects)
    budget = budget_of(request.memory, ground_truth_bytes, threads, results)
    source = _opened(request.detections, gt, budget, holds_pieces=holds_pieces)
    held = ground_truth_bytes, results, source.estimated_rows
    load = Load(request.memory, threads, *held, not rules.draws_in_parts, request.analyses)
    if not holds_pieces:
        load.check()
    parts = request.parts
    if parts is None:
        parts = -(-max(source.estimated_rows, 1) // (budget.part_rows * multiple_of)) * multiple_of
    places = None if request.categories is None else np.sort(gt.categories.positions(request.categories))
    categories = gt.categories if places is None else gt.categories.take(places)
    near = checked_near(rules, request.near)
    layout = layout_of(source.pieces, gt.images)
    described: dict[str, Any] = {
        "ground_truth": [gt.source, len(gt), len(gt.images), digest_of(gt, gt.images, gt.categories)],
        "detections": source.fingerprint(),
        "protocol": rules.to_dict(),
        "iou_type": request.iou_type,
        "categories": None if places is None else categories.ids.tolist(),
        "near": near,
        "parts": max(1, min(parts, len(gt.images))),
        "by_piece": layout is not None and request.parts is None,
    }
    job = Job(
        protocol=rules,
        iou_type=request.iou_type,
        categories=None if places is None else tuple(categories.ids.tolist()),
        near=near,
        images=dataclasses.replace(gt.images, attributes={}),
        known_categories=gt.categories.ids,
        edges=edges_of(len(gt.images), described["parts"]),
    )
    return Prepared(source, budget, load, categories, described, job, layout)
