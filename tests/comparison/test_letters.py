"""Groups of models that cannot be told apart."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - loads the profile that allows for a busy machine
from ioukit.comparison.ranking_models import groups_not_apart


@st.composite
def relations(draw: st.DrawFn) -> tuple[int, list[tuple[int, int]]]:
    count = draw(st.integers(1, 8))
    pairs = list(itertools.combinations(range(count), 2))
    return count, draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []


@given(relations())
def test_two_share_a_group_exactly_if_they_are_not_apart(relation: tuple[int, list[tuple[int, int]]]) -> None:
    count, apart = relation
    groups = groups_not_apart(count, apart)
    for pair in itertools.combinations(range(count), 2):
        assert any(set(pair) <= set(group) for group in groups) == (pair not in apart)
    assert set().union(*groups) == set(range(count))
    assert not any(set(one) < set(other) for one in groups for other in groups)
    assert groups == sorted(groups)


def test_small_ones() -> None:
    assert groups_not_apart(0, []) == []
    assert groups_not_apart(1, []) == [(0,)]
    assert groups_not_apart(3, []) == [(0, 1, 2)]
    assert groups_not_apart(3, [(0, 1), (0, 2), (1, 2)]) == [(0,), (1,), (2,)]
