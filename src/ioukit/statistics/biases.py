"""How far AP of a sample is above that of endlessly many images.

COCO's precision at a recall is the highest one at this recall or any higher. On few images of a class this maximum is
too high: in random halves of the data AP is higher than in the whole, in quarters and eighths even more. The bias of
one class is lost in the noise; that of all classes together is not. So the curve over the number of images k has one
shape for all classes, ``b (k + 1) ** -0.7``, and ``b`` is estimated from all. A free exponent cannot be: it and ``b``
take each other's place.

CrowdHuman's AP is too low instead: the strip before the first recall, 1 / objects wide, is not in it. So ``b / k``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.evaluation import MatchTable, Measure, Protocol
from ioukit.statistics.class_clusters import ClassClusters
from ioukit.statistics.named_numbers import batches_of
from ioukit.statistics.replicates import replicate
from ioukit.statistics.resampling import Weights

_EXPONENT = 0.7
_FEWEST = 4  # clusters with a class, of which parts tell something
_FEW_CLASSES = 3
_DOUBT = 0.25  # the share of the bias by which the shape itself may be wrong


def bias_shape(clusters: npt.NDArray[np.int64], protocol: Protocol) -> Floats:
    """The bias of AP of a class on so many images or clusters, in relation to other numbers of them."""
    if protocol.leaves_out_first_strip:
        return 1.0 / np.maximum(clusters, 1)
    return np.asarray((clusters + 1.0) ** -_EXPONENT)


@dataclass(frozen=True)
class Bias:
    """The bias of one measure: times :func:`bias_shape`, it is that of a class."""

    factor: float
    """``b``."""
    error: float
    """Its standard error, with what the shape may be wrong."""
    classes: int
    """From how many classes it is estimated."""


NO_BIAS = Bias(0.0, 0.0, 0)


class Rises(NamedTuple):
    """What tells of the bias of one measure."""

    rises: Floats
    """(K,) how far AP of each class rises from the whole to its parts, added up; 0 where the parts tell nothing."""
    shapes: Floats
    """(K,) the same of :func:`bias_shape`."""


NO_RISES = Rises(np.zeros(0), np.zeros(0))
"""Of measures without a highest precision: recall and all counts."""


def find_rises(
    table: MatchTable,
    measures: Sequence[Measure],
    on: Mapping[str, ClassClusters],
    parts: tuple[Weights, npt.NDArray[np.intp]],
    threads: int | None,
) -> list[Rises]:
    """How AP of each class rises from the whole to its parts, for each measure.

    Args:
        table: The matches.
        measures: The measures.
        on: The clusters with each class, by the name of the area range.
        parts: Random parts of the images, see :meth:`ImageGroups.parts`.
        threads: How many threads; all cores if ``None``.
    """
    # The classes of all groups tell of the bias of one group.
    plain = [dataclasses.replace(measure, group=None) for measure in measures if measure.quantity == "AP"]
    weights, cuts = parts
    if not plain or not len(cuts):
        return [NO_RISES] * len(measures)
    # The whole and all parts together: every call sorts the detections first.
    weights = np.concatenate([np.ones((1, len(table.image_ids)), np.uint16), weights])
    batches = batches_of(table, len(weights), len(table.evaluated) * len(plain))
    made = np.concatenate([_of_classes(table, weights[start:stop], plain, threads) for start, stop in batches])
    values, cut_into = made[0], np.concatenate([[1], cuts])
    areas = [table.protocol.area_of(measure) for measure in plain]
    rises, shapes = np.zeros_like(values), np.zeros_like(values)
    for cut in np.unique(cuts).tolist():
        of_cut = cut_into == cut
        counts = {area: on[area].counts_in(weights[of_cut]) for area in set(areas)}
        for at, area in enumerate(areas):  # one after the other: those of all classes are large
            found, curve, clusters = made[of_cut, :, at], bias_shape(counts[area], table.protocol), on[area].counts
            defined = ~np.isnan(found)
            total = defined.sum(axis=0)
            used = (clusters >= max(_FEWEST, cut)) & (total > 0) & ~np.isnan(values[:, at])
            count = np.maximum(total, 1)
            rises[used, at] += (found.sum(axis=0, where=defined) / count - values[:, at])[used]
            shapes[used, at] += (curve.sum(axis=0, where=defined) / count - bias_shape(clusters, table.protocol))[used]
    found_rises = map(Rises, rises.T, shapes.T)
    return [next(found_rises) if measure.quantity == "AP" else NO_RISES for measure in measures]


def bias_of(found: Sequence[Rises]) -> Bias:
    """The bias whose curve rises as AP does from the whole to its parts, over all classes of one or more data sets."""
    rises, shapes = (np.concatenate(column) for column in zip(*found, strict=True))
    total, classes = float(shapes.sum()), int((shapes > 0).sum())
    if total <= 0:
        return NO_BIAS
    factor = float(rises.sum()) / total
    error = math.sqrt(float(((rises - factor * shapes) ** 2).sum())) / total
    if classes < _FEW_CLASSES:  # which tell little of how much classes differ
        factor = max(factor, 0.0)
        error = max(error, factor / 2)
    return Bias(factor, math.hypot(error, factor * _DOUBT), classes)


def _of_classes(table: MatchTable, weights: Weights, measures: Sequence[Measure], threads: int | None) -> Floats:
    """(B, K, M) the numbers of each class."""
    found = replicate(table, weights, measures=measures, per_class=True, threads=threads).per_class
    assert found is not None
    return found
