"""Parts with too many detections to be matched at once, in ranges of their images."""

from __future__ import annotations

import dataclasses
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
    cut: int
    """Which range of the part."""
    cuts: int
    """Into how many equal shares the detections of the part are cut: at least the number of its ranges. With the
    detections, it says where the ranges begin."""


def large_parts(sizes: Sequence[int], most_rows: int) -> list[int]:
    """The parts that have more detections than are matched at a time."""
    return [part for part, size in enumerate(sizes) if size > most_rows]


def counts_per_image(job: Job, part: int, rows: Any) -> Counts:
    """(n,) how many rows of a part, as :func:`ioukit.scale.stages.split` gives them, each of its images has."""
    first, end = job.edges[part : part + 2].tolist()
    places = rows.column("place").to_numpy().astype(np.int64)
    return np.bincount(places - first, minlength=end - first)


def ranges_of_parts(job: Job, counts: Mapping[int, Counts], most_rows: int) -> tuple[list[Range], Job]:
    """All parts, the large ones in several ranges of images, and the job with these ranges as its parts.

    A range has at most half of ``most_rows`` detections beside those of one image, which is never cut. Where a part is
    cut depends on its detections and on :attr:`Range.cuts` only, so the name of a range says which images it has.

    Args:
        job: The job.
        counts: For each large part, the detections of each of its images.
        most_rows: How many detections are matched at a time.
    """
    ranges: list[Range] = []
    edges = [0]
    for part in range(job.parts):
        first, end = job.edges[part : part + 2].tolist()
        cuts, starts = 1, [first]
        if part in counts:
            ends = np.cumsum(counts[part])
            size = int(ends[-1]) if len(ends) else 0
            cuts = max(1, -(-2 * size // most_rows))
            share = np.maximum(-(-ends * cuts // max(1, size)), 1)  # images without detections at the beginning: 0
            starts += (first + 1 + np.flatnonzero(np.diff(share))).tolist()
        ranges += [Range(part, number, cuts) for number in range(len(starts))]
        edges += [*starts[1:], end]
    return ranges, dataclasses.replace(job, edges=np.array(edges, np.int64))
