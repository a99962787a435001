"""`ioukit.compat.trackeval` has the results, tables and files of TrackEval 1.3.0 for MOTChallenge's boxes."""

from __future__ import annotations

import importlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.mot_folders import write_folders
from support.trackeval_runs import trackeval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ours: Any = importlib.import_module("ioukit.compat.trackeval")
QUIET = {"PRINT_RESULTS": False, "PRINT_CONFIG": False, "TIME_PROGRESS": False}
BENCHMARKS = ("MOT17", "MOT16", "MOT20", "MOT15")


WITHOUT_BOXES = {0, 7, 9, 10}
"""Seeds with a sequence without boxes, for which TrackEval's VACE divides by zero."""


def run(package: Any, config: dict[str, Any], *, vace: bool = True, **more: Any) -> tuple[Any, Any]:
    """The results of all trackers with all metrics, and what is said about them."""
    dataset = package.datasets.MotChallenge2DBox(dict(config))
    measures = package.metrics
    metrics = [measures.HOTA(), measures.CLEAR(), measures.Identity({"PRINT_CONFIG": False})]
    metrics += [measures.VACE()] if vace else []
    evaluator = package.Evaluator({"PLOT_CURVES": False, "TIME_PROGRESS": False, "LOG_ON_ERROR": None, **more})
    found: tuple[Any, Any] = evaluator.evaluate([dataset], metrics)
    return found


def leaves(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The numbers of nested dictionaries, with the keys that lead to them."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    else:
        yield path, value


def files(folder: Path) -> dict[str, list[list[str]]]:
    """The cells of all files of results; numbers are numbers, so that 0 and 0.0 are the same."""
    cells = {}
    for path in sorted(folder.rglob("*.*")):
        separator = "," if path.suffix == ".csv" else " "
        lines = [line.split(separator) for line in path.read_text().splitlines()]
        cells[str(path.relative_to(folder))] = [[_number(cell) for cell in line] for line in lines]
    return cells


def _number(text: str) -> str:
    try:
        return repr(float(text))
    except ValueError:
        return text


@pytest.mark.parametrize("seed", range(16))
def test_results_tables_and_files_are_those_of_trackeval(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = write_folders(tmp_path, seed, BENCHMARKS[seed % 4])
    config |= {"DO_PREPROC": seed % 7 != 0, "PRINT_CONFIG": True}
    more = {
        "vace": seed not in WITHOUT_BOXES,
        "PRINT_ONLY_COMBINED": seed % 5 == 0,
        "OUTPUT_EMPTY_CLASSES": seed % 3 != 0,
    }
    found = []
    for name, package in (("theirs", trackeval()), ("ours", ours)):
        capsys.readouterr()
        results, messages = run(package, {**config, "OUTPUT_FOLDER": str(tmp_path / name)}, **more)
        text = capsys.readouterr().out.replace(name, "NAME").splitlines()
        found.append((dict(leaves(results)), messages, text, files(tmp_path / name)))
    (values, *others), (our_values, *our_others) = found
    assert our_values.keys() == values.keys()
    wrong = [path for path, value in values.items() if not np.array_equal(value, our_values[path], equal_nan=True)]
    assert wrong == []
    assert our_others == others


def test_defaults_have_the_keys_of_trackeval() -> None:
    theirs = trackeval()
    ways: list[Callable[[Any], dict[str, Any]]] = [
        lambda package: package.Evaluator.get_default_eval_config(),
        lambda package: package.datasets.MotChallenge2DBox.get_default_dataset_config(),
        lambda package: package.metrics.CLEAR.get_default_config(),
        lambda package: package.metrics.Identity.get_default_config(),
    ]
    here = {"LOG_ON_ERROR", "GT_FOLDER", "TRACKERS_FOLDER"}  # beside the code of TrackEval
    for way in ways:
        expected, found = way(theirs), way(ours)
        assert list(found) == list(expected)
        assert {key: found[key] for key in found.keys() - here} == {key: expected[key] for key in found.keys() - here}
    for name in ("HOTA", "CLEAR", "Identity", "VACE", "Count"):
        quiet = {"PRINT_CONFIG": False}
        expected, found = (getattr(package.metrics, name)(quiet) for package in (theirs, ours))
        assert (found.get_name(), sorted(found.fields)) == (expected.get_name(), sorted(expected.fields))


@pytest.fixture
def config(tmp_path: Path) -> dict[str, Any]:
    """Folders with a sequence that is named in the configuration."""
    made = write_folders(tmp_path, 1, trackers=1)
    (name,) = sorted(path.name for path in Path(made["GT_FOLDER"], "MOT17-train").iterdir())[:1]
    return {**made, "SEQ_INFO": {name: None}, "TRACKER_DISPLAY_NAMES": ["Shown"]}


def test_zip_files_are_read(config: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    plain, _ = run(ours, config)
    assert "HOTA: Shown-pedestrian" in capsys.readouterr().out
    truth = Path(config["GT_FOLDER"], "MOT17-train")
    results = Path(config["TRACKERS_FOLDER"], "MOT17-train", "tracker0")
    for path, source in (
        (truth / "data.zip", truth.glob("*/gt/gt.txt")),
        (results / "data.zip", results.glob("data/*")),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for file in source:
                archive.write(file, f"{file.parent.parent.name if file.stem == 'gt' else file.stem}.txt")
    zipped, messages = run(ours, {**config, "INPUT_AS_ZIP": True})
    assert [
        path for (path, one), (_, two) in zip(leaves(plain), leaves(zipped), strict=True) if np.any(one != two)
    ] == []
    assert messages == {"MotChallenge2DBox": {"tracker0": "Success"}}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"CLASSES_TO_EVAL": ["car"]}, "Attempted to evaluate an invalid class. Only pedestrian class is valid"),
        ({"SEQ_INFO": {"MOT17-99": 3}}, "GT file not found for sequence: MOT17-99"),
        ({"SEQ_INFO": {"MOT17-99": None}}, "ini file does not exist: MOT17-99/seqinfo.ini"),
        ({"SEQ_INFO": None, "SEQMAP_FILE": "nowhere.txt"}, "no seqmap found: nowhere.txt"),
        ({"TRACKERS_TO_EVAL": ["other"]}, "Tracker file not found: other/data/MOT17-00"),
        ({"TRACKER_DISPLAY_NAMES": ["a", "b"]}, "List of tracker files and tracker display names do not match"),
    ],
)
def test_wrong_configurations(config: dict[str, Any], change: dict[str, Any], says: str) -> None:
    with pytest.raises(ours.utils.TrackEvalException, match=says):
        ours.datasets.MotChallenge2DBox(config | change)


def test_a_map_without_sequences(config: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "map.txt").write_text("name\n")
    with pytest.raises(ours.utils.TrackEvalException, match="No sequences are selected"):
        ours.datasets.MotChallenge2DBox({**config, "SEQ_INFO": None, "SEQMAP_FILE": str(tmp_path / "map.txt")})


@pytest.mark.parametrize(
    ("truth", "found", "says"),
    [
        ("1,1,0,0,9,9,1,1", "99,1,0,0,9,9,1", "Tracking data contains the following invalid timesteps in seq .*: 99"),
        ("0,1,0,0,9,9,1,1", "", "Ground-truth data contains the following invalid timesteps in seq .*: 0"),
        ("1,1,0,0,9,9,1,1", "1,1,0,0,9,9", "Tracking data in seq .* has a line with fewer than 7 numbers"),
        ("1,1,0,0,9,9,1,1", "1,1,0,0,9,x,1", "Cannot convert Tracking data of seq .* to float"),
        ("1,1,0,0,9,9,1,1", "1,1,0,0,9,9,1\n1,1,1,0,9,9,1", "the same id more than once in a single timestep"),
        ("1,1,0,0,9,9,1,1", "1,1,0,0,9,9,1,3", r"Non pedestrian class \(3\) found in sequence"),
        ("1,1,0,0,9,9,1,14", "", "Attempting to evaluate using invalid gt classes: 14"),
        ("1,1,0,0,9,9,1,1", "1,1,0,0,-9,9,1", "tracker tracker0: .*expected a width and a height of at least 0"),
    ],
)
def test_invalid_files(config: dict[str, Any], truth: str, found: str, says: str, tmp_path: Path) -> None:
    (name,) = config["SEQ_INFO"]
    Path(config["GT_FOLDER"], "MOT17-train", name, "gt", "gt.txt").write_text(truth)
    Path(config["TRACKERS_FOLDER"], "MOT17-train", "tracker0", "data", f"{name}.txt").write_text(found)
    with pytest.raises(ours.utils.TrackEvalException, match=says):
        run(ours, config, **QUIET)
    log = tmp_path / "log.txt"
    for returns in (False, True):
        wrong: dict[str, Any] = {"BREAK_ON_ERROR": False, "RETURN_ON_ERROR": returns, "LOG_ON_ERROR": str(log)}
        results, messages = run(ours, config, **QUIET | wrong)
        assert results == {"MotChallenge2DBox": {"tracker0": None}}
        assert messages["MotChallenge2DBox"]["tracker0"] in log.read_text()


def test_metrics_that_cannot_be_evaluated(config: dict[str, Any]) -> None:
    error = ours.utils.TrackEvalException
    with pytest.raises(error, match=r"ioukit has CLEAR at THRESHOLD 0\.5 alone, got 0\.7"):
        ours.metrics.CLEAR({"THRESHOLD": 0.7, "PRINT_CONFIG": False})
    dataset, metrics = ours.datasets.MotChallenge2DBox(config), [ours.metrics.HOTA(), ours.metrics.HOTA()]
    with pytest.raises(error, match="multiple metrics of the same name"):
        ours.Evaluator(dict(QUIET)).evaluate([dataset], metrics)
