"""Colours for labels, and lists of colours."""

from __future__ import annotations

import colorsys
import hashlib
from typing import TYPE_CHECKING

import numpy as np

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from ioukit.compat.docsaidkit.drawing.arguments import Color

__all__ = ["color_of_label", "generate_colors"]

_STEPS = {"triadic": 1 / 3, "analogous": 0.05, "square": 1 / 4}


def generate_colors(n: int, scheme: str = "hsv") -> list[Color]:
    """A list of n colours, (red, green, blue) within [0, 255].

    Args:
        n: How many.
        scheme: The name of a colour map of Matplotlib (extra ``plots``), read at ``i / n``; or ``"triadic"``,
            ``"analogous"`` or ``"square"``: full colours whose hues are a third, a twentieth or a quarter of a turn
            apart. Their first hue is random; ``np.random.seed`` fixes it.

    Raises:
        ValueError: If there is no such scheme. (Upstream prints a line and returns an empty list.)
    """
    if scheme in _STEPS:
        first = np.random.rand()  # noqa: NPY002 - upstream's generator, so that a seed gives the same colours
        shares = [colorsys.hsv_to_rgb((first + k * _STEPS[scheme]) % 1, 1, 1) for k in range(n)]
    else:
        matplotlib = import_extra("matplotlib", extra="plots", needed_by=f"the colour map {scheme!r}")
        if scheme not in matplotlib.colormaps:
            raise ValueError(f"unknown scheme {scheme!r}; choose {', '.join(_STEPS)} or a colour map of Matplotlib")
        shares = [matplotlib.colormaps[scheme](k / n)[:3] for k in range(n)]
    return [(int(red * 255), int(green * 255), int(blue * 255)) for red, green, blue in shares]


def color_of_label(label: str) -> Color:
    """A colour (blue, green, red) that depends on the label alone; numbers near each other get unlike colours."""
    try:
        number = int(label)
    except ValueError:
        number = int(hashlib.sha1(label.encode(), usedforsecurity=False).hexdigest()[:8], 16)
    saturation, value = (0.65, 0.8, 0.5)[number // 20 % 3], (1.0, 0.9, 0.8)[number // 10 % 3]
    red, green, blue = colorsys.hsv_to_rgb(_radical_inverse(number + 1), saturation, value)
    return int(blue * 255), int(green * 255), int(red * 255)


def _radical_inverse(number: int) -> float:
    """The binary digits of a number, mirrored at the point: 1, 2, 3 give 1/2, 1/4, 3/4 (van der Corput)."""
    share, weight = 0.0, 0.5
    while number > 0:
        share, weight, number = share + weight * (number & 1), weight / 2, number >> 1
    return share
