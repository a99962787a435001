"""Score thresholds of classes as a file: what to keep of a detector's answers, and what its scores mean."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import check_choice, pluralize
from ioukit._columns import Frozen, record
from ioukit._output import write_whole
from ioukit.datasets import Categories

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.postprocess.score_maps import ScoreMap


_LARGEST = 2.0**53


class AppliedPoints(NamedTuple):
    """The result of :meth:`OperatingPoints.apply`."""

    keep: npt.NDArray[np.bool_]
    """(N,) whether each detection counts."""
    scores: npt.NDArray[np.floating[Any]]
    """(N,) the calibrated scores; without calibration, the scores that were given."""


@record(frozen=True, eq=False, repr=False)
class OperatingPoints(Frozen):
    """A score threshold for each class, and maybe a map to calibrated scores.

    :func:`ioukit.operating.choose_thresholds` chooses them on evaluated data. ``ioukit predict``, ``ioukit nms`` and
    :func:`~ioukit.filter_detections` apply them.

    Thresholds are compared with the scores of the detector, not with calibrated ones: calibration changes no decision.
    """

    category_ids: npt.NDArray[np.int64]
    """(K,) the id of each class, each once."""
    names: tuple[str, ...]
    """(K,) the name of each class."""
    thresholds: npt.NDArray[np.float64]
    """(K,) detections of the class with this score or a higher one count; NaN if no detection of it counts."""
    maps: tuple[ScoreMap, ...] = ()
    """Maps to calibrated scores: none, one for all classes, or (K,) one for each class."""
    rule: str = ""
    """What the thresholds were chosen for, for example ``"precision=0.9"``; empty if unknown."""
    chosen_on: Mapping[str, str | float | int | bool | None] = field(default_factory=dict)
    """On what data and how they were chosen, by name: the number of images, the IoU threshold, and so on."""
    version: str = _core.__version__
    """The version of ioukit that made them."""

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        thresholds: float | npt.ArrayLike,
        *,
        category_ids: npt.ArrayLike | None = None,
        maps: Sequence[ScoreMap] = (),
        rule: str = "",
        chosen_on: Mapping[str, str | float | int | bool | None] | None = None,
    ) -> OperatingPoints:
        """Operating points of own thresholds.

        Args:
            names: (K,) the name of each class.
            thresholds: One for all classes, or (K,) one for each; NaN if no detection of the class counts.
            category_ids: (K,) the id of each class; 0 to K - 1 if ``None``.
            maps: Maps to calibrated scores: none, one, or (K,) of them.
            rule: What the thresholds were chosen for.
            chosen_on: On what data and how they were chosen.

        Raises:
            ValueError: If the numbers of names, ids, thresholds and maps differ, an id stands twice, or a threshold is
                infinite.
            TypeError: If ids are not integers.

        Examples:
            >>> from ioukit.postprocess import OperatingPoints
            >>> points = OperatingPoints.of(["cat", "dog"], [0.3, 0.5])
            >>> points.apply([0.4, 0.4], [0, 1]).keep
            array([ True, False])
        """
        from ioukit._checks import integer_column  # noqa: PLC0415 - reading a file checks in another way

        count = len(names)
        ids = integer_column(
            "category_ids", np.arange(count) if category_ids is None else category_ids, count, each="one per class"
        )
        given = np.asarray(thresholds, np.float64)
        if given.shape not in ((), (count,)):
            raise ValueError(f"thresholds must be one number, or one per class ({count}), got shape {given.shape}")
        each = np.broadcast_to(given, (count,)).copy()
        if (np.abs(each) > _LARGEST).any():
            raise ValueError(
                "a threshold must be at most 2**53 in size, or NaN if no detection of the class counts, got "
                f"{each[np.abs(each) > _LARGEST][0]:g}"
            )
        if len(np.unique(ids)) != count:
            raise ValueError(f"category_ids must differ, got {ids.tolist()}")
        if len(maps) not in (0, 1, count):
            raise ValueError(f"maps must be none, one, or one per class ({count}), got {len(maps)}")
        return cls(ids.copy(), tuple(names), each, tuple(maps), rule, dict(chosen_on or {}))

    @property
    def categories(self) -> Categories:
        """(K,) the classes, in the order of these points, which need not ascend."""
        return Categories(self.category_ids, self.names)

    def apply(
        self,
        scores: npt.ArrayLike,
        labels: npt.ArrayLike,
        *,
        labels_are: Literal["ids", "positions"] = "ids",
    ) -> AppliedPoints:
        """Which detections count, and their calibrated scores.

        Args:
            scores: (N,) the scores of the detector. Thresholds are rounded to their type before they are compared.
            labels: (N,) the class of each detection.
            labels_are: ``"ids"``: category ids, as in a data set; ``"positions"``: 0 to K - 1, in the order of
                :attr:`names`.

        Raises:
            ValueError: If a label is unknown, the lengths differ, a score is NaN, or a score to calibrate is outside of
                [0, 1].
            TypeError: If labels are not integers.
        """
        check_choice("labels_are", labels_are, ("ids", "positions"))
        given = np.asarray(scores)
        if given.dtype.kind != "f":
            given = given.astype(np.float64)
        if given.ndim != 1:
            raise ValueError(f"scores must have shape (N,), got {given.shape}")
        if np.isnan(given).any():
            raise ValueError("scores must be numbers, got nan")
        at = self._positions(labels, len(given), by_id=labels_are == "ids")
        with np.errstate(over="ignore"):  # a threshold that is too large for the type is above all scores
            thresholds = self.thresholds.astype(given.dtype)
        return AppliedPoints(given >= thresholds[at], self._calibrated(given, at))

    def _positions(self, labels: npt.ArrayLike, count: int, *, by_id: bool) -> npt.NDArray[np.int64]:
        from ioukit._checks import integer_column  # noqa: PLC0415 - as above

        wanted = integer_column("labels", labels, count, each="one per score")
        order = np.argsort(self.category_ids)
        known = self.category_ids[order] if by_id else np.arange(len(order))
        places = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        unknown = known[places] != wanted if len(known) else np.ones(count, np.bool_)
        if unknown.any():
            what = "category id" if by_id else "class"
            shown = ", ".join(map(str, known[:5].tolist())) + (", ..." if len(known) > 5 else "")
            raise ValueError(
                f"{what} {wanted[unknown][0]} has no threshold; the operating points have "
                f"{pluralize(len(known), 'class')}: {shown}"
            )
        return np.asarray(order[places] if by_id else wanted, np.int64)

    def _calibrated(
        self, scores: npt.NDArray[np.floating[Any]], at: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.floating[Any]]:
        if not self.maps:
            return scores
        if len(self.maps) == 1:
            return self.maps[0](scores).astype(scores.dtype)
        made = np.empty(len(scores), np.float64)
        for label in np.unique(at).tolist():
            rows = at == label
            made[rows] = self.maps[label](scores[rows])
        return made.astype(scores.dtype)

    def for_classes(self, classes: Sequence[int | str]) -> OperatingPoints:
        """The points of some classes, in the order that is given, such as that of a network.

        Args:
            classes: Ids or names.

        Raises:
            TypeError: If ``classes`` is one name instead of a list.
            ValueError: If a class is unknown, or several have its name.
        """
        at = self.categories.positions(classes)
        return OperatingPoints(
            self.category_ids[at],
            tuple(self.names[place] for place in at),
            self.thresholds[at],
            self.maps if len(self.maps) < 2 else tuple(self.maps[place] for place in at),
            self.rule,
            self.chosen_on,
            self.version,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the points as JSON. The file appears complete or not at all.

        Raises:
            OSError: If it cannot be written.
        """
        write_whole(Path(path), f"{self.to_json()}\n")

    def to_json(self) -> str:
        """The contents of the file that :meth:`save` writes."""
        from ioukit.postprocess._points_file import points_text  # noqa: PLC0415 - applying needs no files

        return points_text({each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> OperatingPoints:
        """The points that :meth:`save` wrote, every number to its last bit.

        Raises:
            DatasetError: If the file is no file of operating points, is damaged, or is of a newer version.
            OSError: If it cannot be read.
        """
        from ioukit.postprocess._points_file import read_points  # noqa: PLC0415 - as above

        return cls(**read_points(path))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        rule = f", chosen for {self.rule}" if self.rule else ""
        return f"OperatingPoints({pluralize(len(self), 'class')}{rule}{', with calibration' if self.maps else ''})"
