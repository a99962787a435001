"""The formulas of ioukit as few kernels: `compiled`.

On a GPU, PyTorch runs one kernel per operation: a table of CIoU takes about sixty, and each writes a table of its own
to memory. ``torch.compile`` makes few kernels of them, on NVIDIA's GPUs in Triton. They are generated from the formulas
of `ioukit.overlap._array_formulas`, so no formula is written a second time for GPUs.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from ioukit.overlap import elementwise, pairwise
from ioukit.postprocess import nms
from ioukit.postprocess._array_api import compiled_kernels, survivors
from ioukit.postprocess._inputs import device_set
from ioukit.postprocess._options import limits_of, rule_of
from ioukit.torch import losses

if TYPE_CHECKING:
    from ioukit.typing import BoxFormat


_Function = TypeVar("_Function", bound=Callable[..., Any])

# The compiler otherwise fuses a multiplication and an addition, divides approximately and flushes small numbers to 0.
# Then overlaps would differ by a few roundings, and `nms` would keep other boxes than `pairwise_iou` tells.
_EXACT = {
    "emulate_precision_casts": True,
    "eager_numerics.division_rounding": True,
    "eager_numerics.disable_ftz": True,
}


def compiled(function: _Function) -> _Function:
    """A function that computes what ``function`` computes, with ``torch.compile``.

    The first call of each dtype and number of dimensions compiles, which takes from seconds to a minute. Other sizes do
    not compile again, except for special ones: none, one, and as many boxes in both sets. Values and gradients are
    those of the formulas in PyTorch, within a few roundings. `compiled` asks the compiler for the roundings of the
    plain formulas; which of them it can keep depends on the release of PyTorch. The temporary tables of the formulas
    are not written to memory.

    This is meant for GPUs. On the CPU, native code is faster for most of these functions, and `compiled` does not use
    it. Inside a program that you compile yourself, use the functions as they are: ``torch.compile`` sees through
    overlaps and losses, and `nms` is an operator in it.

    Args:
        function: A function ``ioukit.pairwise_<name>`` or ``ioukit.elementwise_<name>``; a function or a module of
            `ioukit.torch.losses`; or `ioukit.nms`.

    Returns:
        A function with the arguments of ``function``. All arrays must be tensors. Overlaps take no ``check``, ``out``,
        ``threads`` and ``max_bytes``: boxes are not checked, because a compiled program has no values to look at, and
        the table is computed in one piece. `nms` has no ``explain`` and ``threads``, and checks as usual; its
        overlaps are compiled, and its loop is not.

    Raises:
        TypeError: If ``function`` is another one. The returned function raises it for arrays that are not tensors.

    Examples:
        >>> import torch
        >>> import ioukit
        >>> from ioukit.torch import compiled, losses
        >>> pairwise_ciou = compiled(ioukit.pairwise_ciou)  # once, not in the loop
        >>> ciou_loss = compiled(losses.ciou_loss)
    """
    if function is nms:
        return _compiled_nms()  # type: ignore[return-value]
    if isinstance(function, nn.Module) and type(function).__module__.startswith(losses.__name__):
        return _compile(function)  # type: ignore[return-value]
    name = getattr(function, "__name__", "")
    family = next((home for home in (pairwise, elementwise, losses) if getattr(home, name, None) is function), None)
    if family is None or not inspect.isfunction(function):
        raise TypeError(
            "compiled takes a function pairwise_<name> or elementwise_<name> of ioukit, a loss of ioukit.torch.losses "
            f"or ioukit.nms, got {function!r}"
        )
    fixed: dict[str, Any] = {} if family is losses else {"check": False, "threads": None}
    if family is pairwise:
        fixed |= {"max_bytes": None, "out": None}
    program = _compile(function)
    names = tuple(inspect.signature(function).parameters)[:2]

    @functools.wraps(function)
    def run(*arguments: Any, **options: Any) -> Tensor:
        for key in fixed:
            if key in options:
                raise TypeError(f"the compiled {name} takes no {key}")
        given = {**dict(zip(names, arguments, strict=False)), **options}
        _only_tensors(name, **{key: given[key] for key in names if key in given})
        result: Tensor = program(*arguments, **options, **fixed)
        return result

    return run  # type: ignore[return-value]


def _compiled_nms() -> Callable[..., Tensor]:
    kernels = compiled_kernels(_compile)

    @functools.wraps(nms)
    def run(
        boxes: Tensor,
        scores: Tensor,
        iou_threshold: float,
        *,
        labels: Tensor | None = None,
        batch: Tensor | None = None,
        metric: str = "iou",
        of: str | None = None,
        suppress: str = "above",
        score_threshold: float | None = None,
        max_keep: int | None = None,
        format: BoxFormat | None = None,
        check: bool = True,
    ) -> Tensor:
        _only_tensors("nms", boxes=boxes, scores=scores)
        rule, limits = rule_of(metric, of, iou_threshold, suppress), limits_of(score_threshold, max_keep)
        given = device_set(boxes, scores, labels, batch, format=format, check=check)
        if given.boxes.dtype == torch.float32:
            # Rounded here as the plain comparison rounds it: a program may hold numbers as variables in float64.
            rule = rule._replace(threshold=float(np.float32(rule.threshold)))
        keep: Tensor = survivors(given, rule, limits, kernels)
        return keep

    return run


def _only_tensors(name: str, **arrays: Any) -> None:
    for key, value in arrays.items():
        if not isinstance(value, Tensor):
            raise TypeError(f"{key} of the compiled {name} must be a tensor, got {type(value).__name__}")


def _compile(function: Callable[..., Any]) -> Callable[..., Any]:
    known = set(torch._inductor.list_options())
    options = {name: value for name, value in _EXACT.items() if name in known}  # those that this PyTorch has
    program: Callable[..., Any] = torch.compile(function, dynamic=True, options=options)
    return program
