"""`Boxes3D`: boxes in space that turn about the vertical axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice, check_finite
from ioukit.regions._turned import TurnedBoxes, check_angle
from ioukit.regions.rotated import RotatedBoxes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ioukit.regions.boxes import Boxes
    from ioukit.typing import AngleSense, AngleUnit, FloatArray

__all__ = ["Boxes3D"]

Height: TypeAlias = Literal["centre", "bottom"]


class Boxes3D(TurnedBoxes):
    """N boxes in space, each turned about the vertical axis: a frozen value that knows what its numbers mean.

    A row is ``x, y, z, dx, dy, dz, yaw``. The axes are right-handed with **z upwards** (a lidar's: x forward, y left, z
    up); ``dx``, ``dy`` and ``dz`` are length, width and height along x, y and z before the box is turned. ``x, y`` is
    the centre; ``z`` is that of the centre or of the bottom face, which libraries hold differently and the numbers do
    not tell: mmcv's functions take centres, mmdetection3d's boxes and KITTI's have bottoms. In KITTI's camera axes y
    points down, so such boxes are brought to these axes first.

    The sense is that of the yaw seen from above, against the z axis: ``"counterclockwise"`` turns x towards y. It has
    the same formula as ``"clockwise"`` of `RotatedBoxes`, since an image has y pointing down.

    The overlaps take volumes for areas: intersection, IoU, IoA, IoM and Jaccard distance. So do `area`, which every
    set of regions has, and `volume`, which says it. Overlaps are computed in float64, whatever the dtype.

    Args:
        data: (N, 7) numbers, one box of 7 numbers, nothing (``[]``), or `Boxes3D`, which are converted. It is copied.
        z: ``"centre"`` or ``"bottom"``: of which the third number is the height.
        unit: ``"radians"`` or ``"degrees"``.
        sense: ``"clockwise"`` or ``"counterclockwise"``, seen from above.
        dtype: ``np.float32`` or ``np.float64``. By default float32 and float64 arrays keep theirs, float16 becomes
            float32, and all else float64.

    Raises:
        ValueError: If the shape is another, ``z``, unit or sense unknown, or a box is not finite, too large (2**126
            in float32, 2**500 in float64; volumes of float64 are finite up to sides of 2**341) or of negative size; the
            message names the first such row.
        TypeError: If the data are not numbers, or ``z``, unit or sense is not given.

    Examples:
        >>> from ioukit import pairwise_iou
        >>> how = {"z": "centre", "unit": "radians", "sense": "counterclockwise"}
        >>> cube = Boxes3D([[1, 1, 1, 2, 2, 2, 0]], **how)
        >>> cube.volume
        array([8.])
        >>> pairwise_iou(cube, Boxes3D([[1, 1, 2, 2, 2, 2, 0]], **how))
        array([[0.33333333]])
    """

    __slots__ = ("_z",)
    _z: Height
    _KIND: ClassVar[tuple[str, ...]] = ("z", "unit", "sense")
    _COLUMNS: ClassVar[tuple[str, ...]] = ("x", "y", "z", "dx", "dy", "dz", "yaw")
    _SIDES: ClassVar[slice] = slice(3, 6)

    def __init__(
        self,
        data: Boxes3D | ArrayLike,
        *,
        z: Height,
        unit: AngleUnit,
        sense: AngleSense,
        dtype: DTypeLike | None = None,
    ) -> None:
        check_choice("z", z, get_args(Height))
        check_angle(unit, sense)
        if isinstance(data, Boxes3D):
            data = data.convert(z=z, unit=unit, sense=sense)._array
        self._set(self._rows(data, dtype), z, unit, sense)

    def _as(self, kind: dict[str, Any]) -> Boxes3D:
        return self.convert(**kind)

    def convert(
        self, *, z: Height | None = None, unit: AngleUnit | None = None, sense: AngleSense | None = None
    ) -> Boxes3D:
        """The same boxes with another ``z``, or angles in another unit or sense; what is not given stays."""
        z, unit, sense = z or self._z, unit or self._unit, sense or self._sense
        check_choice("z", z, get_args(Height))
        check_angle(unit, sense)
        boxes = self._with_angle(unit, sense)
        if z == self._z:
            return boxes
        array = np.array(boxes._array)
        half = array[:, 5] / 2
        array[:, 2] += half if z == "centre" else -half
        return boxes._with(array, z=z)

    def to_bird_eye(self) -> RotatedBoxes:
        """The rectangles seen from above, in the plane of x and y, without the heights.

        The numbers stay. The sense has the other name, because `RotatedBoxes` look at a plane whose y points down.
        """
        sense: AngleSense = "clockwise" if self._sense == "counterclockwise" else "counterclockwise"
        array = np.ascontiguousarray(self._array[:, [0, 1, 3, 4, 6]])
        return RotatedBoxes._trusted(array, self._unit, sense)

    def to_boxes(self) -> Boxes:
        """The upright boxes around the rectangles seen from above, float64: ``x1, y1, x2, y2``."""
        return self.to_bird_eye().to_boxes()

    def _native(self) -> tuple[NDArray[np.float64], bool, bool, NDArray[np.float64]]:
        """What the native module takes."""
        array = self._array.astype(np.float64)
        middle = array[:, 2] + (array[:, 5] / 2 if self._z == "bottom" else 0.0)
        return (*self.to_bird_eye()._native(), np.stack([middle, array[:, 5]], axis=1))

    def shift(self, dx: float, dy: float, dz: float = 0.0) -> Boxes3D:
        """Moved by (dx, dy, dz)."""
        check_finite(dx=dx, dy=dy, dz=dz)
        return self._with(self._array + np.array([dx, dy, dz, 0, 0, 0, 0], self._array.dtype))

    @property
    def z(self) -> Height:
        """``"centre"`` or ``"bottom"``: of which the third number is the height."""
        return self._z

    @property
    def center(self) -> FloatArray:
        """(N, 3), x, y and z of the centres."""
        return np.array(self.convert(z="centre")._array[:, :3])

    @property
    def volume(self) -> FloatArray:
        """(N,); infinite where the dtype cannot hold it."""
        with np.errstate(over="ignore"):
            return self._array[:, 3] * self._array[:, 4] * self._array[:, 5]

    @property
    def area(self) -> FloatArray:
        """(N,), the `volume`: what the overlaps divide by. The rectangles' is ``to_bird_eye().area``."""
        return self.volume
