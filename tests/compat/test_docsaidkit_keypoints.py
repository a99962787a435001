"""Keypoints and KeypointsList of DocsaidKit: upstream's values, and the differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import ioukit.compat.docsaidkit as D
from support.capybara import CAPYBARA

# Keypoints


def test_values_of_keypoints() -> None:
    case = CAPYBARA["keypoints"]
    keypoints = D.Keypoints(np.array(case["input"]))
    several = D.KeypointsList([keypoints, keypoints])
    calls: dict[str, Any] = {
        "shift_1_2": lambda k: k.shift(1, 2),
        "scale_2_half": lambda k: k.scale(2, 0.5),
        "normalize_100_200": lambda k: k.normalize(100, 200),
    }
    for name, call in calls.items():
        assert_allclose(call(keypoints).numpy(), case[name], rtol=1e-6)
        assert_allclose(call(several).numpy(), [case[name]] * 2, rtol=1e-6)
    assert keypoints.normalize(100, 200).denormalize(100, 200) == keypoints
    assert keypoints.normalize(100, 200).copy().is_normalized
    assert keypoints != keypoints.shift(1, 0)
    assert keypoints[0].tolist() == case["input"][0]
    assert len(keypoints) == 2


def test_keypoints_have_colours() -> None:
    keypoints = D.Keypoints([[0, 0], [1, 1], [2, 2]])  # a list of lists, which upstream refuses
    assert keypoints.point_colors == [(127, 0, 255), (128, 254, 179), (255, 0, 0)]
    pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    keypoints.point_colors = "viridis"
    assert keypoints.point_colors[0] == (68, 1, 84)
    assert D.Keypoints([[0, 0]], cmap="viridis").point_colors == [(68, 1, 84)]
    with pytest.raises(KeyError, match="no-map"):  # upstream takes the rainbow
        D.Keypoints([[0, 0]], cmap="no-map")


def test_lists_of_keypoints() -> None:
    first, second = D.Keypoints([[0, 0, 1], [1, 1, 2]]), D.Keypoints([[5, 5, 0], [6, 6, 2]])
    several = D.KeypointsList([first, second])
    assert [item.to_list() for item in several] == [first.to_list(), second.to_list()]
    assert several[1] == several[-1] == several[np.int64(1)] == second
    assert several[[1]] == D.KeypointsList([second]) == several[1:]
    several[0] = second
    assert several[0] == second
    assert D.KeypointsList.cat([several, D.KeypointsList([first])]).to_list()[2] == first.to_list()


def test_a_list_without_objects() -> None:
    nothing = D.KeypointsList([])
    assert len(nothing) == 0
    assert nothing.numpy().shape == (0,)
    assert nothing.point_colors == []
    nothing.point_colors = "viridis"
    assert nothing.shift(1, 1) == nothing.normalize(4, 4).denormalize(4, 4) == nothing
    several = D.KeypointsList([[[0, 0], [1, 1]]])
    assert D.KeypointsList.cat([nothing, several]) == several
    assert D.KeypointsList.cat([nothing, nothing]) == nothing
    assert D.KeypointsList(np.zeros((0, 17, 3))).numpy().shape == (0, 17, 3)


def test_text_of_keypoints() -> None:
    assert repr(D.Keypoints([[0, 1]])) == "Keypoints([[0. 1.]])"
    assert repr(D.KeypointsList([[[0, 1]]])) == "KeypointsList([[[0. 1.]]])"


@pytest.mark.parametrize("cmap", ["rainbow", "viridis", "jet", "tab10"])
def test_colours_are_those_of_matplotlib(cmap: str) -> None:
    matplotlib = pytest.importorskip("matplotlib", reason="Matplotlib is not installed")
    for count in range(1, 300):
        expected = matplotlib.colormaps[cmap](np.linspace(0, 1, count), bytes=True)[:, :3]
        assert D.Keypoints(np.zeros((count, 2)), cmap=cmap).point_colors == [tuple(row) for row in expected.tolist()]


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: D.Keypoints([[0, 0, 3]]), ValueError, "visibility, from 0 to 2"),
        (lambda: D.Keypoints([[0, 0, np.nan]]), ValueError, "visibility, from 0 to 2"),
        (lambda: D.Keypoints([[0, 0, 1, 1]]), ValueError, r"Keypoints must have shape \(K, 2 or 3\), got \(1, 4\)"),
        (lambda: D.KeypointsList([[0, 0]]), ValueError, r"must have shape \(N, K, 2 or 3\), got \(1, 2\)"),
        (lambda: D.Keypoints([[0, 0]], is_normalized=True).normalize(1, 1), ValueError, "already normalized"),
        (lambda: D.Keypoints([[0, 0]]).denormalize(1, 1), ValueError, "not normalized"),
        (lambda: D.KeypointsList.cat([]), ValueError, "at least one KeypointsList"),
        (lambda: D.KeypointsList.cat("ab"), TypeError, "should be a list of KeypointsList, got str"),  # type: ignore[arg-type]
        (lambda: D.KeypointsList.cat([1]), TypeError, r"keypoints_lists\[0\] must be a KeypointsList, got int"),  # type: ignore[list-item]
        (
            lambda: D.KeypointsList.cat([D.KeypointsList([[[0, 0]]]), D.KeypointsList([[[0, 0], [1, 1]]])]),
            ValueError, r"one shape, got \[\(1, 2\), \(2, 2\)\]",
        ),
        (
            lambda: D.KeypointsList([D.Keypoints([[0, 0]]), D.Keypoints([[0, 0]], normalized=True)]),
            ValueError, "normalized and absolute",
        ),
        (
            lambda: D.KeypointsList([[[0, 0]]]).__setitem__(0, D.Keypoints([[0, 0]], normalized=True)),
            ValueError, "normalized and absolute",
        ),
    ],
)  # fmt: skip
def test_errors_of_keypoints(call: Any, kind: type[Exception], says: str) -> None:
    with pytest.raises(kind, match=says):
        call()
