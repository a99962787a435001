"""Sending an evaluation to a tracker."""

from __future__ import annotations

import contextlib
import math
import operator
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from ioukit._checks import check_choice
from ioukit._optional import import_extra
from ioukit.experiment_logs.figures import chosen_figures, picture_of
from ioukit.experiment_logs.registry import find_tracker
from ioukit.plots.evaluation_figures import Drawer

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from ioukit.evaluation import Evaluation
    from ioukit.experiment_logs.tracker import Channel


class TrackerError(RuntimeError):
    """A tracker did not take a part of an evaluation. The cause is the error of the tracker."""


class TrackerWarning(UserWarning):
    """A part of an evaluation was not sent to a tracker."""


@dataclass(frozen=True, repr=False)
class Logged:
    """What was sent to a tracker."""

    tracker: str
    """Its name."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """The metrics, by the names that the tracker got."""
    undefined: tuple[str, ...] = ()
    """The names of the metrics that were left out because they are undefined (NaN)."""
    figures: tuple[str, ...] = ()
    """The names of the figures."""
    files: tuple[str, ...] = ()
    """The names of the files."""
    notes: tuple[str, ...] = ()
    """What was not sent, and why; and where a file is, if the tracker does not show it."""

    def __repr__(self) -> str:
        parts = [f"{len(self.numbers):,} numbers", f"{len(self.undefined):,} undefined"]
        parts += [f"{len(self.figures):,} figures", f"{len(self.files):,} files"]
        return f"Logged({self.tracker}: {', '.join(parts)}{''.join(f'; {note}' for note in self.notes)})"


def log_evaluation(
    evaluation: Evaluation,
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
    """Send an evaluation to a tracker: the function behind :meth:`ioukit.Evaluation.log_to`, which describes it."""
    check_choice("errors", errors, ("raise", "warn"))
    tracker = find_tracker(run)
    if not isinstance(prefix, str):
        raise TypeError(f"prefix must be a text, got {type(prefix).__name__}")
    try:
        step = None if step is None else operator.index(step)
    except TypeError:
        raise TypeError(f"step must be a whole number or None, got {step!r}") from None
    if images is not None and not Path(images).is_dir():
        raise ValueError(f"images must be a folder, got {str(images)!r}")
    names = chosen_figures(tracker.shows_figures if figures is None else figures, images=images is not None)
    metrics = {f"{prefix}{name}": value for name, value in evaluation.metrics(per_class=per_class).items()}

    sending = _Sending(tracker.name, raises=errors == "raise")
    try:
        with sending.taking("the run"):
            channel = tracker.channel(run, step)
        with sending.ending(channel):
            sending.send_numbers(channel, metrics)
            drawer = Drawer(evaluation, images, threads)
            sending.send_figures(channel, drawer, names, prefix, asked=bool(figures))
            if tracker.shows_figures if report is None else report:
                sending.send_report(channel, drawer, prefix, asked=bool(report))
    except TrackerError as error:
        if errors == "raise":
            raise
        sending.failures.append(str(error))
    for text in sending.failures:
        warnings.warn(text, TrackerWarning, stacklevel=3)  # the line that calls `log_to`
    return sending.logged()


class _Sending:
    """Passes parts to a channel, and remembers what was sent.

    After an error of the tracker nothing more is sent, because each further part could wait for a timeout. What cannot
    be drawn or written is left out.
    """

    def __init__(self, tracker: str, *, raises: bool) -> None:
        self.tracker, self.raises = tracker, raises
        self.sent: dict[str, float] = {}
        self.undefined: tuple[str, ...] = ()
        self.figures: list[str] = []
        self.files: list[str] = []
        self.notes: list[str] = []
        self.failures: list[str] = []

    def logged(self) -> Logged:
        numbers, notes = MappingProxyType(self.sent), (*self.notes, *self.failures)
        return Logged(self.tracker, numbers, self.undefined, tuple(self.figures), tuple(self.files), notes)

    def send_numbers(self, channel: Channel, metrics: Mapping[str, float]) -> None:
        with self.taking("the numbers"):
            names = channel.names(metrics)
            sent = {names[name]: value for name, value in metrics.items() if not math.isnan(value)}
            undefined = tuple(names[name] for name, value in metrics.items() if math.isnan(value))
            channel.numbers(sent)
            channel.undefined(undefined)
        self.sent, self.undefined = sent, undefined

    def send_figures(self, channel: Channel, drawer: Drawer, names: Sequence[str], prefix: str, *, asked: bool) -> None:
        ready = False
        if names:
            with self.making("the figures", asked=asked):
                import_extra("matplotlib", extra="plots", needed_by="log_to(figures=...)")
                ready = True
        for name in names if ready else ():
            picture = None
            with self.making(f"the figure {name}", asked=asked):
                drawn = drawer.draw(name)
                picture = drawn if isinstance(drawn, str) else picture_of(drawn)
            if isinstance(picture, str):
                self.notes.append(f"the figure {name} is left out: {picture}")
            elif picture is not None:
                with self.taking(f"the figure {name}"):
                    channel.figure(f"{prefix}{name}", picture)
                self.figures.append(f"{prefix}{name}")

    def send_report(self, channel: Channel, drawer: Drawer, prefix: str, *, asked: bool) -> None:
        from ioukit.report import write_report  # noqa: PLC0415 - only reports need it

        with tempfile.TemporaryDirectory(prefix="ioukit-") as folder:
            path = Path(folder) / "report.html"
            with self.making("the report", asked=asked):
                write_report(drawer.evaluation, path, drawer.images, threads=drawer.threads)
            if path.exists():
                with self.taking("the report"):
                    channel.file(f"{prefix}report", path)
                self.files.append(f"{prefix}report")

    @contextlib.contextmanager
    def taking(self, what: str) -> Iterator[None]:
        """Turns any error of the tracker into a `TrackerError`."""
        try:
            yield
        except Exception as error:
            raise TrackerError(f"{self.tracker} did not take {what}: {type(error).__name__}: {error}") from error

    @contextlib.contextmanager
    def making(self, what: str, *, asked: bool) -> Iterator[None]:
        """Turns an error of what is drawn or written into a failure.

        A package that is not installed is an error only if the part was asked for.
        """
        try:
            yield
        except Exception as error:
            missing = isinstance(error, ModuleNotFoundError)
            if self.raises and (asked or not missing):
                raise
            reason = "" if missing else f"{what} could not be made: {type(error).__name__}: "
            self.failures.append(f"{reason}{error}")

    @contextlib.contextmanager
    def ending(self, channel: Channel) -> Iterator[None]:
        """Closes the channel at the end; after an error its own errors are of no interest."""
        try:
            yield
        except BaseException:
            with contextlib.suppress(Exception):
                channel.close()
            raise
        with self.taking("the end of the evaluation"):
            channel.close()
        self.notes += channel.notes()
