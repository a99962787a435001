"""By which rules a command evaluates: the options, the protocol and the kind of region that they choose.

Owns: `RuleOptions` (rules that may be changed) and `NamedRules` (rules as they are), the texts of their values, and
the choice of a kind of region where the files leave no doubt. Does not own: which values are right (`Protocol` checks).
"""

import os
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import typer

from ioukit._near_names import suggest
from ioukit.cli._arguments import RULES, complete_kind, complete_protocol, complete_sigmas
from ioukit.cli._errors import bad_value
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds import REGION_KINDS, find_kind
from ioukit.evaluation.matching import check_chosen_categories, default_protocol, notes_on_kind
from ioukit.evaluation.protocols import PROTOCOLS, find_protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ioukit.cli._streams import Talk
    from ioukit.datasets import Categories, Detections, GroundTruth
    from ioukit.evaluation import Kind, Protocol, Tool


# Upper end of COCO's range "all". Larger objects are ignored in every range, so infinity is replaced by this.
_LARGEST_AREA = 1e10

_KIND = f"What is compared: {', '.join(REGION_KINDS)}."
_RULES = f"The rules: {', '.join(PROTOCOLS)}, or a TOML file with your own."
_BY_KIND = "[default: by the kind of region]"

KindOption: TypeAlias = Annotated[
    str,
    typer.Option(
        "--iou-type", metavar="KIND", autocompletion=complete_kind, rich_help_panel=RULES, help=_KIND, show_default=True
    ),
]
ChosenClasses: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--classes", metavar="LIST", rich_help_panel=RULES, help="Evaluate only these classes, given by name or id."
    ),
]


FoundKindOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--iou-type",
        metavar="KIND",
        autocompletion=complete_kind,
        help=f"{_KIND} [default: bbox, or what the detections have instead of boxes]",
    ),
]


SigmasOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--sigmas",
        metavar="NAME|FILE",
        autocompletion=complete_sigmas,
        help="Compare keypoints of this set: coco, crowdpose, wholebody, ap10k, or a TOML or JSON file with `sigmas`.",
    ),
]


class NamedRules(NamedTuple):
    """What is evaluated, and by which rules as they are."""

    iou_type: FoundKindOption = None
    sigmas: SigmasOption = None
    protocol: Annotated[
        str | None, typer.Option(metavar="NAME|FILE", autocompletion=complete_protocol, help=f"{_RULES} {_BY_KIND}")
    ] = None

    def found(self) -> "tuple[Kind, Protocol]":
        """The kind of region, and the named protocol or the default of the kind.

        Raises:
            typer.BadParameter: If one of them is unknown. It names the option.
            OSError: If the file of the protocol cannot be read.
        """
        kind = kind_of(_given_kind(self.iou_type, self.sigmas) or "bbox")
        return kind, _named_protocol(self.protocol, kind, None)

    def of_data(self, gt: "GroundTruth", dt: "Detections", talk: "Talk") -> "tuple[Kind, Protocol]":
        """The same, with the kind of region found in the data if it is not given."""
        given = _given_kind(self.iou_type, self.sigmas)
        return _of_data(given, lambda kind: _named_protocol(self.protocol, kind, dt), gt, dt, talk)


class RuleOptions(NamedTuple):
    """What is evaluated, and by which rules; options may change them."""

    iou_type: FoundKindOption = None
    sigmas: SigmasOption = None
    protocol: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            autocompletion=complete_protocol,
            help=f"{_RULES} The options below change them. {_BY_KIND}",
        ),
    ] = None
    iou_thresholds: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="IoU thresholds: 0.5,0.75 or start:stop:step. [coco: 0.5:0.95:0.05]"),
    ] = None
    max_dets: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Best detections per image and class that count. [coco: 1,10,100]"),
    ] = None
    areas: Annotated[
        list[str] | None,
        typer.Option(metavar="LIST", help="Area ranges in pixels, name:low:high. [coco: all, small, medium, large]"),
    ] = None
    classes: ChosenClasses = None
    class_agnostic: Annotated[
        bool, typer.Option("--class-agnostic", help="Let a detection match an object of any class.")
    ] = False

    def kind(self) -> "Kind":
        """The kind of region that ``--iou-type`` or ``--sigmas`` names; boxes if neither is given."""
        return kind_of(_given_kind(self.iou_type, self.sigmas) or "bbox")

    def protocol_of(self, kind: "Kind", tool: "Tool | None" = None, dt: "Detections | None" = None) -> "Protocol":
        """The protocol for a kind of region: the named one, that of a tool, or the default, then changed.

        The default is that of the kind of region, and the one that does not rank if the detections have no scores.

        Raises:
            typer.BadParameter: If there is no such protocol, or the value of an option is wrong. It names the option.
            OSError: If the file of the protocol cannot be read.
        """
        protocol = _named_protocol(self.protocol, kind, dt)
        if tool is not None:
            with bad_value("--like"):
                protocol = tool.protocol(kind.name)
        changes: dict[str, Any] = {"class_agnostic": True} if self.class_agnostic else {}
        options: list[tuple[str, str, list[str] | None, Callable[[list[str]], Any]]] = [
            ("--iou-thresholds", "iou_thresholds", self.iou_thresholds, parse_thresholds),
            ("--max-dets", "max_dets", self.max_dets, parse_max_dets),
            ("--areas", "area_ranges", self.areas, parse_areas),
        ]
        for option, field, values, parse in options:
            if values is not None:
                with bad_value(option):
                    changes[field] = parse(values)
        with bad_value(None):
            return protocol.replace(**changes)

    def of_data(
        self, gt: "GroundTruth", dt: "Detections", talk: "Talk", tool: "Tool | None" = None
    ) -> "tuple[Kind, Protocol]":
        """The kind of region, found in data that have more than boxes if it is not given, and its protocol.

        A line says why another kind than boxes was chosen.
        """
        given = _given_kind(self.iou_type, self.sigmas)
        return _of_data(given, lambda kind: self.protocol_of(kind, tool, dt), gt, dt, talk)


def _given_kind(iou_type: str | None, sigmas: str | None) -> str | None:
    """The name of the kind that the options name; ``None`` if the data may choose it.

    Raises:
        typer.BadParameter: If there is no such set of keypoints, or another kind is given, too.
        OSError: If the file of the set cannot be read.
    """
    if sigmas is None:
        return iou_type
    from ioukit.evaluation import find_keypoint_set  # noqa: PLC0415 - for those who name a set

    with bad_value("--sigmas"):
        name = find_keypoint_set(sigmas).name
        if iou_type not in (None, "keypoints", name):
            raise ValueError(f"sigmas are of keypoints, so --iou-type must be keypoints or left out, got {iou_type}")
    return name


def _of_data(
    iou_type: str | None,
    protocol_of: "Callable[[Kind], Protocol]",
    gt: "GroundTruth",
    dt: "Detections",
    talk: "Talk",
) -> "tuple[Kind, Protocol]":
    kind = kind_of(iou_type or "bbox")
    protocol = protocol_of(kind)
    if iou_type is None and dt.regions:
        name, why = chosen_iou_type(gt, dt, protocol)
        if why:
            talk.say(why)
        kind = find_kind(name)
        protocol = protocol_of(kind)
    for note in notes_on_kind(kind, protocol):
        talk.say(f"note {note}")
    return kind, protocol


def kind_of(name: str) -> "Kind":
    """The kind of region that ``--iou-type`` names.

    Raises:
        typer.BadParameter: If there is no such kind.
    """
    with bad_value("--iou-type"):
        return find_kind(name)


def _named_protocol(name: str | None, kind: "Kind", dt: "Detections | None") -> "Protocol":
    with bad_value("--protocol"):
        if name is not None:
            return _find_protocol(name, kind)
        return kind.protocol if dt is None else default_protocol(kind, dt)


def check_scored_alike(protocol: str | None, models: "Sequence[Detections]") -> None:
    """Refuse models with and without scores where no protocol is named: what the first one has would decide for all.

    Raises:
        DatasetError: If only some of the models have scores.
    """
    scored = [dt for dt in models if dt.scored]
    if protocol is None and 0 < len(scored) < len(models):
        without = next(dt for dt in models if not dt.scored)
        raise DatasetError(
            f"{without.source}: the detections have no scores, and those of {scored[0].source} have: --protocol "
            "unranked counts all of both, so leave out first those with scores that are too low"
        )


def _find_protocol(name: str, kind: "Kind") -> "Protocol":
    if name.lower() in PROTOCOLS or not name.lower().endswith((".toml", ".json")):
        return find_protocol(name, kind.name)
    from ioukit.evaluation.protocols import read_protocol  # noqa: PLC0415 - for those who give a file

    return read_protocol(name)


def named_number(text: str, kind: "Kind") -> "tuple[Protocol, str | None]":
    """The protocol and the key of a measure, from `NAME`, `FILE` or `TOOL`, each with or without `:KEY` behind it.

    Raises:
        ValueError: If there is no such protocol or tool, or the file has an error.
        OSError: If the file cannot be read.
    """
    name, colon, key = text.rpartition(":")
    if not colon or not key or "/" in key or "\\" in key:  # a drive of Windows is no name
        name, key = text, ""
    if name.lower() in PROTOCOLS or name.lower().endswith((".toml", ".json")):
        return _find_protocol(name, kind), key or None
    from ioukit.evaluation import TOOLS, find_tool  # noqa: PLC0415 - for those who name a tool

    if not any(name.lower().replace("-", "_") == tool.replace("-", "_") for tool in TOOLS):
        tools = ", ".join(name for name, tool in TOOLS.items() if tool.is_known)
        raise ValueError(
            f"unknown protocol {name!r}; choose from {', '.join(PROTOCOLS)}, a TOML file, or {tools}"
            f"{suggest(name, [*PROTOCOLS, *TOOLS], most=2)}"
        )
    return find_tool(name).protocol(kind.name), key or None


def chosen_tool(like: str | None, protocol: str | None) -> "Tool | None":
    """The tool that `--like` names, if any.

    Raises:
        typer.BadParameter: If there is no such tool, or `--protocol` is given, too.
    """
    if like is None:
        return None
    if protocol is not None:
        raise typer.BadParameter("it names the rules, so --protocol cannot be given, too", param_hint="--like")
    from ioukit.evaluation import find_tool  # noqa: PLC0415 - for those who name a tool

    with bad_value("--like"):
        return find_tool(like)


def chosen_classes(
    values: "Iterable[str] | None", categories: "Categories", *protocols: "Protocol"
) -> list[int | str] | None:
    """The classes of ``--classes``, by which the protocols are to evaluate; ``None`` for all of them.

    Raises:
        typer.BadParameter: If a class is unknown, several have its name, or a protocol needs all classes.
    """
    if values is None:
        return None
    with bad_value("--classes"):
        chosen = parse_classes(values, categories.names)
        taken = categories.take(np.array(categories.positions(chosen), int))
        for protocol in protocols:
            check_chosen_categories(categories, taken, protocol)
    return chosen


def parse_list(values: "Iterable[str]") -> list[str]:
    """Splits the values of a repeated option at commas."""
    return [item.strip() for value in values for item in value.split(",")]


def _number(text: str, meaning: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{meaning} must be a number, got {text!r}") from None


def parse_thresholds(values: "Iterable[str]") -> list[float]:
    """IoU thresholds from `0.5,0.75` or `start:stop:step`, in ascending order.

    `0.5:0.95:0.05` gives exactly the ten doubles of COCO: those of `numpy.linspace`, which are not multiples of 0.05.
    """
    thresholds: list[float] = []
    for item in parse_list(values):
        parts = [_number(part, "an IoU threshold") for part in item.split(":")]
        if len(parts) == 1:
            thresholds += parts
            continue
        if len(parts) != 3:
            raise ValueError(f"expected one threshold or start:stop:step, got {item!r}")
        start, stop, step = parts
        steps = (stop - start) / step if step > 0 else -1.0
        if not 0 <= steps <= 10_000 or abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"start:stop:step must lead from start to stop in whole steps, got {item!r}")
        thresholds += np.linspace(start, stop, round(steps) + 1).tolist()
    return sorted(thresholds)


def parse_max_dets(values: "Iterable[str]") -> list[int]:
    """Caps on the detections of a class in an image from `1,10,100`."""
    caps = parse_list(values)
    for cap in caps:
        if not (cap.isascii() and cap.isdecimal()):
            raise ValueError(f"a cap must be a whole number, got {cap!r}")
    return [int(cap) for cap in caps]


def parse_areas(values: "Iterable[str]") -> list[tuple[str, float, float]]:
    """Area ranges from `name:low:high`; `all`, which the main numbers need, comes first if it is not among them."""
    ranges = []
    for item in parse_list(values):
        name, *ends = item.split(":")
        if len(ends) != 2 or not name:
            raise ValueError(f"expected name:low:high in square pixels, such as small:0:1024, got {item!r}")
        low, high = (min(_number(end, f"an end of the area {name!r}"), _LARGEST_AREA) for end in ends)
        ranges.append((name, low, high))
    return ranges if any(name == "all" for name, _, _ in ranges) else [("all", 0.0, _LARGEST_AREA), *ranges]


def parse_classes(values: "Iterable[str]", names: "Collection[str]") -> list[int | str]:
    """Classes from `person,3`: a name in `names`, otherwise an id. A name with a comma must be a value of its own."""
    known = set(names)
    items = [item for value in values for item in ([value] if value in known else parse_list([value]))]
    return [int(item) if item not in known and item.lstrip("-").isdecimal() else item for item in items]


# The kind that compares a column of regions, and the word for them. 3-D boxes have two kinds, so they leave a doubt.
_COLUMNS = {
    "segmentations": ("segm", "masks"),
    "Masks": ("segm", "masks"),
    "keypoints": ("keypoints", "keypoints"),
    "RotatedBoxes": ("rotated", "rotated boxes"),
    "Polygons": ("polygon", "polygons"),
    "Boxes3D": ("", "3-D boxes"),
}


def chosen_iou_type(gt: "GroundTruth", dt: "Detections", protocol: "Protocol") -> tuple[str, str]:
    """The kind of region to compare, and a line that says why; the line is empty if only boxes can be compared.

    Args:
        gt: The ground truth.
        dt: The detections.
        protocol: The rules if boxes are compared.
    """
    words = dict.fromkeys(_COLUMNS[column][1] for column in dt.regions if column in _COLUMNS)
    both = _columns(gt.regions) & _columns(dt.regions)
    possible = {kind: word for column, (kind, word) in _COLUMNS.items() if column in both and kind}
    meant = [] if "bbox" in protocol.meant_for else [kind for kind in possible if kind in protocol.meant_for]
    if len(meant) == 1:
        return meant[0], f"iou type: {meant[0]} (the protocol {protocol.name} compares {possible[meant[0]]})"
    if len(protocol.meant_for) == 1 and protocol.meant_for[0].startswith("keypoints-") and "keypoints" in possible:
        (kind,) = protocol.meant_for
        return kind, f"iou type: {kind} (the protocol {protocol.name} compares {possible['keypoints']})"
    there = " and ".join(words)
    if _lacks_boxes(dt):
        if len(possible) == 1 and len(words) == 1:
            (kind,) = possible
            return kind, f"iou type: {kind} (the detections have {there} and no boxes)"
        why = f"the boxes around the {there or 'regions'}; --iou-type chooses another kind"
        if there and not possible and "3-D boxes" not in words:
            why = f"the boxes around the {there}; the ground truth has no {there} that can be read"
    else:
        options = ", ".join(f"--iou-type {kind} compares the {word}" for kind, word in possible.items())
        why = f"the detections have boxes and {there}; {options}" if possible else ""
    return "bbox", why and f"iou type: bbox ({why})"


def _columns(regions: "Mapping[str, Any]") -> set[str]:
    """The columns that can be compared; masks have two forms that fit together."""
    from ioukit.datasets.columns.lazy import ValuesOfFiles  # noqa: PLC0415 - files of boxes need no choice

    # A pipe was empty as soon as the boxes were read from it, so its other values cannot be read.
    found = {
        name
        for name, column in regions.items()
        if not isinstance(column, ValuesOfFiles) or all(os.path.isfile(path) for path, _, _ in column.files())
    }
    return found | ({"segmentations", "Masks"} if found & {"segmentations", "Masks"} else set())


def _lacks_boxes(dt: "Detections") -> bool:
    """Whether the boxes are those around the regions, because the records have none.

    Readers take boxes and areas from the regions together.
    """
    if dt.areas is None:
        return False
    from ioukit.datasets.columns._regions import bounding_boxes, region_sets  # noqa: PLC0415 - as above

    return not region_sets(dt.regions) or np.array_equal(dt.boxes, bounding_boxes(dt.regions, dt.source))
