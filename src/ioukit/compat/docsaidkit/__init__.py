"""The structures of DocsaidKit and of its successor Capybara, over ioukit.

Change ``import docsaidkit as D`` to ``import ioukit.compat.docsaidkit as D``, or ``from capybara import Boxes`` to
``from ioukit.compat.docsaidkit import Boxes``. The flag has both names, ``is_normalized=`` (Capybara) and
``normalized=`` (DocsaidKit), as an argument and as a property. Names, signatures and results are the same, except where
upstream loses data or returns a number without meaning:

=============================================  =============================================================
upstream                                       here
=============================================  =============================================================
**modes and units**
`Box(box_xywh, "XYXY")` and                    converted to the requested mode
`Boxes([box_xywh], "XYXY")` keep the raw
numbers
``Boxes(boxes)``, ``drop_empty``, ``scale``,   every method keeps the flag
``convert``, ``copy``, ``shift``, ``square``
and ``copy`` and ``shift`` of `Polygon` lose
the flag (which of them depends on the
version)
IoU of normalized and absolute boxes is 0      ValueError
``normalize`` twice gives a warning and wrong  ValueError; the same for ``denormalize`` of pixels
numbers
``clip`` of XYWH returns XYXY numbers that     the mode is kept
are labelled XYWH (DocsaidKit)
a wrong `BoxMode` name is a KeyError, a wrong  ValueError for both; ``np.int64`` is accepted
number a ValueError, ``np.int64`` a TypeError
`BoxMode.convert` of lists (TypeError) and of  converted
integers to CXCYWH (UFuncTypeError)
``==`` compares the raw numbers of different   the regions are compared, in one unit; False
modes, and raises for different lengths
**boxes**
`Boxes` changes the caller's list              copies it
tuples of tuples are refused                   accepted
``Boxes([])`` has shape (0,), so overlaps      (0, 4); overlaps are (0, M)
raise IndexError
``clip`` to a window that begins below 0       uses the given window
starts at 0
`Boxes.scale(fy=)` reads row 3 instead of      column 3
column 3 (DocsaidKit)
`Boxes.square` is wrong for two boxes and      squares of the longer sides
raises for other numbers (DocsaidKit)
``boxes["0"]`` and ``boxes[np.int64(0)]``      TypeError for the first, the box for the second
return None (DocsaidKit)
overlaps with NaN are NaN, with infinity 0,    ValueError for NaN and infinity; right up to 2**126
with 1e20 NaN
**polygons and points**
`polygon_iou` of a path that crosses itself    the overlap of what it encloses: 0.5 for a bow tie in its square
is 0
`polygon_iou` and `jaccard_index` return 0     0 only for a prediction without an image on the page; ValueError
for every error                                for an invalid truth, NaN and mixed units
``boundingbox`` is cut to whole pixels, which  exact, in the polygon's unit
gives nonsense for normalized polygons
``centroid`` and ``solidity`` are off by an    exact; NaN where the divisor is 0
epsilon of 1e-5
`is_inside_box` refuses `Box` and keypoints    accepted
with visibility
`Keypoints` refuses lists of lists             accepted
**output**
`dict_to_jsonable` rounds boxes to integers    not rounded
=============================================  =============================================================

`Box.square` uses the shorter side and `Boxes.square` the longer side, as upstream. Names that only Capybara documents,
or only DocsaidKit, are here, too; one is `merge_boxes`. `Polygon.scale`, and `polygon_iou` of paths that cross
themselves, need Shapely (extra ``polygons``). `Polygons.from_image` needs OpenCV (extra ``opencv``). Labels in drawings
need Pillow (extra ``plots``). Everything else needs NumPy alone.
"""

from ioukit.compat.docsaidkit.drawing import (
    draw_box,
    draw_boxes,
    draw_detection,
    draw_detections,
    draw_keypoints,
    draw_keypoints_list,
    draw_polygon,
    draw_polygons,
)
from ioukit.compat.docsaidkit.functions import (
    calc_angle,
    is_inside_box,
    jaccard_index,
    merge_boxes,
    order_points_clockwise,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iou,
    poly_angle,
    polygon_iou,
)
from ioukit.compat.docsaidkit.jsonable import dict_to_jsonable
from ioukit.compat.docsaidkit.structures import (
    JOIN_STYLE,
    Box,
    Boxes,
    BoxMode,
    Keypoints,
    KeypointsList,
    Polygon,
    Polygons,
    prepare_box,
    prepare_boxes,
    prepare_polygon,
    prepare_polygons,
)

__all__ = [
    "JOIN_STYLE",
    "Box",
    "BoxMode",
    "Boxes",
    "Keypoints",
    "KeypointsList",
    "Polygon",
    "Polygons",
    "calc_angle",
    "dict_to_jsonable",
    "draw_box",
    "draw_boxes",
    "draw_detection",
    "draw_detections",
    "draw_keypoints",
    "draw_keypoints_list",
    "draw_polygon",
    "draw_polygons",
    "is_inside_box",
    "jaccard_index",
    "merge_boxes",
    "order_points_clockwise",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iou",
    "poly_angle",
    "polygon_iou",
    "prepare_box",
    "prepare_boxes",
    "prepare_polygon",
    "prepare_polygons",
]
