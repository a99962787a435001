"""The native module: strict about types, silent about words. Its callers check and explain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit._boundary import (
    BoxColumns,
    ChoiceColumns,
    DrawingColumns,
    InfluenceColumns,
    MaskColumns,
    NumberColumns,
    OutcomeColumns,
    PairColumns,
    ReadingColumns,
    RuleColumns,
    SceneColumns,
    TrackColumns,
    WeighedColumns,
)
from ioukit.typing import FloatArray

Ids = NDArray[np.int64]
Floats = NDArray[np.float64]
PolygonSet = tuple[Floats, Ids]
Rotated = tuple[Floats, bool, bool]
Turned3d = tuple[Floats, bool, bool, Floats]
Bytes = NDArray[np.uint8]
Counts = NDArray[np.uint32]
MaskParts = tuple[Counts, Ids, Counts]  # runs, offsets, sizes

__version__: str

def read_coco_ahead(ground_truth: str, detections: str, masks: bool) -> None: ...
def stop_reading_ahead() -> None: ...
def read_coco_detections(
    path: str, on_invalid: str, lines: bool, threads: int, part: tuple[int, int, int, bool] | None = None
) -> dict[str, Any]: ...
def find_coco_parts(
    path: str, on_invalid: str, lines: bool, bytes: int, threads: int
) -> tuple[bool, NDArray[np.uint64], int]: ...
def read_coco_ground_truth(path: str, on_invalid: str, lvis: bool, threads: int) -> dict[str, Any]: ...
def read_text(path: str) -> bytes: ...
def read_number_lines(paths: list[str], commas: bool, threads: int) -> dict[str, Any]: ...
def read_voc_annotations(paths: list[str], narrowest: float, threads: int) -> dict[str, Any]: ...
def read_csv(
    path: str, fields: int, delimiter: int, header: bool, chosen: list[tuple[int, bool]], threads: int
) -> tuple[list[Any], Ids]: ...
def read_csv_rows(
    path: str, text: bytes, lines: int, shape: tuple[int, int, bool], chosen: list[tuple[int, bool]]
) -> tuple[list[Any], Ids]: ...
def find_csv_parts(path: str, delimiter: int, bytes: int) -> tuple[NDArray[np.uint64], int]: ...
def read_image_sizes(paths: list[str], threads: int) -> tuple[Ids, list[tuple[int, str | None]]]: ...
def unique_rows(source: str, array: str, ids: Ids, on_invalid: str) -> Ids | None: ...
def known_detections(source: str, ids: tuple[Ids, Ids], known: tuple[Ids, Ids], on_invalid: str) -> Ids | None: ...
def settle_annotations(
    source: str, ids: tuple[Ids, Ids, Ids], known: tuple[Ids, Ids], on_invalid: str
) -> Ids | None: ...
def read_coco_keypoints(
    path: str, array: str, records: Ids, spans: NDArray[np.uint64], points: int | None, threads: int
) -> tuple[Floats, int]: ...
def read_coco_masks(
    path: str, array: str, records: Ids, spans: NDArray[np.uint64], image_sizes: Floats, threads: int
) -> MaskParts: ...
def read_coco_mask_areas(
    path: str, records: Ids, spans: NDArray[np.uint64], image_sizes: Floats, drop: bool, threads: int
) -> Floats: ...
def record_columns(records: list[Any], names: list[str], kinds: list[str]) -> list[NDArray[Any]] | None: ...
def complete_boxes(records: list[Any]) -> None: ...
def box_problem(boxes: Floats) -> tuple[int, str, str] | None: ...
def match_detections(
    scene: SceneColumns,
    regions: BoxColumns | MaskColumns | PairColumns,
    rules: RuleColumns,
    threads: int,
) -> dict[str, Any]: ...
def pairs_of_images(objects: Ids, detections: Ids, categories: tuple[Ids, Ids] | None) -> tuple[Ids, Ids]: ...
def accumulate(outcomes: OutcomeColumns, drawing: DrawingColumns, threads: int) -> dict[str, Any]: ...
def curve_points(
    ends: NDArray[np.uint64],
    reached: Counts,
    values: Floats,
    recall: Floats,
    curves: NDArray[np.intp],
    num_recalls: int,
) -> Floats: ...

class CurveDrawer:
    """Draws the curves of one category from its detections, best first, in as many calls as they come.

    Memory grows with the detections only if the area under each curve is drawn. Equal scores keep the given order.
    """

    def __init__(self, num_objects: NDArray[np.uint64], drawing: DrawingColumns) -> None:
        """(A,) how many objects there are to find in each area range."""

    def feed(self, rank: Counts, score: Floats, matched: Bytes, ignored: Bytes) -> None:
        """Take the next detections, in any order; no score may be higher than one of an earlier call."""

    def finish(self) -> dict[str, Any]:
        """Return the curves as ``accumulate`` has those of one category; the drawer can be used no more."""

def order_by_category(
    category: NDArray[np.uint32], score: Floats, num_categories: int, threads: int
) -> tuple[Ids, Ids]: ...
def sums_by_category(
    category: NDArray[np.uint32], sets: Bytes, values: Floats, num_categories: int, thresholds: int
) -> Floats: ...
def replicate(
    weighed: WeighedColumns,
    weights: NDArray[np.uint16],
    numbers: list[NumberColumns],
    recall_thresholds: Floats,
    plain_precision: bool,
    zero_where_only_detected: bool,
    per_class: bool,
    threads: int,
) -> dict[str, Any]: ...
def leave_one_out(
    columns: InfluenceColumns, rules: RuleColumns, reading: ReadingColumns, left_out: str, threads: int
) -> dict[str, Any] | int: ...
def step_curves(columns: ChoiceColumns, thresholds: Floats, caps: Counts, steps: int) -> dict[str, Any]: ...
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
def plain_pairwise(
    variant: str, parameters: Sequence[float], boxes1: object, boxes2: object, threads: object
) -> FloatArray | None: ...
def plain_nms(boxes: object, scores: object, threshold: object, threads: object) -> Ids | None: ...
def plain_matches(
    boxes1: object, boxes2: object, min_iou: object, threads: object
) -> tuple[Ids, Ids, FloatArray] | None: ...
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
    parameters: Sequence[float],
    pred: FloatArray,
    target: FloatArray,
    values: FloatArray,
    gradient: FloatArray,
    threads: int,
) -> None: ...
def count_tracks(
    sequences: Ids,
    objects: TrackColumns,
    found: TrackColumns,
    overlaps: Floats | None,
    hota: Floats,
    clear: float,
    identity: float,
    threads: int,
) -> dict[str, Any]: ...
def pair_frames(objects: TrackColumns, found: TrackColumns, threshold: float, threads: int) -> tuple[Ids, Ids]: ...
def assign_rows(costs: FloatArray) -> tuple[Ids, Ids] | None: ...
def highest_pairs(rows: Ids, columns: Ids, values: FloatArray, shape: tuple[int, int]) -> Ids: ...
def overlap_join(
    variant: str,
    threshold: float,
    boxes1: FloatArray,
    boxes2: FloatArray | None,
    labels1: Ids | None,
    labels2: Ids | None,
    threads: int,
) -> tuple[Ids, Ids, FloatArray]: ...
def soft_nms(
    variant: str,
    threshold: float,
    boxes: FloatArray,
    labels: Ids | None,
    scores: Floats,
    sigma: float | None,
    min_score: float,
    max_keep: int,
    threads: int,
) -> tuple[Ids, Floats]: ...
def fuse_boxes(
    boxes: Floats,
    scores: Floats,
    labels: Ids,
    models: Ids,
    weights: Floats,
    iou_threshold: float,
    moving: bool,
    rule: str,
    threads: int,
) -> tuple[Floats, Floats, Ids, Ids]: ...
def settle_pairs(undecided: NDArray[np.bool_], rows: Ids, columns: Ids) -> NDArray[np.uint8]: ...
def best_candidates(
    images: list[FloatArray], least: FloatArray, one_per_row: bool, most: int, threads: int
) -> list[Ids | int]: ...
def nms_survivors(
    variant: str,
    threshold: float,
    boxes: FloatArray,
    scores: FloatArray,
    labels: Ids | None,
    least: float | None,
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
def masks_from_rle(records: list[Any], name: str) -> MaskParts: ...
def rle_areas(records: list[Any], name: str) -> Counts: ...
def rle_bounds(records: list[Any], name: str) -> Floats: ...
def rle_merge(records: list[Any], name: str, intersect: bool) -> dict[str, Any]: ...
def masks_to_rle(runs: Counts, offsets: Ids, sizes: Counts, compressed: bool, text: bool) -> list[dict[str, Any]]: ...
def masks_from_pixels(pixels: Bytes, count: int, height: int, width: int, rows: bool) -> MaskParts: ...
def masks_to_pixels(runs: Counts, offsets: Ids, sizes: Counts, out: Bytes) -> None: ...
def masks_from_polygons(polygons: list[Any], sizes: Ids, name: str, threads: int) -> MaskParts: ...
def masks_from_boxes(boxes: Floats, sizes: Ids, name: str) -> MaskParts: ...
def mask_areas(runs: Counts, offsets: Ids, sizes: Counts) -> Counts: ...
def mask_bounds(runs: Counts, offsets: Ids, sizes: Counts) -> Floats: ...
def masks_merge(runs: Counts, offsets: Ids, sizes: Counts, intersect: bool) -> MaskParts: ...
def masks_boundary(runs: Counts, offsets: Ids, sizes: Counts, ratio: float, threads: int) -> MaskParts: ...
def masks_pairwise(
    measure: str,
    runs1: Counts,
    offsets1: Ids,
    sizes1: Counts,
    runs2: Counts,
    offsets2: Ids,
    sizes2: Counts,
    crowd: NDArray[np.bool_] | None,
    crowd_first: bool,
    out: Floats,
    threads: int,
) -> None: ...
def coco_box_iou(first: Floats, second: Floats, crowd: NDArray[np.bool_]) -> Floats: ...
def masks_elementwise(
    measure: str,
    runs1: Counts,
    offsets1: Ids,
    sizes1: Counts,
    runs2: Counts,
    offsets2: Ids,
    sizes2: Counts,
    threads: int,
) -> Floats: ...
def masks_pairs(
    measure: str,
    runs1: Counts,
    offsets1: Ids,
    sizes1: Counts,
    runs2: Counts,
    offsets2: Ids,
    sizes2: Counts,
    rows: Ids,
    columns: Ids,
    threads: int,
) -> Floats: ...
def simd_levels() -> list[str]: ...
def thread_count() -> int: ...
def polygon_pairwise(measure: str, first: PolygonSet, second: PolygonSet, threads: int) -> Floats: ...
def polygon_elementwise(measure: str, first: PolygonSet, second: PolygonSet, threads: int) -> Floats: ...
def polygon_pairs(
    measure: str, first: PolygonSet, second: PolygonSet, rows: Ids, columns: Ids, threads: int
) -> Floats: ...
def hull_giou(
    intersections: Floats,
    first: tuple[Floats, Ids, Floats, Floats],
    second: tuple[Floats, Ids, Floats, Floats],
    rows: Ids | None,
    columns: Ids | None,
    threads: int,
) -> Floats: ...
def simple_polygon_pairs(
    measure: str,
    first: tuple[PolygonSet, NDArray[np.bool_]],
    second: tuple[PolygonSet, NDArray[np.bool_]],
    rows: Ids,
    columns: Ids,
    threads: int,
) -> Floats: ...
def simple_polygon_squared_windings(polygons: PolygonSet) -> Floats: ...
def keypoints_may_reach(
    set: tuple[Floats, Floats, Floats, Floats, Floats], rows: Ids, columns: Ids, least: float, threads: int
) -> NDArray[np.bool_]: ...
def keypoint_exponents(
    set: tuple[Floats, Floats, Floats, Floats, Floats], rows: Ids, columns: Ids, threads: int
) -> Floats: ...
def keypoint_means(
    set: tuple[Floats, Floats, Floats, Floats, Floats], columns: Ids, terms: Floats, threads: int
) -> Floats: ...
def keypoint_bounds(points: Floats, count: int, threads: int) -> Floats: ...
def rotated_corners(boxes: Floats, degrees: bool, clockwise: bool) -> Floats: ...
def rotated_bounds(boxes: Floats, degrees: bool, clockwise: bool) -> Floats: ...
def rotated_pairwise(measure: str, first: Rotated, second: Rotated, threads: int) -> Floats: ...
def rotated_elementwise(measure: str, first: Rotated, second: Rotated, threads: int) -> Floats: ...
def rotated_pairs(measure: str, first: Rotated, second: Rotated, rows: Ids, columns: Ids, threads: int) -> Floats: ...
def boxes3d_pairwise(measure: str, first: Turned3d, second: Turned3d, threads: int) -> Floats: ...
def boxes3d_elementwise(measure: str, first: Turned3d, second: Turned3d, threads: int) -> Floats: ...
def boxes3d_pairs(measure: str, first: Turned3d, second: Turned3d, rows: Ids, columns: Ids, threads: int) -> Floats: ...
