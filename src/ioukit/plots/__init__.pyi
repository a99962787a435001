"""What does it look like? Figures of overlaps, data sets and evaluations."""

from ioukit.plots.assignment import assignment_figure
from ioukit.plots.bars import ap_by_size_figure, class_ap_figure, error_kinds_figure, slices_figure
from ioukit.plots.boxes import boxes_figure, worst_images_figure
from ioukit.plots.boxes_on_image import draw_boxes, draw_regions
from ioukit.plots.confusion import confusion_figure
from ioukit.plots.curves import (
    ap_by_iou_figure,
    froc_figure,
    miss_rate_figure,
    precision_recall_figure,
    reliability_figure,
    score_curves_figure,
    training_figure,
)
from ioukit.plots.data_sets import (
    class_counts_figure,
    neighbour_overlaps_figure,
    object_positions_figure,
    object_shapes_figure,
    object_sizes_figure,
    objects_per_image_figure,
)
from ioukit.plots.evaluation_figures import FIGURES, evaluation_figure
from ioukit.plots.grid import grid_figure
from ioukit.plots.histograms import iou_histogram_figure, score_histogram_figure
from ioukit.plots.models import differences_figure
from ioukit.plots.overlap import overlap_figure
from ioukit.plots.paper import PAPER_FIGURES, paper_figures
from ioukit.plots.survivors import survivors_figure
from ioukit.plots.timeline import timeline_figure
from ioukit.plots.variants import variant_figure, variants_figure

__all__ = [
    "FIGURES",
    "PAPER_FIGURES",
    "ap_by_iou_figure",
    "ap_by_size_figure",
    "assignment_figure",
    "boxes_figure",
    "class_ap_figure",
    "class_counts_figure",
    "confusion_figure",
    "differences_figure",
    "draw_boxes",
    "draw_regions",
    "error_kinds_figure",
    "evaluation_figure",
    "froc_figure",
    "grid_figure",
    "iou_histogram_figure",
    "miss_rate_figure",
    "neighbour_overlaps_figure",
    "object_positions_figure",
    "object_shapes_figure",
    "object_sizes_figure",
    "objects_per_image_figure",
    "overlap_figure",
    "paper_figures",
    "precision_recall_figure",
    "reliability_figure",
    "score_curves_figure",
    "score_histogram_figure",
    "slices_figure",
    "survivors_figure",
    "timeline_figure",
    "training_figure",
    "variant_figure",
    "variants_figure",
    "worst_images_figure",
]
