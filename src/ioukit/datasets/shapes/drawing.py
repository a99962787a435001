"""Scenes of shapes over a textured background; for every pixel it is known which shape it shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ioukit.datasets.shapes.outlines import digit, disc, regular_polygon, star
from ioukit.regions.masks import Masks

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.datasets.shapes.outlines import Outline
    from ioukit.typing import FloatArray


CLASSES = ("circle", "ellipse", "triangle", "square", "pentagon", "star", "digit")
"""Names of the classes; a label is a position in this tuple."""

_OUTLINES = {
    "circle": disc(),
    "triangle": regular_polygon(3),
    "square": regular_polygon(4),
    "pentagon": regular_polygon(5),
    "star": star(),
}

SIDES = (0.08, 0.5)  # the longer side of a shape, as a fraction of the shorter side of the image
ASPECTS = (0.3, 0.65)  # of an ellipse: a rounder one looks like a circle
MEAN_SHAPES, MOST_SHAPES = 4, 12
STAYS_VISIBLE = 0.4  # the smallest fraction of a shape that shapes in front of it leave visible
LEAST_PIXELS = 20
ATTEMPTS = 20  # to place a shape, on average; a scene that needs more gets fewer shapes
LEAST_CONTRAST = 70.0  # between the colour of a shape and that below it; from black to white it is 441
SMALLEST_IMAGE = 32


@dataclass(frozen=True, eq=False)
class Scene:
    """A drawn image and its N shapes, from the back to the front.

    At least two fifths of each shape are visible. Masks and boxes are those of the visible pixels.

    Attributes:
        pixels: (H, W, 3) RGB, uint8.
        labels: (N,) positions in `CLASSES`.
        masks: (N, H, W) whether a pixel shows the shape; no pixel shows two shapes.
        boxes: (N, 4) xyxy in pixels: the edges of the visible pixels, exact whole numbers.
    """

    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]
    masks: NDArray[np.bool_]
    boxes: FloatArray


def check_size(size: tuple[int, int]) -> None:
    """Raises `ValueError` unless ``size`` is a (width, height) that is large enough for shapes."""
    if len(size) != 2 or min(size) < SMALLEST_IMAGE:
        raise ValueError(f"size must be (width, height) of at least {SMALLEST_IMAGE} pixels each, got {size}")


def draw_scene(
    index: int,
    *,
    seed: int = 1,
    size: tuple[int, int] = (416, 416),
    handwritten: bool | None = None,
    sides: tuple[float, float] = SIDES,
    mean: float = MEAN_SHAPES,
    whole: bool = False,
) -> Scene:
    """Draws one scene of a data set; it depends on the arguments only, not on other scenes.

    A scene has 1 to 12 circles, ellipses, triangles, squares, pentagons, stars and digits. They are turned, textured
    and may overlap. The colour of a shape does not depend on its class.

    Args:
        index: The number of the scene, from 0 on.
        seed: The seed of the data set.
        size: (width, height) in pixels, at least 32 each.
        handwritten: Whether digits are scikit-learn's handwritten ones rather than those of a font; by default
            handwritten if scikit-learn is installed. Set it where two machines must draw the same.
        sides: The least and the largest longer side of a shape, as fractions of the shorter side of the image.
        mean: How many shapes there are on average, at least 1; fewer where they would cover each other.
        whole: Whether no shape reaches over the edge of the image.

    Raises:
        ValueError: If the size is too small, or another number is out of its range.
        ModuleNotFoundError: If a digit is drawn and the package that it comes from is not installed: Pillow, or
            scikit-learn with ``handwritten=True``.
    """
    check_size(size)
    if not (0 < sides[0] <= sides[1] <= 1 and mean >= 1):
        raise ValueError(f"sides must ascend within (0, 1], and mean be at least 1, got {sides} and {mean}")
    rng = np.random.default_rng([seed, index])  # refuses negative numbers
    width, height = size
    pixels = _texture(rng, width, height, rng.uniform(30, 225, 3), contrast=45)
    owner = np.full((height, width), -1)
    labels: list[int] = []
    areas: list[int] = []
    wanted = int(np.clip(rng.poisson(mean - 1) + 1, 1, MOST_SHAPES))
    for _ in range(ATTEMPTS * wanted):
        if len(labels) == wanted:
            break
        label = int(rng.integers(len(CLASSES)))
        mask = _place(rng, label, width, height, handwritten, sides, whole=whole)
        area = int(mask.sum())
        if area < LEAST_PIXELS or not _all_visible(owner, mask, areas):
            continue
        colour = _contrasting(rng, pixels[mask].mean(axis=0))
        pixels[mask] = _texture(rng, width, height, colour, contrast=20)[mask]
        owner[mask] = len(labels)
        labels.append(label)
        areas.append(area)
    noisy = pixels + rng.normal(0, 6, pixels.shape)
    masks = owner == np.arange(len(labels))[:, None, None]
    boxes = Masks.from_arrays(masks).to_boxes().numpy().astype(np.float64)
    return Scene(np.clip(np.rint(noisy), 0, 255).astype(np.uint8), np.array(labels, np.int64), masks, boxes)


def _place(
    rng: np.random.Generator,
    label: int,
    width: int,
    height: int,
    handwritten: bool | None,
    sides: tuple[float, float],
    *,
    whole: bool,
) -> NDArray[np.bool_]:
    """(H, W) whether a new shape covers the centre of a pixel."""
    outline, (across, along) = _outline(rng, label, handwritten)
    # Uniform in the logarithm: as many shapes of 8 % to 16 % as of 16 % to 32 %.
    half = min(width, height) * np.exp(rng.uniform(*np.log(sides))) / 2
    inset = half if whole else 0.0
    x, y = rng.uniform(inset, width - inset), rng.uniform(inset, height - inset)
    # Digits stay nearly upright: turned further, a 6 could be a 9.
    turn = rng.uniform(-0.4, 0.4) if CLASSES[label] == "digit" else rng.uniform(0, 2 * np.pi)
    cos, sin = np.cos(turn), np.sin(turn)
    dx = np.arange(width)[None, :] + 0.5 - x
    dy = np.arange(height)[:, None] + 0.5 - y
    return outline((cos * dx + sin * dy) / (half * across), (cos * dy - sin * dx) / (half * along))


def _outline(rng: np.random.Generator, label: int, handwritten: bool | None) -> tuple[Outline, tuple[float, float]]:
    """The outline of a class, and its half axes."""
    round_, both = (1.0, 1.0), rng.uniform(*ASPECTS)
    number = int(rng.integers(1 << 16))
    name = CLASSES[label]
    if name == "ellipse":
        return disc(), (1.0, both)
    if name == "digit":
        return digit(number, handwritten=handwritten), round_
    return _OUTLINES[name], round_


def _all_visible(owner: NDArray[np.int64], mask: NDArray[np.bool_], areas: list[int]) -> bool:
    """Whether enough of each shape stays visible behind a new one."""
    left = np.bincount(owner[~mask] + 1, minlength=len(areas) + 1)[1:]
    return all(seen >= max(STAYS_VISIBLE * area, LEAST_PIXELS) for seen, area in zip(left, areas, strict=True))


def _contrasting(rng: np.random.Generator, under: FloatArray) -> FloatArray:
    while True:
        colour = rng.uniform(10, 245, 3)
        if np.linalg.norm(colour - under) >= LEAST_CONTRAST:
            return colour


def _texture(rng: np.random.Generator, width: int, height: int, colour: FloatArray, contrast: float) -> FloatArray:
    """(H, W, 3) a colour with noise of three scales and sometimes with stripes."""
    shade = contrast * sum((_clouds(rng, width, height, 3**k) / 2 ** (k - 1) for k in (1, 2, 3)), np.zeros(1))
    if rng.random() < 0.4:
        angle, waves = rng.uniform(0, np.pi), rng.uniform(4, 20)
        x, y = np.arange(width) / width, np.arange(height) / height
        shade = shade + 0.5 * contrast * np.sin(2 * np.pi * waves * (x * np.cos(angle) + y[:, None] * np.sin(angle)))
    tint = rng.uniform(0.6, 1.0, 3)
    textured: FloatArray = colour + shade[..., None] * tint
    return textured


def _clouds(rng: np.random.Generator, width: int, height: int, cells: int) -> FloatArray:
    """(H, W) random numbers on a coarse grid, interpolated linearly."""
    grid = rng.uniform(-1, 1, (cells + 1, cells + 1))
    rows, columns = (_between(length, cells) for length in (height, width))
    field: FloatArray = rows @ grid @ columns.T
    return field


def _between(length: int, cells: int) -> FloatArray:
    """(length, cells + 1) the weight of each grid line for each pixel, for linear interpolation."""
    place = (np.arange(length) + 0.5) / length * cells
    weights: FloatArray = np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(cells + 1)))
    return weights
