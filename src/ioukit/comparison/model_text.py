"""A comparison of models as text for a terminal, and as Markdown for a pull request.

Owns: the tables, and what stands where. Does not own: sentences (`words.py`). Pages take their tables from here.
"""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ioukit._output import aligned
from ioukit._words_and_colours import percent, shorten, shorten_apart
from ioukit.comparison.model_pair import ModelPair, image_names
from ioukit.comparison.ranking_models import Ranking
from ioukit.comparison.sides import KIND_WORDS
from ioukit.comparison.words import (
    doubt_sentence,
    point_of_view,
    signed_points,
    spread_sentence,
)
from ioukit.statistics import ClassDifference, Difference

_LONGEST = 24
_short = functools.partial(shorten, longest=_LONGEST)
_CLASSES, _IMAGES = 6, 6  # that are listed
_LEAST_PART = 0.00005  # smaller ones look like 0
_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#~&"})


def comparison_text(pairs: Sequence[ModelPair], ranking: Ranking | None, *, per_class: bool, width: int) -> str:
    """The text: with two models all about them, with more of them the ranking and a verdict on each.

    Args:
        pairs: The first model with each of the others.
        ranking: All models; ``None`` if there are two.
        per_class: Whether to list every class.
        width: How long lines may be.
    """
    if ranking is None:
        return "\n\n".join(_of_pair(pairs[0], per_class=per_class, width=width))
    names, *others = zip(*ranking_rows(ranking), strict=True)
    blocks = [
        textwrap.fill(ranking.verdict(), width),
        aligned(list(zip(shorten_apart(names, _LONGEST), *others, strict=True))),
        textwrap.fill(ranking.note(), width),
    ]
    blocks.append("\n".join(textwrap.fill(pair.verdict(), width) for pair in pairs))
    if per_class:
        blocks += [block for pair in pairs for block in _classes(pair, width, every=True)]
    return "\n\n".join(blocks)


def _of_pair(pair: ModelPair, *, per_class: bool, width: int) -> Iterator[str]:
    difference = pair.difference
    yield "\n".join(textwrap.fill(line, width) for line in (pair.verdict(), pair.notes()) if line)
    rows = number_rows(pair)
    if len(rows) > 1:
        doubt = doubt_sentence(pair.comparison.differences, difference.level)
        yield "\n".join([aligned(rows, width=width, drop=(1, 2)), *([textwrap.fill(doubt, width)] if doubt else [])])
    view = textwrap.fill(point_of_view(pair.changes, pair.names, pair.threshold_texts), width)
    yield "\n".join([view, *_indented(pair.change_sentences(), width)])
    yield _parts(pair, width)
    yield from _classes(pair, width, every=per_class)


def _parts(pair: ModelPair, columns: int) -> str:
    key = pair.a.protocol.main_measure.key
    if pair.parts is None:
        return textwrap.fill(f"Where the difference comes from is not known: {pair.without_parts}.", columns)
    lists = part_lists(pair)
    if not pair.leans:
        return f"{key} is the same, so there is no difference to split."
    if not lists:
        return f"No class, size, kind of error or image changes {key}."
    width = max(len(name) for name, _ in lists)
    lines = [
        textwrap.fill(text, columns, initial_indent=f"  {name:{width}}  ", subsequent_indent=" " * (width + 4))
        for name, text in lists
    ]
    lines += _indented([line for line in [spread_sentence(pair.parts)] if line], columns)
    head = f"Where the difference of {key} comes from, in points. Each line adds up to it."
    return "\n".join([textwrap.fill(head, columns), *lines])


def _classes(pair: ModelPair, width: int, *, every: bool) -> Iterator[str]:
    rows = class_rows(pair, every=every)
    key = pair.a.protocol.main_measure.key
    if len(rows) > 1:
        which = "Every class" if every else "Classes that differ significantly"
        title = f"{which}, {key} of {' and '.join(shorten_apart(pair.names, _LONGEST))}"
        yield f"{title}\n{aligned(rows, width=width, drop=(6, 1, 2))}"


def _indented(sentences: Sequence[str], width: int) -> list[str]:
    return [textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ") for line in sentences]


def comparison_markdown(pairs: Sequence[ModelPair], ranking: Ranking | None) -> str:
    """The verdict, the table of numbers, what changed and where the difference comes from; and the ranking."""
    blocks = []
    if ranking is not None:
        blocks += [
            "### Ranking",
            f"**{_plain(ranking.verdict())}**",
            _markdown_table(ranking_rows(ranking)),
            _plain(ranking.note()),
        ]
    for pair in pairs:
        blocks += _markdown_of(pair)
    return "\n\n".join(blocks) + "\n"


def _markdown_of(pair: ModelPair) -> Iterator[str]:
    difference = pair.difference
    yield f"### {_plain(pair.name_b)} compared with {_plain(pair.name_a)}"
    yield f"**{_plain(pair.verdict())}**"
    if notes := pair.notes():
        yield _plain(notes)
    rows = number_rows(pair)
    if len(rows) > 1:
        yield _markdown_table(rows)
    doubt = doubt_sentence(pair.comparison.differences, difference.level)
    if doubt:
        yield _plain(doubt)
    sentences = [point_of_view(pair.changes, pair.names, pair.threshold_texts), *pair.change_sentences()]
    yield "#### What changed"
    yield _plain(" ".join(sentences))
    lists = part_lists(pair)
    if lists and pair.parts is not None and pair.leans:
        yield f"#### Where the difference of {_plain(pair.parts.key)} comes from, in points"
        yield "\n".join(f"- {name}: {_plain(text)}" for name, text in lists)
        spread = spread_sentence(pair.parts)
        if spread:
            yield _plain(spread)
    rows = class_rows(pair, every=False)
    if len(rows) > 1:
        yield "#### Classes that differ significantly"
        yield _markdown_table(rows)


def _markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a table whose first row is the head."""
    head, *others = [f"| {' | '.join(map(_plain, row))} |" for row in rows]
    return "\n".join([head, "| --- |" + " ---: |" * (len(rows[0]) - 1), *others])


def _plain(text: str) -> str:
    """The text without a meaning in Markdown, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)


def ranking_rows(ranking: Ranking) -> list[tuple[str, ...]]:
    """The head, and a row for each model: its name, its number, the interval and its letters."""
    rows: list[tuple[str, ...]] = [("", ranking.key, f"{percent(ranking.level)} interval", "group")]
    for name, one, letters in zip(ranking.names, ranking.intervals, ranking.letters, strict=True):
        known = not math.isnan(one.value)
        limits = f"{one.low:.4f} to {one.high:.4f}" if known else "undefined"
        rows.append((name, f"{one.value:.4f}" if known else "-", limits, letters))
    return rows


def number_rows(pair: ModelPair) -> list[tuple[str, ...]]:
    """The head, and a row for each number that is defined: key, A, B, difference, interval, p-value."""
    level = pair.difference.level
    head = ("", *shorten_apart(pair.names, _LONGEST), "difference", f"{percent(level)} interval", "p-value")
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
    rows = [(*_row(_short(one.category), one, one.p_adjusted), f"{one.num_objects:,}") for one in classes]
    return [head, *rows]


def part_lists(pair: ModelPair) -> list[tuple[str, str]]:
    """What each list of parts is called, and its largest parts in points: ``("sizes", "small +0.30, large -0.10")``."""
    parts = pair.parts
    if parts is None:
        return []
    lists = [
        ("classes", _largest(_by_name(parts.categories.names, parts.classes), _CLASSES)),
        ("sizes", _largest(parts.sizes.items(), len(parts.sizes)) if len(parts.sizes) > 1 else ""),
        ("errors", _largest(((KIND_WORDS[kind], part) for kind, part in (parts.kinds or {}).items()), len(KIND_WORDS))),
        ("images", _largest(_by_name(image_names(pair.a), parts.images), _IMAGES)),
    ]
    return [(name, text) for name, text in lists if text]


def _by_name(names: Sequence[str], values: npt.NDArray[np.float64]) -> Iterable[tuple[str, float]]:
    return zip(map(_short, names), values.tolist(), strict=True)


def _largest(parts: Iterable[tuple[str, float]], most: int) -> str:
    """The largest parts, the largest first, and what all others add up to."""
    ranked = sorted(parts, key=lambda part: -abs(part[1]))
    shown = [part for part in ranked[:most] if abs(part[1]) >= _LEAST_PART]
    if not shown:
        return ""
    rest = [value for _, value in ranked[len(shown) :] if value]
    words = [f"{name} {signed_points(value)}" for name, value in shown]
    if abs(sum(rest)) >= _LEAST_PART:
        others = "the other" if len(rest) == 1 else f"{len(rest):,} others"
        words.append(f"{others} {signed_points(sum(rest))}")
    return ", ".join(words)


def _row(name: str, one: Difference | ClassDifference, p_value: float) -> tuple[str, ...]:
    interval = "undefined" if math.isnan(one.low) else f"{one.low:+.4f} to {one.high:+.4f}"
    chance = "-" if math.isnan(p_value) else f"{p_value:.3f}"
    return (name, f"{one.a:.4f}", f"{one.b:.4f}", f"{one.difference:+.4f}", interval, chance)
