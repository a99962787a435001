"""`ioukit compare`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from ioukit.comparison import compare_models
from support.command import run_here
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

YOLACT = EXAMPLES / "coco_val2017_100"
GT, DT = YOLACT / "ground_truth.json", YOLACT / "yolact.json"
FEW = ("--replicates", "20", "--permutations", "20")
QUICK: dict[str, Any] = {"replicates": 20, "permutations": 20}


@pytest.mark.parametrize("order", [("none.json", DT), (DT, "none.json")])
@pytest.mark.parametrize("command", ["compare", "gate", "slices"])
def test_models_with_and_without_scores_need_a_protocol(command: str, order: tuple[Any, ...], tmp_path: Path) -> None:
    """Else the scores of the second model would be dropped, and all of its detections count."""
    records = json.loads(DT.read_text(encoding="utf-8"))
    (tmp_path / "none.json").write_text(json.dumps([{k: v for k, v in one.items() if k != "score"} for one in records]))
    a, b = (tmp_path / one if isinstance(one, str) else one for one in order)
    further = ["--than", b] if command == "slices" else [b]
    found = run_here(command, GT, a, *further, "--quiet")
    assert found.code == 2
    assert found.out == ""
    says = f"none.json: the detections have no scores, and those of {DT} have: --protocol unranked"
    assert says in found.err.replace("\n", " ").replace("  ", " ")


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Files of two other models: one with low scores left out, one with every tenth box shifted."""
    folder = tmp_path_factory.mktemp("models")
    records = json.loads(DT.read_text())
    (folder / "sure.json").write_text(json.dumps([one for one in records if one["score"] > 0.3]))
    for one in records[::10]:
        one["bbox"][0] += 0.3 * one["bbox"][2]
    (folder / "shifted.json").write_text(json.dumps(records))
    return folder / "sure.json", folder / "shifted.json"


def evaluations(*paths: Path) -> dict[str, ioukit.Evaluation]:
    return {path.stem: ioukit.evaluate(*ioukit.read_coco(GT, path)) for path in paths}


def test_two_models(models: tuple[Path, Path], tmp_path: Path) -> None:
    _, shifted = models
    compared = compare_models(evaluations(DT, shifted), **QUICK)
    command = run_here("compare", GT, DT, shifted, *FEW)
    assert (command.code, command.out) == (0, f"{compared.text(width=80)}\n")
    assert command.out.replace("\n", " ").startswith("shifted is worse than yolact by ")
    assert max(map(len, command.out.splitlines())) <= 80
    assert command.err.count("ground_truth.json") == 1  # read once
    assert command.err.splitlines()[-1].startswith("done ")
    shown = run_here("compare", GT, DT, shifted, *FEW, "--json", "--quiet", "--threads", "1")
    assert (shown.err, json.loads(shown.out)) == ("", compared.to_dict())

    files = [tmp_path / name for name in ("r.json", "r.md", "r.txt")]
    written = run_here(
        "compare", GT, DT, shifted, *FEW, "--json", files[0], "--markdown", files[1], "-o", files[2], "--per-class"
    )
    assert (written.code, written.out) == (0, "")
    assert json.loads(files[0].read_text()) == compared.to_dict()
    assert files[1].read_text() == compared.to_markdown()
    assert files[2].read_text() == f"{compared.text(per_class=True)}\n"
    assert "Every class, AP of yolact and shifted\n" in files[2].read_text()


def test_a_worse_model_fails_in_one_line(models: tuple[Path, Path]) -> None:
    """By the test that the first sentence is of: of two models, and of each of several."""
    sure, shifted = models
    quick = (*FEW, "--classes", "person")
    worse = run_here("compare", GT, DT, shifted, *quick, "--fail-if-worse")
    assert worse.out.startswith("shifted is worse than yolact by")
    assert (worse.code, worse.err.splitlines()[-1]) == (
        1, "failed  shifted is worse than yolact: their AP differs by more than chance"
    )  # fmt: skip
    better = run_here("compare", GT, shifted, DT, *quick, "--fail-if-worse")
    assert (better.code, better.err.splitlines()[-1]) == (0, "passed  yolact is better than shifted")
    same = run_here("compare", GT, DT, DT, *quick, "--name=A", "--name=B", "--fail-if-worse", "--json")
    assert (same.code, same.err.splitlines()[-1]) == (0, "passed  the test does not show that B is worse than A")
    several = run_here("compare", GT, DT, sure, shifted, *quick, "--permutations", "99", "--fail-if-worse")
    said = [line.split()[0] for line in several.err.splitlines()[-2:]]
    verdicts = ["failed" if f"{name} is worse than yolact" in several.out else "passed" for name in ("sure", "shifted")]
    assert (several.code, said) == (1 if "failed" in verdicts else 0, verdicts)


def test_what_the_test_cannot_show_is_undecided(models: tuple[Path, Path]) -> None:
    """With too few permutations, a lower number is not called as good, nor is one that is not lower called worse."""
    _, shifted = models
    few = ("--replicates", "10", "--permutations", "18", "--classes", "person", "--fail-if-worse")
    reason = "18 permutations cannot show any difference; at least 19 are needed"
    worse = run_here("compare", GT, DT, shifted, *few)
    assert worse.out.startswith(
        "18 permutations cannot show any difference; at least 19 are needed. shifted is\nlower by"
    )
    assert (worse.code, worse.err.splitlines()[-1]) == (
        2, f"undecided  AP of shifted is worse than that of yolact, and {reason}"
    )  # fmt: skip
    better = run_here("compare", GT, shifted, DT, *few)
    assert (better.code, better.err.splitlines()[-1]) == (
        0, f"passed  AP of yolact is not worse than that of shifted; {reason}"
    )  # fmt: skip


def test_as_many_permutations_are_made_as_many_pairs_need(models: tuple[Path, Path]) -> None:
    few = ("--replicates", "2", "--level", "0.999", "--classes", "sheep", "--json")
    done = run_here("compare", GT, DT, *models, *few)
    ranking = json.loads(done.out)["ranking"]
    assert (ranking["permutations"], ranking["shortage"]) == (2999, "")


def test_an_undefined_number_decides_nothing(tmp_path: Path) -> None:
    (tmp_path / "gt.json").write_text(
        json.dumps({"images": [{"id": 1}, {"id": 2}], "annotations": [], "categories": [{"id": 1, "name": "cat"}]})
    )
    (tmp_path / "dt.json").write_text("[]")
    files = [tmp_path / name for name in ("gt.json", "dt.json", "dt.json")]
    done = run_here("compare", *files, *FEW, "--name=A", "--name=B", "--fail-if-worse")
    assert (done.code, done.err.splitlines()[-1]) == (2, "undecided  AP is undefined, so nothing is known of B and A")


def test_the_summary_of_a_job_is_appended_to(
    models: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert run_here("compare", GT, DT, models[0], *FEW, "-q", "--markdown", summary).code == 0
    text = summary.read_text()
    assert text.startswith("before\n### sure compared with yolact\n")
    assert "| AP | 0.4001 |" in text


def test_three_models_are_ranked(models: tuple[Path, Path]) -> None:
    few = ("--replicates", "20", "--permutations", "100")  # with fewer, no p-value of three can be low enough
    compared = compare_models(evaluations(DT, *models), replicates=20, permutations=100)
    command = run_here("compare", GT, DT, *models, *few)
    assert (command.code, command.out) == (0, f"{compared.text(width=80)}\n")
    assert compared.ranking is not None
    assert command.out.startswith("yolact has the best AP, 0.400; it is better than both others.")
    assert compared.ranking.names[0] == "yolact"
    values = [one.value for one in compared.ranking.intervals]
    assert values == sorted(values, reverse=True)
    found = json.loads(run_here("compare", GT, DT, *models, *few, "--json", "-q").out)["ranking"]
    assert [one["name"] for one in found["models"]] == list(compared.ranking.names)
    named = run_here("compare", GT, DT, *models, *FEW, "-q", "--name", "x", "--name", "y", "--name", "z").out
    assert named.startswith("x has the best AP")


def test_files_of_one_name_and_other_rules(models: tuple[Path, Path], tmp_path: Path) -> None:
    copy = tmp_path / "other" / "yolact.json"
    copy.parent.mkdir()
    copy.write_bytes(models[0].read_bytes())
    options = ("--protocol", "voc2012", "--classes", "person,car", "--iou-threshold", "0.5", "--score-threshold", "0.3")
    found = json.loads(run_here("compare", GT, DT, copy, *FEW, "-q", *options, "--json").out)
    assert [one["name"] for one in found["models"]] == ["coco_val2017_100/yolact", "other/yolact"]
    assert len(found["models"][0]["summary"]) < 12
    assert {one["name"] for one in found["pairs"][0]["changes"]["classes"]} <= {"person", "car"}
    assert found["pairs"][0]["changes"]["score_thresholds"] == [0.3, 0.3]


def test_strata_and_clusters(models: tuple[Path, Path], tmp_path: Path) -> None:
    truth = ioukit.read_coco(GT, DT)[0]
    ids, names = truth.images.ids.tolist(), truth.images.names[:]
    scenes = tmp_path / "scenes.csv"
    scenes.write_text("image,scene,camera\n" + "".join(f"{n},s{k // 5},c{k % 2}\n" for k, n in enumerate(names)))
    by_id = tmp_path / "by_id.csv"
    by_id.write_text("".join(f"{number},s{k // 5}\n" for k, number in enumerate(ids)))
    labels = {number: f"s{k // 5}" for k, number in enumerate(ids)}
    wanted = compare_models(evaluations(DT, models[1]), **QUICK, clusters=labels)
    assert wanted.pairs[0].comparison.num_clusters == 20
    for text in (f"{scenes}", f"{scenes}:scene", f"{by_id}"):
        command = run_here("compare", GT, DT, models[1], *FEW, "-q", "--clusters", text)
        assert (command.err, command.out) == ("", f"{wanted.text(width=80)}\n")
    strata = compare_models(
        evaluations(DT, models[1]), **QUICK, strata={number: f"c{k % 2}" for k, number in enumerate(ids)}
    )
    command = run_here("compare", GT, DT, models[1], *FEW, "-q", "--strata", f"{scenes}:camera")
    assert command.out == f"{strata.text(width=80)}\n"
    command = run_here("compare", GT, DT, models[1], *FEW, "--clusters", f"{scenes}:camera")
    assert "note --clusters: 2 groups of images, such as c0\n" in command.err


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ("image,scene\n7,a\n", "expected the id or file name of an image, found '7'"),
        ("image,scene\n", "100 of 100 images have no label, for example "),
        ("image,scene\n{first},a\n{first},b\n", "is there twice"),
        ("image,scene\n{first}\n", "has no label"),
    ],
)
def test_bad_labels(rows: str, says: str, models: tuple[Path, Path], tmp_path: Path) -> None:
    first = ioukit.read_coco(GT, DT)[0].images.ids[0]
    path = tmp_path / "labels.csv"
    path.write_text(rows.format(first=first))
    refused = run_here("compare", GT, DT, models[0], "-q", "--clusters", path)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"Error: {path}: ")
    assert says in refused.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--clusters", "nowhere.csv"], "nowhere.csv"),
        (["--clusters", "scene"], "the images have no attribute 'scene'"),
        (["--strata", "labels.csv:camera"], "labels.csv"),
        (["--iou-threshold", "0.52"], "no IoU threshold 0.52"),
        (["--level", "95"], "must be between 0 and 1, got 95"),
        (["--name", "one"], "expected 2 names, got 1"),
        (["--name", "one", "--name", "one"], "two models have the same name"),
        (["--classes", "prson"], "did you mean 'person' or 'spoon'?"),
        (["--protocol", "nothing"], "unknown protocol 'nothing'"),
        (["--iou-type", "blobs"], "blobs"),
        (["--replicates", "0"], "--replicates"),
        (["-o", "same.txt", "--markdown", "same.txt"], "same.txt is the file of --markdown, too"),
    ],
)
def test_wrong_use(
    words: list[str], says: str, models: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = run_here("compare", GT, DT, models[0], *words)
    assert (refused.code, refused.out) == (2, "")
    assert says in refused.err
    assert "Traceback" not in refused.err
    assert not list(tmp_path.iterdir())


def test_a_file_of_labels_is_not_overwritten(models: tuple[Path, Path], tmp_path: Path) -> None:
    labels = tmp_path / "scenes.csv"
    labels.write_text("image,scene\n")
    refused = run_here("compare", GT, DT, models[0], "--clusters", f"{labels}:scene", "-o", labels)
    assert refused.code == 2
    assert "scenes.csv is an input and would be overwritten" in refused.err
    assert labels.read_text() == "image,scene\n"


def test_json_before_the_last_model_takes_no_file(models: tuple[Path, Path]) -> None:
    before = models[0].read_bytes()
    done: Any = run_here("compare", GT, DT, "--json", models[0], *FEW, "-q")
    assert json.loads(done.out)["models"][1]["name"] == "sure"
    assert models[0].read_bytes() == before
    alone = run_here("compare", GT, DT)
    assert alone.code == 2
    assert "B [C ...]" in alone.err
