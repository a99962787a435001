"""Attributes that are computed when someone looks at them."""

from __future__ import annotations

from typing import Any, ClassVar, Protocol

__all__ = ["OnDemand", "Source"]


class Source(Protocol):
    """What computes attributes."""

    def made(self, name: str) -> dict[str, Any]:
        """The value of an attribute, and of those that are made with it."""


class OnDemand:
    """A class some of whose attributes wait in a source; those that are set stand in its place.

    Copies and pickles have all attributes and no source, so that the original package can read them.
    """

    _waiting: ClassVar[frozenset[str]]
    """The names of such attributes."""
    _source: Any = None
    """A `Source`, or ``None``."""

    def __getattr__(self, name: str) -> Any:
        """Make an attribute when it is asked for."""
        if name not in self._waiting or self._source is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        for each, value in self._source.made(name).items():
            vars(self).setdefault(each, value)
        return vars(self)[name]

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What copies and pickles keep, also for a subclass whose ``__getstate__`` looks at ``vars``."""
        OnDemand.__getstate__(self)
        return super().__reduce_ex__(protocol)

    def __getstate__(self) -> dict[str, Any]:
        """All attributes, as the original class has them; the source has nothing left to make."""
        for name in self._waiting:
            getattr(self, name, None)
        vars(self).pop("_source", None)
        return dict(vars(self))

    def _leave_to(self, source: Any) -> None:
        """Let all attributes that can wait be made by a source."""
        for name in self._waiting & vars(self).keys():
            delattr(self, name)
        self._source = source
