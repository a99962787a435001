"""The names and signatures of other libraries, as thin layers over ioukit."""

from ioukit.compat import detectron2 as detectron2
from ioukit.compat import docsaidkit as docsaidkit
from ioukit.compat import lvis as lvis
from ioukit.compat import motmetrics as motmetrics
from ioukit.compat import pycocotools as pycocotools
from ioukit.compat import torchvision_ops as torchvision_ops
from ioukit.compat import trackeval as trackeval

__all__: list[str] = []
