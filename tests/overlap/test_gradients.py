"""PyTorch and JAX: gradients, transformations, half precision, and shared memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import _arrays
from ioukit.overlap import _array_formulas
from ioukit.overlap._arguments import corners_on_device
from ioukit.overlap._conformance import BOXES, MEASURES, native
from ioukit.overlap.variants import VARIANTS
from support.compiler import needs_compiler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.overlap.variants import Measure
    from ioukit.typing import FloatArray

all_rows = pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)
_RECORD = json.loads((Path(__file__).parents[1] / "data" / "overlap" / "losses.json").read_text())
LOSSES = [case for case in _RECORD["gradients"] if "nondifferentiable" not in case]


def measured(measures: Sequence[Measure]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("measure", measures, ids=lambda m: f"{m.variant}{m.parameters}")


all_measures = measured(MEASURES)


@pytest.fixture(name="torch", scope="session")
def _torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(name="jax", scope="session")
def _jax() -> Any:
    return pytest.importorskip("jax", reason="jax is not installed")


def smooth_pairs(count: int) -> tuple[FloatArray, FloatArray]:
    """Pairs that overlap, lie apart or contain each other, no two coordinates closer than 0.01."""
    rng = np.random.default_rng(0)
    a, b = (np.sort(rng.uniform(0, 20, (4 * count, 2, 2)), axis=1).reshape(-1, 4) for _ in "ab")
    along = [np.sort(np.concatenate([a[:, k::2], b[:, k::2]], axis=1), axis=1) for k in (0, 1)]
    sizes = [np.abs((a[:, k + 2] - a[:, k]) - (b[:, k + 2] - b[:, k])) for k in (0, 1)]
    centres = [np.abs((a[:, k + 2] + a[:, k]) - (b[:, k + 2] + b[:, k])) for k in (0, 1)]
    apart = np.min([*(np.diff(x, axis=1).min(axis=1) for x in along), *sizes, *centres], axis=0) > 0.01
    assert apart.sum() >= count
    return a[apart][:count], b[apart][:count]


def gradient(torch: Any, measure: Measure, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray]:
    first, second = (torch.tensor(boxes, requires_grad=True) for boxes in (a, b))
    _array_formulas.elementwise(measure, corners_on_device(first, second, None, check=True)).sum().backward()
    return first.grad.numpy(), second.grad.numpy()


# CIoU's weight is a constant for the gradient, but not for a difference quotient. The next test has its closed form.
@measured([measure for measure in MEASURES if measure.variant != "ciou"])
def test_gradients_are_those_of_finite_differences(torch: Any, measure: Measure) -> None:
    a, b = smooth_pairs(60)
    found = gradient(torch, measure, a, b)
    step = 1e-6
    for side, boxes in enumerate((a, b)):
        for k in range(4):
            move = np.eye(4)[k] * step
            ahead = native_of(measure, a + move, b) if side == 0 else native_of(measure, a, boxes + move)
            behind = native_of(measure, a - move, b) if side == 0 else native_of(measure, a, boxes - move)
            quotient = (ahead - behind) / (2 * step)
            assert_allclose(found[side][:, k], quotient, rtol=1e-5, atol=1e-7 * max(1.0, np.abs(quotient).max()))


def native_of(measure: Measure, a: FloatArray, b: FloatArray) -> FloatArray:
    return np.array([native(measure, np.stack(pair))[0, 1] for pair in zip(a, b, strict=True)])


@pytest.mark.parametrize("case", LOSSES, ids=lambda case: f"{case['pred']}-{case['target']}")
@pytest.mark.parametrize(("name", "key"), [("giou", "giou"), ("ciou", "ciou_alpha_detached"), ("eiou", "eiou")])
def test_gradients_of_the_closed_forms(torch: Any, case: dict[str, Any], name: str, key: str) -> None:
    pred = torch.tensor(case["pred"], dtype=torch.float64, requires_grad=True)
    target = torch.tensor(case["target"], dtype=torch.float64)
    value = getattr(ioukit, f"elementwise_{name}")(pred, target)
    value.backward()
    assert_allclose(1 - value.item(), case[f"exact_{key}_loss"], rtol=1e-12, atol=1e-14)
    assert_allclose(-pred.grad.numpy(), case[f"exact_{key}_grad"], rtol=1e-12, atol=1e-14)


@all_measures
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_finite_for_all_boxes(torch: Any, measure: Measure, dtype: Any) -> None:
    boxes = BOXES.astype(dtype)
    first, second = (torch.tensor(boxes, requires_grad=True) for _ in "ab")
    values = _array_formulas.pairwise(measure, corners_on_device(first, second, None, check=True), None)
    for weights in torch.eye(15, dtype=values.dtype):  # one column at a time: a sum may hide two infinities
        gradients = torch.autograd.grad((values * weights).sum(), [first, second], retain_graph=True)
        assert all(torch.isfinite(gradient).all() for gradient in gradients)


@all_measures
def test_torch_and_jax_have_the_same_gradient_at_kinks(torch: Any, jax: Any, measure: Measure) -> None:
    for other in BOXES:
        pairs = np.broadcast_to(other, BOXES.shape)
        a, b = BOXES.astype(np.float32), np.ascontiguousarray(pairs, np.float32)
        expected, _ = gradient(torch, measure, a, b)
        found = jax.grad(
            lambda x, y=b: _array_formulas.elementwise(
                measure, corners_on_device(x, jax.numpy.asarray(y), None, check=True)
            ).sum()
        )(jax.numpy.asarray(a))
        assert np.isfinite(found).all()
        assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1.0, np.abs(expected).max()))


def test_equal_boxes_pull_at_nothing(torch: Any) -> None:
    """Where a prediction is right, every tie splits evenly; measures that grow with the boxes are left out."""
    for measure in MEASURES:
        if measure.variant not in ("intersection", "ioa_first", "ioa_second", "tiou"):
            for slope in gradient(torch, measure, BOXES[:2], BOXES[:2]):
                assert_allclose(slope, 0, atol=1e-15, err_msg=measure.variant)


@all_rows
def test_jax_transformations(jax: Any, row: Any) -> None:
    jnp = jax.numpy
    boxes = jnp.asarray(BOXES, jnp.float32)

    def overlap(a: Any, b: Any) -> Any:
        return getattr(ioukit, f"pairwise_{row.name}")(a, b, **row.option_values)

    expected = overlap(boxes, boxes)
    assert_allclose(jax.jit(overlap)(boxes, boxes), expected, rtol=1e-5, atol=1e-6)
    assert_array_equal(jax.vmap(overlap, in_axes=(0, None))(boxes[:, None], boxes)[:, 0], expected)
    slope = jax.grad(lambda a: overlap(a, boxes).sum())(boxes)
    assert np.isfinite(slope).all()
    jitted = jax.jit(jax.grad(lambda a: overlap(a, boxes).sum()))(boxes)
    assert_allclose(jitted, slope, rtol=1e-3, atol=1e-4 * max(1.0, float(jnp.abs(slope).max())))


def test_what_is_traced_is_not_checked(jax: Any) -> None:
    bad = jax.numpy.asarray([[2.0, 0.0, 1.0, 1.0]])
    with pytest.raises(ValueError, match="inverted"):
        ioukit.pairwise_iou(bad, bad)
    assert jax.jit(ioukit.pairwise_iou)(bad, bad).shape == (1, 1)


@pytest.mark.filterwarnings("ignore::FutureWarning:torch")
@all_rows
def test_torch_transformations(torch: Any, row: Any) -> None:
    boxes = torch.tensor(BOXES)

    def overlap(a: Any) -> Any:
        return getattr(ioukit, f"pairwise_{row.name}")(a, boxes, **row.option_values)

    expected = overlap(boxes)
    leaf = boxes.clone().requires_grad_()
    overlap(leaf).sum().backward()
    assert torch.allclose(torch.func.vmap(overlap)(boxes[:, None])[:, 0], expected, rtol=0, atol=1e-8)
    assert torch.allclose(torch.func.grad(lambda a: overlap(a).sum())(boxes), leaf.grad)
    tangent = torch.ones_like(boxes)
    _, slope = torch.func.jvp(lambda a: overlap(a).sum(), (boxes,), (tangent,))
    assert torch.allclose(slope, (leaf.grad * tangent).sum(), rtol=1e-6, atol=1e-6)
    with torch.autograd.forward_ad.dual_level():
        dual = overlap(torch.autograd.forward_ad.make_dual(boxes, tangent)).sum()
        assert torch.allclose(torch.autograd.forward_ad.unpack_dual(dual).tangent, slope)


@pytest.mark.filterwarnings("ignore")  # the compiler's own
def test_torch_compile(torch: Any) -> None:
    boxes = torch.tensor(BOXES, dtype=torch.float32)
    needs_compiler()
    compiled = torch.compile(lambda a, b: ioukit.pairwise_ciou(a, b) - ioukit.pairwise_siou(a, b), fullgraph=True)
    expected = ioukit.pairwise_ciou(boxes, boxes) - ioukit.pairwise_siou(boxes, boxes)
    assert torch.allclose(compiled(boxes, boxes), expected, atol=1e-6)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_half_precision_computes_in_single(torch: Any, jax: Any, kind: str) -> None:
    boxes = np.array([[0, 0, 1000, 1000], [500, 0, 1000, 1000], [0, 0, 250, 250]], np.float32)  # areas beyond 65504
    expected = torch.tensor(ioukit.pairwise_giou(boxes, boxes)).to(getattr(torch, kind))
    plain = torch.tensor(boxes).to(getattr(torch, kind))
    for given in (plain, plain.clone().requires_grad_()):
        values = ioukit.pairwise_giou(given, given)
        assert values.dtype == given.dtype
        assert torch.equal(values.detach(), expected)
    mixed = ioukit.elementwise_giou(plain, torch.tensor(boxes))
    assert mixed.dtype == torch.float32
    array = jax.numpy.asarray(boxes, kind)
    values = ioukit.pairwise_giou(array, array)
    assert values.dtype == array.dtype
    assert_array_equal(np.asarray(values, np.float32), expected.float().numpy())


def test_tensors_on_the_cpu_share_their_memory(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_array_formulas, "pairwise", None)  # native code alone
    boxes = torch.tensor(BOXES)
    (shared,) = _arrays.shared_with_numpy(boxes) or []
    assert shared.ctypes.data == boxes.data_ptr()
    out = torch.empty((15, 15), dtype=torch.float64)
    assert ioukit.pairwise_iou(boxes, boxes, out=out) is out
    assert_array_equal(out.numpy(), ioukit.pairwise_iou(BOXES, BOXES))
    leaf = boxes.clone().requires_grad_()
    with torch.no_grad():
        assert torch.equal(ioukit.pairwise_iou(leaf, boxes), out)
    assert torch.equal(ioukit.pairwise_iou(boxes.T.contiguous().T, boxes), out)


def test_out_is_for_native_code(torch: Any) -> None:
    leaf = torch.tensor(BOXES, requires_grad=True)
    with pytest.raises(ValueError, match="out is for NumPy arrays, and for tensors on the CPU without a gradient"):
        ioukit.pairwise_iou(leaf, leaf, out=torch.empty((15, 15), dtype=torch.float64))


def test_two_devices_are_refused(torch: Any) -> None:
    boxes = torch.tensor(BOXES)
    with pytest.raises(ValueError, match="boxes1 is on cpu and boxes2 on meta: move both to one device first"):
        ioukit.pairwise_iou(boxes, boxes.to("meta"))


def test_complex_tensors_are_refused(torch: Any, jax: Any) -> None:
    for boxes in (torch.zeros((2, 4), dtype=torch.complex64), jax.numpy.zeros((2, 4), jax.numpy.complex64)):
        with pytest.raises(TypeError, match=r"boxes1 must hold .*complex64"):
            ioukit.pairwise_iou(boxes, boxes)


@all_measures
def test_temporaries_stay_within_max_bytes(measure: Measure) -> None:
    """NumPy runs the array formulas here, because its allocations can be counted."""
    rng = np.random.default_rng(0)
    boxes = np.sort(rng.uniform(0, 100, (400, 2, 2)), axis=1).reshape(-1, 4)
    result, max_bytes = 8 * 400 * 400, 2**20
    _array_formulas.pairwise(
        measure, corners_on_device(boxes[:1], boxes[:1], None, check=True), None
    )  # imports count as allocations too
    tracemalloc.start()
    try:
        _array_formulas.pairwise(measure, corners_on_device(boxes, boxes, None, check=True), max_bytes)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * result + max_bytes + 100_000  # the blocks, the joined result, and small arrays


def test_blocks_have_the_gradient_of_the_whole(torch: Any, jax: Any) -> None:
    jnp = jax.numpy
    for measure in MEASURES:
        grads = []
        for max_bytes in (None, 4000):
            leaf = torch.tensor(BOXES, requires_grad=True)
            _array_formulas.pairwise(
                measure, corners_on_device(leaf, leaf, None, check=True), max_bytes
            ).sum().backward()
            grads.append(leaf.grad)
        assert torch.allclose(*grads, rtol=1e-10, atol=1e-12)
    boxes = jnp.asarray(BOXES, jnp.float32)
    for_whole, for_blocks = (
        jax.grad(lambda a, m=m: ioukit.pairwise_ciou(a, boxes, max_bytes=m).sum())(boxes) for m in (None, 4000)
    )
    assert_allclose(for_blocks, for_whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_no_library_is_imported_for_others(library: str) -> None:
    code = (
        "import sys, numpy as np, ioukit\nioukit.pairwise_iou(np.zeros((1, 4)), [[0, 0, 1, 1]])\n"
        f"print({{'{library}', 'array_api_compat'}} & sys.modules.keys())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
