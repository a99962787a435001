"""`diagnose` for every kind of region: what is passed on, what is refused, and that every code occurs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from ioukit import (
    Boxes,
    Boxes3D,
    Detections,
    Diagnosis,
    GroundTruth,
    Masks,
    Polygon,
    Polygons,
    RotatedBoxes,
    diagnose,
)
from ioukit.checks import (
    diagnose_boxes,
    diagnose_boxes3d,
    diagnose_data,
    diagnose_masks,
    diagnose_polygons,
    diagnose_rotated,
)
from ioukit.checks.diagnosis.findings import CODES
from ioukit.regions import Regions
from support.paths import ROOT

NAN, INF = np.nan, np.inf
SQUARE = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]])
ROTATED = np.array([[50, 60, 40, 8, 30.5], [150, 90, 60, 12, -50], [90, 200, 30, 6, 75.5], [20, 30, 9, 4, 400]])
SPACE = np.array([[5, 6, 1, 4, 1, 2, 30.5], [15, 9, 2, 6, 1.2, 4, -50], [9, 20, 0, 3, 1, 2, 75.5]])
DOT = {"size": [3, 4], "counts": [5, 1, 6]}


def rotated(rows: Any = ROTATED, unit: Any = "degrees", sense: Any = "clockwise") -> RotatedBoxes:
    return RotatedBoxes(rows, unit=unit, sense=sense)


def space(rows: Any = SPACE, **changed: Any) -> Boxes3D:
    return Boxes3D(rows, **{"z": "centre", "unit": "degrees", "sense": "counterclockwise", **changed})


def found(*args: Any, **options: Any) -> dict[str, tuple[int, ...]]:
    return {finding.code: finding.rows for finding in diagnose(*args, **options)}


def kinds(base: Any) -> list[type[Regions]]:
    below = [kind for subclass in base.__subclasses__() for kind in kinds(subclass)]
    return below if inspect.isabstract(base) else [base, *below]


class TestDispatch:
    @pytest.mark.parametrize(
        ("regions", "options"),
        [
            (Boxes([[0, 0, 9, 9], [5, 5, 5, 5]]), {"image_size": (8, 8)}),
            (Boxes([[1, 1, 9, 9], [5, 5, 5, 5]], "cxcywh", normalized=True), {}),
            (rotated(), {"image_size": (100, 100)}),
            (rotated(), {"reference": rotated(sense="counterclockwise")}),
            (space(), {"reference": space(z="bottom")}),
            (space(np.zeros((2, 7))), {}),
            (Polygons([SQUARE, SQUARE]), {"image_size": (3, 3)}),
            (Masks.from_rle([DOT, DOT]), {"image_size": (3, 4)}),
        ],
    )
    def test_every_kind_answers_for_itself(self, regions: Any, options: Any) -> None:
        report = diagnose(regions, **options)
        assert not report.ok
        assert report.num_boxes == len(regions)

    def test_no_kind_is_forgotten(self) -> None:
        names = {kind.__name__ for kind in kinds(Regions) if kind.__module__.startswith("ioukit.")}
        assert names >= {"Boxes", "Boxes3D", "Masks", "Polygons", "RotatedBoxes"}
        assert [name for name in names if f"`{name}`" not in str(diagnose.__doc__)] == []

    def test_formats_of_boxes_are_theirs(self) -> None:
        rows = [[100, 80, 40, 60], [300, 200, 50, 30], [10, 20, 15, 25]]
        assert diagnose(Boxes(rows, "xywh"), image_size=(640, 480)).ok
        assert not diagnose(rows, image_size=(640, 480)).ok

    def test_records_wherever_they_stand(self) -> None:
        assert found([None, DOT, DOT]) == {"bad_runs": (0,), "duplicate": (2,)}
        assert found([DOT, [0, 0, 1, 1]]) == {"bad_runs": (1,)}

    @pytest.mark.parametrize(
        ("regions", "options", "message"),
        [
            (Boxes([]), {"format": "xywh"}, "format does not apply to Boxes, which have their own"),
            (Boxes([]), {"normalized": True}, "normalized does not apply to Boxes, which have"),
            (Boxes([]), {"reference": Boxes([])}, "reference does not apply to Boxes"),
            (Polygons([]), {"reference": Polygons([])}, "reference does not apply to Polygons"),
            (Masks.concat([]), {"reference": Masks.concat([])}, "reference does not apply to Masks"),
            (space(), {"image_size": (5, 5)}, "image_size does not apply to Boxes3D"),
            ([DOT], {"format": "xywh"}, "format does not apply to records of masks"),
            ([DOT], {"reference": Masks.from_rle([DOT])}, "reference does not apply to records"),
            ([[0, 0, 1, 1]], {"reference": Boxes([])}, "reference does not apply to arrays"),
            (rotated(), {"reference": space()}, "reference must be RotatedBoxes like the boxes, got Boxes3D"),
            (space(), {"reference": SPACE}, "reference must be Boxes3D like the boxes, got ndarray"),
            (Polygon(SQUARE), {}, "diagnose takes regions, records of masks, .*, got Polygon"),
        ],
    )
    def test_what_tells_nothing_is_refused(self, regions: Any, options: Any, message: str) -> None:
        with pytest.raises(TypeError, match=message):
            diagnose(regions, **options)

    @pytest.mark.parametrize("regions", [Boxes([]), rotated([]), Polygons([]), Masks.concat([])])
    def test_bad_image_sizes_are_refused_by_all(self, regions: Any) -> None:
        with pytest.raises(ValueError, match="height must be positive and finite, got -1"):
            diagnose(regions, image_size=(5, -1))


class TestBoxes3D:
    def test_sound_boxes(self) -> None:
        assert diagnose(space()).ok
        assert diagnose(space([]), reference=space()).ok
        near = space(SPACE + np.array([0.1, 0.05, 0.1, 0, 0.1, 0.1, 1]))
        assert diagnose(space(), reference=near).ok
        assert diagnose(space(), reference=near.convert(z="bottom", unit="radians", sense="clockwise")).ok
        assert str(diagnose(space())) == "3 boxes: nothing looks wrong"

    def test_facts(self) -> None:
        rows = [*SPACE, SPACE[1], [1, 1, 1, 0, 2, 2, 0.5], [1, 1, 1, 2, 2, 0, 0.5]]
        assert found(space(rows)) == {"zero_size": (4, 5), "duplicate": (3,)}
        assert found(space([[0.0, 1, 1, 1, 1, 1, 0], [-0.0, 1, 1, 1, 1, 1, 0]])) == {"duplicate": (1,)}

    def test_degrees_said_to_be_radians_and_the_reverse(self) -> None:
        assert found(space(unit="radians")) == {"degrees": (0, 1, 2)}
        small = space().convert(unit="radians").numpy()
        assert found(space(small)) == {"radians": (0, 1, 2)}
        assert found(space(small[:2])) == {}, "two boxes tell too little"
        small[:, 6] = [0, 1, 2]
        assert found(space(small)) == {}, "whole degrees may be small"

    @pytest.mark.parametrize("z", ["centre", "bottom"])
    def test_the_other_z_shows_beside_a_reference(self, z: Any) -> None:
        truth = space().convert(z="bottom" if z == "centre" else "centre")
        misread = space(truth.numpy() + np.array([0.1, 0, 0, 0, 0.1, 0, 1]), z=z)
        assert found(misread) == {}
        (finding,) = diagnose(misread, reference=truth)
        assert (finding.code, finding.severity, finding.rows) == ("other_z", "warning", (0, 1, 2))
        assert f"if z is that of the {truth.z}" in finding.message
        assert finding.hint == f"one of the two sets may have the wrong z: pass z={truth.z!r} for it"

    def test_the_other_sense_shows_beside_a_reference(self) -> None:
        misread = space(sense="clockwise")
        (finding,) = diagnose(misread, reference=space())
        assert (finding.code, finding.rows) == ("other_sense", (0, 1, 2))
        assert "and 1.00 if the angles are counterclockwise" in finding.message
        assert found(misread, reference=space()[:0]) == {}

    def test_both_at_once(self) -> None:
        report = diagnose(space(sense="clockwise"), reference=space(z="bottom"))
        assert [finding.code for finding in report] == ["other_sense", "other_z"]
        assert all("and 1.00 if" in finding.message for finding in report)


class TestShared:
    def test_rotated_boxes_get_no_advice_that_they_cannot_take(self) -> None:
        """`RotatedBoxes` have neither ``clip`` nor ``normalized``."""
        outside = rotated([[0.5, 0.5, 0.9, 0.2, 30], [1.0, 0.5, 0.9, 0.2, 40]])
        report = diagnose(outside)
        assert {finding.code for finding in report} == {"normalized_not_declared", "partly_outside"}
        assert "normalized=" not in str(report)
        assert "clip" not in str(report)
        assert "RotatedBoxes.drop_empty" in str(diagnose(rotated([[9, 9, 0, 2, 0]])))

    def test_polygons_of_mixed_units(self) -> None:
        assert found(Polygons([SQUARE * 9, SQUARE / 5])) == {"mixed_units": (1,)}
        assert found(Polygons([SQUARE / 5, SQUARE / 6, SQUARE], normalized=True)) == {"mixed_units": (2,)}
        assert found(Polygons([SQUARE * 9, SQUARE / 4])) == {}, "whole numbers may be a pixel"

    def test_a_long_reference_is_taken_in_parts(self, monkeypatch: pytest.MonkeyPatch) -> None:
        whole = diagnose(space(sense="clockwise"), reference=space(z="bottom"))
        monkeypatch.setattr("ioukit.checks.diagnosis.turned.PAIRS_AT_ONCE", 1)
        assert diagnose(space(sense="clockwise"), reference=space(z="bottom")) == whole


def corners(count: int) -> Any:
    rng = np.random.default_rng(0)
    low = rng.integers(0, 300, (count, 2)).astype(float)
    return np.concatenate([low, low + rng.integers(20, 150, (count, 2))], axis=1)


def as_sizes(count: int, centred: bool) -> Any:
    rows = corners(count)
    rows[:, 2:] -= rows[:, :2]
    rows[:, :2] += rows[:, 2:] / 2 * centred
    return rows


def rows_of(images: range) -> dict[str, Any]:
    return {"image_ids": images, "boxes": [[0, 0, 50, 50]] * len(images)}


def truth() -> GroundTruth:
    return GroundTruth.from_arrays(**rows_of(range(40)), category_ids=[1 + k % 2 for k in range(40)])


def detections(images: range, shift: int = 0) -> Detections:
    categories = [1 + k % 2 + shift for k in images]
    return Detections.from_arrays(**rows_of(images), category_ids=categories, scores=[1] * len(images))


NUMBERS: dict[str, Any] = {
    "refused": [[NAN, 0, 1, 1], [0, 0, INF, 1], [0, 0, 1e300, 1], [2, 0, 1, 1]],
    "records": [{"size": [3, 4]}, {"size": [3, 4], "counts": [12]}, {"size": [4, 3], "counts": [0, 12]}],
}
ORDERS: list[list[int]] = [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 1, 3], [0, 1, 1, 2], [0, 0, 1], [], [0, 1, 2, 3]]
REPORTS: dict[str, Diagnosis] = {
    "refused": diagnose(NUMBERS["refused"]),
    "no size, twice": diagnose([[5, 5, 5, 9], [5, 5, 5, 9], [-1, 0, 30, 30]]),
    "fractions": diagnose([[0.1, 0.1, 0.5, 0.5]]),
    "fractions among pixels": diagnose([[0.1, 0.1, 0.5, 0.5], [10, 10, 50, 60]]),
    "pixels": diagnose([[10, 10, 50, 60]], normalized=True),
    "degrees": diagnose([[10, 10, 5, 6, 90]], "cxcywh"),
    "radians said to be degrees": diagnose(rotated(rotated().canonical().convert(unit="radians").numpy())),
    "corners": diagnose(corners(50), "xywh"),
    "sizes": diagnose(as_sizes(50, centred=False), image_size=(450, 450)),
    "centres": diagnose(as_sizes(50, centred=True), image_size=(450, 450)),
    "y first": diagnose(
        GroundTruth.from_arrays(
            image_ids=[1] * 20,
            category_ids=[1] * 20,
            boxes=[[10, 300 + 15 * k, 60, 340 + 15 * k] for k in range(20)],
            images=[1],
            sizes=[[640, 120]],
        )
    ),
    "places": diagnose([[600, 10, 700, 90], [-9, -9, 1500, 1500], [900, 0, 950, 10]], image_size=(640, 480)),
    "space": diagnose(space(sense="clockwise"), reference=space(z="bottom")),
    "polygons": diagnose(Polygons([*(SQUARE[order] for order in ORDERS), np.array([[0, 0], [1, 1], [3, 3]])])),
    "masks": diagnose(NUMBERS["records"], image_size=(4, 3)),
    "category ids": diagnose(detections(range(10, 40), shift=1), reference=truth()),
    "images": diagnose(detections(range(20, 40)), reference=truth()),
    "padding": diagnose(Detections.concat([detections(range(40)), detections(range(20))]), reference=truth()),
    "swapped": diagnose(
        Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=None),
        reference=GroundTruth.from_arrays(
            image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], attributes={"score": [0.5]}
        ),
    ),
}


@pytest.mark.parametrize("code", CODES)
def test_every_code_occurs_and_is_documented(code: str) -> None:
    assert code in {finding.code for report in REPORTS.values() for finding in report}
    rules = [diagnose_boxes, diagnose_boxes3d, diagnose_data, diagnose_masks, diagnose_polygons, diagnose_rotated]
    page = (ROOT / "docs" / "diagnose.md").read_text(encoding="utf-8")
    assert f"``{code}``" in str(diagnose.__doc__)
    assert f"`{code}`" in page
    assert code == "bad_runs" or any(f"``{code}``" in str(rule.__doc__) for rule in rules)


def test_boxes_do_not_load_what_diagnoses_them() -> None:
    program = (
        "import sys\nfrom ioukit import Boxes, Boxes3D, Masks, Polygons, RotatedBoxes\nBoxes([[0, 0, 1, 1]])\n"
        "print([name for name in sys.modules if 'diagnosis' in name or 'findings' in name])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
