"""What Capybara gives for boxes and polygons: values on record, and the package itself where it is installed.

``python -m support.capybara`` in the folder of the tests writes the values of random polygons again. It needs the
packages capybara-docsaid (1.0.1 was used) and opencv-python-headless (4.12).
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from types import ModuleType
from typing import Any

import numpy as np

from support.paths import DATA

__all__ = ["CAPYBARA", "RECORDED_POLYGONS", "capybara", "measured_polygon", "random_outlines"]

CAPYBARA: dict[str, Any] = json.loads((DATA / "overlap" / "capybara_structures.json").read_text())
_RECORD = DATA / "overlap" / "capybara_polygons.json"
RECORDED_POLYGONS: list[dict[str, Any]] = json.loads(_RECORD.read_text())["polygons"] if _RECORD.exists() else []


def capybara(module: str) -> Any:
    """A module of the package, or None if the package is not installed.

    Capybara looks for the library turbojpeg when it is imported, for JPEG files. What is compared here needs no such
    file, so a stand-in takes its place where the library is missing.
    """
    if any(importlib.util.find_spec(name) is None for name in ("capybara", "cv2", "shapely")):
        return None
    try:
        importlib.import_module("turbojpeg").TurboJPEG()
    except (ImportError, RuntimeError):
        stand_in = ModuleType("turbojpeg")
        stand_in.__dict__["TurboJPEG"] = type("TurboJPEG", (), {})
        sys.modules["turbojpeg"] = stand_in
    try:
        return importlib.import_module(module)
    except ImportError:  # one of its many dependencies is missing
        return None


def random_outlines(seed: int, count: int) -> list[Any]:
    """Paths of 3 to 10 points: on a small grid, anywhere, convex, and around a centre."""
    rng = np.random.default_rng(seed)
    outlines = []
    for row in range(count):
        points = int(rng.integers(3, 11))
        turn = np.sort(rng.uniform(0, 2 * np.pi, points))
        around = np.stack([np.cos(turn), np.sin(turn)], axis=1)[:: 1 if rng.random() < 0.5 else -1]
        made = (
            rng.integers(0, 9, (points, 2)),
            rng.uniform(0, 50, (points, 2)),
            30 + around * [20, 12],
            30 + around * rng.uniform(5, 20, (points, 1)),
        )[row % 4]
        outlines.append(np.asarray(np.rint(made * np.float64(64)) / 64, np.float32))
    return outlines


def measured_polygon(module: Any, points: Any) -> dict[str, Any]:
    """What a module with Capybara's names gives for a polygon of these points."""
    polygon = module.Polygon(points)
    (x, y), (width, height), degrees = polygon.min_box
    (u, v), radius = polygon.min_circle
    return {
        "area": float(polygon.area),
        "arclength": float(polygon.arclength),
        "orientation": float(polygon.orientation),
        "min_box": [float(number) for number in (x, y, width, height, degrees)],
        "min_box_wh": [float(side) for side in polygon.min_box_wh],
        "min_circle": [float(number) for number in (u, v, radius)],
        "hull": polygon.to_convexhull().to_list(),
        "min_boxpoints": polygon.to_min_boxpoints().to_list(),
        "grown": polygon.scale(2).to_list(),
        "shrunk": polygon.scale(-1).to_list(),
        "grown_round": polygon.scale(2, join_style=1).to_list(),
        "grown_bevel": polygon.scale(2, join_style=3).to_list(),
    }


def _rounded(value: Any) -> Any:
    """The numbers with six decimals, which holds every multiple of 1 / 64."""
    return [_rounded(item) for item in value] if isinstance(value, list) else round(value, 6)


def _record() -> None:
    theirs = capybara("capybara")
    cases = [{"points": points.tolist(), **measured_polygon(theirs, points)} for points in random_outlines(7, 60)]
    rounded = ({name: _rounded(value) for name, value in case.items()} for case in cases)
    text = ",\n".join(json.dumps(case) for case in rounded)
    _RECORD.write_text(f'{{"source": "capybara-docsaid 1.0.1 with OpenCV 4.12", "polygons": [\n{text}\n]}}\n')


if __name__ == "__main__":
    _record()
