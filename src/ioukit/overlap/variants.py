"""The table of overlaps: what each is, where it lies, and who says so. Functions, their help and the tests read it."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["VARIANTS", "Variant"]


@dataclass(frozen=True)
class Variant:
    """One way to measure the overlap of two boxes.

    Attributes:
        name: As in ``pairwise_<name>`` and ``elementwise_<name>``.
        formula: The definition, with A and B the boxes, ``|A|`` an area, C the smallest box around both.
        low: The least value.
        high: The largest value.
        degenerate: What it is where boxes have no area.
        reference: Where it was defined.
        example: The values for [0, 0, 2, 2] with [0, 0, 1, 1] and with [2, 2, 4, 4].
        options: What its functions take beside the common arguments, as lines of help.
        symmetric: Whether swapping the boxes changes nothing.
    """

    name: str
    formula: str
    low: float
    high: float
    degenerate: str
    reference: str
    example: tuple[float, float]
    options: tuple[str, ...] = ()
    symmetric: bool = True

    @property
    def range(self) -> str:
        """The closed interval of the values, in words."""
        return "at least 0, in squared units" if self.high == math.inf else f"within [{self.low:g}, {self.high:g}]"


_EVERINGHAM = "Everingham et al., The PASCAL Visual Object Classes (VOC) Challenge, IJCV 2010"
_ZHENG = "Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287"

VARIANTS = (
    Variant(
        "intersection",
        formula="|A and B|",
        low=0.0,
        high=math.inf,
        degenerate="0 with a box without area.",
        reference=_EVERINGHAM,
        example=(1.0, 0.0),
    ),
    Variant(
        "iou",
        formula="|A and B| / |A or B|",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area, also with itself.",
        reference=_EVERINGHAM,
        example=(0.25, 0.0),
    ),
    Variant(
        "ioa",
        formula="|A and B| / |B|",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area.",
        reference="detectron2.structures.pairwise_ioa (of the second area); mmdetection's IoF is of the first",
        example=(1.0, 0.0),
        options=('of: Whose area divides: ``"second"`` (the default) or ``"first"``.',),
        symmetric=False,
    ),
    Variant(
        "iom",
        formula="|A and B| / min(|A|, |B|)",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area.",
        reference="the overlap coefficient of Szymkiewicz and Simpson, of areas",
        example=(1.0, 0.0),
    ),
    Variant(
        "giou",
        formula="IoU - (|C| - |A or B|) / |C|",
        low=-1.0,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, and the penalty as 0 where C has none.",
        reference="Rezatofighi et al., Generalized Intersection over Union, CVPR 2019, arXiv:1902.09630",
        example=(0.25, -0.5),
    ),
    Variant(
        "diou",
        formula="IoU - d^2 / c^2, d the distance of the centres and c the diagonal of C",
        low=-1.0,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, and the penalty as 0 where C is a point.",
        reference=_ZHENG,
        example=(0.1875, -0.25),
    ),
    Variant(
        "ciou",
        formula="DIoU - v^2 / (1 - IoU + v), v = (2/pi * (angle(A) - angle(B)))^2, angle = atan2(width, height)",
        low=-1.5,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, the angle of a point as 0. No gate at IoU 0.5.",
        reference=_ZHENG,
        example=(0.1875, -0.25),
    ),
)
