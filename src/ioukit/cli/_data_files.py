"""Reading ground truth and detections from the files of a command, and reporting what was read."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, TypeVar

import typer

from ioukit.cli._errors import bad_input, bad_value
from ioukit.cli._output import printable
from ioukit.cli._standard_input import STANDARD_INPUT
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ioukit.cli._talk import Talk
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.datasets.columns._checks import OnInvalid

__all__ = ["check_readable_again", "read_data", "read_ground_truth", "read_side", "repaired", "size_of"]


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
    sources: Sequence[Path],
    on_invalid: OnInvalid,
    threads: int | None,
    talk: Talk,
    *,
    long: bool,
    repairs: Sequence[str] = (),
) -> tuple[GroundTruth, Detections]:
    """Reads ground truth and its detections, each in the format that recognises its path.

    Args:
        sources: The two paths.
        on_invalid: What happens to records that break the rules of the format.
        threads: How many threads; all cores if ``None``.
        talk: Where to report what was read.
        long: Whether the work may take long.
        repairs: Repairs of the data, as the option ``--repair`` takes them.

    Raises:
        typer.Exit: If a path is of no known format, or a file is invalid, after a message.
        typer.BadParameter: If a repair is unknown, or does not fit the data.
    """
    start = time.perf_counter()
    truth_path, found_path = sources
    with talk.busy(f"reading {printable(str(found_path))}", long=long):
        gt = _read(truth_path, on_invalid, threads)
        dt = _read_detections(found_path, gt, on_invalid, threads, named="images=stem" in repairs)
    if repairs:
        gt, dt = repaired(gt, dt, repairs)
    with bad_input():
        try:
            dt = dt.known_to(gt, on_invalid=on_invalid)
        except DatasetError as error:
            raise DatasetError(f"{error}; {_check_command(sources)} looks for the reason") from None
    names = [printable(str(path)) for path in sources]
    width = max(map(len, names))
    talk.say(f"read {names[0]:{width}}  {len(gt.images):,} images  {len(gt):,} boxes")
    talk.say(f"read {names[1]:{width}}  {len(dt):,} detections  {time.perf_counter() - start:.2f} s")
    for note in (*gt.notes, *dt.notes):
        talk.say(f"note {printable(note)}")
    looks_wrong = [*_what_looks_wrong(gt, dt, talk)]
    for note in looks_wrong:
        talk.say(f"note {printable(note)}")
    if looks_wrong:
        talk.say(f"hint {_check_command(sources)}  tells what the numbers would be")
    return gt, dt


def read_ground_truth(
    path: Path,
    name: str | None,
    split: str | None,
    on_invalid: OnInvalid,
    threads: int | None,
    talk: Talk,
    *,
    long: bool,
) -> tuple[GroundTruth, str]:
    """Reads a data set alone: ground truth, and the name of its format.

    Args:
        path: What to read.
        name: The name of its format; found by looking if ``None``.
        split: The split to read, for formats that have splits; their default if ``None``.
        on_invalid: What to do with invalid records.
        threads: How many threads; all cores if ``None``.
        talk: Where to report what was read.
        long: Whether reading may take seconds.

    Raises:
        typer.BadParameter: If a split is named for a format without splits. It names the option.
        typer.Exit: If the path is of no known format, or holds detections, or is invalid, after a message.
    """
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    start, shown = time.perf_counter(), printable(str(path))
    options = {} if split is None else {"split": split}
    with bad_input(), talk.busy(f"reading {shown}", long=long):
        found = datasets.find_format(path, name or _format(path)).name
        try:
            gt = datasets.read(path, found, on_invalid=on_invalid, threads=threads, **options)
        except TypeError as error:
            if split is None or "'split'" not in str(error):
                raise
            message = f"the format {found} has no splits, got {split!r}"
            raise typer.BadParameter(message, param_hint="--split") from None
        except DatasetError:
            if not _holds_detections(path, found):
                raise
            raise DatasetError(
                f"{path}: detections, not ground truth: ioukit eval GT {path} compares them with their ground truth"
            ) from None
    talk.say(
        f"read {shown}  {found}  {len(gt.images):,} images  {len(gt):,} boxes  {time.perf_counter() - start:.2f} s"
    )
    return gt, found


def _holds_detections(path: Path, name: str) -> bool:
    """Whether a path that is no ground truth can be read as detections."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    try:
        return len(datasets.read_detections(path, name)) > 0
    except (DatasetError, OSError, ValueError, TypeError):
        return False


def _check_command(sources: Sequence[Path]) -> str:
    """The command that checks these files."""
    import shlex  # noqa: PLC0415 - only for the hint

    return f"ioukit check {shlex.join(printable(str(path)) for path in sources)}"


def read_side(
    path: Path,
    ground_truth: GroundTruth | None,
    on_invalid: OnInvalid,
    threads: int | None,
    talk: Talk,
    *,
    long: bool,
) -> GroundTruth | Detections:
    """Reads ground truth, or the detections of some ground truth, which may be of images and classes that it lacks.

    Raises:
        typer.Exit: If the path is of no known format, or the file is invalid, after a message.
    """
    start = time.perf_counter()
    shown = printable(str(path))
    with talk.busy(f"reading {shown}", long=long):
        if ground_truth is None:
            data: GroundTruth | Detections = _read(path, on_invalid, threads)
        else:
            data = _read_detections(path, ground_truth, on_invalid, threads, named=True)
    rows = "boxes" if ground_truth is None else "detections"
    talk.say(f"read {shown}  {len(data):,} {rows}  {time.perf_counter() - start:.2f} s")
    for note in data.notes:
        talk.say(f"note {printable(note)}")
    return data


def _read(path: Path, on_invalid: OnInvalid, threads: int | None) -> GroundTruth:
    from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

    with bad_input():
        return datasets.read(path, _format(path), on_invalid=on_invalid, threads=threads)


def _read_detections(
    path: Path, gt: GroundTruth, on_invalid: OnInvalid, threads: int | None, *, named: bool
) -> Detections:
    """The detections; with ``named``, also COCO's results whose image ids are strings."""
    from ioukit import datasets  # noqa: PLC0415 - as above

    with bad_input():
        try:
            return datasets.read_detections(
                path, _format(path), ground_truth=gt, on_invalid=on_invalid, threads=threads
            )
        except DatasetError:
            if not named or not path.is_file():
                raise
            from ioukit.preflight import read_named_images  # noqa: PLC0415 - for files that the reader refuses

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
    from ioukit.preflight import repaired as after_repairs  # noqa: PLC0415 - for those who repair data

    with bad_input(), bad_value("--repair"):
        return after_repairs(gt, dt, repairs)  # type: ignore[return-value]


def _what_looks_wrong(gt: GroundTruth, dt: Detections, talk: Talk) -> Iterator[str]:
    """Notes about data that is valid, but probably wrong."""
    if talk.is_quiet:
        return
    from ioukit.diagnosis import diagnose  # noqa: PLC0415 - only needed for notes

    for source, diagnosis in ((gt.source, diagnose(gt)), (dt.source, diagnose(dt, reference=gt))):
        for finding in diagnosis:
            yield f"{source}: {finding.message}: {finding.hint}"


def _format(path: Path) -> str | None:
    """The format of standard input, which has no name to recognise, is COCO's JSON; ``None`` for other paths."""
    return "coco" if path == STANDARD_INPUT else None
