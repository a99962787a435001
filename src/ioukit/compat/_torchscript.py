"""What ``torch.jit.script`` says to functions and classes that it cannot compile."""

from __future__ import annotations

from functools import partial
from typing import Any, NoReturn, TypeVar

__all__ = ["not_for_torchscript"]

Named = TypeVar("Named", bound=Any)


def not_for_torchscript(named: Named) -> Named:
    """The same function or class, for which ``torch.jit.script`` raises TypeError with the reason.

    TorchScript compiles the source of a function. Ours choose their code by the array that they get, and most of it is
    native. Without this, the error would be about the first line that TorchScript does not know. PyTorch calls
    ``__prepare_scriptable__`` before it compiles; calls of the function are not touched.
    """
    named.__prepare_scriptable__ = partial(_refuse, f"{named.__module__}.{named.__qualname__}")
    return named


def _refuse(name: str) -> NoReturn:
    raise TypeError(
        f"{name} cannot be compiled by TorchScript (torch.jit.script), because it chooses its code by "
        "the array that it gets: use torch.compile, or keep the call outside of the scripted part"
    )
