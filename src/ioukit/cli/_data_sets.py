"""Commands that read data sets and write one: their options, reading, writing, and the summary."""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import typer

from ioukit._output import check_output, printable
from ioukit.cli._arguments import RESULTS, ThreadsOption, complete_format
from ioukit.cli._data_files import (
    OnInvalidOption,
    Opened,
    Reader,
    ReaderOptions,
    Source,
    holds_detections,
    input_files,
    open_source,
)
from ioukit.cli._errors import bad_input, bad_use, bad_value
from ioukit.cli._output import AnswerOptions, QuietOption, SummaryOption
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ioukit.cli._streams import Talk
    from ioukit.datasets import Detections, GroundTruth


InputPath: TypeAlias = Annotated[Path, typer.Argument(metavar="IN", help="The data: any known format; - is stdin.")]
OutputPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="OUT", help="The file or the folder to write. It appears complete or not at all.")
]
ToOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--to", metavar="FORMAT", autocompletion=complete_format, help="Format to write. [default: that of the input]"
    ),
]
TruthOption: TypeAlias = Annotated[
    Path | None,
    typer.Option("--ground-truth", metavar="GT", help="The input is detections, and GT is their ground truth."),
]
DetectionsOption: TypeAlias = Annotated[
    bool,
    typer.Option("--detections", help="The input is detections of a format that needs no ground truth, such as coco."),
]


class WritingOptions(NamedTuple):
    """How the inputs are read, and the output is written."""

    format: Annotated[
        str | None,
        typer.Option(
            metavar="FORMAT", autocompletion=complete_format, help="Format of the input. [default: found by looking]"
        ),
    ] = None
    options: ReaderOptions = None
    force: Annotated[
        bool, typer.Option("--force", rich_help_panel=RESULTS, help="Replace OUT if it exists and is a file.")
    ] = False
    on_invalid: OnInvalidOption = "error"
    threads: ThreadsOption = None
    json: SummaryOption = None
    quiet: QuietOption = False


# Long: reading, changing, writing and reporting share what they know of each other.
def convert_data(
    change: "Callable[[Sequence[Any], GroundTruth | None], GroundTruth | Detections]",
    inputs: "Sequence[Path]",
    output: Path,
    to: str | None,
    options: WritingOptions,
    *,
    truth: Path | None = None,
    detections: bool = False,
    doing: str = "",
    check_ids: bool = True,
) -> None:
    """Reads the inputs, changes them, writes the result and reports it.

    Args:
        change: Makes the result of the data sets that were read, and of the ground truth of detections. Its
            `ValueError` is the user's.
        inputs: What to read; ``-`` is standard input.
        output: What to write.
        to: The format to write; that of the input if ``None``.
        options: How to read and write.
        truth: The ground truth of the inputs, if they are detections.
        detections: Whether the inputs are detections without ground truth.
        doing: What `change` does, for the bar; empty if it does nothing.
        check_ids: Whether all detections must be of images and classes of their ground truth.

    Raises:
        typer.Exit: If something cannot be read or written, after a message.
    """
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    start = time.perf_counter()
    answer = AnswerOptions(options.json, options.quiet)
    talk = answer.talk()
    every = input_files(*inputs, *([truth] if truth else []))
    is_detections = detections or truth is not None
    with bad_use():
        sources = [Source(path, options.format, options.options) for path in every[: len(inputs)]]
        opened = [open_source(source, detections=is_detections) for source in sources]
        of_truth = None if truth is None else open_source(Source(every[-1]))
        target = to or opened[0].format.name
        check_target(output, target, every, force=options.force, is_detections=is_detections)
        answer.check(every)
        if answer.file is not None and os.path.realpath(answer.file) == os.path.realpath(output):
            raise ValueError(f"{output} is the file of --json, too")
    reader = Reader(options.on_invalid, options.threads, talk)
    gt, read = None, []
    with talk.busy("", steps=len(every) + 1 + bool(doing)) as step:
        with bad_input():
            if of_truth is not None:
                step(f"reading {printable(str(every[-1]))}")
                gt = of_truth.read(reader)
            for one in opened:
                step(f"reading {printable(str(one.source.path))}")
                data = _read(one, reader, gt, is_detections=is_detections)
                if gt is not None and check_ids and isinstance(data, datasets.Detections):
                    data = data.known_to(gt, on_invalid=options.on_invalid)
                read.append(data)
        if doing:
            step(doing)
        with bad_use():
            made = change(read, gt)
        step(f"writing {printable(str(output))}")
        with bad_input():
            extra = {"ground_truth": gt} if is_detections else {}
            lost = datasets.write(made, output, target, **extra)
    asked = _read_when_asked(made, output, target)
    seconds = time.perf_counter() - start
    _say(talk, [(one.source.path, one.format.name) for one in opened], read, output, target, made, lost, asked, seconds)
    summary = {
        "output": str(output),
        "format": target,
        **_counts(made),
        "lost": list(lost),
        "notes": [*made.notes, *asked],
        "seconds": round(seconds, 3),
    }
    answer.give(None, lambda: json.dumps(summary), talk)


def check_target(output: Path, target: str, inputs: "Sequence[Path]", *, force: bool, is_detections: bool) -> None:
    """Refuses a format that cannot be written, and an output that exists, before the work starts."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    known = datasets.find_format(output, target)
    writer, suffix = (known.write_detections, known.detections_suffix) if is_detections else (known.write, known.suffix)
    if writer is None:
        able = [
            name for name, one in datasets.FORMATS.items() if (one.write_detections if is_detections else one.write)
        ]
        what = "detections" if is_detections else "ground truth"
        raise ValueError(f"{what} cannot be written in the format {target}; --to takes {', '.join(able)}")
    if suffix:
        with bad_value("OUT"):
            check_output(output, inputs)
        if output.exists() and not force:
            raise ValueError(f"{output} exists: --force replaces it")
    elif output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise ValueError(f"{output} exists, and {target} needs a new folder: give OUT another name")


def _read(
    opened: Opened, reader: Reader, gt: "GroundTruth | None", *, is_detections: bool
) -> "GroundTruth | Detections":
    if opened.format.name in ("coco", "lvis"):  # what is written again should lose nothing, but evaluation is quicker
        opened = opened._replace(arguments={"attributes": True, **opened.arguments})
    try:
        return opened.read_detections(reader, gt) if is_detections else opened.read(reader)
    except DatasetError as error:
        path = opened.source.path
        if not is_detections and holds_detections(path, opened.format.name):
            raise DatasetError(
                f"{path}: expected ground truth, found detections: name their ground truth with --ground-truth; "
                "convert and merge can also do without it, with --detections"
            ) from error
        raise


def _read_when_asked(made: "GroundTruth | Detections", output: Path, target: str) -> list[str]:
    """A note about flags that COCO's files hold, but that are read from them with an option alone.

    A protocol that ignores objects with such a flag, as KITTI and ICDAR 2015 do, else has other numbers than before.
    """
    if target not in ("coco", "lvis"):
        return []
    read_anyway = {"crowd", "ignore", "without_area", "without_keypoints"}
    if target == "coco":
        read_anyway.remove("ignore")
    flags = [name for name, flag in getattr(made, "flags", {}).items() if name not in read_anyway and flag.any()]
    if not flags:
        return []
    option = "--gt-option attributes=true (attributes=True in Python)"
    named = ", ".join(flags)
    return [f"{output}: flags of objects are attributes there ({named}): a protocol that asks for them needs {option}"]


def _say(
    talk: "Talk",
    sources: "Sequence[tuple[Path, str]]",
    read: "Sequence[GroundTruth | Detections]",
    output: Path,
    target: str,
    made: "GroundTruth | Detections",
    lost: "Sequence[str]",
    asked: "Sequence[str]",
    seconds: float,
) -> None:
    """Says what was read and written, and what the files do not hold."""
    width = max(len(printable(str(path))) for path in [*(path for path, _ in sources), output])
    for (path, name), data in zip(sources, read, strict=True):
        talk.say(f"read  {printable(str(path)):{width}}  {_counts_text(data)}  {name}")
    for note in (*made.notes, *asked):
        talk.say(f"note  {printable(note)}")
    for note in lost:
        talk.say(f"lost  {printable(note)}")
    kind = f"folder of {target}" if output.is_dir() else target
    talk.say(f"wrote {printable(str(output)):{width}}  {_counts_text(made)}  {kind}  {seconds:.2f} s")


def _counts(data: "GroundTruth | Detections") -> dict[str, int]:
    from ioukit.datasets import GroundTruth  # noqa: PLC0415 - as above

    if isinstance(data, GroundTruth):
        return {"images": len(data.images), "objects": len(data), "classes": len(data.categories)}
    return {"detections": len(data)}


def _counts_text(data: "GroundTruth | Detections") -> str:
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    nouns = {"images": "image", "objects": "object", "classes": "class", "detections": "detection"}
    return "  ".join(pluralize(count, nouns[name]) for name, count in _counts(data).items())
