"""Laws that all measures obey to the last bit, for all boxes."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import ioukit
from ioukit.overlap.variants import VARIANTS, Variant
from support.strategies import extreme_boxes, free_boxes, grid_boxes

if TYPE_CHECKING:
    from ioukit.typing import FloatArray

DTYPES = [np.float32, np.float64]
EXAMPLES = 150  # to draw boxes takes longer than to compare all variants on them, so all have the same
ROWS = {row.name: row for row in VARIANTS}
LENGTH = 2.0**22  # all boxes of `free_boxes` lie in an image of this size


def options_of(variant: Variant, length: float = LENGTH) -> dict[str, Any]:
    """The option values of the row, with other lengths."""
    lengths = {"image_size": (length, length), "constant": length}
    return {**variant.option_values, **{name: lengths[name] for name in variant.lengths}}


def pairwise(
    variant: Variant | str, a: FloatArray, b: FloatArray, *, length: float = LENGTH, **options: Any
) -> FloatArray:
    row = ROWS[variant] if isinstance(variant, str) else variant
    function = getattr(ioukit, f"pairwise_{row.name}")
    result: FloatArray = function(a, b, **options_of(row, length), **options)
    return result


def any_boxes(**size: int) -> st.SearchStrategy[FloatArray]:
    return st.one_of(*(boxes(dtype, **size) for boxes, dtype in itertools.product([free_boxes, grid_boxes], DTYPES)))


@settings(max_examples=EXAMPLES)
@given(boxes=any_boxes())
def test_values_stay_in_the_range_of_the_table(boxes: FloatArray) -> None:
    for variant in VARIANTS:
        values = pairwise(variant, boxes, boxes[::-1])
        slack = 0 if variant.low in (-1, 0) else 1e-6  # several penalties, each rounded
        assert ((values >= variant.low - slack) & (values <= variant.high)).all(), variant.name


@settings(max_examples=EXAMPLES)
@given(a=any_boxes(), b=any_boxes())
def test_swapping_the_sets_transposes(a: FloatArray, b: FloatArray) -> None:
    for variant in (row for row in VARIANTS if row.symmetric):
        assert_array_equal(pairwise(variant, a, b), pairwise(variant, b, a).T, variant.name)


@given(a=any_boxes(), b=any_boxes())
def test_swapping_the_sets_transposes_ioa_with_its_area(a: FloatArray, b: FloatArray) -> None:
    assert_array_equal(pairwise("ioa", a, b, of="first"), pairwise("ioa", b, a, of="second").T)


@settings(max_examples=EXAMPLES)
@given(a=grid_boxes(), b=grid_boxes(), shift=st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)))
def test_moving_everything_changes_nothing(a: FloatArray, b: FloatArray, shift: Any) -> None:
    move = np.array(shift * 2, np.float32)
    for variant in VARIANTS:
        assert_array_equal(pairwise(variant, a + move, b + move), pairwise(variant, a, b), variant.name)


@settings(max_examples=EXAMPLES)
@given(boxes=any_boxes(min_size=1))
def test_a_power_of_two_scales_lengths_and_areas_and_nothing_else(boxes: FloatArray) -> None:
    for variant, power in itertools.product(VARIANTS, (-8, 5)):
        factor = 2.0**power
        scaled = boxes * boxes.dtype.type(factor)
        expected = pairwise(variant, boxes, boxes) * boxes.dtype.type(factor**variant.dimension)
        assert_array_equal(pairwise(variant, scaled, scaled, length=LENGTH * factor), expected, variant.name)


@settings(max_examples=EXAMPLES)
@given(boxes=any_boxes(min_size=2), data=st.data())
def test_order_does_not_matter(boxes: FloatArray, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(boxes))))
    for variant in VARIANTS:
        values = pairwise(variant, boxes, boxes)
        assert_array_equal(pairwise(variant, boxes[order], boxes), values[order], variant.name)
        assert_array_equal(pairwise(variant, boxes, boxes[order]), values[:, order], variant.name)


@settings(max_examples=EXAMPLES)
@given(a=any_boxes(), b=any_boxes())
def test_elementwise_is_the_diagonal(a: FloatArray, b: FloatArray) -> None:
    count = min(len(a), len(b))
    for variant in VARIANTS:
        elementwise = getattr(ioukit, f"elementwise_{variant.name}")(a[:count], b[:count], **options_of(variant))
        assert_array_equal(elementwise, np.diagonal(pairwise(variant, a[:count], b[:count])), variant.name)


@given(a=any_boxes(), b=any_boxes())
def test_penalties_only_take_off(a: FloatArray, b: FloatArray) -> None:
    assert (pairwise("giou", a, b) <= pairwise("iou", a, b)).all()
    assert (pairwise("diou", a, b) <= pairwise("iou", a, b)).all()
    assert (pairwise("ciou", a, b) <= pairwise("diou", a, b)).all()
    assert (pairwise("eiou", a, b) <= pairwise("diou", a, b)).all()
    assert (pairwise("siou", a, b) <= pairwise("iou", a, b)).all()
    assert (pairwise("mpdiou", a, b) <= pairwise("iou", a, b)).all()
    assert (pairwise("alpha_iou", a, b, alpha=1.5) <= pairwise("iou", a, b)).all()


@given(boxes=any_boxes())
def test_parameters_that_change_nothing(boxes: FloatArray) -> None:
    iou = pairwise("iou", boxes, boxes[::-1])
    assert_array_equal(pairwise("alpha_iou", boxes, boxes[::-1], alpha=1), iou)
    assert_array_equal(pairwise("jaccard_distance", boxes, boxes[::-1]), 1 - iou)
    inner = ioukit.pairwise_inner_iou(boxes, boxes[::-1], ratio=1)
    rounding = 16 * np.finfo(boxes.dtype).eps
    np.testing.assert_allclose(inner, iou, rtol=rounding, atol=rounding)


@given(a=any_boxes(), b=any_boxes())
def test_iom_is_the_larger_ioa_and_no_less_than_iou(a: FloatArray, b: FloatArray) -> None:
    iom = pairwise("iom", a, b)
    assert_array_equal(iom, np.maximum(pairwise("ioa", a, b, of="first"), pairwise("ioa", a, b)))
    assert (pairwise("iou", a, b) <= iom).all()


@given(a=any_boxes(), b=any_boxes())
def test_the_intersection_is_no_larger_than_either_box(a: FloatArray, b: FloatArray) -> None:
    dtype = np.promote_types(a.dtype, b.dtype)
    areas = [(x[:, 2:] - x[:, :2]).prod(axis=1) for x in (a.astype(dtype), b.astype(dtype))]
    assert (pairwise("intersection", a, b) <= np.minimum(areas[0][:, None], areas[1])).all()


@settings(max_examples=EXAMPLES)
@given(boxes=any_boxes())
def test_a_box_overlaps_itself_as_the_table_says(boxes: FloatArray) -> None:
    has_area = (boxes[:, 2:] - boxes[:, :2]).prod(axis=1) > 0
    for variant in VARIANTS:
        if variant.of_itself is not None:
            expected = np.where(has_area, variant.of_itself, variant.of_no_area)
            assert_array_equal(np.diagonal(pairwise(variant, boxes, boxes)), expected, variant.name)


@given(a=any_boxes(), b=any_boxes())
def test_boxes_without_area_overlap_nothing(a: FloatArray, b: FloatArray) -> None:
    a = a.copy()
    a[:, 2] = a[:, 0]
    for name in ("intersection", "iou", "ioa", "iom"):
        assert not pairwise(name, a, b).any()
        assert not pairwise(name, b, a).any()


@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=EXAMPLES)
@given(data=st.data())
def test_no_boxes_are_too_small_or_too_large(dtype: Any, data: st.DataObject) -> None:
    a, b = data.draw(extreme_boxes(dtype)), data.draw(extreme_boxes(dtype))
    for variant in VARIANTS:
        values = pairwise(variant, a, b, length=2.0**501)
        assert ((values >= variant.low - 1e-6) & (values <= variant.high)).all(), variant.name  # false for NaN
        if variant.symmetric or variant.name == "ioa":
            reverse = pairwise(variant, b, a, length=2.0**501, **({"of": "first"} if variant.name == "ioa" else {}))
            assert_array_equal(values, reverse.T, variant.name)


@pytest.mark.parametrize("variant", VARIANTS, ids=lambda variant: variant.name)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_sign_of_zero_means_nothing(variant: Variant, dtype: Any) -> None:
    """Found by `test_no_boxes_are_too_small_or_too_large`: the angle of a side of -0 was a half turn."""
    boxes = np.array([[0, 0, 0, 0], [0, 0, 2, 0], [0, 0, 2, 2]], dtype)
    negative = np.where(boxes == 0, -boxes, boxes).astype(dtype)
    mixed = boxes.copy()
    mixed[:, 2:] = negative[:, 2:]
    for other in (negative, mixed):
        assert_array_equal(pairwise(variant, boxes, other), pairwise(variant, boxes, boxes))
        assert_array_equal(pairwise(variant, other, boxes), pairwise(variant, boxes, boxes))
