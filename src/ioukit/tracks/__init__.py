"""Does the tracker keep its objects? HOTA, CLEAR and Identity of objects that have track ids.

The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
