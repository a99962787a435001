"""The rules of an evaluation, as data: one file per protocol.

The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach

# A protocol's default measures are COCO's: its rule must be known before the first protocol is made.
from ioukit.evaluation.protocols import coco as _coco  # noqa: F401

__getattr__, __dir__, __all__ = attach(__name__, __file__)
