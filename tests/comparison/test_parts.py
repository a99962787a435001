"""The parts of a difference add up to it, and are those of the definition."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from comparison.two_models import two_models
from ioukit import Evaluation, evaluate
from ioukit.comparison import parts
from ioukit.evaluation.protocols import find_protocol

if TYPE_CHECKING:
    from comparison.two_models import TwoModels
    from ioukit.comparison import Parts

EXACT = 1e-12
PROTOCOLS = ("coco", "voc2007", "voc2012", "tide", "ultralytics", "dota")


def lists(split: Parts) -> dict[str, float]:
    """The sum of each list."""
    kinds = {} if split.kinds is None else {"kinds": sum(split.kinds.values())}
    return kinds | {
        "classes": float(split.classes.sum()),
        "images": float(split.images.sum()),
        "sizes": sum(split.sizes.values()),
        "objects": float(split.objects.sum() + split.false_positives.sum()),
    }


@pytest.mark.parametrize("name", PROTOCOLS)
@given(two_models())
def test_parts_add_up_to_the_difference(name: str, models: TwoModels) -> None:
    protocol = find_protocol(name, "bbox")
    a, b = (evaluate(models.truth, each, protocol) for each in (models.a, models.b))
    for measure in protocol.measures:
        if measure.quantity not in ("AP", "AR"):
            continue
        if np.isnan([a.summary[measure.key], b.summary[measure.key]]).any():
            with pytest.raises(ValueError, match="is undefined"):
                parts(a, b, measure.key)
            continue
        split = parts(a, b, measure.key)
        assert split.difference == split.b - split.a
        assert lists(split) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)
        as_given = parts(a, b, measure.key, one_scale=False)
        assert lists(as_given) == pytest.approx(dict.fromkeys(lists(split), split.difference), abs=EXACT)
        back = parts(b, a, measure.key, one_scale=False)
        np.testing.assert_allclose(back.images, -as_given.images, atol=EXACT)
        np.testing.assert_allclose(back.objects, -as_given.objects, atol=EXACT)


@given(two_models())
def test_an_image_without_a_change_has_no_part(models: TwoModels) -> None:
    first = models.truth.images.ids[0]
    kept = [each.image_ids != first for each in (models.a, models.b)]
    shared = models.a[~kept[0]]
    same = [type(shared).concat([shared, each[keep]]) for each, keep in zip((models.a, models.b), kept, strict=True)]
    a, b = (evaluate(models.truth, each) for each in same)
    if np.isnan(a.summary["AP"]):
        return
    assert parts(a, b, one_scale=False).images[0] == pytest.approx(0.0, abs=1e-16)


@given(two_models())
def test_tables_are_enough(models: TwoModels) -> None:
    a, b = (evaluate(models.truth, each) for each in (models.a, models.b))
    if np.isnan(a.summary["AP"]):
        return
    table_a, table_b = (Evaluation.from_table(one.near_matches(0.1)) for one in (a, b))
    whole, alone = parts(a, b), parts(table_a, table_b)
    np.testing.assert_array_equal(whole.images, alone.images)
    assert whole.kinds == alone.kinds
    without = parts(Evaluation.from_table(a.matches), Evaluation.from_table(b.matches))
    assert without.kinds is None
    assert lists(without) == pytest.approx(dict.fromkeys(lists(without), whole.difference), abs=EXACT)


@given(two_models(), st.sampled_from([0.5, 0.125]))
def test_another_scale_of_the_scores_changes_no_part(models: TwoModels, factor: float) -> None:
    """Halving all scores changes no order, so nothing has a part; as they are, gains and losses cancel."""
    halved = dataclasses.replace(models.a, scores=models.a.scores * factor)
    a, b = (evaluate(models.truth, each) for each in (models.a, halved))
    if np.isnan(a.summary["AP"]) or not a.matches.is_true_positive().any():
        return
    split = parts(a, b)
    assert (split.difference, split.spread) == (0, 0)
    assert not split.images.any()
    assert not split.objects.any()
