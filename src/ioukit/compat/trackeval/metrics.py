"""`trackeval.metrics`: which numbers of `ioukit.evaluate_tracks` belong to HOTA, CLEAR, Identity, VACE and Count.

Owns the names of the numbers, their order, how they are printed, and how TrackEval's dictionary of a sequence is read.
Does not own the numbers (`ioukit.tracks`).
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit import _core
from ioukit._boundary import TrackColumns
from ioukit.compat._originals import keep
from ioukit.compat.trackeval.utils import TrackEvalException, init_config
from ioukit.tracks.measures import MATCH_THRESHOLD, THRESHOLDS, averaged, of_sequences, together

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ioukit._array_types import Floats
    from ioukit.tracks.measures import Values

__all__ = ["CLEAR", "HOTA", "VACE", "Count", "Identity"]

_ALL = "COMBINED_SEQ"
_OTHER_NAMES = {"VACE_IDs": "IDs", "VACE_GT_IDs": "GT_IDs", "num_non_empty_timesteps": "VACE_Frames"}
"""Names of TrackEval that `ioukit.tracks` has another one for, besides those that begin with ``CLR_``."""

_COUNTS = ("num_tracker_dets", "num_gt_dets", "num_tracker_ids", "num_gt_ids", "num_timesteps")
"""The counts of TrackEval's dictionary of a sequence, in the order of `of_sequences`."""
_ROUNDING = 1e-6
"""How far overlaps may be outside of [0, 1]: those that were computed in 32 bits can be a bit above 1."""


class _Metric:
    """Numbers by their names: of a sequence, and of all of them (``COMBINED_SEQ``)."""

    float_array_fields: ClassVar[list[str]] = []
    integer_array_fields: ClassVar[list[str]] = []
    float_fields: ClassVar[list[str]] = []
    integer_fields: ClassVar[list[str]] = []
    summary_fields: ClassVar[list[str]] = []
    array_labels = THRESHOLDS
    _found: ClassVar[list[str]] = []
    """What is 0 for a class without any region."""

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        self.config = config

    @classmethod
    def get_name(cls) -> str:
        """The name of the metric, which is that of the class."""
        return cls.__name__

    @property
    def fields(self) -> list[str]:
        """The names of all numbers."""
        return self.float_array_fields + self.integer_array_fields + self.float_fields + self.integer_fields

    def results(self, values: Values) -> dict[str, Any]:
        """The numbers of this metric among those of `ioukit.tracks`."""
        return {name: values[_key(name, values)] for name in self.fields}

    def eval_sequence(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """The numbers of a sequence.

        Args:
            data: What TrackEval's data sets make of a sequence: ``gt_ids`` and ``tracker_ids``, a list with the ids of
                each frame, from 0 on; ``similarity_scores``, a table of each frame with a row per object; and
                ``num_timesteps``, ``num_gt_ids``, ``num_tracker_ids``, ``num_gt_dets``, ``num_tracker_dets``.

        Raises:
            TrackEvalException: If one is missing, these do not fit together, a frame has an id twice, or an overlap is
                not within [0, 1].
        """
        return self.results(_values_of(data))

    def combine_sequences(self, all_res: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
        """The numbers of several sequences together.

        Args:
            all_res: Those of each sequence, by any keys.
        """
        values = together([self._values(one) for one in all_res.values()])
        del values["Frames"]  # TrackEval has them of sequences alone
        return self.results(values)

    def combine_classes_det_averaged(self, all_res: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
        """The numbers of several classes as if their regions were of one class.

        Args:
            all_res: Those of each class, by any keys.
        """
        return self.combine_sequences(all_res)

    def combine_classes_class_averaged(
        self, all_res: Mapping[Any, Mapping[str, Any]], ignore_empty_classes: bool = False
    ) -> dict[str, Any]:
        """The mean over classes of each ratio, and the sum of each count.

        Args:
            all_res: The numbers of each class, by any keys.
            ignore_empty_classes: Whether classes without any region do not count.
        """
        chosen = [one for one in all_res.values() if not ignore_empty_classes or self._is_seen(one)]
        values = averaged([self._values(one) for one in chosen])
        del values["Frames"]
        return self.results(values)

    def _is_seen(self, results: Mapping[str, Any]) -> bool:
        return bool(np.any([results[name] for name in self._found])) or not self._found

    def _values(self, results: Mapping[str, Any]) -> Values:
        """The numbers by the names of `ioukit.tracks`; those of other metrics are those of nothing."""
        values = dict(_nothing())
        return values | {_key(name, values): results[name] for name in self.fields}

    def print_table(self, table_res: Mapping[str, Mapping[str, Any]], tracker: str, cls: str) -> None:
        """Print a row per sequence, and one for all of them."""
        _print_row([f"\n{self.get_name()}: {tracker}-{cls}", *self.summary_fields], 36)
        for name in [*sorted(name for name in table_res if name != _ALL), _ALL]:
            _print_row([name.removesuffix("_SEQ"), *self.summary_results({_ALL: table_res[name]}).values()])

    def summary_results(self, table_res: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
        """The numbers of all sequences as text; ratios in percent."""
        row = {name: table_res[_ALL][name] for name in self.summary_fields}
        return {
            name: f"{int(value)}" if name in self.integer_fields else f"{100 * np.mean(value):1.5g}"
            for name, value in row.items()
        }

    def detailed_results(self, table_res: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        """All numbers of each sequence; those of HOTA at each threshold, and their mean."""
        return {name: self._details(values) for name, values in table_res.items()}

    def _details(self, values: Mapping[str, Any]) -> dict[str, Any]:
        details = {name: values[name] for name in self.float_fields + self.integer_fields}
        for name in self.float_array_fields + self.integer_array_fields:
            for threshold, value in zip(self.array_labels, values[name], strict=True):
                details[f"{name}___{int(100 * threshold)}"] = value
            details[f"{name}___AUC"] = np.mean(values[name])
        return details


class HOTA(_Metric):
    """HOTA at 19 thresholds, with detection and association."""

    float_array_fields: ClassVar = ["HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "OWTA"]
    integer_array_fields: ClassVar = ["HOTA_TP", "HOTA_FN", "HOTA_FP"]
    float_fields: ClassVar = ["HOTA(0)", "LocA(0)", "HOTALocA(0)"]
    summary_fields: ClassVar = float_array_fields + float_fields
    _found: ClassVar = integer_array_fields


class _WithThreshold(_Metric):
    """A metric whose pairs have an IoU of at least 0.5."""

    @staticmethod
    def get_default_config() -> dict[str, Any]:
        """The default configuration."""
        return {"THRESHOLD": 0.5, "PRINT_CONFIG": True}

    def __init__(self, config: dict[str, Any] | None = None) -> None:
        super().__init__(init_config(config, self.get_default_config(), self.get_name()))
        assert self.config is not None
        self.threshold = float(self.config["THRESHOLD"])
        if self.threshold != self.get_default_config()["THRESHOLD"]:
            raise TrackEvalException(f"ioukit has {self.get_name()} at THRESHOLD 0.5 alone, got {self.threshold:g}")


class CLEAR(_WithThreshold):
    """MOTA, MOTP, switches of ids, and what belongs to them."""

    _floats: ClassVar = ["MOTA", "MOTP", "MODA", "CLR_Re", "CLR_Pr", "MTR", "PTR", "MLR", "sMOTA"]
    _integers: ClassVar = ["CLR_TP", "CLR_FN", "CLR_FP", "IDSW", "MT", "PT", "ML", "Frag"]
    float_fields: ClassVar = [*_floats, "CLR_F1", "FP_per_frame", "MOTAL", "MOTP_sum"]
    integer_fields: ClassVar = [*_integers, "CLR_Frames"]
    _found: ClassVar = _integers[:3]
    summary_fields: ClassVar = _floats + _integers


class Identity(_WithThreshold):
    """IDF1, and what belongs to it."""

    float_fields: ClassVar = ["IDF1", "IDR", "IDP"]
    integer_fields: ClassVar = ["IDTP", "IDFN", "IDFP"]
    _found: ClassVar = integer_fields
    summary_fields: ClassVar = float_fields + integer_fields


class Count(_Metric):
    """How many regions and ids there are; of a sequence, also how many frames."""

    integer_fields: ClassVar = ["Dets", "GT_Dets", "IDs", "GT_IDs"]
    summary_fields: ClassVar = integer_fields

    def results(self, values: Values) -> dict[str, Any]:
        """The counts; the number of frames is no field of tables."""
        return super().results(values) | {name: values[name] for name in ("Frames",) if name in values}


class VACE(_Metric):
    """The accuracy of tracks and of frames."""

    float_fields: ClassVar = ["STDA", "ATA", "FDA", "SFDA"]
    integer_fields: ClassVar = ["VACE_IDs", "VACE_GT_IDs", "num_non_empty_timesteps"]
    summary_fields: ClassVar = ["SFDA", "ATA"]

    def combine_classes_det_averaged(self, all_res: Mapping[Any, Mapping[str, Any]]) -> dict[str, Any]:
        """The ratios of several classes as if their regions were of one class; without counts, as in TrackEval.

        Args:
            all_res: The numbers of each class, by any keys.
        """
        combined = self.combine_sequences(all_res)
        return {name: combined[name] for name in ("ATA", "SFDA")}

    def combine_classes_class_averaged(
        self, all_res: Mapping[Any, Mapping[str, Any]], ignore_empty_classes: bool = True
    ) -> dict[str, Any]:
        """The mean over classes of each number, as in TrackEval, of counts too.

        Args:
            all_res: The numbers of each class, by any keys.
            ignore_empty_classes: Whether classes without any region do not count.
        """
        chosen = [one for one in all_res.values() if not ignore_empty_classes or one["VACE_IDs"] or one["VACE_GT_IDs"]]
        return {name: np.mean([one[name] for one in chosen], axis=0) for name in self.fields}


def _key(name: str, values: Values) -> str:
    """The name that `ioukit.tracks` has for a number of TrackEval."""
    return _OTHER_NAMES.get(name, name if name in values else name.removeprefix("CLR_"))


def _values_of(data: Mapping[str, Any]) -> Values:
    """The numbers of a sequence by the names of `ioukit.tracks`."""
    lacking = [name for name in (*_COUNTS, "gt_ids", "tracker_ids", "similarity_scores") if name not in data]
    if lacking:
        raise TrackEvalException(f"the data of a sequence have no {lacking[0]}")
    for name in _COUNTS:
        if not isinstance(data[name], int | np.integer) or data[name] < 0:
            raise TrackEvalException(f"{name} is {data[name]!r}, expected a whole number of at least 0")
    sides = [_side_of(data, side) for side in ("gt", "tracker")]
    shapes = list(zip(*(np.diff(side.starts).tolist() for side in sides), strict=True))
    given = data["similarity_scores"]
    if len(given) != len(shapes):
        raise TrackEvalException(f"similarity_scores has {len(given)} frames, expected {len(shapes)} as gt_ids has")
    tables = [_table_of(one, frame, shape) for frame, (one, shape) in enumerate(zip(given, shapes, strict=True))]
    sequence = np.array([[0, data["num_gt_ids"], data["num_tracker_ids"], 0]], np.int64)
    overlaps = np.concatenate([np.zeros(0), *(table.ravel() for table in tables)])
    thresholds = THRESHOLDS, MATCH_THRESHOLD, MATCH_THRESHOLD
    counted = _core.count_tracks(sequence, sides[0], sides[1], overlaps, *thresholds, 1)
    return of_sequences(counted, [[int(data[name]) for name in _COUNTS]])[0]


def _table_of(given: Any, frame: int, shape: tuple[int, int]) -> Floats:
    """The overlaps of a frame."""
    place = f"similarity_scores[{frame}]"
    try:
        table = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise TrackEvalException(f"{place} is no table of numbers, expected the shape {shape}") from None
    if table.shape != shape and (table.size or shape[0] * shape[1]):
        raise TrackEvalException(f"{place} has the shape {table.shape}, expected {shape}")
    outside = table[~((table >= -_ROUNDING) & (table <= 1 + _ROUNDING))]
    if len(outside):
        raise TrackEvalException(f"{place} has {outside[0]:g}, expected overlaps within [0, 1]")
    return table


def _side_of(data: Mapping[str, Any], side: str) -> TrackColumns:
    ids, count = [np.asarray(one) for one in data[f"{side}_ids"]], int(data[f"num_{side}_ids"])
    if len(ids) != data["num_timesteps"]:
        raise TrackEvalException(f"{side}_ids has {len(ids)} frames, expected num_timesteps, {data['num_timesteps']}")
    for frame, of_frame in enumerate(ids):
        _check_ids(of_frame, f"{side}_ids[{frame}]", f"num_{side}_ids", count)
    starts = np.cumsum([0, *map(len, ids)], dtype=np.int64)
    tracks = np.concatenate([np.zeros(0, np.int64), *ids]).astype(np.int64)
    if len(tracks) != data[f"num_{side}_dets"]:
        expected = data[f"num_{side}_dets"]
        raise TrackEvalException(f"{side}_ids has {len(tracks)} ids, expected num_{side}_dets, {expected}")
    return TrackColumns(starts, tracks, np.zeros((0, 4)))


def _check_ids(ids: npt.NDArray[Any], place: str, name: str, count: int) -> None:
    """Refuse ids of a frame that are not different whole numbers below a count."""
    if ids.ndim != 1 or (len(ids) and ids.dtype.kind not in "iuf"):
        raise TrackEvalException(f"{place} is no list of numbers, expected the ids of the frame")
    if len(outside := ids[~((ids >= 0) & (ids < count) & (ids == np.trunc(ids)))] if len(ids) else ids):
        raise TrackEvalException(f"{place} has {outside[0]}, expected ids from 0 to {name} - 1, {count - 1}")
    unique, counts = np.unique(ids, return_counts=True)
    if len(unique) < len(ids):
        raise TrackEvalException(f"{place} has {unique[counts > 1][0]} twice, expected each id once in a frame")


@cache
def _nothing() -> Values:
    """The numbers of a sequence without frames."""
    return _values_of({**dict.fromkeys(_COUNTS, 0), "gt_ids": [], "tracker_ids": [], "similarity_scores": []})


def _print_row(cells: list[str], first: int = 35) -> None:
    print(cells[0].ljust(first) + "".join(cell.ljust(10) for cell in cells[1:]))


keep(HOTA, CLEAR, Identity, Count, VACE)
