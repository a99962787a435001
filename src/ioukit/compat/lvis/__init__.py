"""The names and signatures of lvis 0.5.3 (``lvis-api``): change the import, nothing else.

    from ioukit.compat.lvis import LVIS, LVISEval, LVISResults

The numbers, arrays and printed lines are those of lvis 0.5.3 to the last bit. What differs:

- lvis 0.5.3 needs ``numpy.float`` and so a NumPy before 1.24; this runs with all versions that ioukit supports.
- With ``params.use_cats = 0``, all categories are evaluated as one, and the numbers of frequencies are -1. lvis looks
  for the objects of a category -1 then, finds nothing, and stops with an ``IndexError`` or prints -1.
- A second `LVISEval.evaluate` starts anew. In lvis, it counts all objects and detections twice.
- Importing it does not configure the root logger of `logging`. The loggers have the names of lvis, such as
  ``lvis.eval``.
- `LVIS.download` and ``LVISVis`` are not there; `ioukit.plots` and the report draw masks.
- Invalid masks are errors that name the record, see `ioukit.compat.pycocotools.mask`.

To evaluate without these classes: ``ioukit.evaluate("lvis.json", "results.json", protocol=LVIS)`` with
`ioukit.evaluation.protocols.LVIS`, which reads and evaluates files much faster.
"""

from ioukit.compat.lvis.eval import LVISEval
from ioukit.compat.lvis.lvis import LVIS
from ioukit.compat.lvis.results import LVISResults

__all__ = ["LVIS", "LVISEval", "LVISResults"]
