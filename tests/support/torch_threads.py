"""How many threads PyTorch uses in tests."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["one_thread_of_torch"]


@pytest.fixture(autouse=True)
def one_thread_of_torch() -> Iterator[None]:
    """Uses one thread, because small tensors lose more time to waiting threads than they gain."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
