"""`trackeval.utils`: configurations, and the files of results."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ioukit.compat._originals import keep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["TrackEvalException", "init_config", "write_detailed_results", "write_summary_results"]

_ORDER = (
    *("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "OWTA", "HOTA(0)", "LocA(0)", "HOTALocA(0)"),
    *("MOTA", "MOTP", "MODA", "CLR_Re", "CLR_Pr", "MTR", "PTR", "MLR", "CLR_TP", "CLR_FN"),
    *("CLR_FP", "IDSW", "MT", "PT", "ML", "Frag", "sMOTA"),
    *("IDF1", "IDR", "IDP", "IDTP", "IDFN", "IDFP"),
    *("Dets", "GT_Dets", "IDs", "GT_IDs"),
)
"""The order of the numbers in a summary."""


class TrackEvalException(Exception):  # noqa: N818 - the original's name
    """What is wrong with data or a configuration."""


def init_config(
    config: dict[str, Any] | None, default_config: Mapping[str, Any], name: str | None = None
) -> dict[str, Any]:
    """A configuration, completed in place with what it lacks. With a name, it is printed if it says so."""
    complete = {} if config is None else config
    for key, value in default_config.items():
        complete.setdefault(key, value)
    if name and complete["PRINT_CONFIG"]:
        print(f"\n{name} Config:")
        for key, value in complete.items():
            print(f"{key:<20} : {value!s:<30}")
    return complete


def write_summary_results(summaries: Sequence[Mapping[str, Any]], cls: str, output_folder: str) -> None:
    """Write the file ``<class>_summary.txt``: the numbers of all sequences together."""
    values = {key: value for summary in summaries for key, value in summary.items()}
    keys = [key for key in _ORDER if key in values] + [key for key in values if key not in _ORDER]
    _write(Path(output_folder) / f"{cls}_summary.txt", [keys, [values[key] for key in keys]], " ")


def write_detailed_results(details: Sequence[Mapping[str, Mapping[str, Any]]], cls: str, output_folder: str) -> None:
    """Write the file ``<class>_detailed.csv``: a row of all numbers per sequence, and one for all of them."""
    names = [*sorted(name for name in details[0] if name != "COMBINED_SEQ"), "COMBINED_SEQ"]
    rows = [[name.removesuffix("_SEQ")] + [value for one in details for value in one[name].values()] for name in names]
    head = ["seq"] + [key for one in details for key in one["COMBINED_SEQ"]]
    _write(Path(output_folder) / f"{cls}_detailed.csv", [head, *rows], ",")


def _write(path: Path, rows: Sequence[Sequence[Any]], delimiter: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)


keep(TrackEvalException)
