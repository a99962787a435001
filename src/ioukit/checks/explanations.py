"""What the code of a finding means: which fault it tells, how that looks, how it is found, and what mends it.

One table for `ioukit check --explain CODE` and for docs/check.md, which a test compares with `table`.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ioukit._near_names import suggest
from ioukit.checks.repairs.boxes import FORMATS


@dataclass(frozen=True)
class Fault:
    """A fault of data, and the codes of the findings that tell it."""

    title: str
    """The fault."""
    codes: tuple[str, ...]
    """The codes. ``*`` stands for ``detections`` or ``ground_truth``, and at the end for further words."""
    looks: str
    """What the numbers look like."""
    found: str
    """How it is found."""
    mends: str
    """What mends it."""

    def __str__(self) -> str:
        parts = {"looks like": self.looks, "found by": self.found, "mended by": self.mends.replace("`", "")}
        said = [
            textwrap.fill(f"{name + ':':<13}{text}", 78, subsequent_indent=" " * 13) for name, text in parts.items()
        ]
        return "\n".join([self.title, *said])


FAULTS = (
    Fault(
        "Boxes in another format",
        (*(f"*_are_{fmt}" for fmt in FORMATS), "ground_truth_looks_like_*"),
        "AP near 0; higher if only some images or classes are wrong",
        "Objects overlap their best detection much more after another reading",
        "`--repair boxes=FORMAT`",
    ),
    Fault(
        "Fractions, or pixels multiplied twice",
        ("*_are_fractions", "*_are_fractions_*", "*_are_scaled_twice", "ground_truth_normalized_not_declared"),
        "AP is 0",
        "Objects overlap their best detection much more in the other unit, and by the size of the numbers",
        "`--repair units=fractions`, `--repair units=scaled-twice`",
    ),
    Fault(
        "Boxes of the resized image that the network gets",
        ("other_image_size",),
        "AP near 0; only a little too low if the scale is almost right",
        "All pairs of a detection and an object vote for the size of that image, for either side; of detections, also "
        "in other formats",
        "`--repair network=MODE:SIZE`, after `--repair boxes=FORMAT` if both are wrong; "
        "`--repair gt:network=MODE:SIZE`",
    ),
    Fault(
        "Boxes that begin or end some pixels from where they should, or with a margin on all sides",
        ("*_begin_elsewhere", "*_end_elsewhere", "*_begin_and_end_elsewhere"),
        "AP too low, most of small objects",
        "Edges lie apart from those of the other side by so many pixels, not by a part of the box; areas, masks and "
        "borders of images tell which side is wrong",
        "`--repair edges=LEFT,TOP,RIGHT,BOTTOM`",
    ),
    Fault(
        "Boxes of a turned or mirrored image, or of half the size",
        ("*_hflip", "*_vflip", "*_rot90", "*_rot180", "*_rot270", "*_other_sides", "*_turned", "*_crosswise"),
        "AP near 0",
        "Objects overlap their best detection much more at the other place",
        "`--repair turn=HOW`, `--repair sides=FACTOR`",
    ),
    Fault(
        "Offsets of tiles or crops lost, boxes turned about a corner",
        ("*_moved",),
        "AP too low",
        "All boxes fit after one offset; or boxes without a partner have one at another place, much oftener than by "
        "chance, or than in the opposite direction",
        "`--repair moved=X,Y`; add the offset of each tile",
    ),
    Fault(
        "Rotated boxes whose angles are meant in another way, or lost",
        (
            "*_angles_other_sense",
            "*_angles_degrees",
            "*_angles_radians",
            "*_angles_quarter_turn",
            "*_without_angles",
        ),
        "AP too low: long objects are missed, square ones are found",
        "Rotated boxes overlap much more with the other sense or unit, or after a quarter turn; or all boxes of one "
        "side are upright",
        "`--repair angles=MEANING`; write the angles",
    ),
    Fault(
        "Keypoints with left and right exchanged, in another order, or as y, x",
        ("*_in_another_order", "*_are_yx"),
        "AP near 0",
        "Points of detections lie at the places of others, one to one; or the boxes around them match with y for x",
        "`--repair points=ORDER`, `--repair points=yx`",
    ),
    Fault(
        "Masks that are the filled boxes",
        ("*_without_shapes",),
        "AP too low",
        "All masks of one side fill their boxes, and those of the other side do not",
        "Write the masks",
    ),
    Fault(
        "Detections under the ids of other images",
        ("detections_of_other_images", "image_ids_are_positions"),
        "AP near 0, or too low",
        "Objects overlap detections of their own image no more than those of any other image, or those of one other "
        "image much more",
        "Write the ids of the images",
    ),
    Fault(
        "Class ids shifted, replaced by positions, 80 ids for COCO's 91, or exchanged",
        ("other_class_ids",),
        "AP near 0, but the boxes fit",
        "The classes of detections and objects that overlap",
        "`--repair classes=CHANGE`",
    ),
    Fault(
        "Names that differ by case, spaces or one letter",
        ("class_names_alike", "class_names_similar", "class_names_of_training"),
        "A class with objects and no detections",
        "The names are compared",
        "`--repair merge-classes=FROM>TO`",
    ),
    Fault(
        "Image ids of which only some match, without folder and extension",
        ("image_ids_match_by_stem",),
        "The files are refused",
        "Names without folders, extensions and leading zeros",
        "`--repair images=stem`",
    ),
    Fault(
        "Images on one side only",
        ("images_without_detections", "images_without_annotations", "images_only_in_detections"),
        "AP too low by the share of the images",
        "More empty images than the detector misses objects",
        "Run the detector on all images",
    ),
    Fault(
        "A side without rows",
        ("no_detections", "no_objects"),
        "AP is 0 or undefined",
        "No detections, or no objects that count",
        "Look for the right file",
    ),
    Fault(
        "Ground truth and detections in the wrong order",
        ("swapped_sides",),
        "No AP, or precision and recall exchanged",
        "The objects have scores, and the detections have none",
        "Give the files in the other order",
    ),
    Fault(
        "Classes on one side only",
        (
            "classes_without_detections",
            "rare_classes_without_detections",
            "classes_without_objects",
            "classes_only_in_detections",
        ),
        "AP too low, or the files are refused",
        "Classes without detections, with more objects than a detector misses by chance",
        "Check the list of classes",
    ),
    Fault(
        "Repeated rows",
        ("repeated_detections", "repeated_annotations"),
        "AP too low; every repetition is a false positive",
        "Equal image, class, box and score",
        "`--repair duplicates`",
    ),
    Fault(
        "Boxes written for several classes or images",
        ("detections_of_several_classes", "detections_of_several_images"),
        "AP too low",
        "The very box and score of a detection of another class, or of another image",
        "Write each detection once",
    ),
    Fault(
        "NMS missing",
        ("nms_missing",),
        "AP too low; many detections per object",
        "Detections of a class overlap more often than objects, and NMS raises AP",
        "`--repair nms=IOU`",
    ),
    Fault(
        "NMS twice, or too strict",
        ("nms_too_strict",),
        "Crowded objects are missed",
        "No two detections overlap as much as objects do",
        "Write the detections again",
    ),
    Fault(
        "Scores equal, rounded, or of few values",
        ("scores_all_equal", "scores_often_equal", "scores_rounded", "scores_of_few_values"),
        "AP may depend on the order of the file",
        "Scores are counted, also per image",
        "Write all digits",
    ),
    Fault(
        "Scores in percent, logits, or costs",
        ("scores_are_percent", "scores_are_logits", "scores_beyond_one", "scores_are_costs", "scores_of_two_units"),
        "AP is right; wrong if only some images have such scores",
        "Scores beyond 0 to 1; a reversed order raises AP",
        "`--repair scores=UNIT`",
    ),
    Fault(
        "Scores divided by their sum, or one for all boxes of a class",
        ("scores_add_up", "scores_of_classes_equal"),
        "AP too low",
        "Scores of an image that add up to 1; equal scores of a class in an image",
        "Write the score of each box",
    ),
    Fault(
        "Scores exchanged within images, or reversed on some",
        ("scores_not_of_their_boxes", "scores_say_nothing", "scores_partly_reversed"),
        "AP too low",
        "Right detections have higher scores than wrong ones over all images, but not within an image, or clearly "
        "lower ones on some",
        "Write scores with their boxes",
    ),
    Fault(
        "A threshold left in, or a limit of detections per image",
        ("threshold_left_in", "limit_left_in"),
        "AP too low",
        "No low scores, or many images with the most detections that any has, and objects without a detection (a note)",
        "Write all detections",
    ),
    Fault(
        "All classes one, on some images",
        ("classes_collapsed",),
        "AP too low",
        "One class on images with objects of several",
        "Write the classes",
    ),
    Fault(
        "Annotations doubled, also in two classes, or without size",
        ("annotations_doubled", "annotations_of_several_classes", "annotations_without_size"),
        "AP too low",
        "Annotations are compared with each other and with detections",
        "Annotate again",
    ),
    Fault(
        "Boxes cut at the size of another image, or tiles that were not merged",
        ("detections_cut", "annotations_cut"),
        "AP too low",
        "Boxes end at one place inside their images, and those of the other side go on",
        "Cut at the own image, merge tiles",
    ),
    Fault(
        "Annotations made from detections, or detections from annotations",
        ("annotations_are_detections",),
        "AP too high",
        "Images on which all numbers are equal",
        "Annotate by hand, or write what the detector found",
    ),
    Fault(
        "Tags of images among the boxes",
        ("annotations_of_whole_images",),
        "AP too low",
        "Boxes of the whole image that no detection matches",
        "Leave them out",
    ),
    Fault(
        "One annotation per class and image",
        ("one_annotation_per_class",),
        "AP too low",
        "Confident detections of a second object",
        "Annotate all objects",
    ),
    Fault(
        "A class that is annotated on some images only, as in merged data sets",
        ("classes_annotated_on_some_images",),
        "AP of the class too low",
        "On images without the class, sure detections lie on no annotation much oftener than on images with it",
        "Annotate it on all images, or leave its detections out where it was not looked for",
    ),
    Fault(
        "Numbers rounded to a stride or to hundredths",
        ("*_rounded",),
        "AP at high IoU too low",
        "Corners on a grid",
        "Write all digits",
    ),
    Fault(
        "Detections and objects that have nothing to do with each other",
        ("near_chance", "classes_by_chance", "detections_off_objects"),
        "AP is nearly 0",
        "AP below 0.01, or classes that agree no more than if they were shuffled within each image",
        "Look at some images",
    ),
    Fault(
        "Objects marked as crowds",
        ("crowds_are_objects",),
        "AP too high or too low: they do not count",
        "Detections fit crowds as they fit objects",
        "Mark groups alone",
    ),
    Fault(
        "Crowds lost",
        ("crowds_not_marked", "crowds_perhaps_not_marked"),
        "AP a little too low",
        "Masks in RLE among polygons; large boxes around many detections",
        "`--repair gt:crowd=rle`",
    ),
    Fault(
        "Boxes not those of their masks",
        ("boxes_not_of_masks",),
        "AP too low, of boxes or of masks",
        "Boxes are compared with those around their own masks",
        "Write the right ones of the two",
    ),
    Fault(
        "Areas not those of the masks",
        ("areas_not_of_masks", "areas_not_of_boxes"),
        "AP by size differs",
        "Areas are compared with masks",
        "`--repair gt:areas=masks`",
    ),
    Fault(
        "Boxes beyond the image",
        ("*_beyond_image",),
        "AP too low near borders",
        "Boxes are compared with the image, also with width and height exchanged",
        "`--repair clip`; the right sizes of images, if boxes lie wholly outside",
    ),
    Fault(
        "Training images in the test set",
        ("train_images_by_name", "train_images_by_content"),
        "AP too high",
        "Names of files, and their bytes",
        "Leave them out",
    ),
)


def explain(code: str) -> Fault:
    """The fault that findings with a code tell.

    Raises:
        ValueError: If no rule of this library has such a code.
    """
    for fault in FAULTS:
        if any(fnmatchcase(code, pattern) for pattern in fault.codes):
            return fault
    known = [pattern.replace("*", "detections", 1).rstrip("_*") for fault in FAULTS for pattern in fault.codes]
    raise ValueError(f"no finding has the code {code!r}{suggest(code, known, 'docs/check.md lists them')}")


def table() -> str:
    """The faults as rows of a Markdown table."""
    rows = [
        "| Fault | What it looks like | How it is found | What mends it | Codes |",
        "| --- | --- | --- | --- | --- |",
    ]
    for fault in FAULTS:
        codes = ", ".join(f"`{code}`" for code in fault.codes)
        rows.append(f"| {fault.title} | {fault.looks} | {fault.found} | {fault.mends} | {codes} |")
    return "\n".join(rows)
