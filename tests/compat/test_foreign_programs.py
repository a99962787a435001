"""Random programs that replace, subclass, mock, pickle and reload what they use see the same with ioukit."""

from __future__ import annotations

import importlib.util

import pytest

from support.foreign_programs import differences

FOUND = {
    "pycocotools": [932578, 932623, 932393, 972170, 991686, 991025, 1303265, 1405864, 1410417],
    "lvis": [934825, 910137],
}
"""Programs that once saw something else: copies of results, masks that are none, parameters without ranges,
records without scores, shallow copies of evaluations, evaluations of another class that chooses what is pickled."""


@pytest.mark.parametrize(("package", "programs"), [("pycocotools", 16), ("lvis", 6)])
def test_programs_that_replace_what_they_use_see_the_same(package: str, programs: int) -> None:
    if not all(importlib.util.find_spec(name) for name in ("pycocotools", package)):
        pytest.skip(f"compares with {package}")
    seeds = [*range(programs), *FOUND[package]]
    found = list(differences(seeds, package))
    assert [(seed, text) for seed, _, text in found if text is not None] == []
    assert sum(looks for _, looks, _ in found) > 20 * len(seeds)
