"""What type checkers know of typical calls. `mypy` checks this file with all; the slow test asks Pyright, too."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pytest
from numpy.typing import NDArray

import ioukit
from ioukit._array_types import Ids
from ioukit.evaluation import REGION_KINDS, TABLES
from ioukit.evaluation.protocols import PROTOCOLS
from ioukit.postprocess import Suppression
from ioukit.statistics import Comparison, Interval, compare
from ioukit.typing import FloatArray, IouType, ProtocolName, TableName

if TYPE_CHECKING:
    from typing_extensions import assert_type
else:

    def assert_type(value: Any, kind: Any) -> Any:  # noqa: ARG001 - Python 3.10 has none
        return value


BOXES = np.array([[0.0, 0.0, 10.0, 10.0], [1.0, 1.0, 9.0, 9.0]])
SCORES = np.array([0.9, 0.8])
GT = ioukit.GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=BOXES)
DT = ioukit.Detections.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=BOXES, scores=SCORES)


class OtherTensor:
    """An array of another library, as type checkers see it."""

    def cpu(self) -> OtherTensor:
        raise NotImplementedError


def test_numpy_in_numpy_out() -> None:
    overlaps = assert_type(ioukit.pairwise_iou(BOXES, BOXES), FloatArray)
    assert isinstance(overlaps, np.ndarray)
    assert_type(ioukit.pairwise_giou([[0, 0, 1, 1]], ioukit.Boxes(BOXES)), FloatArray)
    assert_type(ioukit.elementwise_iou(BOXES, BOXES, format="xywh"), FloatArray)
    assert_type(ioukit.pairwise_ioa(BOXES, BOXES, of="first"), FloatArray)
    assert_type(ioukit.elementwise_nwd(BOXES, [[0, 0, 1, 1]], constant=12.8), FloatArray)
    kept = assert_type(ioukit.nms(BOXES, SCORES, 0.5), Ids)
    assert_type(ioukit.fast_nms(BOXES, [0.9, 0.8], 0.5), Ids)
    keep, lowered = ioukit.soft_nms(BOXES, SCORES, method="gaussian", sigma=0.5)
    assert isinstance(assert_type(keep, Ids), np.ndarray)
    assert isinstance(assert_type(lowered, NDArray[Any]), np.ndarray)
    padded = ioukit.nms_padded(boxes=BOXES, scores=SCORES, iou_threshold=0.5, max_keep=4)
    assert isinstance(assert_type(padded, tuple[Ids, NDArray[Any]]), tuple)
    assert isinstance(kept, np.ndarray)
    assert isinstance(assert_type(ioukit.nms(BOXES, SCORES, 0.5, explain=True), Suppression), Suppression)


def tensor_in_tensor_out(tensor: OtherTensor) -> None:
    """For type checkers alone."""
    assert_type(ioukit.pairwise_iou(tensor, tensor), OtherTensor)
    assert_type(ioukit.elementwise_iou(tensor, tensor), OtherTensor)
    assert_type(ioukit.nms(tensor, tensor, 0.5), OtherTensor)
    assert_type(ioukit.nms(tensor, tensor, 0.5, explain=True), Suppression)
    assert_type(ioukit.pairwise_mpdiou(tensor, tensor, image_size=(640, 480)), OtherTensor)
    assert_type(ioukit.elementwise_alpha_iou(tensor, tensor, alpha=2.0), OtherTensor)
    assert_type(ioukit.fast_nms(tensor, tensor), OtherTensor)
    assert_type(ioukit.matrix_nms(tensor, tensor, kernel="linear"), tuple[OtherTensor, OtherTensor])
    assert_type(ioukit.soft_nms(ioukit.Boxes(BOXES), tensor), tuple[OtherTensor, OtherTensor])


def test_results_have_types() -> None:
    evaluation = assert_type(ioukit.evaluate(GT, DT, "voc2012", iou_type="bbox"), ioukit.Evaluation)
    assert isinstance(assert_type(evaluation.interval("mAP", replicates=10), Interval), Interval)
    found = assert_type(evaluation.intervals(replicates=10), dict[str, Interval])
    assert isinstance(found["mAP"], Interval)
    assert isinstance(assert_type(compare(evaluation, evaluation, replicates=10), Comparison), Comparison)


def test_names_that_editors_offer_are_those_that_exist() -> None:
    """The text that they also accept is for what users add."""

    def offered(kind: Any) -> set[str]:
        literal, text = get_args(kind)
        assert text is str
        return set(get_args(literal))

    assert offered(IouType) == set(REGION_KINDS)
    assert offered(ProtocolName) == set(PROTOCOLS)
    assert offered(TableName) == set(TABLES)


REVEALED = """
import numpy as np
import pandas
import ioukit
from ioukit.statistics import compare


class Tensor:
    def cpu(self) -> "Tensor": ...


boxes, scores, tensor = np.zeros((2, 4)), np.zeros(2), Tensor()
evaluation = ioukit.evaluate("gt.json", "dt.json", "voc2012")
reveal_type(evaluation)
reveal_type(ioukit.pairwise_iou(boxes, boxes))
reveal_type(ioukit.pairwise_iou(tensor, tensor))
reveal_type(ioukit.nms(boxes, scores, 0.5))
reveal_type(ioukit.nms(tensor, tensor, 0.5))
reveal_type(ioukit.nms(boxes, scores, 0.5, explain=True))
reveal_type(ioukit.pairwise_ioa(boxes, boxes, of="first"))
reveal_type(ioukit.elementwise_inner_iou(tensor, tensor, ratio=0.7))
reveal_type(ioukit.fast_nms(boxes, scores))
reveal_type(ioukit.soft_nms(boxes, scores, sigma=0.3)[0])
reveal_type(ioukit.nms_padded(tensor, tensor, 0.5, max_keep=3)[1])
reveal_type(evaluation.interval("AP"))
reveal_type(evaluation.to_pandas("per_image"))
reveal_type(compare(evaluation, evaluation))
"""
SEEN = (
    *("ioukit.evaluation.results.Evaluation", "numpy.floating", "Tensor", "numpy.signedinteger", "Tensor"),
    *("Suppression", "numpy.floating", "Tensor", "numpy.signedinteger", "numpy.signedinteger", "Tensor"),
    *("Interval", "DataFrame", "Comparison"),
)


@pytest.mark.slow
@pytest.mark.parametrize("checker", ["mypy", "basedpyright"])
def test_type_checkers_know_what_typical_calls_return(checker: str, tmp_path: Path) -> None:
    program = shutil.which(checker, path=f"{Path(sys.executable).parent}:{Path.home() / '.local/bin'}")
    if program is None:
        pytest.skip(f"needs {checker}")
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas" / "__init__.pyi").write_text("class DataFrame: ...\n")
    calls = tmp_path / "calls.py"
    calls.write_text(REVEALED)
    source = Path(ioukit.__file__).parents[1]
    if checker == "basedpyright":
        (tmp_path / "pyrightconfig.json").write_text(f'{{"extraPaths": ["{source}", "."]}}')
        command = [program, "--pythonpath", sys.executable, str(calls)]
    else:
        command = [program, "--config-file", "", "--ignore-missing-imports", str(calls)]
    # mypy refuses a path on which packages are installed: there, it finds them by itself.
    own = [] if source == Path(sysconfig.get_path("platlib")) else [source]
    environment = {"MYPYPATH": ":".join(map(str, [*own, tmp_path])), "PATH": "/usr/bin:/bin"}
    said = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False).stdout
    types = re.findall(r'(?:Revealed type is|Type of ".*" is) "(.*)"', said)
    assert len(types) == len(SEEN), said
    for kind, seen in zip(types, SEEN, strict=True):
        assert seen.rpartition(".")[2] in kind
        assert kind not in ("Any", "Unknown")
