"""Scenes of shapes over a textured background, of which every pixel is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ioukit.datasets.shapes.outlines import digit, disc, regular_polygon, star

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.datasets.shapes.outlines import Outline
    from ioukit.typing import FloatArray

__all__ = ["CLASSES", "Scene", "check_size", "draw_scene"]

CLASSES = ("circle", "ellipse", "triangle", "square", "pentagon", "star", "digit")
"""Names of the classes; a label is a position here."""

_OUTLINES = {
    "circle": disc(),
    "triangle": regular_polygon(3),
    "square": regular_polygon(4),
    "pentagon": regular_polygon(5),
    "star": star(),
}

SIZES = (0.08, 0.5)  # of a shape's longer side, in parts of the image's shorter one
ASPECTS = (0.3, 0.65)  # of an ellipse: a rounder one would be taken for a circle
MEAN_SHAPES, MOST_SHAPES = 4, 12
STAYS_VISIBLE = 0.4  # the part of a shape that shapes in front leave in sight, at least
LEAST_PIXELS = 20
ATTEMPTS = 20  # at placing a shape before the scene goes without it
LEAST_CONTRAST = 70.0  # between a shape's colour and what it is drawn over, of 441 from black to white
SMALLEST_IMAGE = 32


@dataclass(frozen=True, eq=False)
class Scene:
    """A drawn image and what is in it, back to front.

    Every shape is there: at least two fifths of each can be seen. Masks and boxes are those of what can be seen.

    Attributes:
        pixels: (H, W, 3) RGB, uint8.
        labels: (N,) positions in `CLASSES`.
        masks: (N, H, W) which pixels show the shape; no pixel shows two.
        boxes: (N, 4) xyxy in pixels, the edges of those pixels: exact, and whole numbers.
    """

    pixels: NDArray[np.uint8]
    labels: NDArray[np.int64]
    masks: NDArray[np.bool_]
    boxes: FloatArray


def check_size(size: tuple[int, int]) -> None:
    """Raises `ValueError` unless ``size`` is a (width, height) that shapes fit into."""
    if len(size) != 2 or min(size) < SMALLEST_IMAGE:
        raise ValueError(f"size must be (width, height) of at least {SMALLEST_IMAGE} pixels each, got {size}")


def draw_scene(
    index: int, *, seed: int = 1, size: tuple[int, int] = (416, 416), handwritten: bool | None = None
) -> Scene:
    """One scene of a data set: the same for the same arguments, whatever other scenes are drawn.

    Circles, ellipses, triangles, squares, pentagons, stars and digits, 1 to 12 of them, turned, textured, overlapping,
    of 8 to 50 parts in a hundred of the shorter side of the image; they may reach over its edge. Colour tells nothing
    of the class.

    Args:
        index: The number of the scene, from 0 on.
        seed: Of the data set.
        size: (width, height) in pixels, at least 32 each.
        handwritten: Whether digits are scikit-learn's handwritten ones rather than a font's; by default if it is
            installed, so name it where two machines must draw the same.

    Raises:
        ValueError: If the size is too small, or a number negative.
        ModuleNotFoundError: If a digit is to be drawn and neither scikit-learn nor Pillow is installed.
    """
    check_size(size)
    rng = np.random.default_rng([seed, index])  # refuses negative numbers
    width, height = size
    pixels = _texture(rng, width, height, rng.uniform(30, 225, 3), contrast=45)
    owner = np.full((height, width), -1)
    labels: list[int] = []
    areas: list[int] = []
    wanted = int(np.clip(rng.poisson(MEAN_SHAPES - 1) + 1, 1, MOST_SHAPES))
    for _ in range(ATTEMPTS * wanted):
        if len(labels) == wanted:
            break
        label = int(rng.integers(len(CLASSES)))
        mask = _place(rng, label, width, height, handwritten)
        area = int(mask.sum())
        if area < LEAST_PIXELS or not _all_visible(owner, mask, areas):
            continue
        under = pixels[mask].mean(axis=0)
        colour = _contrasting(rng, under)
        pixels[mask] = _texture(rng, width, height, colour, contrast=20)[mask]
        owner[mask] = len(labels)
        labels.append(label)
        areas.append(area)
    noisy = pixels + rng.normal(0, 6, pixels.shape)
    masks = owner == np.arange(len(labels))[:, None, None]
    return Scene(np.clip(np.rint(noisy), 0, 255).astype(np.uint8), np.array(labels, np.int64), masks, _boxes(masks))


def _place(
    rng: np.random.Generator, label: int, width: int, height: int, handwritten: bool | None
) -> NDArray[np.bool_]:
    """(H, W) which pixels a new shape covers: those whose centres it does."""
    outline, (across, along) = _outline(rng, label, handwritten)
    low, high = SIZES
    # Alike in the logarithm: as many shapes from 8 to 16 parts in a hundred as from 16 to 32.
    half = min(width, height) * np.exp(rng.uniform(np.log(low), np.log(high))) / 2
    x, y = rng.uniform(0, width), rng.uniform(0, height)
    # Digits stand nearly upright, or nobody could read them.
    turn = rng.uniform(-0.4, 0.4) if CLASSES[label] == "digit" else rng.uniform(0, 2 * np.pi)
    cos, sin = np.cos(turn), np.sin(turn)
    dx = np.arange(width)[None, :] + 0.5 - x
    dy = np.arange(height)[:, None] + 0.5 - y
    return outline((cos * dx + sin * dy) / (half * across), (cos * dy - sin * dx) / (half * along))


def _outline(rng: np.random.Generator, label: int, handwritten: bool | None) -> tuple[Outline, tuple[float, float]]:
    """The shape of a class, and its half axes."""
    round_, both = (1.0, 1.0), rng.uniform(*ASPECTS)
    number = int(rng.integers(1 << 16))
    name = CLASSES[label]
    if name == "ellipse":
        return disc(), (1.0, both)
    if name == "digit":
        return digit(number, handwritten=handwritten), round_
    return _OUTLINES[name], round_


def _all_visible(owner: NDArray[np.int64], mask: NDArray[np.bool_], areas: list[int]) -> bool:
    """Whether enough of each shape stays in sight behind a new one."""
    left = np.bincount(owner[~mask] + 1, minlength=len(areas) + 1)[1:]
    return all(seen >= max(STAYS_VISIBLE * area, LEAST_PIXELS) for seen, area in zip(left, areas, strict=True))


def _contrasting(rng: np.random.Generator, under: FloatArray) -> FloatArray:
    while True:
        colour = rng.uniform(10, 245, 3)
        if np.linalg.norm(colour - under) >= LEAST_CONTRAST:
            return colour


def _texture(rng: np.random.Generator, width: int, height: int, colour: FloatArray, contrast: float) -> FloatArray:
    """(H, W, 3) a colour with clouds of three sizes and, sometimes, stripes."""
    shade = contrast * sum((_clouds(rng, width, height, 3**k) / 2 ** (k - 1) for k in (1, 2, 3)), np.zeros(1))
    if rng.random() < 0.4:
        angle, waves = rng.uniform(0, np.pi), rng.uniform(4, 20)
        x, y = np.arange(width) / width, np.arange(height) / height
        shade = shade + 0.5 * contrast * np.sin(2 * np.pi * waves * (x * np.cos(angle) + y[:, None] * np.sin(angle)))
    tint = rng.uniform(0.6, 1.0, 3)
    textured: FloatArray = colour + shade[..., None] * tint
    return textured


def _clouds(rng: np.random.Generator, width: int, height: int, cells: int) -> FloatArray:
    """(H, W) random numbers on a coarse grid, and what lies between them linearly."""
    grid = rng.uniform(-1, 1, (cells + 1, cells + 1))
    rows, columns = (_between(length, cells) for length in (height, width))
    field: FloatArray = rows @ grid @ columns.T
    return field


def _between(length: int, cells: int) -> FloatArray:
    """(length, cells + 1) the weights of the two grid lines beside each pixel."""
    place = (np.arange(length) + 0.5) / length * cells
    weights: FloatArray = np.maximum(0.0, 1 - np.abs(place[:, None] - np.arange(cells + 1)))
    return weights


def _boxes(masks: NDArray[np.bool_]) -> FloatArray:
    """(N, 4) the edges of the pixels of each mask, none of which is empty."""
    boxes = np.zeros((len(masks), 4))
    for box, mask in zip(boxes, masks, strict=True):
        columns, rows = np.flatnonzero(mask.any(axis=0)), np.flatnonzero(mask.any(axis=1))
        box[:] = columns[0], rows[0], columns[-1] + 1, rows[-1] + 1
    return boxes
