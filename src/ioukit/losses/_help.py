"""Completes the help of the losses, whose common arguments are said once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["documented"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_FIRST = """
    Args:
        pred: Predicted boxes, (..., 4), of NumPy, PyTorch, JAX or another library of the array API; also `Boxes` or
            lists.
        target: What they should be: of the same shape and library, in the same unit. It may have a gradient too."""

_COMMON = {
    "format": """
        format: What the four numbers are: ``"xyxy"``, ``"xywh"`` (corner and size) or ``"cxcywh"``, of both.""",
    "reduction": """
        reduction: ``"none"``: (...), a loss per pair; ``"sum"``; ``"mean"``: the sum of the weighted losses divided by
            the sum of the weights, which is the number of pairs where there are none. Of no pairs it is 0, with a
            gradient.""",
    "weight": """
        weight: A factor per loss, (...) or what broadcasts to that.""",
    "check": """
        check: Whether to refuse boxes that are inverted or not finite, naming the first. It waits for a device to
            finish.""",
    "compat": """
        compat: ``"torchvision"``, ``"mmdet"`` or ``"ultralytics"``: with the epsilons, gates and clamps of that library
            (docs/losses.md), so that a training that began there goes on with the same numbers.""",
}

_LAST = """

    Returns:
        Losses of float32 or float64, whichever pred and target promote to; half precision and integers compute in, and
        give, float32 (integers and lists float64 where the library has it).
        Losses and gradients are finite for all finite boxes with coordinates up to 2**60 and sides that are 0 or at
        least 2**-60: an inverted side of a predicted box counts as a negative extent.

    Raises:
        ValueError: If shapes do not fit, or an option is not known.
        TypeError: If an argument is of the wrong kind, or the arrays come from different libraries.
"""


def documented(function: _Function) -> _Function:
    """Puts the common arguments into a docstring, whose own options stand under ``Options:``."""
    text, _, rest = (function.__doc__ or "").partition("    Options:\n")
    options, _, tail = rest.partition("\n\n")
    parameters = function.__kwdefaults__ or {}
    common = "".join(said for name, said in _COMMON.items() if name in parameters)
    own = f"\n{options.rstrip()}" if options.strip() else ""
    function.__doc__ = f"{text.rstrip()}\n{_FIRST}{own}{common}{_LAST}" + (
        f"\n{tail.rstrip()}\n    " if tail else "    "
    )
    return function
