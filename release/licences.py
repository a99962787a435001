"""Writes THIRD_PARTY_LICENSES.md: python release/licences.py [--check].

The list has every crate that is compiled into the library, with the text of its licence. Crates that run only while it
is built, such as macros, are listed without text.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIST = ROOT / "THIRD_PARTY_LICENSES.md"
ALLOWED = {
    "MIT",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "Unicode-3.0",
    "BSD-3-Clause",
    "BSD-2-Clause",
    "ISC",
    "Zlib",
}
HEAD = """# Licences of what is inside the wheel

Written by `python release/licences.py`. The Rust standard library is compiled in, too (MIT OR Apache-2.0). The Python
packages that ioukit needs are not part of its wheel; each has its own licence.

The photographs and annotations that `ioukit demo` writes are under CC BY 2.0 and CC BY 4.0, see
`ioukit/cli/demo_files/LICENCES.md`.

"""


def metadata() -> dict[str, Any]:
    """What Cargo knows about the packages of the lock file, for the platform of this machine."""
    host = re.search(r"host: (\S+)", subprocess.check_output(["rustc", "-vV"], text=True))
    assert host is not None
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host[1]]
    found: dict[str, Any] = json.loads(subprocess.check_output(command, cwd=ROOT, text=True))
    return found


def used(found: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The ids of the packages that are compiled into the library, and of those that only run while it is built."""
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    (root,) = (name for name, package in packages.items() if package["name"] == "ioukit-python")
    linked, tools, waiting = set[str](), set[str](), [(root, True)]
    while waiting:
        name, inside = waiting.pop()
        inside = inside and not any("proc-macro" in target["kind"] for target in packages[name]["targets"])
        if name in (linked if inside else tools):
            continue
        (linked if inside else tools).add(name)
        for needed in nodes[name]["deps"]:
            kinds = {kind["kind"] for kind in needed["dep_kinds"]}
            if None in kinds:
                waiting.append((needed["pkg"], inside))
            if "build" in kinds:
                waiting.append((needed["pkg"], False))
    return linked, tools - linked


def written(found: dict[str, Any]) -> str:
    """The text of the list.

    Raises:
        ValueError: If a crate has a licence that is not allowed, or no text of it.
    """
    packages = {package["id"]: package for package in found["packages"]}
    linked, tools = used(found)
    parts = [HEAD, "## Compiled into the library\n"]
    for package in sorted((packages[name] for name in linked), key=lambda one: one["name"]):
        if package["source"] is None:  # ioukit itself
            continue
        parts.append(f"\n### {package['name']} {package['version']}\n\n{_allowed(package)}\n\n{_text(package)}\n")
    parts.append("\n## Used while it is built\n\n")
    rows = sorted((packages[name] for name in tools), key=lambda one: one["name"])
    parts += [f"- {package['name']} {package['version']}: {_allowed(package)}\n" for package in rows]
    return "".join(parts)


def _allowed(package: dict[str, Any]) -> str:
    licence: str = package["license"]
    choices = [part.strip(" ()") for part in re.split(r"\bOR\b|\bAND\b|/", licence)]
    wrong = [choice for choice in choices if choice not in ALLOWED]
    if wrong:
        raise ValueError(
            f"crate {package['name']} has the licence {licence!r}; allowed are {', '.join(sorted(ALLOWED))}"
        )
    return licence


def _text(package: dict[str, Any]) -> str:
    """The text of the MIT licence of a crate, or of the first other one."""
    folder = Path(package["manifest_path"]).parent
    names = sorted(folder.glob("LICENSE*"), key=lambda path: ("MIT" not in path.name, path.name))
    if not names:
        raise ValueError(f"crate {package['name']} has no file LICENSE*")
    lines = names[0].read_text(encoding="utf-8").strip().splitlines()
    return "\n".join(f"    {line}".rstrip() for line in lines)


def main() -> int:
    """Writes the list, or compares it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if the list is out of date")
    text = written(metadata())
    if not parser.parse_args().check:
        LIST.write_text(text, encoding="utf-8")
        return 0
    if LIST.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{LIST.name} is out of date: run python release/licences.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
