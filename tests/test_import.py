"""`import ioukit` in a fresh process: NumPy and little else."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ioukit
from ioukit._exports import _homes
from support.paths import EXAMPLES

# Loaded by nobody who only asks for boxes, or slow to load.
HEAVY = {
    "asyncio",
    "concurrent.futures.process",
    "hypothesis",
    "jax",
    "jinja2",
    "matplotlib",
    "multiprocessing.pool",
    "numpy.testing",
    "pandas",
    "plotly",
    "pycocotools",
    "pyarrow",
    "ray",
    "rich",
    "scipy",
    "shapely",
    "sqlite3",
    "torch",
    "typer",
}

# Packages whose names are fetched when they are asked for.
ROOMS = (
    *("checks", "comparison", "evaluation", "experiment_logs", "inspection", "operating", "overlap", "plots"),
    *("postprocess", "regions", "report", "runs"),
)
# Attributes of `ioukit`, all but `torch`, which needs an extra.
PACKAGES = (
    *("anchors", "assign", "checks", "comparison", "compat", "datasets", "errors", "evaluation", "experiment_logs"),
    *("inspection", "label_errors", "losses", "operating", "overlap", "plots", "postprocess", "regions", "report"),
    *("runs", "scale", "slices", "statistics", "tracks", "typing", "viewer"),
)


def fresh(program: str, environment: dict[str, str] | None = None) -> str:
    command = [sys.executable, "-c", program]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def loaded_by_numpy() -> set[str]:
    return set(json.loads(fresh("import sys, json, numpy; print(json.dumps(sorted(sys.modules)))")))


def test_nothing_heavy_is_loaded() -> None:
    # Names are fetched when they are asked for: everything that is public, that is.
    program = "import sys, json; from ioukit import *; print(json.dumps(sorted(sys.modules)))"
    loaded = set(json.loads(fresh(program)))
    assert "ioukit._core" in loaded
    assert not loaded & HEAVY
    foreign = {name.partition(".")[0] for name in loaded - loaded_by_numpy()} - sys.stdlib_module_names
    assert foreign <= {"ioukit", "numpy"}


def test_import_costs_little_more_than_numpy(tmp_path: Path) -> None:
    """In CPU time, which a busy machine stretches little, and of compiled files, as pip leaves them.

    Names are fetched when they are asked for.
    """
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(tmp_path)}
    program = (
        "import time, numpy; start = time.process_time(); from ioukit import evaluate, read_coco; "
        "print(time.process_time() - start)"
    )
    taken = [float(fresh(program, environment)) for _ in range(5)]  # the first compiles
    assert min(taken) < 0.02, taken


def test_evaluate_waits_for_numpy_only_when_it_is_called() -> None:
    """Its first call reads files while NumPy is imported."""
    loaded = set(
        json.loads(fresh("import sys, json; from ioukit import evaluate; print(json.dumps(sorted(sys.modules)))"))
    )
    assert "ioukit.evaluation.evaluating" in loaded
    assert "numpy" not in loaded
    files = f"{EXAMPLES}/coco_val2017_100/ground_truth.json", f"{EXAMPLES}/coco_val2017_100/yolact.json"
    first = fresh(f"from ioukit import evaluate; print(dict(evaluate(*{files}).summary))")
    assert first == fresh(f"import ioukit; print(dict(ioukit.evaluate(*ioukit.read_coco(*{files})).summary))")


@pytest.mark.parametrize(
    "stub", sorted(Path(str(ioukit.__file__)).parent.rglob("__init__.pyi")), ids=lambda p: p.parent.name
)
def test_names_of_stubs_are_those_that_a_parser_finds(stub: Path) -> None:
    text = stub.read_text(encoding="utf-8")
    statements = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    assert statements
    expected = {alias.asname or alias.name: node.module for node in statements for alias in node.names}
    assert _homes(text) == expected


def test_nothing_is_loaded_that_nobody_asked_for() -> None:
    loaded = set(json.loads(fresh("import sys, json, ioukit; print(json.dumps(sorted(sys.modules)))")))
    assert "numpy" not in loaded
    asked = set(json.loads(fresh("import sys, json; from ioukit import nms; print(json.dumps(sorted(sys.modules)))")))
    assert "ioukit.postprocess.greedy" in asked
    assert not {"ioukit.regions.polygons", "ioukit.evaluation", "ioukit.postprocess.tiles"} & asked


def test_coco_files_load_no_other_format() -> None:
    files = f"{EXAMPLES}/coco_val2017_100/ground_truth.json", f"{EXAMPLES}/coco_val2017_100/yolact.json"
    ends = "print(json.dumps(sorted(sys.modules)))"
    read = f"import sys, json, ioukit; ioukit.evaluate(*ioukit.read_coco(*{files})); {ends}"
    loaded = set(json.loads(fresh(read)))
    formats = {name for name in loaded if name.startswith("ioukit.datasets.formats.")}
    assert formats == {"ioukit.datasets.formats.coco"}
    assert not {"gzip", "pathlib"} & (loaded - loaded_by_numpy())  # NumPy 1 loads pathlib
    command = (
        f"import sys, json, ioukit.cli; sys.argv = ['ioukit', 'eval', *{files}, '-q', '--json']\n"
        f"try: ioukit.cli.main()\nexcept SystemExit: {ends}"
    )
    loaded = set(json.loads(fresh(command).splitlines()[-1]))
    known = ("builtin", "coco", "format", "lvis", "recognising", "registry")
    assert {name for name in loaded if name.startswith("ioukit.datasets.formats.")} <= {
        f"ioukit.datasets.formats.{name}" for name in known
    }
    commands = {"ioukit.cli.check", "ioukit.cli.convert", "ioukit.cli.inspect", "ioukit.cli.nms", "ioukit.cli.train"}
    assert not commands & loaded


def test_readers_load_nothing_of_the_network(tmp_path: Path) -> None:
    """To find the format, those before it are asked: XML's quotes, for their writers, bring HTTP and SSL."""
    (tmp_path / "walk" / "gt").mkdir(parents=True)
    (tmp_path / "walk" / "gt" / "gt.txt").write_text("1,1,0,0,10,10,1,1,1\n")
    ends = "print(json.dumps(sorted(sys.modules)))"
    loaded = fresh(f"import sys, json, ioukit.datasets; ioukit.datasets.read({str(tmp_path)!r}); {ends}")
    assert not {"urllib.request", "http.client", "ssl"} & (set(json.loads(loaded)) - loaded_by_numpy())


def test_packages_are_attributes_that_are_loaded_when_they_are_asked_for() -> None:
    """`import ioukit` and then `ioukit.plots.grid_figure`, as the pages write it."""
    program = f"""
import sys, ioukit
packages = {PACKAGES!r}
early = [name for name in packages if f"ioukit.{{name}}" in sys.modules]
missing = [name for name in packages if name not in dir(ioukit)]
assert (early, missing) == ([], []), (early, missing)
for name in packages:
    assert getattr(ioukit, name) is sys.modules[f"ioukit.{{name}}"]
for name in ("detectron2", "docsaidkit", "pycocotools", "torchvision_ops"):
    assert getattr(ioukit.compat, name) is sys.modules[f"ioukit.compat.{{name}}"]
print(ioukit.plots.grid_figure.__name__, ioukit.losses.giou_loss.__name__, ioukit.compat.pycocotools.mask.iou.__name__)
"""
    assert fresh(program) == "grid_figure giou_loss iou\n"
    assert not {*PACKAGES, "torch"} & set(ioukit.__all__)


def test_every_public_package_is_an_attribute() -> None:
    folders = {path.parent.name for path in Path(ioukit.__file__).parent.glob("*/__init__.py")}
    assert {*PACKAGES, "torch"} == {*folders, "errors", "typing"} - {"cli"}  # the command, which Python does not call


def test_a_package_that_needs_an_extra_names_it() -> None:
    program = """
import sys, ioukit
sys.modules["torch"] = None  # as if it were not installed
assert not hasattr(ioukit, "torch")
try:
    ioukit.torch
except AttributeError as error:
    print(error)
"""
    assert fresh(program).endswith("ioukit.torch needs torch: pip install 'ioukit[torch]'\n")


@pytest.mark.parametrize("package", ["ioukit", *(f"ioukit.{room}" for room in ROOMS)])
def test_stubs_name_what_is_there(package: str) -> None:
    module = importlib.import_module(package)
    stub = ast.parse((Path(str(module.__file__)).with_suffix(".pyi")).read_text(encoding="utf-8"))
    (listed,) = (ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    assert sorted(listed) == module.__all__, "__all__ of the stub is what it imports"
    assert set(module.__all__) <= set(dir(module))
    for name in module.__all__:
        value = getattr(module, name)
        assert callable(value) or not isinstance(value, type(module)), f"{name} is also a module of the package"
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nonsense'"):
        _ = module.nonsense


def test_the_command_loads_no_rich_without_a_terminal() -> None:
    """Rich takes longer to import than a small evaluation takes to run."""
    program = (
        "import sys; sys.argv = ['ioukit', '--version']\nfrom ioukit.cli import main\ntry:\n    main()\n"
        "except SystemExit as stop:\n    assert not stop.code\n"
        "print(any(m == 'rich' or m.startswith('rich.') for m in sys.modules))"
    )
    assert fresh(program).splitlines()[-1] == "False"
