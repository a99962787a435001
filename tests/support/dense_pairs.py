"""Comparison of `overlap_join` with the dense table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.testing import assert_array_equal

import ioukit
from ioukit import OverlapPairs, overlap_join


def dense(a: Any, b: Any, overlap: dict[str, Any]) -> Any:
    """The table of ``pairwise_<metric>``."""
    options = {name: value for name, value in overlap.items() if name != "metric"}
    return getattr(ioukit, f"pairwise_{overlap['metric']}")(a, b, **options)


def assert_same_as_dense(a: Any, b: Any, min_iou: float, labels: Any = None, **overlap: Any) -> OverlapPairs:
    """Checks the pairs, their order, and every bit of their values; without ``b``, the pairs of ``a`` with itself.

    So do the pairs of slices of rows, put together.
    """
    overlap.setdefault("metric", "iou")
    table = dense(a, a if b is None else b, overlap)
    wanted = (table > 0) & (table >= min_iou)
    if b is None:
        wanted &= np.triu(np.ones_like(wanted), 1)
    labelled = {}
    if labels is not None:
        labels1, labels2 = labels
        wanted &= np.equal.outer(labels1, labels1 if b is None else labels2)
        labelled = {"labels1": labels1} if b is None else {"labels1": labels1, "labels2": labels2}
    pairs = overlap_join(a, b, min_iou=min_iou, **labelled, **overlap)
    rows, columns = np.nonzero(wanted)
    assert_array_equal(pairs.to_pairs(), np.stack([rows, columns], axis=1))
    assert_array_equal(pairs.values, table[rows, columns], strict=True)
    assert pairs.shape == table.shape
    cut = len(table) * (len(rows) % 5 + 1) // 6
    slices = [slice(cut), slice(cut, None)]
    parts = [overlap_join(a, b, min_iou=min_iou, rows=one, **labelled, **overlap) for one in slices]
    for name in ("rows", "columns", "values"):
        assert_array_equal(np.concatenate([getattr(one, name) for one in parts]), getattr(pairs, name), strict=True)
    assert {one.shape for one in parts} == {table.shape}
    return pairs
