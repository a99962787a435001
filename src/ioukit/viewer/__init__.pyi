"""A local app to look through a data set: which images have the marks that a filter chooses, and what is counted."""

from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.viewing import Viewer, view

__all__ = ["Filter", "Viewer", "view"]
