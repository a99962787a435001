"""Whether PyTorch can compile here."""

from __future__ import annotations

import pytest

__all__ = ["needs_compiler"]


def needs_compiler(backend: str = "inductor") -> None:
    """Skips a test where ``torch.compile`` cannot trace ioukit, or where a backend does not work."""
    import torch  # noqa: PLC0415 - a test that needs it has skipped without
    from torch.torch_version import TorchVersion  # noqa: PLC0415

    from ioukit.torch.compiling import OLDEST  # noqa: PLC0415

    if TorchVersion(torch.__version__) < OLDEST:
        pytest.skip(f"torch.compile needs PyTorch {OLDEST}")
    try:
        torch.compile(torch.sin, backend=backend)(torch.ones(3))
    except Exception as error:  # no C++ compiler, an unsupported Python, ...
        pytest.skip(f"torch.compile does not work here: {error}")
