"""Parts with too many detections to be matched at once, in ranges of their images."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.scale.stages import Job

__all__ = ["Range", "counts_per_image", "large_parts", "ranges_of_parts"]

Counts = npt.NDArray[np.int64]


class Range(NamedTuple):
    """A part, or a range of the images of a part that has too many detections to be matched at once."""

    part: int
    first: int
    """The position of the first image."""
    end: int
    """The position behind the last image."""


def large_parts(sizes: Sequence[int], most_rows: int) -> list[int]:
    """The parts that have more detections than are matched at a time."""
    return [part for part, size in enumerate(sizes) if size > most_rows]


def counts_per_image(job: Job, part: int, rows: Any) -> Counts:
    """(n,) how many rows of a part, as :func:`ioukit.scale.stages.split` gives them, each of its images has."""
    first, end = job.edges[part : part + 2].tolist()
    places = rows.column("place").to_numpy().astype(np.int64)
    return np.bincount(places - first, minlength=end - first)


def ranges_of_parts(job: Job, counts: Mapping[int, Counts], most_rows: int) -> list[Range]:
    """All parts, the large ones in several ranges of images that have at most ``most_rows`` detections each.

    An image is never cut: one with more detections than that is a range of its own.

    Args:
        job: The job.
        counts: For each large part, the detections of each of its images.
        most_rows: How many detections are matched at a time.
    """
    ranges: list[Range] = []
    for part in range(job.parts):
        first, end = job.edges[part : part + 2].tolist()
        edges = _edges(np.cumsum(counts[part]), most_rows) if part in counts else [0, end - first]
        ranges += [Range(part, first + one, first + other) for one, other in itertools.pairwise(edges)]
    return ranges


def _edges(ends: Counts, most_rows: int) -> list[int]:
    """Where ranges begin, and the number of images, if ``ends`` detections are on the images up to each of them."""
    edges = [0]
    while edges[-1] < len(ends):
        done = int(ends[edges[-1] - 1]) if edges[-1] else 0
        fitting = int(np.searchsorted(ends, done + most_rows, side="right"))
        edges.append(max(fitting, edges[-1] + 1))
    return edges
