"""Code that needs PyTorch: losses as modules and with native code, and metrics of training loops.

Import it as ``from ioukit.torch import losses``. The public names are in the stub ``__init__.pyi``.
"""

from ioukit._exports import attach
from ioukit._optional import import_extra

import_extra("torch", extra="torch", needed_by="ioukit.torch")

# The line above raises a clear error if PyTorch is missing. A program that was saved may hold the operators.
from ioukit.postprocess import _operators  # noqa: E402, F401
from ioukit.torch import losses  # noqa: E402

__getattr__, __dir__, __all__ = attach(__name__, __file__)
__all__ += ["losses"]
