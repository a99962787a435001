"""Tasks on Ray: the connection, time limits, what is repeated, and errors that name the task.

Ray itself repeats tasks whose worker or node has gone, also later, if their results are lost. All else is repeated
here: what Ray's monitor kills because a node has no memory left, Ray would repeat for ever, and unchanged.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import math
import os
import re
import socket
import time
from collections.abc import Callable, Sequence
from typing import Any

from ioukit import _core
from ioukit._optional import import_extra

STALLED_AFTER = 1800.0
"""Seconds in which at least one task has to end."""
_ANSWER = 10.0
"""Seconds in which a cluster has to answer."""
_RETRIES = 3
_LOST = f"its worker died, also when it was repeated {_RETRIES} times"
_ADVICE = "use more parts (parts=), or let fewer tasks run on a node"
_REPEATED = (MemoryError, ConnectionError, TimeoutError)
"""Errors that may not come again."""


class Connection:
    """A connection to a Ray cluster. One that the program already had is used as it is, and stays."""

    def __init__(self, address: str | None, threads: int | None = None) -> None:
        """Connect.

        Args:
            address: The address of a cluster; ``None`` is the program's own connection, else the cluster of the
                environment variable ``RAY_ADDRESS``, else a cluster of this machine that is started here.
            threads: How many tasks run at a time on a cluster that is started here; all cores if ``None``.

        Raises:
            ConnectionError: If there is no cluster at the address.
            ValueError: If the program is connected to another cluster.
            ModuleNotFoundError: If Ray is not installed.
        """
        self.ray: Any = import_extra("ray", extra="ray", needed_by="on='ray'")
        self._made = not self.ray.is_initialized()
        self.is_started_here = False
        """Whether the cluster is one of this machine that ends with :meth:`close`."""
        self.for_conductor: dict[str, Any] = {"runtime_env": {"env_vars": {"RAY_task_oom_retries": "0"}}}
        """Options of the task that starts the others: Ray tells it at once what was killed for memory."""
        if not self._made:
            own = self.ray.get_runtime_context().gcs_address
            if address not in (None, "auto", own):
                raise ValueError(
                    f"expected the address {own!r} or None, because Ray is already connected to it, got {address!r}"
                )
            return
        self.is_started_here = address == "local" or (address is None and not os.environ.get("RAY_ADDRESS"))
        _check_reachable(address)
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        if self.is_started_here:
            options |= {"num_cpus": threads, "include_dashboard": False, "_system_config": {"task_oom_retries": 0}}
            self.for_conductor = {}  # a process with an environment of its own takes a second or two to start
            address = "local"  # with None, Ray also looks for a cluster that someone else started on this machine
        try:
            self.ray.init(address=address, **options)
        except (ConnectionError, RuntimeError, ValueError, self.ray.exceptions.RayError) as error:
            raise ConnectionError(f"expected a Ray cluster at the address {address!r}: {_first_line(error)}") from None

    def close(self) -> None:
        """End the connection if it was made here; a second time does nothing."""
        if self._made:
            self._made = False
            self.ray.shutdown()


def cores_of(ray: Any) -> int:
    """How many cores the cluster has, at least one."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _check_reachable(address: str | None) -> None:
    """Refuses an address at which nobody answers: Ray would try again for minutes."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=_ANSWER).close()
    except OSError as error:
        raise ConnectionError(f"expected a Ray cluster at the address {address!r}: {error}") from None


class Deadline:
    """A time limit for several steps together."""

    def __init__(self, seconds: float | None, left: float | None = None) -> None:
        """Start the clock; ``None`` is no limit. ``left`` are the seconds that are left, if they are others."""
        self.seconds = seconds
        self._end = None if seconds is None else time.monotonic() + (seconds if left is None else left)

    @property
    def left(self) -> float | None:
        """Seconds that are left, at least 0; ``None`` without a limit."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())


@dataclasses.dataclass(frozen=True)
class Task:
    """A task that was submitted."""

    name: str
    """What it does, in messages."""
    results: list[Any]
    """References of its results."""
    receipt: Any
    """Reference of what it tells the one who waits: small."""
    again: Callable[[], Task] | None
    """Starts it again, with half of the rows at a time; ``None`` after the last time."""
    conducts: bool
    """Whether it only waits for other tasks."""


def call(
    version: str, function: Callable[..., tuple[Sequence[Any], Any]], name: str, count: int, *arguments: Any
) -> Any:
    """Run in the task: the ``count`` results of a function and its receipt, as Ray wants them.

    The task is refused if its node has another ``version`` of ioukit. An error of missing memory or of the system names
    the task; other errors name their file or part themselves. Those of a task without a name are what other tasks said.
    """
    if version != _core.__version__:
        raise ValueError(
            f"expected ioukit {version} on all nodes of the cluster, as where the evaluation began, found "
            f"{_core.__version__} on the node {socket.gethostname()}"
        )
    try:
        results, receipt = function(*arguments)
    except MemoryError as error:
        if not name:
            raise
        raise MemoryError(f"{name}: out of memory ({error}): {_ADVICE}") from None
    except OSError as error:
        if name and error.filename is None and name not in str(error):
            error.args = (*error.args[:-1], f"{name}: {error.args[-1]}") if error.args else (name,)
        raise
    if len(results) != count:
        raise AssertionError(f"{name}: expected {count} results, got {len(results)}")
    return (*results, receipt) if count else receipt  # one value is not unpacked


class Tasks:
    """Tasks that belong together: if one fails or time runs out, all of them end."""

    def __init__(self, ray: Any, deadline: Deadline, stalled_after: float = STALLED_AFTER) -> None:
        """Take the connected module, the time limit of all tasks, and the seconds in which one has to end."""
        self.ray = ray
        self._deadline = deadline
        self._stalled_after = stalled_after
        self._receipts: list[Any] = []
        self._call = ray.remote(call)
        self._largest_node = max(node["Resources"].get("memory", 0) for node in ray.nodes() if node["Alive"])

    def submit(
        self,
        name: str,
        function: Callable[..., Any],
        *arguments: Any,
        results: int = 0,
        memory: int = 0,
        rows: int | None = None,
        conducts: dict[str, Any] | None = None,
        attempts: int = _RETRIES,
    ) -> Task:
        """Start a task on one core as soon as its arguments are there, and its node has memory for it.

        Args:
            name: What it does, in messages.
            function: A function of a module. It returns a pair: a sequence of results, which stay where they are, and a
                small receipt.
            arguments: Its arguments. References stand for their values.
            results: How many results it has.
            memory: The bytes that it takes. One that takes more than any node has waits for the largest node.
            rows: Its first argument, if there is one: how many rows it works on at a time.
            conducts: Options for Ray, if it only waits for other tasks, which are repeated on their own.
            attempts: How often it is started again after an error that may not come again.
        """
        remote = self._call.options(
            name=f"ioukit: {name}",
            num_cpus=1 if conducts is None else 0,
            memory=min(memory, int(self._largest_node)) or None,
            num_returns=results + 1,
            max_retries=_RETRIES if results else 0,
            **(conducts or {}),
        )
        given = arguments if rows is None else (rows, *arguments)
        try:
            references = remote.remote(_core.__version__, function, name if conducts is None else "", results, *given)
        except self.ray.exceptions.RayError as error:  # large arguments go to the object store now
            raise _in_our_words(self.ray, error, name, "cannot be started") or error from None
        listed = references if isinstance(references, list) else [references]
        fewer = None if rows is None else max(1, rows // 2)
        again = functools.partial(self.submit, name, function, *arguments, results=results, memory=memory, rows=fewer)
        again = functools.partial(again, conducts=conducts, attempts=attempts - 1)
        # Only the receipt is held here: results go when nobody needs them.
        task = Task(name, listed[:-1], listed[-1], again if attempts else None, conducts is not None)
        self._receipts.append(task.receipt)
        return task

    def receipts(self, tasks: list[Task]) -> list[Any]:
        """Wait for tasks: their receipts, in the given order. Those that are started again are replaced in the list.

        Raises:
            TimeoutError: If the time is over, or if no task ended for too long.
            Exception: What a task raised; ``ConnectionError`` if its worker died again and again.
        """
        found: dict[int, Any] = {}
        waiting = {task.receipt: number for number, task in enumerate(tasks)}
        try:
            while waiting:
                left = self._deadline.left
                limit = self._stalled_after if left is None else min(left, self._stalled_after)
                ended, _ = self.ray.wait(list(waiting), num_returns=1, timeout=None if limit == math.inf else limit)
                if not ended:
                    raise TimeoutError(self._late([tasks[number].name for number in waiting.values()], limit == left))
                more, _ = self.ray.wait(list(waiting), num_returns=len(waiting), timeout=0)
                for number in sorted(waiting[receipt] for receipt in {*ended, *more}):
                    task = tasks[number]
                    del waiting[task.receipt]
                    try:
                        found[number] = value_of(self.ray, task.receipt, task.name, _LOST)
                        tasks[number] = dataclasses.replace(task, again=None)  # its arguments can go
                    except _REPEATED as error:
                        of_task = isinstance(error.__context__, self.ray.exceptions.RayTaskError)
                        done_by_ray = task.results and not of_task and not isinstance(error, MemoryError)
                        if task.again is None or done_by_ray or (of_task and task.conducts):
                            raise
                        tasks[number] = task.again()
                        waiting[tasks[number].receipt] = number
        except BaseException as error:
            # Other errors do not wait: a task that is asked to end does so between two calls of the core.
            self.cancel(at_once=isinstance(error, TimeoutError | KeyboardInterrupt))
            raise
        return [found[number] for number in range(len(tasks))]

    def _late(self, names: Sequence[str], is_over: bool) -> str:
        shown = "; ".join(names[:3]) + (f"; and {len(names) - 3} more" if len(names) > 3 else "")
        if is_over:
            return f"expected an end within timeout={self._deadline.seconds:g} s; not done: {shown}"
        may_be = "the cluster may have no free core or memory"
        return f"no task ended for {self._stalled_after:g} s, {may_be}; not done: {shown}"

    def cancel(self, *, at_once: bool = False) -> None:
        """End all tasks that are not done, ``at_once`` by killing their workers.

        Tasks that are done are left alone: Ray ends this process if it kills the worker of a task that has just ended.
        """
        if not self._receipts:
            return
        _, waiting = self.ray.wait(self._receipts, num_returns=len(self._receipts), timeout=0)
        for receipt in waiting:
            with contextlib.suppress(Exception):  # its worker has gone
                self.ray.cancel(receipt, force=at_once, recursive=True)


def value_of(ray: Any, reference: Any, name: str, lost: str) -> Any:
    """The value of a reference, brought to this process.

    Args:
        ray: The connected module.
        reference: The reference.
        name: What it is, or the task that gives it, in messages.
        lost: What to say if it is lost.

    Raises:
        MemoryError: If its node ran out of memory.
        OSError: If the object store and the disk of its node are full.
        ConnectionError: If it is lost.
        Exception: What the task raised that gives it.
    """
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = _cause(error)
        raise _in_our_words(ray, cause, name, lost) or cause from None
    except (ray.exceptions.RayError, MemoryError) as error:
        raise _in_our_words(ray, error, name, lost) or error from None


def _in_our_words(ray: Any, error: BaseException, name: str, lost: str) -> Exception | None:
    """An error of Ray as one of Python; ``None`` for other errors."""
    errors, said = ray.exceptions, _first_line(error)
    if isinstance(error, errors.OutOfMemoryError):
        killed = dict.fromkeys(re.findall(r"Selected to kill: .*?task name=ioukit: (.*?), required", str(error)))
        others = "".join(f", with {one}" for one in killed if one != name)
        return MemoryError(f"{name}: killed{others} because its node ran out of memory: {_ADVICE}: {said}")
    if isinstance(error, errors.OutOfDiskError | errors.ObjectStoreFullError):
        return OSError(errno.ENOSPC, f"{name}: the object store of a node of Ray is full, and so is its disk: {said}")
    if isinstance(error, errors.RayTaskError):
        return RuntimeError(f"{name}: {said}")
    return ConnectionError(f"{name}: {lost}: {said}") if isinstance(error, errors.RayError) else None


def _cause(error: BaseException) -> BaseException:
    """What the task raised, also if a task passes on what another one raised."""
    while isinstance(getattr(error, "cause", None), BaseException):
        error = error.cause  # type: ignore[attr-defined]
    return error


def _first_line(error: object) -> str:
    return str(error).strip().partition("\n")[0]
