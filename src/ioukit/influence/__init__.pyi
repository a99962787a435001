"""Influence: what each detection, object and image adds to AP. Each number is exact: AP with it minus AP without it."""

from ioukit.influence.influences import Influence, Influential
from ioukit.influence.leaving_out import detection_influence, image_influence, object_influence

__all__ = ["Influence", "Influential", "detection_influence", "image_influence", "object_influence"]
