"""A detector small enough to train in a test."""

from __future__ import annotations

from ioukit.datasets.shapes import CLASSES
from ioukit.torch.detector.model import Config

__all__ = ["config"]

ANCHORS = (
    ((8.0, 8.0), (12.0, 12.0), (16.0, 16.0)), ((20.0, 20.0), (26.0, 26.0), (32.0, 32.0)),
    ((40.0, 40.0), (48.0, 48.0), (64.0, 64.0)),
)  # fmt: skip


def config(head: str = "anchor") -> Config:
    """The config of the detector, for images of 64 x 64 pixels."""
    return Config(
        num_classes=len(CLASSES), head=head, image_size=(64, 64), width=0.125, depth=0.1, anchors=ANCHORS,  # type: ignore[arg-type]
        names=CLASSES,
    )  # fmt: skip
