"""Every installed array library gives the values of native code, as its own arrays, on the same device."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from array_api_compat import device
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import _core
from ioukit.overlap import _array_formulas, _conformance
from ioukit.overlap._conformance import BACKENDS, BOXES, MEASURES, Agreement, Backend, Unavailable, native
from ioukit.overlap.variants import VARIANTS
from support.command import run_here

if TYPE_CHECKING:
    from collections.abc import Callable


def some_backends(wanted: Callable[[Backend], bool]) -> pytest.MarkDecorator:
    on_gpu = ("PyTorch, CUDA", "CuPy")
    chosen = [pytest.param(b, marks=[pytest.mark.gpu] * (b.name in on_gpu)) for b in BACKENDS if wanted(b)]
    return pytest.mark.parametrize("backend", chosen, ids=lambda backend: backend.name)


backends = some_backends(lambda _: True)
all_rows = pytest.mark.parametrize("row", VARIANTS, ids=lambda row: row.name)


def array_of(backend: Backend, values: Any) -> Any:
    try:
        return backend.array(np.asarray(values))
    except Unavailable as why:
        pytest.skip(str(why))


def host(array: Any) -> Any:
    return np.asarray(array.detach().cpu() if hasattr(array, "detach") else array)


def test_the_table_has_every_formula() -> None:
    assert {measure.variant for measure in MEASURES} == set(_array_formulas.FORMULAS)


@backends
def test_a_backend_agrees_with_native_code(backend: Backend) -> None:
    array_of(backend, BOXES)
    agreement = _conformance.compare(backend)
    assert not agreement.problems, "\n" + "\n".join(agreement.problems)
    assert agreement.agrees


@backends
@all_rows
def test_public_functions_give_the_array_kind_they_were_given(backend: Backend, row: Any) -> None:
    for dtype in backend.dtypes:
        check_the_array_kind(backend, row, dtype)


def check_the_array_kind(backend: Backend, row: Any, dtype: str) -> None:
    boxes = array_of(backend, BOXES.astype(dtype))
    for family, others in (("pairwise", boxes), ("elementwise", boxes[0, :])):
        function = getattr(ioukit, f"{family}_{row.name}")
        values = function(boxes, others, **row.option_values)
        assert type(values) is type(boxes)
        assert (values.dtype, str(device(values))) == (boxes.dtype, str(device(boxes)))
        expected = function(BOXES.astype(dtype), host(others), **row.option_values)
        eps = np.finfo(dtype).eps
        assert_allclose(host(values), expected, rtol=8 * eps, atol=8 * eps)


@backends
def test_formats_batches_and_nothing(backend: Backend) -> None:
    boxes = BOXES.astype(np.float32)
    array = array_of(backend, boxes)
    iou = native(MEASURES[1], boxes)
    sizes = np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1)
    centred = np.concatenate([boxes[:, :2] + sizes[:, 2:] / 2, sizes[:, 2:]], axis=1)
    formats: list[tuple[Any, Any]] = [(sizes, "xywh"), (centred, "cxcywh")]
    for given, fmt in formats:
        other = array_of(backend, given)
        expected = ioukit.pairwise_iou(given, given, format=fmt)
        assert_allclose(host(ioukit.pairwise_iou(other, other, format=fmt)), expected, atol=1e-6)
    batch = array_of(backend, boxes[:12].reshape(3, 1, 4, 4))
    values = ioukit.pairwise_iou(batch, array)
    assert tuple(values.shape) == (3, 1, 4, 15)
    assert_allclose(host(values).reshape(12, 15), iou[:12], atol=1e-6)
    none = array_of(backend, np.zeros((0, 4), np.float32))
    assert tuple(ioukit.pairwise_giou(none, array).shape) == (0, 15)
    assert tuple(ioukit.pairwise_giou(array, none, max_bytes=1).shape) == (15, 0)
    assert tuple(ioukit.elementwise_giou(none, none).shape) == (0,)


@backends
def test_blocks_of_rows_change_nothing(backend: Backend) -> None:
    array = array_of(backend, BOXES.astype(np.float32))
    for name in ("ciou", "siou"):
        function = getattr(ioukit, f"pairwise_{name}")
        whole = host(function(array, array, max_bytes=None))
        for max_bytes in (1, 5000):
            assert_array_equal(host(function(array, array, max_bytes=max_bytes)), whole)


@backends
def test_bad_boxes_are_named(backend: Backend) -> None:
    good, bad = BOXES.astype(np.float32), BOXES.astype(np.float32)
    bad[3, 2] = -1
    good_array, bad_array = array_of(backend, good), array_of(backend, bad)
    for function in (ioukit.pairwise_iou, ioukit.elementwise_iou):
        with pytest.raises(ValueError, match=r"boxes2\[3\] is .*inverted, x2 < x1"):
            function(good_array, bad_array)
        function(good_array, bad_array, check=False)
    with pytest.raises(ValueError, match=r"boxes1 must have shape \(\.\.\., 4\), got \(15, 2\)"):
        ioukit.pairwise_iou(good_array[:, :2], good_array)
    with pytest.raises(ValueError, match=r"boxes1 must have shape \(\.\.\., N, 4\), got \(4,\)"):
        ioukit.pairwise_iou(good_array[0, :], good_array)
    with pytest.raises(ValueError, match=r"boxes1 \(15, 4\) and boxes2 \(7, 4\) do not broadcast"):
        ioukit.elementwise_iou(good_array, good_array[:7, :])


@some_backends(lambda backend: backend.library != "numpy")
def test_two_libraries_in_one_call_are_refused(backend: Backend) -> None:
    array = array_of(backend, BOXES)
    message = rf"one library, but boxes1 is {type(array).__name__} of {backend.library}, boxes2 is ndarray of numpy"
    with pytest.raises(TypeError, match=message):
        ioukit.pairwise_iou(array, BOXES)
    with pytest.raises(TypeError, match=r"boxes1 is Boxes of numpy, boxes2 is"):
        ioukit.elementwise_iou(ioukit.Boxes(BOXES), array)
    with pytest.raises(TypeError, match=r"one library, but .* out is ndarray of numpy"):
        ioukit.pairwise_iou(array, array, out=np.empty((15, 15)))


@some_backends(lambda backend: "gradient" not in backend.name)  # which integers do not have
@pytest.mark.parametrize("kind", ["uint8", "int32", "int64"])
def test_integers_do_not_wrap(backend: Backend, kind: str) -> None:
    top = min(2**31 - 1, int(np.iinfo(kind).max))
    boxes = np.array([[0, 0, top, top], [top - 50, top - 50, top, top], [0, 0, 50, 50]], kind)
    array = array_of(backend, boxes)
    if "float64" not in backend.dtypes and top > 2**24:
        with pytest.raises(ValueError, match=r"boxes1 holds an integer beyond 2\*\*24, .* enable float64"):
            ioukit.pairwise_giou(array, array)
        return
    expected = ioukit.pairwise_giou(boxes.astype(np.float64), boxes.astype(np.float64))
    values = ioukit.pairwise_giou(array, array)
    if "float64" in backend.dtypes:
        assert str(values.dtype).endswith("float64")
    assert_allclose(host(values), expected, atol=1e-12 if "float64" in backend.dtypes else 1e-6)


def test_a_disagreement_is_found_and_ends_the_doctor_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    formulas = _array_formulas.FORMULAS
    monkeypatch.setattr(_conformance, "BACKENDS", BACKENDS[:1])
    assert run_here("doctor").code == 0
    monkeypatch.setitem(formulas, "iou", lambda pairs: pairs.iou() * 1.0001)
    outcome = run_here("doctor")
    assert outcome.code == 1
    assert "array API on NumPy" in outcome.out
    assert "DISAGREES" in outcome.out
    assert "    iou float32: " in outcome.out
    monkeypatch.setitem(formulas, "iou", lambda pairs: pairs.iou() * np.nan)
    report = json.loads(run_here("doctor", "--json").out)
    assert report["agrees"] is False
    assert report["backends"][-1]["worst_roundings"] is None
    assert "iou float64: inf roundings from native code" in report["backends"][-1]["problems"]


def test_the_doctor_says_what_is_not_here(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Backend("Nothing", "no_such_library", lambda _, values: values)
    monkeypatch.setattr(_conformance, "BACKENDS", (*BACKENDS[:1], missing))
    outcome = run_here("doctor", "--json")
    report = json.loads(outcome.out)
    assert outcome.code == 0
    assert report["ioukit"] == ioukit.__version__
    assert report["simd"] == {"available": _core.simd_levels(), "used": _core.simd_levels()[-1]}
    assert report["threads"] == _core.thread_count() >= 1
    by_name = {backend["name"]: backend for backend in report["backends"]}
    assert by_name["array API on NumPy"]["agrees"] is True
    assert by_name["array API on NumPy"]["version"] == np.__version__
    assert by_name["Nothing"]["available"] is False
    assert by_name["Nothing"]["problems"] == ["no_such_library is not installed"]
    assert "left out: no_such_library is not installed" in run_here("doctor").out


def test_what_is_not_available_does_not_disagree() -> None:
    assert Agreement("a", None, available=False, problems=("not installed",)).agrees
    assert not Agreement("a", "1", available=True, problems=("iou",)).agrees
