"""Detections that are read piece by piece: one file per kind of source."""
