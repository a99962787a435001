"""Tiles of an image too large for a detector, and NMS over their boxes that needs a strip of them at a time."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.postprocess._columns import as_columns, check_least, check_threshold, host, restore
from ioukit.postprocess.soft import SymmetricMetric, check_metric

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["Tile", "TiledDetections", "TiledNms", "cut_tiles", "nms_over_tiles"]


@dataclass(frozen=True)
class Tile:
    """A window of an image, in whole pixels."""

    x: int
    """Its left side."""
    y: int
    """Its upper side."""
    width: int
    height: int
    image_size: tuple[int, int]
    """(width, height) of the image."""

    @property
    def box(self) -> tuple[int, int, int, int]:
        """Xyxy in the image: ``image[y1:y2, x1:x2]`` is what the detector sees."""
        return self.x, self.y, self.x + self.width, self.y + self.height

    def to_image(self, boxes: BoxesLike, *, format: BoxFormat | None = None, check: bool = True) -> Array:
        """Boxes in the pixels of the tile as boxes in the pixels of the image.

        Args:
            boxes: `Boxes` in pixels or an array-like of shape (N, 4).
            format: What plain arrays hold and the result will; ``"xyxy"`` by default. For `Boxes` the result is xyxy.
            check: Whether plain arrays are checked.

        Returns:
            (N, 4) float64 of the caller's library: in float32, far pixels of a huge image have few digits left.

        Raises:
            ValueError: If the boxes are normalized, or not valid.
        """
        moved = self._corners(boxes, format, check) + np.array([self.x, self.y] * 2, np.float64)
        if format == "xywh":
            moved[:, 2:] -= moved[:, :2]
        elif format == "cxcywh":
            sides = moved[:, 2:] - moved[:, :2]
            moved = np.concatenate([moved[:, :2] + sides / 2, sides], axis=1)
        return restore(moved, boxes)

    def cuts(self, boxes: BoxesLike, *, margin: float = 0.0, format: BoxFormat | None = None) -> Array:
        """Which boxes, in the pixels of the tile, reach a side of it that is no side of the image.

        There may be more of such an object in the next tile, which sees all of it if tiles overlap by more than its
        size.

        Args:
            boxes: `Boxes` in pixels or an array-like of shape (N, 4).
            margin: How near to the side is on it.
            format: What plain arrays hold; ``"xyxy"`` by default.

        Returns:
            (N,) bool of the caller's library.
        """
        corners = self._corners(boxes, format, True)
        width, height = self.image_size
        inner = np.array([self.x > 0, self.y > 0, self.x + self.width < width, self.y + self.height < height])
        room = np.concatenate([corners[:, :2], np.array([self.width, self.height]) - corners[:, 2:]], axis=1)
        return restore(((room <= margin) & inner).any(axis=1), boxes)

    def _corners(self, boxes: BoxesLike, fmt: BoxFormat | None, check: bool) -> NDArray[np.float64]:
        if getattr(boxes, "normalized", False):
            raise ValueError("boxes are normalized, expected pixels of the tile: denormalize(width, height) them first")
        count = len(host(boxes, "boxes"))
        return as_columns(boxes, np.zeros(count), None, fmt=fmt, check=check).boxes.astype(np.float64)


def cut_tiles(
    image_size: Sequence[int], tile_size: int | Sequence[int], overlap: int | Sequence[int] = 0
) -> list[Tile]:
    """Covers an image with tiles of one size, row by row.

    The last tile of a row or a column ends with the image, so it may overlap its neighbour by more. An object that is
    no wider and no higher than the overlap lies in one of the tiles as a whole, wherever it is.

    Args:
        image_size: (width, height) in pixels.
        tile_size: (width, height), or one number for both; cut to the image where that is smaller.
        overlap: How many pixels neighbours share at least, (x, y) or one number for both; less than a tile.

    Raises:
        ValueError: If a size is not positive, or the overlap is negative or not smaller than the tile.

    Examples:
        >>> from ioukit import cut_tiles
        >>> [tile.box for tile in cut_tiles((100, 60), 60, 20)]
        [(0, 0, 60, 60), (40, 0, 100, 60)]
    """
    width, height = _two("image_size", image_size)
    sides, shared = _two("tile_size", tile_size), _two("overlap", overlap)
    if min(width, height, *sides) < 1:
        raise ValueError(f"image_size and tile_size must be positive, got {image_size} and {tile_size}")
    if min(shared) < 0 or shared[0] >= sides[0] or shared[1] >= sides[1]:
        raise ValueError(f"overlap must be at least 0 and smaller than the tile, {tile_size}, got {overlap}")
    columns, rows = (
        _starts(size, side, side - both) for size, side, both in zip((width, height), sides, shared, strict=True)
    )
    wide, high = min(sides[0], width), min(sides[1], height)
    return [Tile(x, y, wide, high, (width, height)) for y in rows for x in columns]


def _two(name: str, value: int | Sequence[int]) -> tuple[int, int]:
    both: Any = value if hasattr(value, "__len__") else (value, value)
    try:
        numbers = tuple(operator.index(number) for number in both)
    except TypeError:
        raise TypeError(f"{name} must be whole numbers of pixels, got {value!r}") from None
    if len(numbers) != 2:
        raise ValueError(f"{name} must be (x, y), got {value!r}")
    return numbers


def _starts(size: int, side: int, step: int) -> list[int]:
    return [*range(0, max(size - side, 0), step), max(size - side, 0)]


class TiledDetections(NamedTuple):
    """Boxes that stay, whatever comes."""

    boxes: Array
    """(K, 4) xyxy float64, in the pixels of the image."""
    scores: Array
    """(K,) float64, falling."""
    labels: Array
    """(K,) int64; 0 where no labels were given."""
    tiles: Array
    """(K,) int64, the tile of each, as a position in ``tiles``."""
    rows: Array
    """(K,) int64, its position among the boxes of that tile."""


class _Pending(NamedTuple):
    boxes: NDArray[np.float64]
    scores: NDArray[np.float64]
    labels: NDArray[np.int64]
    tiles: NDArray[np.int64]
    rows: NDArray[np.int64]

    def take(self, places: NDArray[Any]) -> _Pending:
        return _Pending(*(column[places] for column in self))


class TiledNms:
    """Greedy NMS over the boxes of tiles, which come one tile at a time and leave as soon as their fate is known.

    What is kept in the end is exactly what greedy NMS keeps of all boxes of all tiles in the pixels of the image, in
    float64, with equal scores in the order of ``tiles`` and then of the boxes. It needs no condition, and the order in
    which tiles come changes nothing but when boxes leave. For that, a box waits while a tile is missing that

    - could hold a box which suppresses it: one whose window covers more than ``iou_threshold`` of its area (IoU with a
      box inside a window is at most that part; with ``"iom"``, one that meets it); or
    - could decide a better box that overlaps it, and so on along a chain of falling scores.

    A box that a box which stays suppresses is gone at once. So memory holds the boxes near the tiles that are missing
    (with tiles row by row, about one row of overlaps), and those tied to them by chains. Chains of real detections end
    after a few boxes, but no bound is promised: boxes that fall in score step by step away from a missing tile all
    depend on what it brings.

    One object in two tiles gives two boxes. Where both are whole, they are nearly equal, and NMS keeps one. A part that
    a tile cuts off may overlap the whole by less than the threshold, and stays: let tiles overlap by more than the
    largest object, and leave out what `Tile.cuts` names, since another tile has it whole. Then, if the detector sees
    an object in all tiles alike, what is kept is what NMS keeps of the whole image. With larger objects,
    ``metric="iom"`` or `non_maximum_merge` puts the parts together.

    Args:
        tiles: All that will come.
        iou_threshold: At least 0: removes boxes with an overlap **above** it.
        metric: How overlap is measured.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Raises:
        ValueError: If an option is out of range, or a tile is there twice.

    Examples:
        >>> from ioukit import TiledNms, cut_tiles
        >>> left, right = tiles = cut_tiles((100, 60), 60, 20)
        >>> nms = TiledNms(tiles)
        >>> nms.add(left, [[0, 0, 9, 9], [45, 10, 55, 20]], [0.5, 0.6]).boxes  # the other may be in the right tile too
        array([[0., 0., 9., 9.]])
        >>> nms.add(right, [[5, 10, 15, 21]], [0.8]).boxes
        array([[45., 10., 55., 21.]])
    """

    def __init__(
        self,
        tiles: Sequence[Tile],
        *,
        iou_threshold: float = 0.5,
        metric: SymmetricMetric = "iou",
        threads: int | None = None,
    ) -> None:
        check_threshold(iou_threshold=iou_threshold)
        check_metric(metric)
        self._threshold, self._metric, self._threads = float(iou_threshold), metric, check_threads(threads)
        self._numbers = {tile: number for number, tile in enumerate(tiles)}
        if len(self._numbers) != len(tiles):
            raise ValueError("a tile is in tiles twice")
        self._windows = np.array([tile.box for tile in tiles], np.float64).reshape(-1, 4)
        self._missing = np.ones(len(tiles), np.bool_)
        self._labelled: bool | None = None
        self._pending = _Pending(np.zeros((0, 4)), np.zeros(0), *(np.zeros(0, np.int64) for _ in range(3)))

    @property
    def pending(self) -> int:
        """How many boxes wait."""
        return len(self._pending.scores)

    def add(
        self,
        tile: Tile,
        boxes: BoxesLike,
        scores: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
    ) -> TiledDetections:
        """Takes the boxes of a tile and gives what is certain now.

        Args:
            tile: One of the tiles, for the first time. One without boxes must be added too, or it is waited for.
            boxes: `Boxes` or an array-like of shape (N, 4), in the pixels of the tile and inside of it.
            scores: (N,) numbers, infinities too.
            labels: (N,) integers, with all tiles or with none. Only boxes with equal labels suppress each other.
            format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
            check: Whether plain arrays are checked.

        Returns:
            The boxes that stay and were not given before, by falling score.

        Raises:
            ValueError: If the tile is unknown or was added before, a box is not valid or reaches out of the tile (so
                that it might meet boxes which have left), or labels come with some tiles only.
        """
        number = self._numbers.get(tile)
        if number is None or not self._missing[number]:
            problem = "is none of the tiles" if number is None else "was added before"
            raise ValueError(f"{tile} {problem}")
        columns = as_columns(boxes, scores, labels, fmt=format, check=check, any_score=True)
        if getattr(boxes, "normalized", False):
            raise ValueError("boxes are normalized, expected pixels of the tile: denormalize(width, height) them first")
        count = len(columns.scores)
        if count and self._labelled not in (None, labels is not None):
            raise ValueError("labels must come with all tiles or with none")
        corners = columns.boxes.astype(np.float64)
        out = (corners < 0) | (corners > np.array([tile.width, tile.height] * 2))
        if out.any():
            row = int(np.flatnonzero(out.any(axis=1))[0])
            raise ValueError(
                f"boxes[{row}] is {corners[row].tolist()}, which reaches out of a tile of "
                f"{tile.width} x {tile.height}: clip it first"
            )
        if count:
            self._labelled = labels is not None
        come = _Pending(
            corners + np.array([tile.x, tile.y] * 2, np.float64),
            columns.scores,
            np.zeros(count, np.int64) if columns.labels is None else columns.labels,
            np.full(count, number, np.int64),
            np.arange(count, dtype=np.int64),
        )
        self._pending = _Pending(*(np.concatenate(pair) for pair in zip(self._pending, come, strict=True)))
        self._missing[number] = False
        return self._settle(like=boxes)

    def finish(self) -> TiledDetections:
        """Takes the tiles that are missing for empty, and gives the rest."""
        self._missing[:] = False
        return self._settle(like=None)

    def _settle(self, like: Any) -> TiledDetections:
        waiting = self._pending
        waiting = waiting.take(np.lexsort((waiting.rows, waiting.tiles, -waiting.scores)))
        least = check_least(self._threshold, waiting.boxes.dtype)
        rows, others, values = _core.overlap_join(
            self._metric, least, waiting.boxes, None, waiting.labels, None, self._threads
        )
        above = values > self._threshold
        fates = _core.settle_pairs(self._open(waiting.boxes), rows[above], others[above])
        kept = waiting.take(np.flatnonzero(fates == 0))
        self._pending = waiting.take(np.flatnonzero(fates == 2))
        return TiledDetections(*(restore(column, like) for column in kept))

    def _open(self, boxes: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The boxes that one in a missing tile might suppress."""
        # A little less than the threshold: to wait in vain costs nothing but memory.
        part = 0.0 if self._metric == "iom" else self._threshold * (1 - 1e-9)
        reached = np.zeros(len(boxes), np.bool_)
        if part < 1:
            least = check_least(part, boxes.dtype)
            windows = self._windows[self._missing]
            rows, _, _ = _core.overlap_join("ioa_first", least, boxes, windows, None, None, self._threads)
            reached[rows] = True
        return reached


def nms_over_tiles(
    detections: Iterable[tuple[Tile, BoxesLike, ArrayLike] | tuple[Tile, BoxesLike, ArrayLike, ArrayLike | None]],
    *,
    tiles: Sequence[Tile],
    iou_threshold: float = 0.5,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    threads: int | None = None,
) -> Iterator[TiledDetections]:
    """Greedy NMS over the boxes of tiles as they come: what `TiledNms` gives after each tile, and the rest.

    Args:
        detections: ``(tile, boxes, scores)`` or ``(tile, boxes, scores, labels)`` per tile, boxes in the pixels of the
            tile; tiles that do not come have no boxes.
        tiles: All that may come.
        iou_threshold: At least 0: removes boxes with an overlap **above** it.
        metric: How overlap is measured.
        format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``.
        threads: How many threads may search for overlaps, by default all; they change no bit.

    Yields:
        The boxes that became certain, never none.

    Raises:
        ValueError: As `TiledNms`.
    """
    nms = TiledNms(tiles, iou_threshold=iou_threshold, metric=metric, threads=threads)
    for tile, boxes, scores, *labels in detections:
        found = nms.add(tile, boxes, scores, labels[0] if labels else None, format=format)
        if len(found.scores):
            yield found
    rest = nms.finish()
    if len(rest.scores):
        yield rest
