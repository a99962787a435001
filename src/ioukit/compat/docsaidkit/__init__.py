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
a wrong `BoxMode` name is a KeyError, a wrong  one error that is a KeyError and a ValueError; ``np.int64`` is accepted
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
``clip`` to a window that begins below 0,      uses the given window
also of polygons, starts at 0
`Boxes.scale(fy=)` reads row 3 instead of      column 3
column 3 (DocsaidKit)
`Boxes.square` is wrong for two boxes and      squares of the longer sides
raises for other numbers (DocsaidKit)
``boxes["0"]`` and ``boxes[np.int64(0)]``      TypeError for the first, the box for the second
return None (DocsaidKit)
overlaps with NaN are NaN, with infinity 0,    ValueError for NaN and infinity; right up to 2**126
with 1e20 NaN
**polygons and points**
``Polygon([])`` has a length of 1              0, so ``is_empty(threshold=1)`` is true
``scale`` moves a point to (0, 0) if no        to the nearest corner
corner of the grown polygon is next to it
`polygon_iou` of a path that crosses itself    the overlap of what it encloses: 0.5 for a bow tie in its square
is 0
`polygon_iou` and `jaccard_index` return 0     0 only for a prediction without an image on the page; ValueError
for every error                                for an invalid truth, NaN and mixed units
``boundingbox`` is cut to whole pixels, which  exact, in the polygon's unit
gives nonsense for normalized polygons
``centroid`` and ``solidity`` are off by an    exact; without an area, ``centroid`` is the centre of the edges and
epsilon of 1e-5, and 0 without an area         ``solidity`` NaN
``extent`` divides by the box of whole         exact; NaN where the divisor is 0
pixels, and raises where that is 0
of several smallest boxes with one area, as    the first one along the hull; all have the same area
around every triangle, rounding chooses one
angles of smallest boxes depend on the         degrees within (0, 90], as since OpenCV 4.5.1
version of OpenCV (5 gives -90 to 0)
``to_min_boxpoints`` rounds to 4 decimals,     normalized polygons to 7
also in normalized polygons
`is_inside_box` refuses `Box` and keypoints    accepted
with visibility
`Keypoints` refuses lists of lists             accepted
an unknown colour map becomes the rainbow      an error
**output**
functions that draw change a colour image in   a new image in both cases, except ``draw_line(inplace=True)``
place; `draw_boxes` does not paint a grey one
points with visibility 0 are drawn             not drawn
`draw_polygon` hands other arguments to        TypeError
OpenCV
`generate_colors` of an unknown scheme prints  ValueError
a line and returns ``[]``
a font that cannot be read is replaced         ValueError
`draw_detection` of a negative number as       has a colour, too
label does not end
`dict_to_jsonable` rounds boxes to integers    not rounded
=============================================  =============================================================

`Box.square` uses the shorter side and `Boxes.square` the longer side, as upstream. Names that only Capybara documents,
or only DocsaidKit, are here, too; one is `merge_boxes`. `Polygon.scale`, and `polygon_iou` of paths that cross
themselves, need Shapely (extra ``polygons``). `Polygons.from_image` and `draw_mask` need OpenCV (extra ``opencv``).
Text in drawings needs Pillow, and named colour maps need Matplotlib (extra ``plots``). Everything else needs NumPy
alone.

Not here: ``draw_ocr_infos`` of DocsaidKit, and all that is neither a structure nor drawing. The words of error messages
differ, and so do private names. ``docs/compat.md`` lists the tests of both projects that fail here, with the reason.
"""

from ioukit.compat.docsaidkit.drawing import (
    draw_box,
    draw_boxes,
    draw_detection,
    draw_detections,
    draw_keypoints,
    draw_keypoints_list,
    draw_line,
    draw_mask,
    draw_point,
    draw_points,
    draw_polygon,
    draw_polygons,
    draw_text,
    generate_colors,
    is_numpy_img,
    prepare_color,
    prepare_colors,
    prepare_img,
    prepare_point,
    prepare_points,
    prepare_scale,
    prepare_scales,
    prepare_thickness,
    prepare_thicknesses,
)
from ioukit.compat.docsaidkit.functions import (
    calc_angle,
    is_inside_box,
    jaccard_index,
    merge_boxes,
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
    order_points_clockwise,
    prepare_box,
    prepare_boxes,
    prepare_keypoints,
    prepare_keypoints_list,
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
    "draw_line",
    "draw_mask",
    "draw_point",
    "draw_points",
    "draw_polygon",
    "draw_polygons",
    "draw_text",
    "generate_colors",
    "is_inside_box",
    "is_numpy_img",
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
    "prepare_color",
    "prepare_colors",
    "prepare_img",
    "prepare_keypoints",
    "prepare_keypoints_list",
    "prepare_point",
    "prepare_points",
    "prepare_polygon",
    "prepare_polygons",
    "prepare_scale",
    "prepare_scales",
    "prepare_thickness",
    "prepare_thicknesses",
]
