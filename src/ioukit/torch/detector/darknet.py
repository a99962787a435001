"""Networks of the original Darknet, such as YOLOv3 and YOLOv3-tiny, from its ``.cfg`` and ``.weights`` files.

A ``.cfg`` lists layers. Each reads the output of the layer before it, or of those that it names by number. A
``.weights`` file is a short header and float32 numbers in the order of the layers: for a convolution its biases, or the
shifts, scales, means and variances of its batch normalisation, and then its kernel.

Reference: the files themselves, as https://pjreddie.com/darknet/yolo describes them; no code of Darknet was used.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from ioukit.torch.detector.model import YOLO, AnchorMaps

KINDS = ("convolutional", "shortcut", "route", "upsample", "maxpool", "yolo")


@dataclass(frozen=True)
class Section:
    """One block of a ``.cfg``.

    Attributes:
        kind: The name in brackets, such as ``"convolutional"``.
        line: The number of its line, from 1 on.
        options: Names and values, as text.
    """

    kind: str
    line: int
    options: dict[str, str] = field(default_factory=dict)

    def integer(self, name: str, default: int | None = None) -> int:
        """The value of an option that is a whole number."""
        return self.integers(name, None if default is None else [default])[0]

    def integers(self, name: str, default: list[int] | None = None) -> list[int]:
        """The values of an option that is a list of whole numbers."""
        if name not in self.options:
            if default is None:
                raise ValueError(f"line {self.line}: [{self.kind}] lacks {name}")
            return default
        try:
            return [int(word) for word in self.options[name].split(",")]
        except ValueError:
            raise ValueError(
                f"line {self.line}: [{self.kind}] {name} must be whole numbers, got {self.options[name]!r}"
            ) from None


def read_cfg(path: str | os.PathLike[str]) -> list[Section]:
    """The blocks of a ``.cfg``, in the order of the file; the first is ``[net]``.

    Raises:
        ValueError: If a line is not a block, an option or a comment, or the first block is not ``[net]``.
    """
    sections: list[Section] = []
    for number, text in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        line = text.partition("#")[0].strip()
        if not line or line.startswith(";"):
            continue
        if line.startswith("[") and line.endswith("]"):
            sections.append(Section(line[1:-1].strip(), number))
        elif "=" in line and sections:
            name, _, value = line.partition("=")
            sections[-1].options[name.strip()] = value.strip()
        else:
            raise ValueError(f"{path}: line {number}: expected [block] or name=value, got {text!r}")
    if not sections or sections[0].kind not in ("net", "network"):
        raise ValueError(f"{path}: expected [net] first, got {f'[{sections[0].kind}]' if sections else 'nothing'}")
    return sections


class DarknetNetwork(nn.Module):
    """The network that a ``.cfg`` describes.

    Its ``[yolo]`` layers give the `AnchorMaps`, the finest stride first. Attributes `anchors` and `strides` hold the
    anchors and the stride of each map.

    Args:
        sections: The result of `read_cfg`.

    Raises:
        ValueError: If a layer is not convolutional, shortcut, route, upsample, maxpool or yolo, or an option has a
            value that is not supported; the message names the line.
    """

    def __init__(self, sections: list[Section]) -> None:
        super().__init__()
        net, *layers = sections
        self.image_size = net.integer("width", 416), net.integer("height", 416)
        self.layers = nn.ModuleList()
        self.sources: list[list[int]] = []  # the layers that each layer reads; empty if it reads only the one before
        self.kinds = [layer.kind for layer in layers]
        heads: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []  # stride, layer, anchors
        channels, strides = [net.integer("channels", 3)], [1]  # of the input, then of each layer
        for number, layer in enumerate(layers):
            module, out, stride, sources = _layer(layer, number, channels, strides)
            if layer.kind == "yolo":
                numbers = layer.integers("anchors")
                pairs = list(zip(numbers[::2], numbers[1::2], strict=True))
                mask = layer.integers("mask", list(range(len(pairs))))
                heads.append((stride, number, tuple(pairs[k] for k in mask)))
                expected = len(mask) * (5 + layer.integer("classes", 20))
                if out != expected:
                    raise ValueError(f"line {layer.line}: [yolo] needs {expected} channels, the layer before has {out}")
                self.num_classes = layer.integer("classes", 20)
            self.layers.append(module)
            self.sources.append(sources)
            channels.append(out)
            strides.append(stride)
        if not heads:
            raise ValueError("there is no [yolo] layer: this network predicts no boxes")
        heads.sort()
        self.strides = tuple(stride for stride, _, _ in heads)
        self.heads = [number for _, number, _ in heads]
        self.anchors = tuple(anchors for _, _, anchors in heads)

    def forward(self, image: Tensor) -> AnchorMaps:
        """All predictions for (B, 3, H, W) RGB images within [0, 1]."""
        outputs: list[Tensor] = []
        x = image
        for kind, layer, sources in zip(self.kinds, self.layers, self.sources, strict=True):
            if kind == "route":
                x = torch.cat([outputs[k] for k in sources], dim=1)
            elif kind == "shortcut":
                x = layer(x + outputs[sources[0]])
            else:
                x = layer(x)
            outputs.append(x)
        values = 5 + self.num_classes
        maps = [outputs[number].unflatten(1, (-1, values)).permute(0, 1, 3, 4, 2) for number in self.heads]
        return AnchorMaps(maps)  # (B, A, h, w, 5 + K) each


def _layer(
    layer: Section, number: int, channels: list[int], strides: list[int]
) -> tuple[nn.Module, int, int, list[int]]:
    """A layer, its channels, its stride, and the layers that it reads in addition to the one before."""
    before, stride, kind = channels[-1], strides[-1], layer.kind
    if kind == "convolutional":
        step = layer.integer("stride", 1)
        return _convolution(layer, before, step), layer.integer("filters"), stride * step, []
    if kind == "maxpool":
        step, size = layer.integer("stride", 1), layer.integer("size", 2)
        return _MaxPool(size, step), before, stride * step, []
    if kind == "upsample":
        factor = layer.integer("stride", 2)
        return nn.Upsample(scale_factor=factor, mode="nearest"), before, stride // factor, []
    if kind == "yolo":
        return nn.Identity(), before, stride, []
    if kind in ("route", "shortcut"):
        asked = layer.integers("layers" if kind == "route" else "from")
        sources = [k if k >= 0 else number + k for k in asked]
        if not all(0 <= k < number for k in sources):
            raise ValueError(f"line {layer.line}: [{kind}] reads layer {asked}, but there are only {number} before it")
        if kind == "shortcut":
            return _activation(layer), before, stride, sources
        return nn.Identity(), sum(channels[k + 1] for k in sources), strides[sources[0] + 1], sources
    raise ValueError(f"line {layer.line}: unknown layer [{kind}]; known are {', '.join(KINDS)}")


def _convolution(layer: Section, channels: int, step: int) -> nn.Sequential:
    size, out = layer.integer("size", 1), layer.integer("filters")
    normalised = layer.integer("batch_normalize", 0) == 1
    padding = size // 2 if layer.integer("pad", 0) else layer.integer("padding", 0)
    parts: list[nn.Module] = [nn.Conv2d(channels, out, size, step, padding, bias=not normalised)]
    if normalised:
        parts.append(nn.BatchNorm2d(out))
    return nn.Sequential(*parts, _activation(layer))


def _activation(layer: Section) -> nn.Module:
    name = layer.options.get("activation", "linear")
    if name == "leaky":
        return nn.LeakyReLU(0.1)
    if name == "linear":
        return nn.Identity()
    raise ValueError(f"line {layer.line}: unknown activation {name!r}; known are leaky, linear")


class _MaxPool(nn.Module):
    """Darknet's pooling: it pads so that a stride of 1 keeps the size of the map."""

    def __init__(self, size: int, step: int) -> None:
        super().__init__()
        self.size, self.step = size, step

    def forward(self, x: Tensor) -> Tensor:
        low, high = (self.size - 1) // 2, self.size // 2
        padded = functional.pad(x, (low, high, low, high), value=float("-inf"))
        return functional.max_pool2d(padded, self.size, self.step)


def load_weights(network: DarknetNetwork, path: str | os.PathLike[str]) -> None:
    """Fills a network with the numbers of a ``.weights`` file; after an error the network is as it was.

    Raises:
        ValueError: If the file has fewer or more numbers than the network.
    """
    convolutions = [layer for kind, layer in zip(network.kinds, network.layers, strict=True) if kind == "convolutional"]
    _fill([(part[0], part[1] if isinstance(part[1], nn.BatchNorm2d) else None) for part in convolutions], path)


def load_backbone_and_heads(model: YOLO, path: str | os.PathLike[str]) -> None:
    """Fills a `YOLO` that has the anchor head with YOLOv3's ``.weights``; after an error the model is as it was.

    Darknet writes its layers in the order in which they run: the backbone, then the five convolutions and the head of
    each scale, the coarsest scale first.

    Raises:
        ValueError: If the model has the anchor-free head, or the file has fewer or more numbers than the model.
    """
    if model.config.head != "anchor":
        raise ValueError("YOLOv3's weights are for the anchor head, and this model has the anchor-free one")
    neck, scales = model.neck, model.head.get_submodule("scales")
    assert isinstance(scales, nn.ModuleList)
    running = [model.backbone, neck.at5, scales[2], neck.down5, neck.at4, scales[1], neck.down4, neck.at3, scales[0]]
    leaves = [leaf for part in running for leaf in part.modules() if isinstance(leaf, (nn.Conv2d, nn.BatchNorm2d))]
    pairs: list[tuple[nn.Module, nn.Module | None]] = []
    for leaf in leaves:
        if isinstance(leaf, nn.Conv2d):
            pairs.append((leaf, None))
        else:
            pairs[-1] = (pairs[-1][0], leaf)
    _fill(pairs, path)


def _fill(layers: list[tuple[nn.Module, nn.Module | None]], path: str | os.PathLike[str]) -> None:
    """Fills convolutions, each with its normalisation if it has one, with the numbers of a file."""
    targets: list[Tensor] = []
    for convolution, norm in layers:
        if norm is None:
            targets.append(convolution.get_parameter("bias"))
        else:
            targets += [norm.get_parameter("bias"), norm.get_parameter("weight")]
            targets += [norm.get_buffer("running_mean"), norm.get_buffer("running_var")]
        targets.append(convolution.get_parameter("weight"))
    needed = sum(target.numel() for target in targets)
    numbers = _read_numbers(Path(path))
    if len(numbers) != needed:
        raise ValueError(f"{path} holds {len(numbers):,} numbers, expected {needed:,} for this network")
    start = 0
    with torch.no_grad():
        for target in targets:
            part = numbers[start : start + target.numel()]
            target.copy_(torch.from_numpy(part.copy()).view_as(target))
            start += target.numel()


def _read_numbers(path: Path) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    data = path.read_bytes()
    if len(data) < 16:
        raise ValueError(f"{path} has {len(data)} bytes, expected a header of at least 16")
    major, minor, _ = np.frombuffer(data, "<i4", 3).tolist()
    # Since version 0.2 the number of images seen takes 64 bits.
    header = 20 if major * 10 + minor >= 2 else 16
    if (len(data) - header) % 4:
        raise ValueError(f"{path} does not hold whole float32 numbers after its header: it was cut off")
    return np.frombuffer(data, "<f4", offset=header)
