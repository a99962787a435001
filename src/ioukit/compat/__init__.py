"""The names and signatures of other libraries, as thin layers over ioukit.

They are for code that was written for those libraries: change the import, keep the calls. New code should use `ioukit`
itself. ``docs/compat.md`` lists the ioukit name for every name here.

- `ioukit.compat.torchvision_ops`: the box functions of ``torchvision.ops``, for tensors and NumPy arrays.
- `ioukit.compat.detectron2`: ``Boxes``, ``RotatedBoxes``, ``BoxMode`` and the overlaps of ``detectron2.structures``,
  and the suppression of ``detectron2.layers``.
- `ioukit.compat.docsaidkit`: the structures and functions of DocsaidKit and of its successor Capybara.
- `ioukit.compat.pycocotools`: ``COCO``, ``COCOeval`` and ``mask`` of ``pycocotools``, with the same bits.
- `ioukit.compat.lvis`: ``LVIS``, ``LVISResults`` and ``LVISEval`` of lvis-api.
- `ioukit.compat.motmetrics`: ``MOTAccumulator``, ``metrics``, ``io``, ``utils`` of py-motmetrics, the same bits.
- `ioukit.compat.trackeval`: ``Evaluator``, MOTChallenge's boxes, HOTA, CLEAR and Identity of TrackEval, the same bits.

`ioukit.patch` gives the last four to programs that import the originals. The docstring of each module, or
``docs/compat.md``, lists what differs from the original. Every difference has a test. The modules are imported when
they are first used, and no other part of ioukit imports them.
"""

from ioukit._exports import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
