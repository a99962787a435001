"""What is registered for each kind of region, such as the functions that measure its overlaps."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from ioukit._register import Register
from ioukit.regions.boxes import Boxes
from ioukit.regions.regions import Regions

Kind: TypeAlias = "type[Regions] | str"
"""A subclass of `Regions`, or its name ``"package.module:Class"``, which is not imported."""

Entry = TypeVar("Entry")


class ByKind(Register[Entry]):
    """An entry for each kind of region but upright boxes, by the name ``"package.module:Class"`` of the kind."""

    def register(self, kind: Kind, entry: Entry | str) -> None:
        """Registers the entry for a kind, in place of an earlier one."""
        if not isinstance(kind, str):
            if not (isinstance(kind, type) and issubclass(kind, Regions)):
                raise TypeError(f"kind must be a class derived from ioukit.regions.Regions, got {kind!r}")
            if issubclass(kind, Boxes):
                raise TypeError(f"upright boxes are built in, register another kind than {kind.__name__}")
        self[kind if isinstance(kind, str) else _name_of(kind)] = entry

    def kind_of(self, regions: Regions) -> str | None:
        """The registered kind of a set of regions: its class or the nearest base class; None if there is none."""
        return next((name for name in map(_name_of, type(regions).__mro__) if name in self), None)


def _name_of(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
