"""The values of several images, such as their boxes, joined to one array on the host."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._arrays import as_numpy, library_of
from ioukit.datasets.formats.text_files import refuse

_LARGEST = 2**63 - 1


class Joined(NamedTuple):
    """The rows of several images."""

    rows: npt.NDArray[Any]
    """(N, ...) the rows of all images, in order."""
    counts: list[int]
    """(I,) the number of rows of each image."""
    device: str | None
    """The device of the tensors; ``None`` for values that are not tensors."""


@dataclass(frozen=True)
class Member:
    """What an entry of the dicts must hold."""

    side: str
    """``predictions`` or ``targets``."""
    name: str
    """The key."""
    tail: tuple[int | None, ...]
    """The shape of one row; ``None`` stands for any length."""
    kinds: str
    """The kinds of dtypes that are accepted, as :attr:`numpy.dtype.kind`."""

    def place(self, image: int) -> str:
        """Where the value of an image is, for messages."""
        return f"{self.side}[{image}]: {self.name}"

    @property
    def expected(self) -> str:
        """What the value must be, for messages."""
        noun = "integers" if "f" not in self.kinds else "numbers"
        if self.kinds.startswith("b"):
            noun = "bools, or 0 and 1,"
        names = " (names need Evaluator(categories=[...]))" if self.name == "labels" else ""
        return f"{noun} of shape {self.shape}{names}"

    @property
    def shape(self) -> str:
        """The shape of the value."""
        lengths = ["N", *("P" if length is None else str(length) for length in self.tail)]
        return f"({', '.join(lengths)}{'' if self.tail else ','})"

    def fits(self, array: npt.NDArray[Any]) -> bool:
        """Whether rows have the right shape and dtype."""
        if array.dtype.kind not in self.kinds or not array.dtype.isnative:
            return False
        tail = array.shape[1:]
        return tail == self.tail or (
            len(tail) == len(self.tail)
            and all(length in (None, found) for length, found in zip(self.tail, tail, strict=True))
        )


def joined(values: Sequence[Any], member: Member) -> Joined:
    """The values of all images as one array: those of a library are joined there, so that one copy reaches the host.

    Args:
        values: (I,) arrays of NumPy, PyTorch, JAX or another library, or lists; one per image.
        member: What they must be.

    Raises:
        DatasetError: If a value is something else, or tensors are on different devices.
    """
    found = None
    if type(values[0]) is np.ndarray:
        found = _of_arrays(values)
    elif (torch := sys.modules.get("torch")) is not None and type(values[0]) is torch.Tensor:
        found = _of_tensors(torch, values)
    if found is not None and member.fits(found.rows) and found.rows.dtype != np.uint64:
        return found
    return _one_by_one(values, member)


def place_of(row: int, counts: Sequence[int]) -> tuple[int, int]:
    """The image of a row of joined values, and the position of the row in that image."""
    ends = np.cumsum(counts)
    image = int(np.searchsorted(ends, row, side="right"))
    return image, row - int(ends[image] - counts[image])


def _of_arrays(values: Sequence[Any]) -> Joined | None:
    if not all(type(value) is np.ndarray for value in values):
        return None
    try:
        return Joined(np.concatenate(values), [len(value) for value in values], None)
    except (ValueError, TypeError):  # the shapes differ; images without rows may have another one
        return None


def _of_tensors(torch: Any, values: Sequence[Any]) -> Joined | None:
    if not all(type(value) is torch.Tensor for value in values):
        return None
    # The concatenation of int64 and float32 tensors is float32, which does not hold every integer.
    if len({value.dtype for value in values}) > 1 or len({value.device for value in values}) > 1:
        return None
    device = values[0].device
    if device.type == "meta":
        return None
    try:
        rows = torch.cat(values).detach()
        counts = [value.shape[0] for value in values]
        if device.type != "cpu":
            rows = rows.cpu()
        return Joined((rows.float() if rows.dtype == torch.bfloat16 else rows).numpy(), counts, str(device))
    except (RuntimeError, IndexError, TypeError):
        return None


def _one_by_one(values: Sequence[Any], member: Member) -> Joined:
    """The same, image by image: for values of several libraries, and to find the value that is wrong."""
    arrays, counts = [], []
    devices: dict[str | None, int] = {}
    for at, value in enumerate(values):
        rows, device = _on_host(value, member, at)
        devices.setdefault(device, at)
        counts.append(len(rows))
        if len(rows):
            arrays.append(rows)
    tensors = [device for device in devices if device is not None]
    if len(tensors) > 1:
        first, second = (f"{device} (image {devices[device]})" for device in tensors[:2])
        refuse(f"{member.side}: {member.name}", "tensors on one device", f"{first} and {second}")
    if not arrays:
        rows = np.zeros((0, *(length or 0 for length in member.tail)), np.float32 if "f" in member.kinds else np.int64)
    else:
        shapes = list(dict.fromkeys(array.shape[1:] for array in arrays))
        if len(shapes) > 1:
            refuse(f"{member.side}: {member.name}", "rows of one shape on all images", f"{shapes[0]} and {shapes[1]}")
        rows = np.concatenate(arrays)
    return Joined(rows, counts, tensors[0] if tensors else None)


def _on_host(value: Any, member: Member, at: int) -> tuple[npt.NDArray[Any], str | None]:
    """The rows of an image in native byte order, and the device of a tensor."""
    place, device = member.place(at), None
    if isinstance(value, np.ma.MaskedArray):
        refuse(place, member.expected, "a masked array")
    if (library := library_of(value)) == "torch":
        device = str(value.device)
    if value is None or isinstance(value, str | bytes | dict) or (library == "numpy" and np.isscalar(value)):
        refuse(place, member.expected, "nothing" if value is None else f"a {type(value).__name__}")
    try:
        host: Any = value if library == "numpy" else as_numpy(value)
        if host is None:
            refuse(place, member.expected, f"a {type(value).__name__} without values (device {device or library!r})")
        if isinstance(host, list | tuple):
            host = [one if library_of(one) == "numpy" else as_numpy(one) for one in host]
        array = np.asarray(host)
    except (ValueError, TypeError, RuntimeError) as error:
        if type(error).__name__ == "DatasetError":
            raise
        refuse(place, member.expected, f"a {type(value).__name__} that is no regular array")
    if array.size == 0 and array.ndim <= len(member.tail) + 1:
        lengths = [length or 0 for length in member.tail]
        if array.ndim == 1 or array.shape[0] == 0:
            return np.zeros((0, *lengths), np.int64), device
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    if not member.fits(array):
        same_shape = array.ndim == len(member.tail) + 1 and all(
            length in (None, found) for length, found in zip(member.tail, array.shape[1:], strict=False)
        )
        refuse(place, member.expected, f"dtype {array.dtype}" if same_shape else f"shape {array.shape}")
    if array.dtype == np.uint64 and "f" not in member.kinds:  # beside int64, NumPy would make floats of it
        beyond = array > _LARGEST
        if beyond.any():
            refuse(f"{place}: row {int(np.argmax(beyond))}", "an integer below 2**63", str(array[beyond][0]))
        array = array.astype(np.int64)
    return array, device
