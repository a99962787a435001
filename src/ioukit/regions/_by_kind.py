"""What is registered for each kind of region, such as the functions that measure its overlaps."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, cast

from ioukit.regions.boxes import Boxes
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["ByKind", "Kind"]

Kind: TypeAlias = "type[Regions] | str"
"""A subclass of `Regions`, or its name ``"package.module:Class"``."""

Value = TypeVar("Value")


class ByKind(Generic[Value]):
    """A value for each kind of region but upright boxes, found by the class of a set of regions.

    A kind or a value may be given by its name. A named kind is not imported here, and a named value only when it is
    asked for, so a program that measures boxes does not load polygons.

    Args:
        check: Raises an error for a value that does not fit.
    """

    def __init__(self, check: Callable[[Any], None]) -> None:
        self._check = check
        self._values: dict[Kind, Value | str] = {}

    def register(self, kind: Kind, value: Value | str) -> None:
        """Registers the value for a kind, in place of an earlier one."""
        if not isinstance(kind, str):
            if not (isinstance(kind, type) and issubclass(kind, Regions)):
                raise TypeError(f"kind must be a class derived from ioukit.regions.Regions, got {kind!r}")
            if issubclass(kind, Boxes):
                raise TypeError(f"upright boxes are built in, register another kind than {kind.__name__}")
        if not isinstance(value, str):
            self._check(value)
        self._values[kind] = value

    def kind_of(self, regions: Regions) -> Kind | None:
        """The registered kind of a set of regions: its class or the nearest base class; None if there is none."""
        for base in type(regions).__mro__:
            for kind in (base, f"{base.__module__}:{base.__qualname__}"):
                if kind in self._values:
                    return kind
        return None

    def value(self, kind: Kind) -> Value:
        """What is registered for a registered kind."""
        found = self._values[kind]
        if isinstance(found, str):
            module, _, name = found.partition(":")
            imported: Any = importlib.import_module(module)
            found = cast("Value", getattr(imported, name) if name else imported)
            self._check(found)
            self._values[kind] = found
        return found
