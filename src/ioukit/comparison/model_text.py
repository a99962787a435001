"""A comparison of models as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from ioukit._output import aligned
from ioukit._words_and_colours import percent
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.pair_rows import class_rows, number_rows, part_lists, shortened_name
from ioukit.comparison.ranking_models import Ranking
from ioukit.comparison.words import (
    change_sentences,
    point_of_view,
    spread_sentence,
    verdict_notes,
)

_WIDTH = 100


def comparison_text(pairs: Sequence[ModelPair], ranking: Ranking | None, *, per_class: bool) -> str:
    """The text: with two models all about them, with more of them the ranking and a verdict on each.

    Args:
        pairs: The first model with each of the others.
        ranking: All models; ``None`` if there are two.
        per_class: Whether to list every class.
    """
    if ranking is None:
        return "\n\n".join(_of_pair(pairs[0], per_class=per_class))
    blocks = [
        _wrapped(ranking.verdict()),
        _ranking_table(ranking),
        _wrapped(ranking.note()),
    ]
    blocks.append("\n".join(_wrapped(pair.verdict()) for pair in pairs))
    if per_class:
        blocks += [block for pair in pairs for block in _classes(pair, every=True)]
    return "\n\n".join(blocks)


def _of_pair(pair: ModelPair, *, per_class: bool) -> Iterator[str]:
    difference, images = pair.difference, pair.comparison.num_images
    yield "\n".join(_wrapped(line) for line in (pair.verdict(), verdict_notes(difference, images)) if line)
    rows = number_rows(pair)
    if len(rows) > 1:
        yield aligned(rows)
    yield "\n".join(
        [_wrapped(point_of_view(pair.changes, pair.names)), *_indented(change_sentences(pair.changes, pair.names))]
    )
    yield _parts(pair)
    yield from _classes(pair, every=per_class)


def _parts(pair: ModelPair) -> str:
    key = pair.a.protocol.main_measure.key
    if pair.parts is None:
        return _wrapped(f"Where the difference comes from is not known: {pair.without_parts}.")
    lists = part_lists(pair)
    if not lists:
        return f"No class, size, kind of error or image changes {key}."
    width = max(len(name) for name, _ in lists)
    lines = [
        textwrap.fill(text, _WIDTH, initial_indent=f"  {name:{width}}  ", subsequent_indent=" " * (width + 4))
        for name, text in lists
    ]
    lines += _indented([line for line in [spread_sentence(pair.parts)] if line])
    return "\n".join([f"Where the difference of {key} comes from, in points. Each line adds up to it.", *lines])


def _classes(pair: ModelPair, *, every: bool) -> Iterator[str]:
    rows = class_rows(pair, every=every)
    key = pair.a.protocol.main_measure.key
    if len(rows) > 1:
        which = "Every class" if every else "Classes that differ significantly"
        yield f"{which}, {key} of {shortened_name(pair.name_a)} and {shortened_name(pair.name_b)}\n{aligned(rows)}"


def _ranking_table(ranking: Ranking) -> str:
    rows = [("", ranking.key, f"{percent(ranking.level)} interval", "group")]
    for name, one, letters in zip(ranking.names, ranking.intervals, ranking.letters, strict=True):
        known = one.value == one.value
        limits = f"{one.low:.4f} to {one.high:.4f}" if known else "undefined"
        rows.append((shortened_name(name), f"{one.value:.4f}" if known else "-", limits, letters))
    return aligned(rows)


def _indented(sentences: Sequence[str]) -> list[str]:
    return [textwrap.fill(line, _WIDTH, initial_indent="  ", subsequent_indent="  ") for line in sentences]


def _wrapped(line: str) -> str:
    return textwrap.fill(line, _WIDTH)
