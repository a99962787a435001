"""Evaluation of detections that need not fit in memory: in parts, on this machine or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from ioukit._checks import check_choice
from ioukit._output import check_local
from ioukit.evaluation import Evaluation
from ioukit.evaluation.evaluating import GroundTruthLike
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.scale.engines.local import evaluate_here
from ioukit.scale.memory import Analysis, parsed_memory
from ioukit.scale.requests import Request, check_engine, check_ground_truth
from ioukit.typing import IouType, ProtocolName


def evaluate(
    ground_truth: GroundTruthLike,
    detections: Any,
    protocol: Protocol | ProtocolName | None = None,
    *,
    iou_type: IouType = "bbox",
    categories: Sequence[int | str] | None = None,
    near: float | None = None,
    memory: int | str = "2GB",
    work: str | os.PathLike[str] | None = None,
    parts: int | None = None,
    threads: int | None = None,
    analyses: Sequence[Analysis] = (),
    on: str = "local",
    address: str | None = None,
    timeout: float | None = None,
) -> Evaluation:
    """Evaluate detections in parts, in bounded memory: the same numbers as :func:`ioukit.evaluate`, to the last bit.

    The detections are read once and cut by image into files, unless Parquet files are in the order of the images; each
    part is matched on its own; the curves of each category are drawn from a merge of the parts. The ground truth is
    read as a whole. Protocols whose numbers need all detections of a category at once (miss rates, the Jaccard index,
    KITTI's rules, caps over all images) are computed from the joined table, which takes about 130 bytes per detection.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`.
        detections: What :func:`ioukit.scale.open_detections` takes: a Parquet file, a folder of them or a pattern, a
            CSV, JSON lines or COCO results file, or :class:`~ioukit.Detections`. Only boxes are compared. What that
            function returns is taken, too, if it was opened with the same images and classes: so tables whose columns
            have other names, or other boxes, are evaluated.
        protocol: The rules; if ``None``, those of the kind of region.
        iou_type: The kind of region that is compared: ``"bbox"``.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        near: As for :func:`ioukit.evaluation.match`: 0.1 for the confusion matrix and the error kinds.
        memory: The memory that the process should stay under: bytes, or text such as ``"2GB"``. An analysis of the
            evaluation that needs more, such as a comparison with another one, raises ``ValueError`` before it starts.
        work: A folder for what is done. A run that was interrupted goes on where it stopped if it is started again with
            the same arguments. If ``None``, a temporary folder that is removed with the evaluation.
        parts: Into how many parts the images are cut; by the memory if ``None``. The result does not depend on it.
        threads: How many steps run at a time; all cores if ``None``. The result does not depend on it.
        analyses: What will be asked of the evaluation and needs the rows of its match table: ``"errors"`` (error
            kinds), ``"intervals"``, ``"log"``, ``"report"`` or ``"tables"``. What does not fit into the memory then is
            refused before the work, and not only when it is asked for. The result does not depend on it.
        on: Where the steps run: ``"local"`` in this process, ``"ray"`` as tasks on a Ray cluster. There, ``memory`` is
            what each task may take, a path is one that all nodes see or a URI such as ``s3://bucket/detections``, no
            rows pass through this process, and all nodes need the same version of ioukit. Without ``work``, a cluster
            keeps the match table for as long as the evaluation and the connection exist.
        address: The address of the Ray cluster. If ``None``, the one that the program is connected to, else that of the
            environment variable ``RAY_ADDRESS``, else one of this machine that is started for this call.
        timeout: Seconds after which a run on Ray ends with an error, a few seconds more or less; no limit if ``None``.

    Returns:
        An evaluation. Its numbers are computed; its match table is read from the files when an analysis asks for it.

    Raises:
        DatasetError: If data is invalid, or ``work`` belongs to another run.
        ValueError: If an argument is invalid, or ``memory`` is too little.
        OSError: If a file cannot be read or written. What was finished stays in ``work``.
        MemoryError: If a task on Ray runs out of memory, also with fewer detections at a time: names the part.
        TimeoutError: If the time is over.
        ModuleNotFoundError: If PyArrow is not installed: ``pip install 'ioukit[tables]'``.
    """
    check_choice("iou_type", iou_type, ("bbox",))
    check_engine(on, address, timeout)
    if isinstance(analyses, str):
        raise TypeError(f"analyses must be a list of names, got {analyses!r}")
    for name in analyses:
        check_choice("analyses", name, get_args(Analysis))
    if "errors" in analyses and near is None:
        raise ValueError("the error kinds of analyses need the pairs that overlap a little: give near=0.1")
    if work is not None:
        check_local(work)
    rules = None if protocol is None else protocol_of(protocol, iou_type)
    folder, size = None if work is None else Path(work).absolute(), parsed_memory(memory)
    request = Request(ground_truth, detections, rules, iou_type, categories, near, size, folder, parts, tuple(analyses))
    if on == "ray":
        from ioukit.scale.engines.ray import evaluate_on_ray  # noqa: PLC0415 - only Ray needs it

        return evaluate_on_ray(request, address=address, threads=threads, timeout=timeout)
    check_ground_truth(ground_truth)
    return evaluate_here(request, threads)
