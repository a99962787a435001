"""The playground: one page with two boxes to drag, every overlap measure of them, and NMS step by step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ioukit.overlap.variants import VARIANTS
from ioukit.report import _html

if TYPE_CHECKING:
    from ioukit.overlap.variants import Variant


IMAGE_SIZE = (20, 14)
"""Width and height of the picture in units; MPDIoU uses it as the size of the image."""

TITLES = {
    "intersection": "Intersection",
    "iou": "IoU",
    "ioa": "IoA",
    "iom": "IoM",
    "giou": "GIoU",
    "diou": "DIoU",
    "ciou": "CIoU",
    "eiou": "EIoU",
    "siou": "SIoU",
    "mpdiou": "MPDIoU",
    "alpha_iou": "Alpha-IoU",
    "inner_iou": "Inner-IoU",
    "nwd": "NWD",
    "centre_distance": "Centre distance",
    "jaccard_distance": "Jaccard distance",
    "tiou": "TIoU",
}
LOSSES = ("iou", "giou", "diou", "ciou", "eiou", "siou", "mpdiou", "alpha_iou", "inner_iou", "nwd")
"""The measures that have a loss, 1 minus the measure, in `ioukit.losses`."""

_SCRIPTS = ("measures", "words", "drawing", "stage", "boxes", "nms")


class Preset(NamedTuple):
    """Two boxes, xyxy, as an example of a situation."""

    title: str
    object: tuple[float, float, float, float]
    detection: tuple[float, float, float, float]


class Scene(NamedTuple):
    """Detections that show one property of NMS."""

    title: str
    boxes: tuple[tuple[float, float, float, float], ...]
    scores: tuple[float, ...]
    threshold: float
    text: str


PRESETS = (
    Preset("Overlapping", (3, 3, 9, 9), (5, 5, 11, 11)),
    Preset("Identical", (6, 3, 14, 11), (6, 3, 14, 11)),
    Preset("Touching", (4, 4, 10, 10), (10, 4, 16, 10)),
    Preset("Apart", (2, 3, 7, 8), (12, 6, 18, 12)),
    Preset("Contained", (3, 2, 17, 12), (6, 4, 11, 9)),
    Preset("IoU 0.2, in a row", (4, 4, 10, 10), (8, 4, 14, 10)),
    Preset("IoU 0.2, at a corner", (4, 3, 10, 9), (7, 5, 13, 11)),
    Preset("Wide and tall", (4, 5, 16, 9), (8, 1, 12, 13)),
    Preset("Without area", (5, 3, 15, 11), (9, 4, 9, 10)),
)

SCENES = (
    Scene(
        "Two people",
        (
            *((3, 2, 8, 12), (7, 2.5, 12, 12.5), (3.5, 2.5, 8.5, 12), (15, 6, 19, 11)),
            *((2.5, 1.5, 7, 11.5), (7.5, 2, 12.5, 12.5), (15, 7, 18.5, 12)),
        ),
        (0.95, 0.88, 0.9, 0.75, 0.7, 0.6, 0.4),
        0.5,
        "A detector reports most objects several times. One box per object should stay.",
    ),
    Scene(
        "A chain",
        ((2, 4, 8, 10), (3.5, 4, 9.5, 10), (5, 4, 11, 10), (6.5, 4, 12.5, 10), (8, 4, 14, 10)),
        (0.9, 0.8, 0.7, 0.6, 0.5),
        0.5,
        "B overlaps C enough to remove it, but A has removed B before: only boxes that stay remove others.",
    ),
    Scene(
        "A crowd",
        ((4, 2, 10, 12), (5.2, 2.2, 11.2, 12.2), (12, 3, 17, 12), (12.3, 3.2, 17.2, 12.2)),
        (0.92, 0.9, 0.85, 0.5),
        0.6,
        "A and B are two people, one behind the other. At a threshold of 0.6 one is lost; at 0.65 or more both stay.",
    ),
    Scene(
        "Ties",
        ((3, 4, 9, 10), (5, 4, 11, 10), (13, 3, 18, 8), (13, 3, 18, 8)),
        (0.8, 0.8, 0.7, 0.7),
        0.5,
        "A and B have an IoU of exactly 0.5, which is not above 0.5. C and D are equal: the first one stays.",
    ),
)


def playground_page() -> str:
    """The playground as the text of one HTML file, which loads nothing from the network.

    Two boxes can be moved and resized by mouse, touch and keyboard. The page shows the areas of their regions, every
    overlap measure of ioukit with its formula, and arrows for the gradient of a chosen loss. A second part shows NMS
    of a few boxes step by step. The page computes in float64 with the formulas of the library, and agrees with it
    within 1e-9.

    Returns:
        The page. Write it as UTF-8.

    Raises:
        ModuleNotFoundError: If Jinja2 is not installed.

    Examples:
        >>> from ioukit.report import playground_page
        >>> playground_page().startswith("<!doctype html>")
        True
    """
    template, css = _html.asset("playground/playground.html.j2"), _html.style("playground/playground.css")
    js = _html.program(*(f"playground/{name}.js" for name in _SCRIPTS))
    data = {
        "image_size": IMAGE_SIZE,
        "variants": [_as_data(variant) for variant in VARIANTS],
        "presets": [preset._asdict() for preset in PRESETS],
        "scenes": [scene._asdict() for scene in SCENES],
    }
    return _html.page(template, css=css, js=js, data=data, needed_by="playground_page")


def _as_data(variant: Variant) -> dict[str, Any]:
    plain = ("name", "formula", "low", "range", "dimension", "degenerate", "gradient", "reference")
    return {
        "title": TITLES.get(variant.name, variant.name),
        "high": None if variant.high == math.inf else variant.high,
        **{name: getattr(variant, name) for name in plain},
        # The help texts are written for docstrings, with two backticks around code.
        "options": {name: text.replace("``", "") for name, text in variant.options.items()},
        "option_values": dict(variant.option_values),
        "has_loss": variant.name in LOSSES,
    }
