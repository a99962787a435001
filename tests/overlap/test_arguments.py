"""What the overlap functions accept, the dtype of their results, and their error messages."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Boxes, elementwise_ioa, elementwise_iou, pairwise_intersection, pairwise_ioa, pairwise_iou
from ioukit.overlap.variants import VARIANTS

A = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 5, 9]], float)
B = np.array([[0, 0, 1, 1], [1, 1, 3, 4]], float)
IOU = np.array([[1 / 4, 1 / 9], [0, 4 / 6], [0, 0]])

pairwise_functions = pytest.mark.parametrize(
    "function",
    [partial(getattr(ioukit, f"pairwise_{row.name}"), **row.option_values) for row in VARIANTS],
    ids=[row.name for row in VARIANTS],
)
both_functions = pytest.mark.parametrize("function", [pairwise_iou, elementwise_iou], ids=lambda f: f.__name__)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("float16", "float16"),
        ("float32", "float32"),
        ("float64", "float64"),
        (">f4", "float32"),
        (">f8", "float64"),
        *((kind, "float64") for kind in ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64", ">i4")),
    ],
)
def test_result_dtype(given: str, expected: str) -> None:
    values = pairwise_iou(A.astype(given), B.astype(given))
    assert values.dtype == expected
    assert values.dtype.isnative
    assert_array_equal(values, IOU.astype(np.float32 if expected == "float16" else expected).astype(expected))
    assert elementwise_iou(A.astype(given), A.astype(given)).dtype == expected


def test_lists_and_bools_compute_in_double() -> None:
    values = pairwise_iou(A.tolist(), tuple(map(tuple, B.tolist())))
    assert values.dtype == np.float64
    assert_array_equal(values, IOU)
    corners = np.array([[False, False, True, True]])
    assert_array_equal(pairwise_iou(corners, B), np.array([[1.0, 0.0]]))


def test_two_dtypes_promote_as_in_numpy() -> None:
    dtypes = [np.float16, np.float32, np.float64]
    for first in dtypes:
        for second in dtypes:
            expected = np.promote_types(first, second)
            assert pairwise_iou(A.astype(first), B.astype(second)).dtype == expected
    assert pairwise_iou(Boxes(A, dtype=np.float32), B.astype(np.int16)).dtype == np.float64


def test_nothing_small_overflows() -> None:
    """Areas beyond the integer or half type of the coordinates, and unsigned differences below 0."""
    side = np.array([[0, 0, 30000, 30000]], np.int16)
    assert_array_equal(pairwise_intersection(side, side), [[9e8]])
    assert_array_equal(
        pairwise_iou(np.array([[200, 200, 250, 250]], np.uint8), np.array([[0, 0, 50, 50]], np.uint8)), 0
    )
    half = np.array([[0, 0, 1000, 1000]], np.float16)
    assert_array_equal(pairwise_iou(half, half), [[1]])
    assert_array_equal(pairwise_intersection(half, half), [[np.inf]])  # 10^6 does not fit in float16


def test_huge_single_precision_boxes_are_compared_in_double() -> None:
    huge = np.array([[0, 0, 1e30, 1e30], [0, 0, 1e30, 5e29], [0, 0, 2, 2]], np.float32)
    expected = pairwise_iou(huge.astype(np.float64), huge.astype(np.float64)).astype(np.float32)
    assert_array_equal(pairwise_iou(huge, huge), expected)
    assert_array_equal(elementwise_iou(huge, huge[::-1]), np.diagonal(expected[:, ::-1]))
    assert_array_equal(pairwise_intersection(huge[:1], huge[:1]), [[np.inf]])
    for row in VARIANTS:
        assert not np.isnan(getattr(ioukit, f"pairwise_{row.name}")(huge, huge, **row.option_values)).any()


def test_layouts() -> None:
    readonly = A.copy()
    readonly.flags.writeable = False
    padded = np.zeros((6, 9))
    padded[::2, 1:9:2] = A
    unaligned = np.frombuffer(b"\0" + A.tobytes(), np.uint8)[1:].view(np.float64).reshape(A.shape)
    assert not unaligned.flags.aligned
    for boxes in (np.asfortranarray(A), readonly, padded[::2, 1:9:2], A[::-1][::-1], unaligned):
        assert_array_equal(pairwise_iou(boxes, B), IOU)
        assert_array_equal(pairwise_iou(B, boxes), IOU.T)
        assert_array_equal(elementwise_iou(boxes[:2], B), np.diagonal(IOU))


@pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
def test_nothing_against_anything(row: Any) -> None:
    functions = (getattr(ioukit, f"{family}_{row.name}") for family in ("pairwise", "elementwise"))
    pairwise, elementwise = (partial(function, **row.option_values) for function in functions)
    none = np.zeros((0, 4), np.float32)
    assert pairwise(none, A.astype(np.float32)).shape == (0, 3)
    assert pairwise(A, []).shape == (3, 0)
    assert pairwise([], none).shape == (0, 0)
    assert pairwise(np.zeros((3, 0, 4)), np.zeros((3, 2, 4))).shape == (3, 0, 2)
    assert pairwise(np.zeros((0, 5, 4)), np.zeros((1, 2, 4))).shape == (0, 5, 2)
    assert elementwise(none, none).shape == (0,)
    assert elementwise([], A[:1]).shape == (0,)


def test_batches_broadcast() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.random((5, 1, 3, 4)), rng.random((2, 7, 4))
    a[..., 2:] += a[..., :2]
    b[..., 2:] += b[..., :2]
    values = pairwise_iou(a, b)
    assert values.shape == (5, 2, 3, 7)
    for i in range(5):
        for j in range(2):
            assert_array_equal(values[i, j], pairwise_iou(a[i, 0], b[j]))
    assert_array_equal(pairwise_iou(a[0, 0], b), values[0])


def test_elementwise_broadcasts() -> None:
    assert_array_equal(elementwise_iou(A[:, None], B), IOU)
    assert elementwise_iou(A[0], B[1]).shape == ()
    assert_array_equal(elementwise_iou(Boxes(A[0]), B), IOU[0])


@given(st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3), st.lists(st.sampled_from([0, 1, 1, 2, 3]), max_size=3))
def test_elementwise_broadcasts_as_numpy(first: list[int], second: list[int]) -> None:
    boxes = [np.broadcast_to(A[0], (*shape, 4)) for shape in (first, second)]
    try:
        shape = np.broadcast_shapes(tuple(first), tuple(second))
    except ValueError:
        with pytest.raises(ValueError, match=r"boxes1 \(.*4\) and boxes2 \(.*4\) do not broadcast"):
            elementwise_iou(*boxes)
    else:
        assert_array_equal(elementwise_iou(*boxes), np.ones(shape))


def test_formats_of_plain_arrays_and_of_boxes() -> None:
    sizes = np.concatenate([A[:, :2], A[:, 2:] - A[:, :2]], axis=1)
    assert_array_equal(pairwise_iou(sizes, B, format="xyxy", check=False).shape, (3, 2))
    assert_array_equal(pairwise_iou(Boxes(sizes, "xywh"), Boxes(B)), IOU)
    assert_array_equal(pairwise_iou(Boxes(sizes, "xywh"), B), IOU)
    assert_array_equal(pairwise_iou(Boxes(sizes, "xywh"), sizes, format="xywh"), pairwise_iou(A, A))
    centred = Boxes(A).convert("cxcywh")
    assert_array_equal(elementwise_iou(centred.numpy(), centred, format="cxcywh"), elementwise_iou(A, A))
    with pytest.raises(ValueError, match=r"boxes1 are Boxes in 'xywh', which format='xyxy' contradicts: leave it out"):
        pairwise_iou(Boxes(sizes, "xywh"), B, format="xyxy")
    with pytest.raises(ValueError, match=r"unknown format 'yxyx'; choose from xyxy, xywh, cxcywh"):
        pairwise_iou(A, B, format="yxyx")  # type: ignore[call-overload]


def test_units_do_not_mix() -> None:
    absolute, relative = Boxes(A), Boxes(A, normalized=True)
    with pytest.raises(ValueError, match=r"do not mix.*denormalize\(width, height\)"):
        pairwise_iou(absolute, relative)
    assert_array_equal(pairwise_iou(relative, relative.numpy()), pairwise_iou(A, A))


def test_ioa_of_either_area() -> None:
    assert_array_equal(pairwise_ioa(A[:1], B), [[1, 1 / 6]])
    assert_array_equal(pairwise_ioa(A[:1], B, of="first"), [[1 / 4, 1 / 4]])
    assert_array_equal(elementwise_ioa(A[:2], B, of="first"), [1 / 4, 1])
    with pytest.raises(ValueError, match=r"unknown of='third'; choose from second, first"):
        pairwise_ioa(A, B, of="third")  # type: ignore[call-overload]


@pairwise_functions
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_out_is_filled_and_returned(function: Any, dtype: Any) -> None:
    out = np.full((3, 2), np.nan, dtype)
    assert function(A.astype(dtype), B.astype(dtype), out=out) is out
    assert_array_equal(out, function(A.astype(dtype), B.astype(dtype)))
    batch = np.full((2, 3, 2), np.nan, dtype)
    function(np.stack([A, A]).astype(dtype), B.astype(dtype), out=batch)
    assert_array_equal(batch, [out, out])


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty((2, 3)), r"shape \(3, 2\) and dtype float64, got shape \(2, 3\) and dtype float64"),
        (np.empty((3, 2), np.float32), r"dtype float64, got shape \(3, 2\) and dtype float32"),
        (np.empty((2, 3)).T, r"got .* not contiguous, aligned and writeable"),
        (np.broadcast_to(0.0, (3, 2)), r"not contiguous, aligned and writeable"),
    ],
)
def test_an_out_that_does_not_fit_is_refused(out: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairwise_iou(A, B, out=out)


def test_out_of_another_kind_or_on_top_of_the_boxes_is_refused() -> None:
    with pytest.raises(TypeError, match=r"out must be a NumPy array, got list"):
        pairwise_iou(A, B, out=[])  # type: ignore[call-overload]
    boxes = np.zeros((4, 4))
    with pytest.raises(ValueError, match=r"out must not share memory with the boxes"):
        pairwise_iou(boxes, boxes.copy(), out=boxes)


@both_functions
@pytest.mark.parametrize("threads", [1, 2, np.int64(3), None])
def test_threads(function: Any, threads: Any) -> None:
    assert_array_equal(function(A[:2], B, threads=threads), function(A[:2], B))


@both_functions
def test_threads_are_a_positive_integer(function: Any) -> None:
    with pytest.raises(ValueError, match=r"threads must be at least 1, or None for all cores, got 0"):
        function(A, A, threads=0)
    with pytest.raises(TypeError, match="float"):
        function(A, A, threads=1.5)


@both_functions
@pytest.mark.parametrize(
    ("bad", "fmt", "message"),
    [
        ([np.nan, 0, 1, 1], "xyxy", r"every coordinate must be finite"),
        ([0, 0, np.inf, 1], "xyxy", r"every coordinate must be finite"),
        ([2, 0, 1, 1], "xyxy", r"\[2\.0, 0\.0, 1\.0, 1\.0\]: inverted, x2 < x1"),
        ([0, 2, 1, 1], "xyxy", r"inverted, y2 < y1"),
        ([0, 0, -1, 1], "xywh", r"negative width \(format 'xywh'\)"),
        ([0, 0, 1, -1], "cxcywh", r"negative height \(format 'cxcywh'\)"),
        ([0, 0, 1e151, 1], "xyxy", r"beyond 2\*\*500 in float64"),
    ],
)
def test_bad_boxes_are_named(function: Any, bad: list[float], fmt: Any, message: str) -> None:
    good = np.array([[1, 1, 2, 2]] * 3, float)
    boxes = np.array([good[0], bad, good[0]])
    with pytest.raises(ValueError, match=r"boxes1\[1\] is .*" + message):
        function(boxes, good, format=fmt)
    with pytest.raises(ValueError, match=r"boxes2\[1\] is .*" + message):
        function(good, boxes, format=fmt)
    with pytest.raises(ValueError, match=r"boxes2\[1, 2\] is .*" + message):
        function(good, np.stack([np.stack([good[0]] * 3), boxes[[0, 0, 1]]]), format=fmt)
    function(boxes, good, format=fmt, check=False)


def test_the_limit_of_single_precision() -> None:
    boxes = np.array([[0, 0, 2e38, 1]], np.float32)
    with pytest.raises(ValueError, match=r"boxes1\[0\] is .* beyond 2\*\*126 in float32"):
        pairwise_iou(boxes, boxes)


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        (np.zeros((3, 5)), r"boxes1 must have shape \(\.\.\., 4\), got \(3, 5\)"),
        (np.zeros(()), r"boxes1 must have shape \(\.\.\., 4\), got \(\)"),
        (np.zeros(4), r"boxes1 must have shape \(\.\.\., N, 4\), got \(4,\)"),
        ([[0, 0, 1, 1], [0, 0, 1]], r"boxes1 must be a regular array of numbers"),
        (np.array([[0, 0, 1, 2**53 + 1]]), r"boxes1 holds an integer beyond 2\*\*53"),
    ],
)
def test_wrong_values_are_refused(boxes: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pairwise_iou(boxes, B)


@pytest.mark.parametrize(
    ("boxes", "message"),
    [
        (None, r"boxes2 must be Boxes, a NumPy array or nested lists, got NoneType"),
        (np.ma.masked_array(A), r"got MaskedArray"),
        ([["a", "b", "c", "d"]], r"boxes2 must hold .*, got dtype <U1"),
        (A.astype(complex), r"got dtype complex128"),
        (A.astype(np.longdouble), r"boxes2 must hold float16, float32, float64, integers or bools"),
        ([[0, 0, 1, 10**40]], r"got dtype object"),
    ],
)
def test_wrong_kinds_are_refused(boxes: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        pairwise_iou(A, boxes)


def test_shapes_that_do_not_broadcast_are_refused() -> None:
    with pytest.raises(ValueError, match=r"batch dimensions of boxes1 \(2, 3, 4\) and boxes2 \(3, 1, 4\) do not"):
        pairwise_iou(np.zeros((2, 3, 4)), np.zeros((3, 1, 4)))
    with pytest.raises(ValueError, match=r"boxes1 \(3, 4\) and boxes2 \(2, 4\) do not broadcast"):
        elementwise_iou(A, B)


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (ioukit.pairwise_mpdiou, {"image_size": (640,)}, r"image_size must be \(width, height\), .* got \(640,\)"),
        (ioukit.pairwise_mpdiou, {"image_size": (640, 0)}, r"image_size must be .* got \(640, 0\)"),
        (ioukit.pairwise_mpdiou, {"image_size": (np.nan, 1)}, r"image_size must be .* got \(nan, 1\)"),
        (ioukit.elementwise_alpha_iou, {"alpha": 0}, r"alpha must be positive and finite, got 0"),
        (ioukit.elementwise_inner_iou, {"ratio": 0}, r"ratio must be above 0 and at most 4, got 0"),
        (ioukit.elementwise_inner_iou, {"ratio": np.nan}, r"ratio must be above 0 and at most 4, got nan"),
        (ioukit.elementwise_nwd, {"constant": -1}, r"constant must be a length of at least 2\*\*-60, got -1"),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_parameters_out_of_range_are_refused(function: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        function(A[:2], B, **options)


def test_sizes_that_have_no_default_must_be_given() -> None:
    with pytest.raises(TypeError, match="image_size"):
        ioukit.pairwise_mpdiou(A, B)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="ratio"):
        ioukit.pairwise_inner_iou(A, B)  # type: ignore[call-overload]
