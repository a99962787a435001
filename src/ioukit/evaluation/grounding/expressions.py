"""One region per expression, as in RefCOCO: how often is it the right one, and is a point in the right box?

Owns: which result belongs to which expression, the shares, and those of parts, such as ScreenSpot's platforms. Does not
own: reading, and the formula of the IoU.

Cut here because there is nothing to match: an expression names its object, and a model answers with a box or none.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_number, pluralize
from ioukit._columns import Frozen, positions_in, record
from ioukit._keywords import answers_keywords
from ioukit._near_names import suggest
from ioukit._output import aligned
from ioukit._plain_values import plain_value
from ioukit.errors import DatasetError
from ioukit.evaluation.evaluating import detections_of, ground_truth_of
from ioukit.evaluation.protocols import COCO
from ioukit.evaluation.summary import Summary
from ioukit.overlap.elementwise import elementwise_iou

if TYPE_CHECKING:
    from ioukit._array_types import Flags, Floats, Ids
    from ioukit.datasets.columns.ground_truth import GroundTruth
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike


@record(frozen=True, eq=False, repr=False)
class ExpressionEvaluation(Frozen):
    """The result of :func:`evaluate_expressions`, a row per expression in the order of the ground truth."""

    ids: Ids
    """(N,) the id of the object of each expression."""
    image_ids: npt.NDArray[Any]
    """(N,) the id of its image."""
    has_result: Flags
    """(N,) whether there is a result."""
    iou: Floats
    """(N,) the IoU of the result and the object; 0 without a result."""
    has_point: Flags
    """(N,) whether the centre of the result lies in the box of the object or on its border."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    attributes: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    """(N,) further columns of the objects and of their images, by name: :meth:`by` takes their names."""

    def by(self, *names: str) -> ExpressionsBy:
        """The numbers of parts: one part for each value of a column, or for each combination of values of several.

        So ScreenSpot reports its platforms and kinds of elements: ``found.by("platform", "data_type")``.

        Args:
            *names: Names of :attr:`attributes`: columns of the ground truth beside class and box. Of a COCO file, they
                are read by ``read(path, attributes=True)``.

        Raises:
            ValueError: If no name is given, or there is no column of a name.
        """
        if not names:
            raise ValueError(f"expected the name of a column, one of {', '.join(self.attributes) or 'none'}")
        for name in names:
            if name not in self.attributes:
                known = f"there are {', '.join(self.attributes)}" if self.attributes else "there are none"
                raise ValueError(
                    f"the ground truth has no column {name!r}; {known}{suggest(name, self.attributes, most=1)}"
                )
        columns = [list(map(_in_words, self.attributes[name].tolist())) for name in names]
        ranks = [{value: at for at, value in enumerate(dict.fromkeys(column))} for column in columns]
        rows: dict[tuple[str, ...], list[int]] = {}
        for row, key in enumerate(zip(*columns, strict=True)):
            rows.setdefault(key, []).append(row)
        # In the order in which the values of the first column appear, then of the second.
        keys = sorted(rows, key=lambda key: [rank[value] for rank, value in zip(ranks, key, strict=True)])
        return ExpressionsBy(self, names, {key: self._take(np.array(rows[key])) for key in keys})

    def _take(self, rows: npt.NDArray[np.intp]) -> ExpressionEvaluation:
        return ExpressionEvaluation(
            ids=self.ids[rows],
            image_ids=self.image_ids[rows],
            has_result=self.has_result[rows],
            iou=self.iou[rows],
            has_point=self.has_point[rows],
            attributes={name: column[rows] for name, column in self.attributes.items()},
        )

    def accuracy(self, iou_threshold: float = 0.5) -> float:
        """The share of expressions whose IoU is at least the threshold, such as Acc@0.5."""
        check_number(iou_threshold=iou_threshold)
        return int((self.iou >= iou_threshold).sum()) / len(self.iou)

    @cached_property
    def summary(self) -> Summary:
        """``Acc@0.5``, ``Acc@0.5:0.95`` (the mean over COCO's ten thresholds), ``mIoU`` and ``point``."""
        of_thresholds = [self.accuracy(threshold) for threshold in COCO.iou_thresholds]
        return Summary(
            {
                "Acc@0.5": of_thresholds[0],
                "Acc@0.5:0.95": math.fsum(of_thresholds) / len(of_thresholds),
                "mIoU": math.fsum(self.iou.tolist()) / len(self.iou),
                "point": int(self.has_point.sum()) / len(self.iou),
            }
        )

    @property
    def counts(self) -> dict[str, int]:
        """Expressions, and those with a result."""
        return {"expressions": len(self.iou), "results": int(self.has_result.sum())}

    def table(self) -> str:
        """The numbers in percent."""
        return aligned([[name, f"{100 * value:.1f}"] for name, value in self.summary.items()])

    def to_dict(self) -> dict[str, Any]:
        """All numbers and counts in plain Python values."""
        return {
            "summary": plain_value(self.summary),
            "counts": self.counts,
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={value:.4f}" for key, value in self.summary.items())
        return f"ExpressionEvaluation({numbers}, {pluralize(len(self.iou), 'expression')})"


@record(frozen=True, eq=False, repr=False)
class ExpressionsBy(Frozen):
    """The numbers of the parts of an :class:`ExpressionEvaluation`, see :meth:`ExpressionEvaluation.by`."""

    whole: ExpressionEvaluation
    """The evaluation of all expressions."""
    names: tuple[str, ...]
    """The columns whose values make the parts."""
    parts: Mapping[tuple[str, ...], ExpressionEvaluation]
    """The evaluation of each part, by its values, a value per column; ``"-"`` stands for a missing value."""

    @cached_property
    def mean(self) -> Summary:
        """The mean of each number over the parts, each of the same weight, as ScreenSpot's average."""
        keys = list(self.whole.summary)
        return Summary(
            {key: math.fsum(part.summary[key] for part in self.parts.values()) / len(self.parts) for key in keys}
        )

    def table(self) -> str:
        """The numbers in percent: a line per part, then their mean, then those of all expressions together."""
        empty = [""] * (len(self.names) - 1)
        lines = [
            *((key, part.summary, f"{len(part.iou):,}") for key, part in self.parts.items()),
            (("mean", *empty), self.mean, ""),
            (("all", *empty), self.whole.summary, f"{len(self.whole.iou):,}"),
        ]
        rows = [[*key, *(f"{100 * value:.1f}" for value in numbers.values()), count] for key, numbers, count in lines]
        return aligned([[*self.names, *self.whole.summary, "expressions"], *rows], left=range(len(self.names)))

    def to_dict(self) -> dict[str, Any]:
        """All numbers and counts in plain Python values: those of all expressions, and of the parts."""
        parts = [
            {**dict(zip(self.names, key, strict=True)), "summary": plain_value(part.summary), "counts": part.counts}
            for key, part in self.parts.items()
        ]
        return {**self.whole.to_dict(), "by": list(self.names), "parts": parts, "mean": plain_value(self.mean)}

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        return f"ExpressionsBy({', '.join(self.names)}: {pluralize(len(self.parts), 'part')})"


@answers_keywords
def evaluate_expressions(
    ground_truth: GroundTruthLike, results: DetectionsLike, *, threads: int | None = None
) -> ExpressionEvaluation:
    """Evaluate referring expressions, such as RefCOCO's: Acc@0.5, Acc@0.5:0.95, mean IoU, and point in box.

    An expression names one object. If every image has one object, an image stands for a picture and an expression, and
    classes do not count. Else the class is the expression: the class of an object is the text that names it, and no two
    objects of an image have the same. An expression without a result counts as wrong, with IoU 0.

    The point of a result is the centre of its box, so that a click is a box without width and height.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`. Each is the answer to an expression.
        results: The boxes that a model answers, as for :func:`ioukit.evaluate`. They need no scores. Of several results
            for an expression, the one with the highest score counts, the first of equal ones; without scores, several
            are an error.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If there is no object, two objects have the same expression, a result belongs to no expression, or
            several without scores to one, or a file is invalid.

    Source:
        Yu et al., Modeling Context in Referring Expressions, ECCV 2016, arXiv:1608.00272; for the point, Cheng et al.,
        SeeClick (ScreenSpot), ACL 2024, arXiv:2401.10935.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 10, 10], [20, 0, 10, 10]],
        ...     categories={1: "left cat", 2: "right cat"},
        ... )
        >>> results = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 2], boxes=[[0, 0, 10, 8], [20, 6, 10, 10]], scores=[1, 1]
        ... )
        >>> evaluate_expressions(ground_truth, results)
        ExpressionEvaluation(Acc@0.5=0.5000, Acc@0.5:0.95=0.3500, mIoU=0.5250, point=0.5000, 2 expressions)
    """
    gt = ground_truth_of(ground_truth, None, threads)
    if not len(gt):
        raise DatasetError(f"{gt.source}: expected at least one object with its expression, found none")
    by_class = len(np.unique(gt.image_ids)) < len(gt)
    dt = detections_of(results, gt, threads).meeting(gt)
    dt = dt.known_to(gt) if by_class else dt
    objects, found = (
        _keys(gt, image_ids, category_ids if by_class else np.zeros_like(category_ids))
        for image_ids, category_ids in (
            (gt.image_ids, gt.category_ids),
            (dt.image_ids_in(gt.images), dt.category_ids),
        )
    )
    order = np.argsort(objects, kind="stable")
    if len(again := np.flatnonzero(np.diff(objects[order]) == 0)):
        where = f"image {gt.image_labels()[order[again[0]]].item()!r}"
        raise DatasetError(
            f"{gt.source}: expected one object per image, or per image and class, found several of {where}"
        )
    places = positions_in(objects[order], found)
    if len(unknown := np.flatnonzero(places < 0)):
        where = f"image {dt.image_labels()[unknown[0]].item()!r}, class {dt.category_ids[unknown[0]]}"
        raise DatasetError(
            f"{dt.source}: detections[{unknown[0]}]: expected a result for an object of {gt.source}, found {where}"
        )
    best = np.argsort(-dt.scores, kind="stable")
    answered, firsts = np.unique(places[best], return_index=True)
    if not dt.scored and len(answered) < len(dt):
        where = f"image {dt.image_labels()[np.setdiff1d(best, best[firsts])[0]].item()!r}"
        raise DatasetError(f"{dt.source}: without scores, expected one result per expression, found several of {where}")
    rows = order[answered]
    iou, has_point, has_result = np.zeros(len(gt)), np.zeros(len(gt), np.bool_), np.zeros(len(gt), np.bool_)
    truth, boxes = _corners(gt.boxes[rows]), _corners(dt.boxes[best[firsts]])
    iou[rows] = elementwise_iou(truth, boxes, threads=threads)
    centre = (boxes[:, :2] + boxes[:, 2:]) / 2
    has_point[rows] = ((truth[:, :2] <= centre) & (centre <= truth[:, 2:])).all(axis=1)
    has_result[rows] = True
    notes = tuple(dict.fromkeys([*gt.notes, *dt.notes]))
    return ExpressionEvaluation(gt.ids, gt.image_labels(), has_result, iou, has_point, notes, _attributes(gt))


def _attributes(gt: GroundTruth) -> dict[str, npt.NDArray[Any]]:
    """(N,) columns of the objects, and of their images if no column of objects has the name."""
    places = positions_in(gt.images.ids, gt.image_ids)
    of_images = {
        name: column[places] for name, column in gt.images.attributes.items() if isinstance(column, np.ndarray)
    }
    columns = {**of_images, **gt.flags, **gt.attributes}
    return {name: column for name, column in columns.items() if column.ndim == 1}


def _in_words(value: object) -> str:
    """A value as the name of a part."""
    missing = value is None or value == "" or (isinstance(value, float) and math.isnan(value))
    return "-" if missing else f"{value:g}" if isinstance(value, float) else str(value)


def _corners(boxes: Floats) -> Floats:
    """(N, 4) xyxy of boxes with sizes."""
    return np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1)


def _keys(gt: GroundTruth, image_ids: Ids, category_ids: Ids) -> Ids:
    """(N,) a number for each image and class; -1 for an image that the ground truth does not list."""
    images = positions_in(gt.images.ids, image_ids)
    classes = gt.categories.ids.searchsorted(category_ids)
    return np.where(images < 0, -1, images * (len(gt.categories) + 1) + classes)
