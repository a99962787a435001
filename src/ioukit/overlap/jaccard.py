"""The Jaccard index of sets, of boolean arrays, and of counts."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def jaccard_index(a: AbstractSet[Any] | ArrayLike, b: AbstractSet[Any] | ArrayLike, *, empty: float = 0.0) -> float:
    """Jaccard index of two sets: the fraction of their union that is in both.

    ``|A and B| / |A or B|``

    Args:
        a: A Python set (``set``, ``frozenset``, the keys of a dictionary), or a boolean array that is True for the
            members, such as a mask or the decisions of a classifier.
        b: The same type of set; an array has the shape of ``a``.
        empty: The index of two empty sets, which is 0/0. The default 0 is also the IoU of boxes without an area; other
            libraries use 1.

    Returns:
        A number within [0, 1], or ``empty``.

    Raises:
        TypeError: If one is a set and the other is not, or an array is not boolean: numbers or labels do not say which
            elements are members.
        ValueError: If two arrays have different shapes.

    Examples:
        >>> from ioukit import jaccard_index
        >>> jaccard_index({"cat", "dog"}, {"dog", "bird", "cat"})
        0.6666666666666666
        >>> jaccard_index([True, True, False], [True, False, False])
        0.5

    Reference: Jaccard, The distribution of the flora in the alpine zone, New Phytologist 1912.
    """
    if isinstance(a, AbstractSet) and isinstance(b, AbstractSet):
        both = len(a & b)
        return _over(both, len(a) + len(b) - both, empty)
    if isinstance(a, AbstractSet) or isinstance(b, AbstractSet):
        raise TypeError(f"a and b must both be sets or both boolean arrays, got {type(a).__name__}, {type(b).__name__}")
    masks = [np.asarray(mask) for mask in (a, b)]
    for name, mask in zip("ab", masks, strict=True):
        if mask.dtype != np.bool_ and mask.size:
            raise TypeError(f"{name} must be a set or a boolean array, got dtype {mask.dtype}")
    first, second = (mask.astype(np.bool_) for mask in masks)
    if first.shape != second.shape:
        raise ValueError(f"a and b must have one shape, got {first.shape} and {second.shape}")
    return _over(int(np.count_nonzero(first & second)), int(np.count_nonzero(first | second)), empty)


def jaccard_distance(a: AbstractSet[Any] | ArrayLike, b: AbstractSet[Any] | ArrayLike, *, empty: float = 1.0) -> float:
    """Jaccard distance of two sets: the fraction of their union that is not in both. It is a metric.

    ``1 - |A and B| / |A or B|``. For boxes, see ``pairwise_jaccard_distance``.

    Args:
        a: As in `jaccard_index`.
        b: As in `jaccard_index`.
        empty: The distance of two empty sets, which is 0/0. The default 1 is also that of boxes without an area; other
            libraries use 0.

    Returns:
        A number within [0, 1], or ``empty``.

    Raises:
        TypeError, ValueError: As in `jaccard_index`.

    Examples:
        >>> from ioukit import jaccard_distance
        >>> jaccard_distance({"cat", "dog"}, {"dog", "bird"})
        0.6666666666666667

    Reference: Jaccard, The distribution of the flora in the alpine zone, New Phytologist 1912.
    """
    return 1.0 - jaccard_index(a, b, empty=1.0 - empty)


def jaccard_index_of_counts(
    true_positives: ArrayLike, false_positives: ArrayLike, false_negatives: ArrayLike, *, empty: float = 0.0
) -> NDArray[np.float64]:
    """Jaccard index from the counts of a confusion matrix, as used per class in semantic segmentation.

    ``TP / (TP + FP + FN)``

    Args:
        true_positives: A count or an array of counts, at least 0, exact up to 2**53. The shapes of all three broadcast.
        false_positives: The same.
        false_negatives: The same.
        empty: The index where all three counts are 0.

    Returns:
        float64 in the broadcast shape, within [0, 1], or ``empty``.

    Raises:
        ValueError: If a count is negative or not finite.

    Examples:
        >>> from ioukit import jaccard_index_of_counts
        >>> jaccard_index_of_counts([3, 0], [1, 0], [2, 0])
        array([0.5, 0. ])

    Reference: Jaccard, The distribution of the flora in the alpine zone, New Phytologist 1912.
    """
    names = ("true_positives", "false_positives", "false_negatives")
    counts = [np.asarray(given, np.float64) for given in (true_positives, false_positives, false_negatives)]
    for name, values in zip(names, counts, strict=True):
        if not ((values >= 0) & np.isfinite(values)).all():
            raise ValueError(f"{name} must be counts, finite and at least 0")
    hits, union = counts[0], counts[0] + counts[1] + counts[2]
    return np.asarray(np.where(union > 0, hits / np.where(union > 0, union, 1.0), empty))


def _over(both: int, either: int, empty: float) -> float:
    return both / either if either else float(empty)
