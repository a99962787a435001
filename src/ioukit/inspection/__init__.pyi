"""What does it hold? Images, classes, sizes, shapes, positions and overlaps of the objects of a data set."""

from ioukit.inspection.inspecting import inspect
from ioukit.inspection.inspection import Inspection
from ioukit.inspection.region_values import RegionValues

__all__ = ["Inspection", "RegionValues", "inspect"]
