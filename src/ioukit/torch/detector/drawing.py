"""Drawing an image with the detected boxes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from ioukit._optional import import_extra
from ioukit.torch.detector.data import Pixels, open_image
from ioukit.torch.detector.predict import Result
from ioukit.typing import FloatArray

__all__ = ["PlaceLabels", "above_boxes", "draw"]

# The palette of Okabe and Ito, which people with any colour vision can tell apart.
COLOURS = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (0, 0, 0))

PlaceLabels: TypeAlias = Callable[
    [FloatArray, Sequence[Sequence[tuple[float, float]]], FloatArray], list[tuple[int, float, float] | None]
]
"""Finds places for labels: from (N, 4) boxes, for each the sizes of its wordings, and the frame, to the chosen wording
with its left and top, or ``None`` for no label."""


def above_boxes(
    boxes: FloatArray, sizes: Sequence[Sequence[tuple[float, float]]], frame: FloatArray
) -> list[tuple[int, float, float] | None]:
    """Places each label above the left corner of its box, moved into the frame; labels may cover each other."""
    return [
        (0, max(frame[0], min(box[0], frame[2] - width)), max(frame[1], box[1] - height))
        for box, ((width, height), *_) in zip(boxes, sizes, strict=True)
    ]


def draw(result: Result, *, place_labels: PlaceLabels = above_boxes) -> Pixels:
    """(H, W, 3) the image with its boxes, higher scores on top, and labels with class and score.

    Args:
        result: The boxes of one image.
        place_labels: Finds the places of the labels, the best box first. It may choose the shorter of two wordings
            (class and score, or the class alone) or leave a label out.
    """
    image, image_draw, font = (
        import_extra(f"PIL.{name}", extra="torch", needed_by="drawing") for name in ("Image", "ImageDraw", "ImageFont")
    )
    pixels = result.image if isinstance(result.image, np.ndarray) else open_image(result.image)
    canvas = image.fromarray(pixels)
    pen = image_draw.Draw(canvas)
    line = max(2, round(min(result.size) / 200))
    letters = font.load_default(max(11, round(min(result.size) / 32)))
    boxes = result.boxes.xyxy.astype(np.float64)
    colours = [COLOURS[label % len(COLOURS)] for label in result.boxes.cls.tolist()]
    wordings = _wordings(result)
    sizes = [[_plate(pen, words, letters, line) for words in both] for both in wordings]
    places = place_labels(boxes, sizes, np.array([0, 0, *result.size], np.float64))
    for box, colour in reversed(list(zip(boxes.tolist(), colours, strict=True))):
        pen.rectangle(box, outline=colour, width=line)
    for words, size, place, colour in reversed(list(zip(wordings, sizes, places, colours, strict=True))):
        if place is not None:
            wording, x, y = place
            width, height = size[wording]
            pen.rectangle((x, y, x + width - 1, y + height - 1), fill=colour)
            pen.text((x + line, y + line), words[wording], fill=(255, 255, 255), font=letters)
    return np.asarray(canvas)


def _wordings(result: Result) -> list[tuple[str, str]]:
    """For each box its class with the score, and its class alone."""
    classes = [result.names[label] if result.names else str(label) for label in result.boxes.cls.tolist()]
    return [(f"{name} {score:.2f}", name) for name, score in zip(classes, result.boxes.conf.tolist(), strict=True)]


def _plate(pen: Any, text: str, letters: Any, line: int) -> tuple[float, float]:
    """(width, height) of a label: its letters with a margin around them."""
    _, _, width, height = pen.textbbox((0, 0), text, font=letters)
    return width + 2 * line, height + 2 * line
