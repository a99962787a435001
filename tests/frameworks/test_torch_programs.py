"""Every public function that takes tensors, in every way to record a PyTorch program.

A recorded program gets other values than those that it was recorded with. Its answer must be that of the call, or the
recording must be refused with a sentence. The table in the docs is compared with what happens here.
"""

from __future__ import annotations

import functools
import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit import anchors, assign, losses, postprocess
from support.compiler import needs_compiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

torch = pytest.importorskip("torch", reason="torch is not installed")
torch_losses = pytest.importorskip("ioukit.torch.losses")

PAGE = Path(__file__).parents[2] / "docs" / "torch_programs.md"


def boxes(seed: int, count: int = 7) -> Any:
    generator = torch.Generator().manual_seed(seed)
    low = torch.rand((count, 2), generator=generator) * 20
    return torch.cat([low, low + 1 + torch.rand((count, 2), generator=generator) * 20], dim=1)


def numbers(seed: int, *shape: int) -> Any:
    return torch.rand(shape, generator=torch.Generator().manual_seed(seed))


def pair(seed: int) -> tuple[Any, ...]:
    return boxes(seed), boxes(seed + 50)


def rotated(seed: int) -> tuple[Any, ...]:
    return tuple(torch.cat([one, one[:, :1]], dim=1) for one in pair(seed))


def scored(seed: int) -> tuple[Any, ...]:
    return boxes(seed), numbers(seed, 7)


def cells(seed: int) -> tuple[Any, ...]:
    return boxes(seed), boxes(seed)[:, :2].floor(), 3 * torch.ones(7, 2)


Case = tuple["Callable[..., Any]", "Callable[[int], tuple[Any, ...]]"]
partial = functools.partial
OPTIONS: dict[str, dict[str, Any]] = {"mpdiou": {"image_size": (64, 48)}, "inner_iou": {"ratio": 0.8}}


def _overlaps(family: str) -> dict[str, Case]:
    return {
        name: (
            partial(getattr(ioukit, name), **OPTIONS.get(name.removeprefix(family), {})),
            rotated if name.endswith(("kfiou", "probiou")) else pair,
        )
        for name in ioukit.__all__
        if name.startswith(family) and name != "pairwise_mask_iou"
    }


def _assigned(name: str, *given: Any, **options: Any) -> Any:
    found = getattr(assign, name)(*given, **options)
    return torch.as_tensor(getattr(found, "one_to_many", found).target)


def _assignments() -> dict[str, Case]:
    points = boxes(1)[:, :2]
    scores, labels = numbers(5, 7, 3), torch.arange(7) % 3
    scene = {"points": points}

    def case(name: str, *extra: Any, **options: Any) -> Case:
        return lambda first, second: _assigned(name, first, *extra[:1], second, *extra[1:], **options), pair

    return {
        "assign_max_iou": case("assign_max_iou"),
        "assign_atss": case("assign_atss", levels=[7], top_k=2),
        "assign_batch": (
            lambda a, b: assign.assign_batch(assign.assign_max_iou, a, b[None]).target, pair,
        ),
        "assign_hungarian": case("assign_hungarian", scores, labels),
        "assign_simota": case("assign_simota", scores, labels, strides=8.0, **scene),
        "assign_task_aligned": case("assign_task_aligned", scores, labels, **scene),
        "assign_dual": case("assign_dual", scores, labels, **scene),
        "assign_uniform": case("assign_uniform", boxes(9)),
        "assign_overlaps": (lambda table: _assigned("assign_overlaps", table), lambda seed: (numbers(seed, 7, 5),)),
        "assign_grid": (
            lambda a, b: _assigned("assign_grid", a, b, torch.ones(7, dtype=torch.bool)), pair,
        ),
        "assign_yolov3": (lambda b: _assigned("assign_yolov3", b, **YOLO), lambda seed: (boxes(seed),)),
        "assign_yolov5": (lambda b: _assigned("assign_yolov5", b, **YOLO), lambda seed: (boxes(seed),)),
    }  # fmt: skip


ROTATED_LOSSES = ("kfiou_loss", "probiou_loss", "rotated_iou_loss", "gwd_loss", "kld_loss")
YOLO: dict[str, Any] = {"anchors": [np.array([[10.0, 12.0]])], "strides": [8], "image_size": (64, 64)}


def _losses() -> dict[str, Case]:
    upright = {
        name: (partial(getattr(torch_losses, name), **OPTIONS.get(name.removesuffix("_loss"), {})), pair)
        for name in losses.__all__
        if name.endswith("_loss")
    }
    return upright | {
        **{name: (getattr(torch_losses, name), rotated) for name in ROTATED_LOSSES},
        **{
            name: (getattr(torch_losses, name), lambda seed: (4 - 8 * numbers(seed, 7), numbers(seed + 1, 7)))
            for name in ("focal_loss", "quality_focal_loss", "varifocal_loss")
        },
        "yolo_box_loss": (torch_losses.yolo_box_loss, lambda seed: (*pair(seed), numbers(seed, 7) > 0.3)),
        "objectness_loss": (torch_losses.objectness_loss, lambda seed: (numbers(seed, 7), numbers(seed + 1, 7))),
        "dfl_loss": (torch_losses.dfl_loss, lambda seed: (numbers(seed, 7, 4, 8), 7 * numbers(seed, 7, 4))),
    }


def _codings() -> dict[str, Case]:
    sizes = torch.full((7, 2), 16.0)
    return {
        "decode_deltas": (anchors.decode_deltas, pair),
        "encode_deltas": (anchors.encode_deltas, pair),
        "decode_ltrb": (lambda b: anchors.decode_ltrb(b, b[:, :2], 8), lambda seed: (boxes(seed),)),
        "encode_ltrb": (lambda b: anchors.encode_ltrb(b, b[:, :2] + 0.5, 8), lambda seed: (boxes(seed),)),
        **{f"{way}_{name}": (partial(_in_cells, f"{way}_{name}", [] if name == "yolox" else [sizes]), cells)
           for way in ("decode", "encode") for name in ("yolov3", "yolov5", "yolox")},
        "decode_grid": (
            lambda raw: anchors.decode_grid(raw, 8, anchors=[[16, 16]]), lambda seed: (numbers(seed, 2, 1, 3, 5, 4),),
        ),
        "expected_distances": (anchors.expected_distances, lambda seed: (numbers(seed, 7, 4, 8),)),
        "distribution_targets": (partial(anchors.distribution_targets, bins=8), lambda seed: (numbers(seed, 7, 4),)),
    }  # fmt: skip


def _in_cells(name: str, extra: list[Any], first: Any, corner: Any, sides: Any) -> Any:
    """The codings of cells, whose boxes lie with their centres in the cells."""
    options = {} if name.startswith("decode") or name.endswith("x") else {"check": False}
    return getattr(anchors, name)(
        torch.cat([corner * 8 + 3, sides + first[:, 2:]], dim=1), corner, *extra, 8.0, **options
    )


def _family() -> dict[str, Case]:
    names = ("soft_nms", "fast_nms", "cluster_nms", "matrix_nms", "non_maximum_merge")
    return {
        **{name: (getattr(ioukit, name), scored) for name in names},
        **{name: (lambda b, s, name=name: getattr(ioukit, name)([b, b], [s, s]).boxes, scored)
           for name in ("weighted_boxes_fusion", "non_maximum_weighted")},
        "filter_detections": (lambda b, s: ioukit.filter_detections(b, s[:, None]).boxes, scored),
    }  # fmt: skip


def _padded(first: Any, scores: Any) -> Any:
    return ioukit.nms_padded(first, scores, 0.3, max_keep=5, labels=(first[..., 0] > 9).long())


ROWS: dict[str, dict[str, Case]] = {
    "`pairwise_*`": _overlaps("pairwise_"),
    "`elementwise_*`": _overlaps("elementwise_"),
    "`ioukit.torch.losses`": _losses(),
    "`anchors.encode_*`, `decode_*`": _codings(),
    "`nms_padded`": {"nms_padded": (_padded, scored)},
    "`nms`": {"nms": (lambda b, s: ioukit.nms(b, s, 0.3), scored)},
    "other suppression, fusion, `filter_detections`": _family(),
    "`assign.*`": _assignments(),
}
WITHOUT_TENSORS = {"cut_tiles", "merge_boxes", "nms_over_tiles", "anchor_boxes", "anchor_points", "fit_anchors",
                   "measure_anchors", "loss_and_gradient"}  # fmt: skip


def _module(function: Callable[..., Any]) -> Any:
    return type("Program", (torch.nn.Module,), {"forward": lambda _, *given: function(*given)})().eval()


def _run_onnx(function: Callable[..., Any], example: tuple[Any, ...], given: tuple[Any, ...], **way: Any) -> Any:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    file = io.BytesIO()
    if way["dynamo"]:
        torch.onnx.export(_module(function), example, verbose=False, **way).save(file)
    else:
        torch.onnx.export(_module(function), example, file, **way)
    session = onnxruntime.InferenceSession(file.getvalue())
    inputs = [one.name for one in session.get_inputs()]
    found = session.run(None, {name: one.numpy() for name, one in zip(inputs, given, strict=True)})
    return tuple(map(torch.from_numpy, found))


def _mapped(function: Callable[..., Any], example: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    both = torch.vmap(function)(*map(torch.stack, zip(example, given, strict=True)))
    return torch.utils._pytree.tree_map(lambda one: one[1], both)


def _recorded_by_make_fx(function: Callable[..., Any], example: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    from torch.fx.experimental.proxy_tensor import make_fx  # noqa: PLC0415

    return make_fx(function)(*example)(*given)


def _compiled(function: Callable[..., Any], example: tuple[Any, ...], given: tuple[Any, ...]) -> Any:
    torch.compiler.reset()
    program = torch.compile(function, fullgraph=True, backend="eager")
    program(*example)
    return program(*given)


WAYS: dict[str, Callable[..., Any]] = {
    "`torch.compile(fullgraph=True)`": _compiled,
    "`torch.export`": lambda function, example, given: torch.export.export(_module(function), example).module()(*given),
    "`torch.jit.trace`": lambda function, example, given: torch.jit.trace(function, example, check_trace=False)(*given),
    "`make_fx`": _recorded_by_make_fx,
    "`functionalize`": lambda function, _, given: torch.func.functionalize(function)(*given),
    "`torch.vmap`": _mapped,
    "ONNX": partial(_run_onnx, dynamo=True),
    "ONNX, `dynamo=False`": partial(_run_onnx, dynamo=False),
}
SENTENCE = "use nms_padded|outside of traced programs|values inside a traced program"
# A recording of the compiler, or of an exporter, takes a tenth of a second per function: a few stand for each row.
SLOW = {"`torch.compile(fullgraph=True)`", "`torch.export`", "`make_fx`", "ONNX", "ONNX, `dynamo=False`"}
FEW = {
    *("pairwise_ciou", "elementwise_iou", "giou_loss", "encode_deltas", "soft_nms", "assign_atss", "nms"),
    "nms_padded",
}


def outcomes(row: dict[str, Case], way: str) -> set[str]:
    """``"yes"`` if the recorded program answers as the calls do; ``"refuses"`` if a sentence says why there is none."""
    return _outcomes([case for name, case in row.items() if way not in SLOW or name in FEW], way)


def _outcomes(cases: list[Case], way: str) -> set[str]:
    try:
        return {_outcome(cases, way)}
    except Exception as refusal:
        if len(cases) == 1 and not re.search(SENTENCE, str(refusal)):
            raise
        # Each refuses by itself.
        return {"refuses"} if len(cases) == 1 else {one for case in cases for one in _outcomes([case], way)}


def _outcome(cases: list[Case], way: str) -> str:
    """All cases as one program."""
    examples, others = ([make(seed) for _, make in cases] for seed in (1, 2))

    def program(*arrays: Any) -> tuple[Any, ...]:
        rest, found = iter(arrays), []
        for (function, _), example in zip(cases, examples, strict=True):
            found.append(function(*(next(rest) for _ in example)))
        return tuple(torch.utils._pytree.tree_leaves(found))

    example, given = (tuple(one for case in each for one in case) for each in (examples, others))
    for found, wanted in zip(WAYS[way](program, example, given), program(*given), strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-5)
    return "yes"


@pytest.mark.filterwarnings("ignore")  # of the exporter
def test_padded_nms_of_a_detector_as_onnx_takes_any_number_of_images() -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")

    def images(count: int) -> tuple[Any, ...]:
        wide = torch.stack([boxes(seed, 8_400) for seed in range(count)]) * torch.tensor([40.0, 40, 41, 41])
        return wide, numbers(count, count, 8_400), (wide[..., 0] > 300).long()

    def program(wide: Any, scores: Any, labels: Any) -> Any:
        return ioukit.nms_padded(wide, scores, 0.6, max_keep=300, labels=labels)[0]

    file = io.BytesIO()
    shapes = {"given": ({0: torch.export.Dim("images")},) * 3}
    exported = torch.onnx.export(_module(program), images(2), dynamo=True, verbose=False, dynamic_shapes=shapes)
    exported.save(file)
    session = onnxruntime.InferenceSession(file.getvalue())
    names = [one.name for one in session.get_inputs()]
    for count in (1, 3):
        given = images(count)
        (found,) = session.run(None, {name: one.numpy() for name, one in zip(names, given, strict=True)})
        wanted = program(*given)
        assert int((wanted >= 0).sum()) > 200 * count
        torch.testing.assert_close(torch.from_numpy(found), wanted)
        torch.testing.assert_close(torch.vmap(program)(*given), wanted)


@pytest.mark.skipif(
    tuple(map(int, torch.__version__.split(".")[:2])) < (2, 9), reason="the table is about newer versions of PyTorch"
)
@pytest.mark.filterwarnings("ignore")  # of tracers and exporters
@pytest.mark.parametrize("way", WAYS)
def test_the_table_says_what_happens(way: str) -> None:
    if "compile" in way:
        needs_compiler(backend="eager")
    header, _, *rows = (line.strip("| \n").split(" | ") for line in _table())
    column = header.index(way)
    assert {row[0]: row[column] for row in rows} == {name: "/".join(outcomes(row, way)) for name, row in ROWS.items()}


def _table() -> Iterator[str]:
    return (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|"))


def test_every_public_function_is_in_the_table() -> None:
    public = {
        name
        for home in (ioukit.overlap, torch_losses, postprocess, assign, anchors)
        for name in home.__all__
        if name[0].islower() and name.startswith(("pairwise_", "elementwise_")) >= (home is ioukit.overlap)
    }
    assert public - {"pairwise_mask_iou"} - WITHOUT_TENSORS <= {name for row in ROWS.values() for name in row}
