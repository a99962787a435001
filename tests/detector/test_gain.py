"""A training as it is meant, in half a minute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")

import torch

from ioukit import evaluate
from ioukit.datasets.shapes import CLASSES, make_shapes
from ioukit.torch.detector.batches import NO_AUGMENTATION
from ioukit.torch.detector.checkpoint import load_model
from ioukit.torch.detector.data import read_yolo_data
from ioukit.torch.detector.model import YOLO, Config
from ioukit.torch.detector.predict import detections_of
from ioukit.torch.detector.train import Settings, train

if TYPE_CHECKING:
    from pathlib import Path

ANCHORS = (
    ((8.0, 8.0), (10.0, 10.0), (12.0, 14.0)), ((17.0, 16.0), (19.0, 23.0), (31.0, 19.0)),
    ((26.0, 26.0), (22.0, 37.0), (36.0, 36.0)),
)  # fmt: skip


def test_half_a_minute_of_training_learns_the_scenes_by_heart(tmp_path: Path) -> None:
    """All of it at once: a fault in loading, assignment, losses, steps, decoding, NMS or evaluation keeps AP50 low."""
    make_shapes(tmp_path / "shapes", images=16, val=0.25, seed=5, size=(96, 96), handwritten=False)
    learn, held_out = (read_yolo_data(tmp_path / "shapes" / "data.yaml", split) for split in ("train", "val"))
    config = Config(
        num_classes=len(CLASSES), image_size=(96, 96), width=0.25, depth=0.2, anchors=ANCHORS, names=CLASSES
    )
    settings = Settings(
        epochs=80, batch=12, warmup=10, ema=0.98, weight_decay=0.0, augmentation=NO_AUGMENTATION, plain_epochs=0,
        evaluate_every=80, device="cpu",
    )  # fmt: skip
    done = train(learn, held_out, config, tmp_path / "run", settings)
    losses = [epoch.losses["total"] for epoch in done.epochs]
    torch.manual_seed(settings.seed)
    before, after = (
        evaluate(learn.ground_truth, detections_of(model, learn)).summary["AP50"]
        for model in (YOLO(config).eval(), load_model(tmp_path / "run" / "last.safetensors", "cpu"))
    )
    assert losses[-1] < 0.3 * losses[0]
    assert before < 0.1
    assert after > 0.8  # it is 0.96
