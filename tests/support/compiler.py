"""Whether PyTorch can compile here."""

from __future__ import annotations

import pytest

__all__ = ["needs_compiler"]


def needs_compiler(backend: str = "inductor") -> None:
    """Skips a test where ``torch.compile`` does not work with this backend."""
    import torch  # noqa: PLC0415 - a test that needs it has skipped without

    try:
        torch.compile(torch.sin, backend=backend)(torch.ones(3))
    except Exception as error:  # no C++ compiler, an unsupported Python, ...
        pytest.skip(f"torch.compile does not work here: {error}")
