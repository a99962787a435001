"""`ioukit doctor`: versions and libraries of this machine, and whether all libraries compute the same numbers."""

import json
import platform
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import ioukit
from ioukit import _core
from ioukit._output import left_over, printable
from ioukit.cli._errors import bad_use
from ioukit.cli._gpu import find_gpu, gpu_text
from ioukit.cli._output import AnswerOptions
from ioukit.overlap._conformance import Agreement, agreements


def doctor(
    *,
    gpu: Annotated[
        bool,
        typer.Option(
            "--gpu",
            help="Also say whether a GPU can be used, and if not, why. The exit code is then 1 if none can be used.",
        ),
    ] = False,
    answer: AnswerOptions,
) -> None:
    """Show versions, instruction sets and array libraries, and whether all libraries compute the same overlaps.

    Every installed array library computes the overlaps of difficult boxes. They are compared with those of the native
    code. The exit code is 1 if a library disagrees. Libraries that are not installed or have no device are left out.
    With --gpu, overlaps, NMS and the gradient of a loss on each GPU are also compared with those of the CPU. Temporary
    files in this folder that a killed command has left are named.
    """
    with bad_use():
        answer.check([])
    levels = _core.simd_levels()
    found = list(agreements())
    report = {
        "ioukit": ioukit.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": platform.platform(),
        "simd": {"available": levels, "used": levels[-1]},
        "threads": _core.thread_count(),
        "backends": [_as_json(agreement) for agreement in found],
        "agrees": all(agreement.agrees for agreement in found),
        "left_over": [str(path) for path in left_over(Path())],
    }
    there = find_gpu() if gpu else None
    if there is not None:
        report["gpu"] = {"usable": there.usable, **asdict(there)}
    answer.give(
        lambda: "\n".join([_table(report, found), *([] if there is None else ["", *map(printable, gpu_text(there))])]),
        lambda: json.dumps(report, indent=2),
        answer.talk(),
    )
    if not report["agrees"] or (there is not None and not there.usable):
        raise typer.Exit(1)


def _as_json(agreement: Agreement) -> dict[str, Any]:
    worst = agreement.worst if agreement.available and np.isfinite(agreement.worst) else None
    return {
        "name": agreement.name,
        "version": agreement.version,
        "available": agreement.available,
        "agrees": agreement.agrees if agreement.available else None,
        "worst_roundings": worst,
        "problems": list(agreement.problems),
    }


def _table(report: dict[str, Any], found: list[Agreement]) -> str:
    lines = [
        f"ioukit {report['ioukit']}, Python {report['python']}, NumPy {report['numpy']}, {report['platform']}",
        f"instruction sets: {', '.join(report['simd']['available'])}; {report['simd']['used']} is used",
        f"threads: {report['threads']}",
        "",
    ]
    width = max(len(agreement.name) for agreement in found)
    for agreement in found:
        if not agreement.available:
            state = f"left out: {agreement.problems[0]}"
        elif agreement.agrees:
            state = "agrees" if agreement.version is None else f"agrees within {agreement.worst:.1f} roundings"
        else:
            state = "DISAGREES"
        lines.append(f"{agreement.name:{width}}  {agreement.version or '-':12}  {printable(state)}")
        if not agreement.agrees:
            lines += [f"    {printable(problem)}" for problem in agreement.problems]
    if report["left_over"]:
        lines += ["", "left here by commands that were killed; remove them, if no command of ioukit is at work here:"]
        lines += [f"    {printable(path)}" for path in report["left_over"]]
    return "\n".join(lines)
