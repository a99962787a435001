"""Fuzzes the readers of formats with atheris: whatever a file holds, it is read or refused by words.

    pip install atheris
    python tests/fuzz/readers.py all [-max_total_time=60]
    python tests/fuzz/readers.py FORMAT [SAMPLE] [--ground-truth PATH] [-max_total_time=600]

``all`` fuzzes the readers of all formats together. SAMPLE is a file or a folder that the format can read, such as one
of ``tests/data/formats_small``; without it, a small data set is written for the ground truth and, where the format has
them, for the detections. Further options are those of libFuzzer. In each run, one of the files (pictures stay as they
are) has other bytes: the first two bytes of the input choose the file, the others are its content. The run ends with
the input that raised another error than `DatasetError`, if there is one. A run longer than 5 seconds and a process of
more than 2 GiB end it, too.

With ``--ground-truth``, SAMPLE has detections, and PATH the ground truth that they belong to, in any format; the ground
truth stays as it is.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import pkgutil
import shutil
import sys
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import atheris

with atheris.instrument_imports(include=["ioukit.datasets"]):
    from ioukit import DatasetError, GroundTruth
    from ioukit.datasets import FORMATS, Format, formats
    from ioukit.datasets import read as read_ground_truth

    # Modules of formats are imported when they are used, which would be too late to follow what runs in them.
    for module in pkgutil.iter_modules(formats.__path__, formats.__name__ + "."):
        importlib.import_module(module.name)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.label_samples import write_sample  # found in the folder above
from support.malformed import damaged

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}
LIMITS = ("-timeout=5", "-rss_limit_mb=2048", "-len_control=0", "-reduce_inputs=0")
LONGEST = 4096
"""The length of an input, in bytes; longer files are not in the corpus."""


@dataclass(frozen=True)
class Target:
    """A data set on disk, and what reads it."""

    format: Format
    place: Path
    """The file or folder."""
    readers: tuple[tuple[Callable[..., Any], dict[str, Any]], ...]
    """Functions that read the place, and their further arguments."""

    def read(self) -> None:
        """Reads the data set in every way; only `DatasetError` is expected."""
        for policy in ("error", "drop"):
            for reader, more in self.readers:
                with contextlib.suppress(DatasetError):
                    reader(self.place, on_invalid=policy, **more)
        self.format.recognises(self.place)


@dataclass(frozen=True)
class Spoiled:
    """A file that gets other bytes."""

    target: Target
    path: Path
    original: bytes


def main() -> None:
    """Reads the arguments, writes a corpus of the samples' own files and of damaged copies, and fuzzes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("format", choices=["all", *FORMATS])
    parser.add_argument("sample", type=Path, nargs="?")
    parser.add_argument("--ground-truth", type=Path)
    given, options = parser.parse_known_args()
    if given.sample is None and given.ground_truth is not None:
        parser.error("--ground-truth needs a SAMPLE")
    if given.sample is not None and given.format == "all":
        parser.error("all formats together take no SAMPLE")
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        fuzz(list(files_of(targets(given, work))), work / "corpus", options)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def targets(given: argparse.Namespace, work: Path) -> Iterator[Target]:
    """The data sets that the arguments ask for, in a folder of their own."""
    if given.sample is not None:
        yield given_sample(FORMATS[given.format], given.sample, given.ground_truth, work)
        return
    for name in FORMATS if given.format == "all" else [given.format]:
        format_, folder = FORMATS[name], work / name
        folder.mkdir()
        sample = write_sample(name, folder)
        if format_.read is not None:
            yield Target(format_, sample.ground_truth, ((format_.read, {}),))
        if sample.detections is not None and format_.read_detections is not None:
            yield Target(format_, sample.detections, ((format_.read_detections, further(format_, sample.reference)),))


def given_sample(format_: Format, sample: Path, ground_truth: Path | None, work: Path) -> Target:
    """A copy of the sample."""
    place = work / sample.name
    if sample.is_dir():
        shutil.copytree(sample, place)
    else:
        shutil.copy(sample, place)
    gt = read_ground_truth(ground_truth) if ground_truth else own_ground_truth(format_, place)
    readers: list[tuple[Callable[..., Any], dict[str, Any]]] = []
    if format_.read is not None and ground_truth is None:
        readers.append((format_.read, {}))
    if format_.read_detections is not None:
        readers.append((format_.read_detections, further(format_, gt)))
    return Target(format_, place, tuple(readers))


def further(format_: Format, gt: GroundTruth | None) -> dict[str, Any]:
    """The arguments of a reader of detections beside the path."""
    model = {"model": "qwen3-vl"} if format_.name == "answers" else {}
    return {"ground_truth": gt, **model} if format_.needs_ground_truth else {}


def own_ground_truth(format_: Format, place: Path) -> GroundTruth | None:
    """The ground truth in the sample, if there is one."""
    if format_.read is None:
        return None
    try:
        return format_.read(place)
    except DatasetError as error:
        sys.stderr.write(f"no ground truth in the sample: {error}\n")
        return None


def files_of(targets: Iterator[Target]) -> Iterator[Spoiled]:
    """The files of data sets that get other bytes."""
    for target in targets:
        within = [target.place] if target.place.is_file() else sorted(target.place.rglob("*"))
        for path in within:
            if path.is_file() and path.suffix.lower() not in PICTURES:
                yield Spoiled(target, path, path.read_bytes())


def fuzz(files: list[Spoiled], corpus: Path, options: list[str]) -> None:
    """Starts from the files and from damaged copies, and goes on until the options, or an error, end it."""
    corpus.mkdir()
    for number, file in enumerate(files):
        contents = [file.original, *(changed for _, changed in damaged(file.original, cuts=4, places=2))]
        for version, content in enumerate(contents):
            if len(content) <= LONGEST:
                (corpus / f"{number}-{version}").write_bytes(number.to_bytes(2, "little") + content)

    def run(data: bytes) -> None:
        file = files[int.from_bytes(data[:2], "little") % len(files)]
        file.path.write_bytes(data[2:])
        try:
            file.target.read()
        finally:
            file.path.write_bytes(file.original)

    warnings.simplefilter("error")
    sys.stderr.write(f"{len(files)} files of {len({file.target.format.name for file in files})} formats\n")
    atheris.Setup([sys.argv[0], *LIMITS, f"-max_len={LONGEST}", *options, str(corpus)], run)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
