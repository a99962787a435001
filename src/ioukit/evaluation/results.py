"""The results of an evaluation: numbers, tables and analyses."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation.class_results import ClassResult, ClassResults
from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.matching import match
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.sending import SendingMethods
from ioukit.evaluation.summary import summarise, summarise_classes, table
from ioukit.evaluation.table import MatchTable

if TYPE_CHECKING:
    from ioukit.evaluation.analysis.confusion import ConfusionMatrix
    from ioukit.evaluation.analysis.images import ImageResults
    from ioukit.evaluation.analysis.lrp import LRPErrors
    from ioukit.evaluation.analysis.operating import ScoreCurves
    from ioukit.evaluation.analysis.outcomes import Outcomes
    from ioukit.evaluation.analysis.tide import ErrorKinds

__all__ = ["Evaluation"]

_NEAR = 0.1  # the background threshold of TIDE


@record(frozen=True, eq=False, repr=False)
class Evaluation(SendingMethods, Frozen):
    """The result of :func:`ioukit.evaluate`, or of :meth:`from_table`."""

    matches: MatchTable
    """Which detection matches which object."""
    curves: Curves
    """Precision, recall and scores along every curve."""
    dropped: int = 0
    """Records that were left out because they were invalid."""
    notes: tuple[str, ...] = ()
    """Notes about the data that a user should know."""
    ground_truth: GroundTruth | None = None
    """The ground truth; ``None`` if only the match table was kept."""
    detections: Detections | None = None
    """The detections; ``None`` if only the match table was kept."""

    @classmethod
    def from_table(cls, table: MatchTable, *, threads: int | None = None) -> Evaluation:
        """The evaluation of a match table, for example one read from a file or a sum of tables.

        Args:
            table: The matches. With near pairs, every analysis works without the data.
            threads: How many threads; all cores if ``None``. The result does not depend on it.
        """
        repeated = table.repeated_images
        notes = (f"{repeated:,} images that were in two tables count once",) if repeated else ()
        return cls(table, accumulate(table, threads=threads), notes=notes)

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self.matches.protocol

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """(T, R, K, A, M), see :class:`Curves`."""
        return self.curves.precision

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """(T, K, A, M), see :class:`Curves`."""
        return self.curves.recall

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """(T, R, K, A, M), see :class:`Curves`."""
        return self.curves.scores

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many rows were evaluated, within the chosen images and categories, and how many were left out.

        ``images``, ``categories``, ``annotations``, ``crowds`` (annotations that are ignored whatever their size),
        ``detections`` and ``dropped``.
        """
        table = self.matches
        listed = {"images": len(table.image_ids), "categories": len(table.evaluated)}
        return MappingProxyType({**listed, **table.totals, "dropped": self.dropped})

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """The numbers of the protocol by their keys, NaN where undefined.

        COCO's are AP AP50 AP75 APs APm APl AR1 AR10 AR100 ARs ARm ARl. With other caps or area ranges there are further
        ones (``AR300``, ``APtiny``, ``ARtiny``). Each is described by one of ``protocol.measures``.
        """
        return MappingProxyType(summarise(self.curves))

    @cached_property
    def per_class(self) -> ClassResults[ClassResult]:
        """The numbers of every category, sorted by id; ``per_class["person"]`` finds one by name."""
        table, categories = self.matches, self.matches.evaluated
        area = self.protocol.position_of_area(self.protocol.main_area)
        rows = zip(
            categories.ids.tolist(),
            categories.names,
            table.num_objects[:, area].tolist(),
            table.num_detections.tolist(),
            map(MappingProxyType, summarise_classes(self.curves)),
            strict=True,
        )
        return ClassResults([ClassResult(*row) for row in rows])

    def score_curves(self, *, iou_threshold: float | None = None, area_range: str | None = None) -> ScoreCurves:
        """Precision, recall and F1 over the score threshold, see :func:`ioukit.evaluation.score_curves`."""
        from ioukit.evaluation.analysis.operating import score_curves  # noqa: PLC0415 - evaluating does not need it

        return score_curves(self.matches, iou_threshold=iou_threshold, area_range=area_range)

    def lrp_errors(self, *, iou_threshold: float | None = None, area_range: str | None = None) -> LRPErrors:
        """LRP over the score threshold and oLRP of each class, see :func:`ioukit.evaluation.lrp_errors`."""
        from ioukit.evaluation.analysis.lrp import lrp_errors  # noqa: PLC0415 - as above

        return lrp_errors(self.matches, iou_threshold=iou_threshold, area_range=area_range)

    def outcomes(
        self,
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> Outcomes:
        """The outcome of every detection and object, see :func:`ioukit.evaluation.outcomes`."""
        from ioukit.evaluation.analysis.outcomes import outcomes  # noqa: PLC0415 - as above

        return outcomes(
            self.matches, iou_threshold=iou_threshold, area_range=area_range, score_threshold=score_threshold
        )

    def per_image(
        self,
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> ImageResults:
        """Counts and scores of every image, see :func:`ioukit.evaluation.per_image`."""
        from ioukit.evaluation.analysis.images import per_image  # noqa: PLC0415 - as above

        became = self.outcomes(iou_threshold=iou_threshold, area_range=area_range, score_threshold=score_threshold)
        return per_image(self.matches, became)

    def confusion(
        self,
        *,
        iou_threshold: float = 0.5,
        score_threshold: float = 0.25,
        max_dets: int | None = None,
        threads: int | None = None,
    ) -> ConfusionMatrix:
        """Which classes are confused, see :func:`ioukit.evaluation.confusion_matrix`.

        Raises:
            ValueError: As :meth:`near_matches` and the function.
        """
        from ioukit.evaluation.analysis.confusion import confusion_matrix  # noqa: PLC0415 - as above

        return confusion_matrix(
            self.near_matches(min(iou_threshold, _NEAR), threads=threads),
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            max_dets=max_dets,
            threads=threads,
        )

    def error_kinds(
        self,
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        background_threshold: float = 0.1,
        max_dets_per_image: int | None = None,
        threads: int | None = None,
    ) -> ErrorKinds:
        """The kinds of errors and the AP that each costs, see :func:`ioukit.evaluation.error_kinds`.

        Raises:
            ValueError: As :meth:`near_matches` and the function.
        """
        from ioukit.evaluation.analysis.tide import error_kinds  # noqa: PLC0415 - as above

        return error_kinds(
            self.near_matches(min(background_threshold, _NEAR), threads=threads),
            iou_threshold=iou_threshold,
            area_range=area_range,
            background_threshold=background_threshold,
            max_dets_per_image=max_dets_per_image,
            threads=threads,
        )

    def near_matches(self, least: float = _NEAR, *, threads: int | None = None) -> MatchTable:
        """The match table with the near pairs that some analyses need.

        This is :attr:`matches` if it has these pairs. Otherwise the data is matched once more, and the new table is
        kept.

        Args:
            least: Pairs with this IoU or a higher one are needed.
            threads: How many threads; all cores if ``None``.

        Raises:
            ValueError: If the table does not list such pairs, and the evaluation does not hold its data.
        """
        known: MatchTable = vars(self).get("_near_matches", self.matches)
        if (known.near is not None and known.near.least <= least) or not 0 < least <= 1:
            return known  # the analysis raises the error about an invalid threshold
        if self.ground_truth is None or self.detections is None:
            raise ValueError(
                "this evaluation holds a match table alone, without the near pairs that this needs: match with "
                f"near={least:g}, or keep the data"
            )
        # If no detection is beyond the cap, a table with near pairs has the same rows: only the pairs are missing, and
        # hardly any pair needs to be matched at an IoU of 1 to get them.
        has_rows = self.matches.image_detections.sum() == len(self.matches.detections)
        only_pairs = bool(has_rows) and self.protocol.objects_choose is None
        table = match(
            self.ground_truth,
            self.detections,
            self.protocol.replace(iou_thresholds=(1.0,)) if only_pairs else self.protocol,
            iou_type=self.matches.iou_type,
            categories=self.matches.categories.ids.tolist(),
            images=self.matches.image_ids,
            near=least,
            threads=threads,
        )
        if only_pairs:
            table = dataclasses.replace(self.matches, near=table.near)
        vars(self)["_near_matches"] = table
        return table

    def to_pandas(
        self,
        table: str = "per_class",
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> Any:
        """A table of the results as a data frame of pandas, one of :data:`ioukit.evaluation.TABLES`.

        The columns have stable names and types. Missing values are NaN in columns of numbers, ``pd.NA`` in columns of
        integers and flags, ``None`` in columns of text. Columns that need the data, such as boxes, have missing values
        if the evaluation holds a match table alone.

        Args:
            table: ``"summary"``, ``"per_class"``, ``"per_image"``, ``"per_detection"``, ``"per_object"``,
                ``"per_curve"`` or ``"curves"``.
            iou_threshold: One of the protocol's IoU thresholds, at which outcomes are taken; its main one if ``None``.
                Tables of curves have all if ``None``.
            area_range: Label of one of the protocol's area ranges, in the same way.
            score_threshold: Detections with this score or a higher one count; by default all of them.

        Raises:
            ModuleNotFoundError: If pandas is not installed.
            ValueError: If there is no such table, the protocol has no such threshold or area range, the score threshold
                is NaN, or the data of this evaluation is not that which was matched.
        """
        from ioukit.evaluation.tables.frames import Source, pandas_frame  # noqa: PLC0415 - as above

        return pandas_frame(table, Source(self, iou_threshold, area_range, score_threshold))

    def to_polars(
        self,
        table: str = "per_class",
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> Any:
        """The same as a data frame of Polars, see :meth:`to_pandas`. Missing values are null."""
        from ioukit.evaluation.tables.frames import Source, polars_frame  # noqa: PLC0415 - as above

        return polars_frame(table, Source(self, iou_threshold, area_range, score_threshold))

    def to_arrow(
        self,
        table: str = "per_class",
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> Any:
        """The same as a table of PyArrow, see :meth:`to_pandas`. Missing values are null.

        The schema holds the meaning and the unit of each column.
        """
        from ioukit.evaluation.tables.frames import Source, arrow_table  # noqa: PLC0415 - as above

        return arrow_table(table, Source(self, iou_threshold, area_range, score_threshold))

    def table(self) -> str:
        """The lines of the protocol's table; with COCO's protocol those of pycocotools, -1.000 where undefined."""
        return table(self.protocol, self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, in plain Python values, ``None`` where a number is undefined."""
        fields = self.protocol.to_dict()
        return {
            "summary": _defined(self.summary),
            "per_class": [
                {
                    "id": result.id,
                    "name": result.name,
                    "num_ground_truth": result.num_ground_truth,
                    "num_detections": result.num_detections,
                    **_defined(result.summary),
                }
                for result in self.per_class
            ],
            "settings": {"protocol": fields.pop("name"), "iou_type": self.matches.iou_type, **fields},
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        import json  # noqa: PLC0415 - keeps `import ioukit` fast

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        shown = [measure.key for measure in self.protocol.measures if measure.headline and measure.quantity == "AP"]
        numbers = ", ".join(f"{key}={self.summary[key]:.4f}" for key in shown or [self.protocol.main_measure.key])
        images, detections = (
            pluralize(self.counts["images"], "image"),
            pluralize(self.counts["detections"], "detection"),
        )
        return f"Evaluation({numbers}, {images}, {detections})"

    def _repr_html_(self) -> str:
        """The numbers of the summary as a table, for notebooks."""
        import html  # noqa: PLC0415 - keeps `import ioukit` fast

        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(measure.key)}</th>"
            f"<td>{_shown(self.summary[measure.key])}</td></tr>"
            for measure in self.protocol.measures
            if self.protocol.defines(measure)
        )
        images, detections = (
            pluralize(self.counts["images"], "image"),
            pluralize(self.counts["detections"], "detection"),
        )
        caption = html.escape(f"{self.protocol.name}, {self.matches.iou_type}: {images}, {detections}")
        return f"<table><caption>{caption}</caption><tbody>{rows}</tbody></table>"


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _defined(numbers: Mapping[str, float]) -> dict[str, float | None]:
    return {key: None if math.isnan(value) else value for key, value in numbers.items()}
