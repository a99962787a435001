"""The parts of detections are integrals of derivatives: compared with differences of a plain area under the curve."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - loads the profile that allows for a busy machine
from ioukit.comparison.attribution import ap_parts, ar_parts

if TYPE_CHECKING:
    from collections.abc import Sequence

    Ranking = Sequence[tuple[bool, str]]

NODES = 200


def area(weights: Sequence[float], ranking: Ranking, objects: int) -> float:
    """The area under the envelope of the curve of weighted detections, best first, in plain Python."""
    true = false = 0.0
    points = []
    for weight, (_, outcome) in zip(weights, ranking, strict=True):
        step = weight if outcome == "found" else 0.0
        true += step
        false += weight if outcome == "false" else 0.0
        points.append((step, true / (true + false) if true + false else 0.0))
    return sum(
        step / objects * max(precision for _, precision in points[place:]) for place, (step, _) in enumerate(points)
    )


def weights_at(q: float, ranking: Ranking) -> list[float]:
    return [q if of_b else 1 - q for of_b, _ in ranking]


def parts_of(ranking: Ranking, objects: int) -> npt.NDArray[np.float64]:
    of_b = np.array([side for side, _ in ranking])
    found, false = (np.array([[kind == wanted for _, kind in ranking]]) for wanted in ("found", "false"))
    parts: npt.NDArray[np.float64] = ap_parts(of_b, found, false, objects)[0]
    return parts


rankings = st.lists(st.tuples(st.booleans(), st.sampled_from(["found", "false", "ignored"])), min_size=1, max_size=9)


@given(rankings)
def test_parts_are_the_integral_of_the_derivatives(ranking: Ranking) -> None:
    objects, step = len(ranking), 1e-9
    wanted = np.zeros(len(ranking))
    for node in (np.arange(NODES) + 0.5) / NODES:
        at = weights_at(node, ranking)
        here = area(at, ranking, objects)
        for place, (of_b, _) in enumerate(ranking):
            up, down = list(at), list(at)
            up[place] += step
            down[place] -= step
            rise, fall = (area(moved, ranking, objects) - here for moved in (up, down))
            assume(abs(rise + fall) < 0.01 * step)  # else two places share the envelope, and there is no derivative
            slope = (rise - fall) / (2 * step)
            wanted[place] += (1 if of_b else -1) * slope / NODES
    np.testing.assert_allclose(parts_of(ranking, objects), wanted, atol=0.02)


def test_of_places_that_share_the_envelope_the_last_counts() -> None:
    """After both true positives the precision is q, all the way, so the second one gives the envelope its value."""
    ranking = [(False, "false"), (True, "found"), (False, "false"), (True, "found")]
    np.testing.assert_allclose(parts_of(ranking, 4), np.array([1, 2, 1, 2]) / 12)


@given(rankings)
def test_parts_add_up_to_the_difference_of_the_areas(ranking: Ranking) -> None:
    difference = area(weights_at(1, ranking), ranking, 12) - area(weights_at(0, ranking), ranking, 12)
    assert parts_of(ranking, 12).sum() == pytest.approx(difference, abs=0.01)


def test_two_detections_by_hand() -> None:
    """A has a false positive above a true one, B only the true one: precision 1/2 and 1, and one object.

    With the weight 1 - q of the false positive, the area is the integral of 1 / (2 - q), which it has all to itself.
    """
    found, both = parts_of([(False, "false"), (False, "found"), (True, "found")], 1), 0.5
    assert found.sum() == pytest.approx(both, abs=1e-4)
    assert found[0] == pytest.approx(both, abs=1e-4)
    assert found[1] == -found[2]


def test_a_detection_of_both_has_no_part() -> None:
    ranking = [(False, "found"), (True, "found"), (True, "false"), (False, "false"), (True, "false"), (True, "found")]
    found = parts_of(ranking, 3)
    assert found[0] + found[1] == 0
    assert found[3] + found[4] == 0


def test_recall() -> None:
    of_b = np.array([True, False, True])
    assert ar_parts(of_b, np.array([[True, True, False]]), 4).tolist() == [[0.25, -0.25, 0.0]]
