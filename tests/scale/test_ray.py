"""Evaluation on Ray: the same bits as in one process, for any parts and faults; clear errors; nothing left behind."""

from __future__ import annotations

import os
import pickle
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import COCO, Detections, Evaluation, GroundTruth, evaluate, read_coco, scale
from ioukit.evaluation.protocols import PROTOCOLS
from support import ray_faults
from support.paths import EXAMPLES
from support.same_columns import assert_same_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
pytestmark = [
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

VAL2017 = EXAMPLES / "coco_val2017_100"
ROOT = Path(__file__).parents[2]
Scene = tuple[GroundTruth, Detections]


@pytest.fixture(scope="module")
def real() -> Scene:
    return read_coco(VAL2017 / "ground_truth.json", VAL2017 / "yolact.json")


@pytest.fixture(scope="module")
def expected(real: Scene) -> Evaluation:
    return evaluate(*real, near=0.1)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What workers inherit: where the package and the faults are, and a folder of their own for temporary files."""
    with pytest.MonkeyPatch.context() as patch:
        paths = (ROOT / "src", ROOT / "tests", *filter(None, [os.environ.get("PYTHONPATH")]))
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
        patch.setenv(ray_faults.FAULTS, str(tmp_path_factory.mktemp("faults")))
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("temporary")))
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.setattr(tempfile, "tempdir", None)
        yield


OPTIONS: dict[str, Any] = {
    "include_dashboard": False,
    "log_to_driver": False,
    "logging_level": "ERROR",
    "runtime_env": {"worker_process_setup_hook": "support.ray_faults.install"},
}


@pytest.fixture(scope="module")
def cluster(environment: None) -> Iterator[None]:  # noqa: ARG001 - workers inherit it
    ray.init(num_cpus=2, object_store_memory=200_000_000, **OPTIONS)
    yield
    ray.shutdown()


@pytest.fixture(autouse=True)
def nothing_left(environment: None) -> Iterator[None]:  # noqa: ARG001 - its folders
    ray_faults.clear()
    yield
    assert not list(Path(tempfile.gettempdir()).glob("ioukit*"))


def assert_same(ours: Evaluation, expected: Evaluation) -> None:
    """Table, curves and numbers, bit for bit."""
    assert_same_columns(pickle.loads(pickle.dumps(ours.matches)), expected.matches)
    assert_same_columns(ours.curves, expected.curves)
    fields = ours.to_dict(), expected.to_dict()
    for each in fields:
        each.pop("notes")
    assert fields[0] == fields[1]


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize("parts", [1, 2, 8, 70])  # 70: more than one task merges
def test_any_parts_give_the_same_bits(real: Scene, expected: Evaluation, parts: int, tmp_path: Path) -> None:
    ours = scale.evaluate(*real, near=0.1, parts=parts, on="ray")
    assert_same(ours, expected)
    shared = scale.evaluate(*real, near=0.1, parts=parts, work=tmp_path / "work", on="ray")
    assert_same(shared, expected)
    assert_same(scale.evaluate(*real, near=0.1, work=tmp_path / "work"), expected)  # what Ray did is not done again
    assert not list((tmp_path / "work").rglob(".ioukit*"))


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    "protocol",
    [PROTOCOLS["voc2012"], PROTOCOLS["crowdhuman"], COCO.replace(class_agnostic=True)],
    ids=lambda rules: rules.name,
)
def test_other_rules(real: Scene, protocol: Any) -> None:
    chosen = real[0].categories.names[:3]
    ours = scale.evaluate(*real, protocol, parts=4, categories=chosen, on="ray")
    assert_same(ours, evaluate(*real, protocol, categories=chosen))


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("step", "fault"),
    [
        ("split_step", "kill"),
        ("split_step", "memory"),
        ("split_step", "twice"),
        ("match_step", "kill"),
        ("match_step", "memory"),
        ("match_in_files", "kill"),
        ("match_in_files", "twice"),
        ("draw_of_runs", "kill"),
        ("draw_of_runs", "twice"),
        ("draw_of_files", "kill"),
        ("conduct", "kill"),
    ],
)
def test_a_fault_changes_nothing(real: Scene, expected: Evaluation, step: str, fault: str, tmp_path: Path) -> None:
    work = tmp_path / "work" if step in ("draw_of_files", "match_in_files") else None
    ray_faults.plant(step.replace("match_in_files", "match_step"), fault, 1)
    ours = scale.evaluate(*real, near=0.1, parts=3, work=work, on="ray", timeout=60)
    assert ray_faults.planted_times() == 1
    assert_same(ours, expected)
    assert work is None or not list(work.rglob(".ioukit*"))


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("fault", "error", "message"),
    [
        ("memory", MemoryError, r"^part 0 of 1 \(images \d+ to \d+\): out of memory .*use more parts"),
        ("kill", RuntimeError, r"^part 0 of 1 \(images \d+ to \d+\): its worker died"),
    ],
)
def test_a_fault_that_stays_is_named(real: Scene, fault: str, error: type[Exception], message: str) -> None:
    ray_faults.plant("match_step", fault, 1000)
    with pytest.raises(error, match=message):
        scale.evaluate(*real, parts=1, on="ray", timeout=60)


@pytest.mark.usefixtures("cluster")
def test_time_limits(real: Scene) -> None:
    ray_faults.plant("match_step", "sleep", 2)
    start = time.monotonic()
    with pytest.raises(
        TimeoutError, match=r"^expected an end within timeout=3 s; not done: (part [01] of 2 \(images|piece)"
    ):
        scale.evaluate(*real, parts=2, on="ray", timeout=3)
    assert time.monotonic() - start < 20
    ray_faults.clear()
    assert scale.evaluate(*real, parts=2, on="ray", timeout=60).summary  # the cores are free again


@pytest.mark.usefixtures("cluster")
def test_no_rows_pass_through_this_process(real: Scene, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What arrives is as large for a tenth of the detections: curves and headers."""
    sizes: list[int] = []
    get = ray.get

    def counted(reference: Any, **options: Any) -> Any:
        value = get(reference, **options)
        sizes.append(len(pickle.dumps(value)))
        return value

    monkeypatch.setattr(ray, "get", counted)
    for step in (10, 1):
        detections = real[1].take(slice(None, None, step))
        scale.evaluate(real[0], detections, parts=2, work=tmp_path / str(step), on="ray", timeout=60)
    assert len(sizes) == 2
    assert sizes[0] == pytest.approx(sizes[1], abs=200)
