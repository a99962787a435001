"""The functions `prepare_...`, and JSON, of DocsaidKit."""

from __future__ import annotations

import json
from datetime import date
from pathlib import PurePosixPath

import numpy as np
import pytest

import ioukit.compat.docsaidkit as D


def test_structures_are_prepared() -> None:
    assert D.prepare_box([0, 0, 4, 4], src_mode="XYWH", dst_mode="CXCYWH") == D.Box([2, 2, 4, 4], "CXCYWH")
    assert D.prepare_box(D.Box([0, 0, 4, 4], "CXCYWH")).to_list() == [-2, -2, 2, 2]
    assert D.prepare_boxes([[1, 2, 4, 4]], "XYWH") == D.Boxes([[1, 2, 5, 6]])
    assert D.prepare_boxes([[1, 2, 4, 4]], "XYWH", "CXCYWH").to_list() == [[3, 4, 4, 4]]
    assert len(D.prepare_boxes([])) == 0
    assert D.prepare_polygon([[0, 0], [1, 1], [0, 1]], 3) == D.Polygon([[0, 0], [1, 1], [0, 1]])
    assert len(D.prepare_polygons([[[0, 0], [1, 1], [0, 1]]])) == 1
    assert D.prepare_keypoints([(0, 1), (2, 3)]) == D.Keypoints([(0, 1), (2, 3)])
    assert len(D.prepare_keypoints_list([[(0, 1)], [(2, 3)]])) == 2
    with pytest.raises(ValueError, match=r"boxes\[7\] is \[0, 0, 4\], but a Box has 4 numbers"):
        D.prepare_box([0, 0, 4], 7)
    with pytest.raises(TypeError, match=r"polygons\[1\] is \[\[0, 0, 0\]\], but a Polygon must have shape"):
        D.prepare_polygons([[[0, 0]], [[0, 0, 0]]])
    with pytest.raises(TypeError, match=r"keypoints_list\[0\] is \[1\], but Keypoints must have shape"):
        D.prepare_keypoints_list([[1]])


def test_dictionaries_become_json_without_rounding() -> None:
    given = {
        "box": D.Box([0.25, 0.5, 1, 2], "XYWH"),
        "boxes": D.Boxes([[0.25, 0.5, 1, 2]]),
        "polygon": D.Polygon([[0.5, 0.0], [1.0, 1.0]]),
        "polygons": D.Polygons([[[0.5, 0.0], [1.0, 1.0]]]),
        "keypoints": D.Keypoints([[0.5, 1]]),
        "list": [D.Keypoints([[0.5, 1]]), {"array": np.array([[1, 2]]), "number": np.float32(0.5)}],
        "mode": D.BoxMode.XYWH,
        "path": PurePosixPath("a/b"),
        "day": date(2024, 2, 29),
        "plain": (1, "a", None, True),
        "own": {1, 2},
    }
    made = D.dict_to_jsonable(given, jsonable_func={"own": sorted})
    assert json.loads(json.dumps(made)) == {
        "box": [0.25, 0.5, 1.25, 2.5],
        "boxes": [[0.25, 0.5, 1, 2]],
        "polygon": [[0.5, 0], [1, 1]],
        "polygons": [[[0.5, 0], [1, 1]]],
        "keypoints": [[0.5, 1]],
        "list": [[[0.5, 1]], {"array": [[1, 2]], "number": 0.5}],
        "mode": "XYWH",
        "path": "a/b",
        "day": "2024-02-29",
        "plain": [1, "a", None, True],
        "own": [1, 2],
    }
    with pytest.raises(TypeError, match=r"d\['list'\]\[0\] is a set, which JSON does not know"):
        D.dict_to_jsonable({"list": [{1}]})
