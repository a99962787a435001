"""Drawing an image with the detected boxes."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from ioukit._label_places import place_labels
from ioukit._optional import import_extra
from ioukit.torch.detector.data import Pixels, open_image
from ioukit.torch.detector.predict import Result
from ioukit.typing import FloatArray

# The palette of Okabe and Ito, which people with any colour vision can tell apart.
CLASS_COLOURS = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (0, 0, 0))
BLACK, WHITE = (0, 0, 0), (255, 255, 255)
NOTE_COLOUR = (240, 240, 240)
BRIGHT = 0.18  # above this luminance, black letters have more contrast than white ones
COVERED = 0.3  # the part of the image that labels may cover; more of them would hide what they name

Place: TypeAlias = "tuple[int, float, float] | None"
"""The position of the wording of a label, and its left and top; None for a label without room."""


def draw(result: Result) -> Pixels:
    """(H, W, 3) the image with its boxes, higher scores on top, and labels with class and score.

    No label covers another or leaves the image, and each touches its box and has its colour. The labels of the best
    boxes choose their places first. Where the text has no room, the class stands alone; where that has none either, the
    box has no label, and a note in the lower left corner says how many labels are left out.
    """
    image, image_draw, font = (
        import_extra(f"PIL.{name}", extra="torch", needed_by="drawing") for name in ("Image", "ImageDraw", "ImageFont")
    )
    canvas = image.fromarray(result.image if isinstance(result.image, np.ndarray) else open_image(result.image))
    pen = image_draw.Draw(canvas)
    line = max(2, round(min(result.size) / 200))
    letters = font.load_default(max(11, round(min(result.size) / 32)))
    boxes = result.boxes.xyxy.astype(np.float64)
    colours = [CLASS_COLOURS[label % len(CLASS_COLOURS)] for label in result.boxes.cls.tolist()]
    for box, colour in reversed(list(zip(boxes.tolist(), colours, strict=True))):
        pen.rectangle(box, outline=colour, width=line)
    plates = _Plates(pen, letters, line)
    wordings = _wordings(result)
    places, note = _places(boxes, wordings, plates, result.size)
    for words, place, colour in zip(wordings, places, colours, strict=True):
        if place is not None:
            wording, x, y = place
            plates.draw(words[wording], x, y, colour)
    if note is not None:
        plates.draw(*note, NOTE_COLOUR)
    return np.asarray(canvas)


class _Plates:
    """Texts on rectangles of one colour."""

    def __init__(self, pen: Any, letters: Any, line: int) -> None:
        self._pen, self._letters, self._margin = pen, letters, line

    def size(self, text: str) -> tuple[float, float]:
        """(width, height) in whole pixels: the letters with a margin around them."""
        _, _, width, height = self._pen.textbbox((0, 0), text, font=self._letters)
        return math.ceil(width) + 2 * self._margin, math.ceil(height) + 2 * self._margin

    def draw(self, text: str, x: float, y: float, colour: tuple[int, int, int]) -> None:
        """Draws a text with its plate; ``x`` and ``y`` are the left and the top of the plate."""
        left, top = math.floor(x), math.floor(y)
        width, height = self.size(text)
        self._pen.rectangle((left, top, left + width - 1, top + height - 1), fill=colour)
        ink = BLACK if _luminance(colour) > BRIGHT else WHITE
        self._pen.text((left + self._margin, top + self._margin), text, fill=ink, font=self._letters)


def _places(
    boxes: FloatArray, wordings: list[tuple[str, str]], plates: _Plates, size: tuple[int, int]
) -> tuple[list[Place], tuple[str, float, float] | None]:
    """The places of the labels; and the note about those that are left out, with its left and top."""
    sizes = [[plates.size(words) for words in both] for both in wordings]
    frame = np.array([0, 0, *size], np.float64)
    places = place_labels(boxes, sizes, frame, covered=COVERED)
    if None not in places:
        return places, None
    # The note takes room from the labels, so that more of them may be left out than before.
    width, height = plates.size(_note(len(boxes), len(boxes)))
    left, top = 0.0, size[1] - height
    if width > size[0] or top < 0:
        return places, None
    places = place_labels(boxes, sizes, frame, covered=COVERED, taken=[(left, top, left + width, top + height)])
    return places, (_note(places.count(None), len(boxes)), left, top)


def _note(missing: int, count: int) -> str:
    return f"{missing} of {count} labels left out"


def _luminance(colour: tuple[int, int, int]) -> float:
    """The relative luminance of an sRGB colour, by WCAG 2."""
    red, green, blue = ((c / 255 + 0.055) ** 2.4 / 1.055**2.4 if c > 10 else c / 255 / 12.92 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _wordings(result: Result) -> list[tuple[str, str]]:
    """For each box its class with the score, and its class alone."""
    classes = [result.names[label] if result.names else str(label) for label in result.boxes.cls.tolist()]
    return [(f"{name} {score:.2f}", name) for name, score in zip(classes, result.boxes.conf.tolist(), strict=True)]
