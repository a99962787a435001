"""Pipes and devices in the place of files: signals end the wait for them, and none fills the memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from ioukit import _special_files
from support.command import run_fresh, run_here
from support.paths import DATA, DEMO

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(os.name == "nt", reason="pipes, devices and signals are those of POSIX")

VAL2014 = DATA / "coco_val2014_100"
GT = VAL2014 / "instances_val2014_100.json"


def test_signals_end_the_wait_for_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "dt.json")
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from ioukit import _special_files as s; read = s.read_parts; "
        "s.read_parts = lambda path: print('ready', flush=True) or read(path); "
        "from ioukit.cli import main; main()"
    )
    for name, number in (("-", signal.SIGINT), ("dt.json", signal.SIGTERM)):
        command = [sys.executable, "-c", program, "eval", str(GT), name, "-q"]
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "cwd": tmp_path}
        with subprocess.Popen(command, **options) as process:  # type: ignore[call-overload] # keywords of one dict
            assert process.stdout.readline() == b"ready\n"
            time.sleep(0.05)
            process.send_signal(number)
            begun = time.monotonic()
            process.wait(20)
            assert time.monotonic() - begun < 1
            assert (process.returncode, process.stdout.read(), process.stderr.read()) == (128 + number, b"", b"")


def test_a_device_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_special_files, "_MOST_OF_A_DEVICE", 1 << 21)
    protocol = tmp_path / "zero.toml"
    protocol.symlink_to("/dev/zero")
    commands: list[list[str | Path]] = [["/dev/zero", GT], [GT, "/dev/zero"], [GT, GT, "--protocol", protocol]]
    for words in commands:
        ended = run_here("eval", *words)
        assert (ended.code, ended.out) == (2, "")
        assert "expected a device that ends, found more than 64 MB" in ended.err


def test_a_pipe_is_read_to_its_end() -> None:
    results = VAL2014 / "instances_val2014_fakebbox100_results.json"
    read, write = os.pipe()
    feeder = subprocess.Popen(["cat", str(results)], stdout=write)
    os.close(write)
    piped = run_here("eval", GT, f"/dev/fd/{read}", "--json")
    os.close(read)
    feeder.wait()
    assert piped.code == 0
    assert piped.out == run_here("eval", GT, results, "--json").out


def test_a_pipe_in_a_folder_is_named(tmp_path: Path) -> None:
    """A format of many files reads regular files alone, and so do tables, which are read in pieces."""
    os.mkfifo(tmp_path / "1.txt")
    (tmp_path / "sizes.csv").write_text("name,width,height\n1.jpg,100,80\n")
    ended = run_here("inspect", tmp_path, "--format", "yolo")
    assert (ended.code, ended.out) == (2, "")
    assert "1.txt: expected a regular file, found a pipe, a device or a socket" in ended.err
    for format_ in ("kitti", "padilla"):
        ended = run_here("inspect", tmp_path, "--format", format_)
        assert (ended.code, ended.out) == (2, "")
        assert "1.txt: expected a regular file, found a pipe, a device or a socket" in ended.err
    os.mkfifo(tmp_path / "dt.csv")
    writer = os.open(tmp_path / "dt.csv", os.O_RDWR | os.O_NONBLOCK)  # its head can be read
    os.write(writer, b"image_id,category_id,x,y,width,height,score\n" * 9)
    ended = run_here("eval", GT, tmp_path / "dt.csv", "--dt-format", "csv")
    os.close(writer)
    assert (ended.code, ended.out) == (2, "")
    assert "dt.csv: expected a regular file, found a pipe, a device or a socket" in ended.err


@pytest.mark.skipif(not os.path.exists("/dev/stdout"), reason="this system has no /dev/stdout")
@pytest.mark.parametrize("option", ["--json", "--markdown"])
def test_standard_output_by_its_path_may_be_a_pipe(option: str) -> None:
    done = run_fresh("eval", DEMO / "gt.json", DEMO / "a.json", "-q", option, "/dev/stdout")
    assert (done.code, done.err) == (0, "")
    assert '"AP": 0.46' in done.out if option == "--json" else "### COCO, bbox" in done.out
