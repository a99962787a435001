"""Two images that can be checked by hand, with every outcome and every kind of error."""

from __future__ import annotations

from ioukit import Detections, GroundTruth

__all__ = ["DT", "GT"]

# Squares of side 10; shifted by 2 the IoU is 2/3, by 4 it is 3/7, by 9 it is 1/19.
GT = GroundTruth.from_arrays(
    image_ids=[1, 1, 1, 1, 2, 2],
    category_ids=[1, 1, 2, 2, 1, 1],
    boxes=[
        [0, 0, 10, 10],  # 0: found by detection 0
        [100, 0, 10, 10],  # 1: only badly placed detections
        [200, 0, 10, 10],  # 2: found as the wrong class
        [300, 0, 10, 10],  # 3: missed
        [0, 0, 10, 10],  # 4: found
        [500, 0, 50, 50],  # 5: a crowd
    ],
    crowd=[0, 0, 0, 0, 0, 1],
    images=[1, 2, 3],
    categories={1: "cat", 2: "dog", 3: "cow"},
)
DT = Detections.from_arrays(
    image_ids=[1, 1, 1, 1, 1, 1, 1, 2, 2, 3],
    category_ids=[1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    boxes=[
        [2, 0, 10, 10],  # 0: right, IoU 2/3
        [0, 0, 10, 10],  # 1: a duplicate of it
        [104, 0, 10, 10],  # 2: localisation, the better one
        [100, 4, 10, 10],  # 3: localisation
        [200, 0, 10, 10],  # 4: classification
        [204, 0, 10, 10],  # 5: both
        [309, 0, 10, 10],  # 6: background, IoU 1/19 with an object
        [0, 0, 10, 10],  # 7: right
        [510, 10, 10, 10],  # 8: on the crowd
        [0, 0, 10, 10],  # 9: background, on an image without objects
    ],
    scores=[0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.99, 0.3, 0.2],
)
