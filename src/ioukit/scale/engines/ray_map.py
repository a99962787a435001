"""A `map` whose calls are tasks on Ray, for functions that take such a `map`."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from ioukit.scale.engines.ray_tasks import Connection, Deadline, Task, Tasks, cores_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["RayMap"]

_AHEAD = 4
"""Tasks per core that are started before the first of them is done."""


class RayMap:
    """A ``map`` whose calls are tasks on Ray: ``with RayMap() as run: nms(chunks, iou_threshold=0.5, map=run)``.

    Results come in the order of the items. A task whose worker dies is repeated. :func:`ioukit.scale.nms` and
    :func:`ioukit.scale.overlap_join` need a ``folder`` that all nodes see, unless Ray is on this machine only.
    """

    def __init__(self, address: str | None = None, *, threads: int | None = None, timeout: float | None = None) -> None:
        """Choose the cluster; the ``with`` statement connects to it.

        Args:
            address: The address of the cluster, as for :func:`ioukit.scale.evaluate`.
            threads: How many tasks run at a time, if Ray is started here; all cores if ``None``.
            timeout: Seconds after which a call ends with an error; no limit if ``None``.
        """
        self._address, self._threads, self._timeout = address, threads, timeout
        self._connection: Connection | None = None

    @property
    def machines(self) -> int:
        """How many machines the cluster has.

        Raises:
            ValueError: If it is asked for outside of the ``with`` statement.
        """
        nodes = self._connected().ray.nodes()
        return len({node["NodeManagerHostname"] for node in nodes if node["Alive"]})

    def __enter__(self) -> Self:
        self._connection = Connection(self._address, self._threads)
        return self

    def __exit__(self, *_: object) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __call__(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        """The results of a function for all items, in their order.

        Args:
            function: A function of a module that the workers have.
            items: What it is called with; a few are taken ahead.

        Raises:
            ValueError: If it is called outside of the ``with`` statement.
            TimeoutError: If the time is over, or no task ends for half an hour.
            Exception: What the function raises.
        """
        return self._results(self._connected().ray, function, items)

    def _connected(self) -> Connection:
        if self._connection is None:
            raise ValueError("expected a call within the with statement of this RayMap")
        return self._connection

    def _results(self, ray: Any, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        tasks = Tasks(ray, Deadline(self._timeout))
        ahead = _AHEAD * cores_of(ray)
        numbered = enumerate(items)
        name = getattr(function, "__name__", "call").lstrip("_").replace("_", " ")

        def start(count: int) -> Iterator[Task]:
            for number, item in itertools.islice(numbered, count):
                yield tasks.submit(f"{name} {number}", _alone, function, item)

        try:
            waiting = deque(start(ahead))
            while waiting:
                (result,) = tasks.receipts([waiting.popleft()])
                waiting.extend(start(1))
                yield result
        finally:
            tasks.cancel()


def _alone(function: Callable[[Any], Any], item: Any) -> tuple[list[Any], Any]:
    return [], function(item)
