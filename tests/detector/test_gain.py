"""A training that is worth its minute: what is learnt shows on images that were held out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")

from ioukit import COCO, evaluate
from ioukit.datasets.shapes import CLASSES, make_shapes
from ioukit.torch.detector.batches import Augmentation
from ioukit.torch.detector.checkpoint import load_model
from ioukit.torch.detector.data import read_yolo_data
from ioukit.torch.detector.model import Config
from ioukit.torch.detector.predict import detections_of
from ioukit.torch.detector.train import Settings, train

if TYPE_CHECKING:
    from pathlib import Path

ANCHORS = (
    ((8.0, 8.0), (10.0, 10.0), (12.0, 14.0)), ((17.0, 16.0), (19.0, 23.0), (31.0, 19.0)),
    ((26.0, 26.0), (22.0, 37.0), (36.0, 36.0)),
)  # fmt: skip


@pytest.mark.slow
def test_a_minute_of_training_finds_shapes_it_has_not_seen(tmp_path: Path) -> None:
    make_shapes(tmp_path / "shapes", images=120, val=0.2, seed=5, size=(96, 96), handwritten=False)
    learn, held_out = (read_yolo_data(tmp_path / "shapes" / "data.yaml", split) for split in ("train", "val"))  # type: ignore[arg-type]
    config = Config(
        num_classes=len(CLASSES), image_size=(96, 96), width=0.25, depth=0.2, anchors=ANCHORS, names=CLASSES
    )
    settings = Settings(
        epochs=30, batch=12, lr=2e-3, warmup=1, ema=0.98, judge_every=30, device="cpu",
        augmentation=Augmentation(mosaic=0, scale=0.1, shift=0.05, hue=0, saturation=0, brightness=0),
    )  # fmt: skip
    done = train(learn, held_out, config, tmp_path / "run", settings)
    losses = [epoch.losses["total"] for epoch in done.epochs]
    assert losses[-1] < 0.8 * losses[0]

    model = load_model(tmp_path / "run" / "last.safetensors", "cpu")
    # Where there is something: classes take longer than a minute.
    anywhere = COCO.replace(class_agnostic=True)
    places = evaluate(held_out.ground_truth, detections_of(model, held_out), anywhere).summary["AP50"]
    learnt = evaluate(learn.ground_truth, detections_of(model, learn)).summary["AP50"]
    print(places, learnt, losses[0], losses[-1], done.evaluation.summary["AP50"], done.epochs[-1].seconds)
    assert places > 0.4
    assert learnt > 0.3
