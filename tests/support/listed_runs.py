"""Runs to show on a page: many of them without the work of many evaluations."""

from __future__ import annotations

import dataclasses
import datetime
from typing import TYPE_CHECKING

import ioukit
from ioukit.runs import Ledger, Limits, Run
from support.evaluated_scenes import made

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["runs_over_time", "two_groups"]

START = datetime.datetime(2026, 9, 1, 8)


def runs_over_time(folder: Path, count: int) -> tuple[Run, ...]:
    """Runs of two names that become better; every second one has an interval and the tag ``lr``."""
    first = Ledger(folder / "runs.db").add(made(images=3), name="main", created=START)
    return tuple(
        dataclasses.replace(
            first,
            id=k + 1,
            uid=str(k),
            name=("main", "wider")[k % 2],
            number=k // 2 + 1,
            created=(START + datetime.timedelta(hours=7 * k)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            summary={**first.summary, "AP": 0.4 + 0.3 * k / count},
            intervals={} if k % 2 else {"AP": Limits(0.3 + 0.3 * k / count, 0.45 + 0.3 * k / count, 0.95)},
            values={"latency": 12.5 + k},
            tags={} if k % 2 else {"lr": f"1e-{k % 6}", "release": ""},
        )
        for k in range(count)
    )


def two_groups(path: Path) -> tuple[Run, ...]:
    """Two runs by COCO's rules, then two by those of VOC, with names that a shell could mistake."""
    ledger, scene = Ledger(path), made(images=3)
    ledger.add(scene, name="-a 'b' $c", tags={"by": "<img src=x onerror=alert(1)>"}, created=START)
    ledger.add(made(images=3, detections=False), name="<script>alert(1)</script>", created=START)
    assert scene.ground_truth is not None
    assert scene.detections is not None
    voc = ioukit.evaluate(scene.ground_truth, scene.detections, "voc2012")
    for _ in range(2):
        ledger.add(voc, name="it's", created=START + datetime.timedelta(days=400))
    return ledger.runs()
