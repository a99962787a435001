"""Do all array libraries and all instruction sets give the same overlaps? For `ioukit doctor` and the tests."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from array_api_compat import device

from ioukit import _core
from ioukit._arrays import as_numpy
from ioukit.overlap import _array_formulas
from ioukit.overlap._arguments import corners_on_device
from ioukit.overlap.variants import Measure, alpha_iou, inner_iou, ioa, mpdiou, nwd

if TYPE_CHECKING:
    from ioukit.typing import Array, FloatArray


MEASURES = (
    *map(Measure, ("intersection", "iou", "iom", "giou", "diou", "ciou", "eiou", "siou", "centre_distance")),
    *(ioa("first"), ioa("second"), Measure("jaccard_distance"), Measure("tiou")),
    *(mpdiou((640, 480)), alpha_iou(3.0), alpha_iou(0.5), inner_iou(0.7), inner_iou(1.4), nwd(12.8)),
)

# Every box is compared with every other. Some pairs lie apart, touch along an edge or at a corner, share edges, lie
# inside one another, share a centre, or are equal. Some boxes have no width, no height, or neither. Some are small,
# thin, far away or large.
BOXES = np.array(
    [
        [0, 0, 10, 10],
        [2, 3, 12, 11],
        [10, 0, 20, 10],
        [10, 10, 14, 18],
        [2, 2, 5, 6],
        [0, 0, 10, 5],
        [3, 4, 7, 6],
        [5, 5, 5, 5],
        [5, 0, 5, 10],
        [0, 5, 10, 5],
        [20, 30, 20, 30],
        [0.25, 0.25, 0.28125, 0.3125],
        [-7, 4.875, 40, 5.125],
        [600, 400, 640, 480],
        [0, 0, 640, 480],
    ]
)
_TOLERANCE = 8  # in roundings of the value, or of 1 if the value is smaller; the longest formulas need two


class Unavailable(Exception):  # noqa: N818 - not an error
    """This machine cannot run a backend; the message says why."""


@dataclass(frozen=True)
class Backend:
    """One way to compute with arrays."""

    name: str
    """What the doctor prints."""
    library: str
    """The module that must be installed."""
    make: Callable[[Any, FloatArray], Array]
    """From the imported library and values to an array; raises `Unavailable`."""
    dtypes: tuple[str, ...] = ("float32", "float64")
    """The dtypes that it computes in."""

    def array(self, values: FloatArray) -> Array:
        """The values as an array of this backend.

        Raises:
            Unavailable: If the library is not installed or has no such device.
        """
        try:
            module = importlib.import_module(self.library)
        except ImportError as error:
            raise Unavailable(
                f"{self.library} is not installed" if error.name == self.library else str(error)
            ) from None
        return self.make(module, values)


def _cuda_tensor(torch: Any, values: FloatArray) -> Array:
    if not torch.cuda.is_available():
        raise Unavailable("torch sees no CUDA device")
    return torch.asarray(values, device="cuda")


def _cupy_array(cupy: Any, values: FloatArray) -> Array:
    try:
        return cupy.asarray(values)
    except Exception as error:  # of the driver, of the runtime or of CuPy
        raise Unavailable(f"cupy sees no CUDA device: {error}") from None


BACKENDS = (
    Backend("array API on NumPy", "numpy", lambda numpy, values: numpy.asarray(values)),
    Backend("array-api-strict", "array_api_strict", lambda strict, values: strict.asarray(values)),
    Backend("PyTorch, CPU", "torch", lambda torch, values: torch.asarray(values)),
    Backend("PyTorch, CPU, gradient", "torch", lambda torch, values: torch.tensor(values, requires_grad=True)),
    Backend("PyTorch, CUDA", "torch", _cuda_tensor),
    # JAX computes in float64 only if the program asks for it.
    Backend("JAX", "jax", lambda jax, values: jax.numpy.asarray(values), ("float32",)),
    Backend("CuPy", "cupy", _cupy_array),
)


@dataclass(frozen=True)
class Agreement:
    """How a backend compares with native code."""

    name: str
    """The name of the backend."""
    version: str | None
    """The version of its library; None for native code."""
    available: bool
    """Whether this machine can run it."""
    problems: tuple[str, ...] = ()
    """What disagrees, or why the backend is not available."""
    worst: float = 0.0
    """The largest difference from the values of the first instruction set, in roundings of the dtype."""

    @property
    def agrees(self) -> bool:
        """Whether nothing disagrees; true for a backend that is not available."""
        return not (self.available and self.problems)


def native(measure: Measure, boxes: FloatArray, simd: str | None = None) -> FloatArray:
    """(N, N) overlaps of every box with every box, by native code."""
    out = np.empty((len(boxes), len(boxes)), boxes.dtype)
    _core.pairwise(*measure, boxes, boxes, out, 1, simd=simd)
    return out


def agreements() -> Iterator[Agreement]:
    """Compares all instruction sets, which must give the same bits, and all backends."""
    base, *others = _core.simd_levels()
    for level in others:
        different = [
            f"{measure.variant} {dtype}: other bits than {base}"
            for dtype in ("float32", "float64")
            for measure in MEASURES
            if native(measure, BOXES.astype(dtype), level).tobytes()
            != native(measure, BOXES.astype(dtype), base).tobytes()
        ]
        yield Agreement(f"native, {level}", None, available=True, problems=tuple(different))
    for backend in BACKENDS:
        try:
            backend.array(BOXES)
        except Unavailable as why:
            yield Agreement(backend.name, None, available=False, problems=(str(why),))
            continue
        yield compare(backend)


def compare(backend: Backend) -> Agreement:
    """Compares the overlaps of a backend, which this machine can run, with those of native code."""
    problems, worst = [], 0.0
    for dtype in backend.dtypes:
        boxes = BOXES.astype(dtype)
        for measure in MEASURES:
            where = f"{measure.variant} {dtype}"
            array, expected = backend.array(boxes), native(measure, boxes)
            given = corners_on_device(array, array, None, check=True)
            values = _array_formulas.pairwise(measure, given, _array_formulas.MAX_BYTES)
            diagonal = _array_formulas.elementwise(measure, given)
            # Arrays of NumPy 1 have no attribute `device`.
            if values.dtype != array.dtype or str(device(values)) != str(device(array)):
                problems.append(f"{where}: returned as {values.dtype} on {device(values)}")
            for found, known in ((values, expected), (diagonal, np.diagonal(expected))):
                off = _roundings(_host(found), known)
                worst = max(worst, off)
                if off > _TOLERANCE:
                    problems.append(f"{where}: {off:g} roundings from native code")
    version = str(importlib.import_module(backend.library).__version__)
    return Agreement(backend.name, version, available=True, problems=tuple(problems), worst=worst)


def _host(array: Array) -> FloatArray:
    detached = array.detach() if hasattr(array, "detach") else array
    values = as_numpy(detached) if type(detached) is not np.ndarray else detached
    assert values is not None, "nothing is traced here"
    return values


def _roundings(values: FloatArray, expected: FloatArray) -> float:
    if values.shape != expected.shape:
        return np.inf
    size = np.maximum(np.abs(expected), 1.0) * np.finfo(expected.dtype).eps
    return float(np.nan_to_num(np.abs(values - expected) / size, nan=np.inf).max())
