"""The network: from an image to one prediction per place and anchor.

::

    image (B, 3, H, W)
      |  Darknet53    what is there?         strides 8, 16, 32
    c3, c4, c5
      |  FPN          what is around it?     coarse maps are added to fine ones
    p3, p4, p5
      |  a head       which boxes?           AnchorHead (YOLOv3) or FreeHead (anchor-free, two branches)
    one map per stride

At 416 x 416 the maps are 52 x 52, 26 x 26 and 13 x 13 cells. Comments give the shapes: B images, C channels, K
classes.

Reference: Redmon and Farhadi, YOLOv3: An Incremental Improvement, 2018, arXiv:1804.02767. The two branches of the
anchor-free head are those of Wang et al., YOLOv10, NeurIPS 2024, arXiv:2405.14458.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

STRIDES = (8, 16, 32)

# The nine anchors of YOLOv3 for COCO, in pixels of a 416 x 416 image: three per stride, the finest map first.
COCO_ANCHORS = (
    ((10, 13), (16, 30), (33, 23)),
    ((30, 61), (62, 45), (59, 119)),
    ((116, 90), (156, 198), (373, 326)),
)


@dataclass(frozen=True)
class Config:
    """All values that determine the shape of the network.

    Attributes:
        num_classes: K, the number of classes.
        head: ``"anchor"`` predicts boxes relative to anchors, objectness and classes, and needs NMS. ``"free"``
            predicts distances to the four sides and classes, and has a second branch that needs no NMS.
        image_size: (width, height) of the images that the network learns from, multiples of 32; it takes others, too.
        width: The number of channels, as a fraction of Darknet-53's.
        depth: The number of residual blocks per stage, as a fraction of Darknet-53's.
        anchors: Three lists of (width, height) in pixels, one per stride.
        bins: The number of bins of a distance's distribution in the anchor-free head; the largest distance is
            ``bins - 1`` strides.
        names: The names of the classes; may be empty.

    Raises:
        ValueError: If a value is out of its range, or the number of names is not the number of classes.
    """

    num_classes: int = 80
    head: Literal["anchor", "free"] = "anchor"
    image_size: tuple[int, int] = (416, 416)
    width: float = 1.0
    depth: float = 1.0
    anchors: tuple[tuple[tuple[float, float], ...], ...] = COCO_ANCHORS
    bins: int = 16
    names: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.num_classes < 1:
            raise ValueError(f"num_classes must be at least 1, got {self.num_classes}")
        if self.head not in ("anchor", "free"):
            raise ValueError(f"unknown head {self.head!r}; choose from anchor, free")
        if any(side < 32 or side % 32 for side in self.image_size):
            raise ValueError(f"image_size must be multiples of 32, got {self.image_size}")
        if self.names and len(self.names) != self.num_classes:
            raise ValueError(f"names must be one per class, got {len(self.names)} for {self.num_classes}")
        if len(self.anchors) != len(STRIDES) or len({len(scale) for scale in self.anchors}) != 1:
            raise ValueError(f"anchors must be {len(STRIDES)} lists of one length, got {self.anchors}")

    def resized(self, images: Tensor) -> Config:
        """The config for images (B, 3, H, W) of another size.

        Raises:
            ValueError: If a side is not a multiple of 32.
        """
        return replace(self, image_size=(images.shape[3], images.shape[2]))

    def to_dict(self) -> dict[str, Any]:
        """The config as plain values for JSON."""
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Config:
        """The config that `to_dict` described; lists become tuples, because JSON has no tuples."""
        return Config(**{name: _tuples(value) for name, value in values.items()})


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, (list, tuple)) else value


def conv(channels: int, out: int, kernel: int, stride: int = 1) -> nn.Sequential:
    """Convolution, batch normalisation and leaky ReLU: nearly the whole network consists of these."""
    return nn.Sequential(
        nn.Conv2d(channels, out, kernel, stride, padding=kernel // 2, bias=False),
        nn.BatchNorm2d(out),
        nn.LeakyReLU(0.1, inplace=True),
    )


class Residual(nn.Module):
    """A bottleneck with half the channels, whose output is added to its input."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(conv(channels, channels // 2, 1), conv(channels // 2, channels, 3))

    def forward(self, x: Tensor) -> Tensor:  # (B, C, H, W) -> (B, C, H, W)
        return x + self.body(x)


class Darknet53(nn.Module):
    """The backbone: 52 convolutions, which halve the image five times.

    The 53rd convolution was the classifier. With ``width=1, depth=1`` there are 40,584,928 parameters, as published.
    """

    BLOCKS = (1, 2, 8, 8, 4)

    def __init__(self, width: float = 1.0, depth: float = 1.0) -> None:
        super().__init__()
        stem, *stages = (max(8, round(width * channels / 8) * 8) for channels in (32, 64, 128, 256, 512, 1024))
        self.channels = tuple(stages[-3:])  # of c3, c4, c5
        self.stem = conv(3, stem, 3)
        self.stages = nn.ModuleList()
        channels = stem
        for out, count in zip(stages, self.BLOCKS, strict=True):
            blocks = [Residual(out) for _ in range(max(1, round(depth * count)))]
            self.stages.append(nn.Sequential(conv(channels, out, 3, stride=2), *blocks))
            channels = out

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # (B, 3, H, W)
        x = self.stem(image)  # (B, 32, H, W)
        x = self.stages[0](x)  # (B, 64, H/2, W/2)
        x = self.stages[1](x)  # (B, 128, H/4, W/4)
        c3 = self.stages[2](x)  # (B, 256, H/8, W/8)
        c4 = self.stages[3](c3)  # (B, 512, H/16, W/16)
        c5 = self.stages[4](c4)  # (B, 1024, H/32, W/32)
        return c3, c4, c5


def five(channels: int, out: int) -> nn.Sequential:
    """Five convolutions with ``out`` and ``2 * out`` channels in turn, ``out`` at the end."""
    return nn.Sequential(
        conv(channels, out, 1), conv(out, 2 * out, 3), conv(2 * out, out, 1), conv(out, 2 * out, 3),
        conv(2 * out, out, 1),
    )  # fmt: skip


class FPN(nn.Module):
    """The neck: starting with the coarsest, each map is enlarged twofold and concatenated with the next finer one."""

    def __init__(self, channels: tuple[int, ...]) -> None:
        super().__init__()
        c3, c4, c5 = channels
        p3, p4, p5 = self.channels = (c3 // 2, c4 // 2, c5 // 2)
        self.at5 = five(c5, p5)
        self.down5 = conv(p5, p4, 1)
        self.at4 = five(p4 + c4, p4)
        self.down4 = conv(p4, p3, 1)
        self.at3 = five(p3 + c3, p3)
        self.enlarge = nn.Upsample(scale_factor=2, mode="nearest")

    def forward(self, c3: Tensor, c4: Tensor, c5: Tensor) -> list[Tensor]:
        p5 = self.at5(c5)  # (B, 512, H/32, W/32)
        p4 = self.at4(torch.cat([self.enlarge(self.down5(p5)), c4], dim=1))  # (B, 256, H/16, W/16)
        p3 = self.at3(torch.cat([self.enlarge(self.down4(p4)), c3], dim=1))  # (B, 128, H/8, W/8)
        return [p3, p4, p5]


@dataclass(frozen=True)
class AnchorMaps:
    """The output of the anchor head: a prediction for each anchor of each cell.

    Attributes:
        maps: One per stride, each (B, A, H/stride, W/stride, 5 + K): t_x, t_y, t_w, t_h, and the logits of objectness
            and classes.
    """

    maps: list[Tensor]

    def flat(self) -> Tensor:
        """(B, P, 5 + K) all predictions, by stride, anchor, row and column; P is 10,647 for an image of 416 x 416."""
        return torch.cat([one.flatten(1, 3) for one in self.maps], dim=1)


class AnchorHead(nn.Module):
    """The head of YOLOv3: two convolutions per scale, 3 * (5 + K) channels, which is 255 for COCO's 80 classes."""

    def __init__(self, channels: tuple[int, ...], num_classes: int, anchors: int = 3) -> None:
        super().__init__()
        self.anchors, self.values = anchors, 5 + num_classes
        self.scales = nn.ModuleList(
            nn.Sequential(conv(c, 2 * c, 3), nn.Conv2d(2 * c, anchors * self.values, 1)) for c in channels
        )
        for scale in self.scales:
            # Nearly all places are background. Without this bias, the first steps only lower thousands of wrong scores.
            bias = scale[-1].bias.detach().view(anchors, self.values)
            bias[:, 4:] = -4.6  # sigmoid(-4.6) = 0.01

    def forward(self, features: list[Tensor]) -> AnchorMaps:
        raw = [scale(x) for scale, x in zip(self.scales, features, strict=True)]  # (B, A * (5 + K), h, w) each
        split = (one.unflatten(1, (self.anchors, self.values)) for one in raw)
        return AnchorMaps([one.permute(0, 1, 3, 4, 2) for one in split])  # (B, A, h, w, 5 + K) each


@dataclass(frozen=True)
class FreeMaps:
    """The output of one branch of the anchor-free head: a prediction for each cell, by stride, row and column.

    Attributes:
        distances: (B, P, 4, bins) logits over the distances from the centre of the cell to the left, upper, right and
            lower side, in strides.
        classes: (B, P, K) logits. There is no objectness: where there is no object, all classes have a low score.
    """

    distances: Tensor
    classes: Tensor


class FreeHead(nn.Module):
    """An anchor-free head with two branches of the same shape.

    In training, the first branch learns many predictions per object, which is a strong signal. The second branch learns
    one prediction per object. Inference uses the second branch, so it needs no NMS. The gradients of the second branch
    do not reach the features, which are learnt through the first.
    """

    def __init__(self, channels: tuple[int, ...], config: Config) -> None:
        super().__init__()
        self.num_classes, self.bins = config.num_classes, config.bins
        self.one_to_many, self.one_to_one = (self._branch(channels, config.image_size) for _ in range(2))

    def _branch(self, channels: tuple[int, ...], image_size: tuple[int, int]) -> nn.ModuleList:
        outputs = 4 * self.bins + self.num_classes
        branch = nn.ModuleList(nn.Sequential(conv(c, c, 3), conv(c, c, 3), nn.Conv2d(c, outputs, 1)) for c in channels)
        for scale, stride in zip(branch, STRIDES, strict=True):
            distances, classes = scale[-1].bias.detach().split([4 * self.bins, self.num_classes])
            # Task alignment weights what a prediction learns by its overlap to the power of 6, so the first boxes must
            # overlap objects, or nothing but background is learnt. Equally likely distances make boxes of 15 strides,
            # larger than most objects. With a mean of two strides, boxes are as large as YOLOv3's anchors in the
            # median. The logits fall linearly: of all distributions with that mean, this one presumes the least.
            distances.view(4, -1)[:] = torch.arange(self.bins) * math.log(2 / 3)
            # The loss of the classes is a sum over all cells, divided by the sum of the targets. If all scores begin
            # too high, they are nearly the whole loss. So each map begins with one object in an image, of any class: a
            # prior as in RetinaNet (arXiv:1708.02002), but by stride, as fine maps have more cells for their objects.
            classes[:] = -math.log(self.num_classes * image_size[0] * image_size[1] / stride**2)
        return branch

    def forward(self, features: list[Tensor]) -> tuple[FreeMaps, FreeMaps]:
        detached = [x.detach() for x in features]
        return self._run(self.one_to_many, features), self._run(self.one_to_one, detached)

    def _run(self, branch: nn.ModuleList, features: list[Tensor]) -> FreeMaps:
        raw = [scale(x).flatten(2).transpose(1, 2) for scale, x in zip(branch, features, strict=True)]
        every = torch.cat(raw, dim=1)  # (B, P, 4 * bins + K)
        distances, classes = every.split([4 * self.bins, self.num_classes], dim=2)
        return FreeMaps(distances.unflatten(2, (4, self.bins)), classes)


class YOLO(nn.Module):
    """The whole network: backbone, neck and head. It takes images of any size whose sides are multiples of 32."""

    def __init__(self, config: Config | None = None) -> None:
        super().__init__()
        config = self.config = config or Config()
        self.backbone = Darknet53(config.width, config.depth)
        self.neck = FPN(self.backbone.channels)
        self.head: nn.Module = (
            AnchorHead(self.neck.channels, config.num_classes, len(config.anchors[0]))
            if config.head == "anchor"
            else FreeHead(self.neck.channels, config)
        )

    def forward(self, image: Tensor) -> Any:  # (B, 3, H, W) within [0, 1] -> AnchorMaps, or two FreeMaps
        self.config.resized(image)  # a sentence about a size that the neck could not put together
        return self.head(self.neck(*self.backbone(image)))
