"""What if it does not fit? Evaluation of data larger than memory, and over many machines.

The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
