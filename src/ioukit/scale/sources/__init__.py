"""Detections that are read piece by piece: one file per kind of source.

The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
