"""Fuzzes the reader of a format with atheris: whatever a file holds, it is read or refused by words.

    pip install atheris
    python tests/fuzz/readers.py FORMAT SAMPLE [-max_total_time=600] [other options of libFuzzer]

SAMPLE is a file or a folder that the format can read, such as one of ``tests/data/formats_small``. In each run, one of
its files (pictures stay as they are) has other bytes: the first byte of the input chooses the file, the others are its
content. The run ends with the input that raised another error than `DatasetError`, if there is one.
"""

from __future__ import annotations

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
    from ioukit.datasets import FORMATS, formats

    # Modules of formats are imported when they are used, which would be too late to follow what runs in them.
    for module in pkgutil.iter_modules(formats.__path__, formats.__name__ + "."):
        importlib.import_module(module.name)

PICTURES = {".jpg", ".jpeg", ".png", ".bmp", ".webp"}


def main() -> None:
    """Reads the arguments, writes a corpus of the sample's own files, and fuzzes."""
    name, sample, *options = sys.argv[1:]
    format_ = FORMATS[name]
    work = Path(tempfile.mkdtemp(prefix="fuzz-"))
    place = work / Path(sample).name
    if Path(sample).is_dir():
        shutil.copytree(sample, place)
    else:
        shutil.copy(sample, place)
    files = [place] if place.is_file() else sorted(file for file in place.rglob("*") if file.is_file())
    files = [file for file in files if file.suffix.lower() not in PICTURES]
    originals = {file: file.read_bytes() for file in files}
    gt: GroundTruth | None = None
    if format_.read is not None:
        try:
            gt = format_.read(place)
        except DatasetError as error:
            sys.stderr.write(f"no ground truth in the sample: {error}\n")
    corpus = work / "corpus"
    corpus.mkdir()
    for number, file in enumerate(files[:200]):
        (corpus / str(number)).write_bytes(bytes([number % 256]) + originals[file])

    def read(data: bytes) -> None:
        file = files[(data[0] if data else 0) % len(files)]
        file.write_bytes(data[1:])
        try:
            for policy in ("error", "drop"):
                for reader, more in (
                    (format_.read, {}),
                    (format_.read_detections, {"ground_truth": gt} if format_.needs_ground_truth else {}),
                ):
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
    atheris.Setup([sys.argv[0], *options, str(corpus)], read)
    try:
        atheris.Fuzz()
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
