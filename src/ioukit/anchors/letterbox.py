"""Letterbox: an image resized to the size of the network's input with its proportions kept, and padding around it."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import namespace_of
from ioukit._checks import check_format
from ioukit._optional import import_extra
from ioukit.anchors._arithmetic import all_like, floats
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat


@dataclass(frozen=True)
class Letterbox:
    """The mapping from an image to the network's input and back: a scale and a shift along each axis.

    The image is resized to whole pixels. The scale of an axis is the ratio of the two sizes along it, so the scales of
    the two axes may differ by the rounding of a pixel. Boxes are mapped by the true scale of each axis. Tools that use
    one factor for both axes are wrong by up to half a pixel at the far edge.

    Args:
        image_size: (width, height) of the image in pixels.
        size: (width, height) of the network's input in pixels.
        centered: Whether the padding is split between both sides. If False, all of it is on the right and below.
        enlarge: Whether an image smaller than the input is enlarged.

    Examples:
        >>> letterbox = Letterbox((1280, 720), (640, 640))
        >>> letterbox.scale, letterbox.padding
        ((0.5, 0.5), (0, 140))
        >>> letterbox.boxes([[100, 100, 300, 200]])
        array([[ 50., 190., 150., 240.]])
        >>> letterbox.boxes_back([[50, 190, 150, 240]])
        array([[100., 100., 300., 200.]])
    """

    image_size: tuple[int, int]
    size: tuple[int, int]
    centered: bool = True
    enlarge: bool = True
    content: tuple[int, int] = field(init=False)
    """(width, height) of the resized image in the input, in pixels."""
    padding: tuple[int, int] = field(init=False)
    """Pixels of padding on the left and above. The rest of the padding is on the right and below."""
    scale: tuple[float, float] = field(init=False)
    """Pixels of the input per pixel of the image, in x and in y."""

    def __post_init__(self) -> None:
        for name in ("image_size", "size"):
            pair = tuple(operator.index(side) for side in getattr(self, name))
            if len(pair) != 2 or min(pair) < 1:
                raise ValueError(f"{name} must be a width and a height of at least 1 pixel, got {getattr(self, name)}")
            object.__setattr__(self, name, pair)
        (width, height), (wide, high) = self.image_size, self.size
        # The side that fills the input decides the scale. Integers, so that no rounding makes it a pixel too long.
        if not self.enlarge and width <= wide and height <= high:
            content = width, height
        elif wide * height <= high * width:
            content = wide, max(1, (2 * height * wide + width) // (2 * width))
        else:
            content = max(1, (2 * width * high + height) // (2 * height)), high
        free = wide - content[0], high - content[1]
        object.__setattr__(self, "content", content)
        object.__setattr__(self, "padding", (free[0] // 2, free[1] // 2) if self.centered else (0, 0))
        object.__setattr__(self, "scale", (content[0] / width, content[1] / height))

    def boxes(self, boxes: BoxesLike, *, format: BoxFormat = "xyxy") -> Any:
        """Boxes of the image as boxes of the input.

        Args:
            boxes: (..., 4) in pixels, xyxy by default, as an array of any library. Or `Boxes`, which keep their format
                and unit: normalized boxes become relative to the input.
            format: The format of plain arrays, and of the result.

        Returns:
            The mapped boxes, of the same kind.
        """
        return self._mapped(boxes, format, self.scale, self.padding, self.image_size, self.size)

    def boxes_back(
        self,
        boxes: BoxesLike,
        *,
        clip: bool = False,
        format: BoxFormat = "xyxy",
    ) -> Any:
        """Boxes of the input, such as detections, as boxes of the image.

        Args:
            boxes: (..., 4) as in `boxes`.
            clip: Whether boxes are clipped to the image; for `Boxes` and for xyxy arrays.
            format: The format of plain arrays, and of the result.

        Returns:
            The mapped boxes, of the same kind.

        Raises:
            ValueError: If ``clip`` is asked for plain arrays in another format than xyxy.
        """
        (sx, sy), (px, py) = self.scale, self.padding
        if clip and not isinstance(boxes, Boxes) and format != "xyxy":
            raise ValueError(f"clip needs Boxes or format='xyxy', got format={format!r}")
        back = self._mapped(boxes, format, (1 / sx, 1 / sy), (-px / sx, -py / sy), self.size, self.image_size)
        if not clip:
            return back
        width, height = self.image_size
        if isinstance(back, Boxes):
            return back.clip(0, 0, 1, 1) if back.normalized else back.clip(0, 0, width, height)
        xp = namespace_of(back)
        (limits,) = all_like(xp, back, limits=[width, height, width, height])
        return xp.minimum(xp.maximum(back, xp.zeros_like(limits)), limits)

    def apply(self, image: Any, *, fill: int = 114) -> Any:
        """The image as the input of the network: resized bilinearly and padded.

        Args:
            image: A `PIL.Image.Image`, or an array (height, width) or (height, width, channels) of uint8.
            fill: The value of the padding in every channel.

        Returns:
            The input image, of the same kind.

        Raises:
            ValueError: If the image has another size than ``image_size``.
            ModuleNotFoundError: If Pillow is not installed: ``pip install 'ioukit[plots]'``.
        """
        pil = import_extra("PIL.Image", extra="plots", needed_by="Letterbox.apply")
        given = image if isinstance(image, pil.Image) else pil.fromarray(_pixels(image))
        if given.size != self.image_size:
            raise ValueError(f"image must be {self.image_size} pixels (width, height), got {given.size}")
        colour = fill if len(given.getbands()) == 1 else (fill,) * len(given.getbands())
        canvas = pil.new(given.mode, self.size, colour)
        canvas.paste(given.resize(self.content, pil.Resampling.BILINEAR), self.padding)
        return canvas if given is image else np.asarray(canvas)

    def _mapped(
        self, boxes: Any, fmt: BoxFormat, scale: tuple[float, float], shift: tuple[float, float],
        source: tuple[int, int], target: tuple[int, int],
    ) -> Any:  # fmt: skip
        if isinstance(boxes, Boxes):
            pixels = boxes.denormalize(*source) if boxes.normalized else boxes
            numbers = self._mapped(pixels.numpy(), pixels.format, scale, shift, source, target)
            mapped = Boxes(numbers, pixels.format)
            return mapped.normalize(*target) if boxes.normalized else mapped
        check_format(fmt)
        xp, array = floats("boxes", boxes)
        moves = [*shift, *(shift if fmt == "xyxy" else (0.0, 0.0))]
        factors, offsets = all_like(xp, array, scale=[*scale, *scale], shift=moves)
        return array * factors + offsets


def _pixels(image: object) -> NDArray[np.uint8]:
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim not in {2, 3}:
        raise ValueError(f"image must be uint8 of shape (H, W) or (H, W, C), got {array.dtype} of shape {array.shape}")
    return array
