"""The results of an evaluation of tracks: numbers per class and sequence, and combined."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isnan, nan
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._near_names import suggest
from ioukit._output import aligned
from ioukit._plain_values import plain_value
from ioukit.evaluation.class_results import ClassResults
from ioukit.evaluation.summary import Summary
from ioukit.tracks.costs import TrackCosts, costs_of
from ioukit.tracks.events import Trace, TrackEvents, events_of
from ioukit.tracks.j_and_f import J_AND_F_KEYS
from ioukit.tracks.measures import CURVES, KEYS, Values, averaged, together
from ioukit.tracks.tubes import TUBE_KEYS, mean_of_classes

if TYPE_CHECKING:
    import os

    from ioukit._array_types import Floats
    from ioukit.datasets import Categories
    from ioukit.tracks.j_and_f import JAndF

TABLE_KEYS = ("HOTA", "DetA", "AssA", "MOTA", "IDF1", "TP", "FP", "FN", "IDSW", "Frag", "MT", "ML")
"""The columns of a table."""
AS_COUNTS = frozenset({"TP", "FP", "FN", "IDSW", "Frag", "MT", "PT", "ML"})


class TrackNumbers(Summary):
    """Numbers by TrackEval's names, as fractions: ``numbers["HOTA"]``.

    ``TP``, ``FN``, ``FP``, ``Re``, ``Pr`` and ``F1`` are those of CLEAR (``CLR_TP`` and so on in TrackEval). The
    numbers of HOTA are means over its 19 thresholds; :attr:`curves` has the value of each. So are ``AP_all`` and the
    other numbers of whole tracks over 10 thresholds, which only protocols such as ``"tao"`` have, and no sequence.
    ``J&F``, ``J-Mean``, ``F-Mean`` and so on are those of :class:`JAndF`; the protocol ``"davis"`` has them.
    """

    def __init__(self, values: Values) -> None:
        """Take the numbers; those of HOTA are (19,) arrays."""
        self._values = values

    @cached_property
    def _numbers(self) -> dict[str, float]:  # type: ignore[override]  # made when the first one is asked for
        values, curves = self._values, (*CURVES, *TUBE_KEYS)
        keys = [*KEYS, *(key for key in (*TUBE_KEYS, *J_AND_F_KEYS) if key in values)]
        return {key: float(np.mean(values[key])) if key in curves else _plain(values[key]) for key in keys}

    @property
    def curves(self) -> Mapping[str, Floats]:
        """(19,) values of HOTA's numbers and counts, one per threshold of :data:`THRESHOLDS`, by their names.

        Numbers of whole tracks have 10 values, for the thresholds 0.5, 0.55, ..., 0.95.
        """
        arrays = {name: value for name, value in self._values.items() if isinstance(value, np.ndarray)}
        for array in arrays.values():
            array.flags.writeable = False
        return MappingProxyType(arrays)

    def __getitem__(self, key: str) -> float:
        if key not in self._numbers:
            others = f"there are {', '.join(self._numbers)}"
            raise KeyError(f"{key!r} is no number of tracks{suggest(str(key), list(self._numbers), others)}")
        return self._numbers[key]

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={self[key]:.4f}" for key in ("HOTA", "MOTA", "IDF1"))
        return f"TrackNumbers({shown})"


def _plain(value: Any) -> float:
    """A number of Python: whole numbers stay whole."""
    number = value.item() if isinstance(value, np.generic) else value
    assert isinstance(number, int | float)
    return number


@record(frozen=True, eq=False, repr=False)
class TrackClass(Frozen):
    """The numbers of one class."""

    id: int
    """Its id."""
    name: str
    """Its name."""
    summary: TrackNumbers
    """Those of all sequences."""
    sequences: Mapping[str, TrackNumbers]
    """Those of each sequence, by its name."""

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={self.summary[key]:.4f}" for key in ("HOTA", "MOTA", "IDF1"))
        return f"TrackClass({self.name!r}, {numbers})"


@record(frozen=True, eq=False, repr=False)
class TrackEvaluation(Frozen):
    """The result of :func:`evaluate_tracks`."""

    categories: Categories
    """(K,) the classes that were evaluated, in ascending order of their ids."""
    sequence_names: tuple[str, ...]
    """(S,) the names of the sequences, in alphabetical order."""
    values: Sequence[Sequence[Values]]
    """(K, S) the numbers of each class in each sequence, as :attr:`per_class` shows them."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""
    trace: Trace | None = None
    """What :attr:`events` are made of."""
    protocol: str = "plain"
    """The name of the protocol, which says what was left out before the evaluation."""
    tubes: Sequence[Values] = ()
    """(K,) AP of whole tracks, of each class; none if the protocol does not count it."""
    tube_matches: Sequence[Values] = ()
    """(S,) the whole tracks of each sequence that are found, from which :attr:`tubes` are counted; or none."""
    j_and_f: JAndF | None = None
    """J and F of each object; ``None`` if the protocol does not count them."""
    main: str = "HOTA"
    """The number by which the protocol ranks trackers."""

    @property
    def _averages(self) -> Values:
        """The numbers that are only a mean over classes, however classes are combined."""
        return {**mean_of_classes(self.tubes), **(self.j_and_f.summary if self.j_and_f else {})}

    @cached_property
    def _of_classes(self) -> list[Values]:
        tubes = self.tubes or [{}] * len(self.values)
        return [{**together(row), **numbers} for row, numbers in zip(self.values, tubes, strict=True)]

    @cached_property
    def summary(self) -> TrackNumbers:
        """The numbers of all sequences and classes.

        Several classes are combined as if their regions were of one class: TrackEval's detection average
        (``cls_comb_det_av``). :attr:`class_average` counts each class once.
        """
        values = together(self._of_classes) if len(self.values) != 1 else self._of_classes[0]
        return TrackNumbers({**values, **self._averages})

    @cached_property
    def events(self) -> TrackEvents:
        """What happened in each frame: matches, switches of ids, misses and false detections."""
        if self.trace is None:
            raise ValueError("these numbers were made without the data that events need")
        return events_of(self.trace, self.sequence_names, tuple(self.categories.names))

    @cached_property
    def costs(self) -> TrackCosts:
        """How much HOTA each object and each track of the result costs, the costliest first."""
        events = self.events
        assert self.trace is not None  # without it, there are no events
        return costs_of(self.trace, events)

    @cached_property
    def class_average(self) -> TrackNumbers:
        """The mean over classes of each ratio, and the sum of each count: TrackEval's ``cls_comb_cls_av``."""
        return TrackNumbers({**averaged(self._of_classes), **self._averages})

    @cached_property
    def per_class(self) -> ClassResults[TrackClass]:
        """The numbers of each class: ``per_class["car"].summary["HOTA"]``, ``per_class[0].sequences["0001"]``."""
        fit = self.j_and_f
        made = []
        listed = zip(self.categories.ids.tolist(), self.categories.names, self._of_classes, self.values, strict=True)
        for number, name, values, row in listed:
            sequences = {
                sequence: TrackNumbers({**one, **(fit.part(name, sequence) if fit else {})})
                for sequence, one in zip(self.sequence_names, row, strict=True)
            }
            summary = TrackNumbers({**values, **(fit.per_class[name] if fit else {})})
            made.append(TrackClass(number, name, summary, sequences))
        return ClassResults(made)

    @cached_property
    def sequences(self) -> Mapping[str, TrackNumbers]:
        """The numbers of each sequence by its name; several classes are combined as for :attr:`summary`."""
        fit, found = self.j_and_f, {}
        for name, column in zip(self.sequence_names, zip(*self.values, strict=True), strict=True):
            values = column[0] if len(column) == 1 else together(column)
            found[name] = TrackNumbers({**values, **(fit.sequences[name] if fit else {})})
        return MappingProxyType(found)

    @property
    def table_keys(self) -> tuple[str, ...]:
        """The columns of a table if a user names none: the main number, AP of whole tracks, J and F, and others."""
        of_tubes = ("AP_all", "AR_all") if self.tubes else ()
        return tuple(dict.fromkeys((self.main, *of_tubes, *(J_AND_F_KEYS if self.j_and_f else ()), *TABLE_KEYS)))

    def table(self, keys: Sequence[str] | None = None, *, width: int | None = None) -> str:
        """A line per sequence, and one for all of them: ratios in percent, and counts.

        Args:
            keys: The numbers to show. If ``None``, the main one of the protocol, then AP and AR of whole tracks, which
                no sequence has, and J and F, if the protocol counts them, then the usual ones.
            width: How many characters a line may have; columns on the right are left out. No limit if ``None``.
        """
        rows = {**self.sequences, "all": self.summary}
        return number_table("sequence", rows, self.table_keys if keys is None else keys, width=width)

    def class_table(self, keys: Sequence[str] | None = None, *, width: int | None = None) -> str:
        """A line per class, then one for all classes together, and one for their mean; see :meth:`table`."""
        rows = [(one.name, one.summary) for one in self.per_class]
        rows += [("all", self.summary), ("class average", self.class_average)]
        return number_table("class", rows, self.table_keys if keys is None else keys, width=width)

    def to_dict(self) -> dict[str, Any]:
        """All numbers in plain Python values: ``summary``, ``class_average``, ``sequences``, ``classes`` and ``costs``.

        The costs are those of the objects and tracks that cost something, the costliest first.
        """
        return {
            "summary": plain_value(self.summary),
            "class_average": plain_value(self.class_average),
            "sequences": plain_value(self.sequences),
            "classes": [
                {
                    "id": one.id,
                    "name": one.name,
                    "summary": plain_value(one.summary),
                    "sequences": plain_value(one.sequences),
                }
                for one in self.per_class
            ],
            "costs": [] if self.trace is None else self.costs[self.costs.cost > 0].to_dicts(),
            "protocol": self.protocol,
            "main": self.main,
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        import json  # noqa: PLC0415 - keeps `import ioukit` fast

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the page, one HTML file, see :func:`ioukit.report.write_tracks`, which names the options.

        Args:
            path: The file to write.
            **options: As for the function.
        """
        importlib.import_module("ioukit.report").write_tracks(self, path, **options)

    def notebook_rows(self) -> tuple[list[Any], int]:
        """A row per sequence, and one for all."""
        rows = {**self.sequences, "all": self.summary}
        made = [
            {"sequence": name, **{key: numbers.get(key, nan) for key in self.table_keys}}
            for name, numbers in rows.items()
        ]
        return made, len(made)

    def __repr__(self) -> str:
        keys = dict.fromkeys((self.main, "HOTA", "MOTA", "IDF1"))
        numbers = ", ".join(f"{key}={self.summary[key]:.4f}" for key in keys)
        sequences, classes = len(self.sequence_names), len(self.categories)
        return f"TrackEvaluation({numbers}, {pluralize(sequences, 'sequence')}, {pluralize(classes, 'class')})"


def number_table(
    title: str,
    rows: Mapping[str, TrackNumbers] | Sequence[tuple[str, TrackNumbers]],
    keys: Sequence[str],
    *,
    width: int | None = None,
) -> str:
    """Numbers by the names of their rows as text."""
    named = rows.items() if isinstance(rows, Mapping) else rows
    lines = [(title, *keys)]
    lines += [(name, *(cell_text(numbers, key) for key in keys)) for name, numbers in named]
    return aligned(lines, width=width, drop=range(len(keys), 1, -1)) if width else aligned(lines)


def cell_text(numbers: TrackNumbers, key: str, digits: int = 3) -> str:
    """A ratio in percent, or a count; - for AP of a single sequence, which there is not, and what is undefined."""
    if key in TUBE_KEYS and key not in numbers:
        return "-"
    value = numbers[key]
    if isnan(value):
        return "-"
    return f"{value:,}" if key in AS_COUNTS or isinstance(value, int) else f"{100 * value:.{digits}f}"
