"""What result tables are made of: an evaluation, and the point at which its outcomes are taken."""

from __future__ import annotations

import typing
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_number
from ioukit.evaluation.analysis.images import ImageResults, per_image
from ioukit.evaluation.analysis.outcomes import Outcomes, outcomes
from ioukit.evaluation.tables.columns import Values, missing, texts

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


__all__ = ["Source"]


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
