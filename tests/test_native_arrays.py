"""The native module refuses arrays of other layouts, keeps to memory, and makes exceptions of its panics."""

from __future__ import annotations

import ctypes
import gc
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import Detections, GroundTruth, _core, evaluate
from ioukit.statistics import replicate

BOXES = np.array([[0, 0, 2, 2], [1, 1, 3, 3], [0, 0, 1, 1]], np.float64)


def iou(boxes: Any, out: Any, others: Any = BOXES) -> Any:
    _core.pairwise("iou", (), boxes, others, out, 1, False, None)
    return out


def moved_by_a_byte(array: Any) -> Any:
    return np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)


def box_iou(first: Any) -> Any:
    return _core.coco_box_iou(first, BOXES, np.zeros(3, np.bool_))


@pytest.mark.parametrize(
    ("boxes", "found"),
    [
        ([[0, 0, 1, 1]], "no array"),
        (None, "no array"),
        (np.asfortranarray(np.tile(BOXES, (2, 1))), "f8 of 2 dimensions, aligned, native"),
        (np.tile(BOXES, (1, 2))[:, ::2], "f8 of 2 dimensions, aligned, native"),
        (moved_by_a_byte(BOXES), "f8 of 2 dimensions, contiguous, native"),
        (BOXES.astype(BOXES.dtype.newbyteorder()), "f8 of 2 dimensions, contiguous, aligned"),
        (BOXES.astype(np.int64), "i8 of 2 dimensions, contiguous, aligned, native"),
        (BOXES.astype(np.float16), "f2 of 2 dimensions, contiguous, aligned, native"),
        (BOXES[0], "f8 of 1 dimensions, contiguous, aligned, native"),
        (BOXES[None], "f8 of 3 dimensions, contiguous, aligned, native"),
        (np.array(1.0), "f8 of 0 dimensions, contiguous, aligned, native"),
    ],
    ids=str,
)
def test_an_array_of_another_layout_is_refused(boxes: Any, found: str) -> None:
    with pytest.raises(
        TypeError, match=rf"(?m)^expected an array f8 of 2 dimensions, contiguous, aligned, native, got {found}$"
    ):
        box_iou(boxes)


def test_an_array_that_must_not_be_written_is_not_filled() -> None:
    out = np.zeros((3, 3))
    out.flags.writeable = False
    with pytest.raises(TypeError, match=r"writeable, got f8, contiguous, aligned, native$"):
        iou(BOXES, out)
    assert_array_equal(out, 0)


def test_an_array_to_fill_shares_no_memory_with_another() -> None:
    memory = np.arange(24.0)
    boxes = memory[:12].reshape(3, 4)
    with pytest.raises(ValueError, match="an array to fill shares memory with another argument"):
        iou(boxes, memory[11:20].reshape(3, 3))
    behind = iou(boxes, memory[12:21].reshape(3, 3))
    assert_array_equal(behind, iou(boxes.copy(), np.zeros((3, 3))))


def test_only_the_items_of_a_view_are_written() -> None:
    memory = np.full(27, -1.0)
    assert_array_equal(iou(BOXES, memory[9:18].reshape(3, 3)), iou(BOXES, np.zeros((3, 3))))
    assert_array_equal(memory[:9], -1)
    assert_array_equal(memory[18:], -1)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (0, 0)])
def test_empty_arrays(rows: int, columns: int) -> None:
    out = iou(np.zeros((rows, 4)), np.zeros((rows, columns)), np.zeros((columns, 4)))
    assert out.shape == (rows, columns)


class Interface(ctypes.Structure):
    """NumPy's array interface."""

    _fields_ = [
        ("version", ctypes.c_int),
        ("dimensions", ctypes.c_int),
        ("kind", ctypes.c_char),
        ("item_size", ctypes.c_int),
        ("flags", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("data", ctypes.c_void_p),
        ("description", ctypes.py_object),
    ]


class Foreign:
    """An array that another library made: its shape, and where its memory is."""

    def __init__(self, *shape: int, data: int | None, version: int = 2, name: bytes | None = None) -> None:
        self.shape = (ctypes.c_ssize_t * len(shape))(*shape)
        self.interface = Interface(version, len(shape), b"f", 8, 0x701, self.shape, None, data)
        self.name = name

    @property
    def __array_struct__(self) -> Any:
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.interface), self.name, None)


def test_arrays_of_other_libraries_are_read() -> None:
    foreign = Foreign(3, 4, data=BOXES.ctypes.data)
    assert_array_equal(iou(foreign, np.zeros((3, 3))), iou(BOXES, np.zeros((3, 3))))
    # Without items there need be no memory.
    assert iou(Foreign(0, 4, data=None), np.zeros((0, 3))).shape == (0, 3)


def test_another_interface_is_refused() -> None:
    with pytest.raises(TypeError, match="expected an array"):
        iou(Foreign(3, 4, data=BOXES.ctypes.data, version=3), np.zeros((3, 3)))
    with pytest.raises(TypeError, match="got no array"):
        iou(Foreign(3, 4, data=BOXES.ctypes.data, name=b"another capsule"), np.zeros((3, 3)))


def test_bytes_that_are_no_bools_are_refused() -> None:
    """NumPy takes any bytes as bools."""
    crowd = np.array([0, 1, 0], np.uint8)
    expected = _core.coco_box_iou(BOXES, BOXES, np.array([False, True, False]))
    assert_array_equal(_core.coco_box_iou(BOXES, BOXES, crowd.view(np.bool_)), expected)
    crowd[1] = 255
    with pytest.raises(ValueError, match="expected bools of the bytes 0 and 1, got the byte 255"):
        _core.coco_box_iou(BOXES, BOXES, crowd.view(np.bool_))


def test_results_keep_their_memory() -> None:
    counts = [_core.masks_from_boxes(np.array([[0.0, 0, k, k]]), np.array([[9, 9]]), "boxes") for k in range(1, 8)]
    gc.collect()
    np.ones(1 << 16)  # would reuse memory that was given back
    for side, (runs, _, sizes) in enumerate(counts, 1):
        assert (runs[1::2].sum(), sizes.tolist()) == (side * side, [[9, 9]])
        assert runs.flags.writeable
        assert runs.flags.aligned
        assert not runs.flags.owndata
        assert runs.base is not None


def test_results_in_memory_of_numpy() -> None:
    for rows, columns in ((0, 3), (3, 0), (0, 0), (1, 1), (3, 7)):
        table = _core.plain_pairwise("iou", (), np.zeros((rows, 4)), np.zeros((columns, 4)), None)
        assert table is not None
        assert (table.shape, table.dtype, table.base) == ((rows, columns), np.dtype(np.float64), None)
        assert table.flags.owndata
        assert table.flags.writeable
        assert table.flags.c_contiguous
        assert not table.any()
    many = np.zeros((1 << 22, 4), np.float32)
    with pytest.raises(MemoryError):
        _core.plain_pairwise("iou", (), many, many, None)  # 64 TiB


def test_a_defect_of_the_core_is_an_exception(capfd: pytest.CaptureFixture[str]) -> None:
    """A panic: it names its place, prints nothing, and nothing is wrong afterwards."""
    gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 9, 9]] * 2)
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], scores=[0.9])
    table, other = (evaluate(gt, dt).matches for _ in range(2))
    object.__setattr__(table.detections, "image", np.array([7], np.uint32))
    with pytest.raises(RuntimeError, match=r"^a defect of ioukit, please report it: index out of bounds: .*\.rs:\d+"):
        replicate(table, [[1, 1]])
    assert capfd.readouterr() == ("", "")
    assert replicate(other, [[1, 1]]).values[0, 0] == pytest.approx(0.5, abs=0.01)
