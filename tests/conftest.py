"""The second worker collects the tests from the other end.

Before pytest imports a file of tests, it rewrites its assertions, and keeps the result beside the file: most of the
time of a first collection. Two workers that begin at the same end rewrite the same files at the same time; from both
ends, each finds the other half done.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if isinstance(collector, pytest.Dir) and WORKER.endswith(("1", "3", "5", "7", "9")):
        report.result.reverse()
    return report


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All workers must have the same order."""
    if WORKER:
        items.sort(key=lambda item: item.path.parts)
