"""The numbers of HOTA, CLEAR, Identity and VACE, of a sequence, and of several sequences or classes together.

Every number has the bits of TrackEval 1.3.0: the operations and NumPy's sums are in the same order. So a value is kept
in the form in which it is summed there: AssA, AssRe and AssPr as means over the pairs of a sequence, not as sums.

Sources: Luiten et al., HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking, IJCV 2020; Bernardin and
Stiefelhagen, Evaluating Multiple Object Tracking Performance, 2008 (CLEAR); Ristani et al., Performance Measures and a
Data Set for Multi-Target, Multi-Camera Tracking, 2016 (Identity); Manohar et al., Performance Evaluation of Object
Detection and Tracking in Video, 2006 (VACE); and https://github.com/JonathonLuiten/TrackEval for what the papers leave
open.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import nan
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from ioukit._array_types import Floats

Values: TypeAlias = dict[str, Any]
"""Numbers by their names; those of HOTA are (19,) arrays, one per threshold."""

THRESHOLDS: Floats = np.arange(0.05, 0.99, 0.05)
"""(19,) the overlaps from which on HOTA takes regions for pairs."""
MATCH_THRESHOLD = 0.5
"""The same for CLEAR and Identity."""

CURVES = ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "OWTA")
"""The numbers of HOTA: a value per threshold, and their mean."""
_COUNT_CURVES = ("HOTA_TP", "HOTA_FN", "HOTA_FP")
_ASSOCIATION = ("AssA", "AssRe", "AssPr")
_AT_LOWEST = ("HOTA(0)", "LocA(0)", "HOTALocA(0)")
_CLEAR_COUNTS = ("TP", "FN", "FP", "IDSW", "MT", "PT", "ML", "Frag", "CLR_Frames")
_CLEAR_RATIOS = (
    *("MOTA", "MOTP", "MODA", "Re", "Pr", "MTR", "PTR", "MLR", "sMOTA"),
    *("F1", "FP_per_frame", "MOTAL", "MOTP_sum"),
)
_ID_COUNTS = ("IDTP", "IDFN", "IDFP")
_ID_RATIOS = ("IDF1", "IDR", "IDP")
_VACE_SUMS = ("STDA", "FDA", "VACE_Frames")
_VACE_RATIOS = ("ATA", "SFDA")
_COUNTS = ("Dets", "GT_Dets", "IDs", "GT_IDs", "Frames")
_SUMS = (*_COUNT_CURVES, *_CLEAR_COUNTS, "MOTP_sum", *_ID_COUNTS, *_VACE_SUMS, *_COUNTS)
"""What adds up over sequences and over classes."""
_RATIOS = (*_AT_LOWEST, *CURVES, *_CLEAR_RATIOS, *_ID_RATIOS)
"""What is averaged over classes."""
_LEAST = 1e-10
"""TrackEval's guard of the division by the number of pairs: without pairs, LocA is 1."""

KEYS = (
    *(*CURVES, *_AT_LOWEST, *_CLEAR_RATIOS[:-1], *_CLEAR_COUNTS[:-1]),
    *(*_ID_RATIOS, *_ID_COUNTS, *_VACE_RATIOS, *_COUNTS),
)
"""The numbers that a user sees, in their order."""


def of_sequences(counted: Mapping[str, Any], counts: Sequence[Sequence[int]]) -> list[Values]:
    """The numbers of each sequence.

    Args:
        counted: What the core counted: columns of J sequences.
        counts: J rows: detections, objects, tracks of the result, tracks of the objects, frames.
    """
    jobs = len(counts)
    matches = counted["hota_matches"].reshape(jobs, -1).astype(np.float64)
    overlaps = counted["hota_overlaps"].reshape(jobs, -1)
    association = counted["association"].reshape(jobs, -1, 3)
    clear, vace = counted["clear"].tolist(), counted["vace"].tolist()
    made = []
    for at, row in enumerate(counts):
        values: Values = dict(zip(_COUNTS, row, strict=True))
        detections, objects, _, _, frames = row
        values |= _hota(matches[at], overlaps[at], association[at], objects, detections)
        found, switches, fragments, mostly, partly, lost = clear[at]
        values |= {"TP": found, "FN": objects - found, "FP": detections - found, "IDSW": switches, "Frag": fragments}
        values |= {"MT": mostly, "PT": partly, "ML": lost, "MOTP_sum": counted["overlap_sums"][at].item()}
        shared = int(counted["id_matches"][at])
        values |= {"IDTP": shared, "IDFN": objects - shared, "IDFP": detections - shared}
        # As in TrackEval, a sequence in which a side has nothing has none of the ratios below.
        is_empty = not (detections and objects)
        values |= dict(zip(_VACE_SUMS, vace[at], strict=True))
        values |= _vace_ratios(values)
        values["CLR_Frames"] = 0 if is_empty else frames
        if is_empty:
            values |= {**dict.fromkeys((*_CLEAR_RATIOS[:-1], *_ID_RATIOS), 0.0), "MLR": 1.0}
        else:
            values |= {**_clear_ratios(values), **_id_ratios(values)}
        made.append(values)
    return made


def _hota(matches: Floats, overlaps: Floats, association: Floats, objects: int, detections: int) -> Values:
    values: Values = {"HOTA_TP": matches, "HOTA_FN": objects - matches, "HOTA_FP": detections - matches}
    for column, name in enumerate(_ASSOCIATION):
        values[name] = association[:, column] / np.maximum(1, matches)
    values["LocA"] = _mean_overlap(overlaps, matches)
    return {**values, **_hota_ratios(values)}


def _mean_overlap(overlaps: Any, matches: Any) -> Any:
    return np.maximum(_LEAST, overlaps) / np.maximum(_LEAST, matches)


def together(parts: Sequence[Values]) -> Values:
    """The numbers of several sequences, or of several classes as if their regions were of one class.

    The order of the parts is that of the sums.
    """
    values: Values = {name: _sum(part[name] for part in parts) for name in _SUMS}
    for name in _ASSOCIATION:
        of_all = _sum(part[name] * part["HOTA_TP"] for part in parts)
        values[name] = of_all / np.maximum(1.0, values["HOTA_TP"])
    values["LocA"] = _mean_overlap(_sum(part["LocA"] * part["HOTA_TP"] for part in parts), values["HOTA_TP"])
    return {**values, **_hota_ratios(values), **_clear_ratios(values), **_id_ratios(values), **_vace_ratios(values)}


def averaged(classes: Sequence[Values]) -> Values:
    """The mean of each ratio over classes, each of which counts once; counts are added up."""
    values: Values = {name: _sum(one[name] for one in classes) for name in _SUMS if name != "MOTP_sum"}
    for name in _RATIOS:
        values[name] = np.mean([one[name] for one in classes], axis=0)
    for name in _VACE_RATIOS:
        values[name] = float(np.mean(known)) if (known := [one[name] for one in classes if one["VACE_Frames"]]) else nan
    return values


def _sum(values: Iterable[Any]) -> Any:
    """The sum, one value after another, as TrackEval's. Since Python 3.12, `sum` of floats rounds less often."""
    return reduce(operator.add, values, 0)


def _hota_ratios(values: Values) -> Values:
    found, missed, wrong = (values[name] for name in _COUNT_CURVES)
    recall = found / np.maximum(1, found + missed)
    detection = found / np.maximum(1, found + missed + wrong)
    hota = np.sqrt(detection * values["AssA"])
    return {
        "DetRe": recall,
        "DetPr": found / np.maximum(1, found + wrong),
        "DetA": detection,
        "HOTA": hota,
        "OWTA": np.sqrt(recall * values["AssA"]),
        "HOTA(0)": hota[0],
        "LocA(0)": values["LocA"][0],
        "HOTALocA(0)": hota[0] * values["LocA"][0],
    }


def _clear_ratios(values: Values) -> Values:
    found, missed, wrong, switches, mostly, partly, lost, _, frames = (values[name] for name in _CLEAR_COUNTS)
    tracks = max(1.0, mostly + lost + partly)
    objects = max(1.0, found + missed)
    overlap = values["MOTP_sum"]
    few_switches = float(np.log10(switches)) if switches > 0 else switches
    return {
        "MTR": mostly / tracks,
        "MLR": lost / tracks,
        "PTR": partly / tracks,
        "Re": found / objects,
        "Pr": found / max(1.0, found + wrong),
        "MODA": (found - wrong) / objects,
        "MOTA": (found - wrong - switches) / objects,
        "MOTP": overlap / max(1.0, found),
        "sMOTA": (overlap - wrong - switches) / objects,
        "F1": found / max(1.0, found + 0.5 * missed + 0.5 * wrong),
        "FP_per_frame": wrong / max(1.0, frames),
        "MOTAL": (found - wrong - few_switches) / objects,
    }


def _id_ratios(values: Values) -> Values:
    found, missed, wrong = (values[name] for name in _ID_COUNTS)
    return {
        "IDR": found / max(1.0, found + missed),
        "IDP": found / max(1.0, found + wrong),
        "IDF1": found / max(1.0, found + 0.5 * wrong + 0.5 * missed),
    }


def _vace_ratios(values: Values) -> Values:
    """Without any region, both are NaN."""
    return {
        "ATA": _ratio(values["STDA"], 0.5 * (values["IDs"] + values["GT_IDs"])),
        "SFDA": _ratio(values["FDA"], values["VACE_Frames"]),
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else nan
