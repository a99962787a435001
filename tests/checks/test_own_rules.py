"""A kind of region that ioukit does not have: `diagnose` works after `register_rules`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ioukit import Boxes, Diagnosis, Finding, diagnose
from ioukit.checks import register_rules
from support.discs import Discs


def diagnose_discs(discs: Discs, *, reference: Discs | None = None) -> Diagnosis:
    rows = tuple(np.flatnonzero(discs.is_empty).tolist())
    found = [Finding("zero_size", "warning", "no radius", "drop them", rows)] if rows else []
    if reference is not None and len(discs) != len(reference):
        found.append(Finding("other_size", "note", "another number", "see which are missing", (0,)))
    return Diagnosis(tuple(found), len(discs), "disc")


def test_rules_of_an_own_kind() -> None:
    class Coins(Discs):
        pass

    coins = Coins([[0, 0, 1], [5, 5, 0]])
    with pytest.raises(TypeError, match=r"there are no rules for Coins: .*register_rules adds them"):
        diagnose(coins)
    register_rules(Coins, diagnose_discs)
    assert [finding.code for finding in diagnose(coins)] == ["zero_size"]
    assert [finding.code for finding in diagnose(coins, reference=coins[:1])] == ["zero_size", "other_size"]
    assert str(diagnose(coins[:1])) == "1 disc: nothing looks wrong"
    with pytest.raises(TypeError, match="image_size does not apply to Coins"):
        diagnose(coins, image_size=(640, 480))


@pytest.mark.parametrize(
    ("kind", "rules", "says"),
    [
        (int, diagnose_discs, "kind must be a class derived from"),
        (Boxes, diagnose_discs, "upright boxes are built in, register another kind than Boxes"),
        (Discs, 3, "rules must be a function of regions that returns a Diagnosis, got 3"),
    ],
    ids=["no class of regions", "upright boxes", "no function"],
)
def test_what_cannot_be_registered(kind: Any, rules: Any, says: str) -> None:
    with pytest.raises(TypeError, match=says):
        register_rules(kind, rules)
