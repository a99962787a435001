"""Operating points: what they keep, their file, and who reads it."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import DatasetError, filter_detections
from ioukit.postprocess import IsotonicMap, OperatingPoints, PlattMap, ScoreMap, TemperatureMap
from postprocess.test_filter import head, plainly
from support.command import run_here
from support.malformed import damaged

if TYPE_CHECKING:
    from pathlib import Path

ISOTONIC = IsotonicMap(np.array([0.1, 0.4, 0.8]), np.array([0.0, 0.5, 0.5]))
MAPS: tuple[ScoreMap, ...] = (TemperatureMap(1.7), PlattMap(0.4, -0.8), ISOTONIC)
NAMES = ["cat", "dog", "owl \N{BIRD}"]


def points(maps: tuple[ScoreMap, ...] = ()) -> OperatingPoints:
    return OperatingPoints.of(
        NAMES, [0.3, math.nan, 1 / 3], category_ids=[17, 3, 90], maps=maps, rule="f1", chosen_on={"images": 7}
    )


def test_apply_keeps_equal_scores_and_none_without_a_threshold() -> None:
    scores = [0.3, np.nextafter(0.3, 0), 1 / 3, 0.9, 0.9]
    applied = points().apply(scores, [17, 17, 90, 3, 90])
    assert applied.keep.tolist() == [True, False, True, False, True]
    assert applied.scores.tolist() == scores
    same = points().apply(scores, [0, 0, 2, 1, 2], labels_are="positions")
    assert_array_equal(same.keep, applied.keep)
    single = points().apply(np.array([0.3, 1 / 3], np.float32), [17, 90])
    assert single.keep.all(), "thresholds have the type of the scores"
    assert single.scores.dtype == np.float32
    assert points().apply([], []).keep.shape == (0,)


@given(st.lists(st.tuples(st.floats(0, 1), st.sampled_from([17, 3, 90])), max_size=20))
def test_calibration_changes_scores_and_no_decision(rows: list[tuple[float, int]]) -> None:
    scores, labels = [score for score, _ in rows], [label for _, label in rows]
    plain, mapped = points().apply(scores, labels), points(MAPS).apply(scores, labels)
    assert_array_equal(plain.keep, mapped.keep)
    for score, label, found in zip(scores, labels, mapped.scores.tolist(), strict=True):
        assert found == MAPS[[17, 3, 90].index(label)]([score])[0]
        assert 0 <= found <= 1
    shared = points(MAPS[:1]).apply(scores, labels)
    assert_array_equal(shared.scores, MAPS[0](scores))


@pytest.mark.parametrize("one", MAPS, ids=lambda one: type(one).__name__)
@given(scores=st.lists(st.floats(0, 1), max_size=30))
def test_a_map_keeps_the_order(one: ScoreMap, scores: list[float]) -> None:
    scores = sorted([0.0, *scores, 1.0])
    found = one(scores)
    assert (np.diff(found) >= 0).all()
    assert np.isfinite(found).all()


def test_maps_that_can_be_counted() -> None:
    assert TemperatureMap(2.0)([0.5, 0.8])[0] == 0.5
    assert TemperatureMap(2.0)([0.8])[0] == pytest.approx(2 / 3)  # odds of 4 become odds of 2
    assert PlattMap(1.0, math.log(2))([0.5])[0] == pytest.approx(2 / 3)
    assert PlattMap(0.0, 0.0)([0.0, 1.0]).tolist() == [0.5, 0.5]
    assert ISOTONIC([0, 0.1, 0.25, 0.4, 0.7, 0.8, 1]).tolist() == pytest.approx([0, 0, 0.25, 0.5, 0.5, 0.5, 0.5])
    assert TemperatureMap(1.0)([0.0, 1.0]) == pytest.approx([0, 1], abs=2e-7)


def test_wrong_arguments() -> None:
    with pytest.raises(
        ValueError, match=r"category id 4 has no threshold; the operating points have 3 classes: 3, 17, 90"
    ):
        points().apply([0.5, 0.5], [17, 4])
    with pytest.raises(ValueError, match=r"class 3 has no threshold"):
        points().apply([0.5], [3], labels_are="positions")
    with pytest.raises(ValueError, match=r"scores must have shape \(N,\), got \(1, 1\)"):
        points().apply([[0.5]], [17])
    with pytest.raises(ValueError, match=r"labels must have shape \(2,\)"):
        points().apply([0.5, 0.5], [17])
    with pytest.raises(ValueError, match="scores must be numbers, got nan"):
        points().apply([math.nan], [17])
    with pytest.raises(ValueError, match=r"scores must be within \[0, 1\], got 3.5"):
        points(MAPS).apply([3.5], [17])
    assert points().apply([3.5], [17]).keep.all(), "logits have thresholds, too"
    with pytest.raises(TypeError, match="labels must be integers"):
        points().apply([0.5], ["cat"])
    with pytest.raises(ValueError, match="unknown labels_are 'name'"):
        points().apply([0.5], [17], labels_are="name")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="category_ids must differ"):
        OperatingPoints.of(["a", "b"], 0.5, category_ids=[1, 1])
    with pytest.raises(ValueError, match=r"thresholds must be one number, or one per class \(2\)"):
        OperatingPoints.of(["a", "b"], [0.5])
    with pytest.raises(ValueError, match="at most"):
        OperatingPoints.of(["a"], math.inf)
    with pytest.raises(ValueError, match=r"maps must be none, one, or one per class \(3\), got 2"):
        OperatingPoints.of(["a", "b", "c"], 0.5, maps=MAPS[:2])
    with pytest.raises(ValueError, match="temperature must be positive and finite, got 0"):
        TemperatureMap(0)
    with pytest.raises(ValueError, match="slope must be at least 0"):
        PlattMap(-1, 0)
    with pytest.raises(ValueError, match="slope must be finite"):
        PlattMap(math.nan, 0)


def test_classes_are_chosen_by_name_or_id_in_another_order() -> None:
    chosen = points(MAPS).for_classes([NAMES[2], 17])
    assert (chosen.names, chosen.category_ids.tolist()) == ((NAMES[2], "cat"), [90, 17])
    assert chosen.thresholds.tolist() == [1 / 3, 0.3]
    assert chosen.maps == (MAPS[2], MAPS[0])
    assert points(MAPS[:1]).for_classes(["dog"]).maps == MAPS[:1]
    with pytest.raises(ValueError, match="no category has the name 'dgo'; did you mean 'dog'"):
        points().for_classes(["dgo"])
    with pytest.raises(TypeError, match="expected a list"):
        points().for_classes("dog")


def same(a: OperatingPoints, b: OperatingPoints) -> None:
    assert_array_equal(a.thresholds, b.thresholds)
    assert_array_equal(a.category_ids, b.category_ids)
    assert (a.names, a.rule, dict(a.chosen_on), a.version) == (b.names, b.rule, dict(b.chosen_on), b.version)
    assert len(a.maps) == len(b.maps)
    for one, other in zip(a.maps, b.maps, strict=True):
        if isinstance(one, IsotonicMap):
            assert isinstance(other, IsotonicMap)
            assert_array_equal(one.scores, other.scores)
            assert_array_equal(one.values, other.values)
        else:
            assert one == other


number = st.floats(-1e6, 1e6) | st.just(math.nan)
isotonic = st.lists(st.floats(0, 1), min_size=1, max_size=5, unique=True).map(
    lambda x: IsotonicMap(np.sort(np.array(x)), np.sort(np.array(x) ** 2))
)
some_map = (
    st.floats(1e-3, 1e3).map(TemperatureMap)
    | st.tuples(st.floats(0, 99), st.floats(-99, 99)).map(lambda x: PlattMap(*x))
    | isotonic
)


@st.composite
def any_points(draw: st.DrawFn) -> OperatingPoints:
    names = draw(st.lists(st.text(max_size=5), max_size=4))
    count = len(names)
    ids = draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=count, max_size=count, unique=True))
    thresholds = draw(st.lists(number, min_size=count, max_size=count))
    maps = draw(st.sampled_from([0, 1, count]).flatmap(lambda size: st.lists(some_map, min_size=size, max_size=size)))
    on = draw(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text(), max_size=3))
    return OperatingPoints.of(names, thresholds, category_ids=ids, maps=maps, rule=draw(st.text()), chosen_on=on)


@given(any_points())
def test_what_is_written_is_read_to_the_last_bit(tmp_path_factory: pytest.TempPathFactory, given: Any) -> None:
    path = tmp_path_factory.mktemp("points") / "points.json"
    given.save(path)
    same(OperatingPoints.load(path), given)
    assert OperatingPoints.load(path).to_json() == given.to_json()
    same(copy.deepcopy(given), given)
    same(pickle.loads(pickle.dumps(given)), given)


def test_points_are_frozen() -> None:
    with pytest.raises(ValueError, match="read-only"):
        points().thresholds[0] = 1
    assert repr(points(MAPS)) == "OperatingPoints(3 classes, chosen for f1, with calibration)"
    assert len(points()) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "other"}, "expected a file of operating points, with format 'ioukit operating points', found for"),
        ({"version": 2}, r"expected version 1 of the format, found 2: a newer ioukit wrote it \('0"),
        ({"version": "1"}, "version: expected a whole number of at least 1, found '1'"),
        ({"rule": None}, "rule: expected text, found nothing"),
        ({"rule": ...}, "expected the member 'rule', found none"),
        ({"more": 1}, "expected the members format, .* alone, found the member 'more'"),
        ({"classes": {}}, "classes: expected a list"),
        ({"classes": [3]}, r"classes\[0\]: expected an object, found 3"),
        ({"classes": [{"id": 1.5, "name": "a", "threshold": 1}]}, r"classes\[0\].id: expected a whole number"),
        ({"classes": [{"id": 1, "name": 2, "threshold": 1}]}, r"classes\[0\].name: expected text, found 2"),
        ({"classes": [{"id": 1, "name": "a", "threshold": "0.5"}]}, r"threshold: expected a number, found '0.5'"),
        ({"classes": [{"id": 1, "name": "a"}]}, "expected the member 'threshold', found none"),
        ({"classes": 2 * [{"id": 1, "name": "a", "threshold": 1}]}, r"classes\[1\].id: expected each id once, found 1"),
        ({"chosen_on": {"a": []}}, r"chosen_on.a: expected text, a number, true, false or null, found \[\]"),
        ({"calibration": {"method": "spline"}}, "calibration.method: expected one of temperature, platt, isotonic"),
        ({"calibration": {"method": "temperature", "temperature": 0}}, "temperature must be positive"),
        ({"calibration": {"method": "platt", "slope": 1}}, "expected the member 'offset', found none"),
        ({"calibration": {"method": "isotonic", "scores": [0.5, 0.1], "values": [0, 1]}}, "scores must ascend"),
        ({"calibration": {"method": "isotonic", "scores": [0.1, 0.5], "values": [1, 0]}}, "values must not fall"),
        ({"calibration": {"method": "isotonic", "scores": [0.1], "values": [2]}}, r"must be within \[0, 1\]"),
        ({"calibration": {"method": "isotonic", "scores": [], "values": []}}, "one shape"),
        (
            {"classes": [{"id": 1, "name": "a", "threshold": 1, "calibration": {"method": "platt"}}],
             "calibration": {"method": "temperature", "temperature": 1}},
            "expected one for all classes, or one in each class, found both",
        ),
    ],
)  # fmt: skip
def test_wrong_files(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    document = {**json.loads(points().to_json()), **change}
    path = tmp_path / "points.json"
    path.write_text(json.dumps({key: value for key, value in document.items() if value is not ...}))
    with pytest.raises(DatasetError, match=rf"points.json: .*{message}|points.json: {message}"):
        OperatingPoints.load(path)


def refusal(path: Path) -> str | None:
    try:
        OperatingPoints.load(path)
    except DatasetError as error:
        return str(error)
    return None


def test_damaged_files_are_refused_with_their_name(tmp_path: Path) -> None:
    path = tmp_path / "points.json"
    refused = 0
    for what, content in damaged(points(MAPS).to_json().encode()):
        path.write_bytes(content)
        error = refusal(path)
        assert error is None or str(path) in error, what
        refused += error is not None
    assert refused > 100
    for content in (b"", b"\xff\xfe", b"[1, 2]", b"PK\x03\x04"):
        path.write_bytes(content)
        with pytest.raises(DatasetError, match=r"points\.json"):
            OperatingPoints.load(path)
    with pytest.raises(FileNotFoundError):
        OperatingPoints.load(tmp_path / "missing.json")


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "points.json"
    path.write_text("before")
    bad = OperatingPoints.of(["a"], 0.5, chosen_on={"images": np.int64(3)})
    with pytest.raises(TypeError, match="not JSON serializable"):
        bad.save(path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["points.json"]


class TestFilterDetections:
    @pytest.mark.parametrize("options", [{}, {"multi_label": False}, {"class_agnostic": True}, {"max_detections": 4}])
    def test_equals_one_threshold_where_all_are_equal(self, options: dict[str, Any]) -> None:
        boxes, scores, objectness = head(3)
        plain = filter_detections(boxes, scores, objectness=objectness, score_threshold=0.3, **options)
        each = OperatingPoints.of(["a", "b", "c"], 0.3)
        found = filter_detections(boxes, scores, objectness=objectness, operating_points=each, **options)
        for name in ("images", "labels", "boxes", "scores", "rows"):
            assert_array_equal(getattr(found, name), getattr(plain, name))

    @pytest.mark.parametrize("seed", range(5))
    def test_one_threshold_per_class_is_the_plain_rule(self, seed: int, tmp_path: Path) -> None:
        boxes, scores, _ = head(seed, images=1)
        thresholds = [0.2, math.nan, 0.6]
        path = tmp_path / "points.json"
        OperatingPoints.of(["a", "b", "c"], thresholds).save(path)
        found = filter_detections(boxes[0], scores[0], operating_points=path)
        below = np.where(scores[0] >= np.nan_to_num(thresholds, nan=9.0), scores[0], -1.0)
        expected = plainly(boxes[0], below, score_threshold=0.0)
        assert list(zip(found.scores, found.rows, found.labels, strict=True)) == expected
        assert len(expected) > 3

    def test_calibrated_scores_of_the_same_detections(self) -> None:
        boxes, scores, _ = head(1)
        maps = (TemperatureMap(3.0), ISOTONIC, PlattMap(0.5, 1.0))
        plain = filter_detections(boxes, scores, operating_points=OperatingPoints.of(["a", "b", "c"], 0.3))
        found = filter_detections(boxes, scores, operating_points=OperatingPoints.of(["a", "b", "c"], 0.3, maps=maps))
        expected = sorted(
            (image, -maps[label]([score])[0], row, label)
            for image, score, row, label in zip(plain.images, plain.scores, plain.rows, plain.labels, strict=True)
        )
        rows = zip(found.images, -found.scores, found.rows, found.labels, strict=True)
        assert sorted(rows) == expected
        assert all(np.diff(found.scores[found.images == image]).max() <= 0 for image in range(3))

    def test_wrong_arguments(self) -> None:
        with pytest.raises(ValueError, match=r"class_scores have 2 classes, and the operating points 3"):
            filter_detections([[0, 0, 1, 1]], [[0.5, 0.5]], operating_points=points())
        with pytest.raises(ValueError, match="score_threshold and operating_points are two thresholds"):
            filter_detections([[0, 0, 1, 1]], [[0.5] * 3], operating_points=points(), score_threshold=0.1)
        with pytest.raises(
            TypeError, match="operating_points must be OperatingPoints or the path of their file, got dict"
        ):
            filter_detections([[0, 0, 1, 1]], [[0.5] * 3], operating_points={})  # type: ignore[arg-type]
        assert len(filter_detections(np.zeros((0, 4)), np.zeros((0, 3)), operating_points=points())) == 0
        assert len(filter_detections([], [], operating_points=points())) == 0


class TestNmsCommand:
    RECORDS = (
        '{"image_id": 7, "category_id": 17, "bbox": [10, 10, 20, 20], "score": 0.90, "mine": [1.0]}',
        '{"image_id": 7, "category_id": 17, "bbox": [11, 10, 20, 20], "score": 0.80}',
        '{"image_id": 7, "category_id": 90, "bbox": [10, 10, 20, 20], "score": 0.3333}',
        '{"image_id": 7, "category_id": 90, "bbox": [50, 10, 20, 20], "score": 0.334}',
        '{"image_id": 8, "category_id": 3, "bbox": [50, 10, 20, 20], "score": 0.99}',
    )

    @pytest.fixture
    def files(self, tmp_path: Path) -> tuple[Path, Path, Path]:
        detections, file = tmp_path / "dt.json", tmp_path / "points.json"
        detections.write_text("[" + ",\n".join(self.RECORDS) + "]")
        points().save(file)
        return detections, file, tmp_path / "out.json"

    def test_keeps_what_reaches_its_threshold(self, files: tuple[Path, Path, Path]) -> None:
        detections, file, out = files
        command = run_here("nms", detections, "-o", out, "--operating-points", file)
        assert command.code == 0, command.err
        assert out.read_text() == "[" + ",\n".join([self.RECORDS[0], self.RECORDS[3]]) + "]\n"
        points(MAPS).save(file)
        assert run_here("nms", detections, "-o", out, "--operating-points", file).code == 0
        kept = json.loads(out.read_text())
        assert [record["score"] for record in kept] == [MAPS[0]([0.9])[0], MAPS[2]([0.334])[0]]
        assert kept[0]["mine"] == [1.0]

    def test_wrong_use(self, files: tuple[Path, Path, Path]) -> None:
        detections, file, out = files
        base: list[str | Path] = ["nms", detections, "-o", out, "--operating-points", file]
        for more, message in (
            (["--score-threshold", "0.1"], "--score-threshold is given, too"),
            (["--soft", "linear"], "cannot be used with --soft or --fuse"),
            (["--fuse"], "cannot be used with --soft or --fuse"),
        ):
            refused = run_here(*base, *more)
            assert (refused.code, refused.out) == (2, "")
            assert message in " ".join(refused.err.split())
        refused = run_here("nms", detections, "-o", file, "--operating-points", file)
        assert refused.code == 2
        assert "is an input and would be overwritten" in refused.err
        points().for_classes([17, 3]).save(file)
        refused = run_here(*base)
        assert refused.code == 2
        assert "category id 90 has no threshold" in refused.err
        file.write_text("{}")
        refused = run_here(*base)
        assert refused.code == 2
        assert refused.err.count("\n") == 1
        assert "expected a file of operating points" in refused.err
        assert not out.exists()
