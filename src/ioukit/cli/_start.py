"""The start of a command: what should begin before NumPy and Typer are imported."""

from __future__ import annotations

import atexit
import gc
import os
import signal
import sys
from typing import TYPE_CHECKING, NoReturn

from ioukit.datasets.reading_ahead import KINDS_OF_MASKS, ReadingAhead

if TYPE_CHECKING:
    from collections.abc import Sequence


@atexit.register
def _leave_cycles() -> None:
    """Python looks for cycles among all objects when it ends. The system takes the memory back anyway.

    Without this, `ioukit eval` of examples/coco_val2017_100 takes 168 ms of CPU time instead of 145 ms (medians of 40
    processes). Without the other switch below, it takes 170 ms. A third one, no collector during the imports, gained
    nothing. What PyTorch imports (Triton, by nanobind) prints thirty lines about objects that are left.
    """
    if "torch" not in sys.modules:
        gc.freeze()


def main() -> NoReturn:
    """Runs the command that `sys.argv` names and exits."""
    words = sys.argv[1:]
    if words[:1] == ["eval"] and "numpy" not in sys.modules:
        # An evaluation needs no linear algebra. The threads of OpenBLAS would wait for work on the cores that read.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        masks = not KINDS_OF_MASKS.isdisjoint(word.removeprefix("--iou-type=") for word in words)
        with ReadingAhead(*_files(words), threads=None, masks=masks):
            from ioukit.cli._app import run  # noqa: PLC0415 - the files are read meanwhile

            run(words)
    except KeyboardInterrupt:  # during the imports: a command that has begun ends by itself
        raise SystemExit(128 + signal.SIGINT) from None
    except MemoryError as error:
        # Python's own says nothing, NumPy's says how much it asked for.
        what = f": {error}" if str(error) not in ("", "not enough memory") else ""
        sys.stderr.write(f"Error: not enough memory{what}\n")
        raise SystemExit(2) from None


def _files(words: Sequence[str]) -> tuple[str | None, str | None]:
    """The two files that `ioukit eval` is about to read, as far as a look at the command line tells."""
    if words[:1] != ["eval"] or len(words) < 3 or any(word.startswith("--threads") for word in words):
        return None, None
    return words[1], words[2]
