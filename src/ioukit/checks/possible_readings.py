"""`compare_readings`: the number that each reading of a file gives, where its numbers do not say how they are meant.

Owns: the number of each reading, their order, and which of them cannot be told apart. Does not own: which readings
there are (`Format.readings`). Nothing is chosen: the right reading is the one that the model means, and the best number
is no proof of it. So this stands beside the rules of `check`, whose guesses count if the numbers rise.
"""

from __future__ import annotations

import itertools
import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit._output import aligned, terminal_width
from ioukit.datasets import find_format
from ioukit.errors import DatasetError
from ioukit.evaluation import evaluate
from ioukit.evaluation.protocols import UNRANKED

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.datasets.formats.format import PossibleReading


@dataclass(frozen=True)
class ComparedReading:
    """A way to read a file of detections, and what it gives."""

    options: Mapping[str, str]
    """The arguments of the reader that name it, such as ``{"layout": "bbox_2d", "scale": "1000"}``."""
    models: tuple[str, ...]
    """The models that write so: ``model=`` with one of them names it, too."""
    number: float
    """F1 at IoU 0.50 without a ranking, the mean over the classes; NaN if it is undefined or nothing is read."""
    records: int = 0
    """How many answers have a box in this layout."""
    boxes: int = 0
    """How many boxes are read."""
    left_out: int = 0
    """How many are left out, because they cannot be read or are of no known class."""
    beyond: int = 0
    """How many boxes reach beyond their image."""
    same_boxes: int = 0
    """Readings with the same number here have the same boxes."""
    why_not: str = ""
    """Why nothing can be read in this way; empty if it can."""

    @property
    def words(self) -> str:
        """The arguments in one line: ``"layout=bbox_2d scale=1000"``."""
        return " ".join(f"{name}={value}" for name, value in self.options.items())

    def to_dict(self) -> dict[str, Any]:
        """The reading as plain values for JSON."""
        number = None if math.isnan(self.number) else self.number
        given = {"options": dict(self.options), "models": list(self.models), "F50": number}
        if self.why_not:
            return given | {"why_not": self.why_not}
        counts = ("records", "boxes", "left_out", "beyond", "same_boxes")
        return given | {name: getattr(self, name) for name in counts}


@dataclass(frozen=True)
class ComparedReadings:
    """The readings of a file, from the highest number to the lowest: print it, or iterate over :attr:`readings`."""

    source: str
    """The file."""
    num_records: int
    """The answers in it."""
    readings: tuple[ComparedReading, ...]
    """The readings with a number first; those that do not fit the data last."""

    def to_dict(self) -> dict[str, Any]:
        """The result as plain values for JSON."""
        return {
            "ok": False,
            "source": self.source,
            "answers": self.num_records,
            "readings": [one.to_dict() for one in self.readings],
        }

    def __str__(self) -> str:
        from textwrap import TextWrapper  # noqa: PLC0415 - only to print

        lines = TextWrapper(terminal_width(), break_long_words=False, break_on_hyphens=False)
        able = [one for one in self.readings if not one.why_not]
        first = (
            f"{self.source}: {pluralize(self.num_records, 'answer')}. Nothing says how the boxes are written: "
            f"{pluralize(len(able), 'reading')} can be meant. None is chosen."
        )
        head = ("F50", "answers", "boxes", "left out", "beyond", "write")
        rows = [
            (
                f"{one.number:.3f}", f"{one.records:,}", f"{one.boxes:,}", f"{one.left_out:,}", f"{one.beyond:,}",
                " ".join(f"--dt-option {word}" for word in one.words.split(" ")),
            )
            for one in able
        ]  # fmt: skip
        notes = map(lines.fill, self._notes(able))
        return "\n\n".join([lines.fill(first), aligned([head, *rows], left=(-1,)), *notes])

    def _notes(self, able: Sequence[ComparedReading]) -> Iterator[str]:
        """What the table does not say, a sentence or two each."""
        yield (
            "F50: F1 at IoU 0.50. left out: boxes that cannot be read, or of no known class. beyond: boxes that reach "
            "beyond their image. The highest number is no proof: name the reading that the model's documentation says."
        )
        for one in able:
            if one.models:
                names = " or ".join(f"--dt-option model={name}" for name in one.models)
                yield f"The same as {one.words}: {names}"
        for number, group in itertools.groupby(able, key=lambda one: one.number):
            equal = list(group)
            if len(equal) > 1:
                named = "; ".join(one.words for one in equal)
                yield f"F50 {number:.3f} is the number of several, which it does not tell apart: {named}"
        for _, group in itertools.groupby(sorted(able, key=lambda one: one.same_boxes), lambda one: one.same_boxes):
            equal = list(group)
            if len(equal) > 1:
                yield f"These files cannot tell apart, as all boxes are equal: {'; '.join(one.words for one in equal)}"
        for one in self.readings[len(able) :]:
            yield f"Not {one.words}: {one.why_not}"


def compare_readings(
    path: str | os.PathLike[str],
    ground_truth: GroundTruth,
    format: str | None = None,
    *,
    threads: int | None = None,
    **options: Any,
) -> ComparedReadings | None:
    """The number that each reading of a file of detections gives, if the file does not say how it is meant.

    These are the files that :func:`ioukit.datasets.read_detections` refuses until the user says how: answers of
    language models without a model, or without a layout and a scale. Nothing is chosen.

    Args:
        path: The file.
        ground_truth: The objects.
        format: The name of its format; found by looking if ``None``.
        threads: How many threads; all cores if ``None``.
        **options: Arguments of the reader, such as ``synonyms``. What they name is not varied.

    Returns:
        The readings, from the highest F1 at IoU 0.50 to the lowest, see
        :data:`ioukit.evaluation.protocols.UNRANKED`; ``None`` if the format needs nothing, or the options say enough.

    Raises:
        DatasetError: If the file is invalid, or no reading fits.
        OSError: If it cannot be read.

    Examples:
        >>> import json, tempfile
        >>> from pathlib import Path
        >>> from ioukit import GroundTruth
        >>> gt = GroundTruth.from_arrays(image_ids=["a.jpg"], category_ids=[7], boxes=[[320, 120, 320, 240]],
        ...                              images=["a.jpg"], sizes=[[640, 480]], categories={7: "cat"})
        >>> answer = json.dumps({"image": "a.jpg", "answer": '{"bbox_2d": [500, 250, 1000, 750], "label": "cat"}'})
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "answers.jsonl"
        ...     _ = path.write_text(answer)
        ...     found = compare_readings(path, gt)
        >>> [(one.words, one.number) for one in found.readings if one.number > 0 and "1000" in one.options["scale"]]
        [('layout=bbox_2d scale=1000', 1.0), ('layout=bbox_2d scale=1000-bins', 1.0)]
    """
    known = find_format(path, format)
    if known.readings is None:
        return None
    possible = known.readings(path, ground_truth=ground_truth, threads=threads, **options)
    if not possible:
        return None
    if all(one.detections is None for one in possible):
        raise DatasetError(possible[0].why_not)
    before: list[Detections] = []
    compared = [_compared(one, ground_truth, before, threads) for one in possible]
    compared.sort(key=lambda one: (bool(one.why_not), math.isnan(one.number), -one.number))
    return ComparedReadings(os.fspath(path), max(one.num_records for one in possible), tuple(compared))


def _compared(
    one: PossibleReading, ground_truth: GroundTruth, before: list[Detections], threads: int | None
) -> ComparedReading:
    """The number of a reading. Its boxes are compared with those before, and added to them."""
    dt = one.detections
    if dt is None:
        return ComparedReading(one.options, one.models, math.nan, why_not=one.why_not)
    same = next((at for at, other in enumerate(before) if _are_equal(dt, other)), len(before))
    before.append(dt)
    number = evaluate(ground_truth, dt, UNRANKED, threads=threads).summary["F50"]
    return ComparedReading(one.options, one.models, number, one.records, len(dt), dt.dropped, one.beyond, same)


def _are_equal(first: Detections, second: Detections) -> bool:
    columns = ("boxes", "category_ids", "image_ids")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in columns)
