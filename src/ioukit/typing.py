"""The types in the signatures of public functions."""

from __future__ import annotations

from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

AngleUnit: TypeAlias = Literal["radians", "degrees"]
"""The unit of an angle."""

AngleSense: TypeAlias = Literal["clockwise", "counterclockwise"]
"""The way a positive angle turns a box, as seen on the screen, where x points right and y down."""

BoxFormat: TypeAlias = Literal["xyxy", "xywh", "cxcywh"]
"""What the four numbers of a box are: two corners, a corner and the size, or the centre and the size."""

FloatArray: TypeAlias = NDArray[np.floating[Any]]
"""A NumPy array of float16, float32 or float64."""

Array: TypeAlias = Any
"""An array of the caller's library: NumPy, PyTorch, JAX, CuPy, or another of the array API."""

IouType: TypeAlias = (
    Literal[
        "bbox",
        "segm",
        "boundary",
        "keypoints",
        "keypoints-crowdpose",
        "keypoints-wholebody",
        "keypoints-ap10k",
        "rotated",
        "rotated-probiou",
        "polygon",
        "box3d",
        "bev",
        "centre-in-box",
        "centre-in-mask",
    ]
    | str
)
"""The kind of region that is compared. Editors offer these; :func:`ioukit.evaluation.register_kind` adds others."""

ProtocolName: TypeAlias = (
    Literal[
        "coco",
        "coco-keypoints",
        "crowdpose",
        "voc2007",
        "voc2012",
        "dota-task1",
        "dota-task2",
        "tide",
        "lvis",
        "lvis-fixed",
        "crowdhuman",
        "caltech",
        "wider-face",
        "froc",
        "froc-centre",
        "icdar2015",
        "kitti",
        "kitti-r11",
        "kitti-aos",
        "open-images",
        "open-images-challenge",
        "ultralytics",
        "ultralytics-8-3",
        "unranked",
        "unranked-greedy",
    ]
    | str
)
"""The name of a protocol. Editors offer these; :func:`ioukit.evaluation.protocols.register_protocol` adds others."""

FigureName: TypeAlias = Literal[
    "precision_recall",
    "score_curves",
    "class_ap",
    "ap_by_iou",
    "ap_by_size",
    "confusion",
    "error_kinds",
    "worst_images",
]
"""The name of a figure of an evaluation, one of :data:`ioukit.plots.FIGURES`."""

TableName: TypeAlias = (
    Literal["summary", "per_class", "per_image", "per_detection", "per_object", "per_curve", "curves"] | str
)
"""The name of a table of an evaluation, one of :data:`ioukit.evaluation.TABLES`."""


class _TorchTensor(Protocol):
    def cpu(self) -> Any: ...


class _JaxArray(Protocol):
    def block_until_ready(self) -> Any: ...


TensorLike: TypeAlias = _TorchTensor | _JaxArray
"""A tensor of PyTorch or an array of JAX, for type checkers: by a method that NumPy's arrays do not have."""

Tensor = TypeVar("Tensor", bound=TensorLike)
"""A tensor of the caller's library: what goes in comes out."""
