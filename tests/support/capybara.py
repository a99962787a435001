"""Values that DocsaidKit, from the package capybara, gives for boxes and polygons."""

from __future__ import annotations

import json
from typing import Any

from support.paths import DATA

__all__ = ["CAPYBARA"]

CAPYBARA: dict[str, Any] = json.loads((DATA / "overlap" / "capybara_structures.json").read_text())
