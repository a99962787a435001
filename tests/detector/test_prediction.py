"""Prediction: results in the pixels of each image, whatever the batch and after saving and loading."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("yaml", reason="the detector needs PyYAML: pip install 'ioukit[torch]'")
import torch

from ioukit.torch.detector.checkpoint import load_model, save_model
from ioukit.torch.detector.data import Data
from ioukit.torch.detector.decoding import decode
from ioukit.torch.detector.drawing import draw
from ioukit.torch.detector.model import YOLO
from ioukit.torch.detector.predict import detections_of, predict, to_coco
from support.small_detector import config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def model() -> YOLO:
    torch.manual_seed(0)
    made = YOLO(config())
    made.eval()
    return made


class TestPrediction:
    def test_results_are_in_the_pixels_of_each_image(self, model: YOLO, folder: Path) -> None:
        wide = np.zeros((50, 200, 3), np.uint8)
        results = list(predict(model, [wide, folder / "images" / "val"], score_threshold=0.0, batch=3))
        assert len(results) == 5
        first = results[0]
        assert first.size == (200, 50)
        assert len(first.boxes) == 100
        assert (first.boxes.conf[:-1] >= first.boxes.conf[1:]).all()
        assert first.boxes.xyxy.min() >= 0
        assert (first.boxes.xyxy.max(axis=0) <= [200, 50, 200, 50]).all()
        assert_allclose(first.boxes.xywh[:, 2:], first.boxes.cxcywh[:, 2:])
        assert_allclose(first.boxes.cxcywh[:, :2], first.boxes.xyxy.reshape(-1, 2, 2).mean(axis=1), atol=1e-3)
        assert draw(first).shape == wide.shape
        records = to_coco(results, range(1, 6), range(1, 8))
        assert len(records) == sum(len(result.boxes) for result in results)
        assert records[0]["image_id"] == 1

    def test_batches_change_nothing(self, model: YOLO, folder: Path) -> None:
        one, four = (
            list(predict(model, folder / "images" / "val", score_threshold=0.0, batch=batch)) for batch in (1, 4)
        )
        for a, b in zip(one, four, strict=True):
            assert_allclose(a.boxes.conf, b.boxes.conf, atol=1e-5)

    def test_saved_and_loaded_finds_the_same(self, model: YOLO, held_out: Data, tmp_path: Path) -> None:
        save_model(model, tmp_path / "model.safetensors")
        again = load_model(tmp_path / "model.safetensors")
        assert again.config == model.config
        a, b = (detections_of(one, held_out) for one in (model, again))
        assert_array_equal(a.scores, b.scores)
        assert_array_equal(a.boxes, b.boxes)

    def test_other_sizes(self, model: YOLO, tmp_path: Path) -> None:
        save_model(model, tmp_path / "model.safetensors")
        wide = load_model(tmp_path / "model.safetensors", "cpu", (96, 32))
        image = np.random.default_rng(1).integers(256, size=(32, 96, 3), dtype=np.uint8)
        (found,) = predict(wide, image, score_threshold=0.0, iou_threshold=1.0, max_detections=50)
        given = torch.from_numpy(image).permute(2, 0, 1)[None].float() / 255
        with torch.no_grad():
            raw = decode(wide(given), wide.config)
        assert_allclose(found.boxes.conf, np.sort(raw.scores.numpy(), axis=None)[:-51:-1], rtol=1e-6)
        boxes = raw.boxes[0].numpy().clip(0, [96, 32, 96, 32])
        assert np.abs(found.boxes.xyxy[:, None] - boxes).max(axis=2).min(axis=1).max() < 1e-3
        with pytest.raises(ValueError, match=r"image_size must be multiples of 32, got \(100, 64\)"):
            load_model(tmp_path / "model.safetensors", "cpu", (100, 64))
        with pytest.raises(ValueError, match=r"image_size must be multiples of 32, got \(100, 32\)"):
            model(torch.zeros(1, 3, 32, 100))
        with pytest.raises(ValueError, match=r"expected 252 predictions, as for an image of \(64, 64\), got 189: "):
            decode(model(given), model.config)
        assert decode(model(given), model.config.resized(given)).boxes.shape == (1, 189, 4)

    def test_rectangles_are_padded_to_the_next_cell(self, model: YOLO, tmp_path: Path) -> None:
        save_model(model, tmp_path / "model.safetensors")
        low = load_model(tmp_path / "model.safetensors", "cpu", (64, 32))
        image = np.random.default_rng(1).integers(256, size=(50, 200, 3), dtype=np.uint8)
        (expected,) = predict(low, image, score_threshold=0.0)
        (found,) = predict(model, image, score_threshold=0.0, rectangular=True)
        assert_array_equal(found.boxes.xyxy, expected.boxes.xyxy)
        # With a high image, the batch needs the whole square.
        both = [image, image.transpose(1, 0, 2)]
        for a, b in zip(predict(model, both, rectangular=True), predict(model, both), strict=True):
            assert_array_equal(a.boxes.xyxy, b.boxes.xyxy)

    def test_bad_input(self, model: YOLO, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="there is no file"):
            list(predict(model, tmp_path / "none.png"))
        with pytest.raises(FileNotFoundError, match="there is no image in"):
            list(predict(model, tmp_path))
        with pytest.raises(ValueError, match=r"an image must be \(H, W, 3\) of uint8 in RGB"):
            list(predict(model, np.zeros((4, 4, 4), np.uint8)))
        (tmp_path / "wrong.safetensors").write_bytes(b"no")
        with pytest.raises(ValueError, match="is not a safetensors file"):
            load_model(tmp_path / "wrong.safetensors")
