"""What is a box?"""

from ioukit.boxes.boxes import Boxes, BoxesLike

__all__ = ["Boxes", "BoxesLike"]
