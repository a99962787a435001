"""Completes the docstrings of the losses with the arguments that all of them share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

_WEIGHT = """
        weight: A factor per loss: (...), or an array that broadcasts to it."""

_AVG_FACTOR = """
        avg_factor: What ``reduction="mean"`` divides by, instead of the sum of the weights: a number or an array
            without dimensions, such as the number of objects in the batches of all processes. 0 counts as 1."""

_UPRIGHT = """
    Args:
        pred: (..., 4) predicted boxes, xyxy by default: an array of NumPy, PyTorch, JAX or another array API library,
            `Boxes`, or lists.
        target: (..., 4) the boxes to predict, of the same library and in the same unit; a shape that broadcasts to that
            of ``pred``. The gradient reaches them too."""

_UPRIGHT_OPTIONS = {
    "format": """
        format: The format of both: ``"xyxy"`` (the default), ``"xywh"`` (corner and size) or ``"cxcywh"``.""",
    "reduction": """
        reduction: ``"none"`` (the default): (...), one loss per pair. ``"sum"``. Or ``"mean"``: the sum of the weighted
            losses divided by the sum of the weights, which is the number of pairs without ``weight``. The mean of no
            pairs is 0 and has a gradient.""",
    "weight": _WEIGHT,
    "avg_factor": _AVG_FACTOR,
    "check": """
        check: Whether boxes that are inverted or not finite are errors; the message names the first. The check waits
            for a device to finish.""",
    "compat": """
        compat: ``"torchvision"``, ``"mmdet"`` or ``"ultralytics"``: compute with the epsilons, gates and clamps of that
            library (docs/losses.md), so that a training that began there continues with the same numbers.""",
}

_UPRIGHT_RESULT = """

    Returns:
        Losses in float32 or float64, whichever the dtypes of ``pred`` and ``target`` promote to. Half precision becomes
        float32, lists become float64. Integers take the dtype of the other boxes; two sets of integers become float64.
        The loss of a pair with a NaN is NaN. Pairs of weight 0 are left out, whatever they hold.
        Losses and gradients are finite for all finite boxes with coordinates up to 2**60 and sides that are 0 or at
        least 2**-60. An inverted side of a predicted box counts as a negative length.

    Raises:
        ValueError: If shapes do not fit, or an option is not known.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.
"""

_ROTATED = """
    Args:
        pred: (..., 5) predicted boxes: centre, width, height and angle. An array of NumPy, PyTorch, JAX or another
            array API library, lists, or `RotatedBoxes`, which have their own unit and sense of angles.
        target: (..., 5) the boxes to predict, of the same library; a shape that broadcasts to that of ``pred``.
        unit: The unit of the angles: ``"radians"`` (the default) or ``"degrees"``.
        sense: The direction of a positive angle on a screen, where y points down: ``"clockwise"`` (the default; mmcv,
            Ultralytics) or ``"counterclockwise"`` (Detectron2)."""

_ROTATED_OPTIONS = {
    "reduction": """
        reduction: ``"none"`` (the default), ``"sum"`` or ``"mean"``, which divides by the sum of the weights. The mean
            of no pairs is 0.""",
    "weight": _WEIGHT,
    "avg_factor": _AVG_FACTOR,
}

_ROTATED_RESULT = """

    Returns:
        Losses; they and their gradients are finite for all finite boxes. A box with a side of 0 or below has no area:
        its loss is that of boxes without an intersection, and has no gradient. Half precision becomes float32.

    Raises:
        ValueError: If a shape does not fit, or an option is not known.
        TypeError: If the arrays come from different libraries.
"""

_LOGITS = """
    Args:
        pred: (...) logits, before the sigmoid, one per class and place: an array of NumPy, PyTorch, JAX or another
            array API library, or lists.
        target: What the sigmoid shall be, within [0, 1]: integers, bools or floats of the same library, in a shape that
            broadcasts to that of ``pred``. It gets no gradient."""

_LOGITS_RESULT = """

    Returns:
        Losses in the dtype of ``pred``; half precision becomes float32. They and their gradients are finite for all
        finite logits. The loss of a NaN is NaN.

    Raises:
        ValueError: If a shape does not fit, or an option is not known.
        TypeError: If the arrays come from different libraries.
"""


def documented(function: _Function) -> _Function:
    """Inserts the shared arguments of upright boxes into a docstring, whose own options stand under ``Options:``."""
    return _completed(function, _UPRIGHT, _UPRIGHT_OPTIONS, _UPRIGHT_RESULT)


def documented_logits(function: _Function) -> _Function:
    """Inserts the shared arguments of losses of logits into a docstring, whose own options stand under ``Options:``."""
    return _completed(function, _LOGITS, _ROTATED_OPTIONS, _LOGITS_RESULT)


def documented_rotated(function: _Function) -> _Function:
    """Inserts the shared arguments of rotated boxes into a docstring, whose own options stand under ``Options:``."""
    return _completed(function, _ROTATED, _ROTATED_OPTIONS, _ROTATED_RESULT)


def _completed(function: _Function, first: str, shared: dict[str, str], result: str) -> _Function:
    text, _, rest = (function.__doc__ or "").partition("    Options:\n")
    options, _, tail = rest.partition("\n\n")
    parameters = function.__kwdefaults__ or {}
    own = f"\n{options.rstrip()}" if options.strip() else ""
    common = "".join(line for name, line in shared.items() if name in parameters)
    if not rest:  # without options of its own, a docstring may still end with a reference
        text, mark, tail = text.partition("    Reference:")
        tail = mark + tail
    end = f"\n{tail.rstrip()}\n    " if tail.strip() else "    "
    function.__doc__ = f"{text.rstrip()}\n{first}{own}{common}{result}{end}"
    return function
