"""`ioukit.compat.trackeval` has the results, tables and files of TrackEval 1.3.0 for MOTChallenge and KITTI."""

from __future__ import annotations

import importlib
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.mot_folders import write_folders
from support.random_protocol_sets import random_kitti_set
from support.trackeval_runs import all_measures, trackeval

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


def write_kitti(folder: Path, seed: int) -> dict[str, Any]:
    """Folders of KITTI, and the configuration that names them; with an odd seed, corners have decimals."""
    random_kitti_set(seed).write_kitti(folder)
    random = np.random.default_rng(seed)
    for path in (*folder.glob("label_02/*"), *folder.glob("found/*")) if seed % 2 else ():
        lines = [line.split() for line in path.read_text().splitlines()]
        for line in lines:
            moved = np.array(line[6:10], np.float64) + random.random(4) * [-1, -1, 1, 1]
            line[6:10] = [f"{value:.6f}" for value in moved]
        path.write_text("".join(f"{' '.join(line)}\n" for line in lines))
    folders = {"GT_FOLDER": str(folder), "TRACKERS_FOLDER": str(folder), "TRACKER_SUB_FOLDER": "found"}
    return {**folders, "TRACKERS_TO_EVAL": ["."], "TRACKER_DISPLAY_NAMES": ["Shown"]}


def run_kitti(package: Any, config: dict[str, Any], metrics: list[Any], **more: Any) -> tuple[Any, Any]:
    """The results of KITTI's folders."""
    dataset = package.datasets.Kitti2DBox(dict(config))
    evaluator = package.Evaluator({"PLOT_CURVES": False, "TIME_PROGRESS": False, "LOG_ON_ERROR": None, **more})
    found: tuple[Any, Any] = evaluator.evaluate([dataset], metrics)
    return found


@pytest.mark.parametrize("seed", range(40))
def test_kitti_is_that_of_trackeval(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = write_kitti(tmp_path, seed)
    if seed % 5 == 0:
        config["CLASSES_TO_EVAL"] = [["Pedestrian"], ["pedestrian", "car"]][seed % 2]
    more = {"PRINT_ONLY_COMBINED": seed % 4 == 0, "OUTPUT_EMPTY_CLASSES": seed % 3 != 0}
    expected = [one for one in all_measures() if one.get_name() != "Count"]
    quiet, measures = {"PRINT_CONFIG": False}, ours.metrics
    metrics = [measures.HOTA(), measures.CLEAR(quiet), measures.Identity(quiet), measures.VACE()]
    found = []
    for name, package, chosen in (("theirs", trackeval(), expected), ("ioukit", ours, metrics)):
        capsys.readouterr()
        results, messages = run_kitti(package, {**config, "OUTPUT_FOLDER": str(tmp_path / name)}, chosen, **more)
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
        lambda package: package.datasets.Kitti2DBox.get_default_dataset_config(),
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


KITTI_LINE = "0 1 {kind} 0 0 -10 {box} -1 -1 -1 -1000 -1000 -1000 -10"


@pytest.fixture
def kitti(tmp_path: Path) -> dict[str, Any]:
    """A sequence of KITTI with two frames and one object."""
    line = KITTI_LINE.format(kind="Car", box="0 0 30 30")
    for name in ("label_02", "found"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "0000.txt").write_text(line)
    (tmp_path / "evaluate_tracking.seqmap.training").write_text("0000 empty 000000 000002\n")
    folders = {"GT_FOLDER": str(tmp_path), "TRACKERS_FOLDER": str(tmp_path), "TRACKER_SUB_FOLDER": "found"}
    return {**folders, "TRACKERS_TO_EVAL": ["."], "PRINT_CONFIG": False}


def kitti_counts(config: dict[str, Any]) -> list[int]:
    """How many detections and objects of cars ioukit counts."""
    results, _ = run_kitti(ours, config, [], **QUIET)
    count = results["Kitti2DBox"]["."]["COMBINED_SEQ"]["car"]["Count"]
    return [count["Dets"], count["GT_Dets"]]


def test_kitti_passes_over_lines_that_trackeval_passes_over(kitti: dict[str, Any], tmp_path: Path) -> None:
    other = KITTI_LINE.format(kind="Rocket", box="0 0 9 9").replace("0 1", "9 -1", 1)
    region = KITTI_LINE.format(kind="DontCare", box="0 0 9 9").replace("0 1", "7 -1", 1)
    for name, more in (("label_02", f"{other}\n{region}"), ("found", other)):
        path = tmp_path / name / "0000.txt"
        path.write_text(f"{path.read_text()}\n{more}\n")
    assert kitti_counts(kitti) == [1, 1]
    (count,) = run_kitti(trackeval(), kitti, [], **QUIET)[0]["Kitti2DBox"]["."]["COMBINED_SEQ"]["car"].values()
    assert [count["Dets"], count["GT_Dets"]] == [1, 1]


def test_kitti_in_zip_files(kitti: dict[str, Any], tmp_path: Path) -> None:
    for name, folder in (("data", "label_02"), ("found", "found")):
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.write(tmp_path / folder / "0000.txt", "0000.txt")
        (tmp_path / folder / "0000.txt").unlink()
    zipped = {**kitti, "INPUT_AS_ZIP": True}
    assert kitti_counts(zipped) == [1, 1]
    (tmp_path / "data.zip").unlink()
    with pytest.raises(ours.utils.TrackEvalException, match=r"GT file not found: data\.zip"):
        ours.datasets.Kitti2DBox(zipped)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"CLASSES_TO_EVAL": ["van"]}, r"invalid class. Only classes \[car, pedestrian\] are valid"),
        ({"SPLIT_TO_EVAL": "val"}, "no seqmap found: evaluate_tracking.seqmap.val"),
        ({"TRACKERS_TO_EVAL": ["other"]}, "Tracker file not found: other/found/0000.txt"),
        ({"TRACKER_DISPLAY_NAMES": []}, "List of tracker files and tracker display names do not match"),
    ],
)
def test_wrong_configurations_of_kitti(kitti: dict[str, Any], change: dict[str, Any], says: str) -> None:
    with pytest.raises(ours.utils.TrackEvalException, match=says):
        ours.datasets.Kitti2DBox(kitti | change)
    with pytest.raises(trackeval().utils.TrackEvalException, match=says):
        trackeval().datasets.Kitti2DBox(kitti | change)


def test_kitti_without_a_file(kitti: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "label_02" / "0000.txt").unlink()
    with pytest.raises(ours.utils.TrackEvalException, match=r"GT file not found: 0000\.txt"):
        ours.datasets.Kitti2DBox(kitti)
    with pytest.raises(trackeval().utils.TrackEvalException, match=r"GT file not found: 0000\.txt"):
        trackeval().datasets.Kitti2DBox(kitti)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("2 1 Car 0 0 0 0 0 9 9", "Tracking data contains the following invalid timesteps in seq 0000: 2"),
        ("0 1 Car 0 0 0 0 0 9", "Tracking data in seq 0000 has a line with fewer than 10 numbers"),
        ("0 1 Car 0 0 0 0 0 9 x", "Cannot convert Tracking data of seq 0000 to float"),
        ("0 1 Person_sitting 0 0 0 0 0 9 9", "in seq 0000 has the type 'Person_sitting', expected one of car, van, "),
        ("1 4 Car 0 0 0 5 0 1 3", r"has the corners \[5.0, 0.0, 1.0, 3.0\] in frame 1 for id 4, expected x1 <= x2"),
        ("1 4 Car 0 0 0 0 0 1 nan", r"has the corners \[0.0, 0.0, 1.0, nan\] in frame 1 for id 4"),
        ("0 1 Car 0 0 0 0 0 30 30\n0 1 Car 0 0 0 0 0 30 30.5", "found track 1 again in image 0 of sequence '0000'"),
        ("0 1 Car 0 0 0 0 0 30 inf", "tracker .: .*finite"),
    ],
)
def test_invalid_files_of_kitti(kitti: dict[str, Any], line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "found" / "0000.txt").write_text(line)
    with pytest.raises(ours.utils.TrackEvalException, match=says):
        run_kitti(ours, kitti, [], **QUIET)


def test_metrics_that_cannot_be_evaluated(config: dict[str, Any]) -> None:
    error = ours.utils.TrackEvalException
    with pytest.raises(error, match=r"ioukit has CLEAR at THRESHOLD 0\.5 alone, got 0\.7"):
        ours.metrics.CLEAR({"THRESHOLD": 0.7, "PRINT_CONFIG": False})
    dataset, metrics = ours.datasets.MotChallenge2DBox(config), [ours.metrics.HOTA(), ours.metrics.HOTA()]
    with pytest.raises(error, match="multiple metrics of the same name"):
        ours.Evaluator(dict(QUIET)).evaluate([dataset], metrics)


def random_sequence(rng: np.random.Generator, frames: int | None = None) -> dict[str, Any]:
    """A sequence as TrackEval's data sets give it: some frames and sides are empty."""
    length = int(rng.integers(0, 12)) if frames is None else frames
    counts = {side: int(rng.integers(0, 9)) for side in ("gt", "tracker")}
    share = {side: rng.choice([0.0, 0.5, 0.8], p=[0.05, 0.35, 0.6]) for side in counts}
    data: dict[str, Any] = {"num_timesteps": length, "similarity_scores": []}
    for side, count in counts.items():
        listed = [np.flatnonzero(rng.random(count) < share[side] * (rng.random() < 0.9)) for _ in range(length)]
        known = np.unique(np.concatenate([np.zeros(0, np.int64), *listed]))
        data[f"{side}_ids"] = [rng.permutation(np.searchsorted(known, one)) for one in listed]
        data[f"num_{side}_ids"], data[f"num_{side}_dets"] = len(known), sum(map(len, listed))
    for pair in zip(data["gt_ids"], data["tracker_ids"], strict=True):
        table = rng.random((len(pair[0]), len(pair[1]))) ** 0.4 * (rng.random((len(pair[0]), len(pair[1]))) < 0.6)
        near = np.equal.outer(*pair) & (rng.random(table.shape) < 0.8)
        table[near] = rng.uniform(0.5, 1, near.sum())
        data["similarity_scores"].append(np.round(table, 1) if rng.random() < 0.3 else table)
    return data


def metric_pairs() -> list[tuple[Any, Any]]:
    """Each metric of TrackEval, and ours."""
    quiet = {"PRINT_CONFIG": False}
    return [(one, getattr(ours.metrics, one.get_name())(quiet)) for one in all_measures()]


def differing(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """The names of numbers that differ in a bit, or that only one has."""
    wrong = [
        name for name in expected if name in found and not np.array_equal(found[name], expected[name], equal_nan=True)
    ]
    return [*wrong, *(expected.keys() ^ found.keys())]


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_sequences_are_those_of_trackeval(first: int) -> None:
    for seed in range(first, first + 50):
        rng = np.random.default_rng(seed)
        parts = {f"s{at}": random_sequence(rng) for at in range(rng.integers(1, 5))}
        if seed % 10 == 0:
            parts["long"] = random_sequence(rng, frames=150)
        for theirs, mine in metric_pairs():
            expected, found = (
                {name: one.eval_sequence(data) for name, data in parts.items()} for one in (theirs, mine)
            )
            for name in parts:
                assert (seed, name, differing(found[name], expected[name])) == (seed, name, [])
            for method in ("combine_sequences", "combine_classes_det_averaged"):
                both = [getattr(mine, method)(found), getattr(theirs, method)(expected)]
                assert (seed, mine.get_name(), method, differing(*both)) == (seed, mine.get_name(), method, [])
            for ignore in (False, True):
                if ignore and not all(
                    any(data[f"num_{side}_dets"] for side in ("gt", "tracker")) for data in parts.values()
                ):
                    continue  # a mean of nothing warns in both
                both = [
                    one.combine_classes_class_averaged(given, ignore)
                    for one, given in ((mine, found), (theirs, expected))
                ]
                assert (seed, mine.get_name(), ignore, differing(*both)) == (seed, mine.get_name(), ignore, [])


def test_empty_classes_do_not_count() -> None:
    rng = np.random.default_rng(3)
    counts = dict.fromkeys(("num_timesteps", "num_gt_ids", "num_tracker_ids", "num_gt_dets", "num_tracker_dets"), 0)
    empty: dict[str, Any] = {**counts, "gt_ids": [], "tracker_ids": [], "similarity_scores": []}
    parts = {"a": random_sequence(rng, frames=5), "b": empty, "c": random_sequence(rng, frames=8)}
    for theirs, mine in metric_pairs():
        results = {name: theirs.eval_sequence(data) for name, data in parts.items()}
        found, expected = (one.combine_classes_class_averaged(results, True) for one in (mine, theirs))
        assert differing(found, expected) == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"gt_ids": [[0]]}, r"gt_ids has 1 frames, expected num_timesteps, 2"),
        ({"num_tracker_dets": 3}, r"tracker_ids has 2 ids, expected num_tracker_dets, 3"),
        ({"tracker_ids": [[0], [2]]}, r"tracker_ids\[1\] has 2, expected ids from 0 to num_tracker_ids - 1, 1"),
        ({"similarity_scores": [[[1.0]]]}, r"similarity_scores has 1 frames, expected 2 as gt_ids has"),
        (
            {"similarity_scores": [[[1.0]], [[1.0, 0.0]]]},
            r"similarity_scores\[1\] has the shape \(1, 2\), expected \(1, 1\)",
        ),
        ({"similarity_scores": [[[1.0]], [[np.nan]]]}, r"similarity_scores\[1\] has nan, expected overlaps within"),
        ({"similarity_scores": [[[90]], [[1.0]]]}, r"similarity_scores\[0\] has 90, expected overlaps within \[0, 1\]"),
        ({"similarity_scores": [[[-0.5]], [[1.0]]]}, r"similarity_scores\[0\] has -0.5, expected overlaps within"),
        ({"similarity_scores": [[["a"]], [[1.0]]]}, r"similarity_scores\[0\] is no table of numbers"),
        ({"tracker_ids": [[0, 0], []], "num_gt_dets": 2}, r"tracker_ids\[0\] has 0 twice, expected each id once"),
        ({"tracker_ids": [[0], [0.5]]}, r"tracker_ids\[1\] has 0.5, expected ids from 0 to num_tracker_ids - 1, 1"),
        ({"tracker_ids": [["a"], [0]]}, r"tracker_ids\[0\] is no list of numbers"),
        ({"tracker_ids": [[[0]], [0]]}, r"tracker_ids\[0\] is no list of numbers"),
        ({"num_gt_ids": 1.5}, r"num_gt_ids is 1.5, expected a whole number of at least 0"),
    ],
)
def test_sequences_that_do_not_fit_together(change: dict[str, Any], says: str) -> None:
    ids: dict[str, Any] = {"gt_ids": [[0], [0]], "tracker_ids": [[0], [1]], "similarity_scores": [[[1.0]], [[1.0]]]}
    counts = {"num_timesteps": 2, "num_gt_ids": 1, "num_tracker_ids": 2, "num_gt_dets": 2, "num_tracker_dets": 2}
    assert ours.metrics.CLEAR({"PRINT_CONFIG": False}).eval_sequence({**ids, **counts})["IDSW"] == 1
    with pytest.raises(ours.utils.TrackEvalException, match=says):
        ours.metrics.HOTA().eval_sequence({**ids, **counts, **change})


@pytest.mark.parametrize("metric", ["HOTA", "CLEAR", "Identity", "VACE", "Count"])
def test_every_metric_names_what_is_wrong_with_a_sequence(metric: str) -> None:
    given: dict[str, Any] = {"gt_ids": [[0]], "tracker_ids": [[0]], "similarity_scores": [[[np.nan]]]}
    given |= {"num_timesteps": 1, "num_gt_ids": 1, "num_tracker_ids": 1, "num_gt_dets": 1, "num_tracker_dets": 1}
    one = getattr(ours.metrics, metric)({"PRINT_CONFIG": False})
    with pytest.raises(ours.utils.TrackEvalException, match=r"similarity_scores\[0\] has nan"):
        one.eval_sequence(given)
    for name in given:
        with pytest.raises(ours.utils.TrackEvalException, match=f"the data of a sequence have no {name}"):
            one.eval_sequence({key: value for key, value in given.items() if key != name})
