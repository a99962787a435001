"""The structures of DocsaidKit and of its successor Capybara, over ioukit.

Change ``import docsaidkit as D`` to ``import ioukit.compat.docsaidkit as D``, or ``from capybara import Boxes`` to
``from ioukit.compat.docsaidkit import Boxes``. The flag has both names, ``is_normalized=`` (Capybara) and
``normalized=`` (DocsaidKit), as an argument and as a property. Names, signatures and results are the same, except where
upstream loses data or returns a number without meaning; ``docs/compat.md`` lists these places, and the tests of both
projects that fail here, with the reason.

`Box.square` uses the shorter side and `Boxes.square` the longer side, as upstream. Names that only Capybara documents,
or only DocsaidKit, are here, too; one is `merge_boxes`. `Polygon.scale`, and `polygon_iou` of paths that cross
themselves, need Shapely (extra ``polygons``). `Polygons.from_image` needs OpenCV (extra ``opencv``). Named colour maps
of keypoints need Matplotlib (extra ``plots``). Everything else needs NumPy alone.

Not here: drawing, for which `ioukit.plots` has figures, and all that is not a structure. The words of error messages
differ, and so do private names.
"""

from ioukit.compat.docsaidkit.functions import (
    calc_angle,
    dict_to_jsonable,
    is_inside_box,
    jaccard_index,
    merge_boxes,
    pairwise_intersection,
    pairwise_ioa,
    pairwise_iou,
    poly_angle,
    polygon_iou,
)
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
    "prepare_keypoints",
    "prepare_keypoints_list",
    "prepare_polygon",
    "prepare_polygons",
]
