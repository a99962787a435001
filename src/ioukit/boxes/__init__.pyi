"""What is a box?"""

from ioukit.boxes.boxes import Boxes, BoxesLike
from ioukit.boxes.boxes3d import Boxes3D
from ioukit.boxes.diagnosis import diagnose
from ioukit.boxes.findings import Diagnosis, Finding
from ioukit.boxes.masks import Masks
from ioukit.boxes.points import is_inside_box, order_points_clockwise
from ioukit.boxes.polygon import Polygon
from ioukit.boxes.polygons import Polygons, PolygonsLike
from ioukit.boxes.regions import Regions
from ioukit.boxes.rotated import RotatedBoxes

__all__ = [
    "Boxes",
    "Boxes3D",
    "BoxesLike",
    "Diagnosis",
    "Finding",
    "Masks",
    "Polygon",
    "Polygons",
    "PolygonsLike",
    "Regions",
    "RotatedBoxes",
    "diagnose",
    "is_inside_box",
    "order_points_clockwise",
]
