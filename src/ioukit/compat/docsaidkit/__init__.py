"""The structures of DocsaidKit and of Capybara, its successor, over ioukit's own.

Change ``import docsaidkit as D`` to ``import ioukit.compat.docsaidkit as D``, or ``from capybara import Boxes`` to
``from ioukit.compat.docsaidkit import Boxes``. Both spellings of the flag, ``is_normalized=`` (Capybara) and
``normalized=`` (DocsaidKit), are taken, and both can be read. Names, signatures and results are theirs, but for what
loses data or gives a number that means nothing:

=============================================  =============================================================
upstream                                       here
=============================================  =============================================================
**modes and units**
`Box(box_xywh, "XYXY")`,                       converted to the mode asked for
`Boxes([box_xywh], "XYXY")` keep the raw
numbers
``Boxes(boxes)``, ``drop_empty``, ``scale``,   kept by every method
``convert``, ``copy``, ``shift``, ``square``
and `Polygon`'s ``copy`` and ``shift`` lose
the flag (which ones depends on the version)
normalized beside absolute boxes: IoU 0        ValueError
``normalize`` twice: a warning and wrong       ValueError; so is ``denormalize`` of pixels
numbers
``clip`` of XYWH gives XYXY numbers labelled   the mode is kept
XYWH (DocsaidKit)
a bad `BoxMode` name is a KeyError, a bad      ValueError for both; ``np.int64`` is a number
number a ValueError, ``np.int64`` a TypeError
`BoxMode.convert` of lists (TypeError) and     converted
of integers to CXCYWH (UFuncTypeError)
``==`` compares raw numbers of any modes and   the regions are compared, in one unit; False
raises for sets of different sizes
**boxes**
`Boxes` changes the caller's list              a copy
tuples of tuples are refused                   taken
``Boxes([])`` has shape (0,), so that          (0, 4); overlaps are (0, M)
overlaps raise IndexError
``clip`` to a window that begins below 0       the window given
starts at 0
`Boxes.scale(fy=)` reads row 3 instead of      column 3
column 3 (DocsaidKit)
`Boxes.square` is wrong for two boxes and      squares of the longer sides
raises for others (DocsaidKit)
``boxes["0"]`` and ``boxes[np.int64(0)]``      TypeError, and the box
give None (DocsaidKit)
NaN in an overlap gives NaN, infinity 0,       ValueError for the first two; right up to 2**126
1e20 NaN
**polygons and points**
`polygon_iou` of a path that crosses itself    the overlap of what it encloses: 0.5 for a bow tie in its square
is 0
`polygon_iou`, `jaccard_index` hide every      0 is for a prediction that cannot be seen on the page alone; a
error behind 0                                 truth that is none, NaN or mixed units are a ValueError
``boundingbox`` is cut to whole pixels, which  exact, in the polygon's unit
makes nonsense of normalized polygons
``centroid`` and ``solidity`` are off by an    exact; NaN where there is nothing to divide by
epsilon of 1e-5
`is_inside_box` refuses `Box` and keypoints    taken
with visibility
lists of lists are refused by `Keypoints`      taken
**output**
`dict_to_jsonable` rounds boxes to integers    the numbers as they are
=============================================  =============================================================

`Box.square` takes the shorter side and `Boxes.square` the longer one, as upstream. What only Capybara's or only
DocsaidKit's documentation has is here as well, such as `merge_boxes`. `Polygon.scale`, and `polygon_iou` of paths that
cross themselves, need Shapely (extra ``polygons``), `Polygons.from_image` OpenCV (extra ``opencv``), labels in drawings
Pillow (extra ``plots``); all else needs NumPy alone.
"""

from ioukit.compat.docsaidkit.box import Box
from ioukit.compat.docsaidkit.boxes import Boxes
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
from ioukit.compat.docsaidkit.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.modes import BoxMode
from ioukit.compat.docsaidkit.polygon import JOIN_STYLE, Polygon
from ioukit.compat.docsaidkit.polygons import Polygons
from ioukit.compat.docsaidkit.prepare import prepare_box, prepare_boxes, prepare_polygon, prepare_polygons

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
