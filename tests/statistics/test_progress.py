"""Who waits for a long call is told how far it is, up to the whole of it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import evaluate
from ioukit._progress import watched
from ioukit.comparison import compare_models
from ioukit.report import latex_table
from ioukit.runs import check_rules, default_rules
from ioukit.slices import slice_numbers, worst_slices
from ioukit.statistics import compare, intervals
from support.paths import DEMO

if TYPE_CHECKING:
    from collections.abc import Callable

A, B = (evaluate(DEMO / "gt.json", DEMO / f"{name}.json") for name in "ab")
FEW: dict[str, Any] = {"replicates": 450, "seed": 7}
PERMUTED: dict[str, Any] = {**FEW, "permutations": 250}


@pytest.mark.parametrize(
    ("call", "least"),
    [
        (lambda: intervals(A, **FEW), 3),
        (lambda: intervals(A, ["AP", "AP50/person"], clusters=[1, 1, 2, 3, 4, 4], **FEW), 3),
        (lambda: latex_table({"a": A, "b": B}, **FEW), 6),
        (lambda: compare(A, B, per_class="AP", **PERMUTED), 5),
        (lambda: compare_models(A, B, **PERMUTED), 5),
        (lambda: compare_models(A, B, A, **PERMUTED), 15),
        (lambda: check_rules(B, A, default_rules(A.protocol)), 5),
        (lambda: slice_numbers(A, "size", **FEW), 2),
        (lambda: worst_slices(A, b=B, least_objects=1, **PERMUTED), 5),
        (lambda: worst_slices(A, least_objects=1, **PERMUTED), 5),
    ],
)
def test_shares_rise_to_the_whole(call: Callable[[], Any], least: int) -> None:
    shares: list[float] = []
    with watched(shares.append):
        call()
    assert len(shares) >= least
    assert all(0 < low < high for low, high in itertools.pairwise(shares))
    assert shares[-1] == pytest.approx(1)


def test_each_model_is_an_equal_part() -> None:
    shares: list[float] = []
    with watched(shares.append):
        latex_table({"a": A, "b": B, "a again": A}, **FEW)
    of_each = np.reshape(shares, (3, -1))
    np.testing.assert_allclose(of_each - of_each[0], np.broadcast_to([[0], [1 / 3], [2 / 3]], of_each.shape))


def test_nobody_is_told_after_the_block() -> None:
    shares: list[float] = []
    with watched(shares.append):
        pass
    intervals(A, "AP", replicates=20)
    assert shares == []
