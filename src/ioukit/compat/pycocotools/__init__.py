"""The names and signatures of pycocotools 2.0.11: ``from ioukit.compat.pycocotools import mask``."""

from ioukit.compat.pycocotools import mask

__all__ = ["mask"]
