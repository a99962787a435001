"""A local app to look through a data set: which images have the marks that a filter chooses, and what is counted."""

from ioukit.viewer.answering import Answer, Counts, answer
from ioukit.viewer.collection import Collection, Model
from ioukit.viewer.conditions import Tagged
from ioukit.viewer.filters import Filter
from ioukit.viewer.marks import Marks, Side, marks_at
from ioukit.viewer.selecting import Selection, select
from ioukit.viewer.values import Issues, Value
from ioukit.viewer.viewing import Viewer, view

__all__ = [
    "Answer",
    "Collection",
    "Counts",
    "Filter",
    "Issues",
    "Marks",
    "Model",
    "Selection",
    "Side",
    "Tagged",
    "Value",
    "Viewer",
    "answer",
    "marks_at",
    "select",
    "view",
]
