"""`Masks` as values, and what is made of them: unions, boundaries, findings."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import scipy.ndimage
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Masks, diagnose
from support.mask_cases import SMALL, mask_arrays, random_masks


class TestValue:
    def test_is_built_by_name(self) -> None:
        with pytest.raises(TypeError, match=r"build masks with Masks\.from_arrays"):
            Masks()

    @given(mask_arrays(max_count=6), st.data())
    def test_is_indexed_like_an_array(self, arrays: Any, data: st.DataObject) -> None:
        masks = Masks.from_arrays(arrays)
        count = len(arrays)
        indices: list[Any] = [
            data.draw(st.slices(count)),
            data.draw(st.lists(st.integers(-count, count - 1), max_size=5)),
            np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count))),
        ]
        for index in indices:
            wanted = arrays[np.array(index, np.intp) if isinstance(index, list) else index]
            assert masks[index] == Masks.from_arrays(wanted)
        assert masks[-1] == Masks.from_arrays(arrays[-1:])
        assert Masks.concat(list(masks)) == masks

    def test_bad_indices(self) -> None:
        masks = Masks.from_rle(SMALL)
        with pytest.raises(IndexError):
            masks[2]
        with pytest.raises(TypeError, match="Masks are indexed by integers"):
            masks["a"]
        with pytest.raises(TypeError, match="Masks are not an array"):
            np.asarray(masks)

    def test_is_frozen_equal_hashed_pickled_and_shown(self) -> None:
        masks, same = Masks.from_rle(SMALL), Masks.from_rle(SMALL)
        assert masks == same
        assert hash(masks) == hash(same)
        assert masks != masks[::-1]
        assert masks != 5
        # The same runs in another size.
        assert Masks.from_rle([{"size": [4, 3], "counts": [12]}]) != masks[1]
        for twin in (pickle.loads(pickle.dumps(masks)), copy.deepcopy(masks)):
            assert twin == masks
            assert not any(part.flags.writeable for part in twin._parts)
        with pytest.raises(AttributeError):
            masks.color = 1  # type: ignore[attr-defined]
        assert repr(masks) == "Masks(2 of 3 x 4 (height x width), area=[4, 0])"
        assert repr(Masks.concat([])) == "Masks([])"
        assert repr(Masks.from_arrays([np.ones((1, 1), bool), np.ones((1, 2), bool)])) == (
            "Masks(2 of several sizes, area=[1, 2])"
        )

    def test_concat_takes_masks(self) -> None:
        with pytest.raises(TypeError, match=r"masks\[1\] must be Masks like the others, got int"):
            Masks.concat([Masks.from_rle(SMALL), 5])  # type: ignore[list-item]

    def test_no_masks_have_no_size(self) -> None:
        with pytest.raises(ValueError, match="a size needs at least one mask"):
            _ = Masks.concat([]).size


class TestMerge:
    @given(mask_arrays(max_count=9))
    def test_union_and_intersection(self, arrays: Any) -> None:
        masks = Masks.from_arrays(arrays)
        assert_array_equal(masks.merge().to_arrays()[0], arrays.any(axis=0))
        assert_array_equal(masks.merge(intersect=True).to_arrays()[0], arrays.all(axis=0))

    def test_needs_masks_of_one_size(self) -> None:
        with pytest.raises(ValueError, match="merge needs at least one mask"):
            Masks.concat([]).merge()
        with pytest.raises(ValueError, match="masks of another size"):
            Masks.from_arrays([np.ones((1, 1), bool), np.ones((1, 2), bool)]).merge()


def eroded(mask: Any, steps: int) -> Any:
    return scipy.ndimage.binary_erosion(mask, np.ones((3, 3)), iterations=steps)


class TestBoundary:
    @given(mask_arrays(), st.sampled_from([0, 0.005, 0.02, 0.05, 0.1, 0.3, 10]))
    def test_is_what_erosion_takes_off(self, arrays: Any, ratio: float) -> None:
        distance = max(1, round(ratio * np.sqrt(arrays.shape[1] ** 2 + arrays.shape[2] ** 2)))
        wanted = [mask & ~eroded(mask, distance) for mask in arrays.astype(bool)]
        assert_array_equal(Masks.from_arrays(arrays).boundary(ratio).to_arrays(), wanted)

    def test_of_large_masks(self) -> None:
        arrays = random_masks(np.random.default_rng(5), 8, 300, 280).astype(bool)
        masks = Masks.from_arrays(arrays)
        assert_array_equal(masks.boundary().to_arrays(), [mask & ~eroded(mask, 8) for mask in arrays])
        assert masks.boundary(threads=1) == masks.boundary(threads=2)

    def test_is_that_of_its_authors_code(self) -> None:
        cv2 = pytest.importorskip("cv2")
        arrays = random_masks(np.random.default_rng(6), 12, 90, 121)
        wanted = []
        for mask in arrays:
            padded = cv2.copyMakeBorder(mask, 1, 1, 1, 1, cv2.BORDER_CONSTANT, value=0)
            distance = max(1, round(0.02 * np.sqrt(90**2 + 121**2)))
            wanted.append(mask - cv2.erode(padded, np.ones((3, 3), np.uint8), iterations=distance)[1:-1, 1:-1])
        assert_array_equal(Masks.from_arrays(arrays).boundary().to_arrays(), np.array(wanted, bool))

    @pytest.mark.parametrize("ratio", [-0.1, np.nan, np.inf])
    def test_a_ratio_that_is_none_is_refused(self, ratio: float) -> None:
        with pytest.raises(ValueError, match="dilation_ratio must be at least 0 and finite"):
            Masks.from_rle(SMALL).boundary(ratio)


class TestDiagnosis:
    def test_of_masks(self) -> None:
        full = {"size": [3, 4], "counts": [0, 12]}
        swapped = {"size": [4, 3], "counts": [4, 2, 1, 2, 3]}
        masks = Masks.from_rle([SMALL[0], SMALL[1], full, SMALL[0], swapped])
        found = diagnose(masks, image_size=(4, 3))
        assert [(one.code, one.severity, one.rows) for one in found] == [
            ("other_size", "warning", (4,)),
            ("empty_mask", "warning", (1,)),
            ("full_mask", "warning", (2,)),
            ("duplicate", "note", (3,)),
        ]
        assert "5 masks: 4 findings" in str(found)
        assert "1 of 5 masks is not 3 x 4 (height x width)" in str(found)
        assert found.num_boxes == 5
        assert diagnose(masks[:1]).ok
        assert str(diagnose(masks[:1])) == "1 mask: nothing looks wrong"
        assert diagnose(Masks.concat([]), image_size=(4, 3)).ok
        with pytest.raises(ValueError, match="width must be positive"):
            diagnose(masks, image_size=(0, 3))

    def test_of_records_that_may_be_no_masks(self) -> None:
        records: list[Any] = [SMALL[1], {"size": [3, 4], "counts": [4]}, SMALL[0], {"size": [3, 4]}, SMALL[0]]
        found = diagnose(records)
        assert [(one.code, one.severity, one.rows) for one in found] == [
            ("bad_runs", "error", (1, 3)),
            ("empty_mask", "warning", (0,)),
            ("duplicate", "note", (4,)),
        ]
        assert found.findings[0].message == (
            "2 of 5 masks cannot be read; the first: the counts sum to 4, but 3 x 4 (height x width) are 12 pixels"
        )
