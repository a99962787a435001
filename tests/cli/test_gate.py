"""`ioukit gate`: exit codes that tell broken rules from what cannot be decided, and the files that it writes."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ioukit.runs import Ledger
from runs.two_models import pair
from support.command import Outcome, run_here
from support.paths import EXAMPLES

RULES = """
[[rules]]
metric = "AP"
may_fall_by = 0.01
in_doubt = "fail"

[[rules]]
value = "latency"
at_most = 20
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a ledger with four runs: main, the same again, a worse one, and one of other images."""
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "runs.db")
    baseline, worse = pair(0.3)
    for name, evaluation, latency in (
        ("main", baseline, 12.0), ("same", baseline, 30.0), ("worse", worse, 12.0), ("other", pair(seed=1)[0], 12.0)
    ):  # fmt: skip
        ledger.add(evaluation, name=name, values={"latency": latency}, inputs={})
    return Path(ledger.path).read_bytes()


@pytest.fixture
def log(runs: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs.db").write_bytes(runs)
    (tmp_path / "gate.toml").write_text(RULES)
    return tmp_path / "runs.db"


def gate(*words: str) -> Outcome:
    return run_here("gate", "--log", "runs.db", *words)


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("words", "code", "first"),
    [
        (["--candidate", "same"], 0, "passed: same@1 compared with main@1, 80 images"),
        (["--candidate", "worse"], 1, "broken: worse@1 compared with main@1, 80 images"),
        (["--candidate", "other"], 2, "undecided: other@1 compared with main@1, 80 images"),
        (["--candidate", "main", "--rules", "gate.toml"], 0, "passed: main@1 compared with main@1, 80 images"),
        (["--candidate", "same", "--rules", "gate.toml"], 1, "broken: same@1 compared with main@1, 80 images"),
        (["--candidate", "worse", "--rules", "gate.toml"], 1, "broken: worse@1 compared with main@1, 80 images"),
    ],
)
def test_exit_codes(words: list[str], code: int, first: str) -> None:
    done = gate("--baseline", "main", *words)
    assert (done.code, done.out.splitlines()[0]) == (code, first)


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--baseline", "mian", "--candidate", "same"], "did you mean 'main'?"),
        (["--baseline", "main", "--candidate", "same@2"], "have the numbers 1"),
        (["--baseline", "main"], "--candidate"),
        (["--baseline", "main", "--candidate", "same", "--classes", "cat"], "evaluated already"),
        (["--baseline", "main", "--candidate", "same", "--protocol", "voc2007"], "evaluated already"),
        (["--candidate", "same"], "compares with a baseline"),
        (["--baseline", "main", "--candidate", "same", "--rules", "missing.toml"], "missing.toml"),
        (["--baseline", "main", "--candidate", "same", "--rules", "bad.toml"], "did you mean 'may_fall_by'?"),
        (["--baseline", "main", "--candidate", "same", "--rules", "unknown.toml"], "there is no metric 'APx'"),
        (["--baseline", "main", "--candidate", "same", "--junit", "runs.db"], "is an input"),
        (["--baseline", "main", "--candidate", "same", "--markdown", "missing/a.md"], "there is no folder"),
        (
            ["--baseline", "main", "--candidate", "same", "--markdown", "a", "--junit", "a"],
            "--junit: a is the file of --markdown, too",
        ),
        (["--baseline", "main", "--candidate", "same", "--rules", "gate.toml", "--json", "gate.toml"], "is an input"),
    ],
)
def test_what_is_wrong_ends_with_2_and_writes_nothing(words: list[str], message: str) -> None:
    Path("bad.toml").write_text('[[rules]]\nmetric = "AP"\nmay_fal_by = 0.1')
    Path("unknown.toml").write_text('[[rules]]\nmetric = "APx"\nmay_fall_by = 0.1')
    before = sorted(path.name for path in Path.cwd().iterdir())
    done = gate(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert sorted(path.name for path in Path.cwd().iterdir()) == before


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize("candidate", ["same", "worse", "other"])
def test_files_are_written_whatever_the_outcome(candidate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files = ["--markdown", "gate.md", "--junit", "gate.xml", "--json", "gate.json"]
    done = gate("--baseline", "main", "--candidate", candidate, *files)
    found = json.loads(Path("gate.json").read_text())
    assert found["candidate"] == f"{candidate}@1"
    assert Path("gate.md").read_text().startswith(f"### Gate: {found['outcome']}")
    (suite,) = ElementTree.parse("gate.xml").getroot()
    assert int(str(suite.get("failures"))) + int(str(suite.get("errors"))) == (done.code != 0)
    assert json.loads(gate("--baseline", "main", "--candidate", candidate, "--json").out) == found
    Path("summary.md").write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    gate("--baseline", "main", "--candidate", candidate, "--markdown", "summary.md")
    assert Path("summary.md").read_text().startswith("before\n### Gate: ")


@pytest.mark.usefixtures("log")
def test_a_defect_is_not_taken_for_a_broken_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("a defect")

    monkeypatch.setattr("ioukit.cli.gate.check_rules", fails)
    done = gate("--baseline", "main", "--candidate", "same")
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith("RuntimeError: a defect\n")


def test_rules_about_the_candidate_need_no_baseline(log: Path) -> None:
    rules = log.with_name("floor.toml")
    rules.write_text('[[rules]]\nmetric = "AP"\nat_least = 0.1\n[[rules]]\nvalue = "latency"\nat_most = 20')
    assert gate("--candidate", "main", "--rules", str(rules)).out.startswith("passed: main@1, 80 images\n")
    assert gate("--candidate", "same", "--rules", str(rules)).code == 1
    rules.write_text('[[rules]]\nvalue = "memory"\nat_most = 20')
    assert gate("--candidate", "main", "--rules", str(rules)).code == 2


def test_files_need_no_ledger(tmp_path: Path) -> None:
    """The same outcome as that of the same evaluations in a ledger."""
    examples = EXAMPLES / "coco_val2017_100"
    gt, main = examples / "ground_truth.json", examples / "yolact.json"
    new = tmp_path / "new.json"
    new.write_text(json.dumps(json.loads(main.read_text())[::2]))
    log = tmp_path / "runs.db"
    for path in (main, new):
        assert run_here("eval", gt, path, "--log", log, "--name", path.stem, "-q").code == 0
    files = run_here("gate", gt, main, new, "--json", "-q")
    runs = run_here("gate", log, "--baseline", "yolact", "--candidate", "new", "--json", "-q")
    assert files.code == runs.code == 1
    assert files.out == runs.out.replace("yolact@1", "yolact").replace("new@1", "new")
    assert run_here("gate", log, "yolact", "new", "--json", "-q") == runs
    assert run_here("gate", gt, new, main, "-q").code == 0
    videos = tmp_path / "videos.csv"
    videos.write_text(
        "".join(f"{image['id']},{at % 6}\n" for at, image in enumerate(json.loads(gt.read_text())["images"]))
    )
    by_video = run_here("gate", gt, main, new, "--clusters", videos, "--json")
    assert "note --clusters: 6 groups of images, such as 0" in by_video.err
    of_runs = run_here("gate", log, "yolact", "new", "--clusters", videos, "--json", "-q")
    assert by_video.out == of_runs.out.replace("yolact@1", "yolact").replace("new@1", "new")
    assert by_video.out != files.out
    (tmp_path / "alone.toml").write_text("[[rules]]\nmetric = 'AP'\nat_least = 0.9\n")
    alone = run_here("gate", gt, new, "--rules", tmp_path / "alone.toml", "-q")
    assert (alone.code, alone.out.splitlines()[0]) == (1, "broken: new, 100 images")
    (tmp_path / "alone.toml").write_text("[[rules]]\nvalue = 'latency'\nat_most = 20\n")
    no_values = run_here("gate", gt, new, "--rules", tmp_path / "alone.toml", "-q")
    assert (no_values.code, no_values.out) == (2, "")
    assert "a rule is about the value 'latency', and files of detections have no values" in no_values.err


@pytest.mark.usefixtures("log")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--log: name the ledger"),
        (["gt.json"], "expected GT BASELINE CANDIDATE, got 1 path"),
        (["gt.json", "a.json", "b.json", "--candidate", "B"], "--candidate: names a run of a ledger"),
        (["runs.db"], "--candidate: name the run"),
        (["runs.db", "main", "same", "worse"], "expected a ledger and at most 2 runs of it"),
        (["gt.json", "a.json"], "gt.json: there is no such file"),
    ],
)
def test_what_files_or_runs_are_missing(words: list[str], message: str) -> None:
    done = run_here("gate", *words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
