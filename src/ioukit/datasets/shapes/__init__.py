"""A data set that needs no download: drawn scenes of shapes with exact boxes and masks."""

from ioukit.datasets.shapes.drawing import CLASSES, Scene, draw_scene
from ioukit.datasets.shapes.writing import make_shapes

__all__ = ["CLASSES", "Scene", "draw_scene", "make_shapes"]
