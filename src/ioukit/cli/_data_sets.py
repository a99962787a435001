"""Commands that read data sets and write one: their options, reading, writing, and the summary."""

from __future__ import annotations

import json as json_module
import os
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

import ioukit
from ioukit.cli._data_files import size_of
from ioukit.cli._errors import bad_argument, bad_input, bad_output, bad_use, bad_value
from ioukit.cli._json import JsonOutput, json_option
from ioukit.cli._output import check_output, printable
from ioukit.cli._standard_input import STANDARD_INPUT, input_files
from ioukit.cli._steps import steps

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit.cli._talk import Talk
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.datasets.columns._checks import OnInvalid

__all__ = [
    "DetectionsOption",
    "ForceOption",
    "FromOption",
    "InputPath",
    "Job",
    "OutputPath",
    "SummaryOption",
    "ToOption",
    "TruthOption",
    "convert_data",
]

_LONG_WORK = 30_000_000  # bytes of input; with more, the command shows that it is busy

InputPath: TypeAlias = Annotated[Path, typer.Argument(metavar="IN", help="The data: any known format; - is stdin.")]
OutputPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="OUT", help="The file or the folder to write. It appears complete or not at all.")
]
FromOption: TypeAlias = Annotated[
    str | None,
    typer.Option("--from", "--format", metavar="FORMAT", help="Format of the input. [default: found by looking]"),
]
ToOption: TypeAlias = Annotated[
    str | None, typer.Option("--to", metavar="FORMAT", help="Format to write. [default: that of the input]")
]
TruthOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--ground-truth", metavar="GT", help="The input is detections, and GT is their ground truth."),
]
DetectionsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--detections", help="The input is detections of a format that needs no ground truth, such as coco."),
]
ForceOption: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace OUT if it exists and is a file.")]
SummaryOption: TypeAlias = Annotated[
    JsonOutput | None, json_option("Print a summary as one JSON object; with FILE, write it there.")
]


class Job(NamedTuple):
    """What a command reads and writes, as its options say."""

    inputs: Sequence[Path]
    output: Path
    source_format: str | None
    target_format: str | None
    truth: Path | None
    """The ground truth of detections."""
    detections: bool
    """Whether the inputs are detections."""
    options: Sequence[str]
    """Arguments of the reader, each as ``name=value``."""
    force: bool
    on_invalid: OnInvalid
    threads: int | None
    json: JsonOutput | None

    @classmethod
    def of(
        cls,
        inputs: Sequence[Path],
        output: Path,
        formats: tuple[str | None, str | None],
        *,
        truth: Path | None,
        detections: bool = False,
        options: Sequence[str] | None,
        force: bool,
        on_invalid: OnInvalid,
        threads: int | None,
        json: JsonOutput | None,
    ) -> Job:
        """The job of a command; ``formats`` are those of the inputs and of the output."""
        paths = input_files(*inputs, *([truth] if truth else []))
        read, gt = (paths[:-1], paths[-1]) if truth else (paths, None)
        return cls(read, output, *formats, gt, detections, options or [], force, on_invalid, threads, json)


def convert_data(
    job: Job,
    talk: Talk,
    change: Callable[[Sequence[Any], GroundTruth | None], GroundTruth | Detections],
    words: str = "",
    *,
    check_ids: bool = True,
) -> None:
    """Reads the inputs, changes them, writes the result and reports it.

    Args:
        job: What the options say.
        talk: Where lines go.
        change: Makes the result of the data sets that were read, and of the ground truth of detections. Its
            `ValueError` is the user's.
        words: What it does, for the bar; empty if it does nothing.
        check_ids: Whether all detections must be of images and classes of their ground truth.

    Raises:
        typer.Exit: If something cannot be read or written, after a message.
    """
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    start = time.perf_counter()
    is_detections = job.detections or job.truth is not None
    with bad_use():
        formats = [_format_of(path, job.source_format) for path in job.inputs]
        options = [_options(job.options, name, is_detections=is_detections) for name in formats]
        target = job.target_format or formats[0]
        _check_target(job, target, is_detections=is_detections)
    every = [*job.inputs, *([job.truth] if job.truth else [])]
    long = size_of(every) > _LONG_WORK or any(path.is_dir() for path in every)
    common: dict[str, Any] = {"on_invalid": job.on_invalid, "threads": job.threads}
    gt, read = None, []
    with steps(talk, len(every) + 1 + bool(words), long=long) as step:
        with bad_input():
            if job.truth is not None:
                step(f"reading {printable(str(job.truth))}")
                gt = datasets.read(job.truth, "coco" if job.truth == STANDARD_INPUT else None, **common)
            for path, name, given in zip(job.inputs, formats, options, strict=True):
                step(f"reading {printable(str(path))}")
                with bad_argument("--option") if given else nullcontext():
                    data = _read(path, name, {**common, **given}, gt, is_detections=is_detections)
                if gt is not None and check_ids and isinstance(data, datasets.Detections):
                    data = data.known_to(gt, on_invalid=job.on_invalid)
                read.append(data)
        if words:
            step(words)
        with bad_use():
            made = change(read, gt)
        step(f"writing {printable(str(job.output))}")
        with bad_input():
            extra = {"ground_truth": gt} if is_detections else {}
            lost = datasets.write(made, job.output, target, **extra)
    _report(job, talk, (formats, target), read, made, lost, time.perf_counter() - start)


def _options(words: Sequence[str], name: str, *, is_detections: bool) -> dict[str, Any]:
    """The arguments of the reader of a format."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    known = datasets.FORMATS[name]
    reader = known.read_detections if is_detections else known.read
    if not words or reader is None:
        return {}
    from ioukit.cli._reader_options import reader_options  # noqa: PLC0415 - for those who give options

    return reader_options(words, reader, name, "--option")


def _format_of(path: Path, name: str | None) -> str:
    from ioukit import datasets  # noqa: PLC0415 - as above

    return datasets.find_format(path, name or ("coco" if path == STANDARD_INPUT else None)).name


def _check_target(job: Job, target: str, *, is_detections: bool) -> None:
    """Refuses a format that cannot be written, and an output that exists, before the work starts."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    known = datasets.find_format(job.output, target)
    writer, suffix = (known.write_detections, known.detections_suffix) if is_detections else (known.write, known.suffix)
    if writer is None:
        able = [
            name for name, one in datasets.FORMATS.items() if (one.write_detections if is_detections else one.write)
        ]
        what = "detections" if is_detections else "ground truth"
        raise ValueError(f"{what} cannot be written in the format {target}; --to takes {', '.join(able)}")
    every = [*job.inputs, *([job.truth] if job.truth else [])]
    if suffix:
        with bad_value("OUT"):
            check_output(job.output, every)
        if job.output.exists() and not job.force:
            raise ValueError(f"{job.output} exists: --force replaces it")
    elif job.output.exists() and (not job.output.is_dir() or any(job.output.iterdir())):
        raise ValueError(f"{job.output} exists, and {target} needs a new folder: give OUT another name")
    if job.json is not None:
        job.json.check(every)
        if job.json.path is not None and os.path.realpath(job.json.path) == os.path.realpath(job.output):
            raise ValueError(f"{job.output} is the file of --json, too")


def _read(
    path: Path, name: str, options: dict[str, Any], gt: GroundTruth | None, *, is_detections: bool
) -> GroundTruth | Detections:
    from ioukit import datasets  # noqa: PLC0415 - as above

    if name in ("coco", "lvis"):  # what is written again should lose nothing; evaluation does not wait for attributes
        options = {"attributes": True, **options}
    try:
        if is_detections:
            return datasets.read_detections(path, name, ground_truth=gt, **options)
        return datasets.read(path, name, **options)
    except ioukit.DatasetError as error:
        if not is_detections and _holds_detections(path, name):
            raise ioukit.DatasetError(
                f"{path}: expected ground truth, found detections: name their ground truth with --ground-truth; "
                "convert and merge can also do without it, with --detections"
            ) from error
        raise


def _holds_detections(path: Path, name: str) -> bool:
    from ioukit import datasets  # noqa: PLC0415 - as above

    try:
        return path.is_file() and len(datasets.read_detections(path, name)) > 0
    except (ioukit.DatasetError, OSError):
        return False


def _report(
    job: Job,
    talk: Talk,
    formats: tuple[Sequence[str], str],
    read: Sequence[GroundTruth | Detections],
    made: GroundTruth | Detections,
    lost: Sequence[str],
    seconds: float,
) -> None:
    names, target = formats
    width = max(len(printable(str(path))) for path in [*job.inputs, job.output])
    for path, data, name in zip(job.inputs, read, names, strict=True):
        talk.say(f"read  {printable(str(path)):{width}}  {_counts_text(data)}  {name}")
    for note in made.notes:
        talk.say(f"note  {printable(note)}")
    for note in lost:
        talk.say(f"lost  {printable(note)}")
    kind = f"folder of {target}" if job.output.is_dir() else target
    talk.say(f"wrote {printable(str(job.output)):{width}}  {_counts_text(made)}  {kind}  {seconds:.2f} s")
    if job.json is not None:
        summary = {
            "output": str(job.output),
            "format": target,
            **_counts(made),
            "lost": list(lost),
            "notes": list(made.notes),
            "seconds": round(seconds, 3),
        }
        with bad_output():
            job.json.write(json_module.dumps(summary), talk)


def _counts(data: GroundTruth | Detections) -> dict[str, int]:
    from ioukit.datasets import GroundTruth  # noqa: PLC0415 - as above

    if isinstance(data, GroundTruth):
        return {"images": len(data.images), "objects": len(data), "classes": len(data.categories)}
    return {"detections": len(data)}


def _counts_text(data: GroundTruth | Detections) -> str:
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    nouns = {"images": "image", "objects": "object", "classes": "class", "detections": "detection"}
    return "  ".join(pluralize(count, nouns[name]) for name, count in _counts(data).items())
