"""Imports run one way, and heavy libraries stay in the one place that needs them."""

from __future__ import annotations

import ast
import functools
import importlib.metadata
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "ioukit"
CRATES = (ROOT / "crates" / "core" / "src", ROOT / "crates" / "python" / "src")
PYTHON = ("src", "tests", "benchmarks", "docs/build", "examples")  # the folders with Python files
MOST_LINES_OF_CODE = 60  # of a function

# Low to high: a file may import from its own layer's package and from every layer below.
LAYERS = (
    {
        "errors",
        "typing",
        "_boundary",
        "_core",
        "_checks",
        "_collector",
        "_columns",
        "_database",
        "_array_types",
        "_arrays",
        "_exports",
        "_keywords",
        "_near_names",
        "_notebook",
        "_optional",
        "_plain_values",
        "_progress",
        "_register",
        "_label_places",
        "_output",
        "_special_files",
        "_toml",
        "_words_and_colours",
    },
    {"regions"},
    {"datasets"},
    {"overlap"},
    {"postprocess", "anchors", "assign", "losses"},
    {"evaluation"},
    {"statistics", "tracks"},
    {"operating", "slices", "label_errors"},
    {"comparison"},
    {"inspection", "checks"},
    {"plots"},
    {"report"},
    {"scale", "viewer"},
    {"experiment_logs", "runs"},
    {"cli", "compat"},
)
LEVEL: dict[str, float] = {part: level for level, parts in enumerate(LAYERS) for part in parts}
TOP = len(LAYERS)  # the files that name or run what the layers offer
ON_TOP = ("__init__", "__main__", "patch")
# Beside the layers: it may use all up to evaluation, and few may use it.
LEVEL["torch"] = LEVEL["evaluation"] + 0.5
USERS_OF_TORCH = {"torch", "cli", "compat"}

# Packages at home in one place, and only there.
HOMES = {
    **dict.fromkeys(("torch", "torchmetrics", "torchvision"), "torch"),
    "matplotlib": "plots",
    **dict.fromkeys(("clearml", "mlflow", "tensorboardX", "wandb"), "experiment_logs"),
    **dict.fromkeys(("typer", "rich"), "cli"),
    "uvicorn": "viewer",
}
# The only imports that go up: methods of an evaluation that call a room above, by its name and when they are called.
# Type checkers may import what these methods return.
DOORS = {
    ("evaluation/results.py", f"ioukit.{room}")
    for room in ("checks", "comparison", "experiment_logs", "plots", "report", "statistics")
} | {(file, "ioukit.report") for file in ("comparison/agreement.py", "comparison/suite.py", "tracks/results.py")}
# What every installation has; the rest is imported inside the function that needs it, by `_optional`.
ALWAYS = {
    re.split(r"[^\w.-]", requirement)[0].replace("-", "_")
    for requirement in importlib.metadata.requires("ioukit") or []
    if "extra ==" not in requirement
}

# Fields of a protocol that few protocols set: only evaluation reads them. Other rooms ask what results can do, such as
# `Protocol.why_matches_vary`, `draws_in_parts`, `size_ranges` or `matches_within_cap`.
RARE_RULES = {
    "box_aspect_ratio",
    "cap_scope",
    "category_groups",
    "clipped_boxes",
    "counted_values",
    "detection_values",
    "inclusive_boxes",
    "mean_over",
    "objects_choose",
    "overlap_epsilon",
    "precision_epsilon",
    "ranges_by",
    "without_area",
}
# The same, for names that other records have, too: after `protocol.` or `rules.` alone.
RARE_RULES_OF_PROTOCOLS = {"choice", "ignored", "integral", "miss_rate", "threshold", "ties", "verified"}


def rare_rules(path: Path, root: Path) -> Iterator[str]:
    """The lines of a file that read a rare rule of a protocol and do not follow it."""
    room, *rest = path.relative_to(root).parts
    inside = room == "evaluation"
    places = {"/".join(rest), rest[0]} if inside else set()
    for node in ast.walk(tree_of(path)) if READS_A_RARE_RULE.search(text_of(path)) else ():
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            owner = ast.unparse(node.value).rpartition(".")[2].lstrip("_")
            rare = FOLLOWED_IN if inside else RARE_RULES
            if owner in ("protocol", "rules"):
                rare = {*rare, *RARE_RULES_OF_PROTOCOLS}
            elif inside:  # other records have fields of these names
                rare = {}
            if node.attr in rare and not places & {*OF_ALL_RULES, *FOLLOWED_IN.get(node.attr, ())}:
                followed = " or ".join(sorted(FOLLOWED_IN.get(node.attr, ()))) or "properties of its part"
                asked = f"it is followed in {followed}" if inside else "ask evaluation what the results can do"
                yield f"{path.relative_to(root)}:{node.lineno}: {ast.unparse(node)} is a rule of few protocols: {asked}"


# Inside of evaluation, the files that follow a rare rule. Any file in protocols/, disagreement/ (which takes protocols
# apart) and why_ignored.py (which has the words) may read all of them. `category_groups` is not listed: it is the name
# of a column that all tables have.
FOLLOWED_IN = {
    "box_aspect_ratio": {"kinds"},
    "cap_scope": {"matching.py", "table.py", "curves.py", "analysis/proposals.py"},
    "choice": {"matching.py"},
    "clipped_boxes": {"kinds"},
    "counted_values": {"counting.py"},
    "detection_values": {"counting.py"},
    "ignored": {"counting.py"},
    "inclusive_boxes": {"kinds"},
    "integral": {"curves.py", "summary.py", "analysis/_whole_curves.py"},
    "mean_over": set(),  # asked by properties of its part
    "miss_rate": {"analysis/miss_rate.py"},
    # One call in each, of a function in object_choice.py.
    "objects_choose": {"matching.py", "counting.py", "curves.py", "summary.py"},
    "overlap_epsilon": {"kinds"},
    "precision_epsilon": {"curves.py"},
    "ranges_by": {"counting.py"},
    "threshold": {"matching.py"},
    "ties": {"matching.py"},
    "verified": {"counting.py"},
    "without_area": {"matching.py"},
}
OF_ALL_RULES = ("protocols", "disagreement", "why_ignored.py")
READS_A_RARE_RULE = re.compile(rf"\.\s*({'|'.join({*RARE_RULES, *RARE_RULES_OF_PROTOCOLS, *FOLLOWED_IN})})\b")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


# Several rules look at every file. Kept by text, not by path: pytest gives the folder of a test that passed to another.
@functools.cache
def parsed(text: str) -> ast.Module:
    return ast.parse(text)


def tree_of(path: Path) -> ast.Module:
    return parsed(text_of(path))


def statements(node: ast.AST) -> Iterator[ast.AST]:
    """All statements inside of a node: every import and every function, without the many expressions."""
    for field in ("body", "handlers", "cases", "orelse", "finalbody"):
        for inner in getattr(node, field, ()):
            yield inner
            yield from statements(inner)


def violations(path: Path, root: Path) -> Iterator[str]:
    """The lines of a file that import what its place does not allow."""
    module = path.relative_to(root.parent).with_suffix("")
    part = module.parts[1] if len(module.parts) > 2 or module.name not in ON_TOP else ""
    level = LEVEL.get(part, TOP)
    if part and part not in LEVEL:
        yield f"{path.relative_to(root)}:1: {part} has no place in the order of imports"
    text, tree = text_of(path), tree_of(path)
    types = types_of_doors(tree, path.relative_to(root).as_posix())
    for node in ast.walk(tree) if "import_module" in text or "__import__" in text else statements(tree):
        by_name = [name for name in imported_by_name(node) if (path.relative_to(root).as_posix(), name) not in DOORS]
        for name in (*(() if node in types else imported(node, module)), *by_name):
            where = f"{path.relative_to(root)}:{getattr(node, 'lineno', 1)}: "
            package, _, rest = name.partition(".")
            if package != "ioukit":
                if HOMES.get(package, part) != part:
                    yield f"{where}{package} may be imported by {HOMES[package]}/ alone"
                continue
            target = rest.partition(".")[0]
            if target not in LEVEL:
                # `import ioukit` or a public name of it: what a user writes, so only the outermost layer may.
                if level < LEVEL["cli"]:
                    yield f"{where}import the module that defines {rest or 'the name'}, not ioukit itself"
            elif target == "torch" and part not in USERS_OF_TORCH and level < TOP:
                yield f"{where}ioukit.torch may not be imported here"
            elif LEVEL[target] > level:
                yield f"{where}{part} may not import {target}, which stands above it"
            elif LEVEL[target] == level and target != part and level > 0:
                yield f"{where}{part} may not import its neighbour {target}; what both share belongs one layer down"


def types_of_doors(tree: ast.Module, file: str) -> set[ast.AST]:
    """The imports of a file for type checkers alone, from rooms to which it has a door."""
    blocks = (node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    listed = {node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)}
    return {node for node in listed if (file, ".".join(f"{node.module}".split(".")[:2])) in DOORS}


def imported(node: ast.AST, module: Path) -> Iterator[str]:
    """Absolute names of what a statement imports; a package's own names count as its modules."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            up = module.parts[: len(module.parts) - node.level]
            base = ".".join([*up, base]).rstrip(".")
        if base == "ioukit":
            yield from (f"ioukit.{alias.name}" for alias in node.names)
        else:
            yield base


def imported_by_name(node: ast.AST) -> Iterator[str]:
    """The module of ioukit in a call such as ``importlib.import_module("ioukit.report")``, unless it is computed."""
    if isinstance(node, ast.Call) and node.args and ast.unparse(node.func).endswith(("import_module", "__import__")):
        name = node.args[0]
        if isinstance(name, ast.Constant) and str(name.value).startswith("ioukit."):
            yield str(name.value)


def circles(root: Path) -> list[tuple[str, ...]]:
    """Files that import each other, in groups. Imports inside functions and for type checkers count, but for doors."""
    stubs = {path: tree_of(path).body for path in root.rglob("__init__.pyi")}
    homes = {  # where a name that a package offers is defined
        f"{module_name(path, root)}.{alias.asname or alias.name}": node.module or ""
        for path, body in stubs.items()
        for node in body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    modules = {module_name(path, root): path for path in root.rglob("*.py")}
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        graph[module], tree = set(), tree_of(path)
        types = types_of_doors(tree, "/".join(module.split(".")[1:]) + ".py")
        for node in statements(tree):
            if node in types:
                continue
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert not node.level, f"{module}: import by the full name"
                named = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in named:
                parent = name.rpartition(".")[0]
                target = homes.get(name) or (name if name in modules else parent)
                if target in modules:
                    graph[module].add(target)
        graph[module].discard(module)
    reached = {module: reachable(module, graph) for module in graph}
    closed = [module for module in graph if module in reached[module]]
    return sorted({tuple(sorted(one for one in reached[module] if module in reached[one])) for module in closed})


def rust_circles(root: Path) -> list[tuple[str, ...]]:
    """Files of a crate that use each other, in groups, by the paths that their code names.

    A file may use the file that it is a part of, and that one its parts: together they are one module of Rust. So the
    file of the crate, which names all, is left out.
    """
    files = {name: path for path in root.rglob("*.rs") if (name := rust_name(path, root))}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        targets = {known(target, files) for target in used_in_rust(path.read_text(encoding="utf-8"), name, files)}
        graph[name] = {target for target in targets if target and not name.startswith(f"{target}::") and target != name}
    reached = {name: reachable(name, graph) for name in graph}
    closed = [name for name in graph if name in reached[name]]
    return sorted({tuple(sorted(one for one in reached[name] if name in reached[one])) for name in closed})


def rust_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return "::".join(parts[:-1] if parts[-1] in ("mod", "lib") else parts)


def known(path: str, files: Collection[str]) -> str:
    """The file that a path leads into: the longest beginning of it that is one."""
    while path and path not in files:
        path = path.rpartition("::")[0]
    return path


def used_in_rust(text: str, name: str, files: Collection[str]) -> Iterator[str]:
    """The paths, from the root of the crate, that the code of a file names; without its tests."""
    text = re.sub(r"//[^\n]*", "", text)
    text = re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]
    here = name.split("::") if name else []
    statements = re.findall(r"\buse ([^;]+);", text)
    paths = [path for statement in statements for path in leaves_of(re.sub(r"\s+", "", statement))]
    for path in [*paths, *re.findall(r"\b(?:crate|super)(?:::\w+)+", text)]:
        parts = path.split("::")
        up = next((place for place, part in enumerate(parts) if part != "super"), len(parts))
        if parts[0] == "crate":
            yield "::".join(parts[1:])
        elif up or "::".join([*here, parts[0]]) in files:  # else it is another crate
            yield "::".join([*here[: max(len(here) - up, 0)], *parts[up:]])


def leaves_of(tree: str) -> list[str]:
    """The paths of a tree of ``use``: ``a::{b, c::{d, e}}`` has three."""
    head, brace, rest = tree.partition("{")
    if not brace:
        return [re.split(r"\bas\b", tree)[0]]
    items, depth, start = [], 0, 0
    inner = rest[: rest.rindex("}")] + ","
    for place, letter in enumerate(inner):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and not depth:
            items.append(inner[start:place])
            start = place + 1
    return [head + leaf for item in items if item for leaf in leaves_of(item)]


def module_name(path: Path, root: Path) -> str:
    return ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")


def reachable(start: str, graph: dict[str, set[str]]) -> set[str]:
    """The modules that a module imports, and those that these import, and so on."""
    seen: set[str] = set()
    left = [start]
    while left:
        new = graph[left.pop()] - seen
        seen |= new
        left += new
    return seen


def files() -> list[Path]:
    return sorted([*SOURCE.rglob("*.py"), *SOURCE.rglob("*.pyi")])


def test_imports_run_one_way() -> None:
    found = [line for path in files() for line in violations(path, SOURCE)]
    assert not found, "\n" + "\n".join(found)


def test_rare_rules_of_protocols_are_read_where_they_are_followed() -> None:
    found = [line for path in files() for line in rare_rules(path, SOURCE)]
    assert not found, "\n" + "\n".join(found)


def test_a_rare_rule_is_named_with_its_line(tmp_path: Path) -> None:
    for room in ("viewer", "evaluation"):
        (tmp_path / room).mkdir()
        (tmp_path / room / "a.py").write_text("x = 1\ny = table.protocol.ties, one.ties, one.cap_scope\n")
    (tmp_path / "evaluation" / "matching.py").write_text("x = rules.ties, rules.verified\n")
    found = [line for path in tmp_path.rglob("*.py") for line in rare_rules(path, tmp_path)]
    assert [line.split(" is ")[0] for line in sorted(found)] == [
        "evaluation/a.py:2: table.protocol.ties",
        "evaluation/matching.py:1: rules.verified",
        "viewer/a.py:2: one.cap_scope",
        "viewer/a.py:2: table.protocol.ties",
    ]


def test_no_two_files_import_each_other() -> None:
    assert circles(SOURCE) == []


@pytest.mark.parametrize("root", CRATES, ids=lambda root: root.parent.name)
def test_no_two_files_of_rust_use_each_other(root: Path) -> None:
    assert rust_circles(root) == []


def test_a_circle_of_rust_is_found(tmp_path: Path) -> None:
    for name, text in {
        "lib.rs": "pub mod a;\npub mod b;\npub mod whole;",
        "a.rs": "use crate::{whole::{part, other::deep}, c};\nfn f() {}\n#[cfg(test)]\nmod tests {\n use crate::b;\n}",
        "b.rs": "use std::fmt;\nfn f() { crate::a::f(); } // crate::whole",
        "whole/mod.rs": "use part::thing;\nmod part;",
        "whole/part.rs": "use super::Whole;\nuse super::other;",
        "whole/other.rs": "use super::super::b::f as g;",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert rust_circles(tmp_path) == [("a", "b", "whole::other", "whole::part")]


def test_a_circle_is_found_however_it_is_closed(tmp_path: Path) -> None:
    root = tmp_path / "ioukit"
    root.mkdir()
    for name, text in {
        "__init__.py": "",
        "__init__.pyi": "from ioukit.high import up as up",
        "low.py": "def f():\n    from ioukit import up",
        "middle.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import ioukit.low",
        "high.py": "from ioukit import middle",
        "alone.py": "from ioukit.high import up",
    }.items():
        (root / name).write_text(text)
    assert circles(root) == [("ioukit.high", "ioukit.low", "ioukit.middle")]


def test_packages_are_imported_at_the_top_only_where_always_installed() -> None:
    """The rest is optional: at the top of a file it would break `import ioukit` for those who lack it."""
    assert "numpy" in ALWAYS
    found = []
    for path in files():
        module, part = path.relative_to(SOURCE.parent).with_suffix(""), path.relative_to(SOURCE).parts[0]
        for node in tree_of(path).body:
            packages = {name.partition(".")[0] for name in imported(node, module)}
            foreign = packages - sys.stdlib_module_names - ALWAYS - {"ioukit"}
            found += [f"{path}:{node.lineno}: {package}" for package in foreign if HOMES.get(package) != part]
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("file", "line", "says"),
    [
        ("regions/formats.py", "from ioukit.overlap import pairwise_iou", "regions may not import overlap"),
        (
            "regions/formats.py",
            "def f():\n    from ..evaluation.curves import area",
            "regions may not import evaluation",
        ),
        ("assign/atss.py", "import ioukit.anchors.grid", "assign may not import its neighbour anchors"),
        ("datasets/coco.py", "from ioukit import evaluate", "not ioukit itself"),
        ("datasets/coco.py", "import ioukit", "not ioukit itself"),
        ("plots/curves.py", "from ioukit.torch import losses", "ioukit.torch may not be imported here"),
        ("errors.py", "from . import regions", "errors may not import regions"),
        ("evaluation/curves.py", "import torch.nn", "torch may be imported by torch/ alone"),
        ("evaluation/curves.py", "from ioukit.torch import losses", "ioukit.torch may not be imported here"),
        ("torch/losses.py", "from ioukit.report import html", "torch may not import report"),
        ("report/html.py", "from rich import print", "rich may be imported by cli/ alone"),
        ("evaluation/results.py", "from ioukit.report.writer import write_report", "evaluation may not import report"),
        ("evaluation/curves.py", "def f():\n    import ioukit.report.writer", "evaluation may not import report"),
        (
            "evaluation/curves.py",
            "def f():\n    import_module('ioukit.report')",
            "evaluation may not import report",
        ),
        ("evaluation/results.py", "from ioukit.report import page", "evaluation may not import report"),
        ("evaluation/results.py", "importlib.import_module('ioukit.cli')", "evaluation may not import cli"),
        (
            "evaluation/curves.py",
            "if TYPE_CHECKING:\n    from ioukit.report import page",
            "evaluation may not import report",
        ),
        ("report/html.py", "from ioukit.experiment_logs import junit", "report may not import experiment_logs"),
        ("experiment_logs/mlflow.py", "from ioukit.cli import _app", "experiment_logs may not import cli"),
        ("report/html.py", "import mlflow", "mlflow may be imported by experiment_logs/ alone"),
        ("helpers/things.py", "", "helpers has no place in the order of imports"),
    ],
)
def test_a_broken_rule_is_named_with_its_line(file: str, line: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "ioukit" / file
    path.parent.mkdir(parents=True)
    path.write_text(f"{line}\n")
    (found,) = violations(path, tmp_path / "ioukit")
    assert found.startswith(f"{file}:{line.count(chr(10)) + 1}: ")
    assert says in found


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("regions/formats.py", "import numpy as np\nfrom ioukit.errors import DatasetError\nfrom . import rotated"),
        ("errors.py", "from ioukit import typing"),
        ("evaluation/evaluating.py", "from ioukit.datasets import GroundTruth\nfrom ioukit.evaluation.curves import f"),
        ("torch/losses.py", "import torch\nfrom ioukit.assign import atss\nfrom ioukit.evaluation import evaluate"),
        ("cli/eval.py", "import ioukit\nimport typer\nfrom ioukit.cli._streams import Talk"),
        ("__init__.py", "from ioukit.evaluation import evaluate"),
        ("evaluation/results.py", "def f():\n    return importlib.import_module('ioukit.experiment_logs')"),
        ("evaluation/results.py", "if TYPE_CHECKING:\n    from ioukit.statistics import Interval"),
        ("experiment_logs/mlflow.py", "import mlflow\nfrom ioukit.report import write_report"),
    ],
)
def test_good_imports_are_not_named(file: str, line: str, tmp_path: Path) -> None:
    path = tmp_path / "ioukit" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{line}\n")
    assert list(violations(path, tmp_path / "ioukit")) == []


def python_files() -> list[Path]:
    return sorted(path for folder in PYTHON for path in (ROOT / folder).rglob("*.py"))


def long_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Name, line and lines of code of every function that is long and has no comment ``# Long: reason``.

    Lines of code are those of the body without its docstring, comments and empty lines. The comment stands above the
    function, or in it.
    """
    lines = text.splitlines()
    for node in statements(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        first = node.body[1:] if ast.get_docstring(node) is not None else node.body
        body = [line.strip() for line in lines[first[0].lineno - 1 : node.end_lineno]] if first else []
        code = [line for line in body if line and not line.startswith("#")]
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        near = lines[max(start - 3, 0) : node.end_lineno]
        if len(code) > MOST_LINES_OF_CODE and not any(line.lstrip().startswith("# Long: ") for line in near):
            yield node.name, node.lineno, len(code)


def test_long_functions_give_a_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name} has {count} lines of code; split it, or say why not: # Long: reason"
        for path in python_files()
        for name, line, count in long_functions(path.read_text(encoding="utf-8"))
    ]
    assert not found, "\n" + "\n".join(found)


def test_what_counts_as_a_long_function() -> None:
    body = "\n".join(f"    x{k} = {k}" for k in range(60))
    assert list(long_functions(f"def f():\n{body}\n")) == []
    assert list(long_functions(f'def f(\n    a,\n):\n    """Two\n\n    lines."""\n{body}\n\n    # a comment\n')) == []
    assert list(long_functions(f"@g\ndef f():\n{body}\n    return x1\n")) == [("f", 2, 61)]
    assert list(long_functions(f"def f():\n    # Long: one line per number\n{body}\n    return x1\n")) == []
    assert list(long_functions(f"# Long: one line per number\n@g\ndef f():\n{body}\n    return x1\n")) == []


def test_no_public_name_is_that_of_a_module() -> None:
    """A program that imports the module would find it in place of the name."""
    both = []
    for stub in SOURCE.rglob("__init__.pyi"):
        package = module_name(stub, SOURCE).removesuffix(".__init__")
        modules = {path.stem for path in stub.parent.glob("*.py")} | {
            path.parent.name for path in stub.parent.glob("*/*.py")
        }
        for node in tree_of(stub).body:
            if isinstance(node, ast.ImportFrom) and node.module != package:
                both += [f"{package}.{name.name}" for name in node.names if (name.asname or name.name) in modules]
    assert both == ["ioukit.patch"]  # a module that can be called
