"""The rows of the tables that compare two models, for terminals and Markdown."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from ioukit._words_and_colours import percent
from ioukit.comparison.model_pair import ModelPair, image_names
from ioukit.comparison.part_records import Parts
from ioukit.comparison.words import KIND_WORDS, signed_points
from ioukit.statistics import ClassDifference, Difference

_LONGEST_NAME = 24
_CLASSES, _IMAGES = 6, 6  # shown
_SHOWN = 0.00005  # smaller parts look like 0


def shortened_name(name: str) -> str:
    """The name on one line, cut to 24 characters."""
    line = " ".join(name.split())
    return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "\N{HORIZONTAL ELLIPSIS}"


def number_rows(pair: ModelPair) -> list[tuple[str, ...]]:
    """The head, and a row for each number that is defined: key, A, B, difference, interval, p-value."""
    level = pair.difference.level
    head = ("", *map(shortened_name, pair.names), "difference", f"{percent(level)} interval", "p-value")
    defined = [one for one in pair.comparison.differences if not math.isnan(one.difference)]
    return [head, *(_row(one.key, one, one.p_value) for one in defined)]


def class_rows(pair: ModelPair, *, every: bool) -> list[tuple[str, ...]]:
    """The head, and a row for each class: name, A, B, difference, interval, p-value, objects.

    Args:
        pair: The models.
        every: Whether to list all classes, sorted by their difference; otherwise those that differ significantly.
    """
    key = pair.a.protocol.main_measure.key
    classes = [one for one in pair.comparison.per_class.get(key, ()) if not math.isnan(one.difference)]
    if not every:
        classes = [one for one in classes if one.is_significant]
    classes.sort(key=lambda one: -one.difference)
    head = (*number_rows(pair)[0][:-1], "p corrected", "objects")
    rows = [(*_row(shortened_name(one.category), one, one.p_adjusted), f"{one.num_objects:,}") for one in classes]
    return [head, *rows]


def part_lists(pair: ModelPair) -> list[tuple[str, str]]:
    """What each list of parts is called, and its largest parts in points: ``("sizes", "small +0.30, large -0.10")``."""
    parts = pair.parts
    if parts is None:
        return []
    classes = parts.categories.names
    lists = [
        ("classes", _largest(_classes(parts, classes), _CLASSES)),
        ("sizes", _largest(parts.sizes.items(), len(parts.sizes))),
        ("errors", _largest(((KIND_WORDS[kind], part) for kind, part in (parts.kinds or {}).items()), len(KIND_WORDS))),
        ("images", _largest(_images(parts, image_names(pair.a)), _IMAGES)),
    ]
    return [(name, text) for name, text in lists if text]


def _classes(parts: Parts, names: Sequence[str]) -> Iterable[tuple[str, float]]:
    return zip(map(shortened_name, names), parts.classes.tolist(), strict=True)


def _images(parts: Parts, names: Sequence[str]) -> Iterable[tuple[str, float]]:
    return zip(map(shortened_name, names), parts.images.tolist(), strict=True)


def _largest(parts: Iterable[tuple[str, float]], most: int) -> str:
    """The largest parts, gains before losses, and what all others add up to."""
    ranked = sorted(parts, key=lambda part: -abs(part[1]))
    shown = [part for part in ranked[:most] if abs(part[1]) >= _SHOWN]
    if not shown:
        return ""
    rest = [value for _, value in ranked[len(shown) :] if value]
    words = [f"{name} {signed_points(value)}" for name, value in sorted(shown, key=lambda part: -part[1])]
    if abs(sum(rest)) >= _SHOWN:
        others = "the other" if len(rest) == 1 else f"{len(rest):,} others"
        words.append(f"{others} {signed_points(sum(rest))}")
    return ", ".join(words)


def _row(name: str, one: Difference | ClassDifference, p_value: float) -> tuple[str, ...]:
    interval = "undefined" if math.isnan(one.low) else f"{one.low:+.4f} to {one.high:+.4f}"
    chance = "-" if math.isnan(p_value) else f"{p_value:.3f}"
    return (name, f"{one.a:.4f}", f"{one.b:.4f}", f"{one.difference:+.4f}", interval, chance)
