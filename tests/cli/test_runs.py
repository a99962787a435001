"""`ioukit eval --log`, `ioukit runs` and `ioukit show`."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from ioukit.evaluation import load_table
from ioukit.runs import Ledger
from support.command import Outcome, run_fresh, run_here
from support.evaluated_scenes import made
from support.paths import EXAMPLES

FOLDER = EXAMPLES / "coco_val2017_100"
FILES = FOLDER / "ground_truth.json", FOLDER / "yolact.json"
APART = "Numbers of different groups cannot be compared: their data or rules differ."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a ledger: B with 100 images, and two smaller runs."""
    path = tmp_path_factory.mktemp("ledger") / "runs.db"
    assert evaluated(path, "B", "--tag", "lr=1e-3", "--tag", "release", "--value", "latency=12.3").code == 0
    ledger = Ledger(path)
    ledger.add(made(seed=1), name="small", tags={"lr": "1e-4"}, values={"latency": 5})
    ledger.add(made(seed=2), name="B")
    return path.read_bytes()


@pytest.fixture
def log(runs: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    path.write_bytes(runs)
    return path


def evaluated(path: Path, name: str, *options: str) -> Outcome:
    return run_here("eval", *FILES, "--log", path, "--name", name, *options)


def test_an_evaluation_is_logged(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    plain = run_here("eval", *FILES)
    options = ("--classes", "person,car", "--on-invalid", "drop", "--max-dets", "1,10,100")
    done = evaluated(path, "B", *options)
    assert (done.code, done.out) == (0, run_here("eval", *FILES, *options).out)
    assert "logged B@1 (id 1) in " in done.err
    assert "logged" not in plain.err
    run = Ledger(path).run("B")
    assert run.options == {"classes": ["person,car"], "on_invalid": "drop", "max_dets": ["1,10,100"]}
    assert [one.name for one in run.inputs] == ["ground_truth.json", "yolact.json"]
    assert run.counts["categories"] == 2
    assert evaluated(path, "B", "--at-least", "AP=0.9").code == 1
    assert Ledger(path).run("B").number == 2, "a run whose checks fail is logged as well"


def test_a_run_keeps_the_intervals_that_are_shown(tmp_path: Path) -> None:
    done = evaluated(tmp_path / "runs.db", "B", "--intervals", "--json")
    shown = json.loads(done.out)["intervals"]
    kept = Ledger(tmp_path / "runs.db").run("B").to_dict()["intervals"]
    assert kept == {key: {end: one[end] for end in ("low", "high", "level")} for key, one in shown.items()}
    assert len(kept) > 1
    lines = run_here("show", tmp_path / "runs.db", "B").out.splitlines()
    assert [" ".join(line.split()) for line in lines if line.startswith("interval")] == [
        f"interval {key} on endlessly many images: 95 % from {one['low']:.3f} to {one['high']:.3f}"
        for key, one in shown.items()
    ]


@pytest.mark.parametrize("name", ["AP", "counts/images"])
def test_a_value_with_the_name_of_a_number_is_refused_before_anything_is_written(tmp_path: Path, name: str) -> None:
    done = evaluated(tmp_path / "runs.db", "B", "--value", f"{name}=3", "--json", str(tmp_path / "out.json"))
    assert (done.code, done.out) == (2, "")
    assert f"--value: the evaluation itself has a number with the name '{name}'" in " ".join(done.err.split())
    assert not list(tmp_path.iterdir())


def test_standard_input_has_no_hash(tmp_path: Path) -> None:
    with open(FILES[1], "rb") as detections:
        done = run_fresh("eval", FILES[0], "-", "--log", tmp_path / "runs.db", "--name", "B", stdin=detections)
    assert done.code == 0, done.err
    assert [one.role for one in Ledger(tmp_path / "runs.db").run("B").inputs] == ["ground_truth"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--name", "B"], "needs --log"),
        (["--tag", "lr=1"], "needs --log"),
        (["--value", "latency=1"], "needs --log"),
        (["--log", "runs.db"], "needs --name"),
        (["--log", "runs.db", "--name", "B@2"], "must not end with @"),
        (["--log", "runs.db", "--name", "B\n"], "must not begin or end with a space"),
        (["--log", "runs.db", "--name", "B", "--tag", "=1"], "must not be empty"),
        (["--log", "runs.db", "--name", "B", "--tag", "a=1", "--tag", "a=2"], "given twice"),
        (["--log", "runs.db", "--name", "B", "--value", "latency"], "must have a number"),
        (["--log", "runs.db", "--name", "B", "--value", "latency=nan"], "finite"),
        (["--log", "missing/runs.db", "--name", "B"], "there is no folder missing"),
        (["--log", ".", "--name", "B"], "is a folder"),
        (["--log", str(FILES[0]), "--name", "B"], "is an input"),
        (["--log", __file__, "--name", "B"], "not a database of SQLite"),
        (["--log", "runs.db", "--name", "B", "--json", "runs.db"], "is the file of --json, too"),
    ],
)
def test_wrong_options_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("eval", *FILES, *options)
    assert done.code == 2
    assert message in done.err
    assert done.err.count("Error") == 1
    assert "read " not in done.err
    assert not list(tmp_path.iterdir())


def test_runs_are_listed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    narrow = run_here("runs", log).out.splitlines()
    assert narrow[0].split() == ["run", "id", "group", "AP", "AP50", "AP75", "latency", "tags"]
    assert narrow[-2:] == ["left out to fit 80 columns: created", APART]
    monkeypatch.setenv("COLUMNS", "100")
    done = run_here("runs", "--log", log)
    head, *rows, apart = done.out.splitlines()
    assert head.split() == ["run", "id", "group", "created", "AP", "AP50", "AP75", "latency", "tags"]
    assert [(row.split()[0], row.split()[2]) for row in rows] == [("B@1", "1"), ("small@1", "2"), ("B@2", "2")]
    assert apart == APART
    assert rows[0].endswith("0.4001  0.6403  0.4014  12.3000  lr=1e-3, release")
    assert rows[2].rstrip().endswith("-")
    chosen = run_here("runs", "--log", log, "--tag", "lr", "--sort", "latency", "--keys", "AR1,counts/images")
    assert [row.split()[0] for row in chosen.out.splitlines()[1:-1]] == ["small@1", "B@1"]
    assert chosen.out.splitlines()[0].split() == ["run", "id", "group", "created", "AR1", "counts/images", "tags"]
    alone = run_here("runs", "--log", log, "--name", "s*", "--last", "1").out
    assert (alone.count("\n"), "group" in alone) == (2, False), "numbers of one group need no column and no sentence"
    assert run_here("runs", "--log", log, "--name", "nothing").out == "no runs\n"


def test_a_page_shows_the_runs_that_are_listed(log: Path, tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    with closing(sqlite3.connect(log)) as db, db:
        db.execute("UPDATE runs SET tags = '[]' WHERE id = 2")
    done = run_here("runs", log, "--name", "*", "--sort=-AP", "--report", tmp_path / "page")
    assert (done.code, done.out) == (0, run_here("runs", log, "--sort=-AP").out)
    assert f"wrote {tmp_path / 'page.html'}" in done.err
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Left out: " in text  # the run that is damaged
    shown = json.loads(text.partition('id="data">')[2].partition("</script>")[0])
    runs = Ledger(log).runs(on_damaged="skip")
    assert [(one["name"], one["number"], one["tags"]) for one in shown["runs"]] == [
        (run.name, run.number, dict(run.tags)) for run in runs
    ]
    assert shown["runs"][0]["numbers"][0] == pytest.approx(runs[0].summary["AP"], abs=1e-6)
    assert len(shown["groups"]) == 2  # of 100 images, and of 9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--report", "runs.db"], "is an input"),
        (["--report", "page.txt"], "name it .html"),
        (["--report", "page.html", "--delete", "B"], "stands alone"),
        (["--report", "page.html", "--export", "page.html"], "is the file of --report, too"),
    ],
)
def test_a_page_that_cannot_be_written_is_refused(
    log: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(log.parent)
    before = log.read_bytes()
    done = run_here("runs", "runs.db", *options)
    assert done.code == 2
    assert message in done.err
    assert log.read_bytes() == before


def test_a_ledger_of_somebody_else_controls_no_terminal(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    with closing(sqlite3.connect(log)) as db, db:
        inputs = json.dumps([["a\x1b[2J", "b\x1b[2J", "c\x1b[2J", 1]])
        db.execute("UPDATE runs SET created = ?, inputs = ?", ("2026\x1b[2J", inputs))
    for words in (["runs"], ["show", "B"]):
        done = run_here(*words, "--log", log)
        assert done.code == 0
        assert r"2026\x1b[2J" in done.out
        assert "\x1b" not in done.out


def test_runs_as_json(log: Path, tmp_path: Path) -> None:
    found = json.loads(run_here("runs", "--log", log, "--json").out)
    assert [run["id"] for run in found["runs"]] == [1, 2, 3]
    assert found["runs"][0] == {**Ledger(log).run(1).to_dict(), "group": 1}
    assert [run["group"] for run in found["runs"]] == [1, 2, 2]
    done = run_here("runs", "--log", log, "--json", tmp_path / "runs.json")
    assert json.loads((tmp_path / "runs.json").read_text()) == found
    assert done.out.startswith("run ")


def test_runs_are_deleted_and_exported(log: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    done = run_here("runs", "--log", log, "--name", "B", "--export", other)
    assert "copied 2 of 2 runs" in done.err
    assert "copied 0 of 2 runs" in run_here("runs", "--log", log, "--name", "B", "--export", other).err
    done = run_here("runs", "--log", log, "--delete", "B", "--delete", "@2")
    assert (done.code, done.out) == (0, "")
    assert "deleted B@2 (id 3)\ndeleted small@1 (id 2)\n" in done.err
    assert [run.id for run in Ledger(log).runs()] == [1]
    assert [run.reference for run in Ledger(other).runs()] == ["B@1", "B@2"]
    assert run_here("runs", "--log", log, "--delete", "B", "--last", "1").code == 2


def test_exported_runs_keep_their_numbers_or_the_command_says_so(log: Path, tmp_path: Path) -> None:
    ledger, other = Ledger(log), tmp_path / "other.db"
    ledger.delete(["B@1"])
    ledger.add(made(seed=3), name="B", tags={"release": ""})
    assert "note" not in run_here("runs", log, "--sort=-created", "--export", tmp_path / "all.db").err
    assert {run.uid: run.reference for run in Ledger(tmp_path / "all.db").runs()} == {
        run.uid: run.reference for run in ledger.runs()
    }
    run_here("runs", log, "--tag", "release", "--export", other)
    done = run_here("runs", log, "--export", other)
    assert "note B@2 is B@4 there: it has had B@2 or a later run\n" in done.err
    assert [run.reference for run in Ledger(other).runs()] == ["B@3", "small@1", "B@4"]
    assert Ledger(other).run("B@4").uid == ledger.run("B@2").uid


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["runs"], "--log"),
        (["runs", "--log", "runs.dc"], "did you mean 'runs.db'?"),
        (["runs", "--log", "runs.db", "--sort", "ap"], "no run has the number 'ap'"),
        (["runs", "--log", "runs.db", "--keys", "ap"], "no run has the number 'ap'"),
        (["runs", "--log", "runs.db", "--delete", "C"], "there is no run 'C'"),
        (["runs", "--log", "runs.db", "--export", "runs.db"], "to copy from"),
        (["runs", "--log", "runs.db", "--json", "runs.db"], "is an input"),
        (["runs", "--log", "."], "found a folder"),
        (["show", "--log", "runs.db", "smal"], "did you mean 'small'?"),
        (["show", "--log", "runs.db", "B@0"], "begin with 1"),
        (["show", "--log", "runs.db", "B", "--save-table", "runs.db"], "is an input"),
        (["show", "--log", "runs.db", "B", "--report", "runs.db"], "is an input"),
        (
            ["show", "--log", "runs.db", "B", "--save-table", "a", "--json", "a"],
            "--save-table: a is the file of --json",
        ),
    ],
)
def test_wrong_use_is_one_line(log: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str) -> None:
    monkeypatch.chdir(log.parent)
    before = log.read_bytes()
    done = run_here(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert log.read_bytes() == before


def test_a_run_is_shown(log: Path) -> None:
    done = run_here("show", "--log", log, "B@1")
    whole = run_here("eval", *FILES)
    about, _, tables = done.out.partition("\n\n")
    assert f"{tables}" == whole.out
    assert "tags          lr=1e-3, release\nvalues        latency=12.3\nprotocol      COCO, bbox\n" in about
    errors = run_here("show", "--log", log, "@1", "--errors", "--per-class")
    assert errors.out.endswith(run_here("eval", *FILES, "--errors", "--per-class").out)


def test_a_run_as_json_page_and_table(log: Path, tmp_path: Path) -> None:
    found = json.loads(run_here("show", "--log", log, "B@1", "--json", "--errors").out)
    expected = json.loads(run_here("eval", *FILES, "--json", "--errors").out)
    assert {key: found[key] for key in expected} == expected
    assert found["run"]["name"] == "B"
    assert found["run"]["settings"]["options"] == {"on_invalid": "error"}
    table = tmp_path / "table.npz"
    assert run_here("show", "--log", log, "B@1", "--save-table", table).code == 0
    assert len(load_table(table).image_ids) == 100
    pytest.importorskip("jinja2", reason="the report needs Jinja2: pip install 'ioukit[report]'")
    assert run_here("show", "--log", log, "B@1", "--report", tmp_path / "report.html").code == 0
    assert (tmp_path / "report.html").stat().st_size > 100_000


def test_listing_loads_no_numpy(log: Path) -> None:
    program = (
        f"import sys; sys.argv = ['ioukit', 'runs', '--log', {str(log)!r}]\nfrom ioukit.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "print('numpy' in sys.modules, 'ioukit.evaluation' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False False"


def test_a_damaged_run_does_not_hide_the_others(log: Path) -> None:
    with closing(sqlite3.connect(log)) as db, db:
        db.execute("UPDATE runs SET notes = '7' WHERE id = 2")
    listed = run_here("runs", "--log", log)
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()[1:3]] == ["B@1", "B@2"]
    assert f"left out: {log}: the run with the id 2 is damaged: " in listed.err
    found = json.loads(run_here("runs", "--log", log, "--json").out)
    assert len(found["runs"]) == 2
    assert found["damaged"] == [listed.err.removeprefix("left out: ").rstrip("\n")]
