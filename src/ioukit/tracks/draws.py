"""Numbers of data sets in which whole sequences stand several times, or not at all.

Owns: what is kept of each sequence for this, and which numbers there are. Does not own: how they are counted
(`measures.py`, `j_and_f.py`, `tubes.py`), nor which sequences are drawn (`ioukit.comparison`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.tracks.j_and_f import J_AND_F_KEYS, drawn_j_and_f
from ioukit.tracks.measures import KEYS, drawn_counts, together
from ioukit.tracks.tubes import drawn_tubes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Floats
    from ioukit.tracks.measures import Values
    from ioukit.tracks.results import TrackEvaluation

DRAWN_TUBE_KEYS = ("AP_all", "AR_all")
"""The numbers of whole tracks that are drawn."""
_BEHIND_HOTA = ("HOTA_TP", "HOTA_FN", "HOTA_FP", "AssA")


def drawn_keys(evaluation: TrackEvaluation) -> tuple[str, ...]:
    """The numbers that :func:`drawn_numbers` has of an evaluation."""
    of_tubes = DRAWN_TUBE_KEYS if evaluation.tubes else ()
    return (*KEYS, *(J_AND_F_KEYS if evaluation.j_and_f else ()), *of_tubes)


def counts_behind(key: str, part: Values) -> tuple[str, ...]:
    """The names of what a number is made of, in the part of a sequence: without a change of these, it stays.

    Args:
        key: The number, of :func:`drawn_keys`.
        part: The part of any sequence, see :func:`parts_of`.
    """
    if key == "HOTA":
        return _BEHIND_HOTA
    if key in J_AND_F_KEYS:
        return ("j_and_f",)
    is_of_tubes = key in DRAWN_TUBE_KEYS
    return tuple(name for name in part if name != "j_and_f" and name.startswith("tube_") == is_of_tubes)


def has_number(key: str, part: Values) -> bool:
    """Whether a sequence has a number at all: without objects, it has no J and F."""
    return key not in J_AND_F_KEYS or bool(part["j_and_f"][:, 0].any())


def parts_of(evaluation: TrackEvaluation) -> list[Values]:
    """(S,) what is counted in each sequence, of all classes together."""
    parts = []
    for at, column in enumerate(zip(*evaluation.values, strict=True)):
        part = {**(column[0] if len(column) == 1 else together(column))}
        if evaluation.tube_matches:
            part |= evaluation.tube_matches[at]
        if evaluation.j_and_f is not None:
            part["j_and_f"] = evaluation.j_and_f.sums(evaluation.sequence_names[at])
        parts.append(part)
    return parts


def drawn_numbers(sequences: Sequence[Values], weights: Floats, keys: Sequence[str]) -> Floats:
    """(R, Q) numbers of R data sets in which each of several sequences stands so many times.

    Args:
        sequences: The parts of N sequences, see :func:`parts_of`.
        weights: (R, N) how many times each sequence stands in each data set; not only whole numbers.
        keys: (Q,) which numbers, of :func:`drawn_keys`. Their last bits are not those of the evaluation.
    """
    values = drawn_counts(sequences, weights)
    if "j_and_f" in sequences[0]:
        values |= drawn_j_and_f([one["j_and_f"] for one in sequences], weights)
    if "tube_scores" in sequences[0]:
        values |= drawn_tubes(sequences, weights)
    return np.stack([values[key] for key in keys], axis=1)
