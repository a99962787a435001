"""Sets of keypoints by name, each with its published sigmas, and sets that a user's file describes.

Owns the numbers of the sets and the form of a file. Does not own the similarity (keypoints.py). A set is a kind of
region: ``keypoints-`` and its name.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ioukit._near_names import unknown_name
from ioukit.evaluation.kinds.keypoints import keypoints_kind
from ioukit.evaluation.kinds.registry import REGION_KINDS
from ioukit.evaluation.protocols.crowdpose import CROWDPOSE as CROWDPOSE_RULES
from ioukit.evaluation.protocols.own import PROTOCOL_FILES, fields_of_file

if TYPE_CHECKING:
    from ioukit.evaluation.kinds.kind import Kind

_PREFIX = "keypoints-"
_OWN_SETS: dict[str, Path] = {}
"""The files behind the kinds that were read from files, by the names of the kinds."""


def _thousandths(numbers: str) -> list[float]:
    return [int(number) / 1000 for number in numbers.split()]


# Li et al., CrowdPose, CVPR 2019: shoulders, elbows, wrists, hips, knees, ankles, head and neck. The sigmas: mmpose
# (configs/_base_/datasets/crowdpose.py), which gives them to xtcocotools; 0.53 of the box: xtcocotools 1.14.3.
CROWDPOSE = keypoints_kind(
    "keypoints-crowdpose",
    _thousandths("79 79 72 72 62 62 107 107 87 87 89 89 79 79"),
    "CrowdPose's 14 keypoints of persons (OKS)",
    area_of_box=0.53,
    protocol=CROWDPOSE_RULES,
)
# Jin et al., Whole-Body Human Pose Estimation in the Wild, ECCV 2020: body, feet, face, left hand, right hand. The
# numbers: evaluation/myeval_wholebody.py of github.com/jin-s13/COCO-WholeBody.
_HAND = "29 22 35 37 47 26 25 24 35 18 24 22 26 17 21 21 32 20 19 22 31"
WHOLEBODY = keypoints_kind(
    "keypoints-wholebody",
    _thousandths(
        "26 25 25 35 35 79 79 72 72 62 62 107 107 87 87 89 89 68 66 66 92 94 94 "
        "42 43 44 43 40 35 31 25 20 23 29 32 37 38 43 41 45 13 12 11 11 12 12 11 11 13 15 9 7 7 7 12 9 8 16 10 17 11 9 "
        f"11 9 7 13 8 11 12 10 34 8 8 9 8 8 7 10 8 9 9 9 7 7 8 11 8 8 8 10 8 {_HAND} {_HAND}"
    ),
    "COCO-WholeBody's 133 keypoints of persons (OKS)",
)
# Yu et al., AP-10K, NeurIPS 2021. The paper has no sigmas; these are those of mmpose
# (configs/_base_/datasets/ap10k.py): COCO's numbers, nearly in its order.
AP10K = keypoints_kind(
    "keypoints-ap10k",
    _thousandths("25 25 26 35 35 79 79 72 72 62 62 107 107 87 87 89 89"),
    "AP-10K's 17 keypoints of animals (OKS)",
)


def find_keypoint_set(name: str) -> Kind:
    """The kind of region of a set of keypoints: a named one, or one from a file, which becomes a kind of its own.

    Args:
        name: ``"coco"``, ``"crowdpose"``, ``"wholebody"``, ``"ap10k"``; or the path of a TOML or JSON file with
            ``sigmas``, a positive number per keypoint, and, if the area of an object is a share of that of its box,
            this share as ``area_of_box``. The kind is called ``keypoints-`` and the name of the file.

    Raises:
        ValueError: If there is no such set, or the file has an error; the message names the file and the field.
        OSError: If the file cannot be read.

    Examples:
        >>> find_keypoint_set("crowdpose").name
        'keypoints-crowdpose'
    """
    named, path = names_of_sets(), Path(name)
    if path.suffix not in PROTOCOL_FILES:
        if name.lower() not in named:
            raise ValueError(f"{unknown_name('set of keypoints', name, named)}, or a TOML or JSON file with sigmas")
        return REGION_KINDS[named[name.lower()]]
    kind = _own_set(path)
    if kind.name in REGION_KINDS and _OWN_SETS.get(kind.name) != path:
        raise ValueError(f"{path}: expected a name that no set of keypoints has, found {path.stem!r}")
    _OWN_SETS[kind.name] = path
    REGION_KINDS[kind.name] = kind
    return kind


def names_of_sets() -> dict[str, str]:
    """The kinds of region that are sets of keypoints, by the names of the sets."""
    others = {kind.removeprefix(_PREFIX): kind for kind in REGION_KINDS if kind.startswith(_PREFIX)}
    return {"coco": "keypoints"} | others


def _own_set(path: Path) -> Kind:
    given = fields_of_file(path, "a set of keypoints")
    sigmas, share = given.pop("sigmas", None), given.pop("area_of_box", None)
    if given:
        raise ValueError(f"{path}: {next(iter(given))}: expected the fields sigmas and area_of_box alone")
    if not isinstance(sigmas, list) or not all(map(_is_number, sigmas)):
        found = "none" if sigmas is None else repr(sigmas)
        raise ValueError(f"{path}: sigmas: expected a list of positive numbers, one per keypoint, found {found}")
    if share is not None and not _is_number(share):
        raise ValueError(f"{path}: area_of_box: expected a number, found {share!r}")
    try:
        return keypoints_kind(_PREFIX + path.stem, sigmas, f"{len(sigmas)} keypoints of {path.name}", area_of_box=share)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
