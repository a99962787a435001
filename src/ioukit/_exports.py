"""Public names of a package that are imported when they are first asked for.

A package's ``__init__.pyi`` says what its names are and where they are defined, for type checkers and for this; its
``__init__.py`` hands them on. So `import ioukit` is nearly free, and who evaluates pays for no polygon.
"""

from __future__ import annotations

import ast
import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["attach"]


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    No public name may be that of a module beside the ``__init__.py``: whoever imports the module first would find it in
    the place of the name.

    Args:
        package: Its ``__name__``.
        file: Its ``__file__``, beside which the stub stands: only ``from module import name, ...`` counts there.
    """
    with open(f"{file.removesuffix('c')}i", encoding="utf-8") as stub:
        statements = ast.parse(stub.read()).body
    homes = {
        alias.asname or alias.name: statement.module
        for statement in statements
        if isinstance(statement, ast.ImportFrom) and statement.module
        for alias in statement.names
    }

    def getattribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    return getattribute, lambda: sorted({*vars(sys.modules[package]), *homes}), sorted(homes)
