"""The docstrings of the overlap functions, completed from the table of measures: one text for all of them."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

import numpy as np

from ioukit.overlap.variants import VARIANTS, Variant

if TYPE_CHECKING:
    from ioukit.regions.boxes import HostBoxes
    from ioukit.typing import FloatArray, Tensor

_Function = TypeVar("_Function", bound=Callable[..., Any])
Options = ParamSpec("Options")


class OverlapFunction(Protocol[Options]):
    """A function of two sets of boxes, for type checkers: NumPy in, NumPy out; tensors in, tensors out."""

    @overload
    def __call__(
        self, boxes1: HostBoxes, boxes2: HostBoxes, *args: Options.args, **options: Options.kwargs
    ) -> FloatArray: ...
    @overload
    def __call__(self, boxes1: Tensor, boxes2: Tensor, *args: Options.args, **options: Options.kwargs) -> Tensor: ...
    def __call__(self, boxes1: Any, boxes2: Any, *args: Options.args, **options: Options.kwargs) -> Any:
        """The overlaps."""


_HELP = """{summary}

{formula}

Args:
{boxes1}
{boxes2}
{options}    format: The format of plain arrays: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner with the
        smallest x and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` have their own format, which this
        must not contradict.
    check: Whether plain arrays are checked. If False, boxes that are not valid give values without meaning. The check
        waits for a device to finish. The arrays of a traced program (``jax.jit``, ``torch.compile``) have no values
        yet and are never checked.
    threads: How many threads native code may use; by default one per core. It does not change a bit of the result.
{out}
Returns:
    {shape}, {range}.
{degenerate}
    The result is from the library and on the device of the boxes. Native code computes NumPy arrays, and tensors on the
    CPU that need no gradient, in shared memory. All other arrays are computed by the same formulas in their own
    library, where the gradient is finite everywhere.{gradient}
    Float32 and float64 keep their dtype, and promote as in the library. Float16 and bfloat16 are computed in float32
    and rounded. Integers, bools and lists are computed in float64 (in JAX only if it is enabled). Pairs whose areas do
    not fit in float32 are computed in float64, so a value overflows only if it does not fit in its own dtype; outside
    native code, squares of float32 overflow beyond 2**60.

Raises:
    ValueError: If a shape does not fit; if formats or units contradict each other; or if a box is not finite, beyond
        2**126 in float32 or 2**500 in float64, inverted, or of negative size. The message names the first such row.
    TypeError: If an argument has the wrong type, or the arrays come from different libraries.

Examples:
    >>> from ioukit import {function}
    >>> {call}
    {result}

Reference: {reference}.
"""

_CORNERS = (
    "Or two sets of `RotatedBoxes` or of `Polygons`, without ``format``: C is then the convex hull of both, and the "
    "values are float64."
)
_REGIONS = (
    "Or two sets of regions of another kind, such as `RotatedBoxes`, `Polygons` or `Masks`, without ``format``; their "
    "values are float64."
)

_OUT = """\
    out: An array for the result, in place of a new one: C-contiguous, with the shape and dtype of the result. Only
        native code can use it. For a large result, new memory costs more time than the arithmetic.
    max_bytes: How much memory the temporary arrays may use outside native code. A larger result is computed in blocks
        of rows, at least one row each, which are joined at the end; a gradient computes each block again. None means
        no limit. The boxes and the result do not count. Native code needs no temporary arrays.
"""


def documented(function: Callable[Concatenate[Any, Any, Options], Any]) -> OverlapFunction[Options]:
    """Completes the one-line docstring of a function ``pairwise_<name>`` or ``elementwise_<name>``."""
    family, _, name = function.__name__.partition("_")
    (row,) = (row for row in VARIANTS if row.name == name)
    function.__doc__ = _pairwise_help(function, row) if family == "pairwise" else _elementwise_help(function, row)
    return function  # type: ignore[return-value]


def named(function: _Function, name: str, summary: str) -> _Function:
    """A function that was made for a measure, with a name and a first line as if it had been written by hand."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = summary
    # Code of its own: ``torch.compile`` counts its programs per code, and a traceback shows this name.
    function.__code__ = function.__code__.replace(co_name=name)
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


def _help(function: Callable[..., Any], row: Variant, *, shape1: str, shape2: str, **parts: str) -> str:
    kinds = _REGIONS if row.of_regions else _CORNERS if row.of_corners else ""
    boxes1 = (
        f"boxes1: `Boxes`, nested lists or an array of shape {shape1}, in pixels or relative to the image. Arrays may "
        f"be of NumPy, PyTorch, JAX, CuPy or another library of the array API. {kinds}"
    )
    boxes2 = f"boxes2: The same, in the same unit and from the same library, of shape {shape2}."
    return _HELP.format(
        function=function.__name__,
        summary=function.__doc__,
        formula=textwrap.fill(f"``{row.formula}``", 116),
        boxes1=_wrapped(boxes1, "        "),
        boxes2=_wrapped(boxes2, "        "),
        options="".join(_wrapped(f"{name}: {text}", "        ") + "\n" for name, text in row.options.items()),
        range=row.range,
        degenerate=_wrapped(row.degenerate),
        gradient=f"\n{_wrapped('Gradient: ' + row.gradient)}",
        reference=row.reference,
        **parts,
    )


def _wrapped(text: str, indent: str = "    ") -> str:
    return textwrap.fill(text, 116, initial_indent="    ", subsequent_indent=indent)
