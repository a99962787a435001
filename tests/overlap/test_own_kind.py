"""A kind of region that ioukit does not have: its overlaps work after `register_engine`."""

from __future__ import annotations

import copy
import math
import pickle
import types
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes, Masks, elementwise_iou, nms, overlap_join, pairwise_giou, pairwise_iou
from ioukit.overlap import register_engine
from ioukit.regions import Regions
from support import discs
from support.dense_pairs import assert_same_as_dense
from support.discs import Discs

register_engine(Discs, discs)

FEW = Discs([[0, 0, 2], [0, 0, 1], [3, 0, 1], [1, 0, 1], [9, 9, 0]])


def scattered(seed: int, count: int) -> Discs:
    rng = np.random.default_rng(seed)
    return Discs(np.column_stack([rng.uniform(0, 30, (count, 2)), rng.uniform(0, 4, count)]))


def test_values_that_can_be_checked_in_the_head() -> None:
    assert_allclose(pairwise_iou(FEW[0], FEW), [[1, 1 / 4, 0, 1 / 4, 0]], atol=1e-15)
    lens = 2 * math.pi / 3 - math.sqrt(3) / 2  # of two discs of radius 1 whose centres are 1 apart
    assert_allclose(elementwise_iou(FEW[[1, 4]], FEW[[3, 4]]), [lens / (2 * math.pi - lens), 0], rtol=1e-14)
    assert_allclose(elementwise_iou(FEW[0], FEW), pairwise_iou(FEW[0], FEW)[0])
    assert_allclose(ioukit.pairwise_ioa(FEW[0], FEW[:2]), [[1, 1]])
    assert_allclose(ioukit.pairwise_ioa(FEW[0], FEW[:2], of="first"), [[1, 1 / 4]])


@pytest.mark.parametrize("metric", ["iou", "ioa", "iom"])
def test_a_join_finds_the_pairs_of_the_table(metric: Any) -> None:
    first, second = scattered(0, 200), scattered(1, 150)
    assert len(assert_same_as_dense(first, second, 0.2, metric=metric)) > 20
    assert len(assert_same_as_dense(first, None, 0.2, metric=metric)) > 20


def test_suppression_goes_from_the_best_disc_down() -> None:
    some = scattered(2, 300)
    scores = np.random.default_rng(3).permutation(300) / 300
    table = pairwise_iou(some, some)
    kept: list[int] = []
    for row in np.argsort(-scores):
        if not any(table[better, row] > 0.3 for better in kept):
            kept.append(row)
    assert 20 < len(kept) < 280
    assert_array_equal(nms(some, scores, iou_threshold=0.3), kept)
    assert nms(some, scores, iou_threshold=0.3, explain=True).keep.tolist() == kept


def test_indexing_equality_and_pickle_follow_from_what_the_class_has() -> None:
    assert len(FEW[1:3]) == 2
    assert FEW[[0, 1]] == FEW[:2] != FEW[[1, 0]]
    assert [len(disc) for disc in FEW] == [1] * 5
    assert FEW.drop_empty() == FEW[:4]
    assert len({FEW, FEW[:], copy.copy(FEW), pickle.loads(pickle.dumps(FEW))}) == 1


def test_a_subclass_has_the_engine_of_its_base() -> None:
    class Coins(Discs):
        pass

    coins = Coins(FEW.rows)
    assert_array_equal(pairwise_iou(coins, coins), pairwise_iou(FEW, FEW))
    assert_array_equal(pairwise_iou(coins, FEW), pairwise_iou(FEW, FEW))


def test_a_later_engine_replaces_the_earlier_one() -> None:
    class Coins(Discs):
        pass

    constant = types.SimpleNamespace(**{**vars(discs.ENGINE), "pairwise": lambda *_: np.full((1, 1), 0.125)})
    register_engine(Coins, constant)
    assert pairwise_iou(Coins([0, 0, 1]), Coins([9, 9, 1])) == 0.125
    assert pairwise_iou(FEW[0], FEW[2]) == 0
    register_engine(Coins, discs.ENGINE)
    assert pairwise_iou(Coins([0, 0, 1]), Coins([9, 9, 1])) == 0


def test_names_are_imported_when_they_are_needed() -> None:
    class Coins(Discs):
        pass

    register_engine(f"{Coins.__module__}:{Coins.__qualname__}", "support.discs:ENGINE")
    coins = Coins(FEW.rows)
    assert_array_equal(pairwise_iou(coins, coins), pairwise_iou(FEW, FEW))
    register_engine(Coins, "support.discs")
    assert_array_equal(pairwise_iou(coins, coins), pairwise_iou(FEW, FEW))
    register_engine(Coins, "support.no_such_module")
    with pytest.raises(ModuleNotFoundError, match=r"support\.no_such_module"):
        pairwise_iou(coins, coins)
    register_engine(Coins, "support.oracles")
    with pytest.raises(TypeError, match="an engine needs a function 'pairwise'"):
        pairwise_iou(coins, coins)


class Lonely(Regions):
    """A kind without an engine."""

    __len__ = area = is_empty = to_boxes = _select = _state = _trusted = None  # type: ignore[assignment]


def test_a_kind_without_an_engine_is_named() -> None:
    for call in (lambda: pairwise_iou(Lonely(), FEW), lambda: overlap_join(Lonely(), min_iou=0.5)):
        with pytest.raises(TypeError, match=r"no engine measures the overlaps of Lonely: .*register_engine adds one"):
            call()
    assert pairwise_iou(FEW, FEW).shape == (5, 5)


def test_kinds_do_not_mix() -> None:
    with pytest.raises(TypeError, match="both sets must be of one kind, got Discs and Boxes: convert one"):
        pairwise_iou(FEW, Boxes([[0, 0, 1, 1]]))


def test_other_measures_are_for_upright_boxes() -> None:
    with pytest.raises(TypeError, match="giou is defined for upright boxes; for Discs there are intersection, iou"):
        pairwise_giou(FEW, FEW)


@pytest.mark.parametrize(
    ("kind", "engine", "says"),
    [
        (np.ndarray, discs, "kind must be a class derived from ioukit.regions.Regions, got <class 'numpy.ndarray'>"),
        (FEW, discs, "kind must be a class derived from"),
        (Boxes, discs, "upright boxes are built in, register another kind than Boxes"),
        (Discs, math, "an engine needs a function 'pairwise', see ioukit.overlap.Engine; <module 'math'"),
        (Discs, types.SimpleNamespace(pairwise=len, elementwise=len), "an engine needs a function 'pairs'"),
    ],
    ids=["no class of regions", "regions", "upright boxes", "no functions", "no pairs"],
)
def test_what_cannot_be_registered(kind: Any, engine: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        register_engine(kind, engine)


def test_the_engine_of_a_kind_of_ioukit_is_registered_in_the_same_way() -> None:
    masks = Masks.from_boxes(Boxes([[0, 0, 2, 2], [0, 0, 2, 1]]), height=4, width=4)

    class Silhouettes(Masks):
        pass

    register_engine(Silhouettes, "ioukit.overlap.engines.masks")
    assert pairwise_iou(*[Silhouettes._trusted(*masks._state())] * 2)[0, 1] == 0.5
