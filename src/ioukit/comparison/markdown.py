"""A comparison of models as Markdown, for a pull request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ioukit._words_and_colours import percent
from ioukit.comparison.model_pair import ModelPair
from ioukit.comparison.pair_rows import class_rows, number_rows, part_lists
from ioukit.comparison.ranking_models import Ranking
from ioukit.comparison.words import (
    change_sentences,
    point_of_view,
    spread_sentence,
    verdict_notes,
)

_SPECIAL = str.maketrans({mark: f"\\{mark}" for mark in "\\`*_[]<>|#~&"})


def comparison_markdown(pairs: Sequence[ModelPair], ranking: Ranking | None) -> str:
    """The verdict, the table of numbers, what changed and where the difference comes from; and the ranking."""
    blocks = []
    if ranking is not None:
        rows = [("", ranking.key, f"{percent(ranking.level)} interval", "group")]
        for name, one, letters in zip(ranking.names, ranking.intervals, ranking.letters, strict=True):
            rows.append((name, f"{one.value:.4f}", f"{one.low:.4f} to {one.high:.4f}", letters))
        blocks += [
            "### Ranking",
            f"**{_plain(ranking.verdict())}**",
            _table(rows),
            _plain(ranking.note()),
        ]
    for pair in pairs:
        blocks += _of_pair(pair)
    return "\n\n".join(blocks) + "\n"


def _of_pair(pair: ModelPair) -> Iterator[str]:
    difference, images = pair.difference, pair.comparison.num_images
    yield f"### {_plain(pair.name_b)} compared with {_plain(pair.name_a)}"
    yield f"**{_plain(pair.verdict())}**"
    notes = verdict_notes(difference, images)
    if notes:
        yield _plain(notes)
    rows = number_rows(pair)
    if len(rows) > 1:
        yield _table(rows)
    sentences = [point_of_view(pair.changes, pair.names), *change_sentences(pair.changes, pair.names)]
    yield "#### What changed"
    yield _plain(" ".join(sentences))
    lists = part_lists(pair)
    if lists and pair.parts is not None:
        yield f"#### Where the difference of {_plain(pair.parts.key)} comes from, in points"
        yield "\n".join(f"- {name}: {_plain(text)}" for name, text in lists)
        spread = spread_sentence(pair.parts)
        if spread:
            yield _plain(spread)
    rows = class_rows(pair, every=False)
    if len(rows) > 1:
        yield "#### Classes that differ significantly"
        yield _table(rows)


def _table(rows: Sequence[Sequence[str]]) -> str:
    """The rows as a table whose first row is the head."""
    head, *others = [f"| {' | '.join(map(_plain, row))} |" for row in rows]
    return "\n".join([head, "| --- |" + " ---: |" * (len(rows[0]) - 1), *others])


def _plain(text: str) -> str:
    """The text without a meaning in Markdown, on one line."""
    return " ".join(text.split()).translate(_SPECIAL)
