"""What every command does where standard output or stderr cannot be written, and when it is told to stop."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ioukit.cli._streams import stopped_by_signals
from support.paths import DATA

pytestmark = pytest.mark.skipif(os.name == "nt", reason="devices, pipes and signals are those of POSIX")
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
PRINTING = ["--help", "--version", "eval --help", f"eval {GT} {DT} --quiet", f"eval {GT} {DT} --quiet --json"]


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which ``ioukit`` is this one."""
    line = command.replace("ioukit", f"{sys.executable} -m ioukit", 1)
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@full
@pytest.mark.parametrize("words", PRINTING, ids=lambda words: words.replace(str(VAL2014), ""))
@pytest.mark.parametrize("buffered", ["", "PYTHONUNBUFFERED=1 "])
def test_a_full_standard_output_is_one_line(words: str, buffered: str) -> None:
    done = shell(f"{buffered}ioukit {words} > /dev/full")
    assert done.stderr == "Error: standard output cannot be written: the disk is full\n"
    assert done.returncode == 2


@full
def test_a_file_that_is_full_is_named() -> None:
    done = shell(f"ioukit eval {GT} {DT} --quiet --json /dev/full")
    assert done.stderr == "Error: /dev/full: the disk is full\n"
    assert done.returncode == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder in which nobody can make a file")
@pytest.mark.parametrize("option", ["--report", "--json"])
def test_a_file_that_cannot_be_made_is_named(option: str) -> None:
    if option == "--report":
        pytest.importorskip("jinja2", reason="the report needs Jinja2: pip install 'ioukit[report]'")
    done = shell(f"ioukit eval {GT} {DT} --quiet {option} /proc/r.html")
    assert done.stderr.startswith("Error: ")
    assert (
        done.stderr.startswith("Error: /proc/r.html: there is no such")
        or "/proc/r.html: the folder /proc does not let" in done.stderr
    )
    assert done.stderr.count("\n") == 1
    assert done.returncode == 2


def test_a_closed_standard_output_is_one_line() -> None:
    done = shell("ioukit doctor >&-")
    assert (done.returncode, done.stderr) == (2, "Error: standard output cannot be written: it is closed\n")


@full
@pytest.mark.parametrize("words", ["eval nothing.json nothing.json", "eval --nothing", "nothing"])
def test_exit_codes_do_not_depend_on_stderr(words: str) -> None:
    ended = shell(f"ioukit {words} 2> /dev/full")
    assert (ended.returncode, ended.stdout) == (2, "")


def test_results_do_not_depend_on_stderr() -> None:
    done = shell(f"ioukit eval {GT} {DT} 2> /dev/full")
    assert (done.returncode, done.stdout) == (0, shell(f"ioukit eval {GT} {DT}").stdout)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_stopped_command_leaves_nothing_behind(number: signal.Signals, tmp_path: Path) -> None:
    pytest.importorskip("PIL", reason="shapes need Pillow: pip install 'ioukit[shapes]'")
    # Background jobs may inherit that SIGINT and SIGHUP are ignored.
    program = "; ".join([
        "import signal", "signal.signal(signal.SIGINT, signal.default_int_handler)",
        "signal.signal(signal.SIGHUP, signal.SIG_DFL)", "from ioukit.cli import main", "main()",
    ])  # fmt: skip
    words = ["make-shapes", str(tmp_path / "out"), "--images", "100000", "--typeset"]
    with subprocess.Popen([sys.executable, "-c", program, *words], stderr=subprocess.PIPE, text=True) as process:
        waited = time.monotonic() + 60
        while not list(tmp_path.glob(".ioukit-*/images/train/*.png")):
            assert time.monotonic() < waited
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (128 + number, "")
    assert list(tmp_path.iterdir()) == []


def test_handlers_are_put_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stopped_by_signals():
        assert signal.getsignal(signal.SIGTERM) is not before
        with pytest.raises(SystemExit) as stopped:
            signal.raise_signal(signal.SIGTERM)
    assert stopped.value.code == 128 + signal.SIGTERM
    assert signal.getsignal(signal.SIGTERM) is before


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with stopped_by_signals():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
