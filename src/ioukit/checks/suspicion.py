"""`Suspicion`: what a rule says about the data, before it is verified by an evaluation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit.checks.repairs.repair import Repair


Sure: TypeAlias = Literal["sure", "likely", "possible"]
SURENESS: tuple[Sure, ...] = ("sure", "likely", "possible")

SHOWN = 5
"""How many examples are printed."""


@dataclass(frozen=True)
class Suspicion:
    """One thing that a rule finds suspicious."""

    code: str
    """What was found, for programs."""
    sure: Sure
    """``"sure"``: a fact that was counted. ``"likely"``: many rows agree, and correct data rarely look so.
    ``"possible"``: correct data can look so as well."""
    message: str
    """What was found, for people."""
    count: int
    """How many rows, images or classes it concerns."""
    total: int
    """How many rows, images or classes there are."""
    hint: str
    """How it can be repaired."""
    examples: tuple[str, ...] = ()
    """A few of them: images, classes or rows; one more than is printed if there are more."""
    images: tuple[int | str, ...] = ()
    """The ids of the images concerned, if not all of them are."""
    repair: Repair | None = None
    """The change of the data that mends it; ``None`` if the data lack what that needs."""
    least_gain: float = 0.001
    """If there is a repair: by how much a number must move for the finding to count."""
    must_improve: bool = True
    """Whether the repair must raise the main number. False for facts, whose repair moves it in either direction."""
    refused: bool = False
    """Whether `ioukit.evaluate` refuses the data because of this."""


def examples(values: Iterable[object]) -> tuple[str, ...]:
    """The first few values as strings, and one more to tell that there are more."""
    return tuple(str(value) for value in itertools.islice(values, SHOWN + 1))
