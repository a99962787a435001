"""Code that needs PyTorch: losses as modules and with native code. Import it as ``from ioukit.torch import losses``."""

from ioukit._optional import import_extra

import_extra("torch", extra="torch", needed_by="ioukit.torch")

from ioukit.torch import losses  # noqa: E402  # the line above raises a clear error if PyTorch is missing

__all__ = ["losses"]
