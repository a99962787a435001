"""Where is the detector bad? Numbers of parts of a data set: by weather, size or crowding, or by an own condition."""

from ioukit.slices.expression import Expression

__all__ = ["Expression"]
