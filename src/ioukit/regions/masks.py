"""`Masks`: sets of pixels, held as COCO's run lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.regions import _mask_input
from ioukit.regions.boxes import Boxes
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions._mask_input import Parts
    from ioukit.typing import FloatArray


class Masks(Regions):
    """N masks, each with its own height and width: a frozen value that holds runs, not pixels.

    A mask is a set of pixels. COCO's run lengths (RLE) go down one column after the other. The first run counts zeros
    and may be empty; any other empty run is joined with its neighbours. Results equal those of pycocotools to the last
    bit, except for the cases in ``docs/masks.md``, where pycocotools reads foreign memory or returns nonsense.

    Build masks with :meth:`from_arrays`, :meth:`from_rle`, :meth:`from_polygons`, :meth:`from_boxes` or
    :meth:`from_coco`. Two `Masks` are equal, and have the same hash, if their pixels and sizes are equal. ``masks[i]``
    is a `Masks` of one mask; slices, boolean masks and index arrays select masks.

    Examples:
        >>> masks = Masks.from_rle([{"size": [3, 4], "counts": [4, 2, 1, 2, 3]}])
        >>> masks.to_arrays()[0].astype(int)
        array([[0, 0, 0, 0],
               [0, 1, 1, 0],
               [0, 1, 1, 0]])
        >>> masks.to_boxes()
        Boxes([[1., 1., 3., 3.]], format='xyxy', dtype=float64)
        >>> masks.area
        array([4.])
    """

    __slots__ = ("_offsets", "_runs", "_sizes")
    _runs: NDArray[np.uint32]  # those of all masks, one mask after the other
    _offsets: NDArray[np.int64]  # (N + 1,), mask i has the runs offsets[i]:offsets[i + 1]
    _sizes: NDArray[np.uint32]  # (N, 2), height and width

    def __init__(self) -> None:
        raise TypeError("build masks with Masks.from_arrays, from_rle, from_polygons, from_boxes or from_coco")

    @classmethod
    def _trusted(cls, runs: NDArray[np.uint32], offsets: NDArray[np.int64], sizes: NDArray[np.uint32]) -> Masks:
        """Masks that own these arrays, in which only the first run of a mask may be empty."""
        masks = object.__new__(cls)
        for array in (runs, offsets, sizes):
            array.flags.writeable = False
        masks._runs, masks._offsets, masks._sizes = runs, offsets, sizes
        return masks

    @property
    def _parts(self) -> Parts:
        return self._runs, self._offsets, self._sizes

    @classmethod
    def from_arrays(cls, arrays: ArrayLike | Sequence[ArrayLike]) -> Masks:
        """Masks from arrays of pixels.

        Args:
            arrays: (N, H, W), or a list of (H, W), which may differ in size. Bool or uint8; any value but 0 is
                foreground. Arrays of NumPy, or of another library on any device.

        Raises:
            TypeError: If the dtype is neither bool nor uint8.
            ValueError: If the number of dimensions is wrong, or a mask has more than 2**31 - 1 pixels.
        """
        return cls._trusted(*_mask_input.from_arrays(arrays))

    @classmethod
    def from_rle(cls, records: Iterable[Mapping[str, Any]]) -> Masks:
        """Masks from COCO's RLE records.

        Args:
            records: Each a mapping with ``size``, [height, width], and ``counts``: compressed (str or bytes), or the
                lengths of the runs as a list or array of integers.

        Raises:
            ValueError: If counts are negative, do not sum to the number of pixels, or cannot be decompressed. The
                message names the record.
            TypeError: If a record or a field has the wrong type.
            KeyError: If a field is missing.
        """
        if isinstance(records, Mapping):
            raise TypeError("records must be a list of records, got one: [record]")
        return cls._trusted(*_core.masks_from_rle(list(records), "records"))

    @classmethod
    def from_polygons(
        cls,
        polygons: Iterable[Sequence[ArrayLike]],
        *,
        height: int | ArrayLike,
        width: int | ArrayLike,
        threads: int | None = None,
    ) -> Masks:
        """Masks from COCO's polygons, with the same pixels as pycocotools draws.

        Args:
            polygons: One list of polygons per mask. The mask is their union; without polygons it is empty. A polygon is
                a flat list ``[x1, y1, x2, y2, ...]`` in pixels, and may reach beyond the image.
            height: Height of the image in pixels: one for all masks, or (N,).
            width: Width of the image, likewise.
            threads: How many threads draw; by default one per core.

        Raises:
            ValueError: If a polygon has fewer than 3 points or an odd number of coordinates, or a coordinate is not
                finite or beyond 2**27. The message names mask and polygon.
            TypeError: If a polygon is not a flat list of numbers.
        """
        items = list(polygons)
        sizes = _mask_input.sizes_of(height, width, len(items))
        return cls._trusted(*_core.masks_from_polygons(items, sizes, "polygons", check_threads(threads)))

    @classmethod
    def from_boxes(cls, boxes: Boxes, *, height: int | ArrayLike, width: int | ArrayLike) -> Masks:
        """Masks from boxes, drawn as polygons of four points, as ``pycocotools.mask.frPyObjects`` draws them.

        Args:
            boxes: In any format, in pixels.
            height: Height of the image in pixels: one for all masks, or (N,).
            width: Width of the image, likewise.

        Raises:
            ValueError: If the boxes are normalized, or a coordinate is beyond 2**27.
        """
        return cls._trusted(*_mask_input.from_boxes(boxes, height, width))

    @classmethod
    def from_coco(
        cls,
        segmentations: Iterable[Any],
        *,
        height: int | ArrayLike,
        width: int | ArrayLike,
        threads: int | None = None,
    ) -> Masks:
        """Masks from the ``segmentation`` fields of COCO files: lists of polygons and RLE records, also mixed.

        Args:
            segmentations: One per mask, such as ``GroundTruth.segmentations`` or ``Detections.segmentations``.
            height: Height of the images in pixels, for polygons: one for all masks, or (N,). Records have their own.
            width: Width of the images, likewise.
            threads: How many threads draw polygons; by default one per core.

        Raises:
            ValueError, TypeError, KeyError: As :meth:`from_rle` and :meth:`from_polygons`. The message names the
                segmentation.
        """
        return cls._trusted(*_mask_input.from_coco(list(segmentations), height, width, check_threads(threads)))

    @staticmethod
    def concat(masks: Sequence[Masks]) -> Masks:
        """All masks of a sequence, in order. An empty sequence gives `Masks` without a mask.

        Raises:
            TypeError: If an element is not `Masks`.
        """
        Masks._check_parts(masks, "masks")
        return Masks._trusted(*_mask_input.joined([item._parts for item in masks]))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """(N, 2) height and width of each mask in pixels."""
        return self._sizes.astype(np.int64)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels, if all masks have the same.

        Raises:
            ValueError: If the sizes differ, or there is no mask.
        """
        if not len(self):
            raise ValueError("a size needs at least one mask, got none")
        other = np.flatnonzero((self._sizes != self._sizes[0]).any(axis=1))
        if other.size:
            raise ValueError(
                f"masks of another size: masks[{other[0]}] is {_shape(self._sizes[other[0]])}, "
                f"masks[0] {_shape(self._sizes[0])} (height x width)"
            )
        height, width = self._sizes[0].tolist()
        return height, width

    @property
    def area(self) -> FloatArray:
        """(N,) the number of foreground pixels, as float64."""
        return _core.mask_areas(*self._parts).astype(np.float64)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        """(N,) true for masks without a foreground pixel."""
        empty: NDArray[np.bool_] = np.diff(self._offsets) == 1
        return empty

    def to_arrays(self) -> NDArray[np.bool_]:
        """(N, H, W) pixels of masks that have one size: a new array.

        The columns are contiguous in memory, as in pycocotools; ``np.ascontiguousarray`` gives contiguous rows. Without
        masks the shape is (0, 0, 0).

        Raises:
            ValueError: If the sizes differ.
        """
        height, width = self.size if len(self) else (0, 0)
        pixels = np.zeros((len(self), width, height), np.uint8)
        _core.masks_to_pixels(*self._parts, pixels.reshape(-1))
        arrays: NDArray[np.bool_] = pixels.view(np.bool_).transpose(0, 2, 1)
        return arrays

    def to_rle(self, *, compressed: bool = True, text: bool = True) -> list[dict[str, Any]]:
        """COCO's RLE records, ``{"size": [height, width], "counts": ...}``.

        Args:
            compressed: Whether counts are compressed rather than a list of integers.
            text: Whether compressed counts are str, ready for JSON, rather than bytes, as in pycocotools.
        """
        return _core.masks_to_rle(*self._parts, compressed, text)

    def to_boxes(self) -> Boxes:
        """The smallest box of whole pixels around each mask's foreground: xyxy, float64; all 0 for an empty mask.

        ``to_boxes().convert("xywh")`` has the numbers of ``pycocotools.mask.toBbox``.
        """
        return Boxes._trusted(_core.mask_bounds(*self._parts), "xywh", False).convert("xyxy")

    def merge(self, intersect: bool = False) -> Masks:
        """The union of all masks, as one mask; with ``intersect``, their intersection.

        Raises:
            ValueError: If the sizes differ, or there is no mask.
        """
        return Masks._trusted(*_core.masks_merge(*self._parts, intersect))

    def boundary(self, dilation_ratio: float = 0.02, *, threads: int | None = None) -> Masks:
        """The boundary region of each mask: its pixels that are near its outside.

        A pixel is near the outside if some pixel outside the mask is at most ``d`` rows and at most ``d`` columns away,
        where ``d = max(1, round(dilation_ratio * diagonal of the image))``. Everything beyond the image counts as
        outside. So the region is the mask without what ``d`` erosions by a square of 3 x 3 pixels leave of it.

        Args:
            dilation_ratio: A fraction of the diagonal, at least 0; 0 gives ``d = 1``.
            threads: How many threads work; by default one per core.

        Reference: Cheng et al., Boundary IoU, CVPR 2021, arXiv:2103.16562; ``mask_to_boundary`` of its authors.
        """
        if not (math.isfinite(dilation_ratio) and dilation_ratio >= 0):
            raise ValueError(f"dilation_ratio must be at least 0 and finite, got {dilation_ratio}")
        return Masks._trusted(*_core.masks_boundary(*self._parts, float(dilation_ratio), check_threads(threads)))

    def __len__(self) -> int:
        return len(self._sizes)

    def _state(self) -> Parts:
        return self._parts

    def _select(self, rows: slice | NDArray[Any]) -> Masks:
        return Masks._trusted(*_mask_input.chosen(self._parts, rows))

    def __repr__(self) -> str:
        if not len(self):
            return "Masks([])"
        same = bool((self._sizes == self._sizes[0]).all())
        size = f"{_shape(self._sizes[0])} (height x width)" if same else "several sizes"
        area = np.array2string(self.area.astype(np.int64), separator=", ", threshold=10)
        return f"Masks({len(self)} of {size}, area={area})"


def _shape(size: NDArray[np.uint32]) -> str:
    return f"{size[0]} x {size[1]}"
