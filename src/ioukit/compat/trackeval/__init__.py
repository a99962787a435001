"""The names and signatures of TrackEval 1.3.0, for boxes of MOTChallenge and KITTI: change the import, nothing else.

    import ioukit.compat.trackeval as trackeval

The results of `Evaluator.evaluate`, the tables that it prints and the files that it writes are those of TrackEval
1.3.0. What differs:

- `datasets.MotChallenge2DBox` and `datasets.Kitti2DBox` are the only data sets, and HOTA, CLEAR, Identity, VACE and
  Count are the only metrics. CLEAR and Identity have their default threshold, 0.5, alone. VACE of a sequence without
  boxes is NaN, where TrackEval ends with a ``ZeroDivisionError``.
- All sequences of a tracker are evaluated in one call of `ioukit.evaluate_tracks`. So ``USE_PARALLEL`` and
  ``NUM_PARALLEL_CORES`` change nothing, and the times of single steps are not printed.
- Curves are not plotted: ``PLOT_CURVES`` changes nothing. Errors are not logged, unless ``LOG_ON_ERROR`` is given.
- A box with a negative size is an error, and so is a line with too few numbers, in any frame.
- ``<class>_detailed.csv`` has 0.0 where TrackEval writes 0 for ratios of a sequence without boxes.
- The folders are those of the configuration, or below the current folder; TrackEval looks beside its own code.

To evaluate without these classes, and for all other data: `ioukit.evaluate_tracks`.
"""

from ioukit.compat.trackeval import datasets, metrics, utils
from ioukit.compat.trackeval.eval import Evaluator

__all__ = ["Evaluator", "datasets", "metrics", "utils"]

__version__ = "1.3.0"
