"""`diagnose`: what looks wrong with regions, or with a data set? The rules of each kind are in a file of their own."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from ioukit._columns import Columns
from ioukit.checks.diagnosis.boxes import diagnose_boxes
from ioukit.regions._by_kind import ByKind
from ioukit.regions.boxes import Boxes
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ioukit.checks.diagnosis.findings import Diagnosis
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.regions._by_kind import Kind
    from ioukit.typing import BoxFormat


Rules: TypeAlias = "Callable[..., Diagnosis]"


def _check_rules(rules: object) -> None:
    if not callable(rules):
        raise TypeError(f"rules must be a function of regions that returns a Diagnosis, got {rules!r}")


_RULES: ByKind[Rules] = ByKind("kind of region with rules", _check_rules)


def register_rules(kind: Kind, rules: Rules | str) -> None:
    """Registers the function that `diagnose` calls for a kind of region.

    A later call for the same kind replaces its function. Subclasses use the function of their nearest base class.

    Args:
        kind: A class derived from `ioukit.regions.Regions`, or its name ``"package.module:Class"``, which is not
            imported.
        rules: A function that takes a set of regions and returns a `Diagnosis`. If it has the keywords ``image_size``
            or ``reference``, `diagnose` passes its own on. Or its name ``"package.module:function"``, which is imported
            when the first regions of this kind are diagnosed.

    Raises:
        TypeError: If ``kind`` is not derived from `Regions`, or is a class of upright boxes, or if ``rules`` cannot be
            called.
    """
    _RULES.register(kind, rules)


register_rules("ioukit.regions.boxes3d:Boxes3D", "ioukit.checks.diagnosis.turned:diagnose_boxes3d")
register_rules("ioukit.regions.masks:Masks", "ioukit.checks.diagnosis.masks:diagnose_masks")
register_rules("ioukit.regions.polygons:Polygons", "ioukit.checks.diagnosis.polygons:diagnose_polygons")
register_rules("ioukit.regions.rotated:RotatedBoxes", "ioukit.checks.diagnosis.turned:diagnose_rotated")


def diagnose(
    regions: Regions | GroundTruth | Detections | Sequence[Any] | ArrayLike,
    format: BoxFormat | None = None,
    *,
    image_size: tuple[float, float] | None = None,
    normalized: bool = False,
    reference: Regions | GroundTruth | None = None,
) -> Diagnosis:
    """Reports what looks wrong with regions of one or many images, or with a data set. It changes nothing.

    The result is a list of findings. Each has a code, a severity, the rows concerned, and a hint how to fix them. An
    ``"error"`` means rows that `Boxes` or `Masks` refuse, a ``"warning"`` is probably a mistake, and a ``"note"`` is
    legal and worth a look. Most warnings are guesses, so a set with warnings may be right. No value of a number raises
    an exception.

    The codes for each kind of region; the functions of `ioukit.checks` define them:

    - arrays: ``nan``, ``infinite``, ``too_large``, ``inverted``.
    - `Boxes` and arrays: ``zero_size``; ``mixed_units``, ``normalized_not_declared``, ``not_normalized``;
      ``looks_like_xyxy``, ``looks_like_xywh``, ``looks_like_cxcywh``; ``negative``, ``partly_outside``,
      ``wholly_outside``, ``larger_than_image``; ``duplicate``.
    - `RotatedBoxes`: the codes of `Boxes` without ``looks_like_...``; ``degrees``, ``radians``, ``other_sense``. Arrays
      of 5 columns have no declared unit and sense; of these three codes they have ``degrees`` only.
    - `Boxes3D`: ``zero_size``, ``degrees``, ``radians``, ``other_sense``, ``other_z``, ``duplicate``.
    - `Polygons`: ``no_points``, ``too_few_points``, ``zero_area``, ``self_crossing``, ``repeated_points``,
      ``mixed_orientation``; the codes of `Boxes` for units and places; ``duplicate``.
    - `Masks` and COCO's records: ``other_size``, ``empty_mask``, ``full_mask``, ``duplicate``; for records also
      ``bad_runs``, exactly those that `Masks.from_rle` refuses.
    - `GroundTruth` and `Detections`: ``normalized_not_declared``, ``looks_like_xyxy``, ``looks_like_yxyx``,
      ``looks_like_cxcywh``; for detections with their ground truth also ``other_category_ids``,
      ``images_without_detections``, ``repeated_images`` and ``swapped_sides``. In large data sets, 5,000 boxes are
      checked.

    Args:
        regions: A set of regions of any kind; or (N, 4) numbers in ``format``, one box of 4 numbers, or ``[]``; or
            (N, 5) rotated boxes with ``format="cxcywh"``, whose fifth number is an angle in radians; or a list of
            COCO's records of masks, ``{"size": [height, width], "counts": ...}``. Numbers may have any value, also NaN
            and infinity. Or a whole data set: `GroundTruth`, or `Detections`.
        format: The declared format of an array: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. Sets of regions
            have their own.
        image_size: (width, height) in pixels, if all regions are from images of one size. Normalized regions do not
            need it: the size of their image is 1 by 1.
        normalized: Whether the declared unit of an array is the image rather than the pixel. Sets of regions have
            their own.
        reference: Regions of the same kind that these should overlap, such as the ground truth of the image. With it,
            the sense of `RotatedBoxes` and `Boxes3D`, and the z of `Boxes3D`, can be checked. For `Detections`: the
            `GroundTruth` that they are compared with.

    Returns:
        A `Diagnosis`: errors, then warnings, then notes.

    Raises:
        ValueError: If the shape, the format or the image size is wrong; never because of the value of a coordinate.
        TypeError: If an array does not hold real numbers, or an argument does not apply to this kind of region.

    Examples:
        >>> print(diagnose([[100, 80, 40, 60], [300, 200, 50, 30], [10, 20, 15, 25]], image_size=(640, 480)))
        3 boxes: 1 finding
        error   inverted: 2 of 3 boxes have x2 < x1 or y2 < y1 (rows 0, 1)
                -> order the two numbers of each axis, if the format is right
        >>> diagnose([[100, 80, 40, 60], [300, 200, 50, 30], [10, 20, 15, 25]], "xywh", image_size=(640, 480)).ok
        True
    """
    if isinstance(regions, Columns):
        return _diagnose_data(regions, reference, format, image_size, normalized=normalized)
    if isinstance(regions, Regions):
        name = type(regions).__name__
        _refuse(f"{name}, which have their own", format=format, normalized=normalized or None)
        given = {"image_size": image_size, "reference": reference}
        if isinstance(regions, Boxes):
            _refuse(name, reference=reference)
            array = regions.numpy()
            return diagnose_boxes(array, regions.format, image_size=image_size, normalized=regions.normalized)
        kind = _RULES.kind_of(regions)
        if kind is None:
            raise TypeError(f"there are no rules for {name}: ioukit.checks.register_rules adds them")
        rules = _RULES[kind]
        taken = inspect.signature(rules).parameters
        _refuse(name, **{key: value for key, value in given.items() if key not in taken})
        return rules(regions, **{key: value for key, value in given.items() if key in taken})
    if isinstance(regions, (list, tuple)) and any(isinstance(item, dict) for item in regions):
        from ioukit.checks.diagnosis.masks import diagnose_records  # noqa: PLC0415 - only records need masks

        _refuse("records of masks", format=format, normalized=normalized or None, reference=reference)
        return diagnose_records(regions, image_size)
    _refuse("arrays", reference=reference)
    return diagnose_boxes(regions, format or "xyxy", image_size=image_size, normalized=normalized)


def _diagnose_data(
    data: Columns, reference: object, format: object, image_size: object, *, normalized: bool
) -> Diagnosis:
    from ioukit.checks.diagnosis.data_sets import diagnose_data  # noqa: PLC0415
    from ioukit.datasets import Detections, GroundTruth  # noqa: PLC0415 - regions need no data sets

    name = type(data).__name__
    if not isinstance(data, GroundTruth | Detections):
        raise TypeError(f"diagnose takes GroundTruth or Detections, got {name}")
    _refuse(name, format=format, image_size=image_size, normalized=normalized or None)
    if isinstance(data, GroundTruth):
        _refuse(name, reference=reference)
        return diagnose_data(data)
    if reference is not None and not isinstance(reference, GroundTruth):
        raise TypeError(f"reference must be the GroundTruth of the detections, got {type(reference).__name__}")
    return diagnose_data(data, reference)


def _refuse(kind: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise TypeError(f"{name} does not apply to {kind}")
