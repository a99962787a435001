"""Public names of a package that are imported when they are first used.

The stub ``__init__.pyi`` of a package says which names it has and where they are defined, for type checkers and for
this module. Its ``__init__.py`` calls `attach`. So `import ioukit` costs almost nothing, and a program that evaluates
boxes does not load polygons.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


_TOOLS = {
    "map": ["evaluate"], "ap": ["evaluate"], "box_iou": ["pairwise_iou"], "iou": ["pairwise_iou"],
    "bbox_iou": ["pairwise_iou"], "bbox_overlaps": ["pairwise_iou"], "batched_nms": ["nms"],
    "non_max_suppression": ["nms"], "cocoeval": ["compat.pycocotools.cocoeval.COCOeval"],
}  # fmt: skip
"""The names of other packages, in lower case, and what they are here."""

_WRITTEN = {"compare": "a.compare(b) of two evaluations, or ioukit.statistics.compare"}
"""Functions that belong to a result."""


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
        homes = _homes(stub.read())

    def getattribute(name: str) -> Any:
        if name not in homes:
            where = "" if name.startswith("_") else _meant(package, file, name, homes)
            # ``from package import name`` asks here first, and would replace the message of an AttributeError.
            if where and sys._getframe(1).f_globals.get("__name__") == "importlib._bootstrap":
                from importlib.util import find_spec  # noqa: PLC0415 - only for messages

                if find_spec(f"{package}.{name}") is None:
                    raise ImportError(f"cannot import name {name!r} from {package!r}{where}", name=name)
            raise AttributeError(f"module {package!r} has no attribute {name!r}{where}")
        if homes[name] == package:
            return _module(package, name)
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # the next access does not come here
        return value

    names = sorted(name for name, home in homes.items() if home != package)
    return (
        getattribute,
        lambda: sorted({*homes, *(one for one in vars(sys.modules[package]) if one[:2] == "__")}),
        names,
    )


def _meant(package: str, file: str, name: str, homes: dict[str, str]) -> str:
    """The end of the message about a name that there is not: its package, or similar names."""
    from ioukit._near_names import did_you_mean, near_names  # noqa: PLC0415 - only for messages

    if name.casefold() in _WRITTEN:
        return f"; write {_WRITTEN[name.casefold()]}"
    for room in (room for room, home in homes.items() if home == package):
        stub = f"{os.path.dirname(file)}/{room}/__init__.pyi"
        if os.path.exists(stub):
            with open(stub, encoding="utf-8") as text:
                if name in _homes(text.read()):
                    return f"; it is {package}.{room}.{name}"
    return did_you_mean(_TOOLS.get(name.casefold()) or near_names(name, homes))


def _homes(stub: str) -> dict[str, str]:
    """The module of each name that a stub imports, as the formatter writes it: to parse Python takes ten times as long.

    A statement is a line, or it has its names between brackets; tests compare the names with those of a parser.
    """
    homes = {}
    for statement in f"\n{stub}".split("\nfrom ")[1:]:
        module, _, names = statement.partition(" import ")
        first, _, rest = names.partition("\n")
        listed = rest.partition(")")[0] if first == "(" else first
        for name in listed.split(","):
            if name.strip():
                homes[name.split()[-1]] = module
    return homes


def _module(package: str, name: str) -> Any:
    try:
        return importlib.import_module(f"{package}.{name}")
    except ModuleNotFoundError as error:  # it needs an extra; `hasattr` and `help` expect this kind of error
        raise AttributeError(f"module {package!r} has no attribute {name!r}: {error}") from error
