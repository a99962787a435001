"""Match tables by bins of any value of the objects, such as aspect ratio, crowding or brightness."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.evaluation.analysis._near import check_rematch, table_by_values
from ioukit.evaluation.protocols import AreaRange
from ioukit.evaluation.table import MatchTable

_LEAST, _MOST = -np.finfo(np.float64).max, np.finfo(np.float64).max
_NO_BIN = _LEAST  # the value of objects that are in no bin


def match_bins(
    table: MatchTable,
    values: npt.ArrayLike | Mapping[Any, Any],
    bins: Sequence[Any] | npt.NDArray[Any] | Mapping[str, tuple[float, float]] | None = None,
    *,
    detection_values: npt.ArrayLike | None = None,
    threads: int | None = None,
) -> MatchTable:
    """A match table whose area ranges are bins of a value of the objects: AP by aspect ratio, by crowding, by colour.

    Everything that takes a table then works by bins: ``Evaluation.from_table(binned).summary`` has ``AP<label>`` and
    ``AR<label>`` for each bin, and ``area_range="<label>"`` chooses one in :func:`score_curves` or :func:`lrp_errors`.

    The rule is COCO's for areas, with the value instead of the area. Objects outside of a bin are ignored in it:
    neither finding nor missing them counts. A detection prefers an object of the bin to one outside of it. A detection
    without a match is a false positive of the bin, unless its own value is outside. A detection whose value is unknown
    is a false positive of **every** bin. Then bins with few objects have a lower AP, so compare one bin between
    detectors, and not bins with each other::

        AP(bin) = AP of the objects in the bin and of the detections that match one of them,
                  or have no match and are in the bin

    The first range has the label of the protocol's main range and contains all objects. All bins ignore the objects
    that this range ignores, such as crowds.

    Args:
        table: The matches, with near pairs: ``match(..., near=0.1)``.
        values: (G,) a number, string or boolean for each row of ``table.objects``, or a mapping with a value for each
            annotation id. If you have values in the order of the ground truth, pass ``values[table.objects.row]``. An
            object whose value is NaN is in no bin.
        bins: For numbers: E ascending edges of E - 1 bins. Each bin includes its lower edge, and the last one also its
            upper edge, as in ``numpy.histogram``. Or labels with lowest and highest value, both included; such bins may
            overlap. For strings and booleans: the values, each a bin; all that occur if ``None``.
        detection_values: (N,) the value of each row of ``table.detections``, of the same kind; NaN for an unknown one.
            All are unknown if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If the number of values is not that of the objects or detections, the bins are invalid, or the table
            does not list the near pairs that are needed.
        KeyError: If the mapping lacks an annotation id.

    Examples:
        >>> from ioukit import Detections, Evaluation, GroundTruth
        >>> from ioukit.evaluation import match, match_bins
        >>> boxes = [[0, 0, 10, 10], [0, 50, 10, 40]]
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes)
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes[1:], scores=[0.9])
        >>> table = match(ground_truth, detections, near=0.1)
        >>> ratio = ground_truth.boxes[:, 2] / ground_truth.boxes[:, 3]
        >>> binned = match_bins(table, ratio[table.objects.row], {"tall": (0, 0.5), "square": (0.5, 2)})
        >>> summary = Evaluation.from_table(binned).summary
        >>> round(summary["APtall"], 3), summary["APsquare"]
        (1.0, 0.0)
    """
    check_rematch(table.protocol)
    given = np.asarray(values if not isinstance(values, Mapping) else _by_id(table, values))
    of_objects = _checked(given, "values", len(table.objects), "object")
    of_detections = None
    if detection_values is not None:
        of_detections = _checked(np.asarray(detection_values), "detection_values", len(table), "detection")
        if (of_detections.dtype.kind in "iuf") != (of_objects.dtype.kind in "iuf"):
            raise ValueError("values and detection_values must both be numbers, or both strings or booleans")
    binning = _of_numbers if of_objects.dtype.kind in "iuf" else _of_names
    binned = binning(of_objects, of_detections, bins)
    protocol = table.protocol.replace(area_ranges=(AreaRange(table.protocol.main_area, _LEAST, _MOST), *binned.ranges))
    found = np.full(len(table), np.nan) if binned.of_detections is None else binned.of_detections
    return table_by_values(table, protocol, binned.of_objects, found, threads=threads)


class _Binned(NamedTuple):
    """Numbers of objects and detections, and the ranges of these numbers."""

    ranges: list[AreaRange]
    of_objects: Floats
    of_detections: Floats | None


def _by_id(table: MatchTable, values: Mapping[Any, Any]) -> list[Any]:
    ids = table.objects.id.tolist()
    if missing := [each for each in ids if each not in values]:
        raise KeyError(f"values must have every annotation id of the table; {missing[0]} is missing")
    return [values[each] for each in ids]


def _checked(values: npt.NDArray[Any], name: str, count: int, row: str) -> npt.NDArray[Any]:
    if values.shape != (count,):
        raise ValueError(
            f"{name} must have shape ({count},), one value for each {row} of the table, got {values.shape}"
        )
    if values.dtype.kind not in "iufbUT" and count:
        raise ValueError(f"{name} must be numbers, strings or booleans, got {values.dtype}")
    return values


def _of_numbers(
    of_objects: npt.NDArray[Any],
    of_detections: npt.NDArray[Any] | None,
    bins: Sequence[Any] | npt.NDArray[Any] | Mapping[str, tuple[float, float]] | None,
) -> _Binned:
    if bins is None:
        raise ValueError("numbers need bins: rising edges, or labels with lowest and highest value")
    if isinstance(bins, Mapping):
        limits = [(str(label), float(low), float(high)) for label, (low, high) in bins.items()]
    else:
        limits = _between(np.asarray(bins, np.float64))
    lowest = math.nextafter(_LEAST, 0)
    ranges = [AreaRange(label, max(low, lowest), min(high, _MOST)) for label, low, high in limits]
    values = np.clip(of_objects.astype(np.float64), lowest, _MOST)  # keeps NaN
    values[np.isnan(values)] = _NO_BIN
    known = None if of_detections is None else np.clip(of_detections.astype(np.float64), lowest, _MOST)
    return _Binned(ranges, values, known)


def _between(edges: Floats) -> list[tuple[str, float, float]]:
    """The bins between edges, with both ends included: the upper end is the last double below the next edge."""
    if edges.ndim != 1 or len(edges) < 2 or not (np.diff(edges) > 0).all():
        raise ValueError(f"edges of bins must be at least two rising numbers, got {edges.tolist()}")
    lows, highs = edges[:-1].tolist(), edges[1:].tolist()
    ends = [*(math.nextafter(high, -math.inf) for high in highs[:-1]), highs[-1]]
    return [(f"{low:g}-{high:g}", low, end) for low, high, end in zip(lows, highs, ends, strict=True)]


def _of_names(of_objects: npt.NDArray[Any], of_detections: npt.NDArray[Any] | None, bins: Any) -> _Binned:
    if isinstance(bins, Mapping):
        raise ValueError("bins of strings or booleans are a list of values, got a mapping")
    names = np.unique(of_objects).tolist() if bins is None else list(bins)
    code = {name: float(at) for at, name in enumerate(names)}
    ranges = [AreaRange(str(name), at, at) for name, at in code.items()]

    def coded(column: npt.NDArray[Any]) -> Floats:
        return np.array([code.get(value, _NO_BIN) for value in column.tolist()], np.float64)

    return _Binned(ranges, coded(of_objects), None if of_detections is None else coded(of_detections))
