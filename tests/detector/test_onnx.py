"""The exported network answers as the one it was made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from numpy.testing import assert_allclose

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("onnxruntime", reason="the exported network needs onnxruntime")
pytest.importorskip("onnxscript", reason="the export needs onnxscript: pip install 'ioukit[onnx]'")

import onnxruntime as runtime
import torch

from ioukit.torch.detector.decoding import decode
from ioukit.torch.detector.export import export_onnx
from ioukit.torch.detector.model import YOLO, Config

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.filterwarnings("ignore")  # the exporter's own
@pytest.mark.parametrize("head", ["anchor", "free"])
def test_exported_boxes_are_the_same(head: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    model = YOLO(Config(num_classes=3, head=head, image_size=(96, 64), width=0.125, depth=0.1)).eval()  # type: ignore[arg-type]
    export_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    for count in (1, 3):
        images = torch.rand(count, 3, 64, 96)
        boxes, scores = session.run(["boxes", "scores"], {"images": images.numpy()})
        with torch.no_grad():
            expected = decode(model(images), model.config)
        assert boxes.dtype == np.float32
        assert_allclose(boxes, expected.boxes.numpy(), rtol=1e-4, atol=1e-3)
        assert_allclose(scores, expected.scores.numpy(), rtol=1e-4, atol=1e-6)
