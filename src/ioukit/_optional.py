"""Imports of packages that only an extra installs, with an error that names the extra."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def import_extra(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """The imported module, or an error that says how to install it.

    Args:
        module: The absolute name of the module.
        extra: The extra of ioukit that installs it.
        needed_by: The public function or module that needs it.

    Raises:
        ModuleNotFoundError: If the package is not installed. A package that is installed and broken raises its own
            error.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{needed_by} needs {package}: pip install 'ioukit[{extra}]'", name=package) from None
