"""Which library does an array come from, and in which dtype is it computed?

No library is imported to find out: where an array exists, its library has been imported already.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ioukit.typing import Array, FloatArray


FLOATS = {np.dtype(kind): np.dtype(kind) for kind in (np.float16, np.float32, np.float64)}
_LARGEST_INTEGER = 2**53  # up to here every integer is a float64


def as_floats(data: object, name: str) -> FloatArray:
    """The data as a floating array: float16, float32 and float64 as they are, integers, bools and lists as float64.

    Args:
        data: A NumPy array, list or tuple.
        name: Its name in messages.

    Raises:
        TypeError: If the data are of another type, or do not hold real numbers.
        ValueError: If a list is ragged, or an integer has no exact float64.
    """
    if type(data) is np.ndarray and data.dtype in FLOATS:  # the common case, with one look-up
        return data
    if not isinstance(data, (np.ndarray, list, tuple)) or isinstance(data, np.ma.MaskedArray):
        raise TypeError(f"{name} must be Boxes, a NumPy array or nested lists, got {type(data).__name__}")
    try:
        array: NDArray[Any] = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    native = array.dtype.newbyteorder("=")
    if native in FLOATS:
        return array.astype(np.float64 if isinstance(data, (list, tuple)) else native, copy=False)
    if native.kind not in "iub":
        raise TypeError(f"{name} must hold float16, float32, float64, integers or bools, got dtype {array.dtype}")
    if native.itemsize == 8 and array.size and max(int(array.max()), -int(array.min())) > _LARGEST_INTEGER:
        raise ValueError(f"{name} holds an integer beyond 2**53, which has no exact float64: subtract an offset first")
    return array.astype(np.float64)


def computing_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Float32 for float16, in which squares beyond 65504 overflow; every other dtype itself."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype


def computing_dtype_in(xp: Any, dtype: Any) -> Any:
    """`computing_dtype` in another library: float32 for every dtype of less than 32 bits."""
    return dtype if xp.finfo(dtype).bits >= 32 else xp.float32


def library_of(array: object) -> str:
    """``"torch"``, ``"jax"``, ``"cupy"`` or another library of the array API; ``"numpy"`` for everything else."""
    if type(array) is np.ndarray:
        return "numpy"
    for library, kind in (("torch", "Tensor"), ("jax", "Array"), ("cupy", "ndarray")):
        module = sys.modules.get(library)
        if module is not None and isinstance(array, getattr(module, kind, ())):
            return library
    if hasattr(array, "__array_namespace__") and not isinstance(array, (np.ndarray, np.generic)):
        return str(array.__array_namespace__().__name__.partition(".")[0])
    return "numpy"


def one_library(**arrays: object) -> str:
    """The library that all these arrays come from; None fits every library.

    Raises:
        TypeError: If they come from more than one library; the message has their names.
    """
    libraries = {name: library_of(array) for name, array in arrays.items() if array is not None}
    if len(set(libraries.values())) > 1:
        found = [f"{name} is {type(arrays[name]).__name__} of {library}" for name, library in libraries.items()]
        raise TypeError(f"{' and '.join(libraries)} must come from one library, but {', '.join(found)}")
    for library in libraries.values():  # not `next`, which torch.compile cannot trace with a default in PyTorch 2.7
        return library
    return "numpy"


def namespace_of(array: Array) -> Any:
    """The namespace of the array API for an array.

    `array_api_compat` is imported here, because most programs need NumPy alone. ``torch.compile`` cannot trace its
    function that finds the namespace of an array, so tensors get theirs without it.
    """
    library = library_of(array)
    if library == "torch":
        import array_api_compat.torch as xp  # noqa: PLC0415
    else:
        from array_api_compat import array_namespace  # noqa: PLC0415

        xp = array_namespace(array)
    return xp


def is_traced(*tensors: Array) -> bool:
    """Whether PyTorch records or transforms what is computed with these tensors.

    They then have no values, or those of an example, which must not become a part of the recorded program: inside
    ``torch.compile``, ``torch.export``, ``torch.jit.trace``, ``make_fx``, and the functions of ``torch.func``.
    """
    torch = sys.modules["torch"]
    if torch.compiler.is_compiling():  # first, because a compiler does not see through the others
        return True
    native = torch._C
    return (
        native._is_tracing()
        or any(map(native._functorch.is_functorch_wrapped_tensor, tensors))
        or native._dispatch_tls_is_dispatch_key_included(native.DispatchKey.PreDispatch)
        # Other modes, such as a counter of operations, have all values.
        or (
            native._len_torch_dispatch_stack() > 0
            and native._get_dispatch_mode(native._TorchDispatchModeKey.PROXY) is not None
        )
    )


def any_traced(*arrays: object) -> bool:
    """Whether there are tensors among these, of a program that PyTorch records."""
    torch = sys.modules.get("torch")
    tensors = [] if torch is None else [array for array in arrays if isinstance(array, torch.Tensor)]
    return len(tensors) > 0 and is_traced(*tensors)  # Dynamo of PyTorch 2.7 knows no `bool` of a list


def shared_with_numpy(*tensors: Array) -> list[NDArray[Any]] | None:
    """PyTorch tensors as NumPy arrays in the same memory; bfloat16 is copied to float32.

    None if native code must not read the tensors: one is on another device, a gradient is recorded, or a program is
    traced.
    """
    torch = sys.modules["torch"]
    if is_traced(*tensors):
        return None
    shared = []
    for tensor in tensors:
        if not tensor.is_cpu or tensor.layout is not torch.strided:
            return None
        if tensor.requires_grad and torch.is_grad_enabled():
            return None
        forward = torch.autograd.forward_ad
        # A forward-mode tangent does not show in requires_grad.
        if forward._current_level >= 0 and forward.unpack_dual(tensor).tangent is not None:
            return None
        try:
            shared.append((tensor.float() if tensor.dtype == torch.bfloat16 else tensor).detach().numpy())
        except RuntimeError:  # the tensor has no memory, such as one of `FakeTensorMode`
            return None
    return shared


def as_tensor(array: NDArray[Any], *like: Array) -> Array:
    """A tensor in the memory of ``array``; if all tensors ``like`` are bfloat16, a copy in bfloat16."""
    torch = sys.modules["torch"]
    tensor = torch.from_numpy(array)
    return tensor.to(torch.bfloat16) if all(one.dtype == torch.bfloat16 for one in like) else tensor


def as_numpy(array: Array) -> NDArray[Any] | None:
    """The values on the host; None if the array has no values yet, as in a traced program or inside a map."""
    library = library_of(array)
    if library == "torch":
        if array.is_meta:
            return None
        shared = shared_with_numpy(array.detach() if array.is_cpu else array.detach().cpu())
        return None if shared is None else shared[0]
    if library == "jax":
        if isinstance(array, sys.modules["jax"].core.Tracer) or not array.is_fully_addressable:
            return None
        values = np.asarray(array)
        return values if values.dtype.kind in "fiub" else values.astype(np.float32)  # NumPy has no bfloat16
    values = array.get() if library == "cupy" else np.from_dlpack(array)
    return np.asarray(values)


def in_library_of(array: NDArray[Any], like: Array, *, bfloat16: bool = False) -> Array:
    """A NumPy array in the library and on the device of ``like``.

    Args:
        array: The values.
        like: An array of the caller; or a list, `Boxes` or None for NumPy.
        bfloat16: Whether the values become bfloat16, which NumPy does not have.
    """
    library = "numpy" if type(like) is np.ndarray else library_of(like)
    if library == "numpy":
        return array
    array = np.ascontiguousarray(array)
    if library == "torch":
        torch = sys.modules["torch"]
        return torch.from_numpy(array).to(like.device, torch.bfloat16 if bfloat16 else None)
    xp = namespace_of(like)
    if library == "jax":
        return xp.asarray(array, dtype=xp.bfloat16 if bfloat16 else None)
    return xp.asarray(array, device=like.device)


def on_host(data: Any, name: str, refusal: str) -> Any:
    """The values where NumPy can read them: arrays of other libraries are copied to the host, all else stays as it is.

    Args:
        data: An array of any library, a list, or an object that holds NumPy arrays, such as `Boxes`.
        name: Its name in the message.
        refusal: The message for an array without values; it follows the name.

    Raises:
        TypeError: If the array has no values yet, as in a traced program or inside a map.
    """
    if library_of(data) == "numpy":
        return data
    values = as_numpy(data)
    if values is None:
        raise TypeError(f"{name} {refusal}")
    return values


def constant(array: Array) -> Array:
    """The same values without a gradient."""
    library = library_of(array)
    if library == "torch":
        return array.detach()
    return sys.modules["jax"].lax.stop_gradient(array) if library == "jax" else array


def recomputed(function: Callable[..., Array], *arrays: Array) -> Array:
    """``function(*arrays)``. For a gradient, its temporaries are computed again instead of being kept."""
    library = library_of(arrays[0])
    if library == "torch" and any(array.requires_grad for array in arrays):
        utils = sys.modules["torch"].utils
        if not hasattr(utils, "checkpoint"):  # `import torch` does not import it in all releases, a compiler does
            importlib.import_module("torch.utils.checkpoint")
        return utils.checkpoint.checkpoint(function, *arrays, use_reentrant=False)
    if library == "jax":
        return sys.modules["jax"].checkpoint(function)(*arrays)
    return function(*arrays)
