"""Each step of the YOLO in one file is the library's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("torch", reason="the example is written in PyTorch: pip install 'ioukit[torch]'")

import torch

from ioukit import COCO, evaluate, nms, pairwise_iou
from ioukit.anchors import decode_yolov3, fit_anchors
from ioukit.assign import assign_yolov3
from ioukit.datasets import Detections, GroundTruth
from ioukit.losses import ciou_loss
from ioukit.overlap.shape import pairwise_shape_iou
from ioukit.regions.formats import convert_array
from ioukit.torch.losses import objectness_loss
from support.paths import EXAMPLES, program

yolo = program(EXAMPLES / "yolo_in_one_file.py")
ANCHORS = torch.tensor([[18.0, 24.0], [30.0, 20.0], [40.0, 42.0]])


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(7)


def drawn_boxes(count: int) -> Any:
    """(N, 4) boxes of random size and place, many of which overlap."""
    corner, size = 60 * torch.rand(count, 2), 4 + 32 * torch.rand(count, 2)
    return torch.cat([corner, corner + size], dim=1).double()


class TestDraw:
    def test_boxes_are_those_of_the_shapes(self) -> None:
        for _ in range(10):
            image, boxes, labels = yolo.draw()
            assert image.shape == (3, 96, 96)
            assert 1 <= len(boxes) == len(labels) <= 4
            background = image.flatten(1).median(dim=1).values[:, None, None]
            differs = ((image - background).abs() > 0.15).all(dim=0)
            covered = torch.zeros(96, 96, dtype=torch.bool)
            for x1, y1, x2, y2 in boxes.round().int().tolist():
                covered[y1:y2, x1:x2] = True
            if differs.float().mean() < 0.5:  # else, an object is the largest part of the image
                assert (differs & ~covered).sum() <= 0.02 * differs.sum() + 5

    def test_a_batch(self) -> None:
        images, boxes, labels = yolo.draw_batch(3)
        assert (images.shape, len(boxes), len(labels)) == ((3, 3, 96, 96), 3, 3)


class TestOverlap:
    def test_iou(self) -> None:
        first, second = drawn_boxes(40), drawn_boxes(30)
        assert_allclose(yolo.iou(first[:, None], second[None]), pairwise_iou(first, second), rtol=1e-12)

    def test_ciou_and_its_gradient(self) -> None:
        pred, target = drawn_boxes(50).requires_grad_(), drawn_boxes(50)
        ours = (1 - yolo.ciou(pred, target)).sum()
        (gradient,) = torch.autograd.grad(ours, pred)
        theirs = ciou_loss(pred, target, reduction="sum")
        (expected,) = torch.autograd.grad(theirs, pred)
        assert_allclose(float(ours.detach()), float(theirs.detach()), rtol=1e-9)
        assert_allclose(gradient, expected, rtol=1e-6, atol=1e-9)


def test_anchors_fit_as_well_as_the_librarys() -> None:
    _, boxes, _ = yolo.draw_batch(100)
    sizes = torch.cat([one[:, 2:] - one[:, :2] for one in boxes])
    assert_allclose(yolo.shape_iou(sizes, ANCHORS), pairwise_shape_iou(sizes.numpy(), ANCHORS.numpy()), rtol=1e-5)
    best = float(yolo.shape_iou(sizes, yolo.find_anchors(sizes)).amax(dim=1).mean())
    assert best == pytest.approx(fit_anchors(sizes.numpy(), yolo.ANCHORS).average_iou, abs=0.01)


def raw_of(network: Any, count: int) -> tuple[Any, list[Any], list[Any]]:
    """What a network says that has not learned, with numbers as large as those of one that has."""
    images, boxes, labels = yolo.draw_batch(count)
    raw = network(images)
    return (raw + torch.randn_like(raw)).detach(), boxes, labels


def test_decode() -> None:
    raw, _, _ = raw_of(yolo.Network(), 2)
    assert raw.shape == (2, 108, 8)
    cells = [[column, row] for _ in range(3) for row in range(6) for column in range(6)]
    expected = decode_yolov3(raw[..., :4], torch.tensor(cells), ANCHORS.repeat_interleave(36, dim=0), 16)
    corners = convert_array(expected.numpy(), "cxcywh", "xyxy")
    assert_allclose(yolo.decode(raw, ANCHORS), corners, rtol=1e-5, atol=1e-4)


def test_assign() -> None:
    ignored = 0
    for _ in range(20):
        raw, (boxes,), _ = raw_of(yolo.Network(), 1)
        if len(boxes) > 1:
            boxes = torch.cat([boxes, boxes[:1] + 0.25])  # at the place of the first one
        predicted = yolo.decode(raw, ANCHORS)[0]
        owner, ignore = yolo.assign(boxes, predicted, ANCHORS)
        expected = assign_yolov3(boxes, anchors=[ANCHORS], strides=[16], image_size=(96, 96), predictions=predicted)
        assert_array_equal(owner, expected.target)
        assert_array_equal(ignore, expected.ignore)
        ignored += int(ignore.sum())
    assert ignored


def test_loss() -> None:
    raw, boxes, labels = raw_of(yolo.Network(), 4)
    total, count = 0.0, 0
    for image, predicted in enumerate(yolo.decode(raw, ANCHORS)):
        assigned = assign_yolov3(
            boxes[image], anchors=[ANCHORS], strides=[16], image_size=(96, 96), predictions=predicted
        )
        objects, places = assigned.pairs.unbind(dim=1)
        target = boxes[image][objects]
        total += 5 * float(ciou_loss(predicted[places], target, reduction="sum"))
        overlap = torch.zeros(108)
        overlap[places] = pairwise_iou(predicted[places], target).diagonal()
        weight = (~assigned.ignore).float()
        total += float(objectness_loss(raw[image, :, 4], overlap, reduction="sum", weight=weight))
        classes = torch.zeros(108, 3)
        classes[places, labels[image][objects]] = 1
        total += float(objectness_loss(raw[image, places, 5:], classes[places], reduction="sum"))
        count += len(objects)
    assert float(yolo.loss_of(raw, ANCHORS, boxes, labels)) == pytest.approx(total / count, rel=1e-5)


def test_nms() -> None:
    boxes, scores = drawn_boxes(200), torch.rand(200).double()
    scores[:50] = scores[50:100]  # of equal scores, the first box comes first
    assert_array_equal(yolo.nms(boxes, scores), nms(boxes, scores, 0.5))
    assert len(yolo.nms(boxes[:0], scores[:0])) == 0


def test_detect() -> None:
    raw, _, _ = raw_of(yolo.Network(), 2)
    boxes = yolo.decode(raw, ANCHORS)
    for label in range(3):
        for number, (found, scores) in enumerate(yolo.detect(raw, ANCHORS, label)):
            all_scores = raw[number, :, 4].sigmoid() * raw[number, :, 5 + label].sigmoid()
            kept = nms(boxes[number], all_scores, 0.5, score_threshold=0.01)
            assert_array_equal(found, boxes[number][kept])
            assert_array_equal(scores, all_scores[kept])


def test_average_precision() -> None:
    objects = [drawn_boxes(count) for count in (5, 0, 8, 3)]
    found = []
    for boxes in objects:
        moved = boxes.repeat(2, 1) + torch.randn(2 * len(boxes), 4).double()
        rows = torch.cat([moved, drawn_boxes(3)])
        found.append((rows, torch.rand(len(rows)).double()))
    sides = [convert_array(torch.cat(part).numpy(), "xyxy", "xywh") for part in (objects, [one for one, _ in found])]
    gt_of, dt_of = (np.repeat(np.arange(1, 5), [len(one) for one in part]) for part in (objects, [s for _, s in found]))
    gt = GroundTruth.from_arrays(image_ids=gt_of, category_ids=np.ones_like(gt_of), boxes=sides[0], images=[1, 2, 3, 4])
    dt = Detections.from_arrays(
        image_ids=dt_of, category_ids=np.ones_like(dt_of), boxes=sides[1],
        scores=torch.cat([scores for _, scores in found]).numpy(),
    )  # fmt: skip
    for threshold in (0.5, 0.75):
        expected = evaluate(gt, dt, COCO.replace(iou_thresholds=(threshold,))).summary["AP"]
        assert 0.1 < expected < 1
        assert yolo.average_precision(found, objects, threshold) == pytest.approx(expected, abs=1e-9)
    assert yolo.average_precision([(one[:0], one[:0, 0]) for one in objects], objects) == 0


def test_it_learns(capsys: pytest.CaptureFixture[str]) -> None:
    """The loss falls within a few steps; what a whole training reaches is the next test's."""
    yolo.train(steps=2, batch=2)
    assert capsys.readouterr().out.startswith("anchors ")
    network = yolo.Network()
    images, boxes, labels = yolo.draw_batch(4)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    losses = []
    for _ in range(12):
        loss = yolo.loss_of(network(images), ANCHORS, boxes, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.5 * losses[0]
    result = yolo.evaluate(network.eval(), ANCHORS, count=8)
    assert result.keys() == set(yolo.CLASSES)
    assert all(0 <= value <= 1 for value in result.values())


@pytest.mark.slow
def test_right_boxes_after_two_minutes() -> None:
    result = yolo.evaluate(*yolo.train())
    assert min(result.values()) >= 0.5
