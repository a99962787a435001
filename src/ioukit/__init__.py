"""One overlap (IoU, Jaccard index) engine for the whole life of an object detector."""

from ioukit._core import __version__
from ioukit.errors import DatasetError

__all__ = ["DatasetError", "__version__"]
