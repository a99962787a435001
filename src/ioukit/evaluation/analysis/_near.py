"""The near pairs of a match table, and a second matching of them by other rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._boundary import DetectionColumns, ObjectColumns, PairColumns, SceneColumns, SelectionColumns
from ioukit._checks import check_threads
from ioukit.evaluation.matching import rules_of
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import MatchTable, NearPairs

__all__ = ["Rematched", "match_again", "near_pairs"]


class Rematched(NamedTuple):
    """The columns of detections, objects and pairs; their rows refer to the rows of a table."""

    detections: dict[str, npt.NDArray[Any]]
    objects: dict[str, npt.NDArray[Any]]
    pairs: dict[str, npt.NDArray[Any]]


def near_pairs(table: MatchTable, least: float) -> NearPairs:
    """The near pairs of a table.

    Raises:
        ValueError: If the table does not list all pairs with an IoU of at least ``least``.
    """
    if table.near is None:
        raise ValueError(f"this needs the near pairs of a match table: match with near={least:g}")
    if table.near.least > least:
        raise ValueError(
            f"this needs pairs with an IoU of at least {least:g}, and the table lists those of at least "
            f"{table.near.least:g}: match with near={least:g}"
        )
    return table.near


def match_again(
    table: MatchTable, near: NearPairs, chosen: npt.NDArray[np.intp], protocol: Protocol, *, threads: int | None
) -> Rematched:
    """Match some detections of a table to its objects by the near pairs.

    The areas of objects and detections are 0, so the protocol must have one area range with 0 in it.

    Args:
        table: The matches.
        near: Its near pairs.
        chosen: Rows of the detections to match, in ascending order.
        protocol: The rules.
        threads: How many threads; all cores if ``None``.
    """
    place = np.full(len(table.detections), -1)
    place[chosen] = np.arange(len(chosen))
    wanted = np.flatnonzero(place[near.detection] >= 0)
    images, categories = (np.arange(count) for count in (len(table.image_ids), len(table.categories)))
    scene = SceneColumns(
        SelectionColumns(images, np.ones(len(images), np.bool_)),
        SelectionColumns(categories, np.ones(len(categories), np.bool_)),
        ObjectColumns(
            image_ids=table.objects.image.astype(np.int64),
            category_ids=table.objects.category.astype(np.int64),
            areas=np.zeros(len(table.objects)),
            flags=table.objects.special,
        ),
        DetectionColumns(
            source="detections",
            image_ids=table.detections.image[chosen].astype(np.int64),
            category_ids=table.detections.category[chosen].astype(np.int64),
            scores=table.detections.score[chosen],
            boxes=np.zeros((0, 4)),
            areas=np.zeros(len(chosen)),
        ),
    )
    pairs = PairColumns(place[near.detection[wanted]], near.object[wanted], near.iou[wanted])
    columns = _core.match_detections(scene, pairs, rules_of(protocol, None), check_threads(threads))
    return Rematched(columns["detections"], columns["objects"], columns["pairs"])
