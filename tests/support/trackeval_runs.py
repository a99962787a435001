"""TrackEval run on the same regions and ids, without its files and folders."""

from __future__ import annotations

import contextlib
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    from ioukit.tracks import TrackEvaluation, TrackNumbers
    from support.random_tracks import Rows, TrackSet


def trackeval() -> Any:
    """The module; a test that asks for it skips where it is not installed."""
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that BURST lacks a package
        return pytest.importorskip("trackeval")


def named(result: dict[str, Any]) -> dict[str, Any]:
    """Numbers of all measures by the names that ioukit has for them."""
    values = {**result["HOTA"], **result["CLEAR"], **result["Identity"], **result["Count"]}
    values |= {name: result["VACE"][name] for name in ("ATA", "SFDA")}
    tubes = {name: value for name, value in result.get("TrackMAP", {}).items() if str(name)[:3] in ("AP_", "AR_")}
    values |= {name: np.where(np.equal(value, -1), np.nan, value) for name, value in tubes.items()}
    return {name.removeprefix("CLR_") if name != "CLR_Frames" else name: value for name, value in values.items()}


def differences(ours: TrackNumbers, theirs: dict[str, Any]) -> list[str]:
    """The names of numbers that differ in a bit."""
    values: dict[str, Any] = {**ours, **ours.curves}
    expected = named(theirs)
    assert len(expected) > 30
    wrong = [
        name
        for name, value in expected.items()
        if name in values and not np.array_equal(values[name], value, equal_nan=True)
    ]
    means = [
        name
        for name, value in ours.items()
        if name in ours.curves and not np.array_equal(value, np.mean(expected[name]), equal_nan=True)
    ]
    lacking = [name for name in ours if name not in expected and name != "Frames"]
    return [*wrong, *means, *lacking]


def all_measures() -> list[Any]:
    """TrackEval's measures that are compared."""
    quiet, metrics = {"PRINT_CONFIG": False}, trackeval().metrics
    return [metrics.HOTA(), metrics.CLEAR(quiet), metrics.Identity(quiet), metrics.Count(), _vace(metrics)]


class Run:
    """The numbers of all classes and sequences of a set, and of what TrackEval makes of them."""

    def __init__(self, given: TrackSet, classes: list[int], *, masks: bool = False) -> None:
        """Evaluate these classes, by boxes or by the masks of :func:`painted`."""
        package, self.masks = trackeval(), masks
        self.measures = all_measures()
        self.given = given
        self.sequences = sorted(given.lengths)
        self.parts = {
            (number, name): self._of_sequence(package, number, name) for number in classes for name in self.sequences
        }
        self.classes = {number: self._combined(number) for number in classes}
        self.det_average = self._over("combine_classes_det_averaged", self.classes)
        self.class_average = self._over("combine_classes_class_averaged", self.classes)

    def _of_sequence(self, package: Any, number: int, name: str) -> dict[str, Any]:
        place, length = list(self.given.lengths).index(name), self.given.lengths[name]
        objects, found = (_of_class(rows, place, number) for rows in (self.given.objects, self.given.found))
        data: dict[str, Any] = {"num_timesteps": length, "seq": name}
        boxes = {}
        for side, rows in (("gt", objects), ("tracker", found)):
            ids, numbers = np.unique(rows.tracks, return_inverse=True)
            in_frame = [np.flatnonzero(rows.frames == frame) for frame in range(length)]
            data[f"{side}_ids"] = [numbers[chosen] for chosen in in_frame]
            data[f"num_{side}_ids"], data[f"num_{side}_dets"] = len(ids), len(numbers)
            boxes[side] = [rows.boxes[chosen] for chosen in in_frame]
        data_set = package.datasets.MotChallenge2DBox
        if self.masks:
            boxes = {side: [painted(one) for one in frames] for side, frames in boxes.items()}
        overlap = data_set._calculate_mask_ious if self.masks else data_set._calculate_box_ious
        data["similarity_scores"] = [
            np.ascontiguousarray(overlap(*pair)) for pair in zip(boxes["gt"], boxes["tracker"], strict=True)
        ]
        return {measure.get_name(): measure.eval_sequence(data) for measure in self.measures}

    def _combined(self, number: int) -> dict[str, Any]:
        return self._over("combine_sequences", {name: self.parts[number, name] for name in self.sequences})

    def _over(self, method: str, parts: dict[Any, dict[str, Any]]) -> dict[str, Any]:
        return {
            measure.get_name(): getattr(measure, method)({key: part[measure.get_name()] for key, part in parts.items()})
            for measure in self.measures
        }

    def of_all_classes(self, name: str) -> dict[str, Any]:
        """The numbers of a sequence, over its classes."""
        return self._over("combine_classes_det_averaged", {one: self.parts[one, name] for one in self.classes})


def _vace(measures: Any) -> Any:
    """VACE, whose division of whole numbers by 0 is NaN here, as its division of floats is there."""

    class WithoutErrors(measures.VACE):  # type: ignore[misc]  # TrackEval has no types
        @staticmethod
        def _compute_final_fields(additive: dict[str, Any]) -> Any:
            floats = {name: np.float64(value) for name, value in additive.items()}
            return measures.VACE._compute_final_fields(floats)

        def get_name(self) -> str:
            return "VACE"

    return WithoutErrors()


def painted(boxes: np.ndarray) -> np.ndarray:
    """(N, 48, 48) the ellipses in these boxes as pixels. Small boxes, and those outside, have none."""
    middle, half = boxes[:, :2] + boxes[:, 2:] / 2, np.maximum(boxes[:, 2:] / 2, 1e-9)
    pixels = np.arange(48) + 0.5
    across, down = ((pixels - middle[:, [axis]]) / half[:, [axis]] for axis in (0, 1))
    return np.asarray(across[:, np.newaxis, :] ** 2 + down[:, :, np.newaxis] ** 2 <= 1, np.uint8)


def _of_class(rows: Rows, sequence: int, number: int) -> Rows:
    chosen = (rows.sequences == sequence) & (rows.classes == number)
    return type(rows)(*(column[chosen] for column in rows))


def numbers_of(data: Any, **tubes: Any) -> Any:
    """A data set's numbers by class and sequence, by class, and both averages over classes; the options of TrackMAP."""
    measures = [*all_measures(), trackeval().metrics.TrackMAP({"PRINT_CONFIG": False, **tubes})]
    parts: dict[str, dict[str, Any]] = {}
    for name in sorted(data.seq_list):
        with contextlib.redirect_stdout(io.StringIO()):
            raw = data.get_raw_seq_data(".", name)
            for one in data.class_list:
                sequence = data.get_preprocessed_seq_data(raw, one)
                parts.setdefault(one, {})[name] = {
                    measure.get_name(): measure.eval_sequence(sequence) for measure in measures
                }

    def over(method: str, given: dict[str, Any]) -> dict[str, Any]:
        return {
            measure.get_name(): getattr(measure, method)(
                {name: part[measure.get_name()] for name, part in given.items()}
            )
            for measure in measures
        }

    classes = {one: over("combine_sequences", given) for one, given in parts.items()}
    means = [over(f"combine_classes_{name}_averaged", classes) for name in ("det", "class")]
    return parts, classes, means


def all_differences(ours: TrackEvaluation, expected: Any) -> list[str]:
    """The names of numbers that differ in a bit, of :func:`numbers_of`."""
    parts, classes, means = expected
    assert [one.name for one in ours.per_class] == [*classes]
    found: list[str] = []
    for one in ours.per_class:
        assert "AP_area_l" in one.summary
        found += differences(one.summary, classes[one.name])
        for name, numbers in one.sequences.items():
            found += differences(numbers, parts[one.name][name.replace("/", "-")])
    for numbers, mean in zip((ours.summary, ours.class_average), means, strict=True):
        found += differences(numbers, mean)
    return found
