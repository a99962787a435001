"""torchvision's detectors learn the same with ioukit's matcher, coding, loss and NMS in the place of their own."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from numpy.testing import assert_allclose

pytest.importorskip("torch", reason="PyTorch is not installed")
pytest.importorskip("torchvision", reason="torchvision is not installed")

import torch
from torch import nn
from torchvision.models import detection
from torchvision.models.detection import _utils, fcos, ssd, ssdlite
from torchvision.models.detection.anchor_utils import AnchorGenerator, DefaultBoxGenerator
from torchvision.ops import boxes as box_ops

from ioukit import nms, pairwise_iou
from ioukit.anchors import decode_deltas, decode_ltrb, encode_deltas, encode_ltrb
from ioukit.assign import assign_overlaps
from ioukit.losses import giou_loss

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore")  # torchvision's own

SIDE, CLASSES, STEPS = 64, 4, 30


class Backbone(nn.Module):  # type: ignore[misc]
    """Two small maps, with strides of 8 and 16."""

    out_channels = 32

    def __init__(self) -> None:
        super().__init__()
        self.fine = nn.Sequential(nn.Conv2d(3, 32, 8, stride=8), nn.ReLU())
        self.coarse = nn.Sequential(nn.Conv2d(32, 32, 3, stride=2, padding=1), nn.ReLU())

    def forward(self, images: Any) -> dict[str, Any]:
        fine = self.fine(images)
        return {"0": fine, "1": self.coarse(fine)}


def retinanet() -> Any:
    anchors = AnchorGenerator(((8, 12), (24, 32)), ((0.5, 1.0, 2.0),) * 2)
    model = detection.RetinaNet(Backbone(), CLASSES, min_size=SIDE, max_size=SIDE, anchor_generator=anchors)
    model.head.regression_head._loss_type = "giou"
    return model


def one_stage_without_anchors() -> Any:
    anchors = AnchorGenerator(((8,), (16,)), ((1.0,),) * 2)
    return detection.FCOS(Backbone(), CLASSES, min_size=SIDE, max_size=SIDE, anchor_generator=anchors)


def ssd_lite() -> Any:
    anchors = DefaultBoxGenerator([[2], [2]], min_ratio=20, max_ratio=60)
    head = ssdlite.SSDLiteHead([32, 32], anchors.num_anchors_per_location(), CLASSES, nn.BatchNorm2d)
    return ssd.SSD(Backbone(), anchors, (SIDE, SIDE), CLASSES, head=head)


def swap(patch: pytest.MonkeyPatch) -> Counter[str]:
    """Puts ioukit's parts in the place of torchvision's, and counts their calls."""
    calls: Counter[str] = Counter()

    def put(owner: Any, name: str, part: str, function: Callable[..., Any]) -> None:
        def counted(*given: Any, **options: Any) -> Any:
            calls[part] += 1
            return function(*given, **options)

        patch.setattr(owner, name, counted)

    def match(matcher: Any, overlaps: Any) -> Any:
        low_quality: Any = "detectron2" if matcher.allow_low_quality_matches else "none"
        found = assign_overlaps(
            overlaps, positive=matcher.high_threshold, negative=matcher.low_threshold, low_quality=low_quality
        )
        return torch.where(found.ignore, matcher.BETWEEN_THRESHOLDS, found.target)

    def points_and_sides(anchors: Any) -> tuple[Any, Any]:  # of squares
        return (anchors[..., :2] + anchors[..., 2:]) / 2, anchors[..., 2:3] - anchors[..., :1]

    put(box_ops, "box_iou", "iou", pairwise_iou)
    put(box_ops, "batched_nms", "nms", lambda boxes, scores, labels, most: nms(boxes, scores, most, labels=labels))
    put(_utils.Matcher, "__call__", "matcher", match)
    coder = _utils.BoxCoder
    put(coder, "encode_single", "encode", lambda own, gt, anchors: encode_deltas(gt, anchors, weights=own.weights))
    put(coder, "decode_single", "decode", lambda own, raw, anchors: decode_deltas(
        raw, anchors, weights=own.weights, clamp=own.bbox_xform_clip
    ))  # fmt: skip
    linear = _utils.BoxLinearCoder
    put(linear, "encode", "encode", lambda _, anchors, gt: encode_ltrb(gt, *points_and_sides(anchors)))
    put(linear, "decode", "decode", lambda _, raw, anchors: decode_ltrb(raw, *points_and_sides(anchors)))
    for owner in (_utils, fcos):
        put(owner, "generalized_box_iou_loss", "loss", lambda pred, gt, reduction, eps=0.0: giou_loss(  # noqa: ARG005
            pred, gt, reduction=reduction
        ))  # fmt: skip
    return calls


def trained(make: Callable[[], Any]) -> tuple[list[float], list[dict[str, Any]]]:
    """The losses of the steps, and what the model finds at the end."""
    torch.manual_seed(3)
    model = make().double()  # in float32, rounding grows to 0.6 % of the loss within 30 steps
    images = [torch.rand(3, SIDE, SIDE).double() for _ in range(3)]
    corner, size = torch.rand(3, 4, 2) * 30, 8 + torch.rand(3, 4, 2) * 24
    boxes = torch.cat([corner, corner + size], dim=2).double()
    targets = [{"boxes": box, "labels": torch.tensor([1, 2, 3, 1])} for box in boxes]
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-2, momentum=0.9)
    losses = []
    for _ in range(STEPS):
        loss = sum(model(images, targets).values())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    model.score_thresh, model.detections_per_img = 0.01, 20
    with torch.no_grad():
        return losses, model.eval()(images)


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (retinanet, {"iou", "matcher", "encode", "decode", "loss", "nms"}),
        (one_stage_without_anchors, {"encode", "decode", "loss", "nms"}),
        (ssd_lite, {"iou", "matcher", "encode", "decode", "nms"}),
    ],
    ids=["RetinaNet", "FCOS", "SSDLite"],
)
def test_the_losses_of_30_steps_are_the_same(
    make: Callable[[], Any], parts: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, found = trained(make)
    calls = swap(monkeypatch)
    losses, ours = trained(make)
    assert parts - {"encode"} <= set(calls) <= parts
    assert losses[-1] < 0.95 * losses[0]
    assert_allclose(losses[:10], expected[:10], rtol=1e-6)
    assert_allclose(losses, expected, rtol=1e-4)  # torchvision adds 1e-7 to each area of GIoU
    assert sum(len(one["scores"]) for one in found) > 0
    for one, other in zip(ours, found, strict=True):
        assert_allclose(one["scores"], other["scores"], atol=1e-4)
