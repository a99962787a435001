"""The words and colours in which people see outcomes, kinds of errors and the numbers of a detector: one table.

Figures, pages, the terminal and Markdown take them from here, so one thing has one name and one colour everywhere.
Pages get the words as the constant ``WORDS`` of their script, and the colours as custom properties of their style
(``report/_html.py``). Not here: colours of classes and models, which have no meaning of their own, and the names that
programs use, such as `ioukit.evaluation.ERROR_KINDS`.

On the ground floor, because slices, comparison, plots, report and cli all show them. A test looks for other words and
other colours in Python, JavaScript and CSS.

The colours are a choice: the hues are those of the palette of Okabe and Ito (bluish green, vermilion, reddish purple,
blue), darker on white and lighter on black, so that text in them has a contrast of at least 4.5:1 (WCAG 2, level AA).
In grey they are alike, so colour is never the only sign: a dash, a hatch or a label says the same.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple


class Colour(NamedTuple):
    """A colour as ``#rrggbb``."""

    light: str
    """On a light background."""
    dark: str
    """On a dark background, and on photographs."""


class ErrorWords(NamedTuple):
    """A kind of error in words."""

    name: str
    """The name in TIDE, which readers know."""
    plain: str
    """In plain words."""
    meaning: str
    """In a sentence."""


_GREEN, _BLUE = Colour("#0a7558", "#52cfa6"), Colour("#1f5aa8", "#8ab8f5")
_VERMILION, _PURPLE = Colour("#bb3d0a", "#ff8f61"), Colour("#8537a6", "#d59cf0")

COLOURS = {
    "tp": _GREEN,
    "fp": _VERMILION,
    "fn": _PURPLE,
    "object": _BLUE,
    "ignored": Colour("#6b7280", "#98a0ac"),
    "precision": _BLUE,
    "recall": _PURPLE,
    "f1": _GREEN,
}
"""Outcomes, and the three numbers that are drawn over the score threshold."""

OUTCOME_WORDS = {
    "tp": "true positive",
    "fp": "false positive",
    "fn": "missed object",
    "object": "detected object",
    "ignored": "ignored",
}
"""The outcomes of detections and objects."""

ERROR_WORDS = {
    "classification": ErrorWords("Classification", "wrong class", "The detection fits an object of another class."),
    "localisation": ErrorWords(
        "Localisation", "wrong place", "The class is right, but the detection overlaps its object too little."
    ),
    "both": ErrorWords(
        "Both", "wrong class and place", "The detection overlaps an object of another class, and too little."
    ),
    "duplicate": ErrorWords("Duplicate", "found twice", "The detection fits an object that another detection matches."),
    "background": ErrorWords(
        "Background", "no object near", "The detection overlaps no object, or hardly: by 0.1 at most."
    ),
    "missed": ErrorWords(
        "Missed", "not detected", "No detection matches the object, and no error of class or place is about it."
    ),
}
"""Each of `ioukit.evaluation.ERROR_KINDS`."""


def annotator_words(first: str, second: str) -> tuple[dict[str, str], dict[str, ErrorWords]]:
    """The outcomes and the kinds of errors of the regions of a second annotator beside those of a first one.

    No annotator is the truth, so nothing is right or missed: regions are paired, or of one of them alone.
    """
    outcomes = {"tp": f"{second}, paired", "fp": f"only {second}", "fn": f"only {first}", "object": f"{first}, paired"}
    of = f"A region of {second} that"
    errors = {
        "classification": ("other class", f"{of} fits one of {first} with another class."),
        "localisation": ("other place", f"{of} overlaps one of {first} with its class too little."),
        "both": ("other class and place", f"{of} overlaps one of {first} with another class, and too little."),
        "duplicate": ("drawn twice", f"{of} fits one of {first} which has another pair."),
        "background": (f"nothing of {first} near", f"{of} overlaps none of {first}, or hardly."),
        "missed": (f"nothing of {second} near", f"A region of {first} that none of {second} fits or nearly fits."),
    }
    return outcomes, {kind: ErrorWords(ERROR_WORDS[kind].name, *words) for kind, words in errors.items()}


_OVERLAP_NAMES = {"keypoints": "OKS", "rotated-probiou": "ProbIoU", "boundary": "boundary IoU", "centre": "overlap"}


def overlap_name(iou_type: str) -> str:
    """What the overlap of two regions is called, by the kind of region, or by the first word of its name.

    Args:
        iou_type: The kind of region, such as ``"keypoints"`` or ``"keypoints-crowdpose"``.
    """
    return _OVERLAP_NAMES.get(iou_type) or _OVERLAP_NAMES.get(iou_type.partition("-")[0], "IoU")


def overlap_of(iou_type: str, value: str) -> str:
    """An overlap in words: ``"an IoU of at least 0.5"``, ``"a boundary IoU of 0.5"``.

    Args:
        iou_type: As for :func:`overlap_name`.
        value: What follows "of".
    """
    name = overlap_name(iou_type)
    return f"{'an' if name[0] in 'IOo' else 'a'} {name} of {value}"


KIND_NAMES = {
    **{kind: f"{kind}: {words.plain}" for kind, words in ERROR_WORDS.items()},
    "false_positive": "all false positives",
    "false_negative": "all false negatives",
}
"""What each row of a table or figure of errors is called."""


def percent(share: float, digits: int | None = None) -> str:
    """A share as text: ``"95 %"`` for 0.95.

    Args:
        share: The share, 1 for all.
        digits: How many digits follow the point; ``None`` for as many as a level such as 0.995 has, at most six
            digits in all.
    """
    return f"{100 * share:g} %" if digits is None else f"{100 * share:.{digits}f} %"


def shorten(name: str, longest: int = 28) -> str:
    """A name on one line, without its middle if it is long: so names with the same beginning still differ."""
    name = "".join(letter if letter.isprintable() else " " for letter in name)
    if len(name) <= longest:
        return name
    tail = longest // 3
    return f"{name[: longest - tail - 1].rstrip()}…{name[-tail:].lstrip()}"


def shorten_apart(names: Sequence[str], longest: int = 28) -> list[str]:
    """Different names, each as :func:`shorten` has it, or cut elsewhere if they would not differ."""
    whole = [shorten(name, len(name) + 1) for name in names]
    found = [shorten(name, longest) for name in whole]
    for short in {one for one in found if found.count(one) > 1}:
        alike = [at for at, one in enumerate(found) if one == short]
        if len({whole[at] for at in alike}) < 2:
            continue
        same = itertools.takewhile(
            lambda letters: len(set(letters)) == 1, zip(*(whole[at] for at in alike), strict=False)
        )
        begin = max(len(list(same)) - longest // 3, 1)
        cut = [f"…{whole[at][begin:]}" for at in alike]
        cut = [one if len(one) <= longest else f"{one[: longest - 1]}…" for one in cut]
        for at, one in zip(alike, cut, strict=True):
            found[at] = one if len(set(cut)) == len({whole[each] for each in alike}) else whole[at]
    return found
