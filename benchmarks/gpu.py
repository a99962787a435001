"""A GPU beside the CPU and beside torchvision, in ten minutes and one Markdown table.

    pip install 'ioukit[torch]' torchvision && python benchmarks/gpu.py --output gpu.md

Parts, each in a process of its own, so that a part that fails does not stop the others:

- machine: what `ioukit doctor --gpu` finds.
- tests: the tests that are marked ``gpu``, if pytest is installed.
- agreement: overlaps, losses with gradients, suppression, fusion and assignment on the GPU beside the CPU.
- overlaps, losses, nms: speed beside torchvision, each function plain and through `ioukit.torch.compiled`.
- detector: Darknet-53 with both heads at 416 x 416, training steps and inference.

Times are medians between CUDA events after a warm-up, in turns with the peer, and do not count the compilation. Boxes
are not checked in the measured calls, as torchvision checks none. ``--device cpu --quick`` tries the script without a
GPU; its times mean nothing. A row that says FAILED makes the exit status 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

from _gpu_rows import ENGINES, MARK, Row, print_rows, row

ROOT = Path(__file__).resolve().parent.parent

SHARES = {
    "machine": 0.06,
    "tests": 0.24,
    "agreement": 0.14,
    "overlaps": 0.16,
    "losses": 0.14,
    "nms": 0.12,
    "detector": 0.14,
}
"""The parts, and how much of the time each may take."""


HOMES = {
    **dict.fromkeys(("machine", "agreement"), "_gpu_agreement"),
    **dict.fromkeys(("overlaps", "losses", "nms", "detector"), "_gpu_speed"),
}
"""The module of each part, which only the process of that part imports."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="a PyTorch device (default: cuda)")
    parser.add_argument("--minutes", type=float, default=10.0, help="how long all parts may take (default: 10)")
    parser.add_argument("--parts", default=",".join(SHARES), help=f"some of {', '.join(SHARES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="tiny sizes and few repetitions, to try the script")
    parser.add_argument("--output", metavar="FILE", help="write the table there, not to standard output")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the part that this process runs
    options = parser.parse_args()
    if options.one is not None:
        works = importlib.import_module(HOMES[options.one]).PARTS[options.one]
        print_rows(options.one, works(options.device, options.quick))
        return
    chosen = options.parts.split(",")
    unknown = sorted(set(chosen) - set(SHARES))
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; choose from {', '.join(SHARES)}")
    rows: list[Row] = []
    for part in chosen:
        print(f"{part} ...", file=sys.stderr)
        seconds = 60 * options.minutes * SHARES[part]
        rows += tests(options.device, seconds) if part == "tests" else in_a_process(part, options, seconds)
    text = table(rows)
    if options.output is None:
        print(text, end="")
    else:
        Path(options.output).write_text(text, encoding="utf-8")
    sys.exit(any(one["failed"] for one in rows))


def in_a_process(part: str, options: argparse.Namespace, seconds: float) -> list[Row]:
    """The rows of one part; those that it wrote before it failed or ran out of time count."""
    command = [sys.executable, __file__, "--one", part, "--device", options.device, *["--quick"] * options.quick]
    rows: list[Row] = []
    start = time.monotonic()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        errors: list[str] = []
        reader = threading.Thread(target=errors.extend, args=(process.stderr,))
        reader.start()
        clock = threading.Timer(seconds, process.kill)
        clock.start()
        rows.extend(json.loads(line.removeprefix(MARK)) for line in process.stdout if line.startswith(MARK))
        process.wait()
        clock.cancel()
        reader.join()
    if process.returncode != 0:
        late = time.monotonic() - start >= seconds
        why = [line.strip() for line in errors if line.strip()][-1:] or [f"the process ended with {process.returncode}"]
        reason = f"took longer than {seconds:.0f} s" if late else why[0]
        rows.append(row(part, "the rest of this part", f"FAILED: {reason}", failed=True))
    return rows


def tests(device: str, seconds: float) -> list[Row]:
    """One row about the tests that are marked ``gpu``."""
    work = "pytest -m gpu"
    if not device.startswith("cuda"):
        return [row("tests", work, f"left out: they need a GPU, and the device is {device}")]
    if not (ROOT / "tests").is_dir():
        return [row("tests", work, "left out: the repository is not here")]
    if subprocess.run(
        [sys.executable, "-c", "import pytest, hypothesis, xdist"], capture_output=True, check=False
    ).returncode:
        return [row("tests", work, "left out: pip install pytest hypothesis pytest-xdist")]
    command = [sys.executable, "-m", "pytest", "-m", "gpu", "-n", "0", "-q", "--no-header", "-p", "no:cacheprovider"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return [row("tests", work, f"FAILED: took longer than {seconds:.0f} s", failed=True)]
    lines = (done.stdout + done.stderr).strip().splitlines()
    bad = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    said = "; ".join([lines[-1].strip("= ") if lines else "no output", *bad[:5]])
    failed = done.returncode != 0
    return [row("tests", work, f"FAILED: {said}" if failed else said, failed=failed)]


def table(rows: list[Row]) -> str:
    """The rows as Markdown; those of the machine stand above the table."""
    machine = [one["result"] for one in rows if one["part"] == "machine" and not one["failed"]]
    lines = [
        *machine,
        "",
        "| part | work | plain | compiled | torchvision | result |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for one in rows:
        if one["part"] == "machine" and not one["failed"]:
            continue
        cells = [one["part"], one["work"], *(_time(one["ms"].get(name)) for name in ENGINES), one["result"]]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _time(ms: float | None) -> str:
    return "" if ms is None else f"{ms:.3g} ms"


if __name__ == "__main__":
    main()
