"""`import ioukit` in a fresh process: NumPy and little else."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys

# Loaded by nobody who only asks for boxes, or slow to load.
HEAVY = {
    "asyncio",
    "concurrent.futures.process",
    "hypothesis",
    "jax",
    "matplotlib",
    "multiprocessing.pool",
    "numpy.testing",
    "pandas",
    "plotly",
    "pycocotools",
    "pyarrow",
    "ray",
    "rich",
    "scipy",
    "shapely",
    "sqlite3",
    "torch",
    "typer",
}


def fresh(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_nothing_heavy_is_loaded() -> None:
    loaded = set(json.loads(fresh("import sys, json, ioukit; print(json.dumps(sorted(sys.modules)))")))
    assert "ioukit._core" in loaded
    assert not loaded & HEAVY
    by_numpy = set(json.loads(fresh("import sys, json, numpy; print(json.dumps(sorted(sys.modules)))")))
    foreign = {name.partition(".")[0] for name in loaded - by_numpy} - sys.stdlib_module_names
    assert foreign <= {"ioukit", "numpy"}


def test_import_costs_little_more_than_numpy() -> None:
    """The median of several, taken in turns: a busy machine slows both."""
    clock = "import time; start = time.perf_counter(); import {}; print(time.perf_counter() - start)"
    times: dict[str, list[float]] = {"numpy": [], "ioukit": []}
    for _ in range(7):
        for module, taken in times.items():
            taken.append(float(fresh(clock.format(module))))
    numpy, ioukit = (statistics.median(taken) for taken in times.values())
    assert ioukit - numpy < 0.1, f"numpy {numpy:.3f} s, ioukit {ioukit:.3f} s"


def test_the_command_loads_no_rich_without_a_terminal() -> None:
    """Rich takes longer to import than a small evaluation takes to run."""
    program = (
        "import sys; sys.argv = ['ioukit', '--version']\nfrom ioukit.cli import main\ntry:\n    main()\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(any(m == 'rich' or m.startswith('rich.') for m in sys.modules))"
    )
    assert fresh(program).splitlines()[-1] == "False"
