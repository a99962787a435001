"""An application of pages that are made when someone asks for them, such as the runs of a ledger as they are now."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ioukit.viewer.server.replies import Application, Reply, worked

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ioukit.report.writer import Page
    from ioukit.viewer.server.views import Pairs


class Pages(Application):
    """Answers each address with a page.

    Args:
        pages: What makes the page of each address, of the keys and values behind it.
    """

    def __init__(self, pages: Mapping[str, Callable[[Pairs], Page]]) -> None:
        self._pages = pages
        self._makers = ThreadPoolExecutor(1, "ioukit pages")

    def prepare(self) -> None:
        """Nothing: a page is made when it is asked for."""

    def close(self) -> None:
        """Ends the thread; what is not begun is dropped."""
        self._makers.shutdown(wait=False, cancel_futures=True)

    def thread_of(self, parts: Iterator[bytes]) -> ThreadPoolExecutor:  # noqa: ARG002 - all are made in one
        """The thread that makes pages."""
        return self._makers

    def said(self, status: int, words: str) -> Reply:
        """What is wrong, for a reader: no script asks for these pages."""
        return Reply(status, words.encode("utf-8", "replace"), [(b"content-type", b"text/plain; charset=utf-8")])

    async def found(self, scope: Any, receive: Any) -> Reply:
        """The page of an address."""
        if scope["method"] == "POST":
            return self.said(405, "These pages take no notes.")
        make = self._pages.get(scope["path"])
        if make is None:
            return self.said(404, "There is no such page.")
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        page = await worked(self._makers, receive, make, pairs)
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", page.policy().encode())]
        return Reply(200, page.html().encode(), headers)
