"""`motmetrics.metrics`: numbers from events, each a function of the events and of other numbers.

Owns the numbers, and how those of several sequences become one. Does not own events (`mot`). Counts add up over
sequences; ratios are computed anew from the sums, so that a long sequence counts more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit._optional import import_extra
from ioukit._words_and_colours import percent
from ioukit.compat._originals import keep
from ioukit.compat.motmetrics.io import motchallenge_metric_names
from ioukit.compat.motmetrics.lap import linear_sum_assignment
from ioukit.compat.motmetrics.mot import MOTAccumulator

if TYPE_CHECKING:
    from types import ModuleType

__all__ = [
    "DataFrameMap",
    "MetricsHost",
    "create",
    "events_to_df_map",
    "extract_counts_from_df_map",
    "motchallenge_metrics",
]

Metric: TypeAlias = Callable[..., Any]

motchallenge_metrics = list(motchallenge_metric_names)
"""The metrics of MOTChallenge, which `MetricsHost.compute` gives if none are named."""


class DataFrameMap:
    """The events that a metric gets."""

    def __init__(self, full: Any, raw: Any, noraw: Any, extra: Any) -> None:
        self.full = full
        """All events."""
        self.raw = raw
        """Those of type RAW."""
        self.noraw = noraw
        """One for each pair, each object and each hypothesis without one: MATCH, SWITCH, MISS and FP."""
        self.extra = extra
        """All but RAW."""


def events_to_df_map(df: Any) -> DataFrameMap:
    """The events of a data frame by their types."""
    is_raw = df.Type == "RAW"
    is_extra = df.Type.isin(["ASCEND", "TRANSFER", "MIGRATE"])
    return DataFrameMap(full=df, raw=df[is_raw], noraw=df[~is_raw & ~is_extra], extra=df[~is_raw])


class MetricsHost:
    """Metrics by their names, with what each of them needs."""

    def __init__(self) -> None:
        self.metrics: dict[str, dict[str, Any]] = {}

    def register(
        self,
        fnc: Metric,
        deps: Sequence[str] | str | None = "auto",
        name: str | None = None,
        helpstr: str | None = None,
        formatter: Callable[[Any], str] | None = None,
        fnc_m: Metric | None = None,
        deps_m: Sequence[str] | str | None = "auto",
    ) -> None:
        """Add a metric.

        Args:
            fnc: A function of a `DataFrameMap` and of the values of other metrics.
            deps: The names of these metrics; ``"auto"`` takes them from the names of the arguments, ``None`` is none.
            name: The name of the metric. If ``None``, that of the function.
            helpstr: What it is. If ``None``, the docstring of the function.
            formatter: From a value to text, for `io.render_summary`.
            fnc_m: The same as ``fnc`` for several sequences: a function of a list of their values, each a mapping by
                name, and of the values of other metrics for all sequences.
            deps_m: The names of these.
        """
        text = helpstr or " ".join((inspect.getdoc(fnc) or "No description.").split())
        self.metrics[name or fnc.__name__] = {
            "name": name or fnc.__name__,
            "fnc": fnc,
            "fnc_m": fnc_m,
            "deps": _needed(fnc, deps),
            "deps_m": None if fnc_m is None else _needed(fnc_m, deps_m),
            "help": text,
            "formatter": formatter,
        }

    @property
    def names(self) -> list[str]:
        """The names of all metrics."""
        return list(self.metrics)

    @property
    def formatters(self) -> dict[str, Callable[[Any], str]]:
        """The functions from values to text, of the metrics that have one."""
        return {name: metric["formatter"] for name, metric in self.metrics.items() if metric["formatter"] is not None}

    def list_metrics(self, include_deps: bool = False) -> Any:
        """A data frame of names and descriptions, with ``include_deps`` also of the metrics that each one needs."""
        keys = {"Name": "name", "Description": "help"} | ({"Dependencies": "deps"} if include_deps else {})
        rows = [[metric[key] for key in keys.values()] for metric in self.metrics.values()]
        return _pandas().DataFrame(rows, columns=list(keys))

    def list_metrics_markdown(self, include_deps: bool = False) -> str:
        """`list_metrics` as the rows of a table in Markdown."""
        listed = self.list_metrics(include_deps)
        ruler = _pandas().DataFrame([[":---"] * len(listed.columns)], columns=listed.columns)
        text: str = _pandas().concat([ruler, listed]).to_csv(sep="|", index=False)
        return text

    def compute(
        self,
        df: Any,
        ana: Any = None,
        metrics: str | Iterable[str] | None = None,
        return_dataframe: bool = True,
        return_cached: bool = False,
        name: Any = None,
    ) -> Any:
        """The metrics of a sequence.

        Args:
            df: An accumulator, or a data frame of events.
            ana: Given to metrics of the program that have arguments with a default.
            metrics: The names of the metrics. If ``None``, :data:`motchallenge_metrics`.
            return_dataframe: Whether to return a data frame of one row. Otherwise, it is a dictionary.
            return_cached: Whether to return the metrics that others need, too.
            name: The name of the row.

        Raises:
            AssertionError: If no metric has the name.
        """
        events = events_to_df_map(df.events if isinstance(df, MOTAccumulator) else df)
        has_options = {key for key, metric in self.metrics.items() if inspect.getfullargspec(metric["fnc"]).defaults}

        def value(key: str, needed: list[Any]) -> Any:
            return self.metrics[key]["fnc"](events, *needed, **({"ana": ana} if key in has_options else {}))

        return self._answer(metrics, "deps", value, return_dataframe, return_cached, name)

    def compute_overall(
        self,
        partials: Sequence[Mapping[str, Any]],
        metrics: str | Iterable[str] | None = None,
        return_dataframe: bool = True,
        return_cached: bool = False,
        name: Any = None,
    ) -> Any:
        """The metrics of several sequences together.

        Args:
            partials: What `compute` returns for each, with ``return_dataframe=False`` and ``return_cached=True``.
            metrics: As for `compute`, and so are the other arguments.
            return_dataframe: The same.
            return_cached: The same.
            name: The same.

        Raises:
            AssertionError: If no metric has the name, or one of several sequences is not defined.
        """

        def value(key: str, needed: list[Any]) -> Any:
            return self.metrics[key]["fnc_m"](partials, *needed)

        return self._answer(metrics, "deps_m", value, return_dataframe, return_cached, name)

    def compute_many(
        self,
        dfs: Sequence[Any],
        anas: Sequence[Any] | None = None,
        metrics: str | Iterable[str] | None = None,
        names: Sequence[Any] | None = None,
        generate_overall: bool = False,
    ) -> Any:
        """A data frame with a row of metrics per sequence.

        Args:
            dfs: Accumulators, or data frames of events.
            anas: As ``ana`` of `compute`, for each.
            metrics: As for `compute`.
            names: The names of the rows.
            generate_overall: Whether to add a row ``OVERALL`` of all sequences together.

        Raises:
            AssertionError: If the names are not as many as the sequences, or as for `compute`.
        """
        chosen = _chosen(metrics)
        assert names is None or len(names) == len(dfs), f"expected {len(dfs)} names, got {len(names)}"
        rows = list(range(len(dfs)) if names is None else names)
        values = [
            self.compute(df, ana, chosen, return_dataframe=False, return_cached=True)
            for df, ana in zip(dfs, [None] * len(dfs) if anas is None else anas, strict=True)
        ]
        pandas = _pandas()
        frames = [
            pandas.DataFrame({key: one[key] for key in chosen}, index=[row])
            for one, row in zip(values, rows, strict=True)
        ]
        if generate_overall:
            frames.append(self.compute_overall(values, chosen, name="OVERALL"))
        return pandas.concat(frames)

    def _answer(
        self,
        metrics: str | Iterable[str] | None,
        deps: str,
        value: Callable[[str, list[Any]], Any],
        return_dataframe: bool,
        return_cached: bool,
        name: Any,
    ) -> Any:
        chosen, found = _chosen(metrics), dict[str, Any]()

        def resolve(key: str, parent: str) -> Any:
            if key not in found:
                assert key in self.metrics, f"Cannot find metric {key} required by {parent}."
                needed = self.metrics[key][deps]
                assert needed is not None, f"merge function for metric {key} is None"
                found[key] = value(key, [resolve(other, key) for other in needed])
            return found[key]

        for key in chosen:
            resolve(key, "summarize")
        data = found if return_cached else {key: found[key] for key in chosen}
        return _pandas().DataFrame(data, index=[0 if name is None else name]) if return_dataframe else data


def extract_counts_from_df_map(df: DataFrameMap) -> tuple[dict[Any, int], dict[Any, int], dict[Any, int]]:
    """In how many frames each object, each hypothesis, and each pair of them with an allowed distance occurs."""
    raw = df.raw.reset_index()
    objects, hypotheses = (raw.groupby(column)["FrameId"].nunique().to_dict() for column in ("OId", "HId"))
    pairs = raw.dropna(subset=["D"]).groupby(["OId", "HId"])["D"].count().to_dict()
    return objects, hypotheses, pairs


def create() -> MetricsHost:
    """All metrics that py-motmetrics has, in its order."""
    host = MetricsHost()
    for name, (text, function, formatter, together) in _METRICS.items():
        adds_up = together is _ADDS_UP
        merge = partial(_sum_of, name) if adds_up else together
        host.register(function, "auto", name, text, formatter, merge, None if adds_up else "auto")
    return host


def _chosen(metrics: str | Iterable[str] | None) -> list[str]:
    if metrics is None:
        return motchallenge_metrics
    return [metrics] if isinstance(metrics, str) else list(metrics)


def _needed(function: Metric, given: Sequence[str] | str | None) -> list[str]:
    """The names of the metrics that a function needs: its arguments without a default, but for the first."""
    if given != "auto":
        return list(given or ())
    arguments = inspect.getfullargspec(function)
    return arguments.args[1 : len(arguments.args) - len(arguments.defaults or ())]


def _pandas() -> ModuleType:
    return import_extra("pandas", extra="pandas", needed_by="metrics.MetricsHost")


def _ratio(part: Any, whole: Any) -> Any:
    """A ratio; NaN for 0 of 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.true_divide(part, whole)


def _sum_of(name: str, partials: Sequence[Mapping[str, Any]]) -> Any:
    return sum(one[name] for one in partials)


def _number_of(kind: str) -> Metric:
    return lambda df: (df.extra.Type == kind).sum()


def _track_ratios(df: DataFrameMap, obj_frequencies: Any) -> Any:
    found = df.noraw.OId[df.noraw.Type != "MISS"].value_counts()
    return found.div(obj_frequencies).fillna(0.0)


def _fragmentations(df: DataFrameMap) -> int:
    """Each object is followed in some runs of frames; between two runs, it is lost."""
    rows = df.noraw[df.noraw.OId.notna()]
    objects = rows.OId.factorize()[0]
    order = np.argsort(objects, kind="stable")
    objects, is_found = objects[order], (rows.Type != "MISS").to_numpy()[order]
    goes_on = is_found[1:] & is_found[:-1] & (objects[1:] == objects[:-1])
    return int(is_found.sum() - goes_on.sum()) - len(np.unique(objects[is_found]))


def _global_assignment(df: DataFrameMap) -> dict[str, Any]:
    """What is left if each object has one hypothesis for the whole sequence, so that they share the most frames."""
    objects, hypotheses, pairs = extract_counts_from_df_map(df)
    row_of, column_of = ({key: at for at, key in enumerate(counts)} for counts in (objects, hypotheses))
    shared = np.zeros((len(objects), len(hypotheses)))
    for (oid, hid), frames in pairs.items():
        shared[row_of[oid], column_of[hid]] = frames
    found = shared[linear_sum_assignment(-shared)].sum()
    wrong, missed = (sum(counts.values()) - found for counts in (hypotheses, objects))
    return {"fp": wrong, "fn": missed, "min_cost": wrong + missed}


def _tracked(least: float, below: float) -> Metric:
    return lambda _, track_ratios: ((track_ratios >= least) & (track_ratios < below)).sum()


def _motp(df: DataFrameMap, num_detections: Any) -> Any:
    return _ratio(df.noraw.D.sum(), num_detections)


def _mota(_: Any, num_misses: Any, num_switches: Any, num_false_positives: Any, num_objects: Any) -> Any:
    return 1.0 - _ratio(num_misses + num_switches + num_false_positives, num_objects)


def _motp_of_all(partials: Sequence[Mapping[str, Any]], num_detections: Any) -> Any:
    return _ratio(sum(one["motp"] * one["num_detections"] for one in partials), num_detections)


def _precision(_: Any, num_detections: Any, num_false_positives: Any) -> Any:
    return _ratio(num_detections, num_false_positives + num_detections)


def _recall(_: Any, num_detections: Any, num_objects: Any) -> Any:
    return _ratio(num_detections, num_objects)


def _idfp(_: Any, id_global_assignment: dict[str, Any]) -> Any:
    return id_global_assignment["fp"]


def _idfn(_: Any, id_global_assignment: dict[str, Any]) -> Any:
    return id_global_assignment["fn"]


def _idp(_: Any, idtp: Any, idfp: Any) -> Any:
    return _ratio(idtp, idtp + idfp)


def _idr(_: Any, idtp: Any, idfn: Any) -> Any:
    return _ratio(idtp, idtp + idfn)


def _idf1(_: Any, idtp: Any, num_objects: Any, num_predictions: Any) -> Any:
    return _ratio(2 * idtp, num_objects + num_predictions)


def _percent(value: float) -> str:
    return percent(value, 1).replace(" %", "%")


_WHOLE = "{:d}".format
_ADDS_UP: Metric = _sum_of
_METRICS: dict[str, tuple[str, Metric, Callable[..., str] | None, Metric | None]] = {
    "num_frames": ("frames", lambda df: df.full.index.get_level_values(0).nunique(), _WHOLE, _ADDS_UP),
    "obj_frequencies": ("frames of each object", lambda df: df.noraw.OId.value_counts(), _WHOLE, None),
    "pred_frequencies": ("frames of each hypothesis", lambda df: df.noraw.HId.value_counts(), _WHOLE, None),
    "num_matches": ("pairs that are no switch", _number_of("MATCH"), _WHOLE, _ADDS_UP),
    "num_switches": ("pairs whose object had another hypothesis before", _number_of("SWITCH"), _WHOLE, _ADDS_UP),
    "num_transfer": ("pairs whose hypothesis had another object before", _number_of("TRANSFER"), _WHOLE, _ADDS_UP),
    "num_ascend": ("switches to a hypothesis that is new", _number_of("ASCEND"), _WHOLE, _ADDS_UP),
    "num_migrate": ("transfers to an object that is new", _number_of("MIGRATE"), _WHOLE, _ADDS_UP),
    "num_false_positives": ("boxes of hypotheses without an object", _number_of("FP"), _WHOLE, _ADDS_UP),
    "num_misses": ("boxes of objects without a hypothesis", _number_of("MISS"), _WHOLE, _ADDS_UP),
    "num_detections": ("pairs", lambda _, num_matches, num_switches: num_matches + num_switches, _WHOLE, _ADDS_UP),
    "num_objects": ("boxes of objects", lambda _, obj_frequencies: obj_frequencies.sum(), _WHOLE, _ADDS_UP),
    "num_predictions": ("boxes of hypotheses", lambda _, pred_frequencies: pred_frequencies.sum(), _WHOLE, _ADDS_UP),
    "num_unique_objects": ("objects", lambda _, obj_frequencies: len(obj_frequencies), _WHOLE, _ADDS_UP),
    "track_ratios": ("share of the frames of each object with a hypothesis", _track_ratios, None, None),
    "mostly_tracked": ("objects whose share is at least 80 %", _tracked(0.8, np.inf), _WHOLE, _ADDS_UP),
    "partially_tracked": ("objects whose share is from 20 % to 80 %", _tracked(0.2, 0.8), _WHOLE, _ADDS_UP),
    "mostly_lost": ("objects whose share is below 20 %", _tracked(0, 0.2), _WHOLE, _ADDS_UP),
    "num_fragmentations": ("gaps in which an object has no hypothesis", _fragmentations, None, _ADDS_UP),
    "motp": ("mean distance of the pairs", _motp, "{:.3f}".format, _motp_of_all),
    "mota": ("1 - (misses + switches + false positives) / boxes of objects", _mota, _percent, _mota),
    "precision": ("share of the boxes of hypotheses that are in a pair", _precision, _percent, _precision),
    "recall": ("share of the boxes of objects that are in a pair", _recall, _percent, _recall),
    "id_global_assignment": ("the hypothesis of each object for the whole sequence", _global_assignment, None, None),
    "idfp": ("boxes of hypotheses without it", _idfp, None, _ADDS_UP),
    "idfn": ("boxes of objects without it", _idfn, None, _ADDS_UP),
    "idtp": ("boxes of objects with it", lambda _, num_objects, idfn: num_objects - idfn, None, _ADDS_UP),
    "idp": ("IDTP / (IDTP + IDFP)", _idp, _percent, _idp),
    "idr": ("IDTP / (IDTP + IDFN)", _idr, _percent, _idr),
    "idf1": ("2 IDTP / (boxes of objects + boxes of hypotheses)", _idf1, _percent, _idf1),
}
"""What each is, how it is computed and shown, and what it is of several sequences: a sum, or a function."""

keep(MetricsHost, DataFrameMap)
