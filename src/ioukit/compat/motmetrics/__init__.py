"""The names and signatures of py-motmetrics 1.4.0: change the import, nothing else.

    import ioukit.compat.motmetrics as mm

Events, metrics and rendered summaries are those of py-motmetrics 1.4.0, to the last bit where that uses SciPy's solver.
pandas is needed: ``pip install 'ioukit[pandas]'``. What differs:

- py-motmetrics 1.4.0 needs a NumPy below 2 and, for `MOTAccumulator.merge_event_dataframes`, a pandas below 2; this
  runs with all versions that ioukit supports.
- All names of solvers stand for one solver, which makes SciPy's choice among pairs of equal cost. ``lap`` and
  ``lapsolver`` may choose other pairs; the sum of the distances is the same.
- `distances.iou_matrix` refuses boxes that are not finite or have a negative size, with their row.
- ``utils.CLEAR_MOT_M``, the argument ``vf`` of `MOTAccumulator.update`, and the formats of VATIC and UA-DETRAC do not
  exist. For MOTChallenge's rules of distractors, use `ioukit.evaluate_tracks`.

To evaluate without these classes: `ioukit.evaluate_tracks`, which has HOTA, too. Its MOTA and IDF1 are those of
TrackEval, which differ a little from these (``docs/tracks.md``).
"""

from ioukit.compat.motmetrics import distances, io, lap, metrics, utils
from ioukit.compat.motmetrics.mot import MOTAccumulator

__all__ = ["MOTAccumulator", "distances", "io", "lap", "metrics", "utils"]

__version__ = "1.4.0"
