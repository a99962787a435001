"""Public names of a package that are imported when they are first used.

The stub ``__init__.pyi`` of a package says which names it has and where they are defined, for type checkers and for
this module. Its ``__init__.py`` calls `attach`. So `import ioukit` costs almost nothing, and a program that evaluates
boxes does not load polygons.
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
    """The ``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    A public name must not be the name of a module in the package: a program that imports that module would find the
    module in place of the name.

    Args:
        package: The ``__name__`` of the package.
        file: Its ``__file__``; the stub is in the same folder. Only its lines ``from module import name, ...`` count.
            Names from the package itself are its modules: they become attributes, and are not in ``__all__``.
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
        if homes[name] == package:
            return _module(package, name)
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    names = sorted(name for name, home in homes.items() if home != package)
    return getattribute, lambda: sorted({*vars(sys.modules[package]), *homes}), names


def _module(package: str, name: str) -> Any:
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:  # it needs an extra; `hasattr` and `help` expect this kind of error
        raise AttributeError(f"module {package!r} has no attribute {name!r}: {error}") from error
