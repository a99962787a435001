"""Columns of result tables, and the evaluation that their values come from."""

from __future__ import annotations

import typing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit._checks import check_number
from ioukit.datasets.formats.text_files import shortened
from ioukit.evaluation.analysis.images import ImageResults, per_image
from ioukit.evaluation.analysis.outcomes import Outcomes, outcomes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


ColumnType: TypeAlias = Literal["integer", "number", "text", "flag", "id"]


@dataclass(frozen=True)
class ResultColumn:
    """A column of a result table."""

    name: str
    """Its name in data frames and files. A part in ``<...>`` stands for a name that the data or the protocol gives."""
    type: ColumnType
    """``"integer"`` (int64), ``"number"`` (float64), ``"text"``, ``"flag"`` (bool), or ``"id"``: integers, or text if
    the data set identifies its images by text."""
    meaning: str
    """What it holds, in a sentence or two."""
    unit: str = ""
    """The unit of its numbers; empty if they have none."""
    optional: bool = False
    """Whether values may be missing."""
    needs_data: bool = False
    """Whether all values are missing if the evaluation holds a match table alone."""


class Values(NamedTuple):
    """The values of a column. NaN in numbers is a missing value."""

    array: NDArray[Any]
    """(N,) int64, float64 or bool; with :attr:`words`, positions in these."""
    valid: NDArray[np.bool_] | None = None
    """(N,) whether there is a value; ``None`` if all are there, and for numbers."""
    words: Sequence[str] | None = None
    """The texts that the positions stand for."""

    def taken(self, rows: slice) -> Values:
        """The values of some rows."""
        return Values(self.array[rows], None if self.valid is None else self.valid[rows], self.words)

    def objects(self) -> NDArray[np.object_]:
        """(N,) the texts of the positions as Python objects; ``None`` where there is none."""
        assert self.words is not None
        objects = np.array([*self.words, None], np.object_)
        array = self.array if self.valid is None else np.where(self.valid, self.array, -1)
        found: NDArray[np.object_] = objects[array]
        return found


def numbers(array: Any) -> Values:
    """A column of numbers; NaN is a missing value."""
    return Values(np.asarray(array, np.float64))


def texts(words: Sequence[str], positions: NDArray[Any], *, empty: bool = True) -> Values:
    """A column of texts, each a position in a list. Position -1, and without `empty` also "", is a missing value.

    Characters that are no Unicode, such as half of a surrogate pair, become escapes, because files cannot hold them. A
    text of more than 1,000 characters is cut, because a file may have it in thousands of rows.
    """
    writable = [shortened(word, 1000).encode("utf-8", "backslashreplace").decode("utf-8") for word in words]
    known = np.array([empty or bool(word) for word in writable] + [False], np.bool_)
    return Values(np.asarray(positions, np.int64), known[positions], writable)


def of_rows(array: NDArray[Any], rows: NDArray[np.int64]) -> Values:
    """The values of rows of another column; a missing value for row -1."""
    if array.dtype.kind == "f":
        return numbers(np.append(array, np.nan)[rows])
    return Values(np.append(array, array.dtype.type())[rows], rows >= 0)


def missing(count: int, type: ColumnType) -> Values:
    """So many missing values."""
    if type == "number":
        return numbers(np.full(count, np.nan))
    array = np.zeros(count, np.bool_ if type == "flag" else np.int64)
    return Values(array, np.zeros(count, np.bool_), [""] if type == "text" else None)


if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.class_results import ClassResult, ClassResults
    from ioukit.evaluation.curves import Curves
    from ioukit.evaluation.table import MatchTable

    class _Evaluated(typing.Protocol):
        """The part of an evaluation that tables read."""

        @property
        def matches(self) -> MatchTable: ...
        @property
        def curves(self) -> Curves: ...
        @property
        def ground_truth(self) -> GroundTruth | None: ...
        @property
        def detections(self) -> Detections | None: ...
        @property
        def summary(self) -> Mapping[str, float]: ...
        @property
        def per_class(self) -> ClassResults[ClassResult]: ...


class Source:
    """An evaluation, its data if it holds them, and its outcomes at one point."""

    def __init__(
        self, evaluation: _Evaluated, iou_threshold: float | None, area_range: str | None, score_threshold: float
    ) -> None:
        """Take the evaluation and the arguments of :func:`ioukit.evaluation.outcomes`.

        Raises:
            ValueError: If the protocol has no such threshold or area range, the score threshold is NaN, or the data is
                not that which was matched.
        """
        self.evaluation = evaluation
        self.matches, self.curves = evaluation.matches, evaluation.curves
        self.ground_truth, self.detections = evaluation.ground_truth, evaluation.detections
        self.iou_threshold, self.area_range = iou_threshold, area_range
        self.score_threshold = score_threshold
        check_number(score_threshold=score_threshold)
        protocol = self.matches.protocol
        protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)
        protocol.position_of_area(protocol.main_area if area_range is None else area_range)
        for side, count, name in zip(
            (self.ground_truth, self.detections), self.matches.sources, ("ground truth", "detections"), strict=True
        ):
            if side is not None and len(side) != count:
                raise ValueError(f"expected the {name} that was matched, with {count:,} rows, got {len(side):,} rows")

    @cached_property
    def outcomes(self) -> Outcomes:
        """The outcomes at the point."""
        return outcomes(
            self.matches,
            iou_threshold=self.iou_threshold,
            area_range=self.area_range,
            score_threshold=self.score_threshold,
        )

    @cached_property
    def images(self) -> ImageResults:
        """The counts of each image at the point."""
        return per_image(self.matches, self.outcomes)

    @cached_property
    def listed_images(self) -> NDArray[np.intp] | None:
        """(I,) positions of the images in the ground truth; ``None`` without data."""
        return None if self.ground_truth is None else self.ground_truth.images.positions(self.matches.image_ids)

    def image_columns(self, image: NDArray[Any]) -> dict[str, Values]:
        """The columns ``image_id`` and ``file_name`` for positions of images in the match table."""
        ids, listed = self.matches.image_ids, self.listed_images
        positions = image.astype(np.int64)
        named = missing(len(image), "text")
        if self.ground_truth is not None and listed is not None:
            named = texts(self.ground_truth.images.names.take(listed)[:], positions, empty=False)
        is_text = ids.dtype.kind == "U"
        return {"image_id": texts(ids.tolist(), positions) if is_text else Values(ids[positions]), "file_name": named}

    def category_columns(self, category: NDArray[Any]) -> dict[str, Values]:
        """The columns ``category_id`` and ``category`` for positions of categories in the match table."""
        positions, known = category.astype(np.int64), self.matches.categories
        return {"category_id": Values(known.ids[positions]), "category": texts(known.names, positions)}
