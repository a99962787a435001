"""How do I read it? Ground truth and detections as columns, from files, Python records or arrays.

The names are those of the stub beside this file.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
