"""Where the tasks of joins and NMS run."""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import os
from typing import TYPE_CHECKING

from ioukit._checks import check_choice, check_threads

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.scale.boxes.cutting import Runner

__all__ = ["Place", "place_of"]


@dataclasses.dataclass(frozen=True)
class Place:
    """Where tasks run, from checked arguments."""

    map: Runner | None
    """What runs them, if it is given."""
    on_ray: bool
    address: str | None
    timeout: float | None
    threads: int | None
    folder: str | os.PathLike[str] | None
    """Where the temporary files go."""

    @property
    def threads_of_task(self) -> int:
        """The threads of each task; all cores of its machine if 0."""
        return 1 if self.on_ray else check_threads(self.threads)

    @contextlib.contextmanager
    def running(self) -> Iterator[Runner]:
        """What runs the tasks, as long as the ``with`` statement lasts.

        Raises:
            ValueError: If the cluster has several machines, and no folder is given.
        """
        if not self.on_ray:
            yield self.map or builtins.map
            return
        from ioukit.scale.engines.ray_map import RayMap  # noqa: PLC0415 - only Ray needs it

        with RayMap(self.address, threads=self.threads, timeout=self.timeout) as run:
            if self.folder is None and run.machines > 1:
                raise ValueError(
                    f"expected folder=, a folder that all nodes see, because the Ray cluster has {run.machines} "
                    "machines, got None"
                )
            yield run


def place_of(
    map: Runner | None,
    on: str,
    address: str | None,
    timeout: float | None,
    threads: int | None,
    folder: str | os.PathLike[str] | None,
) -> Place:
    """The checked arguments of :func:`ioukit.scale.nms` and :func:`ioukit.scale.overlap_join`.

    Raises:
        ValueError: If they do not go together.
    """
    check_choice("on", on, ("local", "ray"))
    check_threads(threads)
    if on == "ray" and map is not None:
        raise ValueError("map and on='ray' both say where tasks run: give one of them")
    if on == "local" and (address is not None or timeout is not None):
        raise ValueError("address and timeout need on='ray'")
    return Place(map, on == "ray", address, timeout, threads, None if folder is None else os.path.abspath(folder))
