"""Files in Darknet's formats, of any width: ``yolov3.cfg`` and ``yolov3-tiny.cfg`` have width 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["tiny_cfg", "write_weights", "yolov3_cfg"]

ANCHORS = "10,13,  16,30,  33,23,  30,61,  62,45,  59,119,  116,90,  156,198,  373,326"
TINY_ANCHORS = "10,14,  23,27,  37,58,  81,82,  135,169,  344,319"


class _Cfg:
    def __init__(self, width: float, size: int) -> None:
        self.width = width
        self.lines = ["# made for a test", "[net]", f"width={size}", f"height={size}", "channels=3", ""]

    def add(self, kind: str, **options: object) -> None:
        self.lines += [f"[{kind}]", *(f"{name}={value}" for name, value in options.items()), ""]

    def conv(self, filters: int, size: int, stride: int = 1) -> None:
        self.add(
            "convolutional", batch_normalize=1, filters=round(filters * self.width), size=size, stride=stride, pad=1,
            activation="leaky",
        )  # fmt: skip

    def head(self, classes: int, mask: str, anchors: str) -> None:
        filters = len(mask.split(",")) * (5 + classes)
        self.add("convolutional", filters=filters, size=1, stride=1, pad=1, activation="linear")
        self.add(
            "yolo", mask=mask, anchors=anchors, classes=classes, num=len(anchors.split(",")) // 2, ignore_thresh=0.7
        )

    def text(self) -> str:
        return "\n".join(self.lines)


def yolov3_cfg(*, width: float = 1.0, classes: int = 80, size: int = 416) -> str:
    cfg = _Cfg(width, size)
    cfg.conv(32, 3)
    for filters, blocks in ((64, 1), (128, 2), (256, 8), (512, 8), (1024, 4)):
        cfg.conv(filters, 3, 2)
        for _ in range(blocks):
            cfg.conv(filters // 2, 1)
            cfg.conv(filters, 3)
            cfg.add("shortcut", **{"from": -3}, activation="linear")
    for filters, mask, route in ((512, "6,7,8", 61), (256, "3,4,5", 36), (128, "0,1,2", None)):
        for _ in range(3):
            cfg.conv(filters, 1)
            cfg.conv(2 * filters, 3)
        cfg.head(classes, mask, ANCHORS)
        if route is not None:
            cfg.add("route", layers=-4)
            cfg.conv(filters // 2, 1)
            cfg.add("upsample", stride=2)
            cfg.add("route", layers=f"-1, {route}")
    return cfg.text()


def tiny_cfg(*, width: float = 1.0, classes: int = 80, size: int = 416) -> str:
    cfg = _Cfg(width, size)
    for filters in (16, 32, 64, 128, 256):
        cfg.conv(filters, 3)
        cfg.add("maxpool", size=2, stride=2)
    cfg.conv(512, 3)
    cfg.add("maxpool", size=2, stride=1)
    cfg.conv(1024, 3)
    cfg.conv(256, 1)
    cfg.conv(512, 3)
    cfg.head(classes, "3,4,5", TINY_ANCHORS)
    cfg.add("route", layers=-4)
    cfg.conv(128, 1)
    cfg.add("upsample", stride=2)
    cfg.add("route", layers="-1, 8")
    cfg.conv(256, 3)
    cfg.head(classes, "0,1,2", TINY_ANCHORS)
    return cfg.text()


def write_weights(path: Path, count: int, *, seed: int = 0, version: tuple[int, int] = (0, 2)) -> NDArray[np.float32]:
    """Writes a header and ``count`` small positive numbers (variances are positive)."""
    numbers = np.random.default_rng(seed).uniform(0.01, 0.1, count).astype("<f4")
    header = np.array([*version, 0], "<i4").tobytes()
    seen = np.array([0], "<i8" if version >= (0, 2) else "<i4").tobytes()
    path.write_bytes(header + seen + numbers.tobytes())
    return numbers
