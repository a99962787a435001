"""Which runs were there, and may this model replace that one?

The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
