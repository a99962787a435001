"""The table of the overlap measures, and a measure with its parameters.

The functions, their docstrings, docs/variants.md and the tests read the table: the definition, the range and the source
of each measure. `Measure` is what the native module and the array formulas take: the name of a formula and its numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

from ioukit._checks import check_positive


@dataclass(frozen=True)
class Variant:
    """One way to measure the overlap of two boxes."""

    name: str
    """The name in ``pairwise_<name>`` and ``elementwise_<name>``."""
    formula: str
    """The definition. A and B are the boxes, ``|A|`` is an area, C is the smallest box around both."""
    degenerate: str
    """The value where a box has no area."""
    gradient: str
    """Which way a loss of this measure moves a box, and where it does not move it."""
    reference: str
    """Where the measure was defined."""
    example: tuple[float, float]
    """The values of [0, 0, 2, 2] with [0, 0, 1, 1] and with [2, 2, 4, 4], to eight digits."""
    low: float = 0.0
    """The smallest value."""
    high: float = 1.0
    """The largest value."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Name and description of the arguments that only this measure has."""
    option_values: Mapping[str, Any] = field(default_factory=dict)
    """Example values for the options that have no default, and for those that are lengths."""
    lengths: tuple[str, ...] = ()
    """The options that are in the unit of the boxes."""
    bounds: str = ""
    """The condition under which the range holds."""
    symmetric: bool = True
    """Whether the value stays the same when the boxes are swapped."""
    dimension: int = 0
    """The power of the boxes' unit that the value has."""
    of_itself: float | None = 1.0
    """The value of a box that has an area with itself; None if it depends on the box."""
    of_no_area: float = 0.0
    """The value of a box without an area with itself."""
    of_regions: bool = False
    """Whether regions of other kinds have it, because it follows from areas."""
    of_corners: bool = False
    """Whether rotated boxes and polygons have it, with the convex hull of both as C."""

    @property
    def range(self) -> str:
        """The closed interval of the values, in words."""
        if self.high == math.inf:
            return f"at least 0, in {'squared units' if self.dimension == 2 else 'units'}"
        return f"within [{self.low:g}, {self.high:g}]{self.bounds}"


_EVERINGHAM = "Everingham et al., The PASCAL Visual Object Classes (VOC) Challenge, IJCV 2010"
_ZHENG = "Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287"
_ZERO_APART = "0 where the boxes lie apart or touch."

VARIANTS = (
    Variant(
        "intersection",
        formula="|A and B|",
        high=math.inf,
        degenerate="0 for a box without an area.",
        gradient=_ZERO_APART,
        reference=_EVERINGHAM,
        example=(1.0, 0.0),
        dimension=2,
        of_itself=None,
        of_regions=True,
    ),
    Variant(
        "iou",
        formula="|A and B| / |A or B|",
        degenerate="0 for a box without an area, also with itself.",
        gradient=_ZERO_APART,
        reference=_EVERINGHAM,
        example=(0.25, 0.0),
        of_regions=True,
    ),
    Variant(
        "ioa",
        formula="|A and B| / |B|",
        degenerate="0 for a box without an area.",
        gradient="0 where the boxes lie apart or touch, and where B lies inside A.",
        reference="detectron2.structures.pairwise_ioa (of the second area); mmdetection's IoF is of the first",
        example=(1.0, 0.0),
        options={"of": 'The box whose area divides: ``"second"`` (the default) or ``"first"``.'},
        symmetric=False,
        of_regions=True,
    ),
    Variant(
        "iom",
        formula="|A and B| / min(|A|, |B|)",
        degenerate="0 for a box without an area.",
        gradient="0 where the boxes lie apart or touch, and where one lies inside the other.",
        reference="the overlap coefficient of Szymkiewicz and Simpson, of areas",
        example=(1.0, 0.0),
        of_regions=True,
    ),
    Variant(
        "giou",
        formula="IoU - (|C| - |A or B|) / |C|",
        low=-1.0,
        degenerate="IoU counts as 0 for a box without an area. The penalty counts as 0 where C has no area.",
        gradient="It also moves boxes that lie apart: first it grows a box towards the other. Where one box lies "
        "inside the other, it is the gradient of IoU. Where C has no area, it is 0.",
        reference="Rezatofighi et al., Generalized Intersection over Union, CVPR 2019, arXiv:1902.09630",
        example=(0.25, -0.5),
        of_corners=True,
    ),
    Variant(
        "diou",
        formula="IoU - d^2 / c^2, d the distance of the centres and c the diagonal of C",
        low=-1.0,
        degenerate="IoU counts as 0 for a box without an area. The penalty counts as 0 where C is a point.",
        gradient="It also moves boxes that lie apart: it brings the centres together. Where the centres coincide, it "
        "is the gradient of IoU.",
        reference=_ZHENG,
        example=(0.1875, -0.25),
    ),
    Variant(
        "ciou",
        formula="DIoU - v^2 / (1 - IoU + v), v = (2/pi * (angle(A) - angle(B)))^2, angle = atan2(width, height)",
        low=-1.5,
        degenerate="IoU counts as 0 for a box without an area, and the angle of a point as 0. Unlike in the paper, the "
        "term of v counts below IoU 0.5, too.",
        gradient="The gradient of DIoU, plus one towards the aspect ratio of the other box. In it, the weight "
        "v / (1 - IoU + v) is a constant, as in the paper.",
        reference=_ZHENG,
        example=(0.1875, -0.25),
    ),
    Variant(
        "eiou",
        formula="DIoU - (w(A) - w(B))^2 / w(C)^2 - (h(A) - h(B))^2 / h(C)^2, w and h width and height",
        low=-2.25,
        degenerate="IoU counts as 0 for a box without an area. A term counts as 0 where C has no side along its axis.",
        gradient="The gradient of DIoU, plus one towards the width and one towards the height of the other box.",
        reference="Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158",
        example=(-0.3125, -0.25),
    ),
    Variant(
        "siou",
        formula="IoU - (D + S) / 2, D = sum of 1 - exp(-(2 - L) r^2), r = d/w(C) and d/h(C) along x and y, "
        "L = 2 |dx dy| / d^2, S = sum of (1 - exp(-|s(A) - s(B)| / max(s(A), s(B))))^4, s = width and height",
        low=-(1 - math.exp(-2)) - (1 - math.exp(-1)) ** 4,
        degenerate="IoU counts as 0 for a box without an area. A term counts as 0 where its divisor is 0; L is 0 for "
        "equal centres.",
        gradient="It also moves boxes that lie apart: towards the nearer axis, then along it, and towards the sides of "
        "the other box. L is not smooth where the centres coincide; its gradient counts as 0 there.",
        reference="Gevorgyan, SIoU Loss, 2022, arXiv:2205.12740, with theta = 4; L = sin(2 asin(min(|dx|, |dy|) / d))",
        example=(0.16544441, -0.22119922),
    ),
    Variant(
        "mpdiou",
        formula="IoU - (p^2 + q^2) / (W^2 + H^2), p and q the distances of the corners (x1, y1) and (x2, y2), W and H "
        "the size of the image",
        low=-2.0,
        degenerate="IoU counts as 0 for a box without an area.",
        gradient="It also moves boxes that lie apart: each corner to its counterpart, relative to the image.",
        reference="Ma and Xu, MPDIoU, 2023, arXiv:2307.07662",
        example=(0.1875, -0.5),
        options={
            "image_size": "(width, height) of the image, in the unit of the boxes, each from 2**-60 to 2**501. Other "
            "implementations divide by another diagonal and give other values."
        },
        option_values={"image_size": (4, 4)},
        lengths=("image_size",),
        bounds=" for boxes inside the image",
    ),
    Variant(
        "alpha_iou",
        formula="IoU^alpha",
        degenerate="0 for a box without an area.",
        gradient="0 where the boxes lie apart or touch. An alpha above 1 weakens the gradient at small IoU. With an "
        "alpha below 1 it grows without bound towards IoU 0, where it counts as 0.",
        reference="He et al., Alpha-IoU, NeurIPS 2021, arXiv:2110.13675",
        example=(0.015625, 0.0),
        options={"alpha": "The power, positive; the paper recommends 3."},
    ),
    Variant(
        "inner_iou",
        formula="IoU of A and B, each scaled by ratio about its own centre",
        degenerate="0 for a box without an area.",
        gradient="0 where the scaled boxes lie apart or touch. A ratio above 1 reaches farther than IoU.",
        reference="Zhang et al., Inner-IoU, 2023, arXiv:2311.02877",
        example=(0.16129032, 0.0),
        options={"ratio": "The scale, above 0 and at most 4; the paper uses 0.5 to 1.5."},
        option_values={"ratio": 0.75},
    ),
    Variant(
        "nwd",
        formula="exp(-W / constant), W^2 = d^2 + (w(A) - w(B))^2 / 4 + (h(A) - h(B))^2 / 4",
        degenerate="The same formula, because W compares centres and sides: 1 for equal boxes.",
        gradient="Everywhere towards the centre and the size of the other box, weaker with the distance. For equal "
        "boxes, where W has a kink, it is 0.",
        reference="Wang et al., A Normalized Gaussian Wasserstein Distance, 2021, arXiv:2110.13389",
        example=(0.92484881, 0.80174004),
        options={
            "constant": "The length W at which the value is 1/e, positive. The default, 12.8 pixels, is the mean size "
            "of an object in AI-TOD, the data set of the paper. Other data sets need another value."
        },
        option_values={"constant": 12.8},
        lengths=("constant",),
        of_no_area=1.0,
    ),
    Variant(
        "centre_distance",
        formula="d, the distance of the centres",
        high=math.inf,
        degenerate="The same formula.",
        gradient="Of length 1, towards the centre of the other box; 0 where the centres coincide.",
        reference="Zhou et al., Objects as Points, 2019, arXiv:1904.07850, compares centres",
        example=(math.sqrt(0.5), math.sqrt(8)),
        dimension=1,
        of_itself=0.0,
    ),
    Variant(
        "jaccard_distance",
        formula="1 - |A and B| / |A or B|",
        degenerate="1 for a box without an area, also with itself.",
        gradient=_ZERO_APART,
        reference="Jaccard, The distribution of the flora in the alpine zone, New Phytologist 1912",
        example=(0.75, 1.0),
        of_itself=0.0,
        of_no_area=1.0,
        of_regions=True,
    ),
    Variant(
        "tiou",
        formula="IoU |A and B| / |A|, A the object and B the detection",
        degenerate="0 for a box without an area.",
        gradient="0 where the boxes lie apart or touch. It also reaches the object, whose covered part it counts.",
        reference="the TIoU-recall of Liu et al., Tightness-Aware Evaluation Protocol, CVPR 2019, arXiv:1904.00813",
        example=(0.0625, 0.0),
        symmetric=False,
        of_regions=True,
    ),
)

OverlapMetric: TypeAlias = Literal["iou", "ioa", "iom", "giou", "diou", "ciou"]
"""The measures that can be compared with a threshold: what ``metric`` of `overlap_join` and of `nms` may be."""

METRICS: tuple[OverlapMetric, ...] = get_args(OverlapMetric)

_IMAGE_SIDES = (2.0**-60, 2.0**501)  # squares of these fit in float32 and float64
_LARGEST_RATIO = 4.0  # areas of the scaled boxes fit in the dtype of the boxes


class Measure(NamedTuple):
    """What is computed of two boxes."""

    variant: str
    """The name of the formula: that of the row in `VARIANTS`, except for the two IoA, ``ioa_first``, ``ioa_second``."""
    parameters: tuple[float, ...] = ()
    """The values of the row's options, in the order of the formula's parameters."""


def ioa(of: str) -> Measure:
    """Intersection over the area of the ``"second"`` or the ``"first"`` box."""
    if of not in ("second", "first"):
        raise ValueError(f"unknown of={of!r}; choose from second, first")
    return Measure(f"ioa_{of}")


def measure_of(metric: str, of: str | None) -> Measure:
    """The measure of a ``metric`` and of ``of``, which only IoA has.

    Raises:
        ValueError: If the metric is unknown, or ``of`` is unknown or does not belong to it.
    """
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(METRICS)}")
    if metric == "ioa":
        return ioa(of or "second")
    if of is not None:
        raise ValueError(f"of={of!r} is for metric='ioa' alone, got metric={metric!r}")
    return Measure(metric)


def mpdiou(image_size: Sequence[float]) -> Measure:
    """MPDIoU in an image of size (width, height)."""
    sides = tuple(map(float, image_size))
    low, high = _IMAGE_SIDES
    if len(sides) != 2 or not all(low <= side <= high for side in sides):
        raise ValueError(f"image_size must be (width, height), each from 2**-60 to 2**501, got {image_size!r}")
    return Measure("mpdiou", sides)


def alpha_iou(alpha: float) -> Measure:
    """IoU to the power of alpha."""
    check_positive(alpha=alpha)
    return Measure("alpha_iou", (float(alpha),))


def inner_iou(ratio: float) -> Measure:
    """IoU of the boxes scaled by a ratio."""
    if not 0 < ratio <= _LARGEST_RATIO:  # false for NaN
        raise ValueError(f"ratio must be above 0 and at most {_LARGEST_RATIO:g}, got {ratio}")
    return Measure("inner_iou", (float(ratio),))


def nwd(constant: float) -> Measure:
    """Normalized Wasserstein distance, which is 1/e where the distance is ``constant``."""
    if not _IMAGE_SIDES[0] <= constant < math.inf:
        raise ValueError(f"constant must be a length of at least 2**-60, got {constant}")
    return Measure("nwd", (float(constant),))
