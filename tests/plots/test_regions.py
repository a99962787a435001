"""Regions of every kind in figures: their outlines, areas, lines and points are those of the data."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit.evaluation import REGION_KINDS, Evaluation
from ioukit.plots import boxes_figure, worst_images_figure
from support import region_cases

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@cache
def evaluated(kind: str) -> Evaluation:
    return region_cases.evaluated(kind)


def artists(ax: Axes) -> dict[str, Any]:
    """What is drawn, by its name."""
    found = [(str(artist.get_gid()), artist) for artist in (*ax.patches, *ax.collections) if artist.get_gid()]
    assert len(dict(found)) == len(found)
    return dict(found)


def corners(path: Any) -> list[Any]:
    """The rings of a path without their closing points."""
    return [polygon[:-1] for polygon in path.to_polygons(closed_only=True)]


def outlines_by_gid(evaluation: Evaluation, names: list[str]) -> dict[str, Any]:
    """The outline of the region that each name names."""
    kind = REGION_KINDS[evaluation.matches.iou_type]
    truth, found = evaluation.ground_truth, evaluation.detections
    assert truth is not None
    assert found is not None
    of_objects, of_detections = kind.outlines_of(truth, truth), kind.outlines_of(found, truth)
    sides = {"object": of_objects, "FN": of_objects, "TP": of_detections, "FP": of_detections}
    return {name: sides[name.split()[0]][int(name.split()[1])] for name in names}


def names_of(shown: dict[str, Any]) -> list[str]:
    """The names of the regions among the names of the artists."""
    words = [name.rpartition(" of ")[2] for name in shown]
    return [name for name in dict.fromkeys(words) if name.split()[0] in ("object", "FN", "TP", "FP")]


@pytest.mark.parametrize("kind", region_cases.KINDS)
def test_everything_that_is_drawn_is_in_the_data(kind: str) -> None:
    evaluation = evaluated(kind)
    for image in (1, 2, 3):
        shown = artists(boxes_figure(evaluation, image, score_threshold=0))
        names = names_of(shown)
        assert evaluation.ground_truth is not None
        assert sum(name.startswith(("object", "FN")) for name in names) == 5
        for name, outline in outlines_by_gid(evaluation, names).items():
            if outline.rings:
                for ours, theirs in zip(corners(shown[name].get_path()), outline.rings, strict=True):
                    assert_allclose(ours, theirs)
            if len(outline.lines):
                assert_allclose(np.array(shown[f"lines of {name}"].get_segments()), outline.lines)
            if len(outline.points):
                assert_allclose(shown[f"points of {name}"].get_offsets(), outline.points)
            assert (f"lines of {name}" in shown) == bool(len(outline.lines))
            assert (f"points of {name}" in shown) == bool(len(outline.points))


def test_masks_are_filled_and_a_detected_object_is_not() -> None:
    shown = artists(boxes_figure(evaluated("segm"), 1, score_threshold=0))
    for name in names_of(shown):
        assert (f"fill of {name}" in shown) != name.startswith("object")
    fill = next(artist for name, artist in shown.items() if name.startswith("fill of"))
    assert 0 < fill.get_alpha() < 0.5
    assert not any(name.startswith("fill") for name in artists(boxes_figure(evaluated("polygon"), 1)))


def test_a_small_mask_is_drawn_above_a_large_one() -> None:
    ax = boxes_figure(evaluated("segm"), 2, score_threshold=0)
    for kind in ("TP", "object"):
        drawn = [patch for patch in ax.patches if str(patch.get_gid()).startswith(kind)]
        areas = [float(np.prod(patch.get_path().get_extents().size)) for patch in drawn]
        assert areas == sorted(areas, reverse=True)


def test_hidden_keypoints_are_hollow() -> None:
    evaluation = evaluated("keypoints")
    shown = artists(boxes_figure(evaluation, 1, score_threshold=0))
    hollow = 0
    for name, outline in outlines_by_gid(evaluation, names_of(shown)).items():
        white = (shown[f"points of {name}"].get_facecolors()[:, :3] == 1).all(axis=1)
        if not name.startswith("object"):  # on paper these are black, on an image white
            assert outline.hollow is not None
            assert_array_equal(white, outline.hollow)
            hollow += int(white.sum())
    assert hollow > 0


def test_views_from_above_have_equal_axes_that_point_up_and_no_photograph() -> None:
    photograph = np.zeros((20, 30, 3), np.uint8)
    for kind in ("box3d", "bev"):
        ax = boxes_figure(evaluated(kind), 1, image=photograph)
        assert not ax.get_images()
        assert ax.get_aspect() == 1
        low, high = ax.get_ylim()
        assert low < high
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("x, metres", "y, metres")
        for patch in artists(ax).values():
            if hasattr(patch, "get_path"):
                (x1, y1), (x2, y2) = patch.get_path().get_extents().get_points()
                assert ax.get_xlim()[0] < x1 < x2 < ax.get_xlim()[1]
                assert low < y1 < y2 < high


@pytest.mark.parametrize("kind", ["segm", "keypoints", "bev"])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_figures_can_be_drawn_with_photographs(kind: str, theme: Any) -> None:
    photographs = {image: np.full((240, 320, 3), 120, np.uint8) for image in (1, 2, 3)}
    figure = worst_images_figure(evaluated(kind), images=photographs, score_threshold=0, theme=theme)
    assert [ax.get_gid() for ax in figure.axes if ax.get_gid()]
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    assert all(bool(ax.get_images()) == (kind != "bev") for ax in figure.axes if ax.get_gid())
