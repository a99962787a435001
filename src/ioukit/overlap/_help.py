"""Writes the help of the overlap functions from the table, so that one text cannot drift from fourteen."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ioukit.overlap.variants import VARIANTS, Variant

__all__ = ["documented"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_HELP = """{summary}

``{formula}``

Args:
    boxes1: `Boxes` or an array-like of shape {shape1}, in pixels or relative to the image.
    boxes2: The same of shape {shape2}, in the same unit.
{options}    format: What plain arrays hold: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner of least x
        and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` know their own, which it may not contradict.
    check: Whether plain arrays are checked. Without it, boxes that the check refuses give values without meaning.
    threads: How many threads may work, by default as many as there are cores. It changes no bit of the result.
{out}
Returns:
    {shape}, {range}.
    {degenerate}
    Float32 and float64 give their own dtype and promote as in NumPy, float16 is computed in float32 and rounded;
    integers, bools and lists of numbers compute in float64. Pairs whose areas float32 cannot hold are computed in
    float64, so that nothing overflows but an intersection too large for its dtype.

Raises:
    ValueError: If a shape does not fit, formats or units contradict each other, or a box is not finite, beyond 2**126
        in float32 or 2**500 in float64, inverted, or of negative size; the message names the first such row.
    TypeError: If an argument is of the wrong kind.

Examples:
    >>> from ioukit import {function}
    >>> {call}
    {result}

Reference: {reference}.
"""

_OUT = """    out: Where the result goes, instead of a new array: C-contiguous, of its shape and dtype. Fresh memory for
        a large result costs more than the arithmetic.
"""


def documented(function: _Function) -> _Function:
    """Completes the docstring, a one-line summary, of ``pairwise_<name>`` or ``elementwise_<name>``."""
    family, _, name = function.__name__.partition("_")
    (row,) = (row for row in VARIANTS if row.name == name)
    function.__doc__ = _pairwise_help(function, row) if family == "pairwise" else _elementwise_help(function, row)
    return function


def _pairwise_help(function: Callable[..., Any], row: Variant) -> str:
    return _help(
        function,
        row,
        shape1="(..., N, 4)",
        shape2="(..., M, 4); leading dimensions are batches and broadcast",
        shape="(..., N, M)",
        out=_OUT,
        call=f"{function.__name__}([[0, 0, 2, 2]], [[0, 0, 1, 1], [2, 2, 4, 4]])",
        result=repr(np.array([row.example])),
    )


def _elementwise_help(function: Callable[..., Any], row: Variant) -> str:
    return _help(
        function,
        row,
        shape1="(..., 4)",
        shape2="(..., 4); the leading dimensions of both broadcast",
        shape="(...)",
        out="",
        call=f"{function.__name__}([0, 0, 2, 2], [[0, 0, 1, 1], [2, 2, 4, 4]])",
        result=repr(np.array(row.example)),
    )


def _help(function: Callable[..., Any], row: Variant, **parts: str) -> str:
    return _HELP.format(
        function=function.__name__,
        summary=function.__doc__,
        formula=row.formula,
        options="".join(textwrap.indent(f"{line}\n", "    ") for line in row.options),
        range=row.range,
        degenerate=row.degenerate,
        reference=row.reference,
        **parts,
    )
