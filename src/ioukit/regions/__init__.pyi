"""What is a region?"""

from ioukit.regions.boxes import Boxes, BoxesLike
from ioukit.regions.boxes3d import Boxes3D
from ioukit.regions.masks import Masks
from ioukit.regions.points import is_inside_box, order_points_clockwise
from ioukit.regions.polygon import Polygon
from ioukit.regions.polygons import Polygons, PolygonsLike
from ioukit.regions.regions import Regions
from ioukit.regions.rotated import RotatedBoxes

__all__ = [
    "Boxes",
    "Boxes3D",
    "BoxesLike",
    "Masks",
    "Polygon",
    "Polygons",
    "PolygonsLike",
    "Regions",
    "RotatedBoxes",
    "is_inside_box",
    "order_points_clockwise",
]
