"""Imports what only an extra installs, where it is needed, and names the extra where it is missing."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["import_extra"]


def import_extra(module: str, *, extra: str, needed_by: str) -> ModuleType:
    """The module, or an error that says how to install it.

    Args:
        module: Its absolute name.
        extra: The extra of ioukit that installs it.
        needed_by: The public function or module that cannot do without.

    Raises:
        ModuleNotFoundError: If its package is not installed. One that is there and broken shows its own error.
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name != package:
            raise
        raise ModuleNotFoundError(f"{needed_by} needs {package}: pip install 'ioukit[{extra}]'", name=package) from None
