"""What all tests share."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Of half a million objects that stay until the end, the garbage collector would look at each again and again."""
    gc.collect()
    gc.freeze()
