"""Reading ground truth and detections from the files of a command, and reporting what was read.

Owns: the arguments and options that name files and say how they are read (`ReadingOptions`), ``-`` for standard input,
and the lines about what was read. Does not own: formats and their checks (`ioukit.datasets`), repairs and diagnoses
(`ioukit.checks`), nor the values of `--gt-option` (`_reader_options.py`).

Cut here because all commands must say the same about the same file: which option names a wrong argument, what to do if
a file holds detections in place of ground truth, and which command finds the reason of an error. The readers are
imported when a file is read, as `ioukit --help` must not wait for them.
"""

import os
import time
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar

import typer

from ioukit._output import printable
from ioukit.cli._arguments import READING, complete_format
from ioukit.cli._errors import bad_argument, bad_input, bad_value
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ioukit.checks import ComparedReadings
    from ioukit.cli._streams import Talk
    from ioukit.datasets import Detections, Format, GroundTruth


STANDARD_INPUT = Path("/dev/stdin")

OnInvalid: TypeAlias = Literal["error", "drop", "pycocotools"]
"""What to do with a record that breaks the rules of the format."""

GroundTruthPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="GT", help="Ground truth: a COCO file, or data of another known format; - is stdin.")
]
DetectionsPath: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DT", help="Detections: COCO results, or data of another known format; - is stdin.")
]
ReaderOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE",
        rich_help_panel=READING,
        help="An argument of the reader of the format: split=train, names=cat,dog or names=@FILE. Can be repeated.",
    ),
]
OnInvalidOption: TypeAlias = Annotated[
    OnInvalid,
    typer.Option(
        rich_help_panel=READING,
        help="A bad record: stop at it, drop and count it, or do as pycocotools does.",
        show_choices=True,
    ),
]


def _check_repairs(repairs: list[str] | None) -> list[str] | None:
    """Refuses an unknown repair before anything is read."""
    if repairs:
        from ioukit.checks import Repair  # noqa: PLC0415 - for those who repair data

        with bad_input(), bad_value("--repair"):
            for text in repairs:
                Repair.parse(text)
    return repairs


RepairOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--repair",
        callback=_check_repairs,
        metavar="[gt:]NAME[=VALUE]",
        rich_help_panel=READING,
        help="Read the data in another way, as `ioukit check` suggests: boxes=xyxy, gt:boxes=cxcywh@classes=3, "
        "units=fractions, classes=-1, images=stem, duplicates and others. Can be repeated.",
    ),
]


class Source(NamedTuple):
    """A path to read, and what the options of a command say about it."""

    path: Path
    format: str | None = None
    """The name of its format; found by looking if ``None``."""
    words: "Sequence[str] | None" = None
    """Arguments of the reader, each as ``name=value``."""
    format_option: str = "--format"
    words_option: str = "--option"
    hint: "Callable[[Path], str | None]" = lambda _: None
    """What to say instead, if no format recognises the path."""


class ReadingOptions(NamedTuple):
    """How ground truth and detections are read."""

    gt_format: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", autocompletion=complete_format, help="Format of the ground truth. [default: found]"
        ),
    ] = None
    dt_format: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=complete_format, help="Format of the detections. [default: found]"),
    ] = None
    gt_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An argument of the reader of the ground truth, such as split=train. Can be repeated.",
        ),
    ] = None
    dt_option: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUE",
            help="An argument of the reader of the detections: boxes=xyxy, names=cat,dog or names=@FILE. "
            "Can be repeated.",
        ),
    ] = None
    on_invalid: OnInvalidOption = "error"

    def sources(self, paths: "Sequence[Path]") -> list[Source]:
        """Ground truth and detections, or the first of them, with what the options say about each."""
        sides = [("gt", self.gt_format, self.gt_option), ("dt", self.dt_format, self.dt_option)]
        return [
            Source(path, name, words, f"--{side}-format", f"--{side}-option")
            for path, (side, name, words) in zip(paths, sides, strict=False)
        ]

    def reader(self, threads: int | None, talk: "Talk") -> "Reader":
        """What reads the sources, and reports it."""
        return Reader(self.on_invalid, threads, talk)


def input_files(*paths: Path) -> "Sequence[Path]":
    """The files to read for these arguments: ``-`` means standard input, which can be read once.

    Raises:
        typer.BadParameter: If two arguments are ``-``, or the system has no file for standard input (Windows).
    """
    asked = sum(str(path) == "-" for path in paths)
    if asked > 1:
        raise typer.BadParameter("- (standard input) stands for one file, got it twice")
    if asked and not os.path.exists(STANDARD_INPUT):
        raise typer.BadParameter("- (standard input) cannot be read on this system: name a file")
    return [STANDARD_INPUT if str(path) == "-" else path for path in paths]


def with_attributes(source: Source) -> Source:
    """The source; of a file of COCO, further values of images and annotations are read, too."""
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    words = list(source.words or ())
    found_by_looking = source.path.is_file() or source.path.is_dir()  # a pipe can be read once
    name = source.format or (datasets.find_format(source.path, None).name if found_by_looking else None)
    if name != "coco" or any(word.startswith("attributes=") for word in words):
        return source
    return source._replace(words=[*words, "attributes=true"])


def check_readable_again(paths: "Sequence[Path]", needed_by: str) -> None:
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


class Reader(NamedTuple):
    """Reads files, and reports what was read."""

    on_invalid: OnInvalid
    """What happens to records that break the rules of the format."""
    threads: int | None
    """How many threads; all cores if ``None``."""
    talk: "Talk"
    ranks: bool = True
    """Whether a note of :meth:`pair` says that nothing ranks detections without scores."""

    def pair(
        self, sources: "Sequence[Source]", *, repairs: "Sequence[str]" = (), known: "GroundTruth | None" = None
    ) -> "tuple[GroundTruth, Detections]":
        """Reads ground truth and its detections, each in the format that recognises its path.

        Args:
            sources: The two paths, with their formats and options.
            repairs: Repairs of the data, as the option ``--repair`` takes them.
            known: The ground truth, if an earlier call has read it: it is not read again, and nothing is said about it.

        Raises:
            typer.Exit: If a path is of no known format, a file is invalid, or a format or an argument of a reader is
                unknown or does not fit, after a message.
            typer.BadParameter: If a repair is unknown, or does not fit the data.
        """
        from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

        start, talk = time.perf_counter(), self.talk
        paths = [source.path for source in sources]
        opened = [open_source(sources[0]), open_source(sources[1], detections=True)]
        with talk.busy(f"reading {printable(str(paths[1]))}"):
            with bad_input(), _asks_whether_swapped(*sources[:2]):
                gt = opened[0].read(self) if known is None else known
            with bad_input(), _asks_whether_swapped(*sources[:2]):
                dt = opened[1].read_detections(self, gt)
        if repairs:
            gt, dt = repaired(gt, dt, repairs)
        with bad_input():
            try:
                dt = dt.known_to(gt, on_invalid=self.on_invalid)
            except DatasetError as error:
                raise DatasetError(f"{error}; {_check_command(sources)} looks for the reason") from None
        dt = dt if self.ranks else dt.for_counts()
        names = [printable(str(path)) for path in paths]
        width, format_width = max(map(len, names)), max(len(one.format.name) for one in opened)
        shown = [f"{name:{width}}  {one.format.name:{format_width}}" for name, one in zip(names, opened, strict=True)]
        if known is None:
            talk.say(f"read {shown[0]}  {pluralize(len(gt.images), 'image')}  {pluralize(len(gt), 'box')}")
        talk.say(f"read {shown[1]}  {pluralize(len(dt), 'detection')}  {time.perf_counter() - start:.2f} s")
        looks_wrong = () if talk.is_quiet else _what_looks_wrong(gt, dt)
        for note in (*(gt.notes if known is None else ()), *dt.notes, *looks_wrong):
            talk.say(f"note {printable(note)}")
        if looks_wrong:
            talk.say(f"hint {_check_command(sources)}  tells what the numbers would be")
        return gt, dt

    def ground_truth(self, source: Source, *, split: str | None = None) -> "tuple[GroundTruth, str]":
        """Reads a data set alone: ground truth, and the name of its format.

        Args:
            source: What to read.
            split: The split to read, for formats that have splits; their default if ``None``.

        Raises:
            typer.Exit: If the path is of no known format, holds detections or is invalid, or if a format or an argument
                of a reader is unknown or does not fit, such as a split for a format without splits; after a message.
        """
        from ioukit._checks import pluralize  # noqa: PLC0415 - loads NumPy

        start, path, shown = time.perf_counter(), source.path, printable(str(source.path))
        opened = open_source(source)
        name = opened.format.name
        if split is not None:
            of_split = open_source(Source(path, name, [f"split={split}"], words_option="--split"))
            opened = opened._replace(arguments={**opened.arguments, **of_split.arguments})
        with bad_input(), self.talk.busy(f"reading {shown}"):
            gt = opened.read_alone(self)
        self.talk.say(
            f"read {shown}  {name}  {pluralize(len(gt.images), 'image')}  {pluralize(len(gt), 'box')}  "
            f"{time.perf_counter() - start:.2f} s"
        )
        return gt, name

    def side(
        self,
        source: Source,
        ground_truth: "GroundTruth | None",
        *,
        alone: bool = False,
        count: bool = False,
        pair: "Sequence[Source]" = (),
    ) -> "GroundTruth | Detections":
        """Reads ground truth, or the detections of some ground truth, which may be of images and classes that it lacks.

        Args:
            source: What to read.
            ground_truth: The ground truth of the detections; ``None`` to read ground truth.
            alone: Whether ground truth is all that was given, so that it is not exchanged with detections.
            count: Whether the message about an invalid record also says how many there are, for commands with the
                option ``--on-invalid``. The file is then read again.
            pair: Ground truth and detections, if both were given: the message asks whether they are swapped.

        Raises:
            typer.Exit: If the path is of no known format, the file is invalid, or a format or an argument of a reader
                is unknown or does not fit, after a message.
        """
        start, shown = time.perf_counter(), printable(str(source.path))
        opened = open_source(source, detections=ground_truth is not None)
        data: GroundTruth | Detections
        with bad_input(), self.talk.busy(f"reading {shown}"):

            def read(reader: Reader) -> "GroundTruth | Detections":
                if ground_truth is not None:
                    return opened.read_detections(reader, ground_truth)
                return opened.read(reader)

            try:
                data = read(self)
            except DatasetError as error:
                if alone:
                    opened.refuse_detections()
                words = _whether_swapped(error, *pair) or (self._of_how_many(source, read) if count else "")
                raise DatasetError(f"{error}{words}") from None
        rows = "boxes" if ground_truth is None else "detections"
        self.talk.say(f"read {shown}  {opened.format.name}  {len(data):,} {rows}  {time.perf_counter() - start:.2f} s")
        for note in data.notes:
            self.talk.say(f"note {printable(note)}")
        return data

    def _of_how_many(self, source: Source, read: "Callable[[Reader], GroundTruth | Detections]") -> str:
        """Words about all invalid records of a file whose first one was refused; says which the first few are."""
        if self.on_invalid != "error" or not _can_be_read_again(source.path):
            return ""
        try:
            data = read(self._replace(on_invalid="drop"))
        except DatasetError:
            return ""  # the data set as a whole is refused
        if data.dropped < 2:
            return ""
        for note in data.notes:
            if "left out" in note:
                self.talk.say(f"note with --on-invalid drop: {printable(note)}")
        return f"; the first of {data.dropped:,} invalid records, which --on-invalid drop leaves out"

    def readings(self, source: Source, ground_truth: "GroundTruth") -> "ComparedReadings | None":
        """The number that each reading of detections gives, if the file and the options do not say which is meant.

        Raises:
            typer.Exit: As for :meth:`side`.
        """
        opened = open_source(source, detections=True)
        if opened.format.readings is None:
            return None
        with bad_input(), self.talk.busy(f"reading {printable(str(source.path))}"):
            return opened.readings(self, ground_truth)


class Opened(NamedTuple):
    """A path whose format is known."""

    source: Source
    format: "Format"
    arguments: dict[str, Any]
    """Arguments of the reader."""

    def read(self, reader: Reader) -> "GroundTruth":
        """The ground truth. A `ValueError` about an argument becomes one line that names its option."""
        from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

        with self._arguments_checked():
            return datasets.read(self.source.path, self.format.name, **self._options(reader))

    def read_alone(self, reader: Reader) -> "GroundTruth":
        """The ground truth, in the same way. Detections in its place are refused as such."""
        try:
            return self.read(reader)
        except DatasetError:
            self.refuse_detections()
            raise

    def refuse_detections(self) -> None:
        """Refuses a path that is no ground truth, but detections.

        Raises:
            DatasetError: If it is. The line says with which command it is compared with its ground truth.
        """
        path = self.source.path
        if holds_detections(path, self.format.name):
            raise DatasetError(
                f"{path}: detections, not ground truth: ioukit eval GT {path} compares them with their ground truth"
            ) from None

    def read_detections(self, reader: Reader, gt: "GroundTruth | None") -> "Detections":
        """The detections, in the same way."""
        from ioukit import datasets  # noqa: PLC0415 - as above

        with self._arguments_checked():
            return datasets.read_detections(
                self.source.path, self.format.name, ground_truth=gt, **self._options(reader)
            )

    def readings(self, reader: Reader, gt: "GroundTruth") -> "ComparedReadings | None":
        """What each reading of the detections gives, in the same way."""
        from ioukit.checks import compare_readings  # noqa: PLC0415 - as above

        with self._arguments_checked():
            return compare_readings(self.source.path, gt, self.format.name, **self._options(reader))

    def _options(self, reader: Reader) -> dict[str, Any]:
        return {"on_invalid": reader.on_invalid, "threads": reader.threads, **self.arguments}

    def _arguments_checked(self) -> AbstractContextManager[None]:
        return bad_argument(self.source.words_option) if self.source.words else nullcontext()


def open_source(source: Source, *, detections: bool = False) -> Opened:
    """Finds the format of a path, and the arguments of its reader.

    Raises:
        typer.Exit: If the path is of no known format, the format or an argument is unknown, or a value is of another
            kind, after a message.
    """
    from ioukit import datasets  # noqa: PLC0415 - as above

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
        return Opened(source, found, {})
    from ioukit.cli._reader_options import reader_options  # noqa: PLC0415 - for those who give options

    of_all = None if detections else datasets.read
    words = reader_options(source.words, reader, found.name, source.words_option, of_all=of_all)
    return Opened(source, found, words)


def _can_be_read_again(path: Path) -> bool:
    """Whether a path is no pipe, which can be read once."""
    return path.is_file() or path.is_dir()


@contextmanager
def _asks_whether_swapped(*pair: Source) -> "Iterator[None]":
    """Adds the words of `_whether_swapped` to an error about a file."""
    try:
        yield
    except DatasetError as error:
        raise DatasetError(f"{error}{_whether_swapped(error, *pair)}") from None


def _whether_swapped(error: DatasetError, *pair: Source) -> str:
    """A question, if ground truth and detections that are refused can be read when they are exchanged.

    Each format would have its own words about lines of the other side. This question is about all formats, and asked
    only if the answer is likely yes: detections in the place of ground truth have scores when they are read as such.
    """
    if len(pair) != 2 or "swapped?" in str(error) or not all(_can_be_read_again(one.path) for one in pair):
        return ""
    from ioukit import datasets  # noqa: PLC0415 - as above

    ground_truth, detections = pair
    try:
        gt = datasets.read(detections.path, detections.format)
        dt = datasets.read_detections(ground_truth.path, ground_truth.format, ground_truth=gt)
    except (OSError, ValueError, TypeError):
        return ""
    return "; they can be read in the other order: are the two swapped?" if len(dt) and dt.scored else ""


def holds_detections(path: Path, name: str) -> bool:
    """Whether a path that is no ground truth can be read as detections."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    try:
        return len(datasets.read_detections(path, name)) > 0
    except (OSError, ValueError, TypeError):
        return False


def _check_command(sources: "Sequence[Source]") -> str:
    """The command that checks these files, read in the same way."""
    import shlex  # noqa: PLC0415 - only for the hint

    words = [str(source.path) for source in sources]
    for source in sources:
        words += [source.format_option, source.format] if source.format else []
        words += [word for given in source.words or () for word in (source.words_option, given)]
    return f"ioukit check {shlex.join(map(printable, words))}"


Given = TypeVar("Given", "Detections", "Detections | None")


def repaired(gt: "GroundTruth", dt: Given, repairs: "Sequence[str]") -> "tuple[GroundTruth, Given]":
    """The data after the repairs of the option ``--repair``.

    Raises:
        typer.BadParameter: If a repair is unknown, or does not fit the data.
        typer.Exit: If the file of a repair cannot be read, after a message.
    """
    from ioukit.checks import repaired as after_repairs  # noqa: PLC0415 - for those who repair data

    with bad_input(), bad_value("--repair"):
        return after_repairs(gt, dt, repairs)  # type: ignore[return-value]


def _what_looks_wrong(gt: "GroundTruth", dt: "Detections") -> tuple[str, ...]:
    """Notes about data that is valid, but probably wrong."""
    from ioukit.checks import notes_on_data  # noqa: PLC0415 - only needed for notes

    return notes_on_data(gt, dt)
