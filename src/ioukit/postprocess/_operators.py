"""`nms` and `nms_padded` as operators of PyTorch, for programs that are recorded.

A recorded program (``torch.compile``, ``torch.export``, ``torch.jit.trace``, ``make_fx``, ``torch.func``) has no values
to look at. It keeps a call of the operator, which runs native code on the values of the day. Other calls do not come
here: PyTorch's dispatcher takes as long as native code takes for a hundred boxes.

Owns: the schema, the shapes of results without values, the rules for a mapped axis.
Does not own: what is computed, `_survivors` of the same values in NumPy; tensors on a device are copied for
it. Overlaps and losses need no operator: their formulas are recorded, and a compiler fuses them.
This file is imported where a tensor is recorded, so PyTorch is there.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ioukit._checks import check_threads
from ioukit.postprocess._inputs import NO_VALUES
from ioukit.postprocess._options import limits_of, rule_of
from ioukit.postprocess._survivors import flattened, padded, suppressed

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.typing import Array


_torch: Any = importlib.import_module("torch")
_LIBRARY = _torch.library.Library("ioukit", "DEF")  # the operators last as long as this object
_TENSORS = {"boxes": "Tensor", "scores": "Tensor", "labels": "Tensor?", "batch": "Tensor?"}
_OPTIONS = {
    "iou_threshold": "float",
    "max_keep": "int?",
    "score_threshold": "float?",
    "metric": "str",
    "of": "str?",
    "suppress": "str",
    "format": "str?",
    "check": "bool",
}


def recorded(name: str, boxes: Array, scores: Array, **options: Any) -> Array:
    """The positions by the operator ``ioukit::<name>``.

    Raises:
        TypeError: If the program is exported to ONNX, which has no such operator.
    """
    _refuse_onnx(name)
    columns = [options[key] for key in ("labels", "batch")]
    tensors = [None if one is None else _torch.as_tensor(one, device=boxes.device) for one in columns]
    return getattr(_torch.ops.ioukit, name)(
        boxes.detach(), scores.detach(), *tensors, *(options[key] for key in _OPTIONS)
    )


def _refuse_onnx(name: str) -> None:
    if _torch.onnx.is_in_onnx_export():
        raise TypeError(f"{name} has no form in ONNX here: use nms_padded with torch.onnx.export(..., dynamo=True)")


def _values(tensor: Array | None) -> Any:
    """The values in NumPy, which has no bfloat16. `Tensor.numpy` would warn while `torch.jit.trace` runs an example."""
    if tensor is None:
        return None
    host = tensor.float() if tensor.dtype == _torch.bfloat16 else tensor
    return np.from_dlpack(host.detach().cpu())


def _run(name: str, tensors: tuple[Array | None, ...], options: tuple[Any, ...]) -> Array:
    """The positions, for tensors that have values."""
    boxes, scores, labels, batch = map(_values, tensors)
    given = dict(zip(_OPTIONS, options, strict=True))
    rule = rule_of(given["metric"], given["of"], given["iou_threshold"], given["suppress"])
    limits, fmt = limits_of(given["score_threshold"], given["max_keep"]), given["format"]
    if name == "nms":
        keep = suppressed(boxes, scores, labels, batch, rule, limits, False, fmt, given["check"], check_threads(None))
    else:
        keep = padded(*flattened(boxes, scores, labels), rule, limits, fmt)
    return _torch.from_numpy(keep).to(tensors[0].device)  # type: ignore[union-attr]


def _kernel(name: str) -> Callable[..., Array]:
    return lambda *given: _run(name, given[:4], given[4:])


def _nms_shape(boxes: Array, *_: Any) -> Array:
    _refuse_onnx("nms")  # also where the exporter traces by another way, which does not see the flag
    return boxes.new_empty((_torch.library.get_ctx().new_dynamic_size(),), dtype=_torch.int64)


def _nms_padded_shape(boxes: Array, scores: Array, *rest: Any) -> Array:
    size = rest[2 + list(_OPTIONS).index("max_keep")]
    return boxes.new_empty((*scores.shape[:-1], size), dtype=_torch.int64)


def _nms_mapped(*_: Any) -> NoReturn:
    raise TypeError(f"boxes {NO_VALUES}")


def _nms_padded_mapped(info: Any, axes: tuple[int | None, ...], *given: Any) -> tuple[Array, int]:
    tensors = [
        one if one is None else one.expand(info.batch_size, *one.shape) if axis is None else one.movedim(axis, 0)
        for one, axis in zip(given[:4], axes, strict=False)
    ]
    return _torch.ops.ioukit.nms_padded(*tensors, *given[4:]), 0


_SCHEMA = ", ".join(f"{kind} {name}" for name, kind in (_TENSORS | _OPTIONS).items())
for _name, _shape, _mapped in (
    ("nms", _nms_shape, _nms_mapped),
    ("nms_padded", _nms_padded_shape, _nms_padded_mapped),
):
    _LIBRARY.define(f"{_name}({_SCHEMA}) -> Tensor")
    _LIBRARY.impl(_name, _torch.compiler.disable(_kernel(_name)), "CompositeExplicitAutograd")
    _torch.library.register_fake(f"ioukit::{_name}", _shape, lib=_LIBRARY)
    _torch.library.register_vmap(f"ioukit::{_name}", _mapped, lib=_LIBRARY)
