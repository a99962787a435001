"""Codings of boxes: published values, round trips, gradients, edges."""

# mypy: disable-error-code="arg-type"
# Wrong arguments are tested here, and strings from tables.
from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import support.strategies  # noqa: F401 - loads the profile
from ioukit import anchors
from ioukit.anchors import (
    decode_deltas,
    decode_grid,
    decode_ltrb,
    decode_yolov3,
    decode_yolov5,
    decode_yolox,
    distribution_targets,
    encode_deltas,
    encode_ltrb,
    encode_yolov3,
    encode_yolov5,
    encode_yolox,
    expected_distances,
)
from support.paths import ROOT

CASES = json.loads((ROOT / "tests" / "data" / "anchors" / "yolo_decode.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["decode"], ids=lambda case: str(case["grid_xy"]))
def test_published_values(case: Any) -> None:
    raw, cell, anchor, stride = case["t_xywh"], case["grid_xy"], case["anchor_wh_px"], case["stride"]
    three = decode_yolov3(raw, cell, anchor, stride)
    assert_allclose(three, case["yolov3_cxcywh_px"], atol=1e-9)
    assert_allclose(three / CASES["network"], case["yolov3_normalised_416"], atol=1e-9)
    assert_allclose(decode_yolov5(raw, cell, anchor, stride), case["yolov5_v7_cxcywh_px"], atol=1e-9)
    assert_allclose(decode_yolox(raw, cell, stride), case["yolox_cxcywh_px"], atol=1e-9)
    point = (np.array(cell) + 0.5) * stride
    assert_allclose(decode_ltrb(case["ltrb"], point, stride), case["ltrb_xyxy_px"], atol=1e-9)
    assert_allclose(encode_yolov3(three, cell, anchor, stride), raw, atol=1e-9)
    assert_allclose(encode_yolov5(case["yolov5_v7_cxcywh_px"], cell, anchor, stride), raw, atol=1e-9)
    assert_allclose(encode_yolox(case["yolox_cxcywh_px"], cell, stride), raw, atol=1e-9)
    assert_allclose(encode_ltrb(case["ltrb_xyxy_px"], point, stride), case["ltrb"], atol=1e-9)


@pytest.mark.parametrize("case", CASES["darknet_scale_x_y"], ids=lambda case: str(case["scale_x_y"]))
def test_the_stretched_sigmoid_of_yolov4(case: Any) -> None:
    stride = 416 / case["lw"]
    found = decode_yolov3([case["tx"], 0, 0, 0], [case["grid"], 0], [1, 1], stride, scale_xy=case["scale_x_y"])
    assert found[0] / 416 == pytest.approx(case["x_norm"], abs=1e-12)
    back = encode_yolov3(found, [case["grid"], 0], [1, 1], stride, scale_xy=case["scale_x_y"])
    assert back[0] == pytest.approx(case["tx"], abs=1e-12)


@pytest.mark.parametrize("row", CASES["box2box"]["rows"], ids=lambda row: str(row["weights"]))
def test_deltas(row: Any) -> None:
    assert pytest.approx(CASES["box2box"]["scale_clamp"], abs=1e-15) == anchors.coding.DELTA_CLAMP
    deltas = encode_deltas(row["target"], row["anchor"], weights=row["weights"])
    assert_allclose(deltas, row["deltas"], atol=1e-9)
    assert_allclose(decode_deltas(deltas, row["anchor"], weights=row["weights"]), row["target"], atol=1e-12)


def test_deltas_are_clamped() -> None:
    box = decode_deltas([0.0, 0, 100, 1], [0, 0, 16, 16])
    assert_allclose(box, [8 - 500, 8 - 8 * math.e, 8 + 500, 8 + 8 * math.e])


ANCHOR = np.array([30.0, 60.0])
numbers = st.floats(-6, 6, width=32)
KINDS = st.sampled_from([(np.float32, 2e-4), (np.float64, 1e-11)])


@given(st.lists(st.tuples(numbers, numbers, numbers, numbers), min_size=1, max_size=5), KINDS)
def test_what_is_decoded_is_encoded_back(rows: Any, kind: Any) -> None:
    dtype, tolerance = kind
    raw, cells = np.array(rows, dtype), np.tile([3, 5], (len(rows), 1))
    kinds: list[Any] = [
        (decode_yolov3, encode_yolov3, (cells, ANCHOR, 16)),
        (decode_yolov5, encode_yolov5, (cells, ANCHOR, 16)),
        (decode_yolox, encode_yolox, (cells, 16)),
    ]
    for decode, encode, arguments in kinds:
        boxes = decode(raw, *arguments)
        assert boxes.dtype == dtype
        # Coordinates in pixels are rounded, which the flat ends of the sigmoid magnify by about exp(6).
        assert_allclose(encode(boxes, *arguments), raw, atol=tolerance * 400)
        assert_allclose(decode(encode(boxes, *arguments), *arguments), boxes, rtol=tolerance, atol=tolerance * 100)


@given(
    st.tuples(st.floats(0, 16), st.floats(0, 16), st.floats(0.25, 119), st.floats(0.25, 239)),
    st.sampled_from([decode_yolov3, decode_yolov5]),
)
def test_what_is_encoded_is_decoded_back(box: Any, decode: Any) -> None:
    """Over the whole reach, its edges included, within the stated margin."""
    encode = encode_yolov3 if decode is decode_yolov3 else encode_yolov5
    boxes = np.add(box, [3 * 16, 5 * 16, 0, 0])
    found = decode(encode(boxes, [3, 5], ANCHOR, 16), [3, 5], ANCHOR, 16)
    assert_allclose(found, boxes, atol=16 * 1e-6 + 1e-9, rtol=1e-9)


@given(st.lists(st.floats(0, 14), min_size=4, max_size=4))
def test_distributions(distances: list[float]) -> None:
    targets = distribution_targets(distances, 16)
    assert_allclose(targets.sum(axis=-1), 1, atol=1e-12)
    assert (np.count_nonzero(targets, axis=-1) <= 2).all()
    with np.errstate(divide="ignore"):
        assert_allclose(expected_distances(np.maximum(np.log(targets), -500)), distances, atol=1e-9)


def test_saturation_is_finite() -> None:
    for decode in (decode_yolov3, decode_yolov5):
        box = decode(np.array([-1e4, 1e4, 0, 0], np.float32), [2, 2], ANCHOR, 16)
        assert np.isfinite(box).all()
        x, y = (32, 48) if decode is decode_yolov3 else (24, 56)
        assert_allclose(box[:2], [x, y], atol=1e-5)
    edge = encode_yolov3([32.0, 48.0, 30, 60], [2, 2], ANCHOR, 16)
    assert_allclose(edge[:2], [-math.log(1e6 - 1), math.log(1e6 - 1)], rtol=1e-6)
    assert np.isfinite(encode_yolov3(np.array([32, 48, 30, 60], np.float32), [2, 2], ANCHOR, 16)).all()
    assert_allclose(encode_yolov3([99.0, 40, 30, 60], [2, 2], ANCHOR, 16, check=False)[0], edge[1])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: encode_yolov3([[40.0, 40, 5, 5], [64, 40, 5, 5]], [2, 2], ANCHOR, 16),
         r"boxes\[1\] is \[64.0, 40.0, 5.0, 5.0\]: its centre is out of reach"),
        (lambda: encode_yolov3([[40.0, 40, 0, 5]], [2, 2], ANCHOR, 16), r"boxes\[0\] is .* a size must be positive"),
        (lambda: encode_yolov5([[40.0, 40, 121, 5]], [2, 2], ANCHOR, 16), "at most 4 times the anchor's"),
        (lambda: encode_yolov5([[20.0, 40, 30, 60]], [2, 2], ANCHOR, 16), "out of reach of its cell"),
        (lambda: encode_yolox([[40.0, 40, -1, 5]], [2, 2], 16), "a size must be positive"),
        (lambda: encode_deltas([[5.0, 5, 5, 8]], [[0, 0, 9, 9]]), r"boxes\[0\] is .* sides must be positive"),
        (lambda: encode_deltas([[5.0, 5, 6, 8]], [[0, 0, 0, 9]]), r"anchors\[0\] is .* sides must be positive"),
        (lambda: decode_deltas([[0.0] * 4], [[0, 0, 1, 1]], weights=(1, 1)), "weights must be 4 positive numbers"),
        (lambda: decode_yolov3([[0.0] * 5], [0, 0], ANCHOR, 16), r"raw must have shape \(..., 4\), got \(1, 5\)"),
        (lambda: expected_distances(np.zeros((3, 5))), r"logits must have shape \(..., 4, bins\)"),
        (lambda: distribution_targets([0.0] * 4, 1), "bins must be at least 2"),
        (lambda: decode_grid(np.zeros((1, 3, 4)), 8), r"raw must have shape \(..., 4\)|raw must have shape \(batch"),
        (lambda: decode_grid(np.zeros((1, 1, 2, 2, 4)), 8), "coding 'yolov3' needs anchors"),
        (lambda: decode_grid(np.zeros((1, 1, 2, 2, 4)), 8, anchors=[ANCHOR], coding="ltrb"), "'ltrb' has no anchors"),
        (lambda: decode_grid(np.zeros((1, 1, 2, 2, 4)), 8, coding="x"), "unknown coding 'x'"),
        (lambda: decode_grid(np.zeros((1, 1, 2, 2, 4)), 8, anchors=[ANCHOR, ANCHOR]),
         r"anchors must have shape \(1, 2\)"),
        (lambda: decode_grid(np.zeros((1, 1, 2, 2, 4)), 8, coding="ltrb", format="x"), "unknown format 'x'"),
    ],
)  # fmt: skip
def test_errors(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


@pytest.mark.parametrize("coding", ["yolov3", "yolov5", "yolox", "ltrb"])
def test_a_grid_is_its_cells(coding: Any) -> None:
    rng = np.random.default_rng(0)
    raw = rng.normal(0, 1, (2, 3, 4, 5, 4)).astype(np.float32)
    sizes = np.array([[10, 20], [30, 30], [50, 20]], np.float32)
    boxes = decode_grid(raw, 16, anchors=sizes if coding in ("yolov3", "yolov5") else None, coding=coding)
    assert boxes.shape == raw.shape
    assert boxes.dtype == np.float32
    for image, anchor, row, column in np.ndindex(2, 3, 4, 5):
        one, cell = raw[image, anchor, row, column], [column, row]
        if coding == "ltrb":
            expected = decode_ltrb(one, [(column + 0.5) * 16, (row + 0.5) * 16], 16)
        else:
            both = {"yolov3": decode_yolov3, "yolov5": decode_yolov5}
            x = decode_yolox(one, cell, 16) if coding == "yolox" else both[coding](one, cell, sizes[anchor], 16)
            expected = np.concatenate([x[:2] - x[2:] / 2, x[:2] + x[2:] / 2])
        assert_allclose(boxes[image, anchor, row, column], expected, rtol=1e-5, atol=1e-4)
    shapes = {f: decode_grid(raw, 16, coding="ltrb", format=f) for f in ("xyxy", "xywh", "cxcywh")}
    assert_allclose(shapes["xywh"][..., 2:], shapes["xyxy"][..., 2:] - shapes["xyxy"][..., :2])
    assert_allclose(shapes["cxcywh"][..., :2], (shapes["xyxy"][..., 2:] + shapes["xyxy"][..., :2]) / 2)


def loss_terms() -> dict[str, Any]:
    """Functions of a raw array of shape (2, 4)."""
    cells, sizes, boxes = [[3, 5], [0, 1]], [[30.0, 60.0], [8.0, 8.0]], [[0.0, 0, 16, 16], [8, 8, 30, 24]]
    return {
        "yolov3": lambda raw: decode_yolov3(raw, cells, sizes, 16, scale_xy=1.05),
        "yolov5": lambda raw: decode_yolov5(raw, cells, sizes, 16),
        "yolox": lambda raw: decode_yolox(raw, cells, 16),
        "ltrb": lambda raw: decode_ltrb(raw, sizes, 8),
        "deltas": lambda raw: decode_deltas(raw, boxes, weights=(10, 10, 5, 5)),
        "grid": lambda raw: decode_grid(raw.reshape(1, 2, 1, 1, 4), 16, anchors=sizes, coding="yolov5"),
        "distances": lambda raw: expected_distances(raw.reshape(1, 4, 2)),
    }


RAW = np.array([[0.3, -0.7, 0.2, 0.9], [0.0, 1.5, -0.4, 0.1]])


@pytest.mark.parametrize("name", list(loss_terms()))
def test_gradients_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    function = loss_terms()[name]
    raw = torch.tensor(RAW, requires_grad=True)
    out = function(raw)
    assert_allclose(out.detach().numpy(), function(RAW), rtol=1e-12)
    assert torch.autograd.gradcheck(function, (raw,))
    extreme = torch.tensor([[-1e3, 1e3, 0.0, 0.0]] * 2, requires_grad=True)
    function(extreme).sum().backward()
    assert torch.isfinite(extreme.grad).all()
    assert function(torch.tensor(RAW, dtype=torch.float32)).dtype == torch.float32


@pytest.mark.parametrize("name", list(loss_terms()))
def test_gradients_of_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    function = loss_terms()[name]
    raw = jax.numpy.asarray(RAW, dtype="float32")
    out = jax.jit(function)(raw)
    assert_allclose(np.asarray(out), function(RAW), rtol=2e-5)
    gradient = np.asarray(jax.grad(lambda raw: function(raw).sum())(raw))
    step = 1e-6
    for place in np.ndindex(RAW.shape):
        moved = [RAW.copy(), RAW.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        slope = (function(moved[0]).sum() - function(moved[1]).sum()) / (2 * step)
        assert gradient[place] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_encoding_takes_tensors_and_traces() -> None:
    torch = pytest.importorskip("torch")
    boxes = torch.tensor([[40.0, 40, 30, 60]])
    assert_allclose(encode_yolov3(boxes, [2, 2], ANCHOR, 16).numpy(), [[0, 0, 0, 0]], atol=1e-6)
    with pytest.raises(ValueError, match="out of reach"):
        encode_yolov5(boxes + 40, torch.tensor([2.0, 2.0]), torch.tensor(ANCHOR), 16)
    with pytest.raises(TypeError, match="all arrays must come from one library, but cells is of torch"):
        encode_yolov3([40.0, 40, 30, 60], torch.tensor([2, 2]), ANCHOR, 16)
    jax = pytest.importorskip("jax")
    found = jax.jit(lambda b: encode_yolov3(b, [2, 2], ANCHOR, 16))(jax.numpy.asarray([[40.0, 40, 30, 60]]))
    assert_array_equal(np.abs(np.asarray(found)) < 1e-6, True)
