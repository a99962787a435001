"""`ioukit eval --memory`, `--work` and `--plan`: the same numbers, runs that go on, and what is refused."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ioukit import datasets
from support.command import run_fresh, run_here
from support.paths import DATA, EXAMPLES

pytest.importorskip("pyarrow")

GT = DATA / "coco_val2014_100" / "instances_val2014_100.json"
DT = DATA / "coco_val2014_100" / "instances_val2014_fakebbox100_results.json"


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The detections as a folder of three files."""
    folder = tmp_path_factory.mktemp("detections")
    dt = datasets.read_detections(DT)
    edges = [0, len(dt) // 3, len(dt) // 2, len(dt)]
    for number in range(3):
        datasets.write(dt[edges[number] : edges[number + 1]], folder / f"part-{number}.parquet", "parquet")
    return folder


def numbers(text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(text)
    found.pop("notes")
    return found


def test_the_numbers_are_those_in_memory(parquet: Path, tmp_path: Path) -> None:
    whole = run_here("eval", GT, DT, "--json")
    for given in (parquet, parquet / "*.parquet"):
        parts = run_here("eval", GT, given, "--memory", "400MB", "--json")
        assert parts.code == 0, parts.err
        assert numbers(parts.out) == numbers(whole.out)
    errors = run_here("eval", GT, parquet, "--memory", "400MB", "--work", tmp_path / "work", "--errors")
    assert errors.out == run_here("eval", GT, DT, "--errors").out


def test_a_note_names_what_is_made_again(parquet: Path, tmp_path: Path) -> None:
    command = ("eval", GT, parquet, "--memory", "400MB", "--work", tmp_path / "work")
    first = run_here(*command)
    table = next((tmp_path / "work" / "tables").iterdir())
    table.write_bytes(table.read_bytes()[:1000])
    again = run_here(*command)
    assert again.out == first.out
    notes = [line for line in again.err.splitlines() if line.startswith("note ")]
    assert len(notes) == 1
    assert table.name in notes[0]
    assert notes[0].endswith("; it was made again")


def test_a_report_of_parts(parquet: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2")
    done = run_here("eval", GT, parquet, "--memory", "400MB", "--report", tmp_path / "r.html")
    assert done.code == 0, done.err
    assert "AP" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_plan(parquet: Path) -> None:
    done = run_here("eval", GT, parquet, "--memory", "400MB", "--plan")
    assert done.code == 0
    lines = dict(line.split(maxsplit=1) for line in done.out.splitlines())
    assert list(lines) == ["detections", "parts", "memory", "disk", "time"]
    assert lines["detections"].startswith(f"{len(datasets.read_detections(DT)):,}, of 100 images")


def test_a_killed_run_goes_on(parquet: Path, tmp_path: Path) -> None:
    """However early or late the process is killed."""
    expected = run_here("eval", GT, parquet, "--memory", "400MB").out
    command = [sys.executable, "-m", "ioukit", "eval", str(GT), str(parquet), "--memory", "400MB", "--work"]
    for delay in (0.2, 0.4, 0.6, 0.9):
        work = tmp_path / f"work-{delay}"
        process = subprocess.Popen([*command, str(work)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        done = run_here("eval", GT, parquet, "--memory", "400MB", "--work", work)
        assert (done.code, done.out) == (0, expected), done.err


def test_a_full_disk_is_one_line(parquet: Path) -> None:
    """A limit on the size of files does what a full disk does: the write fails."""
    limited = f"ulimit -f 8; exec {sys.executable} -m ioukit eval {GT} {parquet} --memory 400MB"
    done = subprocess.run(["bash", "-c", f"trap '' XFSZ; {limited}"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--memory", "much"], "memory must be a number of bytes"),
        (["--memory", "1MB"], "1 MB is too little"),
        (["--memory", "1GB", "--repair", "boxes=xyxy"], "--repair"),
        (["--work", "w", "--iou-type", "segm"], "only bbox can be evaluated in parts"),
    ],
)
def test_what_is_refused(parquet: Path, tmp_path: Path, options: list[str], message: str) -> None:
    done = run_fresh("eval", GT, parquet, *options, cwd=tmp_path, env={"COLUMNS": "200", "PATH": ""})
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert not list(tmp_path.iterdir())


def test_folders_that_are_none(parquet: Path, tmp_path: Path) -> None:
    done = run_here("eval", GT, EXAMPLES, "--memory", "1GB")
    assert done.code == 2
    assert len(done.err.splitlines()) <= 3
    (tmp_path / "other").write_text("mine")
    done = run_here("eval", GT, parquet, "--work", tmp_path)
    assert done.code == 2
    assert "expected an empty folder" in done.err


def test_a_folder_of_tables_hints_at_memory(parquet: Path, tmp_path: Path) -> None:
    folder = parquet if parquet.is_dir() else parquet.parent
    done = run_here("eval", GT, folder)
    assert done.code == 2
    assert (
        done.err.splitlines()[-1] == f"Error: {folder}: a folder with Parquet files is read in parts: add --memory 2GB"
    )
    assert run_here("eval", GT, folder, "--memory", "400MB").code == 0
    done = run_here("eval", tmp_path / "nothing.json", folder, "--memory", "400MB")
    assert done.code == 2
    assert f"Error: {tmp_path / 'nothing.json'}: the ground truth is not there" in done.err
