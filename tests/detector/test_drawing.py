"""The picture of a result: labels that do not cover each other, stay in the image, and can be read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")

from ioukit.torch.detector import drawing
from ioukit.torch.detector.drawing import draw
from ioukit.torch.detector.predict import FoundBoxes, Result


def crowded_scene() -> Result:
    """Five boxes nearly on each other, whose labels would cover each other above them."""
    corners = np.array([[60 + k, 60 + k, 140 + k, 140 + k] for k in range(5)], np.float32)
    boxes = FoundBoxes(corners, np.linspace(0.9, 0.5, 5, dtype=np.float32), np.arange(5))
    return Result(np.full((240, 240, 3), 128, np.uint8), (240, 240), boxes, tuple(f"class {k}" for k in range(5)))


def plates_of(result: Result, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, list[tuple[str, Any, Any]]]:
    """The picture, and the text, the rectangle and the colour of each plate in it."""
    plates: list[tuple[str, Any, Any]] = []
    plain = drawing._Plates.draw

    def kept(self: Any, text: str, x: float, y: float, colour: Any) -> None:
        width, height = self.size(text)
        plates.append((text, (math.floor(x), math.floor(y), math.floor(x) + width, math.floor(y) + height), colour))
        plain(self, text, x, y, colour)

    with monkeypatch.context() as patched:
        patched.setattr(drawing._Plates, "draw", kept)
        return draw(result), plates


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(0, 250), width=st.integers(8, 400),
    height=st.integers(8, 400), largest=st.sampled_from([0.05, 0.3, 1.5]), letters=st.integers(1, 30),
)  # fmt: skip
def test_no_label_covers_another_or_leaves_the_image(
    monkeypatch: pytest.MonkeyPatch, seed: int, count: int, width: int, height: int, largest: float, letters: int
) -> None:
    rng = np.random.default_rng(seed)
    size = np.array([width, height])
    low = rng.uniform(-0.1, 1, (count, 2)) * size  # some reach out of the image
    corners = np.concatenate([low, low + rng.uniform(0, largest, (count, 2)) * size], axis=1).astype(np.float32)
    labels = rng.integers(0, 9, count)
    scores = np.sort(rng.uniform(0, 1, count).astype(np.float32))[::-1]
    names = tuple(f"{k}" * letters for k in range(9))
    image = np.full((height, width, 3), 128, np.uint8)
    result = Result(image, (width, height), FoundBoxes(corners, scores, labels), names)
    drawn, plates = plates_of(result, monkeypatch)
    assert drawn.shape == image.shape
    for number, (_, (left, top, right, bottom), _) in enumerate(plates):
        assert 0 <= left < right <= width
        assert 0 <= top < bottom <= height
        for _, (x1, y1, x2, y2), _ in plates[:number]:
            assert x1 >= right or x2 <= left or y1 >= bottom or y2 <= top
    notes = [text for text, _, colour in plates if colour == drawing.NOTE_COLOUR]
    shown = [plate for plate in plates if plate[2] != drawing.NOTE_COLOUR]
    wordings = {f"{names[k]} {score:.2f}" for k, score in zip(labels, scores, strict=True)} | set(names)
    assert {text for text, _, _ in shown} <= wordings
    if notes:
        assert notes == [f"{count - len(shown)} of {count} labels left out"]
    for text, (left, top, right, bottom), colour in shown:
        touched = (corners[:, 0] <= right + 1) & (corners[:, 2] >= left - 1)
        touched &= (corners[:, 1] <= bottom + 1) & (corners[:, 3] >= top - 1)
        own = [names[k] == text.partition(" ")[0] and drawing.CLASS_COLOURS[k % 7] == colour for k in labels]
        assert (touched & own).any(), "a label touches a box of its class, and has its colour"


def test_all_labels_of_few_boxes_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    _, plates = plates_of(crowded_scene(), monkeypatch)
    assert sorted(text for text, _, _ in plates) == [f"class {k} {0.9 - k / 10:.2f}" for k in range(5)]


def test_a_note_says_how_many_labels_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    crowded = crowded_scene()
    corners = np.repeat(crowded.boxes.xyxy, 40, axis=0)
    boxes = FoundBoxes(corners, np.linspace(0.9, 0.3, 200, dtype=np.float32), np.arange(200) % 5)
    _, plates = plates_of(Result(crowded.image, crowded.size, boxes, crowded.names), monkeypatch)
    text, (left, _, _, bottom), _ = plates[-1]
    assert text == f"{200 - len(plates) + 1} of 200 labels left out"
    assert (left, bottom) == (0, 240)
    assert plates[0][0] == "class 0 0.90", "the best box has a label"


def test_letters_are_readable_on_each_colour() -> None:
    """A contrast of at least 4.5 by WCAG 2."""
    for colour in (*drawing.CLASS_COLOURS, drawing.NOTE_COLOUR):
        bright = drawing._luminance(colour)
        contrast = (bright + 0.05) / 0.05 if bright > drawing.BRIGHT else 1.05 / (bright + 0.05)
        assert contrast >= 4.5
    assert drawing._luminance((255, 255, 255)) == pytest.approx(1)
    assert drawing._luminance((0, 0, 0)) == 0


def test_no_boxes_change_nothing() -> None:
    crowded = crowded_scene()
    empty = FoundBoxes(np.zeros((0, 4), np.float32), np.zeros(0, np.float32), np.zeros(0, np.int64))
    assert np.array_equal(draw(Result(crowded.image, crowded.size, empty, ())), crowded.image)
