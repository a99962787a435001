"""A ledger gives back what it was given: runs, their names, and evaluations to the last bit."""

from __future__ import annotations

import datetime
import hashlib
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ioukit
from ioukit import Evaluation, evaluate
from ioukit.evaluation import load_table, match, save_table
from ioukit.runs import Ledger, Run
from support.evaluated_scenes import SCENES, made
from support.everything import assert_says_the_same
from support.other_protocols import OTHER, evaluated
from support.paths import EXAMPLES
from support.region_cases import KINDS
from support.region_cases import evaluated as evaluated_regions
from support.same_columns import assert_same_columns

NOON = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "runs.db")


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return made()


@pytest.mark.parametrize("scene", SCENES)
def test_every_analysis_has_the_bits_of_the_original(ledger: Ledger, scene: str) -> None:
    original = SCENES[scene]()
    ledger.add(original, name="B")
    found = ledger.evaluation("B")
    assert found.to_json() == original.to_json()
    for ours, expected in ((found, original), (original, found)):  # what one cannot do, the other cannot either
        for name in ("outcomes", "per_image", "score_curves", "lrp_errors", "confusion", "error_kinds"):
            assert_same_columns(getattr(ours, name)(), getattr(expected, name)(), but=("row",))
    assert_says_the_same(found.matches, original.near_matches(), rows_too=True)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_region_is_kept(ledger: Ledger, kind: str) -> None:
    original = evaluated_regions(kind)
    run = ledger.add(original, name=kind)
    found = ledger.evaluation(run)
    assert found.to_json() == original.to_json()
    assert run.iou_type == original.matches.iou_type
    assert_says_the_same(found.matches, original.near_matches(), rows_too=True)


@pytest.mark.parametrize("protocol", OTHER)
def test_protocols_of_ones_own_are_kept(ledger: Ledger, protocol: str) -> None:
    original = evaluated(protocol)
    run = ledger.add(original, name="B")
    assert_says_the_same(ledger.evaluation(run).matches, original.near_matches(), rows_too=True)
    assert ledger.evaluation("B").protocol == original.protocol
    fields = original.protocol.to_dict()
    assert run.settings["protocol"] == fields
    assert run.protocol == fields["name"]


def test_a_run_has_where_it_came_from(ledger: Ledger) -> None:
    folder = EXAMPLES / "coco_val2017_100"
    files = folder / "ground_truth.json", folder / "yolact.json"
    original = evaluate(*ioukit.read_coco(*files))
    run = ledger.add(
        original,
        name="B",
        tags={"lr": "1e-3", "release": ""},
        values={"latency": 12.3, "size": 7},
        options={"on_invalid": "error", "classes": ["person"]},
        created=NOON,
    )
    assert ledger.runs() == (run,)
    assert (run.id, run.name, run.number, run.reference) == (1, "B", 1, "B@1")
    assert (run.created, run.protocol, run.iou_type) == ("2026-11-22T12:00:00Z", "COCO", "bbox")
    assert (run.tags, run.values) == ({"lr": "1e-3", "release": ""}, {"latency": 12.3, "size": 7.0})
    assert run.summary == dict(original.summary)
    assert run.counts == original.counts
    assert run.notes == original.notes
    assert run.settings == {
        "protocol": original.protocol.to_dict(),
        "iou_type": "bbox",
        "options": {"on_invalid": "error", "classes": ["person"]},
    }
    assert run.versions.keys() == {"ioukit", "python", "numpy"}
    assert run.versions["numpy"] == np.__version__
    for one, role, file in zip(run.inputs, ("ground_truth", "detections"), files, strict=True):
        content = file.read_bytes()
        assert one == (role, file.name, hashlib.sha256(content).hexdigest(), len(content))
    assert run.to_dict()["summary"]["AP"] == original.summary["AP"]
    with pytest.raises(TypeError):
        run.tags["lr"] = "2"  # type: ignore[index]


def test_intervals_are_kept(ledger: Ledger, tmp_path: Path) -> None:
    evaluation = made(names=["cat", "dog"], images=12)
    intervals = evaluation.intervals(["AP", "APl"], replicates=20)
    undefined = made(objects=False).intervals("AP", replicates=2)["AP"]
    run = ledger.add(evaluation, name="B", intervals={**intervals, "AP75": undefined})
    assert run.intervals == {key: (one.low, one.high, 0.95) for key, one in intervals.items()}
    assert run.to_dict()["intervals"]["AP"] == {"low": intervals["AP"].low, "high": intervals["AP"].high, "level": 0.95}
    assert ledger.copy_to(Ledger(tmp_path / "copy.db"))[0].intervals == run.intervals
    assert not ledger.add(evaluation, name="B").intervals


def test_numbers_that_are_undefined_stay_so(ledger: Ledger) -> None:
    run = ledger.add(made(objects=False), name="B")
    assert all(np.isnan(value) for value in run.summary.values())
    assert set(run.to_dict()["summary"].values()) == {None}


def test_an_evaluation_without_data_keeps_the_table_that_it_has(ledger: Ledger, evaluation: Evaluation) -> None:
    table = evaluation.matches
    ledger.add(Evaluation.from_table(table), name="without")
    ledger.add(Evaluation.from_table(evaluation.near_matches()), name="with")
    assert_says_the_same(ledger.evaluation("without").matches, table, rows_too=True)
    with pytest.raises(ValueError, match="without the near pairs"):
        ledger.evaluation("without").confusion()
    assert_same_columns(ledger.evaluation("with").confusion(), evaluation.confusion())
    gt, dt = evaluation.ground_truth, evaluation.detections
    assert gt is not None
    assert dt is not None
    ledger.add(evaluation, name="far", near=0.01)
    assert_says_the_same(ledger.evaluation("far").matches, match(gt, dt, near=0.01), rows_too=True)


def test_the_table_of_a_run_can_be_a_file(ledger: Ledger, evaluation: Evaluation, tmp_path: Path) -> None:
    ledger.add(evaluation, name="B")
    save_table(ledger.evaluation("B").matches, tmp_path / "table.npz")
    assert_says_the_same(load_table(tmp_path / "table.npz"), evaluation.near_matches(), rows_too=True)


def test_folders_have_a_hash_and_their_images_do_not(ledger: Ledger, evaluation: Evaluation, tmp_path: Path) -> None:
    folder = tmp_path / "labels"
    (folder / "inside").mkdir(parents=True)
    (folder / "inside" / "a.txt").write_bytes(b"0 0.5 0.5 0.1 0.1")
    (folder / "b.JPG").write_bytes(b"any")
    hashed = hashlib.sha256(b"0 0.5 0.5 0.1 0.1").hexdigest().encode()
    listing = b"b.JPG\0" + b"3\0\n" + b"inside/a.txt\0" + b"17\0" + hashed + b"\n"
    (found,) = ledger.add(evaluation, name="B", inputs={"ground_truth": folder}).inputs
    assert found == ("ground_truth", "labels", hashlib.sha256(listing).hexdigest(), 20)
    with pytest.raises(FileNotFoundError, match="missing"):
        ledger.add(evaluation, name="B", inputs={"detections": tmp_path / "missing"})
    assert len(ledger.runs()) == 1


def test_a_name_may_be_used_again(ledger: Ledger, evaluation: Evaluation) -> None:
    for latency, name in enumerate("ABBCB"):
        ledger.add(evaluation, name=name, values={"latency": latency})
    assert [run.reference for run in ledger.runs()] == ["A@1", "B@1", "B@2", "C@1", "B@3"]
    chosen = {"B": 5, "B@1": 2, "B@2": 3, "B@-1": 5, "B@-2": 3, "@4": 4, "@-1": 5, "@-5": 1, "A": 1}
    assert {one: ledger.run(one).id for one in chosen} == chosen
    assert ledger.run(3).reference == "B@2"
    assert ledger.evaluation("B@2").to_json() == evaluation.to_json()


def test_what_is_deleted_does_not_come_back(ledger: Ledger, evaluation: Evaluation) -> None:
    for name in "ABB":
        ledger.add(evaluation, name=name)
    assert [run.id for run in ledger.delete(["B", "B@2", 3])] == [3]
    assert ledger.add(evaluation, name="B").reference == "B@3"
    assert [run.id for run in ledger.runs()] == [1, 2, 4]
    with pytest.raises(LookupError, match="no run 'C'"):
        ledger.delete(["A", "C"])
    assert len(ledger.runs()) == 3
    assert len(ledger.delete([run.reference for run in ledger.runs()])) == 3
    assert ledger.runs() == ()
    with pytest.raises(LookupError, match="has no runs"):
        ledger.run("B")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("b", r"did you mean 'B'\?"),
        ("release-yolO", r"did you mean 'release-yolo'\?"),
        ("nothing alike", "the newest are 'release-yolo', 'B'"),
        ("B@7", "have the numbers 1, 2"),
        ("@7", "the newest are"),
        ("@-4", "the newest are"),
    ],
)
def test_a_run_that_is_not_there_is_named(ledger: Ledger, evaluation: Evaluation, reference: str, message: str) -> None:
    for name in ("B", "B", "release-yolo"):
        ledger.add(evaluation, name=name)
    with pytest.raises(LookupError, match=message):
        ledger.run(reference)


def test_references_have_a_form(ledger: Ledger, evaluation: Evaluation) -> None:
    ledger.add(evaluation, name="B")
    with pytest.raises(ValueError, match="begin with 1"):
        ledger.run("B@0")
    with pytest.raises(ValueError, match="empty text"):
        ledger.run("")
    with pytest.raises(TypeError, match="got float"):
        ledger.run(1.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="got bool"):
        ledger.run(True)


def test_runs_are_chosen_and_sorted(ledger: Ledger, evaluation: Evaluation) -> None:
    worse = made(seed=4)
    for name, which, tags, values in (
        ("yolo-s", evaluation, {"lr": "1"}, {"latency": 5.0}),
        ("yolo-m", worse, {"lr": "2", "release": ""}, {}),
        ("[ab]*", evaluation, {}, {"latency": 3.0}),
    ):
        ledger.add(which, name=name, tags=tags, values=values)

    def ids(**options: Any) -> list[int]:
        return [run.id for run in ledger.runs(**options)]

    assert ids(name="yolo-*") == [1, 2]
    assert ids(name="[ab]*") == [3]  # the name itself, although it is a pattern as well
    assert ids(name="YOLO-S") == []
    assert ids(tags={"lr": "2"}) == [2]
    assert ids(tags={"lr": None}) == [1, 2]
    assert ids(tags={"lr": None, "release": ""}) == [2]
    assert ids(sort="latency") == [2, 3, 1]  # without the number before all
    assert ids(sort="-latency") == [2, 1, 3]
    assert ids(sort="latency", last=1) == [1]
    assert ids(sort="name") == [3, 2, 1]
    assert ids(last=2) == [2, 3]
    assert ids(sort="counts/images") == [1, 2, 3]
    expected = [1, 3, 2] if evaluation.summary["AP"] < worse.summary["AP"] else [2, 1, 3]
    assert ids(sort="AP") == expected
    with pytest.raises(ValueError, match=r"no run has the number 'ap' .* AP, AP50"):
        ids(sort="ap")
    with pytest.raises(ValueError, match="at least 1"):
        ids(last=0)


def test_runs_are_copied_once(ledger: Ledger, evaluation: Evaluation, tmp_path: Path) -> None:
    for name in "ABB":
        ledger.add(evaluation, name=name, values={"latency": 3.5})
    other = Ledger(tmp_path / "other.db")
    other.add(made(seed=4), name="B")
    assert [run.reference for run in ledger.copy_to(other, ["B@2", "A"])] == ["B@2", "A@1"]
    assert [run.reference for run in ledger.copy_to(other)] == ["B@3"]
    assert [run.uid for run in other.runs()[1:]] == [ledger.run(one).uid for one in ("B@2", "A", "B@1")]
    assert other.evaluation("A").to_json() == evaluation.to_json()
    assert other.run("A").values == {"latency": 3.5}
    third = Ledger(tmp_path / "third.db")
    assert [run.reference for run in ledger.copy_to(third, ["B@2"])] == ["B@2"], "a copy keeps a number that is new"
    assert third.add(evaluation, name="B").reference == "B@3"
    with pytest.raises(ValueError, match="the ledger to copy from"):
        ledger.copy_to(Ledger(ledger.path))
    with pytest.raises(LookupError, match="no run 'C'"):
        ledger.copy_to(Ledger(tmp_path / "new.db"), ["A", "C"])
    assert not (tmp_path / "new.db").exists()


def test_equal_tables_are_kept_once(ledger: Ledger, evaluation: Evaluation) -> None:
    first = ledger.add(evaluation, name="B")
    for _ in range(5):
        assert ledger.add(evaluation, name="B").table_sha256 == first.table_sha256
    assert Path(ledger.path).read_bytes().count(b"x\x01") == 1  # where zlib begins
    ledger.delete(["B@1"])
    assert ledger.evaluation("B@2").to_json() == evaluation.to_json()


def test_a_ledger_is_only_a_path(ledger: Ledger, evaluation: Evaluation) -> None:
    with pytest.raises(FileNotFoundError, match="no such ledger"):
        ledger.runs()
    assert not Path(ledger.path).exists()
    run = ledger.add(evaluation, name="B")
    assert pickle.loads(pickle.dumps(ledger)).runs() == (run,)
    assert repr(ledger) == f"Ledger({ledger.path!r})"
    assert repr(run).startswith("Run(B@1, id 1, ")
    with pytest.raises(TypeError, match="got bytes"):
        Ledger(b"runs.db")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="number of seconds"):
        Ledger("runs.db", timeout=-1)


TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40)
SURROGATES = st.text(st.characters(), min_size=1, max_size=10)


@settings(max_examples=60, deadline=None)
@given(name=TEXT | SURROGATES, tags=st.dictionaries(TEXT, TEXT | st.just(""), max_size=3), number=st.floats())
def test_any_text_is_kept_or_refused(name: str, tags: dict[str, str], number: float) -> None:
    evaluation = EVALUATION
    with tempfile.TemporaryDirectory() as folder:
        ledger = Ledger(Path(folder) / "runs.db")
        added, refused = None, ""
        try:
            added = ledger.add(evaluation, name=name, tags=tags, values={"latency": number})
        except ValueError as error:
            refused = str(error)
        if refused:
            assert "must" in refused
            assert not Path(ledger.path).exists()
            return
        (run,) = ledger.runs(name=name, tags=tags)
        assert (run, run.name, run.tags, run.values) == (added, name, tags, {"latency": number})
        assert ledger.run(name) == run == ledger.run(run.reference)
        assert ledger.delete([name]) == (run,)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "'; DROP TABLE runs; --",
            '"',
            "%",
            "_",
            "B@",
            "@",
            "@x",
            "B@1.5",
            "B@ 1",
            "-1",
            "--log",
            "*",
            "?",
            "../../etc",
        ),
        *("NULL", "\N{DOG}\N{ZERO WIDTH JOINER}\N{DOG}", "\N{RIGHT-TO-LEFT OVERRIDE}B", "e\N{COMBINING ACUTE ACCENT}"),
        *("<b>B</b>", "$(touch x)", "B\N{NO-BREAK SPACE}B", "x" * 500),
    ],
)
def test_hostile_names_are_names_like_others(ledger: Ledger, name: str) -> None:
    ledger.add(EVALUATION, name="other")
    run = ledger.add(EVALUATION, name=name, tags={name: name})
    assert ledger.run(name) == run
    assert ledger.runs(tags={name: name}) == (run,)
    assert ledger.run(f"{name}@1") == run


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *(("", "empty"), (" B", "space"), ("B ", "space"), ("B\n", "space"), ("B\nC", "control"), ("B\0C", "control")),
        *(
            ("\ud800", "control"),
            ("B@2", "end with @"),
            ("@7", "end with @"),
            ("B@-2", "end with @"),
            ("x" * 501, "500"),
        ),
    ],
)
def test_names_that_are_refused(ledger: Ledger, name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ledger.add(EVALUATION, name=name)
    assert not Path(ledger.path).exists()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"tags": {"a=b": "c"}}, ValueError, "equals sign"),
        ({"tags": {"a": 1}}, TypeError, "numbers may be values"),
        ({"tags": {1: "a"}}, TypeError, "must be text"),
        ({"tags": ["a"]}, TypeError, "must be a mapping"),
        ({"tags": {"a": "x" * 10_001}}, ValueError, "10,000 characters"),
        ({"values": {"latency": "12"}}, TypeError, "must be a number"),
        ({"values": {"latency": float("nan")}}, ValueError, "finite"),
        ({"values": {"latency": float("inf")}}, ValueError, "finite"),
        ({"values": {"latency": 10**400}}, ValueError, "finite"),
        ({"values": 12}, TypeError, "must be a mapping"),
        ({"options": {"a": object()}}, TypeError, "JSON"),
        ({"name": 7}, TypeError, "must be text"),
    ],
)
def test_wrong_arguments_are_refused(
    ledger: Ledger, options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        ledger.add(EVALUATION, **{"name": "B", **options})
    assert not Path(ledger.path).exists()


def test_an_id_with_another_time_zone_is_in_utc(ledger: Ledger) -> None:
    there = datetime.timezone(datetime.timedelta(hours=9))
    run = ledger.add(EVALUATION, name="B", created=NOON.astimezone(there))
    assert run.created == "2026-11-22T12:00:00Z"
    assert isinstance(run, Run)


EVALUATION = made(images=2)
