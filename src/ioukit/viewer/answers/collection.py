"""What the viewer shows: a ground truth, the evaluations of some models on it, and further values."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ioukit._near_names import near_names
from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation import evaluate
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.evaluation.analysis.outcomes_by_score import OutcomesByScore, Overlaps
from ioukit.tracks.identities import has_tracks
from ioukit.tracks.sequences import frames_of
from ioukit.viewer.answers.bins import IOU_EDGES, bins_of, even_edges, largest_of, size_edges
from ioukit.viewer.answers.issues import Issues
from ioukit.viewer.answers.sizes import Sizes, areas_of
from ioukit.viewer.answers.values import LeftOutError, Value, some_of

if TYPE_CHECKING:
    from ioukit.datasets import Categories
    from ioukit.evaluation import Curves, Evaluation, MatchTable, Protocol
    from ioukit.tracks.sequences import Frames


MOST_MODELS = 3
_NEAR = 0.1  # the background threshold of TIDE
_STEPS = 1000  # scores that are tried first for the best one
_KEPT = 2  # of each model: levels, marks, bins of IoU by the level, bins of two other keys; and selections


_Key = TypeVar("_Key", bound=Hashable)
_Kept = TypeVar("_Kept")


class Recent(Generic[_Key, _Kept]):
    """Keeps the results of the last keys.

    Args:
        most: How many results it keeps.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: dict[_Key, _Kept] = {}

    def of(self, key: _Key, make: Callable[[], _Kept]) -> _Kept:
        """The result of a key: the one that is kept, or one that is made now and kept in the place of the oldest.

        Nothing waits while a result is made. If two threads make it, both get the one that was ready first.
        """
        with self._lock:
            if key in self._kept:
                self._kept[key] = self._kept.pop(key)
                return self._kept[key]
        made = make()
        with self._lock:
            found = self._kept.setdefault(key, made)
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
            return found


@dataclass(frozen=True, eq=False)
class Model:
    """The detections of one model."""

    name: str
    evaluation: Evaluation = field(repr=False)
    marks: Recent[tuple[float, float], Any] = field(default_factory=lambda: Recent(_KEPT), init=False, repr=False)
    """The marks of the last thresholds, see :func:`ioukit.viewer.answers.marks.marks_at`."""
    curves: Recent[bytes, Curves] = field(default_factory=lambda: Recent(_KEPT), init=False, repr=False)
    """The curves of the last choices of images, see :func:`ioukit.viewer.answers.numbers.numbers`."""
    _levels: Recent[int, OutcomesByScore] = field(default_factory=lambda: Recent(_KEPT), init=False, repr=False)
    _bins: Recent[str, npt.NDArray[np.uint8]] = field(default_factory=lambda: Recent(2 * _KEPT), init=False, repr=False)

    @property
    def detections(self) -> Detections:
        """The data of the detections; a collection refuses an evaluation without them."""
        found = self.evaluation.detections
        assert found is not None
        return found

    @cached_property
    def table(self) -> MatchTable:
        """The match table, with near pairs. Rows of detections and objects are those of this table."""
        return self.evaluation.near_matches(min(_NEAR, *self.evaluation.protocol.iou_thresholds))

    @cached_property
    def best_score(self) -> float:
        """The score threshold with the best F1 at the protocol's main IoU threshold, as in the report."""
        return best_score(self.evaluation.matches)

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """(I + 1,) the first row of the detections of each image, and the number of all."""
        table = self.table
        return np.searchsorted(table.detections.image, np.arange(len(table.image_ids) + 1, dtype=np.uint32))

    def detections_of(self, at: int) -> slice:
        """The rows of the detections of the image at a position."""
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    @cached_property
    def sizes(self) -> Sizes:
        """(N,) how large each detection is."""
        return Sizes.of(self.table.detections.row, areas_of(self.detections), self.evaluation.protocol)

    @cached_property
    def overlaps(self) -> Overlaps:
        """The highest overlaps of detections and objects, whatever the thresholds."""
        return Overlaps.of(self.table)

    def level(self, at_iou: float) -> OutcomesByScore:
        """What holds at an IoU threshold; the last ones are kept.

        Raises:
            ValueError: If the protocol has no such threshold.
        """
        protocol = self.evaluation.protocol
        at = protocol.position_of_iou(at_iou)
        return self._levels.of(at, lambda: OutcomesByScore(self.table, protocol.iou_thresholds[at], self.overlaps))

    @cached_property
    def _bins_of_overlaps(self) -> npt.NDArray[np.uint8]:
        """(N,) the bin of the highest IoU of each detection."""
        overlaps = self.overlaps.of_detection
        rows, bins = np.flatnonzero(overlaps), np.zeros(len(overlaps), np.uint8)
        bins[rows] = bins_of(overlaps[rows], IOU_EDGES)
        return bins

    def iou_bins(self, level: OutcomesByScore) -> npt.NDArray[np.uint8]:
        """(N,) the bin of the IoU of each detection at an IoU threshold."""

        def make() -> npt.NDArray[np.uint8]:
            found: npt.NDArray[np.uint8] = self._bins_of_overlaps.copy()
            found[level.matched_detection] = bins_of(level.matched_iou, IOU_EDGES)
            return found

        return self._bins.of(f"iou {level.iou_threshold!r}", make)


@dataclass(frozen=True, eq=False)
class Collection:
    """The data of the viewer. Make it with :meth:`of`."""

    ground_truth: GroundTruth
    models: tuple[Model, ...]
    scene: Model
    """The first model; without models, an evaluation without detections, which has the rows of the objects."""
    folder: Path | None = None
    """The folder of the photographs."""
    values: Mapping[str, Value] = field(default_factory=dict)
    """Columns of images and objects by name: width, height, objects, attributes of the file, columns of the user's."""
    issues: Issues | None = None
    """Suspicious labels, if they were looked for."""
    annotators: tuple[str, str] | None = None
    """Who drew the objects and the detections, if these are regions of two annotators and none of them is the truth."""
    notes: tuple[str, ...] = ()
    """What a user should know: which attributes of the file are no columns."""
    selections: Recent[Any, Any] = field(default_factory=lambda: Recent(_KEPT), init=False, repr=False)
    """The last selections, see :func:`ioukit.viewer.answers.selecting.select`."""
    _bins: Recent[str, npt.NDArray[np.uint8]] = field(default_factory=lambda: Recent(_KEPT), init=False, repr=False)

    @classmethod
    def of(
        cls,
        ground_truth: GroundTruth,
        models: Mapping[str, Evaluation],
        *,
        folder: Path | None = None,
        columns: Sequence[Value] = (),
        issues: Issues | None = None,
        annotators: tuple[str, str] | None = None,
        iou_type: str = "bbox",
        protocol: Protocol | None = None,
    ) -> Collection:
        """Put together what the viewer shows.

        Args:
            ground_truth: The images and objects.
            models: The evaluations by the names of the models, up to three; they must hold their data. Evaluations
                with ``near=0.1`` need not be matched a second time, which saves memory and time.
            folder: The folder of the photographs, if there is one.
            columns: Further values of images or objects.
            issues: Suspicious labels.
            annotators: As in the collection.
            iou_type: The kind of region, if there is no model.
            protocol: The rules, if there is no model; those of the kind if ``None``.

        Raises:
            ValueError: If there are more than three models, if they were not evaluated alike or on other data than the
                ground truth, or if an evaluation holds a match table alone.
        """
        if len(models) > MOST_MODELS:
            raise ValueError(f"at most {MOST_MODELS} models can be shown, got {len(models)}")
        named = tuple(Model(name, evaluation) for name, evaluation in models.items())
        for one in named:
            _check(one, ground_truth)
        for other in named[1:]:
            check_same_ground_truth(named[0].evaluation, other.evaluation, names=(named[0].name, other.name))
        if named:
            scene = named[0]
        else:
            nothing = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
            scene = Model("", evaluate(ground_truth, nothing, iou_type=iou_type, protocol=protocol))
        collection = cls(ground_truth, named, scene, folder, issues=issues, annotators=annotators)
        notes: list[str] = []
        object.__setattr__(collection, "values", _by_name([*collection._values_of_data(notes), *columns]))
        object.__setattr__(collection, "notes", tuple(notes))
        return collection

    @property
    def table(self) -> MatchTable:
        """The match table of :attr:`scene`: the images and the objects of all models are its."""
        return self.scene.table

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self.table.protocol

    @property
    def categories(self) -> Categories:
        """(K,) the classes."""
        return self.table.categories

    @cached_property
    def class_keys(self) -> tuple[str, ...]:
        """(K,) how a filter names each class: by its name, or ``id:NUMBER`` if the name is not enough."""
        names = self.categories.names
        return tuple(
            name if names.count(name) == 1 and name != "background" and not name.startswith("id:") else f"id:{number}"
            for name, number in zip(names, self.categories.ids.tolist(), strict=True)
        )

    @cached_property
    def image_rows(self) -> npt.NDArray[np.intp]:
        """(I,) the position of each image in the ground truth's list."""
        return self.ground_truth.images.positions(self.table.image_ids)

    @cached_property
    def positions(self) -> npt.NDArray[np.intp]:
        """(I,) the position of each image of the ground truth's list."""
        return np.argsort(self.image_rows)

    @cached_property
    def has_tracks(self) -> bool:
        """Whether the objects and the detections of all models have track ids."""
        return bool(self.models) and all(has_tracks(self.ground_truth, one.detections) for one in self.models)

    @cached_property
    def frames(self) -> Frames:
        """The sequences of the ground truth's images, and their order.

        Raises:
            DatasetError: If an image has no sequence or no frame, and others have one.
        """
        return frames_of(self.ground_truth)

    @cached_property
    def extents(self) -> npt.NDArray[np.float64]:
        """(S, 2) how far the boxes of each sequence reach to the right and down; at least 1.

        Raises:
            DatasetError: As :attr:`frames`.
        """
        found = np.ones((len(self.frames.names), 2))
        ids = self.ground_truth.images.ids
        sides = [(self.ground_truth.image_ids, self.ground_truth.boxes)]
        sides += [(one.detections.image_ids_in(self.ground_truth.images), one.detections.boxes) for one in self.models]
        for image_ids, boxes in sides:
            sequence = self.frames.sequence[np.searchsorted(ids, image_ids)]
            np.maximum.at(found, sequence, np.nan_to_num(boxes[:, :2] + boxes[:, 2:]))
        return found

    @cached_property
    def image_names(self) -> list[str]:
        """(I,) the file names; the id where there is none."""
        named = self.ground_truth.images.names.take(self.image_rows)[:]
        return [name or str(number) for name, number in zip(named, self.table.image_ids.tolist(), strict=True)]

    @cached_property
    def folded_names(self) -> list[str]:
        """(I,) the file names for searches in which upper and lower case are alike."""
        return [name.casefold() for name in self.image_names]

    @cached_property
    def places_by_name(self) -> npt.NDArray[np.int64]:
        """(I,) the place of each image in the order of names."""
        order = sorted(range(len(self.image_names)), key=self.image_names.__getitem__)
        places = np.empty(len(order), np.int64)
        places[order] = np.arange(len(order))
        return places

    @cached_property
    def starts(self) -> npt.NDArray[np.int64]:
        """(I + 1,) the first row of the objects of each image, and the number of all."""
        return np.searchsorted(self.table.objects.image, np.arange(len(self.table.image_ids) + 1, dtype=np.uint32))

    def objects_of(self, at: int) -> slice:
        """The rows of the objects of the image at a position."""
        return slice(int(self.starts[at]), int(self.starts[at + 1]))

    @cached_property
    def sizes(self) -> Sizes:
        """(G,) how large each object is."""
        areas = self.ground_truth.areas
        return Sizes.of(self.table.objects.row, lambda rows: areas[rows], self.protocol)

    @cached_property
    def flags(self) -> tuple[str, ...]:
        """The flags that some object has, at most 8."""
        rows = self.table.objects.row
        return tuple(name for name, flag in self.ground_truth.flags.items() if flag[rows].any())[:8]

    @cached_property
    def flag_bits(self) -> npt.NDArray[np.uint8]:
        """(G,) the flags of each object: flag ``k`` of :attr:`flags` is bit ``k``."""
        bits, rows = np.zeros(len(self.table.objects), np.uint8), self.table.objects.row
        for at, name in enumerate(self.flags):
            bits |= self.ground_truth.flags[name][rows].astype(np.uint8) << at
        return bits

    @cached_property
    def score_range(self) -> tuple[float, float]:
        """The lowest and the highest score of all models; 0 and 1 without detections."""
        scores = [model.table.detections.score for model in self.models if len(model.table.detections)]
        if not scores:
            return 0.0, 1.0
        return float(min(one.min() for one in scores)), float(max(one.max() for one in scores))

    @cached_property
    def score_edges(self) -> npt.NDArray[np.float64]:
        """The edges of the histogram of scores."""
        return even_edges(*self.score_range)

    @cached_property
    def size_edges(self) -> npt.NDArray[np.float64]:
        """The edges of the histogram of sizes."""
        return size_edges(largest_of([self.sizes.size, *(model.sizes.size for model in self.models)]))

    def bins(self, key: str, model: Model | None = None) -> npt.NDArray[np.uint8]:
        """The bin of the size of each object, or of the size or score of each detection of a model.

        Args:
            key: ``"size"`` or ``"score"``.
            model: The model; the objects if ``None``.
        """
        of: Collection | Model = self if model is None else model

        def make() -> npt.NDArray[np.uint8]:
            if isinstance(of, Model) and key == "score":
                return bins_of(of.table.detections.score, self.score_edges)
            return bins_of(of.sizes.size, self.size_edges)

        return of._bins.of(key, make)

    def model_at(self, name: str | None) -> int:
        """The position of a model; the first one for ``None``.

        Raises:
            ValueError: If there is no such model.
        """
        names = [model.name for model in self.models]
        if name is None:
            return 0
        if name not in names:
            raise ValueError(f"no model is called {name!r}; there are {', '.join(map(repr, names)) or 'none'}")
        return names.index(name)

    def classes_called(self, name: str) -> list[int]:
        """The position of the class with an id if it is ``id:NUMBER``, else the positions of the classes of a name.

        Raises:
            ValueError: If there is none; the message offers similar names.
        """
        names = self.categories.names
        found = [at for at, number in enumerate(self.categories.ids.tolist()) if name == f"id:{number}"]
        found = found or [at for at, known in enumerate(names) if known == name]
        if not found:
            raise ValueError(f"no class is called {name!r}; there are {some_of(names, near_names(name, names))}")
        return found

    def _values_of_data(self, notes: list[str]) -> list[Value]:
        """Width, height and number of objects of each image, and the attributes of the file but those in the notes.

        What is known of objects is not there if these are the regions of an annotator: nothing is known of the others.
        """
        images, rows = self.ground_truth.images, self.image_rows
        found = [Value.of_numbers(name, "image", images.sizes[rows, at]) for at, name in enumerate(("width", "height"))]
        sides: dict[Any, tuple[Any, Any]] = {"image": (images.attributes, rows)}
        if self.annotators is None:
            found.append(Value.of_numbers("objects", "image", np.diff(self.starts)))
            sides["object"] = (self.ground_truth.attributes, self.table.objects.row)
        for of, (attributes, chosen) in sides.items():
            for name, values in attributes.items():
                if not _fits(values):
                    continue
                try:
                    found.append(_value(name, of, values, chosen))
                except LeftOutError as error:
                    notes.append(f"the attribute {name!r} of {of}s is left out: {error}")
        return found


def _check(model: Model, ground_truth: GroundTruth) -> None:
    """Refuse an evaluation whose rows are not those of the ground truth.

    Raises:
        ValueError: If it is one.
    """
    evaluation = model.evaluation
    rows = evaluation.matches.sources[0]
    if evaluation.ground_truth is None or evaluation.detections is None:
        raise ValueError(f"the evaluation of {model.name!r} holds a match table alone: evaluate the data again")
    if evaluation.ground_truth is not ground_truth and rows != len(ground_truth):
        raise ValueError(
            f"the model {model.name!r} was evaluated on other data: expected {len(ground_truth):,} objects, "
            f"got {rows:,}"
        )


def _by_name(values: Sequence[Value]) -> dict[str, Value]:
    """The columns by name. A later one takes the place of an earlier one of images or objects alike."""
    found: dict[str, Value] = {}
    for value in values:
        name = value.name
        if name in found and found[name].of != value.of:
            name = f"{name} ({value.of}s)"
        found[name] = replace(value, name=name) if name != value.name else value
    return found


def _fits(values: Any) -> bool:
    """Whether an attribute is one number, flag or text per row."""
    return isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "iufbU"


def _value(name: str, of: Any, values: npt.NDArray[Any], rows: npt.NDArray[Any]) -> Value:
    chosen = values[rows]
    if chosen.dtype.kind == "U":
        return Value.of_texts(name, of, chosen.tolist())
    if chosen.dtype.kind == "b":
        return Value(name, of, chosen.astype(np.int32), ("no", "yes"))
    return Value.of_numbers(name, of, chosen)


def best_score(table: MatchTable) -> float:
    """The score threshold with the best F1 of all classes at the main IoU threshold: ``score_curves(table).overall``'s.

    The lowest score if there is no true positive, as in the report; 0 without detections. F1 of ``n`` detections is at
    most ``2 G / (n + G)`` with ``G`` objects. So F1 at a thousand scores tells how many detections the best threshold
    can have at most, and only these are sorted.
    """
    if not len(table):
        return 0.0
    counted = ~table.is_ignored()
    found: npt.NDArray[np.bool_] = table.is_true_positive()[counted]
    score: npt.NDArray[np.float64] = table.detections.score[counted]
    objects = int(table.num_objects[:, table.protocol.position_of_area(table.protocol.main_area)].sum())
    if not found.any():
        return float(table.detections.score.min())
    order = np.argsort(-score[found])
    of_found = score[found][order]
    tried = np.unique(of_found[:: max(1, len(of_found) // _STEPS)])
    tp = np.searchsorted(-of_found, -tried, side="right")
    total = _at_least(score, tried)
    best = float((2 * tp / (total + objects)).max())
    most = min(len(score), math.ceil(2 * max(objects, len(of_found)) / best - objects) + 1)
    if most < len(score):
        least = np.partition(score, len(score) - most)[len(score) - most]
        score, found = score[score >= least], found[score >= least]
    order = np.argsort(-score, kind="stable")
    score, found = score[order], found[order]
    last = np.flatnonzero(np.append(score[1:] != score[:-1], True))
    tp = np.cumsum(found, dtype=np.int64)[last]
    return float(score[last[np.argmax(2 * tp / (last + 1 + objects))]])


def _at_least(score: npt.NDArray[np.float64], thresholds: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """How many scores reach each of some ascending thresholds."""
    below = np.zeros(len(thresholds) + 1, np.int64)
    for start in range(0, len(score), 1 << 18):
        below += np.bincount(
            np.searchsorted(thresholds, score[start : start + (1 << 18)], side="right"), minlength=len(below)
        )
    return np.cumsum(below[::-1])[::-1][1:]
