"""Where is the detector bad? Numbers of parts of a data set: by weather, size or crowding, or by an own condition."""

from ioukit.slices.expression import Expression
from ioukit.slices.measuring import slice_numbers
from ioukit.slices.results import Slice, SliceNumbers, WorstSlice, WorstSlices
from ioukit.slices.scene import SliceColumn, slice_columns
from ioukit.slices.searching import worst_slices

__all__ = [
    "Expression",
    "Slice",
    "SliceColumn",
    "SliceNumbers",
    "WorstSlice",
    "WorstSlices",
    "slice_columns",
    "slice_numbers",
    "worst_slices",
]
