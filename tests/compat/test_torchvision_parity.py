"""The names of torchvision.ops on tensors, compared with torchvision, and the documented differences."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import ioukit.compat.torchvision_ops as ours
import ioukit.losses
from support.torchvision_cases import ROTATED, UPRIGHT, random_boxes

OVERLAPS = ("box_iou", "generalized_box_iou", "distance_box_iou", "complete_box_iou")
LOSSES = ("generalized_box_iou_loss", "distance_box_iou_loss", "complete_box_iou_loss")


@pytest.fixture
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def theirs() -> Any:
    return pytest.importorskip("torchvision", reason="torchvision is not installed").ops


# Beside torchvision


def test_signatures_are_torchvisions(theirs: Any) -> None:
    for name in ours.__all__:
        expected, found = (inspect.signature(getattr(module, name)).parameters for module in (theirs, ours))
        assert list(found) == list(expected), name
        for parameter, other in zip(found.values(), expected.values(), strict=True):
            assert (parameter.default, parameter.kind) == (other.default, other.kind), name


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32", "uint8"])
@pytest.mark.parametrize("name", OVERLAPS)
def test_overlaps(name: str, dtype: str, torch: Any, theirs: Any) -> None:
    kind = getattr(torch, dtype)
    boxes1, boxes2 = (torch.from_numpy(random_boxes(20, seed=seed)).clamp(0, 120).round() for seed in (1, 2))
    boxes1[:, 2:], boxes2[:, 2:] = boxes1[:, 2:] + 1, boxes2[:, 2:] + 1  # so that all have an area
    boxes1, boxes2 = boxes1.to(kind), boxes2.to(kind)
    wraps = dtype == "uint8"  # torchvision subtracts in uint8
    expected = getattr(theirs, name)(*((boxes.int() if wraps else boxes) for boxes in (boxes1, boxes2)))
    found = getattr(ours, name)(boxes1, boxes2)
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", OVERLAPS)
def test_batches_and_no_boxes(name: str, torch: Any, theirs: Any) -> None:
    for first, second in [((3, 5), (3, 2)), ((3, 5), (1, 2)), ((2, 1, 5), (3, 2)), ((0,), (4,)), ((4,), (0,))]:
        boxes = [torch.from_numpy(random_boxes(*shape, seed=seed)) for seed, shape in enumerate((first, second))]
        expected, found = getattr(theirs, name)(*boxes), getattr(ours, name)(*boxes)
        assert found.shape == expected.shape
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", OVERLAPS)
def test_gradients(name: str, torch: Any, theirs: Any) -> None:
    gradients = []
    for module in (ours, theirs):
        boxes = [torch.from_numpy(random_boxes(6, seed=seed)).requires_grad_() for seed in (1, 2)]
        (getattr(module, name)(*boxes) ** 2).sum().backward()
        gradients.append([tensor.grad for tensor in boxes])
    torch.testing.assert_close(*gradients, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("fmt", UPRIGHT)
def test_formats(fmt: str, torch: Any, theirs: Any) -> None:
    boxes1, boxes2 = (theirs.box_convert(torch.from_numpy(random_boxes(5, seed=k)), "xyxy", fmt) for k in (1, 2))
    torch.testing.assert_close(ours.box_iou(boxes1, boxes2, fmt), theirs.box_iou(boxes1, boxes2, fmt))
    torch.testing.assert_close(ours.box_area(boxes1, fmt), theirs.box_area(boxes1, fmt))
    for target in UPRIGHT:
        torch.testing.assert_close(ours.box_convert(boxes1, fmt, target), theirs.box_convert(boxes1, fmt, target))


@pytest.mark.parametrize("source", ROTATED)
def test_formats_of_rotated_boxes(source: str, torch: Any, theirs: Any) -> None:
    rng = np.random.default_rng(3)
    boxes = torch.from_numpy(rng.uniform([0, 0, 1, 1, -170], [50, 50, 30, 30, 170], (2, 7, 5)))
    given = theirs.box_convert(boxes, "cxcywhr", source)
    for target in ROTATED:
        expected = theirs.box_convert(given, source, target)
        torch.testing.assert_close(ours.box_convert(given, source, target), expected)
        assert_allclose(ours.box_convert(given.numpy(), source, target), expected.numpy(), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "bfloat16", "int64", "int32"])
def test_one_set(dtype: str, torch: Any, theirs: Any) -> None:
    boxes = torch.from_numpy(random_boxes(3, 6).round()).to(getattr(torch, dtype))
    torch.testing.assert_close(ours.box_area(boxes), theirs.box_area(boxes), check_dtype=dtype != "int32")
    for size in ((30, 40), (30.5, 7.25)):
        if "int" not in dtype or size == (30, 40):
            clipped = ours.clip_boxes_to_image(boxes, size)
            torch.testing.assert_close(clipped, theirs.clip_boxes_to_image(boxes, size))
    torch.testing.assert_close(ours.remove_small_boxes(boxes[0], 20), theirs.remove_small_boxes(boxes[0], 20))
    for source in UPRIGHT:
        for target in UPRIGHT:
            converted, expected = (module.box_convert(boxes, source, target) for module in (ours, theirs))
            torch.testing.assert_close(converted, expected, rtol=1e-2 if "16" in dtype else 1e-6, atol=1e-6,
                                       check_dtype=dtype != "int32")  # fmt: skip


def test_gradients_of_one_set(torch: Any, theirs: Any) -> None:
    gradients = []
    for module in (ours, theirs):
        boxes = torch.from_numpy(random_boxes(6)).requires_grad_()
        converted = module.box_convert(boxes, "xyxy", "cxcywh")
        total = module.box_area(boxes).sum() + (converted**2).sum()
        (total + (module.clip_boxes_to_image(boxes, (30, 40)) ** 3).sum()).backward()
        gradients.append(boxes.grad)
    torch.testing.assert_close(*gradients)


def test_masks_of_torch(torch: Any, theirs: Any) -> None:
    masks = torch.from_numpy(np.random.default_rng(5).random((30, 6, 9)) > 0.95)
    for kind in (torch.bool, torch.uint8, torch.float32):
        torch.testing.assert_close(ours.masks_to_boxes(masks.to(kind)), theirs.masks_to_boxes(masks.to(kind)))
    torch.testing.assert_close(ours.masks_to_boxes(masks[:0]), theirs.masks_to_boxes(masks[:0]))


@pytest.mark.parametrize("fmt", ROTATED)
def test_overlaps_of_rotated_boxes(fmt: str, torch: Any, theirs: Any) -> None:
    rng = np.random.default_rng(8)
    boxes = torch.from_numpy(rng.uniform([20, 20, 5, 5, -170], [40, 40, 30, 30, 170], (40, 5))).float()
    given = theirs.box_convert(boxes, "cxcywhr", fmt)
    expected, found = (module.box_iou(given[:15], given[15:], fmt=fmt) for module in (theirs, ours))
    assert found.dtype == expected.dtype
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
    assert ours.box_iou(given[:0], given, fmt).shape == (0, 40)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_losses(name: str, reduction: str, torch: Any, theirs: Any) -> None:
    for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64):
        results = []
        for module in (ours, theirs):
            boxes = [torch.from_numpy(random_boxes(9, seed=seed)).to(dtype) for seed in (1, 2)]
            if dtype.is_floating_point:
                boxes[0].requires_grad_()
            loss = getattr(module, name)(*boxes, reduction)
            if dtype.is_floating_point:
                loss.sum().backward()
            results.append((loss, boxes[0].grad))
        torch.testing.assert_close(results[0], results[1], rtol=1e-2 if "16" in str(dtype) else 1e-5, atol=1e-6)
    empty = [torch.zeros(0, 4) for _ in range(2)]
    torch.testing.assert_close(getattr(ours, name)(*empty, reduction), getattr(theirs, name)(*empty, reduction))


@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_suppression(threshold: float, torch: Any, theirs: Any) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        boxes = torch.from_numpy(random_boxes(200, seed=seed)).float()
        scores, labels = torch.from_numpy(rng.random(200)).float(), torch.from_numpy(rng.integers(0, 4, 200))
        expected, found = (module.nms(boxes, scores, threshold) for module in (theirs, ours))
        torch.testing.assert_close(found, expected)
        boxes = boxes - boxes.min()  # torchvision is wrong below 0
        expected = theirs.batched_nms(boxes, scores, labels, threshold)
        torch.testing.assert_close(ours.batched_nms(boxes, scores, labels, threshold), expected)
        torch.testing.assert_close(ours.batched_nms(boxes, scores, labels.float(), threshold), expected)


# Documented differences


def test_classes_do_not_move_the_boxes(torch: Any, theirs: Any) -> None:
    """torchvision shifts boxes by class: by 1e7, where float32 has no quarters, and by too little below 0."""
    boxes = torch.tensor([[0.0, 0, 0.25, 1]] * 4) + 1000
    scores, classes = torch.tensor([0.9, 0.8, 0.7, 0.6]), torch.tensor([0, 0, 9999, 9999])
    assert ours.batched_nms(boxes, scores, classes, 0.5).tolist() == [0, 2]
    assert theirs.batched_nms(boxes, scores, classes, 0.5).tolist() == [0, 2, 3]
    boxes = torch.tensor([[-100.0, -100, 0, 0]] * 2)
    assert ours.batched_nms(boxes, scores[:2], torch.tensor([0, 1]), 0.5).tolist() == [0, 1]
    assert theirs.batched_nms(boxes, scores[:2], torch.tensor([0, 1]), 0.5).tolist() == [0]


def test_an_iou_is_compared_with_the_threshold_as_float32(torch: Any, theirs: Any) -> None:
    """3 of 10 is 0.3 in float32, which is above the double 0.3."""
    boxes, scores = torch.tensor([[0.0, 0, 10, 1], [0, 0, 3, 1]]), torch.tensor([0.9, 0.8])
    assert ours.nms(boxes, scores, 0.3).tolist() == [0, 1]
    assert theirs.nms(boxes, scores, 0.3).tolist() == [0]


def test_thin_rotated_boxes_are_measured_in_float64(torch: Any, theirs: Any) -> None:
    """Boxes of 1000 x 0.01 and 100 x 0.5 with one centre: the intersection is 1, the union 59."""
    thin, thick = torch.tensor([[3000.0, 2000, 1000, 0.01, 47]]), torch.tensor([[3000.0, 2000, 100, 0.5, 47]])
    errors = [abs(module.box_iou(thin, thick, "cxcywhr").item() - 1 / 59) for module in (ours, theirs)]
    assert errors[0] < 1e-8
    assert errors[1] > 1e-5


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize("name", ours.__all__)
def test_functions_say_that_they_are_not_scripted(torch: Any, name: str) -> None:
    with pytest.raises(TypeError, match=rf"\.{name} cannot be compiled by TorchScript .*: use torch\.compile"):
        torch.jit.script(getattr(ours, name))


@pytest.mark.parametrize("name", OVERLAPS)
def test_functions_are_compiled(torch: Any, name: str) -> None:
    boxes = torch.tensor(random_boxes(6))
    compiled = torch.compile(getattr(ours, name), backend="eager")
    torch.testing.assert_close(compiled(boxes, boxes), getattr(ours, name)(boxes, boxes))


def test_suppression_of_nothing_is_torchvisions(torch: Any, theirs: Any) -> None:
    empty = torch.empty((0,), dtype=torch.int64)
    for boxes in (empty, torch.zeros(0, 4), torch.zeros(0, 4, dtype=torch.float16)):
        expected = theirs.batched_nms(boxes, None, None, None)
        torch.testing.assert_close(ours.batched_nms(boxes, None, None, None), expected)  # type: ignore[arg-type]
    rows = ours.batched_nms(torch.zeros(0, 4), torch.zeros(0), empty, 0.5)
    torch.testing.assert_close(rows, theirs.batched_nms(torch.zeros(0, 4), torch.zeros(0), empty, 0.5))
    torch.testing.assert_close(ours.nms(torch.zeros(0, 4), torch.zeros(0), 0.5), empty)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
def test_suppression_of_quantized_tensors_reads_their_numbers(torch: Any) -> None:
    rng = np.random.default_rng(3)
    for scale, zero in ((1, 0), (2, 50), (3, 10)):
        corners = rng.uniform(0, 60, (200, 2))
        boxes = torch.tensor(
            np.concatenate([corners, corners + rng.uniform(1, 60, (200, 2))], axis=1), dtype=torch.float32
        )
        scores = torch.tensor(rng.permutation(200), dtype=torch.float32)
        packed = [torch.quantize_per_tensor(one, scale, zero, torch.quint8) for one in (boxes, scores)]
        for threshold in (0.2, 0.5, 0.8):
            plain = [one.dequantize() for one in packed]
            found, expected = (ours.nms(one[0], one[1], threshold) for one in (packed, plain))
            torch.testing.assert_close(found, expected)


def test_an_unknown_reduction_is_named(torch: Any, theirs: Any) -> None:
    boxes = torch.tensor(random_boxes(2))
    for name in LOSSES:
        for module in (ours, theirs):
            with pytest.raises(ValueError, match=r"Invalid.*xyz"):
                getattr(module, name)(boxes, boxes, reduction="xyz")


def test_what_nms_cannot_order_is_refused(torch: Any) -> None:
    boxes, scores = torch.tensor([[0.0, 0, 1, 1], [4, 4, 0, 0]]), torch.tensor([0.9, float("nan")])
    with pytest.raises(ValueError, match=r"boxes\[1\].*inverted"):
        ours.nms(boxes, scores, 0.5)
    with pytest.raises(ValueError, match=r"scores\[1\]"):
        ours.nms(boxes[[0, 0]], scores, 0.5)


def test_losses_are_torchvisions_with_their_defects(torch: Any, theirs: Any) -> None:
    """The loss of equal boxes of side 1e-4 is 0.909, and a flat box has no gradient, unlike in ioukit.losses."""
    tiny = torch.tensor([[0.5, 0.5, 0.5001, 0.5001]], dtype=torch.float64)
    for module in (ours, theirs):
        assert module.generalized_box_iou_loss(tiny, tiny).item() == pytest.approx(1 - 1e-8 / (1e-8 + 1e-7), abs=1e-6)
        flat = torch.tensor([[0.0, 1, 4, 1]], requires_grad=True)
        module.complete_box_iou_loss(flat, torch.tensor([[0.0, 0, 4, 4]])).sum().backward()
        assert flat.grad.isnan().any()
    assert ioukit.losses.giou_loss(tiny, tiny).item() == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("name", OVERLAPS)
def test_boxes_without_area_overlap_nothing(name: str, torch: Any, theirs: Any) -> None:
    point = torch.ones(1, 4)
    assert getattr(ours, name)(point, point).item() == 0
    assert getattr(theirs, name)(point, point).isnan()


@pytest.mark.parametrize("name", OVERLAPS)
def test_what_is_no_box_is_refused(name: str, torch: Any, theirs: Any) -> None:
    boxes = torch.tensor([[0.0, 0, 2, 2], [4, 4, 0, 0]])
    with pytest.raises(ValueError, match=r"boxes1\[1\] is \[4.0, 4.0, 0.0, 0.0\]: inverted"):
        getattr(ours, name)(boxes, boxes)
    assert getattr(theirs, name)(boxes, boxes).shape == (2, 2)
    with pytest.raises(ValueError, match=r"boxes2\[0\].*finite"):
        getattr(ours, name)(boxes[:1], boxes[:1] * float("nan"))


def test_tiny_boxes_do_not_feel_eps(torch: Any, theirs: Any) -> None:
    """Normalized boxes with a side of 0.001, shifted by half a side: 1/3 - 0.25 / (1.5**2 + 1)."""
    boxes = torch.tensor([[0.5, 0.5, 0.501, 0.501], [0.5005, 0.5, 0.5015, 0.501]], dtype=torch.float64)
    exact = 1 / 3 - 0.25 / 3.25
    assert ours.distance_box_iou(boxes[:1], boxes[1:]).item() == pytest.approx(exact, abs=1e-9)
    assert ours.distance_box_iou(boxes[:1], boxes[1:], eps=1.0).item() == pytest.approx(exact, abs=1e-9)
    assert abs(theirs.distance_box_iou(boxes[:1], boxes[1:]).item() - exact) > 0.002


def test_integers_do_not_overflow(torch: Any, theirs: Any) -> None:
    boxes = torch.tensor([[0, 0, 70_000, 70_000]], dtype=torch.int32)
    assert ours.box_area(boxes).item() == 70_000**2
    assert theirs.box_area(boxes).item() != 70_000**2
    assert ours.box_iou(boxes, boxes).item() == 1
    small = torch.tensor([[10, 10, 250, 250]], dtype=torch.uint8)
    assert ours.box_convert(small, "xywh", "xyxy").tolist() == [[10, 10, 260, 260]]
    assert theirs.box_convert(small, "xywh", "xyxy").tolist() != [[10, 10, 260, 260]]


def test_flat_boxes_have_a_gradient(torch: Any, theirs: Any) -> None:
    found = []
    for module in (ours, theirs):
        flat = torch.tensor([[0.0, 1, 4, 1]], requires_grad=True)
        module.complete_box_iou(flat, torch.tensor([[0.0, 0, 4, 4]])).sum().backward()
        found.append(bool(flat.grad.isfinite().all()))
    assert found == [True, False]
