"""Is it a difference, or the choice of images? Intervals, tests, and numbers of data sets with other images."""

from ioukit.statistics.comparing import compare
from ioukit.statistics.copies import interleave, repeat_images
from ioukit.statistics.correction import adjust_p_values
from ioukit.statistics.detectable import detectable_difference, images_needed
from ioukit.statistics.differences import ClassDifference, Comparison, Difference
from ioukit.statistics.estimating import Interval, interval_from_replicates, intervals
from ioukit.statistics.influence.influences import Influence, Influential
from ioukit.statistics.influence.leaving_out import detection_influence, image_influence, object_influence
from ioukit.statistics.jackknifing import Jackknife, jackknife
from ioukit.statistics.replicates import Replicates, replicate
from ioukit.statistics.resampling import bootstrap_weights, leave_one_out_weights, permutation_swaps
from ioukit.statistics.seeds import SeedComparison, SeedDifference, compare_seeds

__all__ = [
    "ClassDifference",
    "Comparison",
    "Difference",
    "Influence",
    "Influential",
    "Interval",
    "Jackknife",
    "Replicates",
    "SeedComparison",
    "SeedDifference",
    "adjust_p_values",
    "bootstrap_weights",
    "compare",
    "compare_seeds",
    "detectable_difference",
    "detection_influence",
    "image_influence",
    "images_needed",
    "interleave",
    "interval_from_replicates",
    "intervals",
    "jackknife",
    "leave_one_out_weights",
    "object_influence",
    "permutation_swaps",
    "repeat_images",
    "replicate",
]
