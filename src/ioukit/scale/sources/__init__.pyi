"""Detections that are read piece by piece."""

from ioukit.scale.sources.opening import open_detections
from ioukit.scale.sources.source import DetectionSource, Piece

__all__ = ["DetectionSource", "Piece", "open_detections"]
