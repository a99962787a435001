"""From data to results in one call.

The first call imports NumPy and the other modules of an evaluation, while other threads read its files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeAlias

from ioukit._keywords import answers_keywords
from ioukit.datasets.reading_ahead import KINDS_OF_MASKS, ReadingAhead
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.protocols import Protocol
    from ioukit.evaluation.results import Evaluation
    from ioukit.typing import IouType, ProtocolName


GroundTruthLike: TypeAlias = "GroundTruth | str | os.PathLike[str] | Mapping[str, Any]"
DetectionsLike: TypeAlias = "Detections | str | os.PathLike[str] | Sequence[Mapping[str, Any]] | npt.NDArray[Any]"

_LAST_IMPORT = "ioukit.evaluation.results"


@answers_keywords
def evaluate(
    ground_truth: GroundTruthLike,
    detections: DetectionsLike,
    protocol: Protocol | ProtocolName | None = None,
    *,
    iou_type: IouType = "bbox",
    categories: Sequence[int | str] | None = None,
    images: Sequence[int | str] | npt.NDArray[Any] | None = None,
    near: float | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Evaluate detections: ``summarise(accumulate(match(...)))``, kept together.

    With the protocol :data:`COCO`, arrays and numbers are those of pycocotools 2.0.11 to the last bit. Boxes whose area
    underflows, because it is below 2.3e-308 square pixels, are the exception: pycocotools divides 0 by 0 and counts the
    result as a match; here these boxes do not match.

    Args:
        ground_truth: The objects: :class:`~ioukit.GroundTruth`, the path of a file, a table in memory, or the mapping
            that ``json.load`` returns for a COCO file.
        detections: The detections, on images and categories that the ground truth lists:
            :class:`~ioukit.Detections`, the path of a file, a table in memory, or a list of COCO's records.
        protocol: The rules, or their name in :data:`ioukit.evaluation.protocols.PROTOCOLS`, such as ``"voc2012"``;
            ``COCO.replace(...)`` changes some of them. If ``None``, those of the kind of region: :data:`COCO_KEYPOINTS`
            for keypoints, else :data:`COCO`; and :data:`UNRANKED` for detections without scores.
        iou_type: The kind of region that is compared, ``"bbox"`` or ``"segm"`` for example, see
            :func:`ioukit.evaluation.match`.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        images: Ids of the images to evaluate; all if ``None``.
        near: As for :func:`ioukit.evaluation.match`. It is not needed while the evaluation holds its data.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a detection has an image or category that the ground truth does not list, or a file is
            invalid.
        ValueError: If no protocol or kind of region has the name, or ``categories`` or ``images`` has one that the
            ground truth does not list.

    Warns:
        UserWarning: If detections are a list of records whose boxes fit another format than COCO's. Of other data,
            :attr:`Evaluation.notes` says so.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 8]], scores=[0.9])
        >>> round(evaluate(ground_truth, detections).summary["AP"], 3)
        0.7
    """
    waits_for_imports, masks = _LAST_IMPORT not in sys.modules, iou_type in KINDS_OF_MASKS
    with ReadingAhead(ground_truth, detections, threads, masks=masks) if waits_for_imports else nullcontext():
        from ioukit.evaluation.curves import accumulate  # noqa: PLC0415 - the files are read meanwhile
        from ioukit.evaluation.matching import match  # noqa: PLC0415
        from ioukit.evaluation.protocols.registry import protocol_of  # noqa: PLC0415
        from ioukit.evaluation.results import Evaluation  # noqa: PLC0415

        rules = None if protocol is None else protocol_of(protocol, iou_type)  # before anything is read
        gt = ground_truth_of(ground_truth, rules, threads)
        with _naming_the_check():
            dt = detections_of(detections, gt, threads)
            options: dict[str, Any] = {"categories": categories, "images": images, "near": near, "threads": threads}
            table = match(gt, dt, rules, iou_type=iou_type, **options)
    curves = accumulate(table, threads=threads)
    evaluation = Evaluation(table, curves, gt.dropped + dt.dropped, (*gt.notes, *dt.notes), gt, dt)
    if isinstance(detections, list):  # `ioukit eval` says so of files
        evaluation.warn_of_readings()
    return evaluation


@contextmanager
def _naming_the_check() -> Iterator[None]:
    """Says of an id that the ground truth does not list who looks for the reason."""
    try:
        yield
    except DatasetError as error:
        if ": expected the id " not in str(error):
            raise
        raise DatasetError(f"{error}; ioukit.checks.check(ground_truth, detections) looks for the reason") from None


def ground_truth_of(given: GroundTruthLike, protocol: Protocol | None, threads: int | None) -> GroundTruth:
    """The objects that :func:`evaluate` was given, read if they are a path or records."""
    from ioukit.datasets import Detections, GroundTruth  # noqa: PLC0415 - loads NumPy

    if isinstance(given, GroundTruth):
        return given
    _check_no_text(given)
    if isinstance(given, str | os.PathLike):
        from ioukit.datasets import read  # noqa: PLC0415 - only paths need the readers

        return read(given, threads=threads)
    if isinstance(given, Mapping):
        lists = protocol is not None and protocol.needs_lists_of_lvis
        return GroundTruth.from_coco(given, dialect="lvis" if lists else "coco")
    from ioukit.datasets.formats.in_memory import is_in_memory  # noqa: PLC0415 - as above

    if is_in_memory(given):
        from ioukit.datasets import read  # noqa: PLC0415 - as above

        return read(given, threads=threads)
    raise TypeError(
        "ground_truth must be GroundTruth, a path, a table, or a mapping with images, categories and annotations, got "
        f"{type(given).__name__}: "
        + ("the ground truth comes first" if isinstance(given, Detections) else _per_image(given))
    )


def _per_image(given: object) -> str:
    """What to do with objects that are no data set."""
    if isinstance(given, Sequence) and all(isinstance(one, Mapping) for one in given):
        return (
            "lists with a dict per image go to ioukit.Evaluator().update(predictions, targets), and those with a dict "
            "per object into a mapping {'images': ..., 'annotations': ..., 'categories': ...}"
        )
    return "GroundTruth.from_arrays takes arrays"


def detections_of(given: DetectionsLike, gt: GroundTruth, threads: int | None) -> Detections:
    """The detections that :func:`evaluate` was given, read if they are a path or records, as they meet the objects."""
    return _read_detections(given, gt, threads).meeting(gt)


def _read_detections(given: DetectionsLike, gt: GroundTruth, threads: int | None) -> Detections:
    import numpy as np  # noqa: PLC0415 - the files of an evaluation are read while it is imported

    from ioukit.datasets import Detections  # noqa: PLC0415 - as above

    if isinstance(given, Detections):
        return given
    _check_no_text(given)
    if isinstance(given, str | os.PathLike):
        from ioukit.datasets import read_detections  # noqa: PLC0415 - as above

        return read_detections(given, ground_truth=gt, threads=threads)
    if isinstance(given, Sequence | np.ndarray) and not isinstance(given, bytes):
        if len(given) and isinstance(given[0], Mapping) and {"boxes", "bbox"} & {*given[0]} == {"boxes"}:
            raise TypeError(
                f"detections must be a list with a dict per object, got one with 'boxes': {_per_image(given)}"
            )
        return Detections.from_coco(given)
    from ioukit.datasets.formats.in_memory import is_in_memory  # noqa: PLC0415 - as above

    if is_in_memory(given):
        from ioukit.datasets import read_detections  # noqa: PLC0415 - as above

        return read_detections(given, ground_truth=gt, threads=threads)
    from ioukit.evaluation.results import Evaluation  # noqa: PLC0415 - only for the message

    raise TypeError(
        "detections must be Detections, a path, a table, a list of records or an (N, 7) array, got "
        f"{type(given).__name__}: "
        + (
            "an evaluation is a result already; its data are evaluation.detections"
            if isinstance(given, Evaluation)
            else "Detections.from_arrays takes arrays"
        )
    )


def _check_no_text(given: object) -> None:
    """Refuses the text of a JSON file in place of its path."""
    if isinstance(given, str) and given.lstrip()[:1] in ("{", "["):
        raise TypeError("expected the path of a file, got JSON text: write the path, or json.loads(text)")
