"""The viewer as a browser sees it: data sets, the server of each, and what its page shows."""

from __future__ import annotations

import functools
import threading
import urllib.parse
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import Detections, GroundTruth, evaluate
from ioukit.viewer.server.building import app_of
from ioukit.viewer.server.running import Server
from support.browsing import until, watch
from support.paths import DEMO
from support.report_cases import drawn, photographed, unscored
from support.two_models import pair

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from ioukit.viewer.server.replies import Application


__all__ = ["CASES", "Visits", "counts", "names", "query", "ready"]


def _one_image() -> Any:
    truth = GroundTruth.from_coco(
        {
            "images": [{"id": 1, "width": 640, "height": 480, "file_name": "only.jpg"}],
            "categories": [{"id": 1, "name": "cat"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [100, 100, 50, 60], "area": 3000}],
        }
    )
    boxes = np.array([[102.0, 99, 50, 60], [400, 300, 80, 80]])
    found = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes, scores=[0.9, 0.8])
    return evaluate(truth, found)


_MAKERS: dict[str, Callable[[], Any]] = {
    "three classes": lambda: drawn(300, ["car", "cat", "owl"], images=60),
    "80 classes": lambda: drawn(2000, [f"thing {k}" for k in range(80)], images=300),
    "1,203 classes": lambda: drawn(4000, [f"kind {k}" for k in range(1203)], images=400),
    "no detections": lambda: drawn(60, ["car", "cat"], found=False),
    "one image": _one_image,
    "two models": lambda: dict(zip(("first", "second"), pair(images=40), strict=True)),
    "photographs": photographed,
    "without scores": unscored,
    "no models": lambda: drawn(100, ["car", "cat"]).ground_truth,
}
CASES = {name: functools.cache(make) for name, make in _MAKERS.items()}
"""Data that many tests open, made once: nothing in it can be changed."""


class Visits:
    """Starts servers and opens their pages; :meth:`close` fails if one of the pages complained."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._servers: list[Server[Any]] = []
        self._watched: list[tuple[Any, list[str]]] = []
        self.expected: tuple[str, ...] = ()
        """Parts of complaints that a test expects."""

    def serve(
        self, data: Any, images: Path | None = None, *, frames: tuple[str, ...] = (), **options: Any
    ) -> Server[Any]:
        """A server of data, which runs until the end of the test."""
        return self._started(app_of(data, images, **options)[0], frames)

    def _started(self, app: Application, frames: tuple[str, ...] = ()) -> Server[Any]:
        server = Server(app, port=0, frames=frames)
        server.start()
        self._servers.append(server)
        return server

    def open_pages(self, app: Application) -> Page:
        """The first page of an application of pages."""
        server = self._started(app)
        return self._opened(server, server.address(), width=1280, height=900, dark=False)

    def open(
        self, server: Server[Any], query: str = "", *, width: int = 1280, height: int = 900, dark: bool = False
    ) -> Page:
        """A page of a server, when it shows the answer to its address. `query` may end with "#" and a look."""
        page = self._opened(server, server.address(query), width=width, height=height, dark=dark)
        ready(page)
        return page

    def _opened(self, server: Server[Any], address: str, *, width: int, height: int, dark: bool) -> Page:
        context = self._browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=width < 500,
            reduced_motion="reduce",
        )
        context.set_default_timeout(10_000)
        page = context.new_page()
        self._watched.append((context, watch(page, address, f"http://127.0.0.1:{server.port}/")))
        page.goto(address)
        return page

    def visit(self, case: str, query: str = "", **options: Any) -> Page:
        """A page of one of the cases."""
        images = DEMO / "photos" if case == "photographs" else None
        return self.open(self.serve(CASES[case](), images), query, **options)

    def close(self) -> None:
        for context, _ in self._watched:
            context.close()
        for server in self._servers:  # a server needs 0.2 s to end, for which the next test need not wait
            threading.Thread(target=server.close).start()
        complaints = [complaint for _, found in self._watched for complaint in found]
        unexpected = [one for one in complaints if not any(part in one for part in self.expected)]
        assert not unexpected, "\n".join(unexpected)


def ready(page: Page) -> None:
    """Waits until the page shows the answer to its address, with the drawings of all cards on the screen."""
    until(
        page,
        """() => {
          const query = new URLSearchParams(location.search).toString();
          if (document.documentElement.getAttribute("data-ready") !== query) return false;
          return [...document.querySelectorAll(".cell")].every((card) => {
            const place = card.getBoundingClientRect();
            return place.bottom < 0 || place.top > innerHeight || card.dataset.drawn === query;
          });
        }""",
    )


def counts(page: Page, model: int = 0) -> list[str]:
    """TP, FP, FN, precision, recall and F1 of a model, as the page shows them."""
    shown: list[str] = page.locator("#numbers tbody tr").nth(model).locator("td").all_inner_texts()
    return shown


def names(page: Page) -> list[str]:
    """The names on the cards at the top."""
    shown: list[str] = page.locator(".cell .card-name").all_inner_texts()
    return shown


def query(page: Page) -> dict[str, list[str]]:
    """The filter in the address of a page."""
    return urllib.parse.parse_qs(urllib.parse.urlsplit(page.url).query, keep_blank_values=True)
