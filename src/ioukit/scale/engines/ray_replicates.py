"""Replicates as tasks on Ray: each gets the match table by reference, and some rows of the weights."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import MatchTable
from ioukit.scale.engines.ray_tasks import Connection, Deadline, Tasks, cores_of
from ioukit.statistics import Replicates, replicate

__all__ = ["replicate_on_ray"]

_TASKS_PER_CORE = 4


def replicate_on_ray(
    table: MatchTable,
    weights: npt.NDArray[Any],
    options: Mapping[str, Any],
    *,
    address: str | None,
    threads: int | None,
    timeout: float | None,
) -> list[Replicates]:
    """The replicates of the data sets, in batches in their order."""
    plain = MatchTable(**{field.name: getattr(table, field.name) for field in dataclasses.fields(MatchTable)})
    with Connection(address, threads) as connection:
        ray = connection.ray
        cores = cores_of(ray)
        size = math.ceil(len(weights) / min(len(weights), cores * _TASKS_PER_CORE))
        shared = ray.put(plain)
        tasks = Tasks(ray, Deadline(timeout))
        submitted = [
            tasks.submit(
                f"data sets {first} to {min(first + size, len(weights)) - 1}",
                _replicate,
                shared,
                np.ascontiguousarray(weights[first : first + size]),
                dict(options),
            )
            for first in range(0, len(weights), size)
        ]
        return list(tasks.receipts(submitted))


def _replicate(
    table: MatchTable, weights: npt.NDArray[Any], options: Mapping[str, Any]
) -> tuple[list[Any], Replicates]:
    return [], replicate(table, weights, threads=1, **options)
