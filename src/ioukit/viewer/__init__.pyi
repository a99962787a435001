"""A local app to look through a data set: which images have the marks that a filter chooses, and what is counted."""

from ioukit.viewer.answering import Answer, Counts, answer
from ioukit.viewer.collection import Collection, Model
from ioukit.viewer.filters import Filter
from ioukit.viewer.selecting import Selection, Tagged, select
from ioukit.viewer.values import Issues, Value
from ioukit.viewer.viewing import view

__all__ = [
    "Answer",
    "Collection",
    "Counts",
    "Filter",
    "Issues",
    "Model",
    "Selection",
    "Tagged",
    "Value",
    "answer",
    "select",
    "view",
]
