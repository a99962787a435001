"""`trackeval.metrics`: which numbers of `ioukit.evaluate_tracks` belong to HOTA, CLEAR, Identity, VACE and Count.

Owns the names of the numbers, their order, and how they are printed. Does not own the numbers (`ioukit.tracks`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ioukit.compat._originals import keep
from ioukit.compat.trackeval.utils import TrackEvalException, init_config
from ioukit.tracks.measures import THRESHOLDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.tracks.measures import Values

__all__ = ["CLEAR", "HOTA", "VACE", "Count", "Identity"]

_ALL = "COMBINED_SEQ"


class _Metric:
    """Numbers by their names: of a sequence, and of all of them (``COMBINED_SEQ``)."""

    float_array_fields: ClassVar[list[str]] = []
    integer_array_fields: ClassVar[list[str]] = []
    float_fields: ClassVar[list[str]] = []
    integer_fields: ClassVar[list[str]] = []
    summary_fields: ClassVar[list[str]] = []
    array_labels = THRESHOLDS

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
        return {name: values[name if name in values else name.removeprefix("CLR_")] for name in self.fields}

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
    summary_fields: ClassVar = _floats + _integers


class Identity(_WithThreshold):
    """IDF1, and what belongs to it."""

    float_fields: ClassVar = ["IDF1", "IDR", "IDP"]
    integer_fields: ClassVar = ["IDTP", "IDFN", "IDFP"]
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

    def results(self, values: Values) -> dict[str, Any]:
        """The numbers of this metric among those of `ioukit.tracks`."""
        counts = (values[name] for name in ("IDs", "GT_IDs", "VACE_Frames"))
        return super().results({**values, **dict(zip(self.integer_fields, counts, strict=True))})


def _print_row(cells: list[str], first: int = 35) -> None:
    print(cells[0].ljust(first) + "".join(cell.ljust(10) for cell in cells[1:]))


keep(HOTA, CLEAR, Identity, Count, VACE)
