"""Where is the detector bad? Numbers of parts of a data set: by weather, size or crowding, or by an own condition."""

from ioukit.slices.expression import Expression
from ioukit.slices.measuring import slice_numbers
from ioukit.slices.results import Slice, SliceNumbers

__all__ = ["Expression", "Slice", "SliceNumbers", "slice_numbers"]
