"""`ioukit eval`: numbers that must be reached, and where else they go: JUnit, Markdown, trackers."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

import ioukit
from support.command import run_fresh, run_here
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

GT, DT = (EXAMPLES / "coco_val2017_100" / name for name in ("ground_truth.json", "yolact.json"))


@pytest.fixture(scope="module")
def result() -> ioukit.Evaluation:
    return ioukit.evaluate(*ioukit.read_coco(GT, DT))


def test_checks_decide_the_exit_code_and_are_printed_last() -> None:
    plain = run_here("eval", GT, DT).out
    met = run_here("eval", GT, DT, "--at-least", "AP=0.4", "--at-most", "AP=0.41", "--at-least", "AP50/cat=0.1")
    assert met.code == 0
    tables, _, checks = met.out.rpartition("\n\n")
    assert tables == plain.rstrip("\n")
    assert checks.splitlines()[:2] == [
        "passed  AP is 0.4001, required is at least 0.4",
        "passed  AP50/cat is " + checks.splitlines()[1].split(" is ")[1].split(",")[0] + ", required is at least 0.1",
    ]
    failed = run_here("eval", GT, DT, "--at-least", "AP=0.5", "--at-least", "AP/airplane=0", "-q")
    assert failed.code == 1
    assert failed.out.endswith(
        "\n\nfailed  AP is 0.4001, required is at least 0.5\n"
        "failed  AP/airplane is undefined, required is at least 0.0\n"
    )
    assert failed.err == ""


def test_checks_are_in_the_json(result: ioukit.Evaluation) -> None:
    done = run_here("eval", GT, DT, "--json", "--at-least", "AP=0.5", "--at-most", "AR1=0.4")
    assert done.code == 1
    assert done.err.splitlines()[-1] == "failed AP is 0.4001, required is at least 0.5"
    found = json.loads(done.out)
    assert found.pop("requirements") == [
        {"metric": "AP", "at_least": 0.5, "value": result.summary["AP"], "met": False},
        {"metric": "AR1", "at_most": 0.4, "value": result.summary["AR1"], "met": True},
    ]
    assert found == result.to_dict()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--at-least", "AP"], "--at-least: expected a metric and a number, such as AP=0.4, got 'AP'"),
        (["--at-least", "=1"], "--at-least: expected a metric and a number, such as AP=0.4, got '=1'"),
        (["--at-most", "AP=low"], "--at-most: the threshold of AP must be a number, got 'low'"),
        (["--at-least", "AP=nan"], "--at-least: the threshold of AP must be a number, got nan"),
        (["--at-most", "Ap50=1"], "--at-most: there is no metric 'Ap50'; did you mean 'AP50'"),
        (["--at-least", "AP/persn=1"], "--at-least: there is no metric 'AP/persn'; did you mean 'AP/person'"),
        (["--junit", "checks.xml"], "--junit: needs --at-least or --at-most: they are its tests"),
        (["--junit", "-", "--at-least", "AP=0"], "--junit: cannot go to standard output: name a file"),
        (["--markdown", "-", "--json"], "--markdown: standard output has the JSON already: name a file"),
        (["--markdown", "no/such.md"], "--markdown: no/such.md: there is no folder no"),
        (["--markdown", str(GT)], "is an input and would be overwritten"),
        (["--markdown", "a", "--junit", "a", "--at-least", "AP=0"], "--junit: a is the file of --markdown, too"),
        (["--markdown", "a.html", "--report", "a"], "--markdown: a.html is the file of --report, too"),
        (["--log-to", "no/runs.jsonl"], "--log-to: no/runs.jsonl: there is no folder no"),
        (["--log-to", "runs.txt"], "--log-to: expected a file that ends with .jsonl, or mlflow[:ADDRESS]"),
        (["--log-to", "tensorboard:runs"], "in Python, evaluation.log_to takes the runs of other trackers, too"),
    ],
)
def test_wrong_options_end_with_one_line_before_anything_is_written(
    options: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_here("eval", GT, DT, *options, "--quiet")
    assert done.code == 2
    assert says in done.err.splitlines()[-1]
    assert done.out == ""
    assert not [*tmp_path.iterdir()]


def test_junit_has_the_checks(tmp_path: Path) -> None:
    path = tmp_path / "checks.xml"
    done = run_here(
        "eval", GT, DT, "--junit", path, "--at-least", "AP=0.5", "--at-least", "AP=0.5", "--at-most", "AP=1"
    )
    assert done.code == 1
    assert f"wrote {path}\n" in done.err
    (suite,) = ElementTree.parse(path).getroot()
    assert [case.attrib["name"] for case in suite.iter("testcase")] == ["AP at least 0.5", "AP at most 1.0"]
    assert suite.attrib["failures"] == "1"
    assert float(suite.attrib["time"]) > 0


def test_markdown_goes_to_a_file_or_to_standard_output(result: ioukit.Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "summary.md"
    for _ in range(2):  # the second replaces the first
        assert run_here("eval", GT, DT, "--markdown", path).code == 0
        assert path.read_text(encoding="utf-8") == result.to_markdown()
    printed = run_here("eval", GT, DT, "--markdown", "-", "--at-least", "AP=0.5")
    assert printed.code == 1
    assert "| **failed** | AP | 0.4001 | at least 0.5 |\n" in printed.out
    assert printed.out.startswith("### COCO, bbox\n")
    assert not (tmp_path / "-").exists()


def test_the_summary_of_a_step_is_appended_to(
    result: ioukit.Evaluation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "step_summary_1.md"
    path.write_text("## Tests\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    for _ in range(2):
        assert run_here("eval", GT, DT, "--markdown", path).code == 0
    assert path.read_text(encoding="utf-8") == "## Tests\n" + result.to_markdown() * 2


def test_json_lines_get_a_line_per_evaluation(result: ioukit.Evaluation, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for _ in range(2):
        done = run_here("eval", GT, DT, "--log-to", path)
        assert (done.code, f"sent 290 numbers to {path}\n" in done.err) == (0, True)
    first, second = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    assert first["AP50"] == second["AP50"] == result.summary["AP50"]
    assert sorted(tmp_path.iterdir()) == [path]


def test_mlflow_gets_a_run(result: ioukit.Evaluation, tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="needs MLflow: pip install 'ioukit[mlflow]'")
    pytest.importorskip("sqlalchemy", reason="a database of MLflow needs SQLAlchemy")
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    pytest.importorskip("jinja2", reason="the report needs Jinja2")
    address = f"sqlite:///{tmp_path}/runs.db"
    done = run_fresh("eval", GT, DT, "--log-to", f"mlflow:{address}", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "sent 290 numbers to mlflow:sqlite" in done.err
    program = f"""
import json, mlflow
client = mlflow.MlflowClient({address!r})
(run,) = client.search_runs(["0"])
artifacts = [one.path for one in client.list_artifacts(run.info.run_id, "ioukit")]
print(json.dumps([run.data.metrics, run.info.status, artifacts]))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    metrics, status, artifacts = json.loads(ran.stdout)
    assert status == "FINISHED"
    assert metrics["AP"] == result.summary["AP"]
    assert len(metrics) == 290
    assert len(artifacts) == 8


def test_a_tracker_that_cannot_start_ends_with_one_line(tmp_path: Path) -> None:
    pytest.importorskip("mlflow", reason="needs MLflow: pip install 'ioukit[mlflow]'")
    done = run_fresh("eval", GT, DT, "-q", "--log-to", "mlflow:nonsense://x", cwd=tmp_path)
    assert done.code == 2
    assert done.err.splitlines()[-1].startswith("Error: --log-to mlflow:nonsense://x: ")
    assert "Traceback" not in done.err


def test_a_plain_evaluation_loads_none_of_this() -> None:
    program = f"""
import sys, ioukit.cli
sys.argv = ["ioukit", "eval", "{GT}", "{DT}", "-q", "--json"]
try:
    ioukit.cli.main()
except SystemExit:
    words = (".requirements", "report", "experiment_logs")
    print([name for name in sys.modules if name.startswith("ioukit.") and any(word in name for word in words)])
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "['ioukit.cli._report']"
