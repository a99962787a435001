"""The exported network answers as the one it was made of."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")
pytest.importorskip("safetensors", reason="the detector needs safetensors: pip install 'ioukit[torch]'")
pytest.importorskip("onnxruntime", reason="the exported network needs onnxruntime")
pytest.importorskip("onnxscript", reason="the export needs onnxscript: pip install 'ioukit[onnx]'")

import onnxruntime as runtime
import torch

from ioukit.torch.detector.checkpoint import save_model
from ioukit.torch.detector.export import Detector, _difference, export_onnx
from ioukit.torch.detector.model import YOLO, Config
from ioukit.torch.detector.predict import predict
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

IMAGES = np.random.default_rng(2).integers(256, size=(3, 64, 96, 3), dtype=np.uint8)


def sure_network(head: str) -> YOLO:
    """A network that has learned nothing, and gives scores that are far apart."""
    torch.manual_seed(0)
    model = YOLO(Config(num_classes=3, head=head, image_size=(96, 64), width=0.125, depth=0.1))  # type: ignore[arg-type]
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0  # the statistics of the next batch; with those of a new network, all is nearly 0
    with torch.no_grad():
        model.train()(given())
    model.eval()
    return model


def given() -> Any:
    return (torch.from_numpy(IMAGES).permute(0, 3, 1, 2).float() / 255).contiguous()


def assert_as_predicted(model: YOLO, outputs: list[Any]) -> None:
    """Compares with `predict`, which cuts boxes at the edges of the image."""
    boxes, scores, labels = outputs
    boxes = np.clip(boxes, 0, [96, 64, 96, 64])
    for number, expected in enumerate(predict(model, [*IMAGES], score_threshold=0.0, max_detections=20)):
        assert np.ptp(expected.boxes.conf) > 0.1 * expected.boxes.conf[0]
        assert_allclose(scores[number], expected.boxes.conf, rtol=1e-3, atol=1e-6)
        assert_array_equal(labels[number], expected.boxes.cls)
        assert_allclose(boxes[number], expected.boxes.xyxy, atol=1e-2)


@pytest.mark.parametrize("head", ["anchor", "free"])
def test_the_command_writes_what_predict_finds(head: str, tmp_path: Path) -> None:
    model = sure_network(head)
    with torch.no_grad():
        assert_as_predicted(model, [part.numpy() for part in Detector(model, max_detections=20)(given())])
    save_model(model, tmp_path / "net.safetensors")
    done = run_here("export", tmp_path / "net.safetensors", "--max-dets", "20")
    assert (done.code or 0, done.out) == (0, ""), done.err
    checked, wrote = done.err.splitlines()
    # Of two boxes with nearly the same score, one may be the last.
    found = re.fullmatch(r"checked  (\d+) of 60 boxes are .*: .* at most (\S+) pixels, scores by (\S+)", checked)
    assert found, checked
    assert int(found[1]) > 57
    assert 0 < float(found[2]) < 0.01
    assert float(found[3]) < 1e-4
    assert wrote == f"wrote {tmp_path / 'net.onnx'}"
    session = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    assert [one.shape for one in session.get_inputs()] == [["batch", 3, 64, 96]]
    assert_as_predicted(model, session.run(["boxes", "scores", "labels"], {"images": given().numpy()}))
    for count in (1, 2, 5):
        images = given()[torch.arange(count) % 3]
        with torch.no_grad():
            ours = [part.numpy() for part in Detector(model, max_detections=20)(images)]
        apart = _difference(ours, session.run(["boxes", "scores", "labels"], {"images": images.numpy()}))
        assert apart.count == 20 * count
        assert apart.same > 0.95 * apart.count


def test_the_number_of_images_can_be_fixed(tmp_path: Path) -> None:
    save_model(sure_network("free"), tmp_path / "net.safetensors")
    done = run_here("export", tmp_path / "net.safetensors", "--batch", "2")
    assert (done.code or 0, done.out) == (0, ""), done.err
    session = runtime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    assert [one.shape[0] for one in (*session.get_inputs(), *session.get_outputs())] == [2, 2, 2, 2]


def test_an_image_with_few_boxes_has_scores_of_0() -> None:
    boxes, scores, _ = Detector(sure_network("anchor"), iou_threshold=0.0)(torch.zeros(1, 3, 64, 96))
    left = int((scores > 0).sum())
    assert 0 < left < 100
    assert boxes.shape == (1, 100, 4)
    assert (scores[0, left:] == 0).all()


def test_boxes_are_compared_whatever_their_order() -> None:
    boxes, scores, labels = np.zeros((1, 4, 4)), np.array([[0.9, 0.8, 0.7, 0.0]]), np.array([[0, 1, 0, 0]])
    boxes[0, :, 2:] = [[5], [6], [7], [5]]
    swapped = [part[:, [1, 0, 2, 3]] for part in (boxes + 0.01, scores, labels)]
    found = _difference([boxes, scores, labels], swapped)
    assert (found.count, found.same, found.scores) == (3, 3, 0)
    assert found.boxes == pytest.approx(0.01)
    assert _difference([boxes, scores, labels], [boxes + 1, scores, labels]).same == 0
    assert _difference([boxes, scores, labels], [boxes, scores, 1 - labels]).same == 0
    assert _difference([boxes, scores, labels], [boxes, scores - 0.01, labels]).same == 0


@pytest.mark.parametrize("package", ["onnx", "onnxscript", "onnxruntime"])
def test_a_missing_package(package: str, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    done = run_here("export", network, "-o", tmp_path / "net.onnx")
    assert (done.code, done.err) == (2, f"Error: the export needs {package}: pip install 'ioukit[export]'\n")
    assert not list(tmp_path.iterdir())


def test_a_file_that_finds_other_boxes_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong:
        def __init__(self, path: str, **_: Any) -> None:
            assert path

        def run(self, _: Any, inputs: dict[str, Any]) -> list[Any]:
            count = len(inputs["images"])
            return [np.zeros((count, 100, 4)), np.zeros((count, 100)), np.zeros((count, 100))]

    monkeypatch.setattr(torch.onnx, "export", lambda *_, **__: None)
    monkeypatch.setattr(runtime, "InferenceSession", Wrong)
    with pytest.raises(FloatingPointError, match="onnxruntime finds 0 of the 300 boxes that the network finds"):
        export_onnx(sure_network("free"), tmp_path / "net.onnx")
    assert not list(tmp_path.iterdir())


def test_wrong_use(network: Path, tmp_path: Path) -> None:
    done = run_here("export", network, "-o", tmp_path / "net.onnx", "--size", "100")
    assert (done.code, "image_size must be multiples of 32, got (100, 100)" in done.err) == (2, True)
    assert "is an input" in run_here("export", network, "-o", network).err
