"""Code that needs PyTorch: losses as modules and with native code, and metrics of training loops.

Import it as ``from ioukit.torch import losses``. The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach
from ioukit._optional import import_extra

import_extra("torch", extra="torch", needed_by="ioukit.torch")

from ioukit.torch import losses  # noqa: E402 - the line above raises a clear error if PyTorch is missing

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["losses"]
