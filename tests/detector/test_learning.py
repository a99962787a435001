"""Losses and predictions of the detector: every loss and every assigner learns, and boxes decode."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")
import torch

from ioukit.datasets.shapes import CLASSES
from ioukit.torch.detector.batches import NO_AUGMENTATION, Samples, collate
from ioukit.torch.detector.data import Data
from ioukit.torch.detector.decoding import decode, priors
from ioukit.torch.detector.learning import ASSIGNERS, BOX_LOSSES, Learning
from ioukit.torch.detector.model import YOLO, Config
from support.small_detector import config


class TestLearning:
    @pytest.mark.parametrize("head", ["anchor", "free"])
    def test_perfect_predictions_cost_little(self, head: str, learn: Data) -> None:
        """Boxes that are exactly right have no box loss, and decode to themselves."""
        batch = collate([_sample(learn, number) for number in range(4)])
        model = YOLO(config(head))
        losses = Learning(model.config)(model(batch.images.float() / 255), batch)
        assert set(losses) >= {"total", "box", "classes"}
        assert losses["total"].item() == pytest.approx(
            sum(value.item() for name, value in losses.items() if name != "total"), rel=1e-5
        )

    def test_the_first_loss_is_not_of_the_background_alone(self, learn: Data) -> None:
        """Where boxes overlap no object, or scores are too high everywhere, the classes are 92 % of a loss of 180."""
        batch = collate([_sample(learn, number) for number in range(16)])
        images = batch.images.float() / 255
        for seed in range(3):
            torch.manual_seed(seed)
            outputs = YOLO(config("free"))(images)
            losses = Learning(config("free"))(outputs, batch)
            assert losses["total"].item() < 50
            assert losses["classes"].item() < 0.75 * losses["total"].item()
            levels = decode(outputs, config("free")).scores.split(priors(config("free")).levels, dim=1)
            found = [level.sum(dim=(1, 2)).mean().item() for level in levels]
            assert found == pytest.approx([1, 1, 1], rel=0.3)  # one object in an image is expected on each map

    @pytest.mark.parametrize("loss", BOX_LOSSES)
    def test_every_loss_learns(self, loss: str, learn: Data) -> None:
        _learns(config(), learn, loss=loss)

    @pytest.mark.parametrize("assigner", ASSIGNERS)
    def test_every_assigner_learns(self, assigner: str, learn: Data) -> None:
        _learns(config(), learn, assigner=assigner)
        if not assigner.startswith("yolo"):
            _learns(config("free"), learn, assigner=assigner)

    @pytest.mark.parametrize("head", ["anchor", "free"])
    def test_images_of_another_size(self, head: str, learn: Data) -> None:
        batch = collate([_sample(learn, number, (96, 32)) for number in range(4)])
        model = YOLO(config(head)).eval()
        outputs = model(batch.images.float() / 255)
        losses, expected = (
            Learning(shape)(outputs, batch)["total"].item()
            for shape in (config(head), replace(config(head), image_size=(96, 32)))
        )
        assert losses == expected > 0

    def test_wrong_names(self) -> None:
        with pytest.raises(ValueError, match="unknown loss 'l2'; choose from iou"):
            Learning(config(), loss="l2")
        with pytest.raises(ValueError, match="unknown assigner 'best'; choose from atss"):
            Learning(config(), assigner="best")
        with pytest.raises(ValueError, match="needs anchors, which the anchor-free head has not"):
            Learning(config("free"), assigner="yolov3")

    def test_a_batch_without_objects(self, learn: Data) -> None:
        sample = _sample(learn, 0)
        empty = collate([sample._replace(boxes=sample.boxes[:0], labels=sample.labels[:0])] * 2)
        for head in ("anchor", "free"):
            model = YOLO(config(head))
            losses = Learning(model.config)(model(empty.images.float() / 255), empty)
            losses["total"].backward()
            assert torch.isfinite(losses["total"])
            assert losses["box"].item() == 0


def _sample(data: Data, number: int, size: tuple[int, int] = (64, 64)) -> Any:
    return Samples(data, NO_AUGMENTATION, 0)[0, number, size]


def _learns(shape: Config, data: Data, **choices: Any) -> None:
    torch.manual_seed(0)
    batch = collate([_sample(data, number) for number in range(4)])
    model, learning = YOLO(shape), Learning(shape, **choices)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    totals = []
    for _ in range(12):
        total = learning(model(batch.images.float() / 255), batch)["total"]
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        totals.append(total.item())
    assert np.isfinite(totals).all()
    assert totals[-1] < 0.8 * totals[0]


class TestDecoding:
    def test_priors_are_in_the_order_of_the_maps(self) -> None:
        known = priors(config())
        assert known.levels == (3 * 64, 3 * 16, 3 * 4)
        assert known.anchors[0].tolist() == [0, 0, 8, 8]
        assert known.anchors[64].tolist() == [-2, -2, 10, 10]  # the second anchor of the first cell
        assert known.cells[:2].tolist() == [[0, 0], [1, 0]]
        assert known.points[-1].tolist() == [48, 48]

    @pytest.mark.parametrize("head", ["anchor", "free"])
    def test_shapes(self, head: str) -> None:
        model = YOLO(config(head)).eval()
        predictions = decode(model(torch.rand(2, 3, 64, 64)), model.config)
        count = 3 * 84 if head == "anchor" else 84
        assert predictions.boxes.shape == (2, count, 4)
        assert predictions.scores.shape == (2, count, len(CLASSES))
        assert (predictions.boxes[..., 2:] >= predictions.boxes[..., :2]).all()
        assert predictions.needs_nms == (head == "anchor")
