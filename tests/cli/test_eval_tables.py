"""`ioukit eval --tables`: the folder it writes, and what it refuses before the work."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import sys
from typing import TYPE_CHECKING

import pytest

import ioukit
from ioukit.evaluation import TABLES, write_tables
from support.command import run_fresh, run_here
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

GT, DT = (EXAMPLES / "coco_val2017_100" / name for name in ("ground_truth.json", "yolact.json"))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_folder_holds_the_tables_of_the_evaluation(tmp_path: Path) -> None:
    command = run_here("eval", GT, DT, "--tables", tmp_path / "deep" / "tables")
    assert command.code == 0
    assert f"wrote {tmp_path}/deep/tables  7 tables\n" in command.err
    assert command.out == run_here("eval", GT, DT).out
    write_tables(ioukit.evaluate(*ioukit.read_coco(GT, DT)), tmp_path / "expected")
    assert contents(tmp_path / "deep" / "tables") == contents(tmp_path / "expected")
    assert {path.stem for path in (tmp_path / "expected").iterdir()} == set(TABLES)


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "tables").mkdir()
    assert run_here("eval", GT, DT, "-q", "--tables", tmp_path / "tables", "--per-class").code == 0
    with (tmp_path / "tables" / "per_class.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == 80


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    ran = run_here("eval", GT, DT, "-q", "--tables", tmp_path / "tables", "--tables-format", "parquet", "--json")
    assert (ran.code, ran.err) == (0, "")
    summary = parquet.read_table(tmp_path / "tables" / "summary.parquet").to_pydict()
    assert dict(zip(summary["measure"], summary["value"], strict=True)) == json.loads(ran.out)["summary"]


def test_options_of_the_protocol_are_those_of_the_tables(tmp_path: Path) -> None:
    options = ["--iou-thresholds", "0.3", "--classes", "person,car", "--areas", "any:0:inf,tiny:0:900"]
    assert run_here("eval", GT, DT, "-q", *options, "--tables", tmp_path / "tables").code == 0
    with (tmp_path / "tables" / "per_curve.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["category"] for row in rows} == {"person", "car"}
    assert {row["area_range"] for row in rows} == {"all", "any", "tiny"}
    assert {row["iou_threshold"] for row in rows} == {"0.3"}


# ---- What is refused, before anything is read or written.


def test_a_folder_that_holds_something_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    refused = run_here("eval", GT, DT, "--tables", tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert f"Invalid value for --tables: {tmp_path} exists: expected a new or an empty folder" in refused.err
    assert "read " not in refused.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("path", [GT, GT / "below"], ids=["a file", "below a file"])
def test_a_file_is_no_folder(path: Path) -> None:
    refused = run_here("eval", GT, DT, "--tables", path)
    assert refused.code == 2
    assert "Invalid value for --tables" in refused.err
    assert "Traceback" not in refused.err


def test_the_folder_is_not_the_file_of_another_option(tmp_path: Path) -> None:
    for option, file in (("--json", "out"), ("--report", "out.html")):
        refused = run_here("eval", GT, DT, option, tmp_path / file, "--tables", tmp_path / file)
        assert refused.code == 2
        assert f"{file} is the file of another option, too" in refused.err
    assert list(tmp_path.iterdir()) == []


def test_a_format_needs_a_folder(tmp_path: Path) -> None:
    refused = run_here("eval", GT, DT, "--tables-format", "csv")
    assert (refused.code, "--tables-format needs --tables, the folder to write" in refused.err) == (2, True)
    unknown = run_here("eval", GT, DT, "--tables", tmp_path / "tables", "--tables-format", "xlsx")
    assert (unknown.code, "'xlsx' is not one of 'csv', 'parquet'" in unknown.err) == (2, True)


def test_parquet_without_its_package_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused = run_here("eval", GT, DT, "--tables", tmp_path / "tables", "--tables-format", "parquet")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err == "Error: --tables-format parquet needs pyarrow: pip install 'ioukit[tables]'\n"
    assert not (tmp_path / "tables").exists()


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    refused = run_here("eval", GT, DT, "--tables", tmp_path / "locked" / "tables")
    assert (refused.code, "does not let folders be made" in refused.err) == (2, True)


def test_invalid_data_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "dt.json").write_text("[{}]")
    assert run_here("eval", GT, tmp_path / "dt.json", "--tables", tmp_path / "tables").code == 2
    assert not (tmp_path / "tables").exists()


@pytest.mark.skipif(importlib.util.find_spec("resource") is None, reason="limits of files are POSIX's")
def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path: Path) -> None:
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(limit)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path / "start"), *sys.path])}
    ran = run_fresh("eval", GT, DT, "-q", "--tables", tmp_path / "tables", env=environment)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.endswith("tables: the file would be too large\n")
    assert str(tmp_path) in ran.err
    assert [path.name for path in tmp_path.iterdir()] == ["start"]
