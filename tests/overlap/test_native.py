"""The native module, compared with plain definitions, other instruction sets and other numbers of threads."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import _core
from support.oracles import exact_overlap, rounded_overlap, table
from support.strategies import free_boxes

if TYPE_CHECKING:
    from ioukit.typing import FloatArray

# With lengths of the size of the boxes that `free_boxes` draws.
PARAMETERS: dict[str, tuple[float, ...]] = {
    **dict.fromkeys(("intersection", "iou", "ioa_first", "ioa_second", "iom", "giou", "diou", "ciou", "eiou"), ()),
    "siou": (),
    "mpdiou": (2.0**21, 2.0**20),
    "alpha_iou": (2.5,),
    "inner_iou": (0.7,),
    "nwd": (2.0**21,),
    "centre_distance": (),
    "jaccard_distance": (),
    "tiou": (),
}
NATIVE = [*PARAMETERS]
ROUNDED = [name for name in NATIVE if name not in ("ciou", "siou", "alpha_iou", "nwd")]
SIZES = [0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 65]


def pairwise(
    variant: str, a: FloatArray, b: FloatArray, *, threads: int = 1, reused: bool = False, simd: str | None = None
) -> FloatArray:
    out = np.full((len(a), len(b)), np.nan, a.dtype)
    _core.pairwise(variant, PARAMETERS.get(variant, ()), a, b, out, threads, reused, simd)
    return out


def random_boxes(count: int, dtype: Any, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    low = rng.uniform(-50, 50, (count, 2))
    size = rng.uniform(0, 60, (count, 2)) * (rng.random((count, 2)) > 0.1)
    return np.concatenate([low, low + size], axis=1).astype(dtype)


# To draw boxes takes longer than to compare a variant on them, so all variants have the same.
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(data=st.data())
def test_values_are_the_exact_ones_to_a_few_roundings(dtype: Any, data: st.DataObject) -> None:
    a, b = data.draw(free_boxes(dtype)), data.draw(free_boxes(dtype))
    rounding = 16 * np.finfo(dtype).eps
    for variant in NATIVE:
        exact = table(exact_overlap, variant, a, b, *PARAMETERS[variant])
        unit = {"intersection": 0, "centre_distance": 2.0**21}.get(variant, 1)
        assert_allclose(pairwise(variant, a, b), exact, rtol=rounding, atol=rounding * unit, err_msg=variant)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=120)
@given(data=st.data())
def test_bits_are_those_of_the_promised_order(dtype: Any, data: st.DataObject) -> None:
    a, b = data.draw(free_boxes(dtype)), data.draw(free_boxes(dtype))
    for variant in ROUNDED:
        expected = table(rounded_overlap, variant, a, b, *PARAMETERS[variant])
        assert_array_equal(pairwise(variant, a, b), expected, variant)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("simd", _core.simd_levels())
@pytest.mark.parametrize("variant", NATIVE)
def test_every_instruction_set_gives_the_bits_of_single_pairs(variant: str, simd: str, dtype: Any) -> None:
    """A result of one element is a block that no other lane shares."""
    a, b = random_boxes(max(SIZES), dtype, 1), random_boxes(max(SIZES), dtype, 2)
    single = np.array([[pairwise(variant, a[i : i + 1], b[j : j + 1])[0, 0] for j in range(65)] for i in range(5)])
    for size in SIZES:
        assert_array_equal(pairwise(variant, a[:5], b[:size], simd=simd), single[:, :size])
        assert_array_equal(pairwise(variant, b[:size], a[:5], simd=simd).shape, (size, 5))
        out = np.full(size, np.nan, dtype)
        _core.elementwise(variant, PARAMETERS[variant], a[:size], b[:size], out, 1, simd)
        reference = np.full(size, np.nan, dtype)
        _core.elementwise(variant, PARAMETERS[variant], a[:size], b[:size], reference, 1, _core.simd_levels()[0])
        assert_array_equal(out, reference)
        assert_array_equal(out[:5], np.diagonal(single)[:size])


@pytest.mark.parametrize("variant", NATIVE)
def test_threads_change_no_bit(variant: str) -> None:
    a, b = random_boxes(400, np.float32, 1), random_boxes(701, np.float32, 2)  # enough for every thread
    one = pairwise(variant, a, b, threads=1)
    for threads in (2, 8, 0):
        assert_array_equal(pairwise(variant, a, b, threads=threads), one)


def test_a_result_beyond_the_cache_is_the_same() -> None:
    a, b = random_boxes(3001, np.float32, 1), random_boxes(3007, np.float32, 2)  # 36 MB: streamed past the cache
    large = pairwise("iou", a, b, threads=0, reused=True)
    for first in range(0, 3001, 500):
        assert_array_equal(large[first : first + 500], pairwise("iou", a[first : first + 500], b))


def test_an_unknown_instruction_set_or_variant_is_refused() -> None:
    box = np.array([[0.0, 0.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match='this machine has no "mmx"'):
        pairwise("iou", box, box, simd="mmx")
    with pytest.raises(ValueError, match='no variant "dice" with 0 parameters'):
        pairwise("dice", box, box)
    with pytest.raises(ValueError, match='no variant "nwd" with 2 parameters'):
        _core.pairwise("nwd", (1.0, 2.0), box, box, np.zeros((1, 1)), 1)


@pytest.mark.parametrize(
    ("variant", "double", "single"),
    [
        ("ciou", "0x1.038215189b3cap-3", "0x1.0382180000000p-3"),
        ("siou", "0x1.39653d987a076p-4", "0x1.39653c0000000p-4"),
        ("alpha_iou", "0x1.2515fdab8464ep-6", "0x1.2515fe0000000p-6"),
        ("nwd", "0x1.ffffd00002400p-1", "0x1.ffffd00000000p-1"),
    ],
)
def test_bits_are_written_down(variant: str, double: str, single: str) -> None:
    """The same value on every platform: arc tangent, exponential and power do not come from the system."""
    a, b = np.array([[0.0, 0.0, 3.0, 7.0]]), np.array([[1.0, 2.0, 6.0, 5.0]])
    assert pairwise(variant, a, b)[0, 0].hex() == double
    assert float(pairwise(variant, a.astype(np.float32), b.astype(np.float32))[0, 0]).hex() == single


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
@pytest.mark.parametrize("first", ["pairwise_iou(boxes, boxes, threads=2)", "_core.thread_count()"])
def test_a_forked_worker_does_not_wait_for_threads_it_has_not(first: str) -> None:
    """As in a PyTorch DataLoader: the threads of the pool stay in the parent process."""
    code = f"""
import os, sys, numpy as np
from ioukit import _core, pairwise_iou
boxes = np.tile(np.array([[0, 0, 2, 2], [1, 1, 3, 3]], np.float32), (400, 1))
{first}
here = pairwise_iou(boxes, boxes, threads=1)
child = os.fork()
if child == 0:
    os._exit(0 if np.array_equal(pairwise_iou(boxes, boxes), here) else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=30)
