"""A comparison of trackers as text for a terminal."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ioukit._output import aligned
from ioukit._words_and_colours import percent, shorten
from ioukit.comparison.words import doubt_sentence, interval_note, track_change_sentences
from ioukit.tracks.results import AS_COUNTS, number_table

if TYPE_CHECKING:
    from ioukit.comparison.drawn_sequences import TrackDifference
    from ioukit.comparison.track_pair import TrackPair

_short = functools.partial(shorten, longest=24)


def tracks_text(pairs: Sequence[TrackPair], *, width: int) -> str:
    """The text: with two trackers all about them, with more of them a table and what is said of each.

    Args:
        pairs: The first tracker with each of the others.
        width: How long lines may be.
    """
    if len(pairs) == 1:
        return "\n\n".join(_of_pair(pairs[0], width))
    said = [textwrap.fill(pair.verdict(), width) for pair in pairs]
    corrected = "What can be told is corrected for the number of pairs by Holm's method."
    has_limits = any(_shows_limits(pair) for pair in pairs)
    notes = f"{corrected} {interval_note(pairs[0].difference.level)}" if has_limits else corrected
    said.append(textwrap.fill(notes, width))
    rows = [(_short(pairs[0].name_a), pairs[0].a.summary)]
    rows += [(_short(pair.name_b), pair.b.summary) for pair in pairs]
    blocks = ["\n".join(said), number_table("tracker", rows, pairs[0].a.table_keys, width=width)]
    for pair in pairs:
        title = f"{_short(pair.name_b)} compared with {_short(pair.name_a)}"
        blocks.append("\n".join([title, *_changes(pair, width)]))
    return "\n\n".join(blocks)


def notes_of(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """The notes of all trackers, each once; those that not all of them have begin with the names of the trackers.

    Args:
        notes: The notes of each tracker, by its name.
    """
    having: dict[str, list[str]] = {}
    for name, said in notes.items():
        for note in dict.fromkeys(said):
            having.setdefault(note, []).append(name)
    return [note if len(names) == len(notes) else f"{', '.join(names)}: {note}" for note, names in having.items()]


def _shows_limits(pair: TrackPair) -> bool:
    """Whether the verdict has the limits of the difference."""
    one = pair.difference
    return math.isfinite(one.low) and not one.warnings and bool(one.difference)


def _of_pair(pair: TrackPair, width: int) -> Iterator[str]:
    level = pair.difference.level
    note = interval_note(level) if _shows_limits(pair) else ""
    yield "\n".join(textwrap.fill(line, width) for line in (pair.verdict(), note) if line)
    shown = [pair[key] for key in pair.a.table_keys]
    head = ("", *map(_short, pair.names), "difference", f"{percent(level)} interval", "p-value")
    doubt = doubt_sentence(shown, level)
    table = aligned([head, *map(difference_row, shown)], width=width, drop=(1, 2))
    yield "\n".join([table, *([textwrap.fill(doubt, width)] if doubt else [])])
    yield "\n".join(["What changed, in pairs with an overlap of at least 0.5:", *_changes(pair, width)])
    if len(pair.a.sequence_names) > 1:
        yield _sequences(pair, width)


def _changes(pair: TrackPair, width: int) -> list[str]:
    sentences = track_change_sentences(pair.changes, pair.names)
    return [textwrap.fill(line, width, initial_indent="  ", subsequent_indent="  ") for line in sentences]


def _sequences(pair: TrackPair, width: int) -> str:
    """A line per sequence: a number of both, and what changed."""
    a, b = map(_short, pair.names)
    rows = [("sequence", a, b, pair.sequence_key, "found", "lost", "new", "gone"), *sequence_rows(pair, _short)]
    title = (
        f"{pair.sequence_key} of each sequence; objects that only {b} follows (found) or only {a} (lost); switches of "
        f"ids that only {b} makes (new) or only {a} (gone):"
    )
    return f"{textwrap.fill(title, width)}\n{aligned(rows, width=width, drop=(1, 2))}"


def sequence_rows(pair: TrackPair, shown: Callable[[str], str]) -> list[tuple[str, ...]]:
    """A row per sequence: its name, a number of both, its difference, and the objects and switches of one of them."""
    rows: list[tuple[str, ...]] = []
    for name, counts in pair.changes.by_sequence().items():
        of_a, of_b = (100 * one.sequences[name][pair.sequence_key] for one in (pair.a, pair.b))
        changed = (f"{counts[key]:,}" for key in ("found", "lost", "new_switches", "gone_switches"))
        rows.append((shown(name), _text(of_a, ".2f"), _text(of_b, ".2f"), _text(of_b - of_a, "+.2f"), *changed))
    return rows


def difference_row(one: TrackDifference) -> tuple[str, ...]:
    """Ratios in percent, and counts."""
    is_count = one.key in AS_COUNTS
    scale, form, signed = (1, ",.0f", "+,.0f") if is_count else (100, ".2f", "+.2f")
    low, high = (_text(scale * limit, signed) for limit in (one.low, one.high))
    interval = "undefined" if math.isnan(one.low) else f"{low} to {high}"
    numbers = (_text(scale * one.a, form), _text(scale * one.b, form), _text(scale * one.difference, signed))
    return (one.key, *numbers, interval, _text(one.p_value, ".3f"))


def _text(value: float, form: str) -> str:
    """The number, or a dash if it is undefined, as in the tables of each tracker. What rounds to 0 has no sign."""
    if math.isnan(value):
        return "-"
    text = f"{value:{form}}"
    return text if text.strip("+-0.") else text.lstrip("+-")
