"""Is it a difference, or the choice of images? Numbers of data sets in which images stand several times or never."""

from ioukit.statistics.copies import interleave, repeat_images
from ioukit.statistics.replicates import Replicates, replicate

__all__ = ["Replicates", "interleave", "repeat_images", "replicate"]
