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
EPSILON = float(np.finfo(np.float64).eps)
"""TrackEval allows this much for rounding at limits."""

CURVES = ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "OWTA")
"""The numbers of HOTA: a value per threshold, and their mean."""
_COUNT_CURVES = ("HOTA_TP", "HOTA_FN", "HOTA_FP")
_ASSOCIATION = ("AssA", "AssRe", "AssPr")
_MEANS = (*_ASSOCIATION, "LocA")
"""Means over the pairs of a threshold."""
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
RATIOS = (*_AT_LOWEST, *CURVES, *_CLEAR_RATIOS, *_ID_RATIOS)
"""What is averaged over classes; without objects, it says nothing."""
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
    sums = {name: _sum(part[name] for part in parts) for name in _SUMS}
    products = {name: _sum(part[name] * part["HOTA_TP"] for part in parts) for name in _MEANS}
    return _of_sums(sums, products)


def drawn_counts(sequences: Sequence[Values], weights: Floats) -> dict[str, Floats]:
    """(R,) numbers of R data sets in which each of several sequences stands so many times, combined as `together`.

    Args:
        sequences: The numbers of N sequences.
        weights: (R, N) how many times each sequence stands in each data set; not only whole numbers.

    Returns:
        The numbers of :data:`KEYS` by their names. Their last bits are not those of :func:`together`.
    """
    sums = {name: (weights @ np.array([one[name] for one in sequences], np.float64)).T for name in _SUMS}
    products = {name: (weights @ np.array([one[name] * one["HOTA_TP"] for one in sequences])).T for name in _MEANS}
    values = _of_sums(sums, products)
    return {key: values[key].mean(axis=0) if key in CURVES else values[key] for key in KEYS}


def _of_sums(values: Values, products: Values) -> Values:
    """All numbers from sums of counts, and from sums of means times the number of pairs that they are means of."""
    for name in _ASSOCIATION:
        values[name] = products[name] / np.maximum(1.0, values["HOTA_TP"])
    values["LocA"] = _mean_overlap(products["LocA"], values["HOTA_TP"])
    return {**values, **_hota_ratios(values), **_clear_ratios(values), **_id_ratios(values), **_vace_ratios(values)}


def averaged(classes: Sequence[Values]) -> Values:
    """The mean of each ratio over classes, each of which counts once; counts are added up."""
    values: Values = {name: _sum(one[name] for one in classes) for name in _SUMS if name != "MOTP_sum"}
    for name in RATIOS:
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
    tracks = np.maximum(1.0, mostly + lost + partly)
    objects = np.maximum(1.0, found + missed)
    overlap = values["MOTP_sum"]
    few_switches = np.log10(np.maximum(1, switches))  # of none, 0
    return {
        "MTR": mostly / tracks,
        "MLR": lost / tracks,
        "PTR": partly / tracks,
        "Re": found / objects,
        "Pr": found / np.maximum(1.0, found + wrong),
        "MODA": (found - wrong) / objects,
        "MOTA": (found - wrong - switches) / objects,
        "MOTP": overlap / np.maximum(1.0, found),
        "sMOTA": (overlap - wrong - switches) / objects,
        "F1": found / np.maximum(1.0, found + 0.5 * missed + 0.5 * wrong),
        "FP_per_frame": wrong / np.maximum(1.0, frames),
        "MOTAL": (found - wrong - few_switches) / objects,
    }


def _id_ratios(values: Values) -> Values:
    found, missed, wrong = (values[name] for name in _ID_COUNTS)
    return {
        "IDR": found / np.maximum(1.0, found + missed),
        "IDP": found / np.maximum(1.0, found + wrong),
        "IDF1": found / np.maximum(1.0, found + 0.5 * wrong + 0.5 * missed),
    }


def _vace_ratios(values: Values) -> Values:
    """Without any region, both are NaN."""
    with np.errstate(invalid="ignore"):
        return {
            "ATA": np.divide(values["STDA"], 0.5 * (values["IDs"] + values["GT_IDs"])),
            "SFDA": np.divide(values["FDA"], values["VACE_Frames"]),
        }
