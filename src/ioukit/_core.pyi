"""The native module: strict about types, silent about words. Its callers check and explain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit.typing import FloatArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
Rotated = tuple[Floats, bool, bool]
Turned3d = tuple[Floats, bool, bool, Floats]

__version__: str

def read_coco_detections(path: str, on_invalid: str, threads: int) -> dict[str, Any]: ...
def read_coco_ground_truth(path: str, on_invalid: str, threads: int) -> dict[str, Any]: ...
def read_text(path: str) -> bytes: ...
def unique_rows(source: str, array: str, ids: Ids, on_invalid: str) -> Ids | None: ...
def known_detections(
    source: str, image_ids: Ids, category_ids: Ids, known_images: Ids, known_categories: Ids, on_invalid: str
) -> Ids | None: ...
def settle_annotations(
    source: str, ids: Ids, image_ids: Ids, category_ids: Ids, known_images: Ids, known_categories: Ids, on_invalid: str
) -> Ids | None: ...
def box_problem(boxes: Floats) -> tuple[int, str, str] | None: ...
def match_detections(
    source: str,
    images: Ids,
    selected_images: NDArray[np.bool_],
    categories: Ids,
    selected_categories: NDArray[np.bool_],
    gt_images: Ids,
    gt_categories: Ids,
    gt_boxes: Floats,
    gt_areas: Floats,
    gt_crowd: NDArray[np.bool_],
    gt_void: NDArray[np.bool_],
    dt_images: Ids,
    dt_categories: Ids,
    dt_boxes: Floats,
    dt_scores: Floats,
    iou_thresholds: Floats,
    areas: Floats,
    max_detections: int,
    class_agnostic: bool,
    threads: int,
) -> dict[str, Any]: ...
def accumulate(
    category: NDArray[np.uint32],
    rank: NDArray[np.uint32],
    score: Floats,
    matched: NDArray[np.uint8],
    ignored: NDArray[np.uint8],
    num_ground_truth: NDArray[np.uint64],
    num_thresholds: int,
    recall_thresholds: Floats,
    caps: NDArray[np.uint32],
    threads: int,
) -> dict[str, Any]: ...
def first_invalid(boxes: FloatArray, corners: bool) -> int | None: ...
def pairwise(
    variant: str,
    parameters: Sequence[float],
    boxes1: FloatArray,
    boxes2: FloatArray,
    out: FloatArray,
    threads: int,
    reused: bool = False,
    simd: str | None = None,
) -> None: ...
def elementwise(
    variant: str,
    parameters: Sequence[float],
    boxes1: FloatArray,
    boxes2: FloatArray,
    out: FloatArray,
    threads: int,
    simd: str | None = None,
) -> None: ...
def loss_gradient(
    name: str,
    pred: FloatArray,
    target: FloatArray,
    values: FloatArray,
    gradient: FloatArray,
    threads: int,
) -> None: ...
def overlap_join(
    variant: str,
    threshold: float,
    boxes1: FloatArray,
    boxes2: FloatArray | None,
    labels1: Ids | None,
    labels2: Ids | None,
    threads: int,
) -> tuple[Ids, Ids, FloatArray]: ...
def nms_survivors(
    variant: str,
    threshold: float,
    boxes: FloatArray,
    scores: FloatArray,
    labels: Ids | None,
    above: float | None,
    threads: int,
) -> Ids | int: ...
def nms_first_suppressors(
    variant: str,
    threshold: float,
    kept: FloatArray,
    kept_labels: Ids | None,
    others: FloatArray,
    other_labels: Ids | None,
    threads: int,
) -> tuple[Ids, FloatArray]: ...
def nms_of_pairs(count: int, better: Ids, worse: Ids) -> Ids: ...
def simd_levels() -> list[str]: ...
def thread_count() -> int: ...
def polygon_pairwise(
    measure: str, vertices1: Floats, offsets1: Ids, vertices2: Floats, offsets2: Ids, threads: int
) -> Floats: ...
def polygon_elementwise(
    measure: str, vertices1: Floats, offsets1: Ids, vertices2: Floats, offsets2: Ids, threads: int
) -> Floats: ...
def polygon_pairs(
    measure: str,
    vertices1: Floats,
    offsets1: Ids,
    vertices2: Floats,
    offsets2: Ids,
    rows: Ids,
    columns: Ids,
    threads: int,
) -> Floats: ...
def simple_polygon_pairs(
    measure: str,
    vertices1: Floats,
    offsets1: Ids,
    convex1: NDArray[np.bool_],
    vertices2: Floats,
    offsets2: Ids,
    convex2: NDArray[np.bool_],
    rows: Ids,
    columns: Ids,
    threads: int,
) -> Floats: ...
def simple_polygon_squared_windings(vertices: Floats, offsets: Ids) -> Floats: ...
def rotated_corners(boxes: Floats, degrees: bool, clockwise: bool) -> Floats: ...
def rotated_bounds(boxes: Floats, degrees: bool, clockwise: bool) -> Floats: ...
def rotated_pairwise(measure: str, first: Rotated, second: Rotated, threads: int) -> Floats: ...
def rotated_elementwise(measure: str, first: Rotated, second: Rotated, threads: int) -> Floats: ...
def rotated_pairs(measure: str, first: Rotated, second: Rotated, rows: Ids, columns: Ids, threads: int) -> Floats: ...
def boxes3d_pairwise(measure: str, first: Turned3d, second: Turned3d, threads: int) -> Floats: ...
def boxes3d_elementwise(measure: str, first: Turned3d, second: Turned3d, threads: int) -> Floats: ...
def boxes3d_pairs(measure: str, first: Turned3d, second: Turned3d, rows: Ids, columns: Ids, threads: int) -> Floats: ...
