"""Masks over an image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.drawing._canvas import canvas

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.compat.docsaidkit.drawing._canvas import Image

__all__ = ["draw_mask"]


def draw_mask(
    img: Image,
    mask: NDArray[Any],
    colormap: int = 2,
    weight: tuple[float, float] = (0.5, 0.5),
    gamma: float = 0,
    min_max_normalize: bool = False,
) -> Image:
    """(H, W, 3) the image mixed with a mask in the colours of a map; needs OpenCV (extra ``opencv``).

    Args:
        img: (H, W), (H, W, 1) or (H, W, 3) uint8; it does not change.
        mask: (h, w), or (h, w, 3), which becomes grey; it is resized to the image. Values are cut to uint8.
        colormap: OpenCV's number of a colour map; 2 is ``cv2.COLORMAP_JET``.
        weight: The weights of the image and of the mask.
        gamma: Added to every channel.
        min_max_normalize: Whether the values of the mask are first spread over [0, 255].

    Raises:
        ValueError: If the mask has another shape.
    """
    cv2 = import_extra("cv2", extra="opencv", needed_by="draw_mask")
    painted = canvas(img)
    if not isinstance(mask, np.ndarray) or not (mask.ndim == 2 or (mask.ndim == 3 and mask.shape[2] == 3)):
        got = f"shape {mask.shape}" if isinstance(mask, np.ndarray) else type(mask).__name__
        raise ValueError(f"Mask must be either 2D or have 3 channels, got {got}")
    values = mask
    if min_max_normalize:
        values = mask.astype(np.float32)
        spread = float(values.max() - values.min())
        values = (values - values.min()) / (spread or 1.0) * 255
    values = values.astype(np.uint8)
    if values.ndim == 3:
        values = cv2.cvtColor(values, cv2.COLOR_BGR2GRAY)
    height, width = painted.shape[:2]
    colored = cv2.applyColorMap(cv2.resize(values, (width, height)), colormap)
    return cv2.addWeighted(painted, weight[0], colored, weight[1], gamma)
