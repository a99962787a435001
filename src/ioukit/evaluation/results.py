"""What an evaluation found, to read, to print and to keep."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation.curves import Curves
from ioukit.evaluation.matching import MatchTable
from ioukit.evaluation.protocols.protocol import Protocol
from ioukit.evaluation.summary import summarise, summarise_classes, table

if TYPE_CHECKING:
    import datetime
    import os

    from ioukit.evaluation.analysis.confusion import ConfusionMatrix
    from ioukit.evaluation.analysis.images import ImageResults
    from ioukit.evaluation.analysis.operating import ScoreCurves
    from ioukit.evaluation.analysis.outcomes import Outcomes
    from ioukit.evaluation.analysis.tide import ErrorKinds

__all__ = ["ClassResult", "Evaluation"]


@dataclass(frozen=True)
class ClassResult:
    """The numbers of one category."""

    id: int
    """Its id; -1 for all categories as one."""
    name: str
    """Its name."""
    num_ground_truth: int
    """Objects to find, crowds left out."""
    num_detections: int
    """Detections within the cap of each image."""
    summary: Mapping[str, float]
    """The same keys as :attr:`Evaluation.summary`; NaN where there is nothing to find."""


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation:
    """The result of :func:`ioukit.evaluate`."""

    matches: MatchTable
    """Which detection found which object."""
    curves: Curves
    """Precision, recall and scores along every curve."""
    counts: Mapping[str, int]
    """``images``, ``categories``, ``annotations``, ``crowds`` and ``detections`` that were evaluated, and the records
    ``dropped`` before."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    ground_truth: GroundTruth | None = None
    """What was evaluated against; ``None`` where only the match table was kept."""
    detections: Detections | None = None
    """What was evaluated; ``None`` where only the match table was kept."""

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
    def summary(self) -> Mapping[str, float]:
        """AP AP50 AP75 APs APm APl AR1 AR10 AR100 ARs ARm ARl, NaN where undefined.

        A protocol with other caps or area ranges adds their numbers (``AR300``, ``APtiny``, ``ARtiny``).
        """
        return MappingProxyType(summarise(self.curves))

    @cached_property
    def per_class(self) -> tuple[ClassResult, ...]:
        """The numbers of every category, by rising id."""
        categories = self.matches.categories
        area = self.protocol.position_of_area(self.protocol.main_area)
        detections = np.bincount(self.matches.category, minlength=len(categories))
        rows = zip(
            categories.ids.tolist(),
            categories.names,
            self.matches.num_ground_truth[:, area].tolist(),
            detections.tolist(),
            map(MappingProxyType, summarise_classes(self.curves)),
            strict=True,
        )
        return tuple(ClassResult(*row) for row in rows)

    def score_curves(self, *, iou: float = 0.5, area: str = "all") -> ScoreCurves:
        """Precision, recall and F1 against score, see :func:`ioukit.evaluation.score_curves`."""
        from ioukit.evaluation.analysis.operating import score_curves  # noqa: PLC0415 - who evaluates need not pay for it

        return score_curves(self.matches, iou=iou, area=area)

    def outcomes(self, *, iou: float = 0.5, area: str = "all", score_threshold: float = -math.inf) -> Outcomes:
        """What became of every detection and object, see :func:`ioukit.evaluation.outcomes`.

        Raises:
            ValueError: If the evaluation does not hold its data, or as the function does.
        """
        from ioukit.evaluation.analysis.outcomes import outcomes  # noqa: PLC0415 - as above

        return outcomes(self.matches, *self._data(), iou=iou, area=area, score_threshold=score_threshold)

    def per_image(self, *, iou: float = 0.5, area: str = "all", score_threshold: float = -math.inf) -> ImageResults:
        """Counts and scores of every image, see :func:`ioukit.evaluation.per_image`.

        Raises:
            ValueError: If the evaluation does not hold its data, or as :meth:`outcomes` does.
        """
        from ioukit.evaluation.analysis.images import per_image  # noqa: PLC0415 - as above

        became = self.outcomes(iou=iou, area=area, score_threshold=score_threshold)
        return per_image(became, self.matches, *self._data())

    def confusion(
        self,
        *,
        iou_threshold: float = 0.5,
        score_threshold: float = 0.25,
        max_dets: int | None = None,
        threads: int | None = None,
    ) -> ConfusionMatrix:
        """Which class is taken for which among those evaluated, see :func:`ioukit.evaluation.confusion_matrix`.

        Raises:
            ValueError: If the evaluation does not hold its data, or as the function does.
        """
        from ioukit.evaluation.analysis.confusion import confusion_matrix  # noqa: PLC0415 - as above

        return confusion_matrix(
            *self._data(),
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            max_dets=max_dets,
            categories=self.matches.category_ids.tolist(),
            images=self.matches.image_ids,
            threads=threads,
        )

    def error_kinds(
        self,
        *,
        iou_threshold: float = 0.5,
        area: str = "all",
        background_threshold: float = 0.1,
        max_dets_per_image: int | None = None,
        threads: int | None = None,
    ) -> ErrorKinds:
        """The kinds of errors and what each costs, see :func:`ioukit.evaluation.error_kinds`.

        Raises:
            ValueError: If the evaluation does not hold its data, or as the function does.
        """
        from ioukit.evaluation.analysis.tide import error_kinds  # noqa: PLC0415 - as above

        return error_kinds(
            self.matches,
            *self._data(),
            iou_threshold=iou_threshold,
            area=area,
            background_threshold=background_threshold,
            max_dets_per_image=max_dets_per_image,
            threads=threads,
        )

    def report(
        self,
        path: str | os.PathLike[str],
        images: str | os.PathLike[str] | None = None,
        *,
        title: str | None = None,
        iou: float | None = None,
        score_threshold: float | None = None,
        worst: int = 24,
        created: datetime.datetime | None = None,
        threads: int | None = None,
    ) -> None:
        """Write one HTML file that shows how good the detector is, where it fails, and on which images.

        The file is whole in itself: it needs no server and no network. Needs the extra ``report``.

        Args:
            path: The file to write, whole or not at all.
            images: Folder of the photographs, from which the worst images get thumbnails; outlines alone if ``None``.
            title: The heading; the name of the file that the detections came from if ``None``.
            iou: IoU threshold of curves, confusion matrix, errors and images, one of the protocol's; 0.5 where the
                protocol has it and else its lowest if ``None``.
            score_threshold: Detections with this score or a higher one count in the matrix and on the images; the score
                of the best F1 of all classes together if ``None``.
            worst: How many images to show, most errors first.
            created: The time that the report bears; now if ``None``.
            threads: How many threads; all cores if ``None``.

        Raises:
            ValueError: If ``path`` is a folder, lies in none, or is a file that the evaluation was read from or one
                among the images; if ``images`` is no folder, the protocol has no such IoU threshold,
                ``score_threshold`` is NaN or ``worst`` is negative.
            ModuleNotFoundError: If Jinja2, or for photographs Pillow, is not installed.
            OSError: If the file cannot be written.
        """
        from ioukit.report.writer import write_report  # noqa: PLC0415 - the layers above are not loaded by evaluating

        write_report(
            self,
            path,
            images,
            title=title,
            iou=iou,
            score_threshold=score_threshold,
            worst=worst,
            created=created,
            threads=threads,
        )

    def _data(self) -> tuple[GroundTruth, Detections]:
        if self.ground_truth is None or self.detections is None:
            raise ValueError(
                "this evaluation holds its match table alone, not the ground truth and detections that this needs"
            )
        return self.ground_truth, self.detections

    def __getstate__(self) -> dict[str, Any]:
        """What to pickle: the fields, not what was computed from them."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def table(self) -> str:
        """The lines that pycocotools prints, -1.000 where a number is undefined."""
        return table(self.protocol, self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, in plain Python values, ``None`` where a number is undefined."""
        protocol = self.protocol
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
            "settings": {
                "protocol": protocol.name,
                "iou_thresholds": list(protocol.iou_thresholds),
                "recall_thresholds": list(protocol.recall_thresholds),
                "max_dets": list(protocol.max_dets),
                "area_ranges": {area.label: [area.low, area.high] for area in protocol.area_ranges},
                "class_agnostic": protocol.class_agnostic,
            },
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        import json  # noqa: PLC0415 - import ioukit is to be quick

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={self.summary[key]:.4f}" for key in ("AP", "AP50", "AP75"))
        return f"Evaluation({numbers}, {self.counts['images']:,} images, {self.counts['detections']:,} detections)"


def _defined(numbers: Mapping[str, float]) -> dict[str, float | None]:
    return {key: None if math.isnan(value) else value for key, value in numbers.items()}
