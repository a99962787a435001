"""Values of other projects, for real pairs and for degenerate ones (sources: tests/data/overlap/SOURCES.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import ioukit
from ioukit import Boxes, pairwise_ioa, pairwise_iou

DATA = Path(__file__).parents[1] / "data" / "overlap"
TABLES = json.loads((DATA / "iou_axis_aligned.json").read_text())["cases"]
VALUES = json.loads((DATA / "losses.json").read_text())["variants"]
PAIRS = json.loads((DATA / "box_pairs.json").read_text())
DEGENERATE = json.loads((DATA / "degenerate_peers.json").read_text())["cases"]

# The names of the files: function and options.
QUANTITIES: dict[str, tuple[str, dict[str, str]]] = {
    "inter": ("intersection", {}),
    "iou": ("iou", {}),
    "ioa": ("ioa", {}),
    "ioa_over_b": ("ioa", {"of": "second"}),
    "giou": ("giou", {}),
    "diou": ("diou", {}),
    "ciou": ("ciou", {}),
    "eiou": ("eiou", {}),
}
# Likewise, of the file of losses.
LOSSES: dict[str, tuple[str, dict[str, Any]]] = {
    "eiou": ("eiou", {}),
    "siou_theta4": ("siou", {}),
    "mpdiou_img_640x640": ("mpdiou", {"image_size": (640, 640)}),
    "mpdiou_img_1280x720": ("mpdiou", {"image_size": (1280, 720)}),
    "nwd_C12.8": ("nwd", {"constant": 12.8}),
    "inner_iou_ratio0.75": ("inner_iou", {"ratio": 0.75}),
    "inner_iou_ratio1.25": ("inner_iou", {"ratio": 1.25}),
    "alpha_iou_loss_alpha3": ("alpha_iou", {"alpha": 3}),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", TABLES, ids=lambda case: case["id"])
def test_tables_of_other_projects(case: dict[str, Any], dtype: Any) -> None:
    default = case.get("format", "xyxy")
    a = Boxes(case["boxes1"], case.get("format1", default), dtype=dtype)
    b = Boxes(case["boxes2"], case.get("format2", default), dtype=dtype)
    tolerance = 1e-12 if dtype == np.float64 else 1e-6
    compared = 0
    for kind, atol in (("exact", tolerance), ("upstream_expected", max(tolerance, case.get("upstream_atol", 0)))):
        for key in QUANTITIES.keys() & case[kind].keys():
            name, options = QUANTITIES[key]
            values = getattr(ioukit, f"pairwise_{name}")(a, b, **options)
            assert values.dtype == dtype
            assert_allclose(values, case[kind][key], rtol=tolerance, atol=atol, err_msg=f"{kind} {key}")
            compared += 1
    assert compared >= 2


@pytest.mark.parametrize("key", LOSSES)
@pytest.mark.parametrize("case", VALUES, ids=lambda case: f"{case['pred']}-{case['target']}")
def test_values_of_the_later_variants(case: dict[str, Any], key: str) -> None:
    name, options = LOSSES[key]
    expected = 1 - case["values"][key] if "loss" in key else case["values"][key]
    value = getattr(ioukit, f"elementwise_{name}")(case["pred"], case["target"], **options)
    assert_allclose(value, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("pair", PAIRS["special"], ids=lambda pair: pair["name"])
def test_special_pairs(pair: dict[str, Any]) -> None:
    _compare([pair])


def test_real_pairs() -> None:
    assert len(PAIRS["real"]) == 250
    _compare(PAIRS["real"])


def _compare(pairs: list[dict[str, Any]]) -> None:
    a, b = (np.array([pair[side] for pair in pairs]) for side in "ab")
    for key, name, options in (
        ("intersection", "intersection", {}),
        ("iou", "iou", {}),
        ("giou", "giou", {}),
        ("diou", "diou", {}),
        ("ciou", "ciou", {}),
        ("iof_a", "ioa", {"of": "first"}),
        ("iof_b", "ioa", {"of": "second"}),
    ):
        values = getattr(ioukit, f"elementwise_{name}")(a, b, **options)
        defined = [pair.get(key) is not None for pair in pairs]
        expected = np.array([pair[key] for pair, known in zip(pairs, defined, strict=True) if known], float)
        assert_allclose(values[defined], expected, rtol=1e-12, atol=1e-14, err_msg=key)
        assert np.isfinite(values).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("case", DEGENERATE, ids=lambda case: case["id"])
def test_degenerate_pairs_give_a_number_or_an_error_that_names_the_row(case: dict[str, Any], dtype: Any) -> None:
    a, b = (np.array([case[key]], float).astype(dtype) for key in ("box1", "box2"))
    valid = all(np.isfinite(box).all() and (box[:, :2] <= box[:, 2:]).all() for box in (a, b))
    if not valid:
        with pytest.raises(ValueError, match=r"boxes[12]\[0\] is .*(finite|inverted)"):
            pairwise_iou(a, b)
        return
    areas = [(box[:, 2:] - box[:, :2]).astype(float).prod() for box in (a, b)]
    for name in ("iou", "giou", "diou", "ciou"):
        value = getattr(ioukit, f"pairwise_{name}")(a, b)
        assert np.isfinite(value).all()
        if case["box1"] == case["box2"]:
            assert_array_equal(value, [[float(min(areas) > np.finfo(dtype).tiny)]], err_msg=name)
    if min(areas) == 0:
        assert_array_equal(pairwise_iou(a, b), [[0]])


def test_integers_and_half_precision_are_measured_in_floats() -> None:
    """What `dtype_cases` of the same file lists: areas that overflow, differences that wrap.

    Not its pair in bfloat16, whose corners are the same number in that format before anything is measured.
    """
    large = np.array([[0, 0, 70_000, 70_000]], np.int32)
    assert Boxes(large).area.item() == 4.9e9
    assert pairwise_iou(large, large).item() == 1
    small = np.array([[200, 200, 250, 250]], np.uint8), np.array([[0, 0, 50, 50]], np.uint8)
    assert pairwise_iou(*small).item() == 0
    short = np.array([[0, 0, 30_000, 30_000]], np.int16)
    assert Boxes(short).area.item() == 9e8
    assert pairwise_iou(short, short).item() == 1
    half = np.array([[0, 0, 1000, 1000]], np.float16), np.array([[0, 0, 1000, 900]], np.float16)
    assert Boxes(half[0]).area.item() == 1e6
    assert pairwise_iou(*half).item() == np.float16(0.9)


def test_aligned_boxes_along_a_diagonal() -> None:
    """The rule of a test of mmcv, as stated in tests/data/compat/legacy_offset.json."""
    first = np.arange(1000.0)[:, None] + [10, 10, 30, 30]
    assert_allclose(ioukit.elementwise_iou(first, first + 10), 1 / 7, rtol=1e-15)


def test_the_example_of_the_readme() -> None:
    boxes1 = Boxes([[10, 20, 50, 80], [20, 30, 60, 90]])
    boxes2 = Boxes([[20, 30, 60, 90], [30, 40, 70, 100]])
    iou, ioa = pairwise_iou(boxes1, boxes2), pairwise_ioa(boxes1, boxes2)
    assert iou.dtype == ioa.dtype == np.float32
    assert str(iou) == "[[0.45454547 0.2       ]\n [1.         0.45454547]]"
    assert str(ioa) == "[[0.625      0.33333334]\n [1.         0.625     ]]"


def test_centres_on_a_grid_of_13_cells() -> None:
    """The published value is that of float64; float32 has its first seven digits."""
    a = [2.76772099, 3.82412258, 9.20284061, 10.90716819]
    b = [6.27252577, 6.24175572, 11.23818034, 8.57538178]
    printed = {}
    for dtype in (np.float32, np.float64):
        clipped = [Boxes(box, "cxcywh", dtype=dtype).clip(0, 0, 12, 12) for box in (a, b)]
        printed[dtype] = str(pairwise_iou(*clipped))
    assert printed == {np.float64: "[[0.42562048]]", np.float32: "[[0.42562056]]"}

    a = [11.14633535, 10.19626615, 12.60589032, 4.39965071]
    b = [12.15843153, 3.54273941, 9.59581098, 0.71452057]
    assert_array_equal(pairwise_iou(*(Boxes(box, "cxcywh").clip(0, 0, 12, 12) for box in (a, b))), [[0]])


def test_two_boxes_of_a_first_course() -> None:
    assert_array_equal(
        pairwise_iou(Boxes([50, 50, 100, 100]), Boxes([60, 60, 110, 110])), np.array([[1600 / 3400]], np.float32)
    )
