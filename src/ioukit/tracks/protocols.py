"""Protocols of tracking: which regions a benchmark leaves out before it counts, as data.

Owns: the rules of the benchmarks (`TrackProtocol`), how they are recognised in data, and the one step that follows the
rules, between the readers and `identities.py`. Does not own: what is counted of the regions that are left (the core).
No other file asks for the name of a protocol.

The rows that are left out are TrackEval's, ties included: the pairs of a frame are those of CLEAR in a sequence of one
frame, and the core finds both, in SciPy's order of equal costs. `tests/tracks/test_track_protocols.py` compares them.

Sources: Milan et al., MOT16: A Benchmark for Multi-Object Tracking, 2016; Dendorfer et al., MOT20, 2020; Geiger et al.,
Are we ready for Autonomous Driving?, CVPR 2012; Sun et al., DanceTrack, CVPR 2022; Cui et al., SportsMOT, ICCV 2023;
and the data sets of https://github.com/JonathonLuiten/TrackEval for what the papers leave open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._register import Register
from ioukit.errors import DatasetError
from ioukit.tracks.federated import lists_of_videos
from ioukit.tracks.identities import corners_of, rows_by_frame
from ioukit.tracks.mask_sides import MaskSides
from ioukit.tracks.measures import EPSILON, MATCH_THRESHOLD
from ioukit.tracks.tubes import TubeRules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit._array_types import Flags, Ids, Positions, Rows
    from ioukit.datasets import Categories, Detections, GroundTruth
    from ioukit.tracks.identities import FrameRows
    from ioukit.tracks.sequences import Frames

BOXES = "bbox"
"""The kind of region that benchmarks of boxes compare."""
_MASKS = "segm"
_MAINS = ("HOTA", "MOTA", "sMOTA", "IDF1")
"""What may be the main number of any protocol, as every one counts it."""


@dataclass(frozen=True, kw_only=True)
class TrackProtocol:
    """What a benchmark of trackers evaluates, and which regions it leaves out before.

    In each frame, the objects and the detections of a class become pairs with an IoU of at least 0.5, one to one and
    with the highest sum. Then the rules below decide which regions count. Names of classes are the same in upper and
    lower case, and with ``_`` in the place of spaces. Change one that exists with :func:`dataclasses.replace`.
    """

    name: str
    """Its name in messages."""
    iou_type: str = BOXES
    """The kind of region that is compared if a user names none. A protocol with classes, or one that counts J
    and F, compares no other kind."""
    classes: tuple[str, ...] = ()
    """The classes that are evaluated; all if empty. Objects and detections of other classes do not count."""
    distractors: tuple[tuple[str, str], ...] = ()
    """Pairs of an evaluated class and another one. A detection of the first does not count if its pair is an object of
    the second."""
    all_classes_match: bool = False
    """Whether objects of all classes become pairs, and so keep detections from others; else those of the class and of
    its distractors."""
    ignored_flags: tuple[str, ...] = ()
    """Objects with one of these flags do not count. The detections on them do."""
    limits: tuple[tuple[str, float], ...] = ()
    """Attributes and their highest values, in whole numbers. An object with a higher one does not count, nor does the
    detection that is its pair."""
    region_classes: tuple[str, ...] = ()
    """Objects of these classes are regions. A detection without a pair does not count if more than half of it is in
    one; a mask, in all of its frame together."""
    region_flags: tuple[str, ...] = ()
    """Objects with one of these flags are regions, too."""
    least_height: float | None = None
    """Detections without a pair that are not higher than this, in pixels, do not count."""
    federated: bool = False
    """Whether each video lists the classes that were looked for and are absent (``neg_category_ids``), and those of
    which not all objects are labelled (``not_exhaustive_category_ids``), as TAO's. Classes with an object are
    evaluated. A detection does not count if its image has no object of any class; if the image has none of its class,
    and the class is not listed as absent; or if it has no pair, and the class is listed as not fully labelled."""
    most_detections: int | None = None
    """Only so many detections of an image count, the surest ones; all if ``None``. For a protocol that is federated."""
    left_out_ids: tuple[int, ...] = ()
    """Ids of classes that are not evaluated, and whose objects are no labels. For a protocol that is federated."""
    merged_ids: tuple[tuple[int, int], ...] = ()
    """Pairs of ids of classes, of which the first counts as the second, beside those that the categories list as
    ``merged``. For a protocol that is federated."""
    classes_of_objects: bool = False
    """Whether a detection has the class of the object with its track id in its sequence, and does not count without
    one. All others count, whatever classes the lists of their video have. For a protocol that is federated."""
    tubes: TubeRules | None = None
    """How AP of whole tracks is counted; not at all if ``None``."""
    j_and_f: bool = False
    """Whether J and F are counted, as :func:`ioukit.tracks.evaluate_j_and_f` does. For a protocol of masks."""
    objects_are_given: bool = False
    """Whether a tracker gets the masks of the first frame. For J and F, an object's pair is then the track with its
    id, and the first and the last frame of a sequence do not count. For a protocol that counts J and F."""
    main: str = "HOTA"
    """The main number of the benchmark: it decides which of two is better, and leads tables."""
    sequences: str = ""
    """A pattern (regular expression) of the names of its sequences, by which the benchmark is recognised; empty if
    names do not tell."""
    flag: str = ""
    """A flag of objects by which the benchmark is recognised, whatever its sequences are called."""
    reference: str = ""
    """Where the rules come from."""

    def __post_init__(self) -> None:
        """Refuse rules without classes, which all kinds of regions would have to follow, and distractors of others."""
        rules = (self.ignored_flags, self.limits, self.region_classes, self.region_flags)
        if not self.classes and (any(rules) or self.least_height is not None):
            raise ValueError("a protocol that leaves regions out must name its classes")
        if self.iou_type not in (BOXES, _MASKS) or (self.iou_type == _MASKS and self.least_height is not None):
            raise ValueError(f"iou_type must be {BOXES!r}, or {_MASKS!r} without least_height, got {self.iou_type!r}")
        if self.j_and_f and self.iou_type != _MASKS:
            raise ValueError(f"a protocol that counts J and F compares masks, {_MASKS!r}, got {self.iou_type!r}")
        if self.objects_are_given and not self.j_and_f:
            raise ValueError("objects_are_given is a rule of J and F, which the protocol does not count")
        mains = (*_MAINS, *(("AP_all",) if self.tubes else ()), *(("J&F",) if self.j_and_f else ()))
        if self.main not in mains:
            raise ValueError(f"main must be a number that the protocol counts, {' or '.join(mains)}, got {self.main!r}")
        wrong = [name for name, _ in self.distractors if name not in self.classes]
        if wrong:
            raise ValueError(f"distractors must be of a class that is evaluated, got {wrong[0]!r}")
        alone = self.most_detections is not None or self.left_out_ids or self.merged_ids or self.classes_of_objects
        if self.federated if self.classes else alone and not self.federated:
            raise ValueError(
                "a federated protocol names no classes, and it alone can limit the detections of an image, or have "
                "left_out_ids, merged_ids or classes_of_objects"
            )

    def takes(self, iou_type: str) -> bool:
        """Whether the rules can be followed where this kind of region is compared."""
        return iou_type == self.iou_type or not (self.classes or self.j_and_f)

    def places(self, categories: Categories) -> Positions:
        """The positions of the evaluated classes among those of a data set."""
        if not self.classes:
            return np.flatnonzero(~np.isin(categories.ids, self.left_out_ids))
        return np.flatnonzero(_named(categories, self.classes))

    def distractors_of(self, name: str) -> list[str]:
        """The classes that are distractors of a class."""
        return [other for one, other in self.distractors if _plain(one) == _plain(name)]


PLAIN = TrackProtocol(name="plain")
"""Nothing is left out, and every class is evaluated for itself."""

_PEDESTRIAN = "pedestrian"
_MOT = "Milan et al., 2016, arXiv:1603.00831; TrackEval 1.3.0, MotChallenge2DBox"


def _mot(name: str, *distractors: str, sequences: str = "", reference: str = _MOT) -> TrackProtocol:
    """A protocol of MOTChallenge with its distractors."""
    return TrackProtocol(
        name=name,
        classes=(_PEDESTRIAN,),
        distractors=tuple((_PEDESTRIAN, other) for other in distractors),
        all_classes_match=True,
        ignored_flags=("ignore",),
        sequences=sequences,
        reference=reference,
    )


_DISTRACTORS = ("person on vehicle", "static person", "distractor", "reflection")
MOT15 = _mot("MOT15", reference="Leal-Taixé et al., 2015, arXiv:1504.01942; TrackEval 1.3.0, MotChallenge2DBox")
"""2D MOT 2015: there are no other classes, so only the objects whose ``conf`` is 0 are left out."""
MOT16 = _mot("MOT16", *_DISTRACTORS, sequences=r"MOT16-\d\d\b")
"""MOT16: pedestrians; detections on persons that sit, stand still or are mirrored do not count."""
MOT17 = _mot("MOT17", *_DISTRACTORS, sequences=r"MOT17-\d\d\b")
"""MOT17: the rules of MOT16."""
MOT20 = _mot(
    *("MOT20", *_DISTRACTORS, "non motorized vehicle"),
    sequences=r"MOT20-\d\d\b",
    reference="Dendorfer et al., 2020, arXiv:2003.09003; TrackEval 1.3.0, MotChallenge2DBox",
)
"""MOT20: the rules of MOT16, with vehicles without a motor as distractors."""
DANCETRACK = _mot(
    *("DanceTrack", *_DISTRACTORS),
    sequences=r"dancetrack\d{4}\b",
    reference="Sun et al., 2022, arXiv:2111.14690, which runs TrackEval with the rules of MOT17",
)
"""DanceTrack: the rules of MOT17; its files have nothing that they leave out."""
SPORTSMOT = _mot(
    *("SportsMOT", *_DISTRACTORS),
    reference="Cui et al., 2023, arXiv:2304.05170, which runs TrackEval with the rules of MOT17",
)
"""SportsMOT: the rules of MOT17; its files have nothing that they leave out."""
KITTI = TrackProtocol(
    name="KITTI",
    classes=("Car", "Pedestrian"),
    # Files of tracking call it Person, those of detection Person_sitting.
    distractors=(("Car", "Van"), ("Pedestrian", "Person"), ("Pedestrian", "Person_sitting")),
    limits=(("truncated", 0), ("occluded", 2)),
    region_classes=("DontCare",),
    least_height=25,
    flag="dont_care",
    reference="Geiger et al., CVPR 2012; TrackEval 1.3.0, Kitti2DBox",
)
"""KITTI's tracking in images: cars and pedestrians."""
BDD100K = TrackProtocol(
    name="BDD100K",
    classes=("pedestrian", "rider", "car", "bus", "truck", "train", "motorcycle", "bicycle"),
    region_classes=("other person", "trailer", "other vehicle"),
    region_flags=("crowd", "Crowd"),
    reference="Yu et al., CVPR 2020, arXiv:1805.04687; TrackEval 1.3.0, BDD100K",
)
"""BDD100K: eight classes; crowds and other objects are regions."""
MOTS = TrackProtocol(
    name="MOTS",
    iou_type=_MASKS,
    classes=(_PEDESTRIAN,),
    region_classes=("ignore",),
    sequences=r"MOTS20-\d\d\b",
    reference="Voigtlaender et al., CVPR 2019, arXiv:1902.03604; TrackEval 1.3.0, MOTSChallenge",
)
"""MOTS Challenge: masks of pedestrians; class 10 is the region in which results do not count."""
KITTI_MOTS = TrackProtocol(
    name="KITTI-MOTS",
    iou_type=_MASKS,
    classes=("car", _PEDESTRIAN),
    region_classes=("ignore",),
    flag="ignore_region",
    reference="Voigtlaender et al., CVPR 2019, arXiv:1902.03604; TrackEval 1.3.0, KittiMOTS",
)
"""KITTI MOTS: the same for cars and pedestrians."""
TAO = TrackProtocol(
    name="TAO",
    federated=True,
    most_detections=300,
    tubes=TubeRules(areas=(32**2, 96**2), lengths=(3, 10)),
    main="AP_all",
    reference="Dave et al., ECCV 2020, arXiv:2005.10356; TrackEval 1.3.0, TAO",
)
"""TAO: each class in the videos in which it was looked for."""
BURST = replace(
    TAO,
    name="BURST",
    iou_type=_MASKS,
    main="HOTA",
    # The distractors of Liu et al., Opening up Open-World Tracking, CVPR 2022, arXiv:2104.11221.
    left_out_ids=(
        *(20, 63, 108, 180, 188, 204, 212, 247, 303, 403, 407, 415, 490, 504, 507, 513, 529, 567, 569, 588, 672, 691),
        *(702, 708, 711, 720, 736, 737, 798, 813, 815, 827, 831, 851, 877, 883, 912, 971, 976, 1130, 1133, 1134),
        *(1169, 1184, 1220),
    ),
    # Glasses and mugs are cups, bags of plastic and for shopping are grocery bags, and so on.
    merged_ids=((504, 347), (720, 347), (912, 529), (967, 529), (207, 554), (153, 943), (201, 1175)),
    reference="Athar et al., WACV 2023, arXiv:2209.12118; TrackEval 1.3.0, BURST",
)
"""BURST: the rules of TAO for masks, without distractors. Ids of classes are those of TAO, which BURST's files have."""
BURST_EXEMPLAR_GUIDED = replace(BURST, name="BURST-exemplar-guided", classes_of_objects=True)
"""BURST's task in which the first mask, box or point of each object is given, and results have its track id."""

YOUTUBE_VIS = TrackProtocol(
    name="YouTube-VIS",
    iou_type=_MASKS,
    tubes=TubeRules(areas=(128**2, 256**2), of_files=True),
    main="AP_all",
    reference="Yang et al., ICCV 2019, arXiv:1905.04804; TrackEval 1.3.0, YouTubeVIS",
)
"""YouTube-VIS: masks, and AP of whole tracks."""

DAVIS = TrackProtocol(
    name="DAVIS",
    iou_type=_MASKS,
    j_and_f=True,
    flag="void",
    main="J&F",
    reference="Perazzi et al., CVPR 2016; Pont-Tuset et al., 2017, arXiv:1704.00675; TrackEval 1.3.0, JAndF",
)
"""DAVIS: masks, and J and F of each object."""
DAVIS_SEMI_SUPERVISED = replace(
    DAVIS,
    name="DAVIS-semi-supervised",
    objects_are_given=True,
    flag="",
    reference="Pont-Tuset et al., 2017, arXiv:1704.00675; davis2017-evaluation, the task semi-supervised",
)
"""DAVIS' task in which the masks of the first frame are given, and results have their ids."""

TRACK_PROTOCOLS: Register[TrackProtocol] = Register("protocol of tracks")
"""The protocols of tracking by name, in lower case."""
for _one in (
    PLAIN, MOT15, MOT16, MOT17, MOT20, DANCETRACK, SPORTSMOT, KITTI, BDD100K, MOTS, KITTI_MOTS, TAO, BURST,
    BURST_EXEMPLAR_GUIDED, YOUTUBE_VIS, DAVIS, DAVIS_SEMI_SUPERVISED,
):  # fmt: skip
    TRACK_PROTOCOLS.add(_one.name.lower(), _one)


def track_protocol_of(given: TrackProtocol | str, iou_type: str | None) -> TrackProtocol:
    """A protocol, given by itself or by its name, in upper or lower case.

    Args:
        given: The protocol, or its name.
        iou_type: What is compared; what the protocol compares if ``None``.

    Raises:
        ValueError: If no protocol has this name, or it is not for what is compared.
        TypeError: If it is neither.
    """
    if not isinstance(given, str | TrackProtocol):
        raise TypeError(f"protocol must be a TrackProtocol, or the name of one, got {type(given).__name__}")
    protocol = TRACK_PROTOCOLS.find(given.lower()) if isinstance(given, str) else given
    if iou_type is not None and not protocol.takes(iou_type):
        what = "upright boxes" if protocol.iou_type == BOXES else "masks"
        raise ValueError(f"the protocol {protocol.name} compares {what}, {protocol.iou_type!r}, and not {iou_type!r}")
    return protocol


def known_protocol(
    gt: GroundTruth, sequence_names: Sequence[str], iou_type: str | None, categories: Ids | None, *, scored: bool
) -> TrackProtocol:
    """The protocol of the benchmark that a data set is from; :data:`PLAIN` if the data do not say it.

    Args:
        gt: The ground truth.
        sequence_names: The names of its sequences. A single one may have its name from its folder.
        iou_type: What is compared; what the protocol compares if ``None``.
        categories: The ids of the classes that a user asked for, if any. Who asks for classes that the benchmark does
            not evaluate gets :data:`PLAIN`.
        scored: Whether the result has scores, which AP of whole tracks needs.
    """
    place = Path(gt.source)
    folders = (place.resolve() if place.exists() else place).parts if len(sequence_names) == 1 else ()
    for protocol in TRACK_PROTOCOLS.values():
        by_name = protocol.sequences and (
            all(re.match(protocol.sequences, name) for name in sequence_names)
            or any(re.match(protocol.sequences, name) for name in folders)
        )
        by_lists = (
            protocol.federated
            and scored
            and not protocol.classes_of_objects
            and lists_of_videos(gt, masks=protocol.iou_type == _MASKS)
        )
        if not by_name and not by_lists and protocol.flag not in gt.flags:
            continue
        if iou_type not in (None, protocol.iou_type) or (protocol.iou_type == _MASKS and "Masks" not in gt.regions):
            continue
        evaluated = gt.categories.ids[protocol.places(gt.categories)]
        if len(evaluated) and (categories is None or np.isin(categories, evaluated).all()):
            return protocol
    return PLAIN


class KeptRows(NamedTuple):
    """Which rows of both sides count."""

    objects: Flags
    """(G,)"""
    found: Flags
    """(D,)"""


def kept_rows(
    protocol: TrackProtocol,
    gt: GroundTruth,
    dt: Detections,
    chosen: Categories,
    frames: Frames,
    images: tuple[Positions, Positions],
    threads: int,
) -> KeptRows:
    """The objects and detections that count.

    Args:
        protocol: The rules.
        gt: The objects.
        dt: The result.
        chosen: The classes that are evaluated.
        frames: The frames.
        images: The position of the image of each row of both sides.
        threads: How many threads; 0 for all cores.

    Raises:
        DatasetError: If the objects lack an attribute that the protocol needs.
    """
    kept = KeptRows(np.isin(gt.category_ids, chosen.ids), np.isin(dt.category_ids, chosen.ids))
    is_region = np.isin(gt.category_ids, gt.categories.ids[_named(gt.categories, protocol.region_classes)])
    is_region |= _has_flag(gt, protocol.region_flags)
    distractors = {
        number: gt.categories.ids[_named(gt.categories, protocol.distractors_of(name))]
        for number, name in zip(chosen.ids.tolist(), chosen.names, strict=True)
    }
    can_match = np.isin(gt.category_ids, np.concatenate([chosen.ids, *distractors.values()]))
    is_beyond = _beyond_limits(protocol, gt, can_match & ~is_region)
    places = frames.place[images[0]], frames.place[images[1]]
    sides_of = MaskSides if protocol.iou_type == _MASKS else _Boxes
    sides = sides_of(gt, dt, is_region, places, threads)
    in_all_frames = is_region.any() or protocol.least_height is not None
    for number, others in distractors.items():
        is_other = np.isin(gt.category_ids, others)
        takes = is_other | is_beyond
        if not in_all_frames and not takes.any():
            continue
        matching = ~is_region & (protocol.all_classes_match | is_other | (gt.category_ids == number))
        if not in_all_frames:  # frames without an object that takes its detection away keep all of them
            matching &= np.isin(places[0], places[0][takes])
        of_object, of_found = sides.pairs(
            rows_by_frame(gt, np.flatnonzero(matching), places[0], len(frames.images)),
            rows_by_frame(dt, np.flatnonzero(dt.category_ids == number), places[1], len(frames.images)),
        )
        kept.found[of_found[takes[of_object]]] = False
        is_alone = np.isin(dt.category_ids, number)
        is_alone[of_found] = False
        alone = np.flatnonzero(is_alone)
        out = sides.are_covered(alone)
        if protocol.least_height is not None:
            corners = corners_of(dt, alone)
            out |= corners[:, 3] - corners[:, 1] <= protocol.least_height + EPSILON
        kept.found[alone[out]] = False
    kept.objects[_has_flag(gt, protocol.ignored_flags) | is_beyond | is_region] = False
    return kept


def _plain(name: str) -> str:
    return name.casefold().replace("_", " ")


def _named(categories: Categories, names: Sequence[str]) -> Flags:
    """(K,) whether each class has one of these names."""
    wanted = set(map(_plain, names))
    return np.array([_plain(name) in wanted for name in categories.names], np.bool_)


def _has_flag(gt: GroundTruth, flags: Sequence[str]) -> Flags:
    """(G,) whether each object has one of these flags."""
    found = np.zeros(len(gt), np.bool_)
    for name in flags:
        found |= gt.flag(name)
    return found


def _beyond_limits(protocol: TrackProtocol, gt: GroundTruth, rows: Flags) -> Flags:
    """(G,) whether each object that can match has a value of an attribute above its limit.

    Raises:
        DatasetError: If such an object has no value.
    """
    found = np.zeros(len(gt), np.bool_)
    for name, highest in protocol.limits:
        values: Any = gt.attributes.get(name)
        if values is None or values.ndim != 1 or values.dtype.kind not in "iufb":
            if not rows.any():
                continue
            raise DatasetError(
                f"{gt.source}: annotations: the protocol {protocol.name} expects the attribute {name}, a number for "
                f"each object, found {'none' if values is None else 'something else'}"
            )
        lacks = rows & np.isnan(values.astype(np.float64))
        if lacks.any():
            raise DatasetError(
                f"{gt.source}: annotations[{lacks.argmax()}].{name}: the protocol {protocol.name} expects a number, "
                "found none"
            )
        found |= rows & (np.trunc(values) > highest)  # TrackEval reads whole numbers: 0.5 is 0
    return found


class _Boxes:
    """Upright boxes of both sides, and those that are regions of images, which take detections away."""

    def __init__(
        self,
        gt: GroundTruth,
        dt: Detections,
        is_region: Flags,
        places: tuple[Positions, Positions],
        threads: int,
    ) -> None:
        """Take both sides, which objects are regions, and the places of the frames of both."""
        self._dt, self._places, self._threads = dt, places[1], threads
        order = np.argsort(places[0][is_region], kind="stable")
        self._corners, self._frames = corners_of(gt, is_region)[order], places[0][is_region][order]

    def pairs(self, objects: FrameRows, found: FrameRows) -> tuple[Rows, Rows]:
        """The rows of objects and detections that are pairs in their frame."""
        of_objects, of_found = _core.pair_frames(objects[1], found[1], MATCH_THRESHOLD, self._threads)
        return objects[0][of_objects], found[0][of_found]

    def are_covered(self, rows: Rows) -> Flags:
        """(N,) whether more than half of each of these detections lies in one of the regions of its frame."""
        corners, places = corners_of(self._dt, rows), self._places[rows]
        first, last = (np.searchsorted(self._frames, places, side=side) for side in ("left", "right"))
        counts = last - first
        box = np.repeat(np.arange(len(corners)), counts)
        region = np.arange(len(box)) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(first, counts)
        ones, others = corners[box], self._corners[region]
        sides = np.minimum(ones[:, 2:], others[:, 2:]) - np.maximum(ones[:, :2], others[:, :2])
        common = np.maximum(sides, 0).prod(axis=1)
        areas = (ones[:, 2:] - ones[:, :2]).prod(axis=1)
        covered = np.zeros(len(corners), np.bool_)
        with np.errstate(divide="ignore", invalid="ignore"):
            covered[box[(areas > EPSILON) & (common / areas > MATCH_THRESHOLD + EPSILON)]] = True
        return covered
