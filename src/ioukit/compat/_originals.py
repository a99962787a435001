"""Which methods and functions of the drop-in are still those that ioukit defined, and under which name classes go.

Programs replace methods in place (``COCOeval.computeIoU = f``, ``unittest.mock.patch.object``), in a subclass, or on
one object. The engine calls none of them, so it may evaluate only where all are original. A class that was patched
cannot be asked what it was: its methods are kept here when it is defined.

Owns what was kept. Does not own which functions a step needs: the classes list these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["functions_are_original", "keep", "methods_are_original", "name_classes"]

_ACCESS = ("__getattribute__", "__getattr__", "__setattr__", "__delattr__")
"""Methods by which a subclass can see or change every other attribute."""

_KEPT: dict[tuple[str, str], list[Any]] = {}
"""By the names of a class and of an attribute: several objects if the module was reloaded."""

_CLASSES: list[tuple[type, str]] = []
"""The classes, and the modules that define them."""

_PREFIX = [""]
"""What the names of their modules lack at present."""


def keep(*classes: type) -> None:
    """Keep the methods of classes that were just defined."""
    for each in classes:
        for name in {*_ACCESS, *vars(each)}:
            _KEPT.setdefault((each.__name__, name), []).append(getattr(each, name, None))
        _CLASSES.append((each, each.__module__))
        _name(each, each.__module__)


def methods_are_original(thing: Any, kind: str, names: Iterable[str], attributes: Iterable[str] = ()) -> bool:
    """Whether methods of an object are those of a class of ioukit.

    Args:
        thing: The object.
        kind: The name of the class.
        names: Of the methods.
        attributes: Names that the object alone may have, and no class.
    """
    own, held = type(thing), getattr(thing, "__dict__", {})
    return (
        all(name not in held for name in names)
        and all(_is_one_of(getattr(own, name, None), _KEPT.get((kind, name), ())) for name in (*names, *_ACCESS))
        and not any(hasattr(own, name) for name in attributes)
    )


def _is_one_of(found: Any, kept: Iterable[Any]) -> bool:
    return any(found is one for one in kept)


def functions_are_original(module: Any, originals: Any, names: Iterable[str]) -> bool:
    """Whether functions of a module, or of what stands in its place, are those that it had at its import."""
    return all(getattr(module, name, None) is getattr(originals, name) for name in names)


def name_classes(*, as_theirs: bool) -> None:
    """Let all classes, also those of later imports, name as their module that of the original package, or ioukit's.

    Pickles then name ``pycocotools.cocoeval``, and the original package can read them.
    """
    _PREFIX[0] = "ioukit.compat." if as_theirs else ""
    for each, module in _CLASSES:
        _name(each, module)


def _name(each: type, module: str) -> None:
    each.__module__ = module.removeprefix(_PREFIX[0])
