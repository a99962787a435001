"""The results of an evaluation: numbers, tables and analyses."""

from __future__ import annotations

import dataclasses
import importlib
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation.class_results import ClassResult, ClassResults
from ioukit.evaluation.curves import Curves, accumulate
from ioukit.evaluation.kinds import REGION_KINDS
from ioukit.evaluation.matching import match, notes_on_kind
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.summary import Summary, summarise, summarise_classes, table
from ioukit.evaluation.table import MatchTable

if TYPE_CHECKING:
    import os

    import pandas
    import polars
    import pyarrow

    from ioukit.comparison import ModelComparison
    from ioukit.evaluation.analysis.confusion import ConfusionMatrix
    from ioukit.evaluation.analysis.images import ImageResults
    from ioukit.evaluation.analysis.lrp import LRPErrors
    from ioukit.evaluation.analysis.operating import ScoreCurves
    from ioukit.evaluation.analysis.orders import OrderRange
    from ioukit.evaluation.analysis.outcomes import Outcomes
    from ioukit.evaluation.analysis.tide import ErrorKinds
    from ioukit.experiment_logs import Logged
    from ioukit.plots._shown import Figure
    from ioukit.statistics import Interval
    from ioukit.statistics.resampling import Labels
    from ioukit.typing import FigureName, TableName


_LOW = 0.2
_NEAR = 0.1  # the background threshold of TIDE


@record(frozen=True, eq=False, repr=False)
class Evaluation(Frozen):
    """The result of :func:`ioukit.evaluate`, or of :meth:`from_table`."""

    matches: MatchTable
    """Which detection matches which object."""
    curves: Curves
    """Precision, recall and scores along every curve."""
    dropped: int = 0
    """Records that were left out because they were invalid."""
    notes_on_reading: tuple[str, ...] = ()
    """What a user should know about how the data was read or put together."""
    OTHER_WORDS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("map", "ap"), 'summary["AP"]'),
        **dict.fromkeys(("map50", "map_50", "ap50"), 'summary["AP50"]'),
        **dict.fromkeys(("results", "stats"), "summary"),
        **dict.fromkeys(("plot", "plots", "show"), "figure"),
        **dict.fromkeys(("html", "save", "to_html", "write"), "report"),
        **dict.fromkeys(("confusion_matrix", "matrix"), "confusion"),
        **dict.fromkeys(("errors", "tide"), "error_kinds"),
        **dict.fromkeys(("precision_recall", "pr_curve"), 'figure("precision_recall")'),
    }

    ground_truth: GroundTruth | None = None
    """The ground truth; ``None`` if only the match table was kept."""
    detections: Detections | None = None
    """The detections; ``None`` if only the match table was kept."""
    sample: tuple[GroundTruth, Detections] | None = None
    """Some of the data, for :attr:`notes`, where the data was not kept."""

    @classmethod
    def from_table(cls, table: MatchTable, *, threads: int | None = None) -> Evaluation:
        """The evaluation of a match table, for example one read from a file or a sum of tables.

        Args:
            table: The matches. With near pairs, every analysis works without the data.
            threads: How many threads; all cores if ``None``. The result does not depend on it.
        """
        repeated = table.repeated_images
        notes = (f"{repeated:,} images that were in two tables count once",) if repeated else ()
        return cls(table, accumulate(table, threads=threads), notes_on_reading=notes)

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self.matches.protocol

    @property
    def precision(self) -> npt.NDArray[np.float64]:
        """(T, R, K, A, M), see :class:`Curves`."""
        return self.curves.precision

    @property
    def recall(self) -> npt.NDArray[np.float64]:
        """(T, K, A, M), see :class:`Curves`."""
        return self.curves.recall

    @property
    def scores(self) -> npt.NDArray[np.float64]:
        """(T, R, K, A, M), see :class:`Curves`."""
        return self.curves.scores

    @property
    def notes(self) -> tuple[str, ...]:
        """What a user should know: how the data was read, and what looks wrong with it, see :attr:`doubts`.

        One says that the protocol is not meant for the kind of region.
        """
        kind = REGION_KINDS.get(self.matches.iou_type)  # a table from a file may have one that nobody registered here
        on_kind = () if kind is None else notes_on_kind(kind, self.protocol)
        return (*self.notes_on_reading, *on_kind, *self.doubts)

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What looks wrong with the data, in the words of `ioukit eval`: boxes of another format, ids of another file.

        There are none if the first number is not low: data that gives such numbers is not read wrongly.
        """
        return self._what_looks_wrong()

    def _what_looks_wrong(self, *codes: str) -> tuple[str, ...]:
        gt, dt = self.sample or (self.ground_truth, self.detections)
        if gt is None or dt is None or not next(iter(self.summary.values()), math.nan) < _LOW:
            return ()
        notes_on_data = importlib.import_module("ioukit.checks").notes_on_data
        found: tuple[str, ...] = notes_on_data(gt, dt, codes or ("",))
        return found

    def warn_of_readings(self) -> None:
        """Warn if the boxes hardly fit the format that they were read in, and fit another one."""
        for doubt in self._what_looks_wrong("looks_like_", "normalized_not_declared"):
            warnings.warn(doubt, stacklevel=4)  # above `evaluate` and its decorator

    @cached_property
    def counts(self) -> Mapping[str, int]:
        """How many rows were evaluated, within the chosen images and categories, and how many were left out.

        ``images``, ``categories``, ``annotations``, ``crowds`` (annotations that are ignored whatever their size),
        ``detections`` and ``dropped``.
        """
        table = self.matches
        listed = {"images": len(table.image_ids), "categories": len(table.evaluated)}
        return MappingProxyType({**listed, **table.totals, "dropped": self.dropped})

    @cached_property
    def summary(self) -> Mapping[str, float]:
        """The numbers of the protocol by their keys, NaN where undefined.

        COCO's are AP AP50 AP75 APs APm APl AR1 AR10 AR100 ARs ARm ARl. With other caps or area ranges there are further
        ones (``AR300``, ``APtiny``, ``ARtiny``). Each is described by one of ``protocol.measures``.
        """
        return Summary(summarise(self.curves))

    @cached_property
    def per_class(self) -> ClassResults[ClassResult]:
        """The numbers of every category, sorted by id; ``per_class["person"]`` finds one by name."""
        table, categories = self.matches, self.matches.evaluated
        area = self.protocol.position_of_area(self.protocol.main_area)
        rows = zip(
            categories.ids.tolist(),
            categories.names,
            table.num_objects[:, area].tolist(),
            table.num_detections.tolist(),
            map(Summary, summarise_classes(self.curves)),
            strict=True,
        )
        return ClassResults([ClassResult(*row) for row in rows])

    def score_curves(self, *, iou_threshold: float | None = None, area_range: str | None = None) -> ScoreCurves:
        """Precision, recall and F1 over the score threshold, see :func:`ioukit.evaluation.score_curves`."""
        from ioukit.evaluation.analysis.operating import score_curves  # noqa: PLC0415 - evaluating does not need it

        return score_curves(self.matches, iou_threshold=iou_threshold, area_range=area_range)

    def order_ranges(self, *, threads: int | None = None) -> dict[str, OrderRange]:
        """The range of each AP over all orders of equal scores, see :func:`ioukit.evaluation.order_ranges`.

        Raises:
            ValueError: As the function, or if the evaluation does not hold its data.
        """
        from ioukit.evaluation.analysis.orders import order_ranges  # noqa: PLC0415 - as above

        if self.ground_truth is None or self.detections is None:
            raise ValueError("the range over all orders needs the data, and this evaluation holds a match table alone")
        return order_ranges(self.matches, self.ground_truth, self.detections, threads=threads)

    def lrp_errors(self, *, iou_threshold: float | None = None, area_range: str | None = None) -> LRPErrors:
        """LRP over the score threshold and oLRP of each class, see :func:`ioukit.evaluation.lrp_errors`."""
        from ioukit.evaluation.analysis.lrp import lrp_errors  # noqa: PLC0415 - as above

        return lrp_errors(self.matches, iou_threshold=iou_threshold, area_range=area_range)

    def outcomes(
        self,
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> Outcomes:
        """The outcome of every detection and object, see :func:`ioukit.evaluation.outcomes`."""
        from ioukit.evaluation.analysis.outcomes import outcomes  # noqa: PLC0415 - as above

        return outcomes(
            self.matches, iou_threshold=iou_threshold, area_range=area_range, score_threshold=score_threshold
        )

    def per_image(
        self,
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> ImageResults:
        """Counts and scores of every image, see :func:`ioukit.evaluation.per_image`."""
        from ioukit.evaluation.analysis.images import per_image  # noqa: PLC0415 - as above

        became = self.outcomes(iou_threshold=iou_threshold, area_range=area_range, score_threshold=score_threshold)
        found = per_image(self.matches, became)
        return self._with_names(found)

    def confusion(
        self,
        *,
        iou_threshold: float = 0.5,
        score_threshold: float = 0.25,
        max_dets: int | None = None,
        threads: int | None = None,
    ) -> ConfusionMatrix:
        """Which classes are confused, see :func:`ioukit.evaluation.confusion_matrix`.

        Raises:
            ValueError: As :meth:`near_matches` and the function.
        """
        from ioukit.evaluation.analysis.confusion import confusion_matrix  # noqa: PLC0415 - as above

        return confusion_matrix(
            self.near_matches(min(iou_threshold, _NEAR), threads=threads),
            iou_threshold=iou_threshold,
            score_threshold=score_threshold,
            max_dets=max_dets,
            threads=threads,
        )

    def error_kinds(
        self,
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        background_threshold: float = 0.1,
        max_dets_per_image: int | None = None,
        threads: int | None = None,
    ) -> ErrorKinds:
        """The kinds of errors and the AP that each costs, see :func:`ioukit.evaluation.error_kinds`.

        Raises:
            ValueError: As :meth:`near_matches` and the function.
        """
        from ioukit.evaluation.analysis.tide import error_kinds  # noqa: PLC0415 - as above

        return error_kinds(
            self.near_matches(min(background_threshold, _NEAR), threads=threads),
            iou_threshold=iou_threshold,
            area_range=area_range,
            background_threshold=background_threshold,
            max_dets_per_image=max_dets_per_image,
            threads=threads,
        )

    def near_matches(self, least: float = _NEAR, *, threads: int | None = None) -> MatchTable:
        """The match table with the near pairs that some analyses need.

        This is :attr:`matches` if it has these pairs. Otherwise the data is matched once more, and the new table is
        kept.

        Args:
            least: Pairs with this IoU or a higher one are needed.
            threads: How many threads; all cores if ``None``.

        Raises:
            ValueError: If the table does not list such pairs, and the evaluation does not hold its data.
        """
        known: MatchTable = vars(self).get("_near_matches", self.matches)
        if (known.near_least is not None and known.near_least <= least) or not 0 < least <= 1:
            return known  # the analysis raises the error about an invalid threshold
        if self.ground_truth is None or self.detections is None:
            raise ValueError(
                "this evaluation holds a match table alone, without the near pairs that this needs: match with "
                f"near={least:g}, or keep the data"
            )
        # If no detection is beyond the cap, a table with near pairs has the same rows: only the pairs are missing, and
        # hardly any pair needs to be matched at an IoU of 1 to get them.
        has_rows = self.matches.image_detections.sum() == len(self.matches.detections)
        only_pairs = bool(has_rows) and not self.protocol.why_matches_vary
        table = match(
            self.ground_truth,
            self.detections,
            self.protocol.replace(iou_thresholds=(1.0,)) if only_pairs else self.protocol,
            iou_type=self.matches.iou_type,
            categories=self.matches.categories.ids.tolist(),
            images=self.matches.image_ids,
            near=least,
            threads=threads,
        )
        if only_pairs:
            table = dataclasses.replace(self.matches, near=table.near)
        vars(self)["_near_matches"] = table
        return table

    # Statistics, pages and trackers are rooms above this one. The next methods are the only door to them: they import a
    # room by its name when they are called. tests/test_architecture.py lists these names, and refuses others.

    def interval(
        self,
        key: str,
        *,
        level: float = 0.95,
        replicates: int = 1000,
        seed: int = 0,
        strata: Labels | None = None,
        clusters: Labels | None = None,
        threads: int | None = None,
    ) -> Interval:
        """A number with its bootstrap interval, see :func:`ioukit.statistics.intervals`.

        Args:
            key: Its key, such as ``"AP"``, or ``"AP50/person"`` as in :meth:`metrics`.
            level: The probability with which the interval should hold the true number, within (0, 1).
            replicates: How many replicates of the bootstrap.
            seed: A whole number of at least 0. The same seed gives the same bits.
            strata: The stratum of each image: (I,) labels in the order of :attr:`MatchTable.image_ids`, or labels by
                image id.
            clusters: The cluster of each image, such as its scene or video, in the same way.
            threads: How many threads; all cores if ``None``.

        Returns:
            A :class:`ioukit.statistics.Interval`.

        Raises:
            ValueError: If there is no such number, method or label, there are fewer than two clusters, or a value is
                out of range.
            TypeError: If ``replicates`` or ``seed`` is not a whole number.
        """
        return self.intervals(
            [key],
            level=level,
            replicates=replicates,
            seed=seed,
            strata=strata,
            clusters=clusters,
            threads=threads,
        )[key]

    def intervals(
        self,
        keys: str | Sequence[str] | None = None,
        *,
        level: float = 0.95,
        replicates: int = 1000,
        seed: int = 0,
        strata: Labels | None = None,
        clusters: Labels | None = None,
        threads: int | None = None,
    ) -> dict[str, Interval]:
        """Several numbers with their bootstrap intervals, by their keys; all of the summary if ``keys`` is ``None``.

        This costs hardly more than one of them. For the arguments and errors, see :meth:`interval`.
        """
        found: dict[str, Interval] = importlib.import_module("ioukit.statistics").intervals(
            self,
            keys,
            level=level,
            replicates=replicates,
            seed=seed,
            strata=strata,
            clusters=clusters,
            threads=threads,
        )
        return found

    def report(
        self, path: str | os.PathLike[str], images: str | os.PathLike[str] | None = None, **options: Any
    ) -> None:
        """Write the report, one HTML file, see :func:`ioukit.report.write_report`, which names the other options.

        Args:
            path: The file to write.
            images: The folder of the photographs.
            **options: As for the function.
        """
        importlib.import_module("ioukit.report").write_report(self, path, images, **options)

    def figure(
        self,
        name: FigureName = "precision_recall",
        images: str | os.PathLike[str] | None = None,
        *,
        threads: int | None = None,
    ) -> Figure:
        """A figure of the report as one of matplotlib. The functions of `ioukit.plots` have more options.

        Args:
            name: One of :data:`ioukit.plots.FIGURES`: ``"precision_recall"``, ``"score_curves"``, ``"class_ap"``,
                ``"ap_by_iou"``, ``"ap_by_size"``, ``"confusion"``, ``"error_kinds"`` or ``"worst_images"``.
            images: The folder of the photographs, for the worst images.
            threads: How many threads; all cores if ``None``.

        Raises:
            ValueError: If there is no such figure, or the evaluation lacks what it needs.
            ModuleNotFoundError: If matplotlib is not installed.
        """
        drawn: Figure = importlib.import_module("ioukit.plots").evaluation_figure(self, name, images, threads)
        return drawn

    def compare(self, *others: Evaluation, **options: Any) -> ModelComparison:
        """Is another model better? This one is A, see :func:`ioukit.comparison.compare_models` for the options.

        Args:
            *others: Evaluations of other models on the same ground truth.
            **options: As for the function.
        """
        found: ModelComparison = importlib.import_module("ioukit.comparison").compare_models(self, *others, **options)
        return found

    def worst_images(
        self,
        most: int = 12,
        *,
        iou_threshold: float | None = None,
        score_threshold: float | None = None,
    ) -> ImageResults:
        """The images with the most errors (false positives and missed objects), the worst first.

        Args:
            most: How many images at most. Images without errors are left out.
            iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
            score_threshold: Detections with this score or a higher one count; the score with the best F1 if ``None``.
        """
        if score_threshold is None:
            best = self.score_curves(iou_threshold=iou_threshold).overall.best.score
            score_threshold = -math.inf if math.isnan(best) else best
        results = self.per_image(iou_threshold=iou_threshold, score_threshold=score_threshold)
        return self._with_names(results.take(results.worst(most)))

    def _with_names(self, results: ImageResults) -> ImageResults:
        """The results, with the names of the images for a notebook."""
        if self.ground_truth is not None:
            vars(results)["_images"] = self.ground_truth.images
        return results

    def metrics(self, *, per_class: bool | Sequence[str] = True) -> dict[str, float]:
        """All numbers by flat names, which stay the same: for trackers and for checks.

        Args:
            per_class: Which numbers of each class to add: those of the protocol's headline measures if ``True`` (of
                COCO's: ``AP``, ``AP50``, ``AP75`` and ``AR100``), those with the given keys, or none if ``False``.

        Returns:
            The numbers, NaN where undefined. Those of the summary have their keys (``AP``), counts begin with
            ``counts/`` (``counts/images``), and those of a class end with its name (``AP/person``). A class whose name
            is empty, or that of another class, has its id, too: ``AP/person#7``.

        Raises:
            ValueError: If the summary lacks a key of ``per_class``.
        """
        from ioukit.evaluation.class_results import flat_metrics  # noqa: PLC0415 - evaluating does not need it

        return flat_metrics(self.protocol, self.summary, self.counts, self.per_class, per_class)

    def to_markdown(self, *, title: str | None = None, worst: int = 10) -> str:
        """The numbers, the worst classes and the notes as Markdown, see :func:`ioukit.report.markdown_summary`."""
        text: str = importlib.import_module("ioukit.report").markdown_summary(self, title=title, worst=worst)
        return text

    def log_to(
        self,
        run: Any,
        *,
        step: int | None = None,
        prefix: str = "",
        per_class: bool | Sequence[str] = True,
        figures: bool | Sequence[str] | None = None,
        report: bool | None = None,
        images: str | os.PathLike[str] | None = None,
        errors: Literal["raise", "warn"] = "warn",
        threads: int | None = None,
    ) -> Logged:
        """Send numbers, figures and the report to an experiment tracker.

        The tracker is found by the type of ``run``. None is imported for that.

        Args:
            run: Where to send: the module ``mlflow``, an ``mlflow.ActiveRun`` or ``(MlflowClient(), run_id)``; a
                ``wandb.Run``; a ``SummaryWriter`` of ``torch.utils.tensorboard`` or ``tensorboardX``; a
                ``clearml.Task``; a path that ends with ``.jsonl``, or an open text file. See
                :func:`ioukit.experiment_logs.register_tracker` for others.
            step: The epoch or iteration; ``None`` if there is only one evaluation.
            prefix: Text before every name, such as ``"val/"``.
            per_class: The numbers of each class, as in :meth:`metrics`.
            figures: ``True`` for all figures, or some of :data:`ioukit.experiment_logs.FIGURES`, or ``False``. By
                default all for trackers that show figures, and none for JSON lines. They need matplotlib.
            report: Whether to send the report, a file of HTML; by default as for ``figures``. It needs Jinja2.
            images: The folder of the photographs, for the worst images in the report and as a figure.
            errors: What happens if the tracker, a figure or the report fails. ``"warn"`` continues with a
                :class:`ioukit.experiment_logs.TrackerWarning`, so that no training ends because of a tracker;
                after an error of the tracker, nothing more is sent. ``"raise"`` raises.
            threads: How many threads; all cores if ``None``.

        Returns:
            What was sent, with the undefined metrics, which are left out: a :class:`ioukit.experiment_logs.Logged`.

        Raises:
            TypeError: If no tracker knows ``run``, or ``step`` is not a whole number.
            ValueError: If there is no such figure or key, or ``images`` is not a folder.
            ioukit.experiment_logs.TrackerError: If the tracker fails, and ``errors`` is ``"raise"``.
        """
        logged: Logged = importlib.import_module("ioukit.experiment_logs").log_evaluation(
            self,
            run,
            step=step,
            prefix=prefix,
            per_class=per_class,
            figures=figures,
            report=report,
            images=images,
            errors=errors,
            threads=threads,
        )
        return logged

    def to_pandas(
        self,
        table: TableName = "per_class",
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> pandas.DataFrame:
        """A table of the results as a data frame of pandas, one of :data:`ioukit.evaluation.TABLES`.

        The columns have stable names and types. Missing values are NaN in columns of numbers, ``pd.NA`` in columns of
        integers and flags, ``None`` in columns of text. Columns that need the data, such as boxes, have missing values
        if the evaluation holds a match table alone.

        Args:
            table: ``"summary"``, ``"per_class"``, ``"per_image"``, ``"per_detection"``, ``"per_object"``,
                ``"per_curve"`` or ``"curves"``.
            iou_threshold: One of the protocol's IoU thresholds, at which outcomes are taken; its main one if ``None``.
                Tables of curves have all if ``None``.
            area_range: Label of one of the protocol's area ranges, in the same way.
            score_threshold: Detections with this score or a higher one count; by default all of them.

        Raises:
            ModuleNotFoundError: If pandas is not installed.
            ValueError: If there is no such table, the protocol has no such threshold or area range, the score threshold
                is NaN, or the data of this evaluation is not that which was matched.
        """
        from ioukit.evaluation.tables.frames import Source, pandas_frame  # noqa: PLC0415 - as above

        return pandas_frame(table, Source(self, iou_threshold, area_range, score_threshold))

    def to_polars(
        self,
        table: TableName = "per_class",
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> polars.DataFrame:
        """The same as a data frame of Polars, see :meth:`to_pandas`. Missing values are null."""
        from ioukit.evaluation.tables.frames import Source, polars_frame  # noqa: PLC0415 - as above

        return polars_frame(table, Source(self, iou_threshold, area_range, score_threshold))

    def to_arrow(
        self,
        table: TableName = "per_class",
        *,
        iou_threshold: float | None = None,
        area_range: str | None = None,
        score_threshold: float = -math.inf,
    ) -> pyarrow.Table:
        """The same as a table of PyArrow, see :meth:`to_pandas`. Missing values are null.

        The schema holds the meaning and the unit of each column.
        """
        from ioukit.evaluation.tables.frames import Source, arrow_table  # noqa: PLC0415 - as above

        return arrow_table(table, Source(self, iou_threshold, area_range, score_threshold))

    def table(self) -> str:
        """The lines of the protocol's table; with COCO's protocol those of pycocotools, -1.000 where undefined."""
        return table(self.protocol, self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the arrays, in plain Python values, ``None`` where a number is undefined."""
        from ioukit._plain_values import plain_value, plain_values  # noqa: PLC0415 - evaluating does not need it

        fields = self.protocol.to_dict()
        return {
            "summary": plain_value(self.summary),
            "per_class": [
                {key: value for key, value in plain_values(result).items() if key != "summary"}
                | plain_value(result.summary)
                for result in self.per_class
            ],
            "settings": {"protocol": fields.pop("name"), "iou_type": self.matches.iou_type, **fields},
            "counts": dict(self.counts),
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        import json  # noqa: PLC0415 - keeps `import ioukit` fast

        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __getitem__(self, key: str) -> NoReturn:
        from ioukit._near_names import near_names  # noqa: PLC0415 - only for the message

        near = key if key in self.summary else next(iter(near_names(str(key), self.summary)), "AP")
        raise TypeError(f"an evaluation is no mapping: write summary[{near!r}]")

    def __repr__(self) -> str:
        shown = [measure.key for measure in self.protocol.measures if measure.headline and measure.quantity == "AP"]
        numbers = ", ".join(f"{key}={self.summary[key]:.4f}" for key in shown or [self.protocol.main_measure.key])
        return f"Evaluation({numbers}, {self._rows_in_words()})"

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The numbers of the summary."""
        shown = [measure.key for measure in self.protocol.measures if self.protocol.defines(measure)]
        return [{"": key, "value": self.summary[key]} for key in shown], 0

    def notebook_caption(self) -> str:
        """The rules, and how much was evaluated."""
        return f"{self.protocol.name}, {self.matches.iou_type}: {self._rows_in_words()}"

    def _rows_in_words(self) -> str:
        return f"{pluralize(self.counts['images'], 'image')}, {pluralize(self.counts['detections'], 'detection')}"
