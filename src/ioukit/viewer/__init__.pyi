"""See your data: an app on your own machine to look through images, objects and detections."""

from ioukit.viewer.viewing import view

__all__ = ["view"]
