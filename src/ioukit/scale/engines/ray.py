"""An evaluation in parts on Ray: the steps as tasks, the object store between them, curves to the one who asked."""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any

from ioukit.evaluation import Evaluation
from ioukit.evaluation.curves import Curves, curves_of
from ioukit.scale.engines.ray_conductor import Kept, Outcome, conduct
from ioukit.scale.engines.ray_tasks import Connection, Deadline, Tasks
from ioukit.scale.requests import Request
from ioukit.scale.stored_table import StoredTable
from ioukit.scale.work import remove_folder

_GRACE = 2.0
"""Seconds in which the conductor has to say what is late."""


def evaluate_on_ray(
    request: Request, *, address: str | None = None, threads: int | None = None, timeout: float | None = None
) -> Evaluation:
    """The evaluation of a request, computed by tasks on Ray.

    One task, the conductor, reads the ground truth, starts the other tasks and holds their references. So no rows pass
    through this process, not even those of small results, which Ray sends to the one who started their task.

    Args:
        request: What is evaluated.
        address: As for :class:`Connection`.
        threads: How many tasks run at a time, if Ray is started here; else the cluster decides.
        timeout: Seconds after which the run ends with an error; no limit if ``None``.

    Raises:
        TimeoutError: If the time is over, or no task ends for half an hour.
        MemoryError: If a task runs out of memory, also when it is repeated with smaller parts.
        ConnectionError: If there is no cluster, or the workers of a task die, also when it is repeated.
        Exception: As of the evaluation in this process.
    """
    shared = dataclasses.replace(
        request, ground_truth=_absolute(request.ground_truth), detections=_absolute(request.detections)
    )
    deadline = Deadline(timeout, None if timeout is None else timeout + _GRACE)
    connection = Connection(address, threads)
    temporary: Path | None = None
    try:
        if request.work is None and connection.is_started_here:
            temporary = Path(tempfile.mkdtemp(prefix="ioukit-"))
        tasks = Tasks(connection.ray, deadline, math.inf)
        left = None if deadline.left is None else max(0.0, deadline.left - _GRACE)
        given, options = (shared, temporary, timeout, left), connection.for_conductor
        conductor = tasks.submit("the evaluation", conduct, *given, conducts=options)
        outcome: Outcome = tasks.receipts([conductor])[0]
        table = StoredTable.of_parts(outcome.tables, outcome.image_ids, outcome.sources, outcome.categories)
    except BaseException:
        connection.close()  # before the folder goes: tasks write to it
        if temporary is not None:
            remove_folder(temporary, os.getpid())
        raise
    if any(isinstance(one, Kept) for one in outcome.tables):
        weakref.finalize(table, connection.close)
    else:
        connection.close()
        if temporary is not None:
            weakref.finalize(table, remove_folder, temporary, os.getpid())
    curves = outcome.drawn
    if not isinstance(curves, Curves):
        curves = curves_of(table, [curves[category] for category in range(len(table.evaluated))])
    return Evaluation(table, curves, outcome.dropped, outcome.notes)


def _absolute(given: Any) -> Any:
    """Paths that do not depend on the folder in which a task runs; data in memory and URIs as they are."""
    if isinstance(given, Path) or (isinstance(given, str) and "://" not in given):
        return os.path.abspath(given)
    if isinstance(given, list | tuple) and all(isinstance(one, str | os.PathLike) for one in given):
        return [_absolute(one) for one in given]
    return given
