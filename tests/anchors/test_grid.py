"""Points, anchors and letterboxes: geometry that can be checked in the head, and the way back."""

# mypy: disable-error-code="arg-type"
# Wrong arguments are tested here, and strings from tables.
from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import support.strategies  # noqa: F401 - loads the profile
from ioukit import Boxes
from ioukit.anchors import Letterbox, anchor_boxes, anchor_points, decode_grid

side = st.integers(1, 3000)


def test_points_are_ordered_level_by_level_and_row_by_row() -> None:
    points, strides, levels = anchor_points((640, 384), [8, 16, 32])
    assert levels == (80 * 48, 40 * 24, 20 * 12)
    assert points.dtype == np.float32
    assert points[:2].tolist() == [[4, 4], [12, 4]]
    assert points[80].tolist() == [4, 12]
    assert points[levels[0]].tolist() == [8, 8]
    assert_array_equal(np.repeat([8, 16, 32], levels), strides)
    corners = anchor_points((640, 384), [8], offset=0).points
    assert_array_equal(corners + 4, points[: levels[0]])
    assert anchor_points((33, 10), [8]).levels == (5 * 2,)
    assert {n: int(anchor_points((n, n), [8]).levels[0] ** 0.5) for n in (416, 608, 640)} == {416: 52, 608: 76, 640: 80}


def test_anchors_are_in_the_order_of_a_decoded_grid() -> None:
    sizes = [[[10, 13], [16, 30]], [[62, 45]]]
    boxes, strides, levels = anchor_boxes((64, 32), [8, 16], sizes, dtype=np.float64)
    assert levels == (2 * 8 * 4, 4 * 2)
    for start, stride, shapes in ((0, 8, sizes[0]), (levels[0], 16, sizes[1])):
        raw = np.zeros((1, len(shapes), 32 // stride, 64 // stride, 4))
        decoded = decode_grid(raw, stride, anchors=shapes).reshape(-1, 4)
        assert_array_equal(boxes[start : start + len(decoded)], decoded)
        assert (strides[start : start + len(decoded)] == stride).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: anchor_points((0, 10), [8]), "width must be positive"),
        (lambda: anchor_points((10, 10), [0]), r"strides\[0\] must be at least 1, got 0"),
        (lambda: anchor_points((10, 10), [8], offset=float("nan")), "offset must be finite"),
        (lambda: anchor_boxes((10, 10), [8], []), "sizes must be one set per level, got 0 for 1 strides"),
        (lambda: anchor_boxes((10, 10), [8], [[[1, 2, 3]]]), r"sizes\[0\] must have shape \(N, 2\)"),
        (lambda: anchor_boxes((10, 10), [8], [[[1, -2]]]), r"sizes\[0\]\[0\] is \[1.0, -2.0\]"),
        (lambda: Letterbox((0, 10), (640, 640)), "image_size must be a width and a height of at least 1 pixel"),
        (lambda: Letterbox((10, 10), (640, 640)).boxes([[1, 2, 3]]), r"boxes must have shape \(..., 4\), got \(1, 3\)"),
        (lambda: Letterbox((10, 10), (640, 640)).boxes([[1, 2, 3, 4]], format="x"), "unknown format 'x'"),
        (lambda: Letterbox((9, 9), (9, 9)).boxes_back([[1, 2, 3, 4]], clip=True, format="xywh"), "clip needs Boxes"),
    ],
)
def test_errors(call: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()


@given(side, side, side, side, st.booleans(), st.booleans())
def test_the_image_fits_and_boxes_come_back(w: int, h: int, wide: int, high: int, centred: bool, enlarge: bool) -> None:
    letterbox = Letterbox((w, h), (wide, high), centered=centred, enlarge=enlarge)
    content, padding = letterbox.content, letterbox.padding
    assert 1 <= content[0] <= wide
    assert 1 <= content[1] <= high
    if enlarge:
        assert content[0] == wide or content[1] == high
    elif w <= wide and h <= high:
        assert content == (w, h)
    ratio = min(wide / w, high / h) if enlarge else min(wide / w, high / h, 1)
    assert abs(content[0] - max(1, ratio * w)) <= 0.5 + 1e-6
    assert abs(content[1] - max(1, ratio * h)) <= 0.5 + 1e-6
    assert padding == ((wide - content[0]) // 2, (high - content[1]) // 2) if centred else padding == (0, 0)
    whole = letterbox.boxes([[0, 0, w, h]])
    assert_allclose(whole, [[*padding, padding[0] + content[0], padding[1] + content[1]]], rtol=1e-12)
    rng = np.random.default_rng(w)
    boxes = np.sort(rng.uniform(0, [w, h], (5, 2, 2)), axis=1).reshape(5, 4)
    assert_allclose(letterbox.boxes_back(letterbox.boxes(boxes)), boxes, rtol=1e-9, atol=1e-9 * max(w, h))
    same = Boxes(boxes).convert("cxcywh")
    back = letterbox.boxes_back(letterbox.boxes(same))
    assert back.format == "cxcywh"
    assert_allclose(back.numpy(), same.numpy(), rtol=1e-6, atol=1e-6 * max(w, h))


def test_formats_and_units_agree() -> None:
    letterbox = Letterbox((1000, 600), (320, 256))
    pixels = Boxes([[100, 60, 500, 300]], dtype=np.float64)
    expected = letterbox.boxes(pixels.numpy())
    for fmt in ("xywh", "cxcywh"):
        moved = letterbox.boxes(pixels.convert(fmt))
        assert_allclose(moved.convert("xyxy").numpy(), expected)
        plain = letterbox.boxes(pixels.convert(fmt).numpy(), format=fmt)
        assert_allclose(plain, moved.numpy())
    relative = letterbox.boxes(pixels.normalize(1000, 600))
    assert relative.normalized
    assert_allclose(relative.numpy() * [320, 256, 320, 256], expected)
    assert_allclose(letterbox.boxes_back(relative).numpy(), pixels.normalize(1000, 600).numpy())


def test_detections_are_cut_at_the_image() -> None:
    letterbox = Letterbox((200, 100), (100, 100))
    assert letterbox.boxes_back([[-10.0, 20, 90, 80]]).tolist() == [[-20, -10, 180, 110]]
    assert letterbox.boxes_back([[-10.0, 20, 90, 80]], clip=True).tolist() == [[0, 0, 180, 100]]
    assert letterbox.boxes_back(Boxes([[-10, 20, 90, 80]]), clip=True).to_list() == [[0, 0, 180, 100]]
    relative = Boxes([[-0.1, 0.2, 0.9, 0.8]], normalized=True, dtype=np.float64)
    assert_allclose(letterbox.boxes_back(relative, clip=True).numpy(), [[0, 0, 0.9, 1]])


def test_tensors_keep_their_kind_and_gradient() -> None:
    torch = pytest.importorskip("torch")
    letterbox = Letterbox((200, 100), (100, 100))
    boxes = torch.tensor([[0.0, 0, 200, 100]], requires_grad=True)
    mapped = letterbox.boxes(boxes)
    assert mapped.tolist() == [[0, 25, 100, 75]]
    mapped.sum().backward()
    assert boxes.grad.tolist() == [[0.5, 0.5, 0.5, 0.5]]
    assert letterbox.boxes_back(mapped.detach(), clip=True).tolist() == [[0, 0, 200, 100]]


def test_images_are_scaled_and_padded() -> None:
    image_module = pytest.importorskip("PIL.Image", reason="images need Pillow")
    letterbox = Letterbox((40, 20), (20, 20))
    white = np.full((20, 40, 3), 255, np.uint8)
    found = letterbox.apply(white)
    assert found.shape == (20, 20, 3)
    assert (found[5:15] == 255).all()
    assert (found[:5] == 114).all()
    assert (found[15:] == 114).all()
    assert letterbox.apply(white[..., 0], fill=0)[0, 0] == 0
    assert letterbox.apply(image_module.fromarray(white)).size == (20, 20)
    with pytest.raises(ValueError, match=r"image must be \(40, 20\) pixels \(width, height\), got \(20, 20\)"):
        letterbox.apply(white[:, :20])
    with pytest.raises(ValueError, match="image must be uint8"):
        letterbox.apply(white.astype(float))


def test_a_letterbox_is_a_value() -> None:
    letterbox = Letterbox((200, 100), (100, 100))
    assert letterbox == Letterbox((200, 100), (100, 100)) != Letterbox((200, 100), (100, 100), centered=False)
    assert len({letterbox, Letterbox((200, 100), (100, 100))}) == 1
    with pytest.raises(dataclasses.FrozenInstanceError):
        letterbox.size = (1, 1)  # type: ignore[misc]
