"""Writes the help of the overlap functions from the table, so that one text cannot drift from thirty."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ioukit.overlap.variants import VARIANTS, Variant

__all__ = ["documented"]

_Function = TypeVar("_Function", bound=Callable[..., Any])

_HELP = """{summary}

{formula}

Args:
    boxes1: `Boxes`, nested lists or an array of shape {shape1}, in pixels or relative to the image. Arrays may be of
        NumPy, PyTorch, JAX, CuPy or another library of the array API.
    boxes2: The same, in the same unit and from the same library, of shape
        {shape2}.
{options}    format: What plain arrays hold: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner of least x
        and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` know their own, which it may not contradict.
    check: Whether plain arrays are checked. Without it, boxes that the check refuses give values without meaning. The
        check waits for a device to finish; the arrays of a traced program (``jax.jit``, ``torch.compile``) have no
        values yet and are never checked.
    threads: How many threads native code may use, by default as many as there are cores. It changes no bit of the
        result.
{out}
Returns:
    {shape}, {range}.
{degenerate}
    The array is of the library and on the device of the boxes. NumPy arrays, and tensors on the CPU that need no
    gradient, are computed by native code in shared memory; all others by the same formulas in their own library, where
    the gradient is finite everywhere.{gradient}
    Float32 and float64 give their own dtype and promote as in the library, float16 and bfloat16 are computed in
    float32 and rounded; integers, bools and lists of numbers compute in float64 (JAX: if it is enabled). Pairs whose
    areas float32 cannot hold are computed in float64, so that nothing overflows but what is too large for its dtype;
    outside native code, squares of float32 overflow beyond 2**60.

Raises:
    ValueError: If a shape does not fit, formats or units contradict each other, or a box is not finite, beyond 2**126
        in float32 or 2**500 in float64, inverted, or of negative size; the message names the first such row.
    TypeError: If an argument is of the wrong kind, or the arrays come from different libraries.

Examples:
    >>> from ioukit import {function}
    >>> {call}
    {result}

Reference: {reference}.
"""

_OUT = """    out: Where the result goes, instead of a new array: C-contiguous, of its shape and dtype, for native code
        only. Fresh memory for a large result costs more than the arithmetic.
    max_bytes: How much the temporary arrays outside native code may take: beyond it, the result is computed in blocks
        of rows, at least one row each, which are joined at the end; a gradient computes each block again. None: no
        bound. The boxes and the result itself do not count, and native code needs no temporaries.
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
        call=f"{function.__name__}([[0, 0, 2, 2]], [[0, 0, 1, 1], [2, 2, 4, 4]]{_options(row)})",
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
        call=f"{function.__name__}([0, 0, 2, 2], [[0, 0, 1, 1], [2, 2, 4, 4]]{_options(row)})",
        result=repr(np.array(row.example)),
    )


def _options(row: Variant) -> str:
    return "".join(f", {name}={value!r}" for name, value in row.option_values.items())


def _help(function: Callable[..., Any], row: Variant, **parts: str) -> str:
    return _HELP.format(
        function=function.__name__,
        summary=function.__doc__,
        formula=textwrap.fill(f"``{row.formula}``", 116),
        options="".join(_wrapped(f"{name}: {text}", "        ") + "\n" for name, text in row.options.items()),
        range=row.range,
        degenerate=_wrapped(row.degenerate),
        gradient=f"\n{_wrapped('Gradient: ' + row.gradient)}",
        reference=row.reference,
        **parts,
    )


def _wrapped(text: str, indent: str = "    ") -> str:
    return textwrap.fill(text, 116, initial_indent="    ", subsequent_indent=indent)
