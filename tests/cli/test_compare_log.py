"""`ioukit compare --log`: runs of a ledger, without files of data."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ioukit
from ioukit.comparison import compare_models
from ioukit.runs import Ledger
from support.command import Outcome, run_here
from support.evaluated_scenes import made
from support.paths import EXAMPLES
from support.same_values import difference

FOLDER = EXAMPLES / "coco_val2017_100"
FEW = ("--replicates", "20", "--permutations", "20")


@pytest.fixture(scope="module")
def models() -> dict[str, ioukit.Evaluation]:
    gt, dt = ioukit.read_coco(FOLDER / "ground_truth.json", FOLDER / "yolact.json")
    return {
        f"{name}@1": ioukit.evaluate(gt, dt[dt.scores > score]) for name, score in (("A", 0.0), ("B", 0.1), ("C", 0.3))
    }


@pytest.fixture
def folder(tmp_path: Path, models: dict[str, ioukit.Evaluation], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("runs.db")
    for name, evaluation in models.items():
        ledger.add(evaluation, name=name.removesuffix("@1"), inputs={})
    ledger.add(made(), name="other", inputs={})
    return tmp_path


def compared(*words: str) -> Outcome:
    return run_here("compare", "--log", "runs.db", *words)


@pytest.mark.usefixtures("folder")
def test_numbers_are_those_of_the_files(models: dict[str, ioukit.Evaluation]) -> None:
    tables = {name: ioukit.Evaluation.from_table(one.near_matches()) for name, one in models.items()}
    expected = compare_models({name: tables[name] for name in ("A@1", "B@1")}, replicates=20, permutations=20)
    done = compared("A", "B", *FEW)
    assert (done.code, done.out) == (0, f"{expected.text(width=80)}\n")
    found = json.loads(compared("A@1", "@2", *FEW, "--json").out)
    assert found == expected.to_dict()
    whole = compare_models({name: models[name] for name in ("A@1", "B@1")}, replicates=20, permutations=20)
    assert difference(found["pairs"][0]["comparison"], whole.pairs[0].comparison.to_dict()) is None
    three = json.loads(compared("A", "B", "C", *FEW, "--json").out)
    assert three["ranking"] is not None


def test_files_are_written(folder: Path) -> None:
    done = compared("A", "B", *FEW, "--name", "before", "--name", "after", "--json", "out.json", "--markdown", "out.md")
    assert done.code == 0
    assert done.out.startswith("after is worse than before by ")
    assert json.loads((folder / "out.json").read_text())["pairs"][0]["a"] == "before"
    assert (folder / "out.md").exists()
    pytest.importorskip("jinja2", reason="the page needs Jinja2: pip install 'ioukit[report]'")
    assert compared("A", "B", *FEW, "--report", "out.html").code == 0
    assert (folder / "out.html").stat().st_size > 50_000


def test_labels_name_images_by_id(folder: Path, models: dict[str, ioukit.Evaluation]) -> None:
    ids = models["A@1"].matches.image_ids.tolist()
    (folder / "scenes.csv").write_text("".join(f"{number},{at // 4}\n" for at, number in enumerate(ids)))
    found = json.loads(compared("A", "B", *FEW, "--clusters", "scenes.csv", "--json").out)
    assert found["pairs"][0]["comparison"]["num_clusters"] == 25


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["A", "D"], "there is no run 'D'"),
        (["A", "A@1"], "expected different runs, got A@1, A@1"),
        (["A", "other"], "A@1 and other@1 were not evaluated on the same ground truth: the category "),
        (["A", "B", "other"], "A@1 and other@1 were not evaluated on the same ground truth"),
        (["A"], "Missing argument"),
        (["A", "B", "--protocol", "coco"], "--protocol: is about files"),
        (["A", "B", "--classes", "person"], "--classes: is about files"),
        (["A", "B", "--gt-format", "coco"], "--gt-format: is about files"),
        (["A", "B", "--on-invalid", "drop"], "--on-invalid: is about files"),
        (["A", "B", "--iou-threshold", "0.33"], "--iou-threshold"),
        (["A", "B", "--name", "one"], "expected 2 names, got 1"),
        (["A", "B", "--json", "runs.db"], "is an input"),
    ],
)
def test_wrong_use(words: list[str], message: str) -> None:
    before = Path("runs.db").read_bytes()
    done = compared(*words)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert Path("runs.db").read_bytes() == before


def test_without_a_ledger_two_models_are_needed() -> None:
    done = run_here("compare", FOLDER / "ground_truth.json", FOLDER / "yolact.json")
    assert done.code == 2
    assert "at least two models are needed" in done.err


def test_json_does_not_overwrite_the_detections_of_the_second_model(tmp_path: Path) -> None:
    other = tmp_path / "b.json"
    other.write_bytes((FOLDER / "yolact.json").read_bytes())
    before = other.read_bytes()
    done = run_here("compare", FOLDER / "ground_truth.json", FOLDER / "yolact.json", "--json", other, *FEW)
    assert (done.code, other.read_bytes()) == (0, before)
    assert json.loads(done.out)["models"][1]["name"] == "b"
