"""Regions of any kind on an image, without an evaluation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import Boxes, Boxes3D, Masks, Polygons, RotatedBoxes
from ioukit.evaluation import region_outlines
from ioukit.plots import draw_boxes, draw_regions
from support.region_cases import PERSON

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg

IMAGE = np.full((120, 160, 3), 90, np.uint8)
SQUARE = np.zeros((2, 120, 160), bool)
SQUARE[0, 10:50, 20:90] = SQUARE[1, 30:40, 30:60] = True
PEOPLE = np.dstack([60 + 80 * PERSON[None] + [[[20, 40]]], np.full((1, 17), 2)])


def named(ax: Any) -> dict[str, Any]:
    return {str(artist.get_gid()): artist for artist in (*ax.patches, *ax.collections) if artist.get_gid()}


@pytest.mark.parametrize(
    "regions",
    [
        Masks.from_arrays(SQUARE),
        Polygons([[[10, 10], [90, 10], [30, 80]]]),
        RotatedBoxes([[50, 40, 60, 12, 30], [90, 90, 40, 10, 0]], unit="degrees", sense="clockwise"),
        Boxes([[10, 20, 70, 90]], "xyxy"),
    ],
    ids=lambda regions: type(regions).__name__,
)
@pytest.mark.parametrize("image", [IMAGE, None], ids=["image", "no image"])
def test_paths_are_those_of_the_regions(regions: Any, image: Any) -> None:
    ax = draw_regions(image, regions, ["a"] * len(regions), [0.5] * len(regions))
    shown = named(ax)
    for number, outline in enumerate(region_outlines(regions)):
        (ring,) = outline.rings
        assert_allclose(shown[f"region {number}"].get_path().to_polygons()[0][:-1], ring)
        assert (f"fill of region {number}" in shown) == isinstance(regions, Masks)
    assert [text.get_text() for text in ax.texts] == ["a 0.50"] * len(regions)
    figure: Any = ax.figure
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()


def test_the_smaller_of_two_masks_is_above() -> None:
    ax = draw_regions(IMAGE, Masks.from_arrays(SQUARE))
    assert [patch.get_gid() for patch in ax.patches if str(patch.get_gid()).startswith("region")] == [
        "region 0",
        "region 1",
    ]


def test_keypoints_and_their_skeleton() -> None:
    shown = named(draw_regions(IMAGE, PEOPLE))
    assert len(shown["lines of region 0"].get_segments()) == 19
    assert_allclose(shown["points of region 0"].get_offsets(), PEOPLE[0, :, :2])
    shown = named(draw_regions(None, PEOPLE, skeleton=[(1, 17)]))
    assert_allclose(np.array(shown["lines of region 0"].get_segments()), [PEOPLE[0, [0, 16], :2]])
    assert "lines of region 0" not in named(draw_regions(None, PEOPLE, skeleton=[]))


def test_boxes_in_space_are_seen_from_above() -> None:
    cars = Boxes3D([[10, 5, 0, 4, 2, 1.5, 0.3]], z="bottom", unit="radians", sense="counterclockwise")
    ax = draw_regions(None, cars, ["car"])
    low, high = ax.get_ylim()
    assert low < 5 < high
    assert_allclose(named(ax)["lines of region 0"].get_segments()[0][0], [10, 5])
    with pytest.raises(ValueError, match="image must be None for boxes in space"):
        draw_regions(IMAGE, cars)


def test_normalized_polygons_are_multiplied_by_the_size_of_the_image() -> None:
    half = Polygons([[[0.5, 0.0], [1.0, 0.0], [1.0, 1.0]]], normalized=True)
    path = named(draw_regions(IMAGE, half))["region 0"].get_path()
    assert path.get_extents().extents.tolist() == [80, 0, 160, 120]
    with pytest.raises(ValueError, match="regions must be in pixels without an image, got normalized ones"):
        draw_regions(None, half)


def test_an_empty_mask_and_no_regions_are_no_error() -> None:
    assert not named(draw_regions(IMAGE, Masks.from_arrays(np.zeros((1, 4, 4), bool)), ["a"]))
    assert not named(draw_regions(None, Masks.from_arrays(np.zeros((0, 4, 4), bool))))


def test_boxes_look_as_in_draw_boxes() -> None:
    boxes = Boxes([[10, 20, 70, 90], [40, 30, 150, 110]], "xyxy")
    pictures = []
    for draw in (draw_boxes, draw_regions):
        figure: Any = draw(IMAGE, boxes, ["cat", "dog"], [0.9, 0.6]).figure
        canvas: Any = FigureCanvasAgg(figure)
        canvas.draw()
        pictures.append(np.asarray(canvas.buffer_rgba()))
    assert np.array_equal(pictures[0], pictures[1])


@pytest.mark.parametrize(
    ("regions", "options", "message"),
    [
        (np.zeros((2, 4)), {}, r"keypoints of shape \(N, P, 3\), got \(2, 4\)"),
        (PEOPLE, {"skeleton": [(0, 1)]}, "skeleton must have numbers of keypoints from 1 to 17"),
        (PEOPLE, {"labels": ["a", "b"]}, r"labels must have shape \(1,\), one per region"),
        (PEOPLE, {"labels": [7], "names": ["a"]}, "class 7 is not in names"),
    ],
)
def test_what_is_refused(regions: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        draw_regions(IMAGE, regions, **options)
