"""The picture of assignments shows what the assignments say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Boxes
from ioukit.anchors import anchor_boxes, anchor_points
from ioukit.assign import assign_atss, assign_max_iou
from ioukit.plots import assignment_figure

pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'ioukit[plots]'")

from matplotlib.backends.backend_agg import FigureCanvasAgg

POINTS = anchor_points((64, 64), [8, 16]).points
ANCHORS = anchor_boxes((64, 64), [8, 16], [[[16, 16]], [[32, 32]]]).boxes
OBJECTS = [[4, 4, 24, 24], [33, 33, 35, 35], [8, 4, 28, 24]]
BOTH = {
    "ATSS": assign_atss(ANCHORS, OBJECTS, levels=[64, 16]),
    "max-IoU": assign_max_iou(ANCHORS, OBJECTS, positive=0.4, negative=0.3, low_quality="mmdet"),
}


def draw(figure: Any) -> None:
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()


def collections(ax: Any) -> dict[str, Any]:
    return {str(item.get_gid()): np.asarray(item.get_offsets()) for item in ax.collections}


def test_marks_are_the_assignment() -> None:
    figure = assignment_figure((64, 64), OBJECTS, POINTS, BOTH)
    draw(figure)
    assert len(figure.axes) == 2
    for ax, assignment in zip(figure.axes, BOTH.values(), strict=True):
        found = collections(ax)
        for gt in range(3):
            own = POINTS[assignment.target == gt]
            assert (f"predictions of {gt}" in found) == (len(own) > 0)
            if len(own):
                assert_array_equal(found[f"predictions of {gt}"], own)
        idle = (assignment.target < 0) & ~assignment.ignore
        assert_array_equal(found["background"], POINTS[idle])
        assert assignment.ignore.any() == ("ignored" in found)
        outlines = {patch.get_gid(): patch for patch in ax.patches}
        assert set(outlines) == {"object 0", "object 1", "object 2"}
        bare = {f"object {gt}" for gt in assignment.unassigned}
        assert {gid for gid, patch in outlines.items() if patch.get_hatch()} == bare
    first, second = BOTH.values()
    assert first.unassigned.tolist() == [1]
    assert "different" not in collections(figure.axes[0])
    assert_array_equal(collections(figure.axes[1])["different"], POINTS[first.compare(second).predictions])
    assert figure.axes[0].get_title().endswith("predictions\nnone for 1")


def test_boxes_as_points_units_and_names() -> None:
    figure = assignment_figure((64, 64), Boxes(OBJECTS).normalize(64, 64), ANCHORS, BOTH, labels=["a", "tiny", "b"])
    plain = assignment_figure((64, 64), OBJECTS, POINTS, BOTH)
    for one, other in zip(figure.axes, plain.axes, strict=True):
        for gid, offsets in collections(other).items():
            assert_array_equal(collections(one)[gid], offsets)
    assert figure.axes[0].get_title().endswith("none for tiny")
    assert [text.get_text() for text in figure.axes[0].texts] == ["a", "tiny", "b"]
    three = assignment_figure((64, 64), OBJECTS, POINTS, {**BOTH, "again": next(iter(BOTH.values()))})
    (words,) = three.texts  # in the place of the fourth panel
    assert words.get_text().endswith("\nring: differs from ATSS")
    nothing = assign_max_iou(ANCHORS, [])
    draw(assignment_figure((64, 32), [], POINTS, {"none": nothing}))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"assignments": {}}, "assignments must have at least one entry"),
        ({"points": POINTS[:3]}, r"assignments\['ATSS'\] has 3 objects and 80 predictions, but .* 3 points"),
        ({"objects": OBJECTS[:2]}, "there are 2 objects and 80 points"),
        ({"points": np.zeros((3, 3))}, r"points must have shape \(P, 2\), or \(P, 4\) as boxes, got \(3, 3\)"),
        ({"labels": ["a"]}, "labels must hold one label per object, got 1 for 3"),
        ({"image_size": (0, 5)}, "width must be positive"),
    ],
)
def test_errors(change: dict[str, Any], says: str) -> None:
    arguments: dict[str, Any] = {"image_size": (64, 64), "objects": OBJECTS, "points": POINTS, "assignments": BOTH}
    with pytest.raises(ValueError, match=says):
        assignment_figure(**{**arguments, **change})
