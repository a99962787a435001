"""`ioukit eval --memory`, `--work`, `--on` and `--plan`: an evaluation in parts, which need not fit in memory."""

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from ioukit._output import printable
from ioukit.cli._data_files import Reader, Source
from ioukit.cli._errors import bad_input, bad_use, bad_value, missing_extra
from ioukit.cli._rules import chosen_classes
from ioukit.cli._streams import print_result

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.evaluation import Evaluation, Protocol
    from ioukit.evaluation.kinds import Kind
    from ioukit.scale.memory import Analysis


_NEAR = 0.1  # for error kinds and the confusion matrix, as the report and --errors need them


class PartsOptions(NamedTuple):
    """Whether and how an evaluation is done in parts. Any of the options asks for it."""

    memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="Evaluate in parts and stay under this memory: 2GB, 500MB. DT is a Parquet, CSV, JSON lines or COCO "
            "file, or a folder or pattern of Parquet files.",
        ),
    ] = None
    work: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Evaluate in parts and keep what is done in this folder: the same command goes on after an "
            "interruption.",
        ),
    ] = None
    plan: Annotated[
        bool,
        typer.Option(
            "--plan", help="Print the parts, memory, disk and time that an evaluation in parts would take, and stop."
        ),
    ] = False
    on: Annotated[
        Literal["local", "ray"] | None,
        typer.Option(
            help="Evaluate in parts, on this machine or as tasks on a Ray cluster. There, DT is a place that all nodes "
            "see, such as s3://bucket/results, and --memory is that of each task."
        ),
    ] = None
    address: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="The address of the Ray cluster. [default: RAY_ADDRESS, or Ray on this machine, started for the "
            "command]",
        ),
    ] = None
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=0, help="End a run on Ray with an error after this time.")
    ] = None

    @property
    def given(self) -> bool:
        """Whether one of the options is given."""
        return self != PartsOptions()

    def check(self, kind: "Kind", others: "Mapping[str, Any]") -> None:
        """Refuses options that need all detections in memory, and kinds of regions but boxes.

        Raises:
            typer.BadParameter: If one of them is given; it names the option.
        """
        if not self.given:
            return
        if kind.name != "bbox":
            raise typer.BadParameter(f"only bbox can be evaluated in parts, got {kind.name}", param_hint="--iou-type")
        for name, value in others.items():
            if value:
                raise typer.BadParameter(
                    "cannot be used with --memory, --work, --on and --plan: the detections are read in parts",
                    param_hint=name,
                )
        if self.on != "ray":
            for name in ("address", "timeout"):
                if getattr(self, name) is not None:
                    raise typer.BadParameter("needs --on ray", param_hint=f"--{name}")
        from ioukit.scale.memory import parsed_memory  # noqa: PLC0415 - only runs in parts need it

        with bad_value("--memory"):
            parsed_memory(self._memory())

    def _memory(self) -> str:
        return "2GB" if self.memory is None else self.memory

    def evaluate(
        self,
        sources: "Sequence[Source]",
        rules: "Protocol",
        classes: list[str] | None,
        reader: Reader,
        analyses: "Sequence[Analysis]",
    ) -> "tuple[Evaluation, float]":
        """The evaluation, and when the ground truth was read. With ``--plan``, the plan is printed instead.

        ``analyses`` are those of :func:`ioukit.scale.evaluate`.

        Raises:
            typer.Exit: If data is invalid or a file cannot be read or written, after a message; or after the plan.
        """
        from ioukit import scale  # noqa: PLC0415 - only runs in parts need it
        from ioukit.scale.requests import check_ground_truth  # noqa: PLC0415 - as above

        with bad_input():
            check_ground_truth(sources[0].path)
        gt, _ = reader.ground_truth(sources[0])
        read, detections = time.perf_counter(), _address(sources[1].path)
        options: dict[str, Any] = {
            "categories": chosen_classes(classes, gt.categories, rules),
            "near": _NEAR if {"errors", "report"} & {*analyses} else None,
            "analyses": analyses,
            "memory": self._memory(),
            "threads": reader.threads,
        }
        with missing_extra(), bad_use():
            if self.plan:
                print_result(str(scale.plan(gt, detections, rules, **options)))
                raise typer.Exit
            on_ray = self.on == "ray"
            if on_ray:
                options |= {"on": "ray", "address": self.address, "timeout": self.timeout}
            with (
                bad_input(*([MemoryError] if on_ray else [])),
                reader.talk.busy(f"evaluating {printable(detections)} in parts"),
            ):
                evaluation = scale.evaluate(gt, detections, rules, work=self.work, **options)
        for note in evaluation.notes_on_reading:
            if note not in gt.notes:  # those are said
                reader.talk.say(f"note {printable(note)}")
        return evaluation, read


def _address(path: Path) -> str:
    """The text that a user wrote: a path has lost a slash of an address such as ``s3://bucket/results``."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?!/)", r"\1://", str(path))


_TABLES = {"Parquet": (".parquet", ".parq", ".pq"), "Arrow": (".arrow", ".feather", ".ipc"), "CSV": (".csv", ".tsv")}


def with_hint(sources: "Sequence[Source]") -> list[Source]:
    """Ground truth and detections: a folder of tables, which only an evaluation in parts reads, is told so."""
    ground_truth, detections = sources
    return [ground_truth, detections._replace(hint=_hint_at_parts)]


def _hint_at_parts(path: Path) -> str | None:
    ends = {file.suffix.lower() for file in path.rglob("*")} if path.is_dir() else set()
    kind = next((name for name, of_kind in _TABLES.items() if ends & set(of_kind)), None)
    return kind and f"{path}: a folder with {kind} files is read in parts: add --memory 2GB"
