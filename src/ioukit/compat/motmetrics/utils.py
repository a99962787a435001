"""`motmetrics.utils`: events from two data frames of boxes or points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.motmetrics.distances import iou_matrix, norm2squared_matrix
from ioukit.compat.motmetrics.mot import MOTAccumulator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit._array_types import Floats

__all__ = ["compare_to_groundtruth"]

_DISTANCES: dict[str, Callable[[Any, Any, float], Floats]] = {
    "IOU": lambda objs, hyps, most: iou_matrix(objs, hyps, max_iou=most),
    "EUC": lambda objs, hyps, most: np.sqrt(norm2squared_matrix(objs, hyps, max_d2=most**2)),
    "SEUC": lambda objs, hyps, most: norm2squared_matrix(objs, hyps, max_d2=most),
}


def compare_to_groundtruth(
    gt: Any, dt: Any, dist: str = "iou", distfields: Sequence[str] | None = None, distth: float = 0.5
) -> MOTAccumulator:
    """The events of a tracker, frame by frame.

    Args:
        gt: The objects: a data frame with an index of ``FrameId`` and ``Id``, as `io.loadtxt` returns it.
        dt: The results of the tracker, in the same form.
        dist: ``"iou"`` (1 - IoU), ``"euc"`` (Euclidean) or ``"seuc"`` (squared Euclidean), in upper or lower case.
        distfields: The columns that are compared. If ``None``, X, Y, Width and Height.
        distth: Pairs with a larger distance may not be.

    Raises:
        ValueError: If no distance has the name, or a box is not finite or has a negative size.
    """
    if dist.upper() not in _DISTANCES:
        raise ValueError(f'Unknown distance metric {dist!r}. Use "IOU", "EUC" or "SEUC"')
    measure = _DISTANCES[dist.upper()]
    fields = ["X", "Y", "Width", "Height"] if distfields is None else list(distfields)
    sides = [
        (side[fields].to_numpy(), side.index.get_level_values("Id").to_numpy(), side.groupby(level="FrameId").indices)
        for side in (gt, dt)
    ]
    accumulator = MOTAccumulator()
    nothing = np.zeros(0, np.int64)
    for frame in np.union1d(*(side.index.get_level_values("FrameId") for side in (gt, dt))):
        (objs, oids), (hyps, hids) = (
            (values[places], ids[places])
            for values, ids, by_frame in sides
            for places in [by_frame.get(frame, nothing)]
        )
        try:
            distances = measure(objs, hyps, distth)
        except ValueError as error:
            raise ValueError(f"frame {frame}: {error}") from None
        accumulator.update(oids, hids, distances, frameid=frame)
    return accumulator
