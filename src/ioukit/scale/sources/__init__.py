"""Detections that are read piece by piece: pieces of text, of tables with types, and in memory."""
