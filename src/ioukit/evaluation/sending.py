"""The methods of an evaluation that rooms above it carry out: intervals, Markdown, experiment trackers."""

from __future__ import annotations

import importlib
import typing
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from ioukit.evaluation.class_results import ClassResult, ClassResults
    from ioukit.evaluation.protocols import Protocol

    class _HasNumbers(typing.Protocol):
        @property
        def protocol(self) -> Protocol: ...
        @property
        def summary(self) -> Mapping[str, float]: ...
        @property
        def counts(self) -> Mapping[str, int]: ...
        @property
        def per_class(self) -> ClassResults[ClassResult]: ...


__all__ = ["SendingMethods"]


class SendingMethods:
    """What an evaluation inherits to have intervals, and to send its numbers elsewhere.

    Statistics, pages and trackers are rooms above this one. These methods are the only door to them: they import a room
    by its name when they are called. ``tests/test_architecture.py`` lists these names, and refuses others.
    """

    def interval(
        self,
        key: str,
        *,
        level: float = 0.95,
        replicates: int = 1000,
        seed: int = 0,
        method: Literal["percentile", "bca"] = "bca",
        strata: Any = None,
        clusters: Any = None,
        threads: int | None = None,
    ) -> Any:
        """A number with its bootstrap interval, see :func:`ioukit.statistics.intervals`.

        Args:
            key: Its key, such as ``"AP"``, or ``"AP50/person"`` as in :meth:`metrics`.
            level: The probability with which the interval should hold the true number, within (0, 1).
            replicates: How many replicates of the bootstrap.
            seed: A whole number of at least 0. The same seed gives the same bits.
            method: ``"bca"`` or ``"percentile"``.
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
        found = self.intervals(
            [key],
            level=level,
            replicates=replicates,
            seed=seed,
            method=method,
            strata=strata,
            clusters=clusters,
            threads=threads,
        )
        return found[key]

    def intervals(
        self,
        keys: str | Sequence[str] | None = None,
        *,
        level: float = 0.95,
        replicates: int = 1000,
        seed: int = 0,
        method: Literal["percentile", "bca"] = "bca",
        strata: Any = None,
        clusters: Any = None,
        threads: int | None = None,
    ) -> dict[str, Any]:
        """Several numbers with their bootstrap intervals, by their keys; all of the summary if ``keys`` is ``None``.

        This costs hardly more than one of them. For the arguments and errors, see :meth:`interval`.
        """
        found: dict[str, Any] = importlib.import_module("ioukit.statistics").intervals(
            self,
            keys,
            level=level,
            replicates=replicates,
            seed=seed,
            method=method,
            strata=strata,
            clusters=clusters,
            threads=threads,
        )
        return found

    def metrics(self: _HasNumbers, *, per_class: bool | Sequence[str] = True) -> dict[str, float]:
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
        from ioukit.evaluation.metric_names import flat_metrics  # noqa: PLC0415 - evaluating does not need it

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
    ) -> Any:
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
        return importlib.import_module("ioukit.experiment_logs").log_evaluation(
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
