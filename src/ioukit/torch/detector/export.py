"""A network as an ONNX file, for programs that run without PyTorch."""

from __future__ import annotations

import os

import torch
from torch import Tensor, nn

from ioukit._optional import import_extra
from ioukit._output import whole_file
from ioukit.torch.detector.decoding import decode
from ioukit.torch.detector.model import STRIDES, YOLO


class _Exported(nn.Module):
    """From images within [0, 1] to the boxes and scores of all predictions."""

    def __init__(self, model: YOLO) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:  # (B, 3, H, W) -> (B, P, 4), (B, P, K)
        predictions = decode(self.model(images), self.model.config)
        return predictions.boxes, predictions.scores


def export_onnx(model: YOLO, path: str | os.PathLike[str]) -> None:
    """Writes the network and its decoding as ONNX: ``images`` (B, 3, H, W) within [0, 1] to ``boxes`` and ``scores``.

    Boxes are (B, P, 4) xyxy in pixels of the network's image, scores (B, P, K); B may be any number. The outputs are
    all P predictions. Those of the anchor head need NMS. Those of the anchor-free head come from the branch that does
    not need NMS.

    Raises:
        OSError: If the file cannot be written. In that case no file appears.
        ModuleNotFoundError: If ``onnx`` is not installed: ``pip install 'ioukit[onnx]'``.
    """
    import_extra("onnx", extra="onnx", needed_by="export_onnx")
    width, height = model.config.image_size
    example = torch.zeros(2, 3, height, width)
    assert height % max(STRIDES) == 0
    batch = torch.export.Dim("batch", min=1)
    with whole_file(path) as unfinished:
        torch.onnx.export(
            _Exported(model).eval(), (example,), str(unfinished), input_names=["images"],
            output_names=["boxes", "scores"], dynamic_shapes={"images": {0: batch}}, dynamo=True, external_data=False,
            verbose=False,
        )  # fmt: skip
