"""`overlap_join` compared with the dense table."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, note
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Boxes, overlap_join
from ioukit.overlap.variants import METRICS
from support.dense_pairs import assert_same_as_dense, dense
from support.strategies import extreme_boxes, free_boxes, grid_boxes

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.typing import FloatArray

DTYPES = [np.float32, np.float64]
OVERLAPS: list[dict[str, Any]] = [
    *({"metric": metric} for metric in METRICS),
    {"metric": "ioa", "of": "first"},
]
all_overlaps = pytest.mark.parametrize("overlap", OVERLAPS, ids=lambda overlap: "-".join(overlap.values()))


def boxes_at(low: Any, size: Any, dtype: Any = np.float32) -> FloatArray:
    low = np.asarray(low, float)
    return np.concatenate([low, low + size], axis=1).astype(dtype)


def about_the_origin(size: Any) -> tuple[Any, Any]:
    return -size / 2, size


def as_far_as_large(rng: np.random.Generator, size: Any) -> tuple[Any, Any]:
    return size * rng.uniform(-1, 1, size.shape), size


# Low corners and sizes.
FAMILIES: dict[str, Any] = {
    "uniform": lambda rng, n: (rng.uniform(0, 30, (n, 2)), rng.uniform(1, 5, (n, 2))),
    "clusters far apart": lambda rng, n: (
        rng.integers(-2, 3, (n, 2)) * 2.0**16 + rng.uniform(0, 9, (n, 2)),
        rng.uniform(1, 5, (n, 2)),
    ),
    "tiles": lambda rng, n: (rng.integers(0, 9, (n, 2)) * 64.0, np.full((n, 2), 64.0)),
    "duplicates": lambda rng, n: (rng.integers(0, 3, (n, 2)) * 0.5, rng.integers(0, 3, (n, 2)) * 1.0),
    "one place": lambda _, n: (np.zeros((n, 2)), np.ones((n, 2))),
    "one centre": lambda rng, n: about_the_origin(np.exp(rng.uniform(-3, 3, (n, 2)))),
    "one line": lambda rng, n: (
        np.stack([rng.uniform(0, n / 4, n), np.zeros(n)], axis=1),
        rng.uniform(1, 2, (n, 2)),
    ),
    "one giant": lambda rng, n: (
        np.where(np.arange(n)[:, None] == n // 2, -1e5, rng.uniform(-1e3, 1e3, (n, 2))),
        np.where(np.arange(n)[:, None] == n // 2, 2e5, rng.uniform(1, 90, (n, 2))),
    ),
    "stripes": lambda rng, n: (
        rng.uniform(0, 50, (n, 2)),
        np.where(rng.random((n, 1)) < 0.5, [[1000.0, 0.01]], [[0.01, 1000.0]]) * rng.uniform(0.5, 2, (n, 2)),
    ),
    "sizes from 1e-6 to 1e6": lambda rng, n: as_far_as_large(rng, 10 ** rng.uniform(-6, 6, (n, 2))),
    "far from 0": lambda rng, n: (2.0**23 + rng.integers(0, 12, (n, 2)), rng.integers(0, 5, (n, 2))),
    "huge": lambda rng, n: (rng.uniform(-1, 1, (n, 2)) * 2e37, rng.uniform(0, 1, (n, 2)) * 3e37),
    "huge and small": lambda rng, n: as_far_as_large(
        rng, np.where(rng.random((n, 1)) < 0.5, 1.0, 1e30) * rng.uniform(1, 2, (n, 2))
    ),
    "areas that underflow": lambda rng, n: (
        rng.uniform(0, 1, (n, 2)) * 1e-22,
        rng.uniform(0.1, 1, (n, 2)) * 10 ** rng.uniform(-24, -20, (n, 1)),
    ),
    "about where areas underflow": lambda rng, n: (
        rng.uniform(0, 1, (n, 2)) * 1e-15,
        rng.uniform(0.1, 1, (n, 2)) * 10 ** rng.uniform(-20, -13, (n, 1)),
    ),
    "without area": lambda rng, n: (rng.integers(0, 3, (n, 2)), rng.integers(0, 2, (n, 2))),
}
all_families = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def drawn(family: Any, rng: np.random.Generator, count: int, dtype: Any) -> FloatArray:
    low, size = family(rng, count)
    return boxes_at(low, size, dtype)


@all_families
@all_overlaps
@pytest.mark.parametrize("dtype", DTYPES)
def test_pairs_are_those_of_the_dense_table(family: Any, overlap: dict[str, Any], dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for count1, count2 in [(0, 5), (5, 0), (1, 1), (1, 60), (60, 1), (37, 41), (80, 80)]:
        for min_iou in (1e-9, 0.05, 0.3, 0.5, 0.75, 1.0):
            a, b = drawn(family, rng, count1, dtype), drawn(family, rng, count2, dtype)
            assert_same_as_dense(a, b, min_iou, **overlap)
            assert_same_as_dense(b, None, min_iou, **overlap)
            assert_same_as_dense(a, np.concatenate([a, b]), min_iou, **overlap)


@all_families
@pytest.mark.parametrize("metric", ["iou", "iom"])
def test_labels_keep_unequal_boxes_apart(family: Any, metric: str) -> None:
    rng = np.random.default_rng(1)
    for kinds in (1, 3, 50):
        a, b = drawn(family, rng, 60, np.float64), drawn(family, rng, 70, np.float64)
        labels = rng.integers(-kinds, kinds, 60) * 2**60 // kinds, rng.integers(-kinds, kinds, 70) * 2**60 // kinds
        assert_same_as_dense(a, b, 0.2, labels, metric=metric)
        assert_same_as_dense(b, None, 0.2, (labels[1], None), metric=metric)


def any_boxes(dtype: Any) -> st.SearchStrategy[FloatArray]:
    return st.one_of(*(boxes(dtype, max_size=12) for boxes in (grid_boxes, free_boxes, extreme_boxes)))


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data(), place=st.integers(0, 10_000))
def test_any_boxes_and_a_threshold_that_occurs(dtype: Any, data: st.DataObject, place: int) -> None:
    a, b = data.draw(any_boxes(dtype)), data.draw(any_boxes(dtype))
    for overlap in OVERLAPS:
        note(f"{overlap}")
        values = dense(a, b, overlap)
        thresholds = [0.5, *np.unique(values[(values > 0) & (values <= 1)]).tolist()]
        min_iou = thresholds[place % len(thresholds)]
        assert_same_as_dense(a, b, min_iou, **overlap)
        assert_same_as_dense(a, None, min_iou, **overlap)
        if min_iou < 1:
            assert_same_as_dense(a, b, float(np.nextafter(dtype(min_iou), dtype(1))), **overlap)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int16, np.uint8])
def test_dtypes_are_those_of_the_dense_functions(dtype: Any) -> None:
    rng = np.random.default_rng(2)
    a, b = (boxes_at(rng.integers(0, 90, (90, 2)), rng.integers(1, 60, (90, 2)), dtype) for _ in range(2))
    for min_iou in (1e-9, 0.1, 1 / 3, 0.5, float(np.float16(0.7)), 1.0):
        pairs = assert_same_as_dense(a, b, min_iou)
        assert pairs.values.dtype == (dtype if np.dtype(dtype).kind == "f" else np.float64)
    assert overlap_join(a.astype(np.float32), b.astype(np.float64), min_iou=0.5).values.dtype == np.float64


def test_a_threshold_too_small_for_the_dtype_still_asks_for_an_intersection() -> None:
    boxes = np.array([[0, 0, 1, 1], [5, 5, 6, 6]], np.float32)
    assert_array_equal(overlap_join(boxes, boxes, min_iou=1e-300).to_pairs(), [[0, 0], [1, 1]])
    assert_array_equal(overlap_join(*[boxes.astype(np.float16)] * 2, min_iou=1e-300).to_pairs(), [[0, 0], [1, 1]])


def test_values_one_can_check_in_the_head() -> None:
    a = np.array([[0, 0, 2, 2], [10, 10, 12, 12]], float)
    b = np.array([[2, 0, 4, 2], [0, 0, 1, 2], [11, 10, 13, 12], [0, 0, 2, 2], [1, 1, 1, 3]], float)
    pairs = overlap_join(a, b, min_iou=0.25)
    assert_array_equal(pairs.rows, [0, 0, 1], strict=True)
    assert_array_equal(pairs.columns, [1, 3, 2], strict=True)
    assert_array_equal(pairs.values, [1 / 2, 1, 1 / 3], strict=True)
    assert len(pairs) == 3
    assert repr(pairs) == "<OverlapPairs: 3 of 2 x 5 pairs, float64>"
    assert_array_equal(overlap_join(b, min_iou=0.5).to_pairs(), [[1, 3]])


def test_the_pairs_as_rows_as_offsets_and_as_a_matrix() -> None:
    rng = np.random.default_rng(3)
    a, b = (drawn(FAMILIES["uniform"], rng, 50, np.float32) for _ in range(2))
    pairs, table = overlap_join(a, b, min_iou=0.1), ioukit.pairwise_iou(a, b)
    offsets = pairs.offsets()
    assert offsets.shape == (51,)
    for row in range(50):
        (columns,) = np.nonzero(table[row] >= 0.1)
        assert_array_equal(pairs.columns[offsets[row] : offsets[row + 1]], columns)
    matrix = pairs.to_csr()
    assert isinstance(matrix, scipy.sparse.csr_array)
    assert matrix.dtype == np.float32
    assert matrix.has_canonical_format
    assert_array_equal(matrix.toarray(), np.where(table >= 0.1, table, 0))
    matrix.data[:] = 0  # its own memory
    assert pairs.values.all()
    empty = overlap_join(a[:0], b, min_iou=0.5)
    assert_array_equal(empty.offsets(), [0])
    assert empty.to_pairs().shape == (0, 2)
    assert empty.to_csr().shape == (0, 50)


def test_rows_are_those_of_a_slice() -> None:
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 2], [0, 0, 2, 2]], float)
    for rows, pairs in [
        (slice(1, 2), [[1, 2]]),
        (slice(-3, -2), [[0, 1], [0, 2]]),
        (slice(1, 99), [[1, 2]]),
        (slice(2, 1), []),
        (slice(99, None), []),
    ]:
        found = overlap_join(boxes, min_iou=0.5, rows=rows)
        assert found.to_pairs().tolist() == pairs
        assert found.offsets()[-1] == len(pairs)
    assert overlap_join(boxes[:0], boxes, min_iou=0.5, rows=slice(0, 5)).shape == (0, 3)


def test_rows_that_are_no_slice_of_neighbours() -> None:
    with pytest.raises(ValueError, match="rows must be a slice of rows that follow each other, got the step 2"):
        overlap_join([[0, 0, 1, 1]], min_iou=0.5, rows=slice(0, 9, 2))
    with pytest.raises(TypeError, match=r"rows must be a slice, such as slice\(0, 1000\), got int"):
        overlap_join([[0, 0, 1, 1]], min_iou=0.5, rows=1000)  # type: ignore[arg-type]


def test_pairs_are_frozen() -> None:
    pairs = overlap_join([[0, 0, 1, 1]], [[0, 0, 1, 1]], min_iou=0.5)
    with pytest.raises(AttributeError, match="cannot assign"):
        pairs.rows = pairs.columns  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        pairs.values[0] = 0


def test_without_scipy_the_message_names_the_extra() -> None:
    code = """
import sys
sys.modules["scipy"] = None
from ioukit import overlap_join
pairs = overlap_join([[0, 0, 1, 1]], [[0, 0, 1, 1]], min_iou=0.5)
try:
    pairs.to_csr()
except ModuleNotFoundError as error:
    print(error)
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said == "OverlapPairs.to_csr needs scipy: pip install 'ioukit[sparse]'\n"


@pytest.mark.parametrize("spread", [0.0, 600.0])
@pytest.mark.parametrize("family", ["one centre", "one line", "sizes from 1e-6 to 1e6", "clusters far apart"])
def test_threads_change_no_bit(family: str, spread: float) -> None:
    rng = np.random.default_rng(4)
    low, size = FAMILIES[family](rng, 10_000)
    boxes = boxes_at(low + rng.uniform(0, spread, (10_000, 2)), size)
    one = overlap_join(boxes, boxes[::-1], min_iou=0.5, threads=1)
    assert len(one) >= 9_000
    alone = overlap_join(boxes, min_iou=0.4, threads=1)
    for threads in (2, 8, None):
        many = overlap_join(boxes, boxes[::-1], min_iou=0.5, threads=threads)
        assert_array_equal(many.to_pairs(), one.to_pairs())
        assert_array_equal(many.values, one.values)
        assert_array_equal(overlap_join(boxes, min_iou=0.4, threads=threads).to_pairs(), alone.to_pairs())


def test_many_boxes_are_those_of_the_dense_table_in_parts() -> None:
    """Enough for several buckets of rows, parts of queries and cells around the torus."""
    rng = np.random.default_rng(5)
    a, b = (boxes_at(rng.uniform(0, 1500, (9000, 2)), rng.uniform(5, 90, (9000, 2))) for _ in range(2))
    pairs = overlap_join(a, b, min_iou=0.4)
    assert len(pairs) > 10_000
    offsets = pairs.offsets()
    for first in range(0, 9000, 1000):
        table = ioukit.pairwise_iou(a[first : first + 1000], b)
        rows, columns = np.nonzero(table >= 0.4)
        part = slice(offsets[first], offsets[first + 1000])
        assert_array_equal(pairs.to_pairs()[part], np.stack([rows + first, columns], axis=1))
        assert_array_equal(pairs.values[part], table[rows, columns])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")
def test_a_forked_worker_does_not_wait_for_threads_it_has_not() -> None:
    code = """
import os, sys, numpy as np
from ioukit import overlap_join
boxes = np.arange(80_000, dtype=np.float32).reshape(-1, 4) % 997
boxes[:, 2:] = boxes[:, :2] + 9
here = len(overlap_join(boxes, boxes, min_iou=0.5, threads=2))
child = os.fork()
if child == 0:
    os._exit(0 if len(overlap_join(boxes, boxes, min_iou=0.5, threads=2)) == here > 20_000 else 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, timeout=30)


BYTES_PER_BOX = 48
BYTES_PER_PAIR = 48


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process apart from its parent's")
def test_memory_grows_with_boxes_and_pairs(tmp_path: Path) -> None:
    """A limit of bytes per box and per pair, pairs included, plus 16 MB; benchmarks/bench_join.py uses 2 million.

    The table of all pairs would take 160 GB.
    """
    rng = np.random.default_rng(6)
    a = boxes_at(rng.uniform(0, 8000, (200_000, 2)), rng.uniform(10, 50, (200_000, 2)))
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", rng.permutation(a) + np.float32(2))
    code = """
import sys, numpy as np
from ioukit import overlap_join
a, b = (np.load(f"{sys.argv[1]}/{name}.npy") for name in "ab")
overlap_join(a[:9000], b[:9000], min_iou=0.5)
def peak():  # not ru_maxrss, which starts with the memory of the parent
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
before = peak()
pairs = overlap_join(a, b, min_iou=0.5)
print(len(pairs), peak() - before)
"""
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    pairs, grown = map(int, run.stdout.split())
    assert pairs > 200_000
    assert 1e6 < grown < 400_000 * BYTES_PER_BOX + pairs * BYTES_PER_PAIR + 16e6


A = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [5, 5, 6, 9]], float)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.uint64, bool, ">i4"])
def test_labels_of_any_integer_dtype(dtype: Any) -> None:
    labels = np.array([1, 0, 1]).astype(dtype)
    assert_array_equal(overlap_join(A, A, min_iou=0.1, labels1=labels, labels2=[1, 1, 0]).to_pairs(), [[0, 0], [0, 1]])
    assert len(overlap_join(A[:0], A, min_iou=0.1, labels1=[], labels2=labels)) == 0


def test_formats_and_units() -> None:
    sizes = np.concatenate([A[:, :2], A[:, 2:] - A[:, :2]], axis=1)
    pairs = overlap_join(A, A, min_iou=0.1).to_pairs()
    assert_array_equal(pairs, [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2]])
    assert_array_equal(overlap_join(sizes, sizes, min_iou=0.1, format="xywh").to_pairs(), pairs)
    assert_array_equal(overlap_join(Boxes(sizes, "xywh"), A, min_iou=0.1).to_pairs(), pairs)
    with pytest.raises(ValueError, match="normalized and absolute boxes do not mix"):
        overlap_join(Boxes(A), Boxes(A, normalized=True), min_iou=0.1)


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_unchecked_boxes_never_crash(dtype: Any, data: st.DataObject) -> None:
    numbers = st.floats(width=32) | st.sampled_from([0.0, 1.0, 2.0, 3e38])
    rows = data.draw(st.lists(st.tuples(numbers, numbers, numbers, numbers), max_size=9))
    good = np.array([[0, 0, 1, 1], [1, 1, 3, 4]], dtype)
    boxes = np.array([*rows, *good], dtype)
    for metric in ("iou", "iom", "ciou"):
        pairs = overlap_join(boxes, good, min_iou=0.5, metric=metric, check=False)
        assert {(len(rows), 0), (len(rows) + 1, 1)} <= set(map(tuple, pairs.to_pairs().tolist()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_iou": 0}, r"min_iou must be above 0 and at most 1, got 0: a pair without an intersection never counts"),
        ({"min_iou": -0.5, "metric": "giou"}, r"min_iou must be above 0 and at most 1, got -0\.5"),
        ({"min_iou": 1.5}, r"min_iou must be above 0 and at most 1, got 1\.5"),
        ({"min_iou": np.nan}, r"min_iou must be above 0 and at most 1, got nan"),
        ({"metric": "intersection"}, r"'intersection' is an area, .*; choose from iou, ioa, iom, giou, diou, ciou"),
        ({"metric": "dice"}, r"unknown metric 'dice'; choose from iou, ioa, iom, giou, diou, ciou"),
        ({"metric": "ioa", "of": "third"}, r"unknown of='third'; choose from second, first"),
        ({"of": "first"}, r"of='first' is for metric='ioa' alone, got metric='iou'"),
        ({"boxes2": A[0]}, r"boxes2 must have shape \(N, 4\), got \(4,\)"),
        ({"boxes1": A[None]}, r"boxes1 must have shape \(N, 4\), got \(1, 3, 4\)"),
        ({"boxes1": A[:, ::-1]}, r"boxes1\[0\] is .*: inverted, x2 < x1"),
        ({"boxes2": A * np.nan}, r"boxes2\[0\] is .*: every coordinate must be finite"),
        ({"labels1": [1, 2, 3]}, r"labels1 are given without labels2: label both sets, or neither"),
        ({"labels2": [1, 2, 3]}, r"labels2 are given without labels1: label both sets, or neither"),
        ({"boxes2": None, "labels2": [1, 2, 3]}, r"labels2 are given without boxes2: .* takes labels1 alone"),
        ({"labels1": [1, 2], "labels2": [1, 2, 3]}, r"labels1 must have shape \(3,\), one label per box, got \(2,\)"),
        ({"boxes2": None, "labels1": [[1, 2, 3]]}, r"labels1 must have shape \(3,\), .*, got \(1, 3\)"),
        ({"boxes2": None, "labels1": np.array([0, 1, 2**63], np.uint64)}, r"labels1 hold 9223372036854775808, beyond"),
        ({"threads": 0}, r"threads must be at least 1, or None for all cores, got 0"),
        ({"format": "yxyx"}, r"unknown format 'yxyx'; choose from xyxy, xywh, cxcywh"),
    ],
)
def test_wrong_values_are_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"boxes1": A, "boxes2": A, "min_iou": 0.5, **arguments}
    with pytest.raises(ValueError, match=message):
        overlap_join(given.pop("boxes1"), given.pop("boxes2"), **given)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"min_iou": "half"}, r"min_iou must be a number, got str"),
        ({"min_iou": None}, r"min_iou must be a number, got NoneType"),
        ({"boxes1": None}, r"boxes1 must be Boxes, a NumPy array or nested lists, got NoneType"),
        ({"labels1": [0.5, 1, 2], "labels2": [1, 2, 3]}, r"labels1 must be integers, got dtype float64"),
        ({"labels1": [1, 2, 3], "labels2": ["a", "b", "c"]}, r"labels2 must be integers, got dtype <U1"),
        ({"threads": 1.5}, r"float"),
    ],
)
def test_wrong_kinds_are_refused(arguments: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"boxes1": A, "boxes2": A, "min_iou": 0.5, **arguments}
    with pytest.raises(TypeError, match=message):
        overlap_join(given.pop("boxes1"), given.pop("boxes2"), **given)


def test_more_boxes_than_can_be_numbered_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ioukit.overlap.join._MOST_BOXES", 2)
    with pytest.raises(ValueError, match=r"boxes2 has 3 boxes, more than the 2 that a join can number"):
        overlap_join(A[:2], A, min_iou=0.5)


def test_the_threshold_has_no_default() -> None:
    with pytest.raises(TypeError, match="min_iou"):
        overlap_join(A)  # type: ignore[call-arg]
