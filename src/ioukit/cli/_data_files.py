"""Reading ground truth and detections from the files of a command, and reporting what was read."""

from __future__ import annotations

import os
import time
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ioukit.cli._errors import bad_argument, bad_input, bad_value
from ioukit.cli._output import printable
from ioukit.cli._standard_input import STANDARD_INPUT
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.datasets import Detections, Format, GroundTruth
    from ioukit.datasets.columns._checks import OnInvalid

__all__ = [
    "Source",
    "check_readable_again",
    "read_data",
    "read_ground_truth",
    "read_side",
    "repaired",
    "size_of",
    "with_attributes",
]


class Source(NamedTuple):
    """A path to read, and what the options of a command say about it."""

    path: Path
    format: str | None = None
    """The name of its format; found by looking if ``None``."""
    words: Sequence[str] | None = None
    """Arguments of the reader, each as ``name=value``."""
    format_option: str = "--format"
    words_option: str = "--option"
    hint: Callable[[Path], str | None] = lambda _: None
    """What to say instead, if no format recognises the path."""


class _Opened(NamedTuple):
    """A path whose format is known."""

    source: Source
    format: Format
    arguments: dict[str, Any]
    """Arguments of the reader."""

    def reading(self) -> AbstractContextManager[None]:
        """Turns errors about the arguments of the options, and about the file, into one line."""
        return bad_argument(self.source.words_option) if self.source.words else nullcontext()


def with_attributes(source: Source) -> Source:
    """The source; of a file of COCO, further values of images and annotations are read, too."""
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    words = list(source.words or ())
    found_by_looking = source.path != STANDARD_INPUT and source.path.exists()
    name = source.format or (datasets.find_format(source.path, None).name if found_by_looking else None)
    if name != "coco" or any(word.startswith("attributes=") for word in words):
        return source
    return source._replace(words=[*words, "attributes=true"])


def size_of(paths: Sequence[Path]) -> int:
    """The bytes of all files; pipes and missing files have none."""
    return sum(path.stat().st_size for path in paths if path.is_file())


def check_readable_again(paths: Sequence[Path], needed_by: str) -> None:
    """Refuses pipes if files are read a second time.

    Args:
        paths: The files.
        needed_by: The reason for the second reading, for the message.

    Raises:
        ValueError: If one is a pipe, or standard input that is not a file.
    """
    for path in paths:
        if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
            shown = "- (standard input)" if path == STANDARD_INPUT else str(path)
            raise ValueError(f"{needed_by}, and {shown} is a pipe, which can be read once: save it, and name the file")


def read_data(
    sources: Sequence[Source],
    on_invalid: OnInvalid,
    threads: int | None,
    talk: Talk,
    *,
    long: bool,
    repairs: Sequence[str] = (),
    known: GroundTruth | None = None,
) -> tuple[GroundTruth, Detections]:
    """Reads ground truth and its detections, each in the format that recognises its path.

    Args:
        sources: The two paths, with their formats and options.
        on_invalid: What happens to records that break the rules of the format.
        threads: How many threads; all cores if ``None``.
        talk: Where to report what was read.
        long: Whether the work may take long.
        repairs: Repairs of the data, as the option ``--repair`` takes them.
        known: The ground truth, if an earlier call has read it: it is not read again, and nothing is said about it.

    Raises:
        typer.Exit: If a path is of no known format, a file is invalid, or a format or an argument of a reader is
            unknown or does not fit, after a message.
        typer.BadParameter: If a repair is unknown, or does not fit the data.
    """
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    start = time.perf_counter()
    paths = [source.path for source in sources]
    opened = [_opened(sources[0]), _opened(sources[1], detections=True)]
    with talk.busy(f"reading {printable(str(paths[1]))}", long=long):
        gt = _read(opened[0], on_invalid, threads) if known is None else known
        dt = _read_detections(opened[1], gt, on_invalid, threads, named="images=stem" in repairs)
    if repairs:
        gt, dt = repaired(gt, dt, repairs)
    with bad_input():
        try:
            dt = dt.known_to(gt, on_invalid=on_invalid)
        except DatasetError as error:
            raise DatasetError(f"{error}; {_check_command(sources)} looks for the reason") from None
    names = [printable(str(path)) for path in paths]
    width, format_width = max(map(len, names)), max(len(one.format.name) for one in opened)
    shown = [f"{name:{width}}  {one.format.name:{format_width}}" for name, one in zip(names, opened, strict=True)]
    if known is None:
        talk.say(f"read {shown[0]}  {pluralize(len(gt.images), 'image')}  {pluralize(len(gt), 'box')}")
    talk.say(f"read {shown[1]}  {pluralize(len(dt), 'detection')}  {time.perf_counter() - start:.2f} s")
    for note in (*(gt.notes if known is None else ()), *dt.notes):
        talk.say(f"note {printable(note)}")
    looks_wrong = [*_what_looks_wrong(gt, dt, talk)]
    for note in looks_wrong:
        talk.say(f"note {printable(note)}")
    if looks_wrong:
        talk.say(f"hint {_check_command(sources)}  tells what the numbers would be")
    return gt, dt


def read_ground_truth(
    source: Source, on_invalid: OnInvalid, threads: int | None, talk: Talk, *, split: str | None, long: bool
) -> tuple[GroundTruth, str]:
    """Reads a data set alone: ground truth, and the name of its format.

    Args:
        source: What to read.
        on_invalid: What to do with invalid records.
        threads: How many threads; all cores if ``None``.
        talk: Where to report what was read.
        split: The split to read, for formats that have splits; their default if ``None``.
        long: Whether reading may take seconds.

    Raises:
        typer.Exit: If the path is of no known format, holds detections or is invalid, or if a format or an argument of
            a reader is unknown or does not fit, such as a split for a format without splits; after a message.
    """
    from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

    start, path, shown = time.perf_counter(), source.path, printable(str(source.path))
    opened = _opened(source)
    if split is not None:
        of_split = _opened(Source(path, opened.format.name, [f"split={split}"], words_option="--split"))
        opened = opened._replace(arguments={**opened.arguments, **of_split.arguments})
    with bad_input(), talk.busy(f"reading {shown}", long=long):
        try:
            gt = _read_opened(opened, on_invalid, threads)
        except DatasetError:
            if not _holds_detections(path, opened.format.name):
                raise
            raise DatasetError(
                f"{path}: detections, not ground truth: ioukit eval GT {path} compares them with their ground truth"
            ) from None
    talk.say(
        f"read {shown}  {opened.format.name}  {pluralize(len(gt.images), 'image')}  {pluralize(len(gt), 'box')}  "
        f"{time.perf_counter() - start:.2f} s"
    )
    return gt, opened.format.name


def _holds_detections(path: Path, name: str) -> bool:
    """Whether a path that is no ground truth can be read as detections."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    try:
        return len(datasets.read_detections(path, name)) > 0
    except (DatasetError, OSError, ValueError, TypeError):
        return False


def _check_command(sources: Sequence[Source]) -> str:
    """The command that checks these files, read in the same way."""
    import shlex  # noqa: PLC0415 - only for the hint

    words = [str(source.path) for source in sources]
    for source in sources:
        words += [source.format_option, source.format] if source.format else []
        words += [word for given in source.words or () for word in (source.words_option, given)]
    return f"ioukit check {shlex.join(map(printable, words))}"


def read_side(
    source: Source,
    ground_truth: GroundTruth | None,
    on_invalid: OnInvalid,
    threads: int | None,
    talk: Talk,
    *,
    long: bool,
) -> GroundTruth | Detections:
    """Reads ground truth, or the detections of some ground truth, which may be of images and classes that it lacks.

    Raises:
        typer.Exit: If the path is of no known format, the file is invalid, or a format or an argument of a reader is
            unknown or does not fit, after a message.
    """
    start = time.perf_counter()
    shown = printable(str(source.path))
    opened = _opened(source, detections=ground_truth is not None)
    with talk.busy(f"reading {shown}", long=long):
        if ground_truth is None:
            data: GroundTruth | Detections = _read(opened, on_invalid, threads)
        else:
            data = _read_detections(opened, ground_truth, on_invalid, threads, named=True)
    rows = "boxes" if ground_truth is None else "detections"
    talk.say(f"read {shown}  {opened.format.name}  {len(data):,} {rows}  {time.perf_counter() - start:.2f} s")
    for note in data.notes:
        talk.say(f"note {printable(note)}")
    return data


def _opened(source: Source, *, detections: bool = False) -> _Opened:
    """Finds the format of a path, and the arguments of its reader.

    Raises:
        typer.Exit: If the path is of no known format, the format or an argument is unknown, or a value is of another
            kind, after a message.
    """
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    # The format of standard input, which has no name to recognise, is COCO's JSON.
    name = source.format or ("coco" if source.path == STANDARD_INPUT else None)
    with bad_input(), bad_argument(source.format_option):
        try:
            found = datasets.find_format(source.path, name)
        except DatasetError:
            hint = source.hint(source.path)
            if hint is None:
                raise
            raise DatasetError(hint) from None
    reader = found.read_detections if detections else found.read
    if reader is None or not source.words:
        return _Opened(source, found, {})
    from ioukit.cli._reader_options import reader_options  # noqa: PLC0415 - for those who give options

    return _Opened(source, found, reader_options(source.words, reader, found.name, source.words_option))


def _read(opened: _Opened, on_invalid: OnInvalid, threads: int | None) -> GroundTruth:
    with bad_input():
        return _read_opened(opened, on_invalid, threads)


def _read_opened(opened: _Opened, on_invalid: OnInvalid, threads: int | None) -> GroundTruth:
    from ioukit import datasets  # noqa: PLC0415 - as above

    options: dict[str, Any] = {"on_invalid": on_invalid, "threads": threads, **opened.arguments}
    with opened.reading():
        return datasets.read(opened.source.path, opened.format.name, **options)


def _read_detections(
    opened: _Opened, gt: GroundTruth, on_invalid: OnInvalid, threads: int | None, *, named: bool
) -> Detections:
    """The detections; with ``named``, also COCO's results whose image ids are strings."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    path = opened.source.path
    options: dict[str, Any] = {"on_invalid": on_invalid, "threads": threads, **opened.arguments}
    with bad_input():
        try:
            with opened.reading():
                return datasets.read_detections(path, opened.format.name, ground_truth=gt, **options)
        except DatasetError:
            if not named or not path.is_file():
                raise
            from ioukit.checks import read_named_images  # noqa: PLC0415 - for files that the reader refuses

            found = read_named_images(path)
            if found is None:
                raise
            return found


Given = TypeVar("Given", "Detections", "Detections | None")


def repaired(gt: GroundTruth, dt: Given, repairs: Sequence[str]) -> tuple[GroundTruth, Given]:
    """The data after the repairs of the option ``--repair``.

    Raises:
        typer.BadParameter: If a repair is unknown, or does not fit the data.
        typer.Exit: If the file of a repair cannot be read, after a message.
    """
    from ioukit.checks import repaired as after_repairs  # noqa: PLC0415 - for those who repair data

    with bad_input(), bad_value("--repair"):
        return after_repairs(gt, dt, repairs)  # type: ignore[return-value]


def _what_looks_wrong(gt: GroundTruth, dt: Detections, talk: Talk) -> Iterator[str]:
    """Notes about data that is valid, but probably wrong."""
    if talk.is_quiet:
        return
    from ioukit.checks import diagnose  # noqa: PLC0415 - only needed for notes

    for source, diagnosis in ((gt.source, diagnose(gt)), (dt.source, diagnose(dt, reference=gt))):
        for finding in diagnosis:
            yield f"{source}: {finding.message}: {finding.hint}"
