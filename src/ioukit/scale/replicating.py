"""The numbers of many data sets in which images stand several times, computed in this process or on a cluster."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Evaluation, MatchTable, Measure
from ioukit.scale.engines.ray_tasks import Connection, Deadline, Tasks, cores_of
from ioukit.scale.requests import check_engine
from ioukit.statistics import Replicates
from ioukit.statistics import replicate as replicate_here

_TASKS_PER_CORE = 4  # a choice: a core that is done early takes work of the others


def replicate(
    data: MatchTable | Evaluation,
    weights: npt.ArrayLike,
    *,
    measures: Iterable[str | Measure] | None = None,
    per_class: bool = False,
    threads: int | None = None,
    on: str = "local",
    address: str | None = None,
    timeout: float | None = None,
) -> Replicates:
    """The numbers of data sets in which each image stands as often as its weight says, also by tasks on Ray.

    The bits are those of :func:`ioukit.statistics.replicate` in one process: a data set depends on its own weights
    only. Each task gets some of the data sets; all tasks of a node share one copy of the match table.

    Args:
        data: The matches, or an evaluation that has them.
        weights: (B, I) integers from 0 to 65,535: for each of B data sets, how often each image stands in it.
        measures: As for :func:`ioukit.statistics.replicate`.
        per_class: As there.
        threads: How many threads, or how many tasks run at a time if Ray is started here; all cores if ``None``.
        on: ``"local"`` for this process, ``"ray"`` for tasks on a Ray cluster.
        address: The address of the cluster, as for :func:`ioukit.scale.evaluate`.
        timeout: Seconds after which a run on Ray ends with an error; no limit if ``None``.

    Raises:
        ValueError: As :func:`ioukit.statistics.replicate`.
        TypeError: If ``weights`` does not hold integers.
        TimeoutError: If the time is over.
    """
    check_engine(on, address, timeout)
    table = data.matches if isinstance(data, Evaluation) else data
    options: dict[str, Any] = {
        "measures": None if measures is None else [measures] if isinstance(measures, str | Measure) else list(measures),
        "per_class": per_class,
    }
    if on == "local":
        return replicate_here(table, weights, threads=threads, **options)
    given = np.asarray(weights)
    none = replicate_here(table, given[:0], **options)  # refuses what is wrong before a task begins
    if not len(given):
        return none
    parts = _replicate_on_ray(table, given, options, Connection(address, threads), Deadline(timeout))
    return Replicates(
        none.keys,
        np.concatenate([part.values for part in parts]),
        none.categories,
        np.concatenate([part.per_class for part in parts if part.per_class is not None]) if per_class else None,
    )


def _replicate_on_ray(
    table: MatchTable,
    weights: npt.NDArray[Any],
    options: dict[str, Any],
    connection: Connection,
    deadline: Deadline,
) -> list[Replicates]:
    """The replicates of the data sets, in batches in their order: each task gets the table by reference."""
    with contextlib.closing(connection):
        ray = connection.ray
        size = math.ceil(len(weights) / min(len(weights), cores_of(ray) * _TASKS_PER_CORE))
        shared, tasks = ray.put(table), Tasks(ray, deadline)
        submitted = [
            tasks.submit(
                f"data sets {first} to {min(first + size, len(weights)) - 1}",
                _replicate_batch,
                shared,
                np.ascontiguousarray(weights[first : first + size]),
                options,
            )
            for first in range(0, len(weights), size)
        ]
        return tasks.receipts(submitted)


def _replicate_batch(
    table: MatchTable, weights: npt.NDArray[Any], options: dict[str, Any]
) -> tuple[list[Any], Replicates]:
    return [], replicate_here(table, weights, threads=1, **options)
