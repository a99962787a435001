"""All sets of regions are frozen values."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Boxes, Boxes3D, Masks, Polygons, RotatedBoxes, diagnose

ROWS = [[1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 2.0, 0.0], [5.0, 5.0, 9.0, 7.0]]
SAID: dict[str, Any] = {"unit": "degrees", "sense": "clockwise"}
SETS: list[Any] = [  # the second region of each is empty
    Boxes(ROWS),
    Boxes(ROWS, "cxcywh", normalized=True, dtype=np.float64),
    RotatedBoxes([[*row, 30] for row in ROWS], **SAID),
    Boxes3D([[*row[:2], 1, *row[2:], 2, 30] for row in ROWS], z="bottom", **SAID),
    Polygons([[[0, 0], [4, 0], [0, 3]], [], [[0, 0], [2, 0], [2, 2], [0, 2]]]),
    Masks.from_rle([{"size": [3, 4], "counts": counts} for counts in ([5, 1, 6], [12], [0, 12])]),
]
every_set = pytest.mark.parametrize("regions", SETS, ids=lambda regions: type(regions).__name__)


@every_set
def test_equality_and_hash(regions: Any) -> None:
    same = regions[:]
    assert same is not regions
    assert same == regions
    assert hash(same) == hash(regions)
    assert regions[::-1] != regions
    assert regions[:2] != regions
    assert [other for other in SETS if other == regions] == [regions]
    assert len({*SETS, same}) == len(SETS)
    assert regions != diagnose(regions)


@every_set
def test_copies_and_pickles_are_frozen_and_equal(regions: Any) -> None:
    for same in (pickle.loads(pickle.dumps(regions)), copy.copy(regions), copy.deepcopy(regions)):
        assert type(same) is type(regions)
        assert same == regions
        assert repr(same) == repr(regions)
        for part in same._state():
            if isinstance(part, np.ndarray):
                assert not part.flags.writeable


@every_set
def test_put_together_again(regions: Any) -> None:
    kind = type(regions)
    assert kind.concat(list(regions)) == regions
    with pytest.raises(TypeError, match=rf"\[1\] must be {kind.__name__} like the others, got int"):
        kind.concat([regions, 3])


@every_set
def test_what_is_empty_is_dropped(regions: Any) -> None:
    assert_array_equal(regions.is_empty, [False, True, False])
    assert regions.drop_empty() == regions[[0, 2]]


@pytest.mark.parametrize("regions", SETS[:5], ids=lambda regions: type(regions).__name__)
def test_minus_zero_is_zero(regions: Any) -> None:
    zeros = [regions._with(np.zeros_like(regions._state()[0]) * sign) for sign in (1.0, -1.0)]
    assert zeros[0] == zeros[1]
    assert hash(zeros[0]) == hash(zeros[1])


def test_the_dtype_does_not_matter() -> None:
    single, double = (Boxes(ROWS, dtype=dtype) for dtype in (np.float32, np.float64))
    assert single == double
    assert hash(single) == hash(double)
