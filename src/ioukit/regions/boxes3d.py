"""`Boxes3D`: boxes in space that are rotated about the vertical axis."""

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


Height: TypeAlias = Literal["centre", "bottom"]


class Boxes3D(TurnedBoxes):
    """N boxes in space, each rotated about the vertical axis: a frozen value that knows what its numbers mean.

    A row is ``x, y, z, dx, dy, dz, yaw``. The axes are right-handed and **z points up**, as in lidar data, where x
    points forward and y left. ``dx``, ``dy`` and ``dz`` are length, width and height along x, y and z before the box is
    rotated. ``x, y`` is the centre. ``z`` is the height of the centre or of the bottom face; the numbers do not show
    which, and libraries differ: mmcv's functions use centres, mmdetection3d and KITTI use bottom faces. In KITTI's
    camera coordinates y points down, so convert those boxes to these axes first.

    The sense is the direction of a positive yaw seen from above: ``"counterclockwise"`` turns x towards y. Its formula
    is that of ``"clockwise"`` in `RotatedBoxes`, because y points down in an image.

    Overlaps use volumes in place of areas: intersection, IoU, IoA, IoM and Jaccard distance. So `area`, which every set
    of regions has, is the `volume`. Overlaps are computed in float64, whatever the dtype.

    Args:
        data: (N, 7) numbers, one box of 7 numbers, ``[]``, or `Boxes3D`, which are converted. The numbers are copied.
        z: ``"centre"`` or ``"bottom"``: what the third number is the height of.
        unit: ``"radians"`` or ``"degrees"``.
        sense: ``"clockwise"`` or ``"counterclockwise"``, seen from above.
        dtype: ``np.float32`` or ``np.float64``. By default float32 and float64 arrays keep their dtype, float16 becomes
            float32, and everything else becomes float64.

    Raises:
        ValueError: If the shape is not (N, 7) or (7,); if ``z``, unit or sense is unknown; or if a box is not finite,
            beyond 2**126 in float32 or 2**500 in float64, or of negative size. The message names the first such row.
            (In float64, volumes are finite up to sides of 2**341.)
        TypeError: If the data are not numbers, or ``z``, unit or sense is missing.

    Examples:
        >>> from ioukit import pairwise_iou
        >>> meaning = {"z": "centre", "unit": "radians", "sense": "counterclockwise"}
        >>> cube = Boxes3D([[1, 1, 1, 2, 2, 2, 0]], **meaning)
        >>> cube.volume
        array([8.])
        >>> pairwise_iou(cube, Boxes3D([[1, 1, 2, 2, 2, 2, 0]], **meaning))
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
        """The same boxes with another meaning of z, or angles in another unit or sense. None keeps the current one."""
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
        """The rectangles seen from above, in the plane of x and y.

        Their angles are the same numbers with the opposite sense, because in `RotatedBoxes` y points down.
        """
        sense: AngleSense = "clockwise" if self._sense == "counterclockwise" else "counterclockwise"
        array = np.ascontiguousarray(self._array[:, [0, 1, 3, 4, 6]])
        return RotatedBoxes._trusted(array, self._unit, sense)

    def to_boxes(self) -> Boxes:
        """The upright boxes around the rectangles seen from above: float64, xyxy."""
        return self.to_bird_eye().to_boxes()

    def _native(self) -> tuple[NDArray[np.float64], bool, bool, NDArray[np.float64]]:
        """The arguments of the native module: the rectangles seen from above, and (N, 2) heights of centre and box."""
        array = self._array.astype(np.float64)
        middle = array[:, 2] + (array[:, 5] / 2 if self._z == "bottom" else 0.0)
        return (*self.to_bird_eye()._native(), np.stack([middle, array[:, 5]], axis=1))

    def shift(self, dx: float, dy: float, dz: float = 0.0) -> Boxes3D:
        """The boxes moved by (dx, dy, dz)."""
        check_finite(dx=dx, dy=dy, dz=dz)
        return self._with(self._array + np.array([dx, dy, dz, 0, 0, 0, 0], self._array.dtype))

    @property
    def z(self) -> Height:
        """``"centre"`` or ``"bottom"``: what the third number is the height of."""
        return self._z

    @property
    def center(self) -> FloatArray:
        """(N, 3) x, y and z of the centres."""
        return np.array(self.convert(z="centre")._array[:, :3])

    @property
    def volume(self) -> FloatArray:
        """(N,) product of the three sides; infinite where the dtype cannot hold it."""
        with np.errstate(over="ignore"):
            return self._array[:, 3] * self._array[:, 4] * self._array[:, 5]

    @property
    def area(self) -> FloatArray:
        """(N,) the `volume`, by which IoU, IoA and IoM divide. The area seen from above is ``to_bird_eye().area``."""
        return self.volume
