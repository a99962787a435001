"""Value and gradient in one pass of native code, without PyTorch."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import losses
from ioukit.losses.upright import NativeLoss
from ioukit.overlap._conformance import BOXES
from support.losses_cases import UPRIGHT, adversarial

NAMES = get_args(NativeLoss)
all_losses = pytest.mark.parametrize("name", NAMES)


def smooth(count: int = 300) -> tuple[Any, Any]:
    rng = np.random.default_rng(5)
    boxes = np.sort(rng.uniform(0, 10, (2, count, 2, 2)), axis=2).reshape(2, count, 4)
    return boxes[0], boxes[1]


@all_losses
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_are_those_of_the_formulas(name: Any, dtype: Any) -> None:
    for pred, target in (smooth(), adversarial(20_000, np.float64)):
        first, second = pred.astype(dtype), target.astype(dtype)
        values, gradient = losses.loss_and_gradient(name, first, second)
        assert (values.dtype, gradient.dtype, gradient.shape) == (dtype, dtype, first.shape)
        assert_allclose(values, UPRIGHT[name](first, second), rtol=0, atol=16 * np.finfo(dtype).eps)


@pytest.mark.parametrize("name", sorted(set(NAMES) - {"ciou"}))  # whose weight is a constant: see the next test
def test_gradients_are_difference_quotients(name: Any) -> None:
    pred, target = smooth()
    _, gradient = losses.loss_and_gradient(name, pred, target)
    for k in range(4):
        move = np.eye(4)[k] * 1e-6
        quotient = (UPRIGHT[name](pred + move, target) - UPRIGHT[name](pred - move, target)) / 2e-6
        assert_allclose(gradient[:, k], quotient, rtol=1e-5, atol=1e-6)


def test_the_gradient_of_ciou_keeps_its_weight() -> None:
    pred, target = smooth()

    def turn(a: Any) -> Any:
        return np.arctan2(*(a[:, k + 2] - a[:, k] for k in (0, 1))) - np.arctan2(
            *(target[:, k + 2] - target[:, k] for k in (0, 1))
        )

    aspect = 4 / np.pi**2 * turn(pred) ** 2
    weight = aspect / (losses.iou_loss(pred, target) + aspect)
    _, gradient = losses.loss_and_gradient("ciou", pred, target)
    _, of_diou = losses.loss_and_gradient("diou", pred, target)
    for k in range(4):
        move = np.eye(4)[k] * 1e-6
        quotient = weight * 4 / np.pi**2 * (turn(pred + move) ** 2 - turn(pred - move) ** 2) / 2e-6
        assert_allclose(gradient[:, k] - of_diou[:, k], quotient, rtol=1e-4, atol=1e-6)


@all_losses
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradients_are_finite_for_all_boxes(name: Any, dtype: Any) -> None:
    for pair in (adversarial(100_000, dtype), adversarial(100_000, dtype)[::-1]):
        values, gradient = losses.loss_and_gradient(name, *pair)
        assert np.isfinite(values).all()
        assert np.isfinite(gradient).all()


@all_losses
def test_coordinates_whose_squares_overflow(name: Any) -> None:
    pred, target = (boxes.astype(np.float32) * np.float32(2.0**80) for boxes in smooth())
    values, gradient = losses.loss_and_gradient(name, pred, target)
    expected, slopes = losses.loss_and_gradient(name, pred / np.float32(2.0**80), target / np.float32(2.0**80))
    assert_allclose(values, expected, atol=1e-6)
    assert_allclose(gradient * 2.0**80, slopes, atol=1e-5, rtol=1e-4)


def test_kinks() -> None:
    """By hand: ties are split in halves, and what touches shares nothing."""
    box = [[0.0, 0, 10, 10]]
    _, touching = losses.loss_and_gradient("giou", box, [[10.0, 0, 20, 10]])
    assert_allclose(touching, [[0, 0, -0.05, 0]], atol=1e-15)  # torchvision's too
    _, inside = losses.loss_and_gradient("iou", box, [[0.0, 0, 10, 5]])
    # U = 100 and I = 50: the shared left edge has half its slope, dI/dx1 = -5 / 2, and dU = dA - dI
    by_left = -(-2.5 * 100 - 50 * (-10 + 2.5)) / 100**2
    assert_allclose(inside[0, 0], by_left, atol=1e-15)
    assert_allclose(inside[0, 3], 50 * 10 / 100**2, atol=1e-15)  # the free edge: dU = dA alone
    for name in NAMES:
        for boxes in (box, [[1.0, 2, 1.5, 9]]):
            value, gradient = losses.loss_and_gradient(name, boxes, boxes)
            assert_array_equal(value, 0)
            assert_allclose(gradient, 0, atol=1e-15)


def test_inverted_sides_are_pulled_apart() -> None:
    target, pred = [[0.0, 0, 4, 4]], [[2.5, 1, 1.5, 3]]
    for name in ("giou", "eiou"):
        _, gradient = losses.loss_and_gradient(name, pred, target)
        assert gradient[0, 0] > 0 > gradient[0, 2]  # descending moves x1 down and x2 up


@all_losses
def test_threads_change_nothing(name: Any) -> None:
    pred, target = adversarial(50_001, np.float32)
    one, many = (losses.loss_and_gradient(name, pred, target, threads=threads) for threads in (1, 3))
    for a, b in zip(one, many, strict=True):
        assert a.tobytes() == b.tobytes()


def test_layouts_and_dtypes() -> None:
    pred, target = smooth()
    expected = losses.loss_and_gradient("giou", pred, target)
    strided = np.repeat(pred, 2, axis=0)[::2]
    for found in (
        losses.loss_and_gradient("giou", strided, np.asfortranarray(target)),
        losses.loss_and_gradient("giou", pred.tolist(), target.tolist(), check=True),
    ):
        for a, b in zip(found, expected, strict=True):
            assert_array_equal(a, b)
    assert losses.loss_and_gradient("giou", BOXES.astype(np.float16), BOXES)[0].dtype == np.float64
    assert losses.loss_and_gradient("giou", BOXES.astype(np.float16), BOXES.astype(np.float16))[0].dtype == np.float32
    values, gradient = losses.loss_and_gradient("iou", np.empty((0, 4)), np.empty((0, 4)))
    assert (values.shape, gradient.shape) == ((0,), (0, 4))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("nwd", BOXES, BOXES), "unknown loss 'nwd'; choose from iou, giou, diou, ciou, eiou, siou"),
        (("iou", BOXES[0], BOXES), r"pred must have shape \(N, 4\), got \(4,\)"),
        (("iou", BOXES, BOXES[:, :3]), r"target must have shape \(N, 4\), got \(15, 3\)"),
        (("iou", BOXES, BOXES[:2]), "pred and target must have one length, got 15 and 2"),
    ],
)
def test_errors(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        losses.loss_and_gradient(*arguments)


def test_checked_boxes() -> None:
    with pytest.raises(ValueError, match=r"pred\[0\] is .*inverted"):
        losses.loss_and_gradient("iou", [[1, 0, 0, 1]], [[0, 0, 1, 1]], check=True)
