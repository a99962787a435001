"""A Ray cluster of this machine, whose tasks can be told to fail, and data with what it should give."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate, read_coco
from support import ray_faults
from support.paths import EXAMPLES, IMPORTED_FROM, ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

VAL2017 = EXAMPLES / "coco_val2017_100"
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
        paths = (IMPORTED_FROM, ROOT / "tests", *filter(None, [os.environ.get("PYTHONPATH")]))
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, paths)))
        patch.setenv(ray_faults.FAULTS, str(tmp_path_factory.mktemp("faults")))
        short = tempfile.mkdtemp(prefix="r")  # names of Ray's sockets have at most 107 bytes
        patch.setenv("TMPDIR", short)
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "testing")  # for a store of this machine
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")
        patch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
        patch.setenv("RAY_local_fs_capacity_threshold", "1")  # else it writes no objects to a disk with little space
        patch.setattr(tempfile, "tempdir", None)
        yield
    shutil.rmtree(short, ignore_errors=True)


@pytest.fixture(scope="module")
def cluster(environment: None) -> Iterator[None]:  # noqa: ARG001 - workers inherit it
    ray = pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
    ray.init(num_cpus=2, object_store_memory=200_000_000, **ray_faults.options())
    yield
    ray.shutdown()


@pytest.fixture
def nothing_left(environment: None) -> Iterator[None]:  # noqa: ARG001 - its folders
    ray_faults.clear()
    yield
    assert not list(Path(tempfile.gettempdir()).glob("ioukit*"))
