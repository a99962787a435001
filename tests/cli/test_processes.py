"""The command as a process of its own: terminals, pipes and Ctrl-C."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

import ioukit
from ioukit.cli._output import _coloured
from support.command import run_fresh
from support.paths import DATA, DEMO, load

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
STATS = load(VAL2014 / "expected.json")["bbox"]["stats"]

posix = pytest.mark.skipif(os.name == "nt", reason="terminals, broken pipes and signals are those of POSIX")


def test_module_and_script_are_the_same_command() -> None:
    script = os.path.join(os.path.dirname(sys.executable), "ioukit")
    done = subprocess.run([script, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == run_fresh("--version").out == f"ioukit {ioukit.__version__}\n"


def test_no_colour_and_no_spinner_outside_of_a_terminal() -> None:
    command = run_fresh("eval", GT, DT, env={**os.environ, "FORCE_COLOR": "1"})
    assert command.code == 0
    assert "\x1b" not in command.out + command.err
    assert "\r" not in command.out + command.err


@posix
@pytest.mark.parametrize("long", [False, True])
def test_a_terminal_sees_a_spinner_for_long_work_only_and_no_colour_if_unwanted(*, long: bool) -> None:
    moment = 0 if long else 60
    program = f"from ioukit.cli import _streams, main; _streams._MOMENT = {moment}; main()"
    terminal, stderr = os.openpty()
    done = subprocess.run(
        [sys.executable, "-c", program, "eval", GT, DT],
        stdout=subprocess.PIPE,
        stderr=stderr,
        env={**os.environ, "NO_COLOR": "1", "TERM": "xterm-256color"},
        check=True,
    )
    seen = os.read(terminal, 100_000).decode()
    os.close(stderr)
    os.close(terminal)
    assert "839 boxes" in seen
    assert ("reading" in seen) == long
    assert not re.search(r"\x1b\[[0-9;]*[1-9][0-9;]*m", seen)
    assert b"\x1b" not in done.stdout


@posix
@pytest.mark.parametrize("wanted", [True, False])
def test_a_terminal_sees_the_verdict_in_bold_and_the_next_command(*, wanted: bool) -> None:
    terminal, stream = os.openpty()
    changes = {"TERM": "xterm-256color", "COLUMNS": "100", **({} if wanted else {"NO_COLOR": "1"})}
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    words = [DEMO / name for name in ("gt.json", "a.json", "b.json")] + ["--replicates", "5", "--permutations", "63"]
    program = "from ioukit.cli import _streams, main; _streams._MOMENT = 60; main()"  # no spinner
    subprocess.run(
        [sys.executable, "-c", program, "compare", *words],
        stdout=stream,
        stderr=stream,
        env=kept | changes,
        check=True,
    )
    seen = os.read(terminal, 100_000).decode().replace("\r\n", "\n")
    os.close(stream)
    os.close(terminal)
    begins, ends = ("\x1b\\[1m", "\x1b\\[0m") if wanted else ("", "")
    assert re.search(rf"\ndone [0-9.]+ s\n{begins}6 images cannot tell a and b apart[^\x1b]*{ends}\n", seen), seen
    assert ("\x1b" in seen) == wanted
    command = " ".join(map(str, ["ioukit", "compare", *words]))
    assert seen.endswith(f"next  {command} --report compared.html\n")


def test_colours_of_outcomes_are_those_of_lines_that_begin_with_them() -> None:
    text = "passed: b\n\nbroken     passed\nsure: nms_missing\nsurely"
    assert _coloured(text, verdict=True) == (
        "\x1b[1mpassed: b\x1b[0m\n\n\x1b[31mbroken\x1b[0m     passed\n\x1b[31msure\x1b[0m: nms_missing\nsurely"
    )
    assert _coloured("undecided", verdict=False) == "\x1b[33mundecided\x1b[0m"


@posix
def test_a_closed_pipe_is_quiet() -> None:
    command = f"{sys.executable} -m ioukit eval {GT} {DT} --per-class | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(128 + signal.SIGPIPE)
    assert "Error" not in done.stderr
    assert "Exception" not in done.stderr


@posix
def test_a_closed_stderr_leaves_stdout_alone() -> None:
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} -m ioukit eval {GT} {DT} --json 2>&-"], capture_output=True, check=True
    )
    assert json.loads(done.stdout)["summary"]["AP"] == STATS["AP"]


@posix
def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    """The ground truth is a pipe that nobody fills: the command waits, and is told to stop."""
    os.mkfifo(tmp_path / "gt.json")
    program = "; ".join([
        "import ioukit, signal, time",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",  # background jobs inherit that it is ignored
        "ioukit.datasets.read = lambda *a, **k: print('ready', flush=True) or time.sleep(60)",
        "from ioukit.cli import main; main()",
    ])  # fmt: skip
    command = [sys.executable, "-c", program, "eval", "gt.json", "dt.json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "")


@posix
def test_ctrl_c_during_the_imports_is_quiet() -> None:
    program = "; ".join([
        "import signal, sys, types",
        "signal.signal(signal.SIGINT, signal.default_int_handler)",
        "from ioukit.cli import main",
        # What is imported next does not come back before the signal does.
        "sys.meta_path.insert(0, types.SimpleNamespace(find_spec=lambda *_: signal.raise_signal(signal.SIGINT)))",
        "main()",
    ])  # fmt: skip
    done = subprocess.run([sys.executable, "-c", program, "protocols"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize(("package", "left"), [("torch", False), ("json", True)])
def test_cycles_are_left_at_the_end_only_where_no_package_reports_them(package: str, left: bool) -> None:
    """With PyTorch comes Triton, which prints the names of what it finds left."""
    code = (
        "import atexit, gc, sys, types, ioukit.cli._start\n"
        f"sys.modules[{package!r}] = types.ModuleType({package!r})\n"
        "atexit._run_exitfuncs()\n"
        "print(gc.get_freeze_count() > 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"{left}\n"
