"""Writes docs/data/iou_in_yolo.npz, the outputs of a trained network for one image.

    python docs/build/record_iou_in_yolo.py NETWORK

The first lines of `docs/iou_in_yolo.md` have the commands that trained the network. This script needs PyTorch; what
reads its file does not.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from yolo_walk import RECORD, STEP, scene

from ioukit.torch.detector.checkpoint import load_model

if __name__ == "__main__":
    model = load_model(sys.argv[1], "cpu")
    image = torch.from_numpy(scene().pixels).permute(2, 0, 1)[None].float() / 255
    with torch.no_grad():
        raw = model(image).flat()[0].numpy()  # (P, 5 + K)
    np.savez_compressed(
        RECORD,
        raw=np.rint(raw / STEP).clip(-32768, 32767).astype(np.int16),
        anchors=np.array(model.config.anchors),
        size=np.array(model.config.image_size),
    )
    print(f"{RECORD}: {Path(RECORD).stat().st_size:,} bytes", file=sys.stderr)  # noqa: T201
