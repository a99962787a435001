"""The near pairs of a match table, and a second matching of them by other rules."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._boundary import DetectionColumns, ObjectColumns, PairColumns, SceneColumns, SelectionColumns
from ioukit._checks import check_threads
from ioukit.evaluation.matching import rules_of
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.table import NEARLY_ONE, DetectionRows, MatchTable, NearPairs, ObjectRows, PairRows

_IGNORED = 1


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
    scene = _scene(table, chosen, np.zeros(len(chosen)), np.zeros(len(table.objects)), table.objects.special)
    pairs = PairColumns(place[near.detection[wanted]], near.object[wanted], near.iou[wanted])
    columns = _core.match_detections(scene, pairs, rules_of(protocol, None), check_threads(threads))
    return Rematched(columns["detections"], columns["objects"], columns["pairs"])


def _scene(
    table: MatchTable, chosen: npt.NDArray[np.intp], areas: Floats, object_areas: Floats, special: npt.NDArray[np.uint8]
) -> SceneColumns:
    """Some detections of a table in this order, and its objects, as the core reads them; all with other areas."""
    images, categories = (np.arange(count) for count in (len(table.image_ids), len(table.categories)))
    return SceneColumns(
        SelectionColumns(images, np.ones(len(images), np.bool_)),
        SelectionColumns(categories, np.ones(len(categories), np.bool_)),
        ObjectColumns(
            image_ids=table.objects.image.astype(np.int64),
            category_ids=table.objects.category.astype(np.int64),
            areas=object_areas,
            flags=special,
        ),
        DetectionColumns(
            source="detections",
            image_ids=table.detections.image[chosen].astype(np.int64),
            category_ids=table.detections.category[chosen].astype(np.int64),
            scores=table.detections.score[chosen],
            boxes=np.zeros((0, 4)),
            areas=areas,
        ),
        verified=None,
    )


def check_rematch(protocol: Protocol) -> None:
    """Refuse a protocol whose tables cannot be matched again by other values.

    Raises:
        ValueError: If the protocol leaves out detections, as LVIS does, or its objects choose, as in KITTI.
    """
    reason = "the protocol leaves out detections" if protocol.leaves_out_detections else protocol.why_matches_vary
    if reason:
        raise ValueError(f"a table of the protocol {protocol.name!r} cannot be matched again by other values: {reason}")


def table_by_values(
    table: MatchTable,
    protocol: Protocol,
    object_values: npt.NDArray[np.float64],
    detection_values: npt.NDArray[np.float64],
    *,
    threads: int | None,
) -> MatchTable:
    """Match a table again by another protocol, whose area ranges are ranges of any value.

    Rows that the main range of the table's protocol ignores are ignored in all ranges: objects by their bits, and
    detections that were ignored without a match.

    Args:
        table: The matches.
        protocol: The rules. The table must have near pairs down to its lowest IoU threshold.
        object_values: (G,) value of each object.
        detection_values: (N,) value of each detection. NaN is within every range.
        threads: How many threads; all cores if ``None``.

    Raises:
        ValueError: If the table does not list the near pairs that are needed, or as :func:`check_rematch`.
    """
    check_rematch(table.protocol)
    near = near_pairs(table, min(protocol.iou_thresholds[0], NEARLY_ONE))
    main = table.protocol.main_area
    always = np.where(table.ignores(main), np.uint8(_IGNORED), np.uint8(0))
    detections, objects = table.detections, table.objects
    # In the order of the data, which decides between equal scores of different categories.
    order = np.argsort(detections.row, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    pair_order = np.lexsort((near.object, place[near.detection]))
    areas = np.where(_ignored_alone(table, main), -np.inf, detection_values)[order]
    object_areas = np.ascontiguousarray(object_values, np.float64)
    scene = _scene(table, order, areas, object_areas, objects.special | always)
    pairs = PairColumns(place[near.detection[pair_order]], near.object[pair_order], near.iou[pair_order])
    columns = _core.match_detections(scene, pairs, rules_of(protocol, near.least), check_threads(threads))
    rows = order[columns["detections"]["row"]]
    object_rows = columns["objects"]["row"]
    return dataclasses.replace(
        table,
        protocol=protocol,
        detections=DetectionRows(**{**columns["detections"], "row": detections.row[rows]}),
        objects=ObjectRows(
            **{**columns["objects"], "row": objects.row[object_rows]},
            id=objects.id[object_rows],
            special=objects.special[object_rows],
        ),
        pairs=PairRows(**columns["pairs"]),
        near=NearPairs(**columns["near"], least=near.least),
    )


def _ignored_alone(table: MatchTable, area_range: str) -> npt.NDArray[np.bool_]:
    """(N,) whether a detection within the cap is ignored at some threshold without a match."""
    at = table.protocol.position_of_area(area_range)
    paired = np.zeros_like(table.detections.matched[:, at])
    np.bitwise_or.at(paired, table.pairs.detection, table.pairs.matched[:, at])
    return (table.detections.ignored[:, at] & ~paired).any(axis=1) & table.is_within_cap()
