"""`ioukit suite`: the file of data sets and models, what is printed and kept, and what is wrong with a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ioukit
from ioukit.comparison import evaluate_suite
from ioukit.runs import Ledger
from support.command import run_here
from support.paths import EXAMPLES

YOLACT = EXAMPLES / "coco_val2017_100"
SUITE = """
[sets]
one = "data/one.json"
two = "data/two.json"

[models]
all = "all/{set}.json"
sure = "sure/{set}.json"
"""
FEW = ("--replicates", "20", "--permutations", "20")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two halves of a data set, and two models."""
    truth = json.loads((YOLACT / "ground_truth.json").read_text())
    found = json.loads((YOLACT / "yolact.json").read_text())
    ids = sorted(image["id"] for image in truth["images"])
    for name in ("data", "all", "sure"):
        (tmp_path / name).mkdir()
    for name, part in (("one", set(ids[::2])), ("two", set(ids[1::2]))):
        images = [image for image in truth["images"] if image["id"] in part]
        objects = [one for one in truth["annotations"] if one["image_id"] in part]
        (tmp_path / f"data/{name}.json").write_text(json.dumps({**truth, "images": images, "annotations": objects}))
        of_part = [one for one in found if one["image_id"] in part]
        (tmp_path / f"all/{name}.json").write_text(json.dumps(of_part))
        (tmp_path / f"sure/{name}.json").write_text(json.dumps([one for one in of_part if one["score"] > 0.3]))
    (tmp_path / "suite.toml").write_text(SUITE)
    return tmp_path


def evaluations(folder: Path) -> dict[str, dict[str, ioukit.Evaluation]]:
    return {
        name: {
            model: ioukit.evaluate(*ioukit.read_coco(folder / f"data/{name}.json", folder / f"{model}/{name}.json"))
            for model in ("all", "sure")
        }
        for name in ("one", "two")
    }


def test_a_suite(folder: Path) -> None:
    expected = evaluate_suite(evaluations(folder), replicates=20, permutations=20)
    done = run_here("suite", folder / "suite.toml", *FEW, "--csv", folder / "sets.csv", "--json", folder / "all.json")
    assert (done.code, done.out) == (0, f"{expected.text(width=80)}\n")
    assert done.out.startswith("sure is worse than all by ")
    assert max(map(len, done.out.splitlines())) <= 80
    assert done.err.count("data/one.json") == 1  # read once
    assert json.loads((folder / "all.json").read_text()) == expected.to_dict()
    assert (folder / "sets.csv").read_text() == expected.to_csv()
    shown = run_here("suite", folder / "suite.toml", *FEW, "--json", "-q", "--threads", "1")
    assert (shown.err, json.loads(shown.out)) == ("", expected.to_dict())


def test_another_number_and_protocol(folder: Path) -> None:
    (folder / "suite.toml").write_text(f'measure = "AP50"\n{SUITE}')
    found = json.loads(run_here("suite", folder / "suite.toml", "--replicates", "0", "--json", "-q").out)
    expected = evaluate_suite(evaluations(folder), "AP50", replicates=0)
    assert found == expected.to_dict()
    (folder / "suite.toml").write_text(SUITE)
    told = run_here("suite", folder / "suite.toml", "--replicates", "0", "--protocol", "voc2012", "-q")
    assert (told.code, told.out.split()[:3]) == (0, ["model", "mean", "mAP"])


def test_a_ledger_keeps_each_evaluation(folder: Path) -> None:
    done = run_here("suite", folder / "suite.toml", "--replicates", "0", "--log", folder / "runs.db")
    assert "logged 4 runs in " in done.err
    runs = Ledger(folder / "runs.db").runs()
    assert [(run.name, run.tags) for run in runs] == [
        (model, {"suite": "suite", "set": name}) for name in ("one", "two") for model in ("all", "sure")
    ]
    assert runs[3].summary == evaluations(folder)["two"]["sure"].summary
    assert {one.role for one in runs[0].inputs} == {"ground_truth", "detections"}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[sets]", "[set]", "set: there is no such field; did you mean 'sets'?"),
        ("[sets]", "sets = 3\n[models.x]", "sets: expected a table [sets] with a line such as "),
        ("[models]", "[models", "expected TOML, found something else: "),
        # The rest is worded by the reader of TOML, and not alike in all versions.
        ("two =", "one =", "expected TOML, found something else: Can"),
        ("sure =", "all =", "expected TOML, found something else: Can"),
        ("[models]", "[models]\nx = 3\n", "models.x: expected a path as text, found 3"),
        ("[sets]", "measure = 3\n[sets]", 'measure: expected a text, such as "AP", found 3'),
        ("data/two", "data/three", "sets.two: there is no file "),
        ("sure/{set}", "sure/x{set}", "models.sure: no detections on the data set 'one': there is no file "),
        ("sure/{set}", "sure/one", "models.sure: expected a path with {set}, the name of a data set, found "),
        ("[sets]", 'measure = "AP5"\n[sets]', "measure: the protocol COCO has no number 'AP5'; did you mean "),
        ("sure =", '"sure@1" =', "the name of a run must not end with @ and a number"),
    ],
)
def test_what_is_no_suite(folder: Path, old: str, new: str, message: str) -> None:
    (folder / "suite.toml").write_text(SUITE.replace(old, new))
    before = sorted(folder.rglob("*"))
    log = ("--log", folder / "runs.db") if "@" in new else ()
    done = run_here("suite", folder / "suite.toml", *FEW, "--csv", folder / "sets.csv", *log)
    assert (done.code, done.out) == (2, "")
    assert f"Error: {folder / 'suite.toml'}: {message}" in done.err
    assert sorted(folder.rglob("*")) == before  # nothing is written


def test_one_model_on_one_set_needs_no_place_of_its_name(folder: Path) -> None:
    (folder / "suite.toml").write_text('sets.one = "data/one.json"\nmodels.all = "all/one.json"\n')
    done = run_here("suite", folder / "suite.toml", *FEW, "-q")
    assert (done.code, done.out.split()[:3]) == (0, ["model", "mean", "AP"])


def test_a_page(folder: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    done = run_here("suite", folder / "suite.toml", *FEW, "--report", folder / "page")
    assert (done.code, f"wrote {folder / 'page.html'}" in done.err) == (0, True)
    text = (folder / "page.html").read_text(encoding="utf-8")
    assert '<h1 class="name">AP on 2 data sets</h1>' in text
    assert "Detections of sure on two" in text


def test_wrong_pages_are_refused_before_the_work(folder: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    before = sorted(folder.rglob("*"))
    page = folder / "page.html"
    for options, message in (
        (("--report", folder), "is a folder, expected a file to write"),
        (("--report", folder / "sure/one.json"), "is an input and would be overwritten"),
        (("--report", folder / "suite.toml"), "is an input and would be overwritten"),
        (("--report", folder / "no/page.html"), "there is no folder"),
        (("--report", page, f"--json={page}"), "is the file of --json, too"),
    ):
        done = run_here("suite", folder / "suite.toml", *options)
        assert (done.code, done.out) == (2, "")
        assert message in " ".join(done.err.split()), done.err
    assert sorted(folder.rglob("*")) == before


def test_files_that_are_read_are_not_written(folder: Path) -> None:
    done = run_here("suite", folder / "suite.toml", "--csv", folder / "all/two.json")
    assert (done.code, "is an input and would be overwritten" in done.err) == (2, True)
    done = run_here("suite", folder / "suite.toml", "--level", "2")
    assert (done.code, "must be between 0 and 1, got 2.0" in done.err) == (2, True)
