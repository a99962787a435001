"""`diagnose`: what is found, what must not be found, and that bad values never raise."""

from __future__ import annotations

import collections
import json
import math
from dataclasses import FrozenInstanceError
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ioukit import Boxes, Diagnosis, Finding, diagnose
from ioukit.checks.diagnosis.findings import CODES
from ioukit.regions.formats import convert
from ioukit.typing import BoxFormat, FloatArray
from support.paths import EXAMPLES, load

FORMATS: tuple[BoxFormat, ...] = get_args(BoxFormat)
NAN, INF = math.nan, math.inf
GOOD = [[10.0, 20.0, 50.5, 80.0], [200.0, 30.0, 260.0, 90.0], [300.0, 150.0, 420.0, 200.0]]
CENTRED = [[30.0, 50.0, 40.5, 60.0], [230.0, 60.0, 60.0, 60.0], [360.0, 175.0, 120.0, 50.0]]
GUESSES = {code for code in CODES if code.startswith("looks_like")}

every_format = pytest.mark.parametrize("fmt", FORMATS)


def found(*args: Any, **options: Any) -> dict[str, list[int]]:
    return {finding.code: list(finding.rows) for finding in diagnose(*args, **options)}


def random_boxes(seed: int, count: int, spread: str) -> tuple[FloatArray, tuple[int, int]]:
    """Valid xyxy boxes in an image: of any size, or mostly small as in COCO."""
    rng = np.random.default_rng(seed)
    size = rng.integers(200, 2000, 2)
    if spread == "any":
        corners = np.sort(rng.uniform(0, 1, (count, 2, 2)), axis=1) * size
        return corners.reshape(count, 4), (int(size[0]), int(size[1]))
    sides = np.exp(rng.normal(-2.2, 0.8, (count, 2))).clip(0.01, 0.95) * size
    low = rng.uniform(0, 1, (count, 2)) * (size - sides)
    return np.concatenate([low, low + sides], axis=1), (int(size[0]), int(size[1]))


class TestFacts:
    @pytest.mark.parametrize(
        ("rows", "fmt", "expected"),
        [
            ([[0, 0, NAN, 1], [0, 0, 1, INF], [NAN, INF, 0, 0]], "xyxy", {"nan": [0, 2], "infinite": [1]}),
            ([[0, 0, 1e151, 1]], "xyxy", {"too_large": [0]}),
            ([*GOOD, [60, 5, 50, 9], [1, 9, 5, 8]], "xyxy", {"inverted": [3, 4]}),
            ([*GOOD, [60, 5, -1, 9]], "xywh", {"inverted": [3]}),
            ([*CENTRED, [60, 5, 1, -9]], "cxcywh", {"inverted": [3]}),
            ([*GOOD, [5, 5, 5, 9], [7, 7, 7, 7]], "xyxy", {"zero_size": [3, 4]}),
            ([*GOOD, [5, 5, 0, 9]], "xywh", {"zero_size": [3]}),
            ([*GOOD, [-5, 5, 5, 9]], "xyxy", {"negative": [3]}),
            ([*CENTRED, [1, 5, 4, 4]], "cxcywh", {"negative": [3]}),
            ([*GOOD, GOOD[1], GOOD[1]], "xyxy", {"duplicate": [3, 4]}),
            ([*GOOD, [NAN] * 4, [NAN] * 4], "xyxy", {"nan": [3, 4]}),
            ([[0.0, 0, 9, 9], [-0.0, 0, 9, 9]], "xyxy", {"duplicate": [1]}),
            ([], "xyxy", {}),
            (GOOD, "xyxy", {}),
            (GOOD[0], "xyxy", {}),
        ],
    )
    def test_rows_are_named(self, rows: Any, fmt: BoxFormat, expected: dict[str, list[int]]) -> None:
        assert found(rows, fmt) == expected

    @pytest.mark.parametrize(
        ("row", "code"),
        [
            ([0, 0, 640, 480], None),
            ([600, 400, 640.5, 480], "partly_outside"),
            ([-0.5, 0, 40, 40], "partly_outside"),
            ([640, 0, 650, 40], "wholly_outside"),
            ([0, -40, 640, 0], "wholly_outside"),
            ([0, 481, 640, 490], "wholly_outside"),
        ],
    )
    def test_places_in_an_image(self, row: list[float], code: str | None) -> None:
        for fmt in FORMATS:
            rows = convert(np.array([*GOOD, row]), "xyxy", fmt)
            assert found(rows, fmt, image_size=(640, 480)) == ({code: [3]} if code else {})

    def test_an_image_many_times_over(self) -> None:
        assert "larger_than_image" not in found([*GOOD, [-1, -1, 1278, 959]], image_size=(640, 480))
        assert found([*GOOD, [-1, -1, 1279, 959]], image_size=(640, 480)) == {
            "partly_outside": [3],
            "larger_than_image": [3],
        }

    @pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
    @every_format
    @given(data=st.data())
    def test_errors_are_the_rows_that_boxes_refuse(self, fmt: BoxFormat, dtype: Any, data: st.DataObject) -> None:
        limits = [2.0**126, 2.0**500, 2.0**53, 0.0]
        odd = st.sampled_from(
            [NAN, INF, -INF, *limits, *(-x for x in limits), *(math.nextafter(x, INF) for x in limits)]
        )
        plain = st.floats(-100, 100, width=16)
        rows = data.draw(hnp.arrays(np.float64, (data.draw(st.integers(0, 6)), 4), elements=plain | odd))
        with np.errstate(over="ignore"):
            array = rows.astype(dtype)
        refused = {row for finding in diagnose(array, fmt) if finding.severity == "error" for row in finding.rows}
        for number, row in enumerate(array):
            assert (number in refused) == (not accepted(row, fmt)), row

    @pytest.mark.parametrize("beyond", [2**53 + 1, -(2**53) - 1, np.iinfo(np.int64).min])
    def test_integers_without_an_exact_double(self, beyond: int) -> None:
        rows = [[beyond, 0, 2**53, 1], [0, 0, 2**53, 1]]
        for array in (rows, np.array(rows)):
            assert found(array)["too_large"] == [0]
            assert not accepted(np.array(rows[0]), "xyxy")
        assert found(np.array([[2**64 - 1, 0, 1, 1]], np.uint64)) == {"too_large": [0]}


def accepted(row: Any, fmt: BoxFormat) -> bool:
    try:
        Boxes(row, fmt)
    except ValueError:
        return False
    return True


class TestUnits:
    def test_fractions_said_to_be_pixels(self) -> None:
        rows = np.array(GOOD) / 640
        assert found(rows) == {"normalized_not_declared": [0, 1, 2]}
        assert found(rows, normalized=True) == {}
        assert found([*rows, [0.9, 0.9, 1.2, 0.95]])["partly_outside"] == [3], "the image is 1 by 1 from here on"

    @pytest.mark.parametrize("rows", [[[0, 0, 1, 1]], [[0, 0, 0, 0]], [[0, 0, 1.6, 1]], [[0.2, 0.2, 3, 4]]])
    def test_small_boxes_of_pixels(self, rows: Any) -> None:
        assert "normalized_not_declared" not in found(rows)

    def test_pixels_said_to_be_fractions(self) -> None:
        assert found(GOOD, normalized=True) == {"not_normalized": [0, 1, 2]}
        assert found([[0.1, 0.1, 2, 2]], normalized=True) == {"partly_outside": [0]}

    def test_both_in_one_array(self) -> None:
        small = [[0.1, 0.2, 0.5, 0.8], [0.0, 0.2, 1.0, 1.0]]
        assert found([*GOOD, *small]) == {"mixed_units": [3, 4]}
        assert found([*small, *small, GOOD[0]], normalized=True) == {"mixed_units": [4], "duplicate": [2, 3]}

    @pytest.mark.parametrize("row", [[0, 0, 1, 1], [0, 0, 0, 0], [0, 0.5, 0, 0.7], [0.5, 0.5, 1.1, 1]])
    def test_what_fits_into_one_pixel_without_being_a_fraction(self, row: list[float]) -> None:
        assert "mixed_units" not in found([*GOOD, row])

    def test_one_unit_is_not_mixed_with_itself(self) -> None:
        assert "mixed_units" not in found([[0.1, 0.2, 0.5, 0.8], [0.1, 0.2, 9.5, 8]])


class TestRotated:
    ROWS = ((100, 100, 50, 20, 0.5), (200, 150, 60, 30, -math.pi), (300, 100, 40, 40, 6.28))

    def test_radians_are_fine(self) -> None:
        assert found(self.ROWS, "cxcywh") == {}
        assert found(self.ROWS[0], "cxcywh") == {}

    def test_degrees_are_noticed(self) -> None:
        rows = np.array(self.ROWS)
        rows[:, 4] = np.degrees(rows[:, 4])
        assert found(rows, "cxcywh") == {"degrees": [0, 1, 2]}

    def test_the_turned_box_is_what_lies_in_the_image(self) -> None:
        lying, standing = [[30, 30, 60, 10, angle] for angle in (0, math.pi / 2)]
        assert found([lying, standing], "cxcywh", image_size=(61, 50)) == {"partly_outside": [1]}
        assert found([[*lying[:4], 90.0]], "cxcywh", image_size=(61, 50)) == {"degrees": [0], "partly_outside": [0]}

    def test_other_facts(self) -> None:
        rows = [[9, 9, -1, 2, 0], [9, 9, 0, 2, 0], [9, 9, 1, 2, NAN], [9, 9, 1, 2, INF]]
        assert found(rows, "cxcywh") == {"inverted": [0], "nan": [2], "infinite": [3], "zero_size": [1]}

    def test_the_format_must_be_said(self) -> None:
        with pytest.raises(
            ValueError, match=r"5 numbers are cx, cy, w, h and an angle: pass format='cxcywh', got 'xyxy'"
        ):
            diagnose(self.ROWS)


class TestFormats:
    @pytest.mark.parametrize("spread", ["any", "small"])
    @every_format
    @given(seed=st.integers(0, 2**32), count=st.integers(1, 60), sized=st.booleans())
    def test_valid_boxes_give_no_finding(self, fmt: BoxFormat, spread: str, seed: int, count: int, sized: bool) -> None:
        corners, size = random_boxes(seed, count, spread)
        rows = convert(corners, "xyxy", fmt)
        # Conversions round, so a box at the edge may reach beyond it by one bit: the image is a pixel larger.
        report = diagnose(rows, fmt, image_size=(size[0] + 1, size[1] + 1) if sized else None)
        assert report.ok, str(report)
        assert diagnose(Boxes(rows, fmt), image_size=size if sized else None) == diagnose(
            rows, fmt, image_size=size if sized else None
        )

    # The least number of right findings in 100 random sets of 50 boxes; None where the numbers cannot tell.
    @pytest.mark.parametrize(
        ("true", "said", "sized", "guess", "any_size", "small"),
        [
            ("xyxy", "xywh", True, ["xyxy"], 100, 100),
            ("xyxy", "cxcywh", True, ["xyxy"], 100, 100),
            ("xywh", "xyxy", True, ["xywh"], 100, 100),
            ("xywh", "cxcywh", True, ["xywh"], 100, 90),
            ("cxcywh", "xyxy", True, ["cxcywh"], 100, 100),
            ("cxcywh", "xywh", True, ["cxcywh"], 100, 90),
            ("xyxy", "xywh", False, ["xyxy"], 100, 100),
            ("xyxy", "cxcywh", False, ["xyxy"], 100, 99),
            ("xywh", "xyxy", False, ["xywh"], 100, 100),
            ("xywh", "cxcywh", False, ["xywh"], 100, 90),
            ("cxcywh", "xyxy", False, ["xywh", "cxcywh"], 100, 100),
            ("cxcywh", "xywh", False, [], 100, 100),
        ],
    )
    def test_a_wrong_format_is_found(
        self, *, true: BoxFormat, said: BoxFormat, sized: bool, guess: list[str], any_size: int, small: int
    ) -> None:
        for spread, least in (("any", any_size), ("small", small)):
            guesses: collections.Counter[tuple[str, ...]] = collections.Counter()
            for seed in range(100):
                corners, size = random_boxes(seed, 50, spread)
                report = diagnose(convert(corners, "xyxy", true), said, image_size=size if sized else None)
                guesses[tuple(finding.code for finding in report if finding.code in GUESSES)] += 1
            right = tuple(f"looks_like_{fmt}" for fmt in guess)
            assert guesses[right] >= least, guesses
            assert set(guesses) <= {right, ()}, "rather no guess than a wrong one"

    def test_real_annotations(self) -> None:
        """Boxes of COCO, image by image: no finding in the right format, and nearly always one in another format."""
        data = load(EXAMPLES / "coco_val2017_100" / "ground_truth.json")
        sizes = {image["id"]: (image["width"], image["height"]) for image in data["images"]}
        rows: dict[int, list[list[float]]] = collections.defaultdict(list)
        for annotation in data["annotations"]:
            rows[annotation["image_id"]].append(annotation["bbox"])
        crowded = [image for image, boxes in rows.items() if len(boxes) >= 10]
        assert len(crowded) > 15
        for image, boxes in rows.items():
            for size in (sizes[image], None):
                serious = [
                    finding for finding in diagnose(boxes, "xywh", image_size=size) if finding.severity != "note"
                ]
                assert not serious, (image, serious)
        # Small boxes away from the edges also fit as centres, so only half of the images show the mistake.
        for said, share in (("xyxy", 0.95), ("cxcywh", 0.5)):
            noticed = [GUESSES & found(rows[image], said, image_size=sizes[image]).keys() for image in crowded]
            assert sum("looks_like_xywh" in guess for guess in noticed) >= share * len(crowded)
            assert not any("looks_like_xyxy" in guess for guess in noticed)

    def test_a_few_swapped_corners_are_no_other_format(self) -> None:
        corners, _ = random_boxes(0, 100, "small")
        corners[:9] = corners[:9, [2, 3, 0, 1]]
        assert found(corners) == {"inverted": list(range(9))}

    def test_the_message_says_when_two_formats_fit(self) -> None:
        corners, size = random_boxes(1, 50, "small")
        rows = convert(corners, "xyxy", "cxcywh")
        assert "xywh and cxcywh fit equally, and an image size would tell" in str(diagnose(rows))
        assert "fit equally" not in str(diagnose(rows, image_size=size))

    def test_unusable_rows_do_not_hide_a_wrong_format(self) -> None:
        corners, size = random_boxes(2, 50, "any")
        rows = convert(corners, "xyxy", "xywh")
        rows[::7] = NAN
        report = found(rows, image_size=size)
        assert not set(report["looks_like_xywh"]) & set(report["nan"])

    def test_undeclared_normalized_boxes_have_an_image_of_their_own(self) -> None:
        corners, size = random_boxes(3, 50, "any")
        rows = convert(corners / np.tile(size, 2), "xyxy", "cxcywh")
        assert [finding.code for finding in diagnose(rows, "xywh")][:2] == [
            "normalized_not_declared",
            "looks_like_cxcywh",
        ]


class TestArguments:
    @given(
        array=hnp.arrays(
            st.sampled_from([np.float16, np.float32, np.float64, np.int64, np.uint64, np.uint8, np.bool_]),
            st.tuples(st.integers(0, 5), st.just(4)),
        ),
        fmt=st.sampled_from(FORMATS),
        sized=st.booleans(),
        normalized=st.booleans(),
    )
    def test_values_never_raise(self, array: Any, fmt: BoxFormat, sized: bool, normalized: bool) -> None:
        before = array.copy()
        report = diagnose(array, fmt, image_size=(640, 480) if sized else None, normalized=normalized)
        np.testing.assert_array_equal(array, before)
        assert report.num_boxes == len(array)
        for finding in report:
            assert list(finding.rows) == sorted(set(finding.rows))
            assert 0 < finding.count <= len(array)
            assert finding.rows[-1] < len(array)
        json.dumps(report.to_dict(), allow_nan=False)
        str(report)

    @given(array=hnp.arrays(np.float64, st.tuples(st.integers(0, 5), st.just(5))))
    def test_values_of_rotated_boxes_never_raise(self, array: FloatArray) -> None:
        assert diagnose(array, "cxcywh", image_size=(640, 480)).num_boxes == len(array)

    @pytest.mark.parametrize(
        ("array", "options", "error", "message"),
        [
            (np.zeros((2, 3)), {}, ValueError, r"array must have shape \(N, 4\), or \(N, 5\) .*, got \(2, 3\)"),
            (np.zeros((2, 2, 4)), {}, ValueError, r"got \(2, 2, 4\)"),
            ([[0, 0, 1, 1], [0, 0, 1]], {}, ValueError, "array must be a regular array of numbers"),
            ([["a"] * 4], {}, TypeError, "array must hold float16, float32, float64, integers or bools"),
            ([[None, 0, 1, 1]], {}, TypeError, "got dtype object"),
            ("abcd", {}, TypeError, "diagnose takes regions, .* a NumPy array or nested lists, got str"),
            (GOOD, {"format": "yxyx"}, ValueError, "unknown format 'yxyx'; choose from xyxy, xywh, cxcywh"),
            (GOOD, {"image_size": (0, 5)}, ValueError, "width must be positive and finite, got 0"),
            (GOOD, {"image_size": (5, NAN)}, ValueError, "height must be positive and finite, got nan"),
        ],
    )
    def test_wrong_shapes_and_kinds(self, array: Any, options: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            diagnose(array, **options)

    def test_an_inverted_row_points_here(self) -> None:
        with pytest.raises(ValueError, match=r"inverted, y2 < y1 .*; ioukit\.diagnose tells whether they fit another"):
            Boxes([0, 2, 1, 1])


class TestReport:
    ROWS = np.array([*GOOD, [NAN, 0, 1, 1], *[[5, 5, 5, 9 + k] for k in range(7)]])

    def test_reads_well(self) -> None:
        assert str(diagnose(self.ROWS)) == (
            "11 boxes: 2 findings\n"
            "error   nan: 1 of 11 boxes holds NaN (row 3)\n"
            "        -> drop the rows, and look for the cause, such as a division by zero or a training that diverged\n"
            "warning zero_size: 7 of 11 boxes have no width or no height (rows 4, 5, 6, 7, 8, ...)\n"
            "        -> drop them: IoU with them is 0 (Boxes.drop_empty)"
        )
        assert str(diagnose(GOOD)) == "3 boxes: nothing looks wrong"
        assert str(diagnose([])) == "0 boxes: nothing looks wrong"
        assert str(diagnose(GOOD[0])).startswith("1 box:")

    def test_is_a_frozen_value(self) -> None:
        report = diagnose(self.ROWS)
        assert report == diagnose(self.ROWS)
        assert hash(report) == hash(diagnose(self.ROWS))
        assert report != diagnose(GOOD)
        with pytest.raises(FrozenInstanceError):
            report.findings = ()  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            report.findings[0].rows = ()  # type: ignore[misc]

    def test_ok_and_iteration(self) -> None:
        report = diagnose(self.ROWS)
        assert (report.ok, len(report), [finding.count for finding in report]) == (False, 2, [1, 7])
        assert diagnose(GOOD).ok
        with pytest.raises(TypeError, match=r"neither true nor false: ask for \.ok"):
            bool(report)

    def test_to_dict_is_json(self) -> None:
        report = json.loads(json.dumps(diagnose(self.ROWS).to_dict()))
        assert (report["ok"], report["num_boxes"], len(report["findings"])) == (False, 11, 2)
        assert report["findings"][1]["rows"] == [4, 5, 6, 7, 8, 9, 10]
        assert report["findings"][1].keys() == {"code", "severity", "message", "hint", "rows", "count"}

    def test_every_code_is_documented(self) -> None:
        assert diagnose.__doc__
        assert [code for code in CODES if f"``{code}``" not in diagnose.__doc__] == []

    def test_types_are_public(self) -> None:
        report = diagnose(self.ROWS)
        assert isinstance(report, Diagnosis)
        assert all(isinstance(finding, Finding) for finding in report)
