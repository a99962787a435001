"""The register of result tables: data frames, files and documentation are made from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from ioukit.evaluation.tables.columns import ResultColumn, Values
from ioukit.evaluation.tables.values import (
    curve_columns,
    per_class_columns,
    per_detection_columns,
    per_image_columns,
    per_object_columns,
    point_columns,
    summary_columns,
)

if TYPE_CHECKING:
    from ioukit.evaluation.tables.columns import Source


@dataclass(frozen=True)
class ResultTable:
    """A table that results can be written as."""

    name: str
    """Its name, also of its file."""
    rows: str
    """What it has a row for, and in which order."""
    columns: tuple[ResultColumn, ...]
    """Its columns in order. A column with ``<...>`` in its name stands for any number of them, at its place."""
    values: Callable[[Source], Mapping[str, Values]]
    """Makes the values of the columns, in their order."""
    at_point: bool = False
    """Whether its counts depend on the chosen IoU threshold, area range and score threshold."""

    def column(self, name: str) -> ResultColumn:
        """The column of that name, as in the values of this table.

        Raises:
            KeyError: If the table has no such column.
        """
        for column in self.columns:
            if column.name == name:
                return column
        for column in self.columns:
            start, pattern, _ = column.name.partition("<")
            if pattern and name.startswith(start):
                return replace(column, name=name)
        raise KeyError(name)


_AT_POINT = "at the chosen point"
_IMAGE = (
    ResultColumn("image_id", "id", "Id of the image."),
    ResultColumn("file_name", "text", "File name of the image.", optional=True, needs_data=True),
)
_CATEGORY = (
    ResultColumn("category_id", "integer", "Id of the category."),
    ResultColumn("category", "text", "Name of the category."),
)
_RATES = (
    ResultColumn("true_positives", "integer", f"TP {_AT_POINT}.", "detections"),
    ResultColumn("false_positives", "integer", f"FP {_AT_POINT}.", "detections"),
    ResultColumn("false_negatives", "integer", f"FN {_AT_POINT}.", "objects"),
    ResultColumn(
        "precision", "number", "`TP / (TP + FP)`. Missing without detections that count.", "0 to 1", optional=True
    ),
    ResultColumn("recall", "number", "`TP / (TP + FN)`. Missing without objects to find.", "0 to 1", optional=True),
    ResultColumn("f1", "number", "`2 TP / (2 TP + FP + FN)`. Missing without both.", "0 to 1", optional=True),
)
_CURVE = (
    ResultColumn("category_id", "integer", "Id of the category; -1 if all categories count as one."),
    ResultColumn("category", "text", "Name of the category."),
    ResultColumn("iou_threshold", "number", "IoU threshold of the curve.", "IoU"),
    ResultColumn("area_range", "text", "Label of the area range of the curve."),
    ResultColumn("max_dets", "integer", "Cap on the detections. Missing without a cap.", "detections", optional=True),
)


def _box(of: str) -> tuple[ResultColumn, ...]:
    return (
        *(
            ResultColumn(name, "number", f"{words} of the upright box of {of}.", "pixels", True, True)
            for name, words in (("x", "Left edge"), ("y", "Top edge"), ("width", "Width"), ("height", "Height"))
        ),
        ResultColumn(
            "area", "number", f"Area of {of}: of its mask where the data has it.", "square pixels", True, True
        ),
        ResultColumn(
            "size_class",
            "text",
            "Label of the narrowest area range of the protocol that the area lies in, such as `small`. Missing if the "
            "ranges of the protocol are not ranges of areas.",
            optional=True,
            needs_data=True,
        ),
    )


_SUMMARY = (
    ResultColumn("measure", "text", "Key of the measure, such as `AP50`."),
    ResultColumn("value", "number", "The number. Missing if it is undefined.", optional=True),
    ResultColumn(
        "quantity",
        "text",
        "`AP`, `AR`, `MR` (log-average miss rate), `JI` (Jaccard index), `AOS` (of orientations), `FROC`, `precision`, "
        "`F1`, `IoU` (of the matches) or `LRP`.",
    ),
    ResultColumn("iou_threshold", "number", "Its IoU threshold. Missing for a mean over all.", "IoU", optional=True),
    ResultColumn("area_range", "text", "Label of its area range."),
    ResultColumn(
        "max_dets", "integer", "Its cap on the detections. Missing without a cap.", "detections", optional=True
    ),
    ResultColumn(
        "group", "text", "The group of categories that it is about. Missing for all categories.", optional=True
    ),
)
_PER_CLASS = (
    ResultColumn("category_id", "integer", "Id of the category; -1 if all categories count as one."),
    ResultColumn("category", "text", "Name of the category."),
    ResultColumn(
        "<measure>",
        "number",
        "One column for each measure of the protocol, by its key: `AP`, `AP50`, ... They do not depend on the chosen "
        "point. A key that another column has begins with `measure_`.",
        optional=True,
    ),
    ResultColumn(
        "num_ground_truth", "integer", "Objects to find in the main area range, without ignored ones.", "objects"
    ),
    ResultColumn("num_detections", "integer", "Detections within the cap, with ignored ones.", "detections"),
    *_RATES,
    ResultColumn("group", "text", "Group of the category. Missing if the protocol has no groups.", optional=True),
)
_PER_IMAGE = (
    *_IMAGE,
    ResultColumn("image_width", "number", "Width of the image.", "pixels", optional=True, needs_data=True),
    ResultColumn("image_height", "number", "Height of the image.", "pixels", optional=True, needs_data=True),
    ResultColumn("num_ground_truth", "integer", "Objects to find: TP + FN.", "objects"),
    ResultColumn("num_detections", "integer", "Detections that count: TP + FP.", "detections"),
    *_RATES,
    ResultColumn(
        "mean_iou", "number", "Mean IoU of the TP with their objects. Missing without TP.", "IoU", optional=True
    ),
)
_PER_DETECTION = (
    ResultColumn("detection_row", "integer", "Row in the detections that were evaluated; the first row is 0."),
    *_IMAGE,
    *_CATEGORY,
    ResultColumn("score", "number", "Score of the detection."),
    ResultColumn("score_rank", "integer", "Rank by score within the scope of the cap; 0 is the best."),
    ResultColumn("outcome", "text", f"`true_positive`, `false_positive`, `ignored` or `not_counted` {_AT_POINT}."),
    ResultColumn(
        "iou",
        "number",
        "IoU with the matched object; for a crowd, the intersection over the area of the detection.",
        "IoU",
        optional=True,
    ),
    ResultColumn(
        "matched_object_id", "integer", "Annotation id of the matched object, also an ignored one.", optional=True
    ),
    ResultColumn(
        "matched_object_row", "integer", "Row of the matched object: `object_row` of `per_object`.", optional=True
    ),
    *_box("the detection"),
)
_PER_OBJECT = (
    ResultColumn("object_id", "integer", "Annotation id of the object."),
    ResultColumn("object_row", "integer", "Row in the ground truth that was evaluated; the first row is 0."),
    *_IMAGE,
    *_CATEGORY,
    ResultColumn("outcome", "text", f"`true_positive`, `false_negative` or `ignored` {_AT_POINT}."),
    ResultColumn("iou", "number", "As in `per_detection`, of the matched detection.", "IoU", optional=True),
    ResultColumn(
        "matched_detection_row",
        "integer",
        "Row of the detection that matches it: `detection_row` of `per_detection`. The best one if several match a "
        "crowd.",
        optional=True,
    ),
    ResultColumn("matched_score", "number", "Score of this detection.", optional=True),
    *_box("the object"),
    ResultColumn("crowd", "flag", "Whether the object is a crowd.", optional=True, needs_data=True),
    ResultColumn(
        "flag_<name>",
        "flag",
        "One column for each further flag of the ground truth, such as `flag_difficult`. Absent without data.",
        needs_data=True,
    ),
)
_PER_CURVE = (
    *_CURVE,
    ResultColumn("average_precision", "number", "Average precision. Missing without objects.", "0 to 1", optional=True),
    ResultColumn(
        "recall", "number", "Recall after the last detection. Missing without objects.", "0 to 1", optional=True
    ),
    ResultColumn("miss_rate", "number", "Log-average miss rate, if the protocol has it.", "0 to 1", optional=True),
    ResultColumn(
        "jaccard_index", "number", "Jaccard index of CrowdDet, if the protocol has it.", "0 to 1", optional=True
    ),
)
_CURVES = (
    *_CURVE,
    ResultColumn("recall", "number", "Recall threshold of the point.", "0 to 1"),
    ResultColumn(
        "precision", "number", "Highest precision at this recall or a higher one; 0 if not reached.", "0 to 1"
    ),
    ResultColumn("score", "number", "Score at which the recall is reached; 0 if not reached."),
)

TABLES: Mapping[str, ResultTable] = MappingProxyType(
    {
        table.name: table
        for table in (
            ResultTable(
                "summary", "One row per measure of the protocol, the main one first.", _SUMMARY, summary_columns
            ),
            ResultTable("per_class", "One row per category, sorted by id.", _PER_CLASS, per_class_columns, True),
            ResultTable("per_image", "One row per image, sorted by id.", _PER_IMAGE, per_image_columns, True),
            ResultTable(
                "per_detection",
                "One row per detection of the match table, sorted by image, category and descending score. Detections "
                "beyond the cap have a row only if the table lists near pairs.",
                _PER_DETECTION,
                per_detection_columns,
                True,
            ),
            ResultTable(
                "per_object",
                "One row per object, sorted by image and category, then in the order of the ground truth.",
                _PER_OBJECT,
                per_object_columns,
                True,
            ),
            ResultTable(
                "per_curve",
                "One row per curve: for each category, area range, cap and IoU threshold, in this order.",
                _PER_CURVE,
                curve_columns,
            ),
            ResultTable(
                "curves",
                "One row per point of a curve: the rows of `per_curve`, each with all recall thresholds. A category "
                "without objects has no points.",
                _CURVES,
                point_columns,
            ),
        )
    }
)
"""The tables that an evaluation can be written as, by name. The page "Results as tables" describes their columns."""
