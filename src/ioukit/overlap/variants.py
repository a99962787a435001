"""The table of overlaps: what each is, where it lies, and who says so.

Functions, their help, docs/variants.md and the tests read it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

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
        gradient: What a loss made of it pulls at, and where that ends.
        reference: Where it was defined.
        example: The values for [0, 0, 2, 2] with [0, 0, 1, 1] and with [2, 2, 4, 4], to eight digits.
        options: What its functions take beside the common arguments: name and help.
        option_values: Values for those of the options that have no default, and for the lengths among them.
        lengths: The options in the unit of the boxes.
        bounds: What the range takes for granted.
        symmetric: Whether swapping the boxes changes nothing.
        dimension: Of which power of the boxes' unit the value is.
        of_itself: The value of a box that has an area with itself; None: it depends on the box.
        of_no_area: The value of a box without area with itself.
    """

    name: str
    formula: str
    low: float
    high: float
    degenerate: str
    gradient: str
    reference: str
    example: tuple[float, float]
    options: Mapping[str, str] = field(default_factory=dict)
    option_values: Mapping[str, Any] = field(default_factory=dict)
    lengths: tuple[str, ...] = ()
    bounds: str = ""
    symmetric: bool = True
    dimension: int = 0
    of_itself: float | None = 1.0
    of_no_area: float = 0.0

    @property
    def range(self) -> str:
        """The closed interval of the values, in words."""
        if self.high == math.inf:
            return f"at least 0, in {'squared units' if self.dimension == 2 else 'units'}"
        return f"within [{self.low:g}, {self.high:g}]{self.bounds}"


_EVERINGHAM = "Everingham et al., The PASCAL Visual Object Classes (VOC) Challenge, IJCV 2010"
_ZHENG = "Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287"
_NONE_APART = "None where the boxes lie apart or touch."

VARIANTS = (
    Variant(
        "intersection",
        formula="|A and B|",
        low=0.0,
        high=math.inf,
        degenerate="0 with a box without area.",
        gradient=_NONE_APART,
        reference=_EVERINGHAM,
        example=(1.0, 0.0),
        dimension=2,
        of_itself=None,
    ),
    Variant(
        "iou",
        formula="|A and B| / |A or B|",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area, also with itself.",
        gradient=_NONE_APART,
        reference=_EVERINGHAM,
        example=(0.25, 0.0),
    ),
    Variant(
        "ioa",
        formula="|A and B| / |B|",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area.",
        gradient="None where the boxes lie apart or touch, nor where B lies inside A.",
        reference="detectron2.structures.pairwise_ioa (of the second area); mmdetection's IoF is of the first",
        example=(1.0, 0.0),
        options={"of": 'Whose area divides: ``"second"`` (the default) or ``"first"``.'},
        symmetric=False,
    ),
    Variant(
        "iom",
        formula="|A and B| / min(|A|, |B|)",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area.",
        gradient="None where the boxes lie apart or touch, nor where one lies inside the other.",
        reference="the overlap coefficient of Szymkiewicz and Simpson, of areas",
        example=(1.0, 0.0),
    ),
    Variant(
        "giou",
        formula="IoU - (|C| - |A or B|) / |C|",
        low=-1.0,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, and the penalty as 0 where C has none.",
        gradient="Also for boxes apart: it first grows a box towards the other. That of IoU where one lies inside the "
        "other, and none where C has no area.",
        reference="Rezatofighi et al., Generalized Intersection over Union, CVPR 2019, arXiv:1902.09630",
        example=(0.25, -0.5),
    ),
    Variant(
        "diou",
        formula="IoU - d^2 / c^2, d the distance of the centres and c the diagonal of C",
        low=-1.0,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, and the penalty as 0 where C is a point.",
        gradient="Also for boxes apart: it moves the centres together. That of IoU where they coincide.",
        reference=_ZHENG,
        example=(0.1875, -0.25),
    ),
    Variant(
        "ciou",
        formula="DIoU - v^2 / (1 - IoU + v), v = (2/pi * (angle(A) - angle(B)))^2, angle = atan2(width, height)",
        low=-1.5,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, the angle of a point as 0. No gate at IoU 0.5.",
        gradient="That of DIoU, and one towards the other's aspect ratio, in which the weight v / (1 - IoU + v) is a "
        "constant, as in the paper.",
        reference=_ZHENG,
        example=(0.1875, -0.25),
    ),
    Variant(
        "eiou",
        formula="DIoU - (w(A) - w(B))^2 / w(C)^2 - (h(A) - h(B))^2 / h(C)^2, w and h width and height",
        low=-2.25,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, and a term as 0 where C has no extent along it.",
        gradient="That of DIoU, and one towards the other's width and height, each by itself.",
        reference="Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158",
        example=(-0.3125, -0.25),
    ),
    Variant(
        "siou",
        formula="IoU - (D + S) / 2, D = sum of 1 - exp(-(2 - L) r^2), r = d/w(C) and d/h(C) along x and y, "
        "L = 2 |dx dy| / d^2, S = sum of (1 - exp(-|s(A) - s(B)| / max(s(A), s(B))))^4, s = width and height",
        low=-(1 - math.exp(-2)) - (1 - math.exp(-1)) ** 4,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area, and a term as 0 where its divisor is: L is 0 for equal "
        "centres.",
        gradient="Also for boxes apart: towards the nearer axis, then along it, and towards the other's sides. L is "
        "not smooth where the centres coincide; there its gradient counts as 0.",
        reference="Gevorgyan, SIoU Loss, 2022, arXiv:2205.12740, with theta = 4; L = sin(2 asin(min(|dx|, |dy|) / d))",
        example=(0.16544441, -0.22119922),
    ),
    Variant(
        "mpdiou",
        formula="IoU - (p^2 + q^2) / (W^2 + H^2), p and q what lies between the low and between the high corners",
        low=-2.0,
        high=1.0,
        degenerate="IoU counts as 0 with a box without area.",
        gradient="Also for boxes apart: it moves each corner to its counterpart, by the image's measure.",
        reference="Ma and Xu, MPDIoU, 2023, arXiv:2307.07662",
        example=(0.1875, -0.5),
        options={
            "image_size": "(width, height) of the image, in the unit of the boxes, each from 2**-60 to 2**501. "
            "Copies that divide by another diagonal give other numbers."
        },
        option_values={"image_size": (4, 4)},
        lengths=("image_size",),
        bounds=" for boxes inside the image",
    ),
    Variant(
        "alpha_iou",
        formula="IoU^alpha",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area.",
        gradient="None where the boxes lie apart or touch. Above 1, alpha weakens it at small IoU; below 1 it grows "
        "beyond bounds towards IoU 0, where it counts as 0.",
        reference="He et al., Alpha-IoU, NeurIPS 2021, arXiv:2110.13675",
        example=(0.015625, 0.0),
        options={"alpha": "The power, positive; the paper recommends 3."},
    ),
    Variant(
        "inner_iou",
        formula="IoU of A and B, each scaled by ratio about its own centre",
        low=0.0,
        high=1.0,
        degenerate="0 with a box without area.",
        gradient="None where the scaled boxes lie apart or touch: a ratio above 1 reaches further than IoU.",
        reference="Zhang et al., Inner-IoU, 2023, arXiv:2311.02877",
        example=(0.16129032, 0.0),
        options={"ratio": "The scale, above 0 and at most 4; the paper takes 0.5 to 1.5."},
        option_values={"ratio": 0.75},
    ),
    Variant(
        "nwd",
        formula="exp(-W / constant), W^2 = d^2 + (w(A) - w(B))^2 / 4 + (h(A) - h(B))^2 / 4",
        low=0.0,
        high=1.0,
        degenerate="As for others: W is a distance of centres and sides. 1 for equal ones.",
        gradient="Everywhere towards the other's centre and size, but it fades with the distance. 0 for equal boxes, "
        "where W has a kink.",
        reference="Wang et al., A Normalized Gaussian Wasserstein Distance, 2021, arXiv:2110.13389",
        example=(0.92484881, 0.80174004),
        options={
            "constant": "The length at which the value is 1/e, positive. The default 12.8 pixels is the mean size of "
            "an object in AI-TOD, the paper's data set, and no constant of nature."
        },
        option_values={"constant": 12.8},
        lengths=("constant",),
        of_no_area=1.0,
    ),
    Variant(
        "centre_distance",
        formula="d, the distance of the centres",
        low=0.0,
        high=math.inf,
        degenerate="As for others.",
        gradient="Of length 1 towards the other's centre; 0 where they coincide.",
        reference="Zhou et al., Objects as Points, 2019, arXiv:1904.07850, judges by centres",
        example=(math.sqrt(0.5), math.sqrt(8)),
        dimension=1,
        of_itself=0.0,
    ),
    Variant(
        "jaccard_distance",
        formula="1 - |A and B| / |A or B|",
        low=0.0,
        high=1.0,
        degenerate="1 with a box without area, also with itself.",
        gradient=_NONE_APART,
        reference="Jaccard, The distribution of the flora in the alpine zone, New Phytologist 1912",
        example=(0.75, 1.0),
        of_itself=0.0,
        of_no_area=1.0,
    ),
)
