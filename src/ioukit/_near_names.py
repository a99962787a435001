"""The names that are probably meant by an unknown name, for the end of a message."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


_MEANT = {
    "box": ("bbox",), "boxes": ("bbox",), "bboxes": ("bbox",), "detection": ("bbox",), "rect": ("bbox",),
    "mask": ("segm",), "masks": ("segm",), "seg": ("segm",), "segmentation": ("segm",), "instance": ("segm",),
    "keypoint": ("keypoints",), "pose": ("keypoints",), "kpts": ("keypoints",), "oks": ("keypoints",),
    "joints": ("keypoints",),
    "obb": ("rotated",), "rbox": ("rotated",), "quad": ("polygon",), "poly": ("polygon",),
    "3d": ("box3d", "bev"), "cuboid": ("box3d",), "birds-eye": ("bev",),
    "pascal": ("voc2012", "voc2007", "voc"), "pascal-voc": ("voc2012", "voc2007", "voc"),
    "pascalvoc": ("voc2012", "voc2007", "voc"), "voc": ("voc2012", "voc2007"), "oid": ("open-images", "openimages"),
    "yolov5": ("ultralytics", "yolo"), "yolov8": ("ultralytics", "yolo"), "yolo": ("ultralytics",),
    "yolo11": ("ultralytics", "yolo"), "darknet": ("yolo",), "dota": ("dota-task1",), "json": ("coco",),
    "cocojson": ("coco",), "coco-json": ("coco",), "coco": ("pycocotools",), "mscoco": ("coco",),
    "xml": ("voc",), "txt": ("yolo",),
    "map": ("AP",), "map50": ("AP50",), "map@50": ("AP50",), "map@0.5": ("AP50",), "ap@50": ("AP50",),
    "ap@0.5": ("AP50",), "ap@50:5:95": ("AP",), "map50-95": ("AP",), "map75": ("AP75",), "mar": ("AR100",),
    "confidence": ("score",), "conf": ("score",), "probability": ("score",), "prob": ("score",),
    "class": ("category_id",), "class-id": ("category_id",), "label": ("category_id",), "cls": ("category_id",),
    "pr-curve": ("precision_recall",), "pr": ("precision_recall",), "prc": ("precision_recall",),
    "coco2014": ("coco",), "coco2017": ("coco",), "coco-2017": ("coco",),
    "skip": ("drop", "skip"), "ignore": ("drop", "skip"),
}  # fmt: skip
"""What people call things: a name that is unknown here, and what it is here, if a list of names has it."""


def near_names(name: str, known: Iterable[str], most: int = 3, cutoff: float = 0.6) -> list[str]:
    """The known names that are meant or similar, the best first. Upper and lower case are equal, and so are - and _.

    Args:
        name: The unknown name.
        known: The names that there are.
        most: How many are returned at most.
        cutoff: The least similarity, by `difflib.get_close_matches`, whose defaults these two are.
    """
    import difflib  # noqa: PLC0415 - only for messages

    alike: dict[str, list[str]] = {}
    for one in known:
        alike.setdefault(one.casefold().replace("_", "-"), []).append(one)
    asked = name.casefold().replace("_", "-")
    meant = [one.casefold().replace("_", "-") for one in _MEANT.get(asked, ())]
    close = difflib.get_close_matches(asked, alike, n=most, cutoff=cutoff)
    return [one for key in ([key for key in meant if key in alike] or close) for one in alike[key]][:most]


def did_you_mean(names: Sequence[str]) -> str:
    """The end of a message that offers these names; empty if there are none."""
    return f"; did you mean {' or '.join(map(repr, names))}?" if names else ""


def suggest(name: str, known: Iterable[str], otherwise: str = "", most: int = 3) -> str:
    """The end of a message about an unknown name: the similar names, or other words if no name is similar."""
    return did_you_mean(near_names(name, known, most)) or (f"; {otherwise}" if otherwise else "")


class Answering:
    """A base of classes whose objects say what there is in place of a name that they do not have."""

    OTHER_WORDS: ClassVar[Mapping[str, str]] = {}
    """What a user writes who looks for a name of another tool, in lower case, by that name."""

    if not TYPE_CHECKING:  # type checkers know it without

        def __getattr__(self, name: str) -> Any:
            if hasattr(type(self), name):  # a property that raised an AttributeError: it is raised again
                return object.__getattribute__(self, name)
            missing = f"{type(self).__name__!r} object has no attribute {name!r}"
            if not name.startswith("_"):
                known = [one for one in dir(self) if not one.startswith("_")]
                meant = self.OTHER_WORDS.get(name.casefold())
                missing += did_you_mean([meant] if meant else near_names(name, known))
            raise AttributeError(missing)


def unknown_name(what: str, name: str, known: Iterable[str]) -> str:
    """A message about an unknown name, with the similar names and all."""
    known = tuple(known)
    near = suggest(name, known, most=2) if isinstance(name, str) else ""
    return f"unknown {what} {name!r}{f'{near} Else' if near else ';'} choose from {', '.join(known)}"


def near_files(path: str | os.PathLike[str]) -> list[str]:
    """At most three existing paths that are similar to `path`, the most similar first.

    Only the first part of the path that does not exist is replaced, by names from its folder.
    """
    from pathlib import Path  # noqa: PLC0415 - the first evaluation does not wait for it

    missing, rest = Path(path), Path()
    while missing.name and not os.path.lexists(missing.parent):
        missing, rest = missing.parent, missing.name / rest
    try:
        names = sorted(os.listdir(missing.parent))
    except OSError:
        return []
    found = [missing.parent / name / rest for name in near_names(missing.name, names)]
    return [str(one) for one in found if one.exists()]
