"""Which prediction is trained towards which object, by the rules of the common detectors.

Every rule returns an `Assignment`, which explains its decisions and can be compared with that of another rule.
"""

from ioukit.assign.assignment import Assignment, AssignmentChange, Candidates, Outcome
from ioukit.assign.atss import assign_atss
from ioukit.assign.batch import BatchAssignment, assign_batch
from ioukit.assign.hungarian import assign_hungarian
from ioukit.assign.max_iou import assign_grid, assign_max_iou, assign_overlaps
from ioukit.assign.simota import assign_simota
from ioukit.assign.task_aligned import DualAssignment, assign_dual, assign_task_aligned
from ioukit.assign.uniform import assign_uniform
from ioukit.assign.yolo import assign_yolov3, assign_yolov5

__all__ = [
    "Assignment",
    "AssignmentChange",
    "BatchAssignment",
    "Candidates",
    "DualAssignment",
    "Outcome",
    "assign_atss",
    "assign_batch",
    "assign_dual",
    "assign_grid",
    "assign_hungarian",
    "assign_max_iou",
    "assign_overlaps",
    "assign_simota",
    "assign_task_aligned",
    "assign_uniform",
    "assign_yolov3",
    "assign_yolov5",
]
