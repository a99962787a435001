"""`draw_boxes`: any boxes on any image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import Boxes
from ioukit.plots import draw_boxes

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

if TYPE_CHECKING:
    from pathlib import Path

IMAGE: Any = np.random.default_rng(0).integers(0, 256, (120, 160, 3), np.uint8)
BOXES: Any = [[10.0, 20, 70, 90], [40, 30, 150, 110], [100, 5, 130, 25]]


def corners(ax: Any) -> dict[str, Any]:
    """What is drawn: xyxy by the name of the patch."""
    return {
        str(patch.get_gid()): np.concatenate(
            [patch.get_path().vertices.min(axis=0), patch.get_path().vertices.max(axis=0)]
        )
        for patch in ax.patches
    }


def texts(ax: Any) -> dict[str, str]:
    return {str(text.get_gid()): text.get_text() for text in ax.texts}


def render(ax: Any) -> Any:
    canvas: Any = FigureCanvasAgg(ax.figure)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3]


# ---- What is drawn.


def test_boxes_stand_where_they_are() -> None:
    ax = draw_boxes(IMAGE, BOXES)
    assert isinstance(ax.figure, Figure)
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 160), (120, 0))
    for number, box in enumerate(BOXES):
        assert_allclose(corners(ax)[f"box {number}"], box)
    assert texts(ax) == {}


@pytest.mark.parametrize(
    ("boxes", "options"),
    [
        (np.array(BOXES), {}),
        ([[10, 20, 60, 70], [40, 30, 110, 80], [100, 5, 30, 20]], {"format": "xywh"}),
        (Boxes(BOXES), {}),
        (Boxes([[10, 20, 60, 70], [40, 30, 110, 80], [100, 5, 30, 20]], "xywh"), {}),
        (Boxes(np.array(BOXES) / [160, 120, 160, 120], normalized=True, dtype=np.float64), {}),
    ],
    ids=["array", "xywh", "Boxes", "Boxes in xywh", "normalized"],
)
def test_boxes_of_any_kind(boxes: Any, options: dict[str, Any]) -> None:
    drawn = corners(draw_boxes(IMAGE, boxes, **options))
    for number, box in enumerate(BOXES):
        assert_allclose(drawn[f"box {number}"], box, rtol=1e-12)


def test_no_boxes() -> None:
    kinds: list[Any] = [[], np.zeros((0, 4)), Boxes([])]
    for none in kinds:
        ax = draw_boxes(IMAGE, none, [], [])
        assert not ax.patches
        render(ax)


def test_images_of_any_kind(tmp_path: Path) -> None:
    pil = Image.fromarray(IMAGE)
    pil.save(tmp_path / "image.png")
    as_array = render(draw_boxes(IMAGE, BOXES))
    for image in (tmp_path / "image.png", str(tmp_path / "image.png"), pil, IMAGE / 255):
        assert_allclose(render(draw_boxes(image, BOXES)), as_array, atol=2)
    grey = render(draw_boxes(IMAGE[..., 0], BOXES))
    assert_allclose(grey, render(draw_boxes(pil.getchannel(0), BOXES)))
    palette = pil.quantize(4)
    assert_allclose(render(draw_boxes(palette, BOXES)), render(draw_boxes(palette.convert("RGB"), BOXES)))


# ---- Labels.


@pytest.mark.parametrize(
    ("labels", "scores", "names", "expected"),
    [
        (["cat", "dog", "cat"], [0.9, 0.6, 0.25], None, ["cat 0.90", "dog 0.60", "cat 0.25"]),
        (["cat", "dog", "cat"], None, None, ["cat", "dog", "cat"]),
        (None, [0.9, 0.6, 0.25], None, ["0.90", "0.60", "0.25"]),
        ([0, 1, 0], [0.9, 0.6, 0.25], None, ["0 0.90", "1 0.60", "0 0.25"]),
        (np.array([0, 1, 0]), None, ["cat", "dog"], ["cat", "dog", "cat"]),
        ([17, 18, 17], None, {17: "cat", 18: "dog"}, ["cat", "dog", "cat"]),
    ],
)
def test_labels(labels: Any, scores: Any, names: Any, expected: list[str]) -> None:
    ax = draw_boxes(IMAGE, BOXES, labels, scores, names=names)
    assert texts(ax) == {f"label of box {number}": words for number, words in enumerate(expected)}


def test_a_class_has_one_style_and_others_have_another() -> None:
    def styles(labels: Any) -> list[Any]:
        ax = draw_boxes(IMAGE, [BOXES[0]] * len(labels), labels)
        by_name = {str(patch.get_gid()): (patch.get_edgecolor(), str(patch.get_linestyle())) for patch in ax.patches}
        return [by_name[f"box {number}"] for number in range(len(labels))]

    names = styles(["b", "a", "b", "c"])
    assert names[0] == names[2]
    assert len(set(names)) == 3
    assert len(set(styles(list(range(18))))) == 18
    assert styles([4, 9])[1] == styles([9])[0], "an integer looks the same in every image"
    plate = draw_boxes(IMAGE, BOXES, ["a", "b", "c"]).texts[0].get_bbox_patch()
    assert plate is not None


def test_the_better_box_is_above_and_its_label_comes_first() -> None:
    box = [10, 20, 60, 60]
    ax = draw_boxes(IMAGE, [box, box], ["low", "high"], [0.2, 0.8])
    assert [str(patch.get_gid()) for patch in ax.patches] == ["box 0", "box 1"]
    assert [text.get_text() for text in ax.texts] == ["high 0.80", "low 0.20"]
    ax = draw_boxes(IMAGE, [[30, 30, 50, 50], [0, 0, 160, 120]], ["small", "large"])
    assert [str(patch.get_gid()) for patch in ax.patches] == ["box 1", "box 0"], "large boxes do not cover small ones"


def test_labels_neither_cover_each_other_nor_leave_the_image() -> None:
    rng = np.random.default_rng(1)
    low = rng.uniform(-20, 140, (60, 2))
    boxes = np.concatenate([low, low + rng.uniform(5, 60, (60, 2))], axis=1)
    ax = draw_boxes(IMAGE, boxes, [f"class {k}" for k in range(60)], rng.uniform(0, 1, 60))
    render(ax)
    plates = [text.get_bbox_patch() for text in ax.texts if text.get_visible()]
    extents = np.array([plate.get_window_extent().extents for plate in plates if plate is not None])
    assert 3 < len(extents) < 60
    for k, one in enumerate(extents):
        for other in extents[k + 1 :]:
            assert (np.minimum(one[2:], other[2:]) <= np.maximum(one[:2], other[:2])).any()
    frame: Any = ax.bbox.extents
    assert (extents[:, :2] >= frame[:2] - 1e-6).all()
    assert (extents[:, 2:] <= frame[2:] + 1e-6).all()


def test_names_are_shown_as_they_are() -> None:
    ax = draw_boxes(IMAGE, BOXES, ["$5_a$", "_hidden", "a\nb"])
    assert [texts(ax)[f"label of box {number}"] for number in range(3)] == ["$5_a$", "_hidden", "a b"]
    render(ax)


# ---- Axes, themes, errors.


def test_axes_of_the_caller() -> None:
    figure = Figure()
    ax = figure.subplots()
    assert draw_boxes(IMAGE, BOXES, ax=ax) is ax
    assert figure.axes == [ax]
    assert (render(draw_boxes(IMAGE, BOXES, theme="dark"))[0, 0] < 60).all()


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((IMAGE, BOXES, ["cat"]), {}, r"labels must have shape \(3,\), one per box, got \(1,\)"),
        ((IMAGE, BOXES, None, [0.5]), {}, r"scores must have shape \(3,\), one per box, got \(1,\)"),
        ((IMAGE, BOXES, None, [[0.5]] * 3), {}, r"scores must have shape \(3,\), one per box, got \(3, 1\)"),
        ((IMAGE, [[1, 2, 3]]), {}, r"boxes: .*\(1, 3\)"),
        ((IMAGE, [[5, 5, 1, 1]]), {}, "boxes: "),
        ((np.zeros((3, 120, 160)), BOXES), {}, r"image must be a path or of shape .* got \(3, 120, 160\)"),
        ((IMAGE, BOXES), {"format": "yxyx"}, "yxyx"),
        ((IMAGE, BOXES), {"theme": "blue"}, "unknown theme 'blue'; choose from light, dark"),
        ((IMAGE, BOXES, [0, 1, 2]), {"names": ["cat", "dog"]}, "class 2 is not in names, which has 2 entries"),
        ((IMAGE, BOXES, [0, 1, 2]), {"names": {1: "dog"}}, "class 0 is not in names, which has 1 entries"),
    ],
)
def test_what_is_refused(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_boxes(*arguments, **options)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.png"):
        draw_boxes(tmp_path / "none.png", BOXES)
