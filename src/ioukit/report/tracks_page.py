"""The page of tracks: the numbers, what costs most HOTA, the events and a timeline of each sequence."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit._checks import check_result
from ioukit._output import printable
from ioukit._words_and_colours import percent
from ioukit.comparison import TrackComparison
from ioukit.comparison.track_changes import changed_objects
from ioukit.comparison.track_text import difference_row, notes_of, sequence_rows
from ioukit.comparison.words import doubt_sentence, needed_sentence, track_change_sentences
from ioukit.report._sources import input_files, made_with, name_of, time_text
from ioukit.report._texts import abbreviate, fact_list
from ioukit.report.writer import Layout, Page, write_page
from ioukit.tracks.events import EVENT_KINDS, named_tracks, runs_of
from ioukit.tracks.results import cell_text

if TYPE_CHECKING:
    import datetime
    import os
    from collections.abc import Iterable, Sequence

    from ioukit.comparison import TrackPair
    from ioukit.tracks import TrackEvaluation, TrackEvents, TrackNumbers

MOST_RUNS = 100_000
"""How many lines the timelines of a page have at most, and how many rows of false boxes: below 3 MB in all."""
MOST_COSTS = 500
"""How many objects and tracks the list of costs has, and how many objects that of changes."""


class NumberTable(NamedTuple):
    """Numbers of trackers: of sequences, or of classes."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, str, tuple[str, ...]], ...]
    """A name, the tracker if there are several, and a text per number."""


class TracksPart(NamedTuple):
    """The first tracker beside another one."""

    title: str
    verdict: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: tuple[str, ...]
    """How many sequences would show the difference, what is doubtful, and what changed."""
    sequence_head: tuple[str, ...]
    sequences: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True)
class TracksPage(Page):
    """What the template of the page of tracks gets."""

    layout: ClassVar[Layout] = Layout(
        "tracks/tracks.html.j2",
        ("shared/document.css", "shared/controls.css", "tracks/tracks.css"),
        (
            *("shared/words.js", "shared/charts.js", "shared/paged.js", "shared/hints.js"),
            *("tracks/timeline.js", "tracks/lists.js", "tracks/main.js"),
        ),
        "write_tracks",
    )

    trackers: tuple[str, ...]
    has_tubes: bool
    """Whether there is AP of whole tracks."""
    has_j_and_f: bool
    tables: tuple[NumberTable, ...]
    parts: tuple[TracksPart, ...]
    """The first tracker with each of the others; none if there is only one."""


def write_tracks(
    tracks: TrackEvaluation | TrackComparison,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    created: datetime.datetime | None = None,
) -> None:
    """Write one HTML file that shows how well a tracker follows its objects, where it fails, and what that costs.

    The file needs no server and no network. Needs the extra ``report``.

    Args:
        tracks: The result of `ioukit.evaluate_tracks`, or of `ioukit.comparison.compare_tracks`.
        path: The file to write. After an error it is as it was.
        title: The heading; the name of the file of the results, or of the trackers, if ``None``.
        created: The time that the page shows; now if ``None``.

    Raises:
        TypeError: If ``tracks`` is neither of both.
        ValueError: If ``path`` is a folder, is in a folder that does not exist, or is a file that the data were read
            from; or if the evaluation was made without the data that events need.
        ModuleNotFoundError: If Jinja2 is not installed.
        OSError: If the file cannot be written.
    """
    if not isinstance(tracks, TrackComparison):
        check_result(tracks, "sequence_names", "evaluate_tracks(...)")
    evaluations = tracks.evaluations if isinstance(tracks, TrackComparison) else (tracks,)
    sources = [path for one in evaluations for _, path in _sources(one)]
    write_page(path, None, sources, lambda _: tracks_data(tracks, title=title, created=created))


def _sources(evaluation: TrackEvaluation) -> list[tuple[str, Path]]:
    """The files or folders that the data were read from."""
    names = ("", "") if evaluation.trace is None else evaluation.trace.sources
    paths = [(role, Path(name)) for role, name in zip(("Ground truth", "Results"), names, strict=True) if name]
    return [(role, path) for role, path in paths if path.exists()]


def tracks_data(
    tracks: TrackEvaluation | TrackComparison, *, title: str | None, created: datetime.datetime | None
) -> TracksPage:
    """Collect the data of a page; the arguments are those of :func:`write_tracks`."""
    if isinstance(tracks, TrackComparison):
        pairs, names, evaluations = tracks.pairs, tracks.names, tracks.evaluations
        heading = f"{', '.join(names[1:])} compared with {names[0]}"
    else:
        pairs, names, evaluations = (), ("",), (tracks,)
        heading = name_of(_sources(tracks), "Results")
    named = [(abbreviate(name, "unnamed"), one) for name, one in zip(names, evaluations, strict=True)]
    first = evaluations[0]
    drawn = [_tracker(name, one, MOST_RUNS // len(named)) for name, one in named]
    numbers = first.summary
    return TracksPage(
        title=abbreviate(heading if title is None else title, "Tracks"),
        created=time_text(created),
        facts=fact_list(
            ("sequence", "sequences", len(first.sequence_names)),
            ("class", "classes", len(first.categories)),
            ("object", "objects", int(numbers["GT_IDs"])),
            ("region of an object", "regions of objects", int(numbers["GT_Dets"])),
        ),
        trackers=tuple(name for name, _ in named) if pairs else (),
        has_tubes=bool(first.tubes),
        has_j_and_f=first.j_and_f is not None,
        tables=tuple(_tables(named if pairs else [("", first)])),
        parts=tuple(_part(pair) for pair in pairs),
        notes=tuple(map(printable, notes_of({name: one.notes for name, one in zip(names, evaluations, strict=True)}))),
        settings=(("Protocol", abbreviate(first.protocol)), *made_with()),
        files=input_files(
            (f"{role} of {name}" if pairs and role == "Results" else role, path)
            for name, one in named
            for role, path in _sources(one)
            if one is first or role == "Results"
        ),
        drawn={
            "trackers": drawn,
            "changes": [_changes(pair) for pair in pairs],
        },
    )


def _tables(named: Sequence[tuple[str, TrackEvaluation]]) -> Iterable[NumberTable]:
    """The numbers of sequences, and of classes if there are several."""

    def rows(name: str, numbers: Iterable[TrackNumbers]) -> list[tuple[str, str, tuple[str, ...]]]:
        texts = (tuple(cell_text(one, key, 2) for key in keys) for one in numbers)
        return [(abbreviate(name, "unnamed"), tracker, row) for (tracker, _), row in zip(named, texts, strict=True)]

    every = [one for _, one in named]
    first = every[0]
    keys = first.table_keys
    made = rows("all", (one.summary for one in every))
    listed = [rows(name, (one.sequences[name] for one in every)) for name in first.sequence_names]
    yield NumberTable("Sequence", keys, tuple(itertools.chain(made, *listed)))
    if len(first.categories) > 1:
        listed = [rows("class average", (one.class_average for one in every))]
        listed += [
            rows(name, (one.per_class[at].summary for one in every)) for at, name in enumerate(first.categories.names)
        ]
        yield NumberTable("Class", keys, tuple(itertools.chain(made, *listed)))


def _part(pair: TrackPair) -> TracksPart:
    """What the page says of two trackers."""
    a, b = (abbreviate(name, "unnamed") for name in pair.names)
    level, shown = pair.difference.level, [pair[key] for key in pair.a.table_keys]
    doubt = doubt_sentence(shown, level)
    needed = needed_sentence(pair.difference, is_corrected=pair.p_corrected is not None)
    return TracksPart(
        title=f"{b} compared with {a}",
        verdict=printable(pair.verdict()),
        head=("", a, b, "difference", f"{percent(level)} interval", "p-value"),
        rows=tuple(map(difference_row, shown)),
        words=tuple(map(printable, filter(None, (needed, doubt, *track_change_sentences(pair.changes, (a, b)))))),
        sequence_head=("sequence", a, b, pair.sequence_key, "found", "lost", "new", "gone"),
        sequences=tuple(sequence_rows(pair, abbreviate)),
    )


def _changes(pair: TrackPair) -> dict[str, Any]:
    """The objects that change most, and how many others change."""
    changed = changed_objects(pair.a, pair.b)
    rows = [[abbreviate(f"{name} {track}"), *rest] for name, track, *rest in changed[:MOST_COSTS]]
    return {"rows": rows, "unlisted": len(changed) - len(rows)}


def _tracker(name: str, evaluation: TrackEvaluation, most: int) -> dict[str, Any]:
    """What the script draws of a tracker: costs, and the lines of each sequence."""
    costs, events, names = evaluation.costs, evaluation.events, evaluation.sequence_names
    shown = costs[: min(MOST_COSTS, int((costs.cost > 0).sum()))]
    titles = [
        abbreviate(f"{costs.class_names[category]} {track}")
        for category, track in zip(shown.category.tolist(), shown.track.tolist(), strict=True)
    ]
    cost = np.round(100 * shown.cost, 4)
    columns = (shown.is_object.astype(int), shown.sequence, cost, shown.frames, shown.alone, shown.changes)
    assert evaluation.trace is not None  # without it, there are no events
    lengths = np.diff(evaluation.trace.frames.starts).tolist()
    return {
        "name": name,
        "costs": [list(row) for row in zip(titles, *(column.tolist() for column in columns), strict=True)],
        "unlisted": len(costs) - len(shown),
        "sequences": [
            {
                "name": abbreviate(names[at], "unnamed"),
                "frames": lengths[at],
                **_lines(events[events.sequence == at], most // len(names)),
            }
            for at in range(len(names))
        ],
    }


def _lines(events: TrackEvents, most: int) -> dict[str, Any]:
    """The lines of a sequence: flat lists of the row of an object, the first frame and the last one.

    Args:
        events: Those of the sequence.
        most: How many lines of objects at most, and how many false ones; the objects with the most mistakes, and the
            longest false ones are kept.
    """
    is_false, objects = events.object < 0, events[events.object >= 0]
    number, titles = named_tracks(objects, objects.object_track)
    missed, switch = (objects.kind == EVENT_KINDS.index(word) for word in ("miss", "switch"))
    lines = [np.stack(runs_of(number[one], objects.frame[one]), axis=1) for one in (~missed, missed)]
    order = np.argsort(-np.bincount(number, missed | switch, len(titles)), kind="stable")
    sizes = np.bincount(np.concatenate(lines)[:, 0], minlength=len(titles))[order]
    order = order[: max(1, int((np.cumsum(sizes) <= most).sum()))]
    row = np.full(len(titles), -1)
    row[order] = np.arange(len(order))
    # Objects in the order of their rows, so that the pair before a switch is that of the same object.
    pairs = objects[~missed].take(by_object := np.lexsort((objects.frame[~missed], number[~missed])))
    at = np.flatnonzero(pairs.kind == EVENT_KINDS.index("switch"))
    places = row[number[~missed][by_object]][at]
    texts = (np.array([abbreviate(str(one)) for one in pairs.track[where].tolist()], object) for where in (at - 1, at))
    switches = zip(places.tolist(), pairs.frame[at].tolist(), *(one.tolist() for one in texts), strict=True)

    false, false_titles = named_tracks(events[is_false], events.track[is_false])
    false_lines = np.stack(runs_of(false, events.frame[is_false]), axis=1)
    longest = np.sort(np.argsort(false_lines[:, 1] - false_lines[:, 2], kind="stable")[:most])
    followed, lost = (np.column_stack([row[one[:, 0]], one[:, 1:]])[row[one[:, 0]] >= 0] for one in lines)
    return {
        "objects": [abbreviate(titles[one]) for one in order.tolist()],
        "followed": followed.ravel().tolist(),
        "missed": lost.ravel().tolist(),
        "switches": [list(one) for one in switches if one[0] >= 0],
        "tracks": [abbreviate(title) for title in false_titles],
        "false": false_lines[longest].ravel().tolist(),
        "unlisted": [len(titles) - len(order), len(false_lines) - len(longest)],
    }
