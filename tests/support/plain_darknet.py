"""Darknet's ``.cfg`` and ``.weights``, read and run layer by layer without the library: slow and plain."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch.nn import functional

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from torch import Tensor

__all__ = ["run_plainly", "write_plausible_weights"]

HEADER = 20  # bytes of version 0.2: three int32 and the count of images seen, an int64


def layers_of(text: str) -> list[dict[str, str]]:
    layers: list[dict[str, str]] = []
    for line in text.splitlines():
        if line.startswith("["):
            layers.append({"kind": line.strip("[] ")})
        elif "=" in line and not line.startswith("#"):
            name, value = line.split("=")
            layers[-1][name.strip()] = value.strip()
    return layers


def reads(layer: dict[str, str], number: int) -> list[int]:
    asked = [int(word) for word in layer.get("layers", layer.get("from", "")).split(",")]
    return [number + one if one < 0 else one for one in asked]


def write_plausible_weights(text: str, path: Path) -> None:
    """Writes kernels of both signs and normalisations near 1, so that outputs are neither tiny nor huge."""
    rng = np.random.default_rng(7)
    net, *layers = layers_of(text)
    channels: list[int] = []
    numbers: list[NDArray[np.float64]] = []
    for number, layer in enumerate(layers):
        before = channels[-1] if channels else int(net["channels"])
        if layer["kind"] == "convolutional":
            out, size = int(layer["filters"]), int(layer["size"])
            numbers.append(rng.normal(0, 0.1, out))
            if "batch_normalize" in layer:
                numbers += [rng.uniform(0.5, 1.5, out), rng.normal(0, 0.1, out), rng.uniform(0.5, 1.5, out)]
            numbers.append(rng.normal(0, (before * size * size) ** -0.5, out * before * size * size))
            channels.append(out)
        elif layer["kind"] == "route":
            channels.append(sum(channels[one] for one in reads(layer, number)))
        else:
            channels.append(before)
    header = np.array([0, 2, 0], "<i4").tobytes() + np.array([32_013_312], "<i8").tobytes()
    path.write_bytes(header + np.concatenate(numbers).astype("<f4").tobytes())


def run_plainly(text: str, path: Path, image: Tensor) -> list[Tensor]:
    """The input of each [yolo] layer, in the order of the file."""
    numbers = torch.from_numpy(np.fromfile(path, "<f4", offset=HEADER))
    place = 0

    def take(*shape: int) -> Tensor:
        nonlocal place
        count = int(np.prod(shape))
        place += count
        return numbers[place - count : place].reshape(shape)

    x = image
    outputs: list[Tensor] = []
    found: list[Tensor] = []
    for number, layer in enumerate(layers_of(text)[1:]):
        kind, size, stride = layer["kind"], int(layer.get("size", 1)), int(layer.get("stride", 1))
        if kind == "convolutional":
            out = int(layer["filters"])
            shift = take(out)
            if "batch_normalize" in layer:
                scale, mean, variance = take(out), take(out), take(out)
                kernel = take(out, x.shape[1], size, size)
                x = functional.conv2d(x, kernel, stride=stride, padding=size // 2)
                factor = scale / torch.sqrt(variance + 1e-5)
                x = (x - mean[:, None, None]) * factor[:, None, None] + shift[:, None, None]
            else:
                kernel = take(out, x.shape[1], size, size)
                x = functional.conv2d(x, kernel, stride=stride, padding=size // 2) + shift[:, None, None]
            if layer["activation"] == "leaky":
                x = torch.where(x > 0, x, 0.1 * x)
        elif kind == "maxpool":
            rows, columns = x.shape[2] // stride, x.shape[3] // stride
            wide = functional.pad(x, (0, size - 1, 0, size - 1), value=-torch.inf)
            shifted = [
                wide[:, :, dy : dy + rows * stride : stride, dx : dx + columns * stride : stride]
                for dy in range(size)
                for dx in range(size)
            ]
            x = torch.stack(shifted).amax(dim=0)
        elif kind == "shortcut":
            x = x + outputs[reads(layer, number)[0]]
        elif kind == "route":
            x = torch.cat([outputs[one] for one in reads(layer, number)], dim=1)
        elif kind == "upsample":
            x = x.repeat_interleave(stride, dim=2).repeat_interleave(stride, dim=3)
        elif kind == "yolo":
            found.append(x)
        outputs.append(x)
    assert place == len(numbers)
    return found
