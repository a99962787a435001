"""On what a benchmark ran: the lines that stand above its table."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import time
from pathlib import Path

__all__ = ["described", "processor"]


def described(*packages: str) -> str:
    """Processor, cores, versions and date, for the packages that matter; one that is not installed is named as such."""
    return (
        f"{processor()}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}; "
        f"Python {platform.python_version()}, {', '.join(map(_version, packages))}; {time.strftime('%Y-%m-%d')}"
    )


def processor() -> str:
    """The name of the processor, or at least of its kind."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"{package} not installed"
