"""Outlines of regions: those of the regions themselves, by plain geometry."""

from __future__ import annotations

import gzip
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Boxes, Boxes3D, Detections, GroundTruth, Masks, Polygons, RotatedBoxes
from ioukit.evaluation import REGION_KINDS, Kind, Outline, Outlines, region_kind, region_outlines
from ioukit.evaluation.outlines.masks import simplified, traced
from ioukit.evaluation.outlines.outline import grid_step, ground_frame
from support import region_cases
from support.discs import Discs

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.typing import FloatArray

small_masks = arrays(np.bool_, st.tuples(st.integers(0, 9), st.integers(0, 9)))


def signed_area(ring: FloatArray) -> float:
    """The shoelace formula; above 0 for rings that go clockwise on the screen."""
    area = 0.0
    for (x1, y1), (x2, y2) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        area += (x1 * y2 - x2 * y1) / 2
    return area


def winding(rings: Any, x: float, y: float) -> int:
    """How often the rings go around a point: crossings of a ray to the right."""
    times = 0
    for ring in rings:
        for (x1, y1), (x2, y2) in zip(ring, np.roll(ring, -1, axis=0), strict=True):
            if (y1 > y) != (y2 > y) and x1 + (y - y1) / (y2 - y1) * (x2 - x1) > x:
                times += 1 if y2 > y1 else -1
    return times


class TestTracing:
    @given(small_masks)
    def test_rings_go_once_around_every_pixel_of_the_mask_and_around_no_other(self, pixels: Any) -> None:
        rings = traced(pixels)
        assert sum(map(signed_area, rings)) == pixels.sum()
        for y, x in np.ndindex(*pixels.shape):
            assert winding(rings, x + 0.5, y + 0.5) == pixels[y, x]
        for ring in rings:
            steps = np.roll(ring, -1, axis=0) - ring
            assert ((steps != 0).sum(axis=1) == 1).all(), "each side is horizontal or vertical"
            turns = (steps != 0).argmax(axis=1)
            assert (turns != np.roll(turns, 1)).all(), "there is a corner at every point"

    def test_pixels_that_touch_at_a_corner_are_apart(self) -> None:
        assert [len(ring) for ring in traced(np.eye(3, dtype=bool))] == [4, 4, 4]
        assert [len(ring) for ring in traced(np.eye(3, dtype=bool)[::-1])] == [4, 4, 4]

    def test_a_hole_goes_the_other_way(self) -> None:
        pixels = np.ones((3, 3), bool)
        pixels[1, 1] = False
        assert [signed_area(ring) for ring in traced(pixels)] == [9, -1]

    @settings(max_examples=60)
    @given(arrays(np.bool_, (12, 12)), st.floats(0, 3))
    def test_simpler_rings_stay_near(self, pixels: Any, tolerance: float) -> None:
        rings = traced(pixels)
        for ring, simple in zip(rings, simplified(rings, tolerance), strict=True):
            assert {tuple(point) for point in simple.tolist()} <= {tuple(point) for point in ring.tolist()}
            if len(simple) < len(ring):
                assert max(distance(point, simple) for point in ring) <= tolerance + 1e-9

    def test_a_straight_side_needs_no_points(self) -> None:
        ring = np.array([[0, 0], [1, 0], [2, 0], [4, 0], [4, 4], [2, 4], [0, 4]], float)
        assert simplified([ring], 0.1)[0].tolist() == [[0, 0], [4, 0], [4, 4], [0, 4]]
        assert simplified([], 1) == []

    def test_no_ring_disappears(self) -> None:
        dot = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
        assert_array_equal(simplified([dot, 100 + 50 * dot], 10)[0], dot)


def distance(point: FloatArray, ring: FloatArray) -> float:
    """The distance of a point from a closed path."""
    nearest = math.inf
    for start, end in zip(ring, np.roll(ring, -1, axis=0), strict=True):
        along = end - start
        share = np.clip((point - start) @ along / max(along @ along, 1e-300), 0, 1)
        nearest = min(nearest, float(np.hypot(*(point - start - share * along))))
    return nearest


class TestMasks:
    def test_rle_and_sets_of_masks_have_the_same_outlines(self) -> None:
        truth, _ = region_cases.masks()
        masks = truth.regions["Masks"]
        for compressed in (True, False):
            given = GroundTruth.from_arrays(
                image_ids=truth.image_ids,
                category_ids=truth.category_ids,
                boxes=truth.boxes,
                segmentations=masks.to_rle(compressed=compressed),
            )
            for ours, theirs in zip(
                REGION_KINDS["segm"].outlines_of(given, given), region_outlines(masks), strict=True
            ):
                assert len(ours.rings) == len(theirs.rings) >= 3
                for one, other in zip(ours.rings, theirs.rings, strict=True):
                    assert_array_equal(one, other)

    def test_rings_cover_the_pixels(self) -> None:
        truth, _ = region_cases.masks()
        masks = truth.regions["Masks"]
        outlines = REGION_KINDS["boundary"].outlines_of(truth, truth)
        assert outlines.filled
        assert [sum(map(signed_area, outline.rings)) for outline in outlines] == masks.area.tolist()
        boxes = masks.to_boxes().numpy()
        assert_array_equal([outline.bounds for outline in outlines], boxes)

    def test_polygons_are_drawn_as_given_and_all_go_one_way(self) -> None:
        square, back = [0, 0, 4, 0, 4, 4, 0, 4], [9, 9, 9, 11, 11, 11, 11, 9]
        truth = GroundTruth.from_arrays(
            image_ids=[1], category_ids=[1], boxes=[[0, 0, 11, 11]], segmentations=[[square, back]]
        )
        (outline,) = REGION_KINDS["segm"].outlines_of(truth, truth)
        assert outline.rings[0].ravel().tolist() == square
        assert outline.rings[1].tolist() == [[11, 9], [11, 11], [9, 11], [9, 9]]
        assert [signed_area(ring) for ring in outline.rings] == [16, 4]

    def test_an_empty_mask_has_no_outline(self) -> None:
        (outline,) = region_outlines(Masks.from_arrays(np.zeros((1, 3, 4), bool)))
        assert outline.is_empty
        assert np.isnan(outline.bounds).all()


def person(**options: Any) -> GroundTruth:
    points = np.column_stack([np.arange(34).reshape(17, 2) + 1.0, [2, 1, 0, *[2] * 14]])
    return GroundTruth.from_arrays(
        image_ids=[1], category_ids=[5], boxes=[[0, 0, 40, 40]], keypoints=[points], categories={5: "person"}, **options
    )


class TestKeypoints:
    def test_points_that_are_not_labelled_are_left_out_and_hidden_ones_hollow(self) -> None:
        truth = person()
        (outline,) = REGION_KINDS["keypoints"].outlines_of(truth, truth)
        every = np.arange(34).reshape(17, 2) + 1.0
        assert_array_equal(outline.points, np.delete(every, 2, axis=0))
        assert outline.hollow is not None
        assert np.flatnonzero(outline.hollow).tolist() == [1]
        ends = outline.lines.reshape(-1, 2)
        # The nose and the left eye are joined; nothing leads to the right eye, which is not labelled.
        assert [[1, 2], [3, 4]] in outline.lines.tolist()
        assert not (ends == every[2]).all(axis=1).any()
        assert len(outline.lines) == 19 - 3
        assert_array_equal(outline.bounds, [1, 2, 33, 34])

    def test_the_skeleton_of_the_category(self) -> None:
        skeleton = np.array([[[1, 4], [4, 17], [0, 0]]])
        truth = person(category_attributes={"skeleton": skeleton})
        (outline,) = REGION_KINDS["keypoints"].outlines_of(truth, truth)
        assert outline.lines.tolist() == [[[1, 2], [7, 8]], [[7, 8], [33, 34]]]

    def test_all_points_of_a_detection_are_drawn_unless_some_say_that_they_are_not_there(self) -> None:
        truth = person()
        points = np.column_stack([np.arange(34).reshape(17, 2), np.zeros(17)])
        some = np.array(points)
        some[:5, 2] = 1
        found = Detections.from_arrays(
            image_ids=[1, 1], category_ids=[5, 5], boxes=[[0, 0, 9, 9]] * 2, scores=[1, 1], keypoints=[points, some]
        )
        every, few = REGION_KINDS["keypoints"].outlines_of(found, truth)
        assert (len(every.points), len(few.points)) == (17, 5)
        assert few.hollow is not None
        assert not few.hollow.any(), "1 is a score, not a visibility"

    def test_other_sets_of_keypoints_have_points_alone(self) -> None:
        truth = GroundTruth.from_arrays(
            image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], keypoints=[[[1, 2, 2], [3, 4, 2]]]
        )
        (outline,) = REGION_KINDS["keypoints"].outlines_of(truth, truth)
        assert (outline.lines.shape, len(outline.points)) == ((0, 2, 2), 2)


def coco_file(categories: Any, *, first: bool = False) -> dict[str, Any]:
    points = [1, 2, 2, 3, 4, 2, 5, 6, 1]
    listed = {"categories": categories}
    rest = {
        "images": [{"id": 1, "file_name": 'a "categories": [] b.jpg'}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 2, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0,
             "keypoints": points, "num_keypoints": 3}
        ],
    }  # fmt: skip
    return {**listed, **rest} if first else {**rest, **listed}


class TestSkeletonsOfFiles:
    CATEGORIES = ({"id": 2, "name": "hand", "skeleton": [[1, 2], [2, 3]]}, {"id": 1, "name": "foot"})

    @pytest.mark.parametrize("first", [True, False])
    @pytest.mark.parametrize("packed", [True, False])
    def test_files_and_records_have_the_same(self, tmp_path: Path, first: bool, packed: bool) -> None:
        data = coco_file(self.CATEGORIES, first=first)
        path = tmp_path / ("gt.json.gz" if packed else "gt.json")
        text = json.dumps(data).encode()
        path.write_bytes(gzip.compress(text) if packed else text)
        for truth in (GroundTruth.from_coco(path), GroundTruth.from_coco(data)):
            assert truth.categories.ids.tolist() == [1, 2]
            assert truth.categories.attributes["skeleton"].tolist() == [[[0, 0], [0, 0]], [[1, 2], [2, 3]]]
            (outline,) = REGION_KINDS["keypoints"].outlines_of(truth, truth)
            assert outline.lines.tolist() == [[[1, 2], [3, 4]], [[3, 4], [5, 6]]]

    def test_a_long_list_in_the_middle_of_a_long_file(self, tmp_path: Path) -> None:
        categories = [{"id": k, "name": "x" * 400, "skeleton": [[k, 2]]} for k in range(1, 400)]
        data = {"info": "i" * 300_000, **coco_file(categories), "licenses": "l" * 300_000}
        path = tmp_path / "gt.json"
        path.write_text(json.dumps(data))
        truth = GroundTruth.from_coco(path)
        assert truth.categories.attributes["skeleton"][:, 0, 0].tolist() == list(range(1, 400))

    @pytest.mark.parametrize("skeleton", [None, "1-2", [[1]], [[1, 2, 3]], [[0, 1]], [["a", "b"]], [[1.5, 2]], 7])
    def test_what_is_no_skeleton_is_not_drawn_and_no_error(self, tmp_path: Path, skeleton: Any) -> None:
        path = tmp_path / "gt.json"
        path.write_text(json.dumps(coco_file([{"id": 2, "skeleton": skeleton}])))
        for source in (path, json.loads(path.read_text())):
            assert GroundTruth.from_coco(source).categories.attributes == {}

    def test_data_sets_without_keypoints_are_not_searched(self, tmp_path: Path) -> None:
        data = coco_file(self.CATEGORIES)
        del data["annotations"][0]["keypoints"]
        path = tmp_path / "gt.json"
        path.write_text(json.dumps(data))
        assert (
            GroundTruth.from_coco(path).categories.attributes == GroundTruth.from_coco(data).categories.attributes == {}
        )


class TestSetsOfRegions:
    def test_boxes(self) -> None:
        (outline,) = region_outlines(Boxes([[1, 2, 3, 4]], "xywh"))
        assert [ring.tolist() for ring in outline.rings] == [[[1, 2], [4, 2], [4, 6], [1, 6]]]

    @pytest.mark.parametrize(("unit", "sense"), [("degrees", "clockwise"), ("radians", "counterclockwise")])
    def test_rotated_boxes(self, unit: Any, sense: Any) -> None:
        x, y, width, height, degrees = 50.0, 40.0, 60.0, 12.0, 30.0
        turn = math.radians(degrees) * (1 if sense == "clockwise" else -1)
        angle = degrees if unit == "degrees" else math.radians(degrees)
        (outline,) = region_outlines(RotatedBoxes([[x, y, width, height, angle]], unit=unit, sense=sense))
        expected = [
            [x + dx * math.cos(turn) - dy * math.sin(turn), y + dx * math.sin(turn) + dy * math.cos(turn)]
            for dx, dy in ((-30, -6), (30, -6), (30, 6), (-30, 6))
        ]
        assert_allclose(outline.rings[0], expected)

    def test_polygons(self) -> None:
        triangle = [[0, 0], [4, 0], [0, 3]]
        (outline,) = region_outlines(Polygons([triangle]))
        assert outline.rings[0].tolist() == triangle

    @pytest.mark.parametrize("sense", ["clockwise", "counterclockwise"])
    def test_boxes_in_space_are_seen_from_above_with_their_heading(self, sense: Any) -> None:
        turn = 0.3 * (1 if sense == "counterclockwise" else -1)
        outlines = region_outlines(Boxes3D([[10, 5, 7, 4, 2, 1.5, 0.3]], z="centre", unit="radians", sense=sense))
        assert outlines.view == "ground"
        forward, left = np.array([math.cos(turn), math.sin(turn)]), np.array([-math.sin(turn), math.cos(turn)])
        expected = {
            tuple(np.round([10, 5] + 2 * along * forward + across * left, 9).tolist())
            for along in (-1, 1)
            for across in (-1, 1)
        }
        assert {tuple(corner) for corner in outlines[0].rings[0].round(9).tolist()} == expected
        centre = np.array([10.0, 5.0])
        assert_allclose(outlines[0].lines, np.array([[centre, centre + 0.65 * 4 * forward]]))

    def test_other_kinds_have_the_boxes_around_them(self) -> None:
        (outline,) = region_outlines(Discs([[10, 20, 3]]))
        assert_array_equal(outline.bounds, [7, 17, 13, 23])


class TestKindsFromOutside:
    TRUTH = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], regions=Discs([[10, 20, 3]]))

    def test_a_kind_draws_what_it_says(self) -> None:
        def circles(rows: Any, _: GroundTruth) -> Outlines:
            turns = np.linspace(0, 2 * np.pi, 24, endpoint=False)
            circle = np.stack([np.cos(turns), np.sin(turns)], axis=1)
            return Outlines(tuple(Outline((row[:2] + row[2] * circle,)) for row in rows.regions["Discs"].rows))

        kind = region_kind("disc", "discs", "Discs", outlines=circles)
        (outline,) = kind.outlines_of(self.TRUTH, self.TRUTH)
        assert len(outline.rings[0]) == 24
        assert_allclose(outline.bounds, [7, 17, 13, 23])

    def test_boxes_where_it_says_nothing(self) -> None:
        columns = region_kind("disc", "discs", "Discs").columns
        for kind in (region_kind("disc", "discs", "Discs"), Kind("near", "by distance", columns)):
            (outline,) = kind.outlines_of(self.TRUTH, self.TRUTH)
            assert_array_equal(outline.bounds, [7, 17, 13, 23])

    def test_as_many_outlines_as_rows(self) -> None:
        kind = region_kind("disc", "discs", "Discs", outlines=lambda *_: Outlines(()))
        with pytest.raises(ValueError, match="the kind 'disc' must return 1 outlines, got 0"):
            kind.outlines_of(self.TRUTH, self.TRUTH)


class TestGround:
    def test_the_frame_has_all_boxes_and_a_margin(self) -> None:
        left, top, right, bottom = ground_frame(np.array([[0, -10, 100, 10], [np.nan] * 4, [20, 5, 30, 30]]))
        assert_allclose([left, top, right, bottom], [-6, 36, 106, -16])

    def test_it_is_never_a_line(self) -> None:
        left, top, right, bottom = ground_frame(np.array([[0, 0, 100, 0]]))
        assert_allclose([left, top, right, bottom], [-6, 20, 106, -20])
        assert ground_frame(np.zeros((0, 4))) == (-10, 10, 10, -10)

    @given(st.floats(1e-3, 1e6))
    def test_four_to_ten_lines(self, longest: float) -> None:
        step = grid_step(longest)
        assert 4 - 1e-6 <= longest / step <= 10 + 1e-6
        assert round(step / 10 ** math.floor(math.log10(step) + 1e-9), 6) in (1, 2, 5)


@pytest.mark.parametrize("packed", [True, False])
def test_keypoints_of_a_file_are_those_of_the_records(tmp_path: Path, packed: bool) -> None:
    data = coco_file([{"id": 2, "name": "hand", "skeleton": [[1, 2], [2, 3]]}])
    data["annotations"] += [
        {**data["annotations"][0], "id": k, "keypoints": [k, 2, 2, 3, 4, 0, 5, 6, 1]} for k in (7, 8)
    ]
    path = tmp_path / ("gt.json.gz" if packed else "gt.json")
    text = json.dumps(data).encode()
    path.write_bytes(gzip.compress(text) if packed else text)
    kind = REGION_KINDS["keypoints"]
    truth, records = GroundTruth.from_coco(path), GroundTruth.from_coco(data)
    for ours, theirs in zip(
        kind.outlines_of(truth[[2, 0]], truth), kind.outlines_of(records[[2, 0]], records), strict=True
    ):
        assert_array_equal(ours.points, theirs.points)
        assert_array_equal(ours.lines, theirs.lines)
    assert kind.outlines_of(truth[[2]], truth)[0].points.tolist() == [[8, 2], [5, 6]]
