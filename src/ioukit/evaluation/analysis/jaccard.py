"""The Jaccard index of CrowdDet: how well the set of detections fits the set of objects, image by image."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._columns import Frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._sets import matched_edges
from ioukit.evaluation.matching import reaching_pairs
from ioukit.evaluation.table import COVERED, MatchTable

_SCORES = tuple(0.1 * place for place in range(10))  # as in the reference: its 0.3 is 0.30000000000000004
_EPSILON = 1e-6  # the reference adds it to each denominator


@record(frozen=True, eq=False, repr=False)
class JaccardIndices(Frozen):
    """The result of :func:`jaccard_indices`."""

    categories: Categories
    """(K,) the categories; a single one for all if the protocol is class-agnostic."""
    score_thresholds: Floats
    """(S,) detections with a higher score count."""
    mean: Floats
    """(K, S) mean over the images of the Jaccard index; NaN without an image that has an object or a detection."""

    @property
    def best(self) -> Floats:
        """(K,) the highest mean of each category, which is CrowdDet's JI; NaN where all are."""
        filled = np.where(np.isnan(self.mean), -np.inf, self.mean).max(axis=1, initial=-np.inf)
        return np.where(np.isinf(filled), np.nan, filled)

    def __repr__(self) -> str:
        shown = ", ".join(f"{best:.4f}" for best in self.best[:3].tolist())
        return f"JaccardIndices({shown}{', ...' if len(self.categories) > 3 else ''})"


def jaccard_indices(
    table: MatchTable,
    score_thresholds: npt.ArrayLike = _SCORES,
    *,
    area_range: str | None = None,
    max_dets: int | None = None,
) -> JaccardIndices:
    """The Jaccard index of CrowdDet, over score thresholds.

    On each image, the detections above a score threshold and the objects are matched so that the sum of their IoU is
    largest; each pair must reach the protocol's main IoU threshold. With ``k`` pairs, ``n`` detections and ``m``
    objects, the index is ``k / (n + m - k + 1e-6)``. Detections and objects that are in no pair and lie within an
    ignored object are not among ``n`` and ``m``. The mean is over the images with ``n`` or ``m`` above 0.

    Args:
        table: The matches by a protocol that has a measure with ``quantity="JI"``, such as
            :data:`ioukit.evaluation.protocols.CROWDHUMAN`: their tables have what this needs.
        score_thresholds: (S,) thresholds; 0, 0.1, ..., 0.9 as in CrowdDet.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``. Objects that it ignores do not
            count, and a detection that reaches one of them and is in no pair does not count either.
        max_dets: One of the protocol's caps; the last one if ``None``.

    Raises:
        ValueError: If no measure of the protocol is the Jaccard index, or there is no such area range or cap.

    Reference: Chu, Zheng, Zhang, Sun, Detection in Crowded Scenes, CVPR 2020, arXiv:2003.09163;
    ``lib/evaluate/compute_JI.py`` of CrowdDet. It prints the same numbers; of its mean, the order of the sum is not
    fixed.
    """
    protocol = table.protocol
    if table.near is None or all(measure.quantity != "JI" for measure in protocol.measures):
        raise ValueError(
            f"the Jaccard index needs a table that was matched for it, and the protocol {protocol.name} has no measure "
            "with quantity='JI'"
        )
    at = protocol.position_of_area(protocol.main_area if area_range is None else area_range)
    cap = protocol.max_dets[-1 if max_dets is None else protocol.position_of_max_dets(max_dets)]
    thresholds = np.array(score_thresholds, np.float64).reshape(-1)
    of_object = (table.objects.ignored[:, at // 8] >> (at % 8) & 1).astype(np.bool_)
    detection, object_row, iou = reaching_pairs(table)
    in_ignored = np.zeros(len(table), np.bool_)
    in_ignored[detection[of_object[object_row]]] = True
    edges = ~of_object[object_row]
    pairs = detection[edges], object_row[edges], iou[edges]
    takes_part = table.is_within_cap(cap)
    count = len(table.evaluated)
    cell = [
        table.evaluated_category(rows.category).astype(np.int64) * len(table.image_ids) + rows.image
        for rows in (table.detections, table.objects)
    ]
    sizes = count * len(table.image_ids)
    mean = np.full((count, len(thresholds)), np.nan)
    for column, score in enumerate(thresholds.tolist()):
        above = takes_part & (table.detections.score > score)
        chosen = np.flatnonzero(above[pairs[0]])
        kept = chosen[matched_edges(pairs[0][chosen], pairs[1][chosen], pairs[2][chosen])]
        free_detection, free_object = above.copy(), ~of_object
        free_detection[pairs[0][kept]] = False
        free_object[pairs[1][kept]] = False
        left_out = np.flatnonzero(free_detection & in_ignored)
        covered = np.flatnonzero(free_object & (table.objects.special & COVERED != 0))
        k = np.bincount(cell[0][pairs[0][kept]], minlength=sizes)
        n = np.bincount(cell[0][above], minlength=sizes) - np.bincount(cell[0][left_out], minlength=sizes)
        m = np.bincount(cell[1][~of_object], minlength=sizes) - np.bincount(cell[1][covered], minlength=sizes)
        ratio = (k / (m + n - k + _EPSILON)).reshape(count, -1)
        images = ((n != 0) | (m != 0)).reshape(count, -1).sum(axis=1)
        mean[:, column] = np.divide(ratio.sum(axis=1), images, out=np.full(count, np.nan), where=images > 0)
    return JaccardIndices(table.evaluated, thresholds, mean)
