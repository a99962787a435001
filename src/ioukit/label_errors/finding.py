"""Finding label errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_threads
from ioukit.evaluation.results import Evaluation
from ioukit.label_errors.evidence import gather
from ioukit.label_errors.judging import badly_drawn, doubled, overlooked, spurious, swapped
from ioukit.label_errors.label_error import BADLY_DRAWN, OVERLOOKED, SWAPPED
from ioukit.label_errors.label_errors import LabelErrors

if TYPE_CHECKING:
    import numpy.typing as npt


_LEAST_SCORE = 1e-5  # suspicions below are not listed


def find_label_errors(evaluation: Evaluation, *, threads: int | None = None) -> LabelErrors:
    """The labels of the ground truth that are likely wrong, most suspicious first.

    The detections of a model are the evidence. Labels that they contradict are suspicious where the model is usually
    right: with such a score, for such a class and size, and so far from other objects and detections. This is measured
    on the same data, most of whose labels are right. The model should not be trained on these images.

    - **Overlooked**: a detection matches no object, although detections like it usually match one.
    - **Badly drawn**: the detection of an object overlaps it less than detections like it overlap their objects.
    - **Swapped**: a detection of another class overlaps the object, and is stronger than those of its own class.
      Strength is the score, less if the IoU is below 0.7. The classes on the rest of the image count, too.
    - **Doubled**: two objects overlap more than two objects usually do. The one with less support is accused.
    - **Spurious**: no detection lies on an object of a class and size that is usually found.

    An object is accused once at most, for the likeliest reason. Crowds and ignored objects are never accused. Neither
    are detections on ignored objects or on crowds of their class, nor those of classes that are not annotated
    exhaustively on an image (LVIS).

    Args:
        evaluation: The evaluation, with its data or with a match table that has near pairs of an IoU of at least 0.1
            (``match(..., near=0.1)``), such as a sum of tables. A table alone holds no boxes. So sizes are known by
            area range only, the overlap of two objects is a lower bound from a detection that overlaps both, and
            several detections of one overlooked object are several rows. A method of NMS that keeps one of them
            avoids this.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        The suspicions. Their score estimates the probability that the label is wrong. How many labels are wrong in each
        way is estimated from the data. So the scores of a kind add up to the number of wrong labels to expect.

    Raises:
        TypeError: If ``evaluation`` is not an :class:`~ioukit.Evaluation`.
        ValueError: If the protocol does not rank, or the evaluation has neither its data nor near pairs.

    Examples:
        >>> import numpy as np
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> images, boxes = np.arange(50), np.tile([10.0, 10.0, 50.0, 50.0], (50, 1))
        >>> found = Detections.from_arrays(
        ...     image_ids=images, category_ids=images * 0, boxes=boxes, scores=np.linspace(0.5, 0.9, 50)
        ... )
        >>> labels = GroundTruth.from_arrays(
        ...     image_ids=images[:49], category_ids=images[:49] * 0, boxes=boxes[:49], images=images
        ... )
        >>> errors = find_label_errors(evaluate(labels, found))
        >>> errors.kinds[0], errors.rows()[0].image_id
        ('overlooked', 49)

    Reference: the comparison of labels with detections follows Tkachenko et al., ObjectLab: Automated Diagnosis of
    Mislabeled Images in Object Detection Data, 2023, arXiv:2309.00832; the scores are ioukit's own.
    """
    if not isinstance(evaluation, Evaluation):
        raise TypeError(f"expected an Evaluation, got {type(evaluation).__name__}: Evaluation.from_table takes a table")
    check_threads(threads)
    evidence = gather(evaluation, threads=threads)
    table = evidence.table
    parts = [
        overlooked(evidence),
        badly_drawn(evidence, threads),
        swapped(evidence),
        doubled(evidence, threads),
        spurious(evidence, threads),
    ]
    kind = np.concatenate([np.full(len(part.object), part.kind, np.uint8) for part in parts])

    def column(name: str) -> npt.NDArray[Any]:
        return np.concatenate([getattr(part, name) for part in parts])

    accused, detection, odds = column("object"), column("detection"), column("odds")
    score = odds / (1 + odds)
    # Equal scores keep the order of kinds, then of rows.
    order = np.argsort(-score, kind="stable")
    order = order[score[order] >= _LEAST_SCORE]
    order = order[_first(accused[order])]
    kind, accused, detection, other = kind[order], accused[order], detection[order], column("other")[order]
    of_object, of_detection = table.objects, table.detections
    suggests = np.isin(kind, (OVERLOOKED, BADLY_DRAWN, SWAPPED))
    return LabelErrors(
        evaluation=evaluation,
        kind=kind,
        score=score[order],
        image=np.where(accused >= 0, _at(of_object.image, accused), _at(of_detection.image, detection)),
        object=accused,
        detection=detection,
        other=other,
        category=np.where(accused >= 0, _at(of_object.category, accused), -1),
        suggested=np.where(suggests, _at(of_detection.category, detection), -1),
        overlap=column("overlap")[order],
        expected=column("expected")[order],
    )


def _first(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """(N,) whether a row is not listed earlier; -1 stands for no row, and may be repeated."""
    first = np.zeros(len(rows), np.bool_)
    first[np.unique(rows, return_index=True)[1]] = True
    return first | (rows < 0)


def _at(column: npt.NDArray[np.uint32], rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """(N,) the values at these rows, 0 where a row is -1."""
    values = np.zeros(len(rows), np.int64)
    values[rows >= 0] = column[rows[rows >= 0]]
    return values
