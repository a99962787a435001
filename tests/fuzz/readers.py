"""Fuzzes the reader of a format with atheris: whatever a file holds, it is read or refused by words.

    pip install atheris
    python tests/fuzz/readers.py FORMAT SAMPLE [--ground-truth PATH] [-max_total_time=600] [other options of libFuzzer]

SAMPLE is a file or a folder that the format can read, such as one of ``tests/data/formats_small``. In each run, one of
its files (pictures stay as they are) has other bytes: the first byte of the input chooses the file, the others are its
content. The run ends with the input that raised another error than `DatasetError`, if there is one. A run longer than 5
seconds and a process of more than 2 GiB end it, too.

With ``--ground-truth``, SAMPLE has detections, and PATH the ground truth that they belong to, in any format; the ground
truth stays as it is.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import shutil
import sys
import tempfile
import warnings
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["ioukit.datasets"]):
    from ioukit import DatasetError, GroundTruth
    from ioukit.datasets import FORMATS, Format, formats
    from ioukit.datasets import read as read_ground_truth

    # Modules of formats are imported when they are used, which would be too late to follow what runs in them.
    for module in pkgutil.iter_modules(formats.__path__, formats.__name__ + "."):
        importlib.import_module(module.name)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.malformed import damaged  # found in the folder above

PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}
LIMITS = ("-timeout=5", "-rss_limit_mb=2048", "-len_control=0", "-reduce_inputs=0")
LONGEST = 4096
"""The length of an input, in bytes; longer files are not in the corpus."""


def main() -> None:
    """Reads the arguments, writes a corpus of the sample's own files and of damaged copies, and fuzzes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("format", choices=FORMATS)
    parser.add_argument("sample", type=Path)
    parser.add_argument("--ground-truth", type=Path)
    given, options = parser.parse_known_args()
    sample: Path = given.sample
    format_ = FORMATS[given.format]
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    place = work / sample.name
    if sample.is_dir():
        shutil.copytree(sample, place)
    else:
        shutil.copy(sample, place)
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    files = [file for file in files if file.suffix.lower() not in PICTURES]
    originals = {file: file.read_bytes() for file in files}
    gt = read_ground_truth(given.ground_truth) if given.ground_truth else _ground_truth(format_, place)
    readers = [
        (format_.read if given.ground_truth is None else None, {}),
        (format_.read_detections, {"ground_truth": gt} if format_.needs_ground_truth else {}),
    ]
    corpus = work / "corpus"
    corpus.mkdir()
    for number, file in enumerate(files[:20]):
        contents = [originals[file], *(changed for _, changed in damaged(originals[file], cuts=4, places=2))]
        for version, content in enumerate(contents):
            if len(content) <= LONGEST:
                (corpus / f"{number}-{version}").write_bytes(bytes([number % 256]) + content)

    def read(data: bytes) -> None:
        file = files[(data[0] if data else 0) % len(files)]
        file.write_bytes(data[1:])
        try:
            for policy in ("error", "drop"):
                for reader, more in readers:
                    if reader is None:
                        continue
                    try:
                        reader(place, on_invalid=policy, **more)
                    except DatasetError:
                        continue
            format_.recognises(place)
        finally:
            file.write_bytes(originals[file])

    warnings.simplefilter("error")
    atheris.Setup([sys.argv[0], *LIMITS, *options, str(corpus)], read)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _ground_truth(format_: Format, place: Path) -> GroundTruth | None:
    """The ground truth in the sample, if there is one."""
    if format_.read is None:
        return None
    try:
        return format_.read(place)
    except DatasetError as error:
        sys.stderr.write(f"no ground truth in the sample: {error}\n")
        return None


if __name__ == "__main__":
    main()
