"""What the search of a built site must find: every title, public name, command and word that people type.

`audit.py` asks the worker of the site, with the index and the settings that a reader's browser loads. The right page
must be among the first three; the words and their pages are those of docs/searched.md.
"""

from __future__ import annotations

import html
import json
import re
import zlib
from collections import defaultdict
from pathlib import Path

import typer
from check import public_names
from words import words

from ioukit.cli._app import app_of

FIRST = 3
# What a query language takes for a mark, in words that people paste.
PASTED = ["ap50=0.6403,", "image_id: 1", "AP^2", "+AP -AR", "a*b", '"iou']
ASK = """async queries => {
  const config = JSON.parse(document.getElementById("__config").textContent);
  const worker = new Worker(new URL(config.search, location));
  const answer = message => new Promise(settle => {
    worker.onmessage = event => settle(event.data.data);
    worker.postMessage(message);
  });
  const index = await (await fetch("search/search_index.json")).json();
  await answer({ type: 0, data: { ...index, options: { suggest: true } } });
  const found = {};
  for (const query of queries) {
    const { items } = await answer({ type: 2, data: query });
    found[query] = items.map(results => results[0].location.split("#")[0]);
  }
  return found;
}"""


def right_pages(folder: Path) -> dict[str, set[str]]:
    """For each query, in small letters, the pages that answer it."""
    right: dict[str, set[str]] = defaultdict(set)
    for entry in json.loads((folder / "search" / "search_index.json").read_text(encoding="utf-8"))["docs"]:
        if "#" not in entry["location"]:
            title = re.search("<title>(.*?) - ioukit</title>", (folder / entry["location"]).read_text("utf-8"))
            for text in (entry["title"], *(title.groups() if title else ())):
                right[html.unescape(re.sub("<.*?>", "", text)).lower()].add(entry["location"])
    places = defaultdict(set)
    _, _, _, _, packed = (folder / "objects.inv").read_bytes().split(b"\n", 4)
    for line in zlib.decompress(packed).decode().splitlines():
        name, _, _, address, _ = line.split(" ", 4)
        places[name.rpartition(".")[2]].add(address.partition("#")[0])
    for name in public_names():
        right[name.lower()] |= places[name]
    for command in typer.main.get_group(app_of()).commands:
        right[f"ioukit {command}"].add("reference/command_line.html")
    for address, typed in words().items():
        for query in typed:
            right[query.lower()].add(address.partition("#")[0])
    return right


def faults(right: dict[str, set[str]], found: dict[str, list[str]]) -> list[str]:
    """The queries whose page is not among the first that were found."""
    return [
        f"{query!r} does not find {' or '.join(sorted(pages))}, but {', '.join(found[query][:FIRST]) or 'nothing'}"
        for query, pages in right.items()
        if not pages & set(found[query][:FIRST])
    ]
