"""The addresses of the viewer: an ASGI application, behind the guard."""

from __future__ import annotations

import contextlib
import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from ioukit.viewer.marking.exporting import CocoFile
from ioukit.viewer.server.replies import Application, Reply, body_of, json_reply, worked
from ioukit.viewer.server.views import Pairs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ioukit.viewer.images.photographs import Photographs
    from ioukit.viewer.server.views import Views


_MOST_DRAWINGS = 400  # of one request
_PICTURES_KEPT = b"private, max-age=60"


class App(Application):
    """Answers requests.

    Questions about the data are answered one after the other in a thread of their own, photographs are read in a few
    others, and files of COCO are written in one. What a browser no longer waits for is not begun.

    Args:
        views: Answers the questions about the data.
        photographs: The photographs of the images.
    """

    def __init__(self, views: Views, photographs: Photographs) -> None:
        self.views = views
        """Answers the questions about the data."""
        self._photographs = photographs
        self._questions = ThreadPoolExecutor(1, "ioukit questions")
        self._files = ThreadPoolExecutor(1, "ioukit files")
        self._pictures = ThreadPoolExecutor(max(2, min(4, os.cpu_count() or 1)), "ioukit photographs")
        self._quick: dict[str, Callable[[Pairs], Reply]] = {
            "/": self._page,
            "/api/data": lambda _: json_reply(views.data()),
            "/api/answer": lambda pairs: json_reply(views.answer(pairs)),
            "/api/numbers": lambda pairs: json_reply(views.numbers(pairs)),
            "/api/drawings": self._drawings,
            "/api/sequences": lambda _: json_reply(views.sequences()),
            "/api/events": lambda pairs: json_reply(
                views.events(self._position(_one(pairs, "at")), _without(pairs, "at"))
            ),
            "/api/column": lambda pairs: json_reply(views.column(_one(pairs, "name"))),
        }

    def prepare(self) -> None:
        """Prepares the first answers while the browser starts."""
        for first in (self.views.page, self.views.data, lambda: self.views.answer([])):
            with contextlib.suppress(RuntimeError):  # it is closed already
                self._questions.submit(first)

    def close(self) -> None:
        """Ends the threads; what is not begun is dropped."""
        for pool in (self._pictures, self._files, self._questions):
            pool.shutdown(wait=False, cancel_futures=True)

    def thread_of(self, parts: Iterator[bytes]) -> ThreadPoolExecutor:
        """Files of COCO have a thread of their own: a question does not wait for them."""
        return self._files if isinstance(parts, CocoFile) else self._questions

    async def found(self, scope: Any, receive: Any) -> Reply:
        """The answer to a request, as for every application."""
        path, posts = scope["path"], scope["method"] == "POST"
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if path == "/api/notes":
            body = await body_of(receive) if posts else None
            return await worked(self._questions, receive, self._notes, body)
        if posts:
            return self.said(405, "Only notes are posted.")
        if path in ("/export", "/api/image"):
            return await self._in_two_threads(path, receive, pairs)
        if path in self._quick:
            return await worked(self._questions, receive, self._quick[path], pairs)
        if path in ("/thumb", "/photo"):
            known = dict(scope["headers"]).get(b"if-none-match")
            return await worked(self._pictures, receive, self._picture, path, pairs, known)
        return self.said(404, "There is no such page.")

    async def _in_two_threads(self, path: str, receive: Any, pairs: Pairs) -> Reply:
        """An answer with a slow part that no question about the data should wait for."""
        if path == "/export":
            made = await worked(self._questions, receive, self._export, pairs)
            if isinstance(made.content, CocoFile):
                await worked(self._files, receive, made.content.prepare)
            return made
        at, found = await worked(self._questions, receive, self._image, pairs)
        words = await worked(self._pictures, receive, self._photographs.words, at)  # it reads all pixels
        return json_reply({**found, "photo_words": words})

    def _page(self, _: Pairs) -> Reply:
        page, policy = self.views.page()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", policy.encode())]
        return Reply(200, page.encode(), headers)

    def _drawings(self, pairs: Pairs) -> Reply:
        words = ",".join(value for name, value in pairs if name == "at")
        positions = [self._position(word) for word in words.split(",") if word]
        if len(positions) > _MOST_DRAWINGS:
            raise ValueError(f"at most {_MOST_DRAWINGS} images at once, got {len(positions):,}")
        return json_reply(self.views.drawings(positions, _without(pairs, "at")))

    def _image(self, pairs: Pairs) -> tuple[int, dict[str, Any]]:
        at = self._position(_one(pairs, "at"))
        return at, self.views.image(at, _without(pairs, "at"))

    def _notes(self, body: bytes | None) -> Reply:
        if body is None:
            return json_reply(self.views.notes())
        try:
            entry = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"expected JSON: {error}") from None
        return json_reply(self.views.write_note(entry))

    def _export(self, pairs: Pairs) -> Reply:
        made = self.views.export(_one(pairs, "as"), _one(pairs, "of", "filtered"), _without(pairs, "as", "of"))
        disposition = f'attachment; filename="{made.name}"'.encode()
        return Reply(200, made.chunks, [(b"content-type", made.kind.encode()), (b"content-disposition", disposition)])

    def _picture(self, path: str, pairs: Pairs, known: bytes | None) -> Reply:
        at = self._position(_one(pairs, "at"))
        side = None if path == "/photo" else _whole(_one(pairs, "side", "320"), "side")
        tag = f'"{self._photographs.tag(at, side)}"'.encode()
        headers = [(b"etag", tag), (b"cache-control", _PICTURES_KEPT)]
        if known is not None and tag in known:
            return Reply(304, b"", headers)
        made = self._photographs.full(at) if side is None else self._photographs.small(at, side)
        return Reply(200, made.content, [(b"content-type", made.kind.encode()), *headers])

    def _position(self, word: str) -> int:
        at = _whole(word, "at")
        if at >= len(self._photographs):
            raise ValueError(f"at: there are {len(self._photographs):,} images, got {at}")
        return at


def _one(pairs: Pairs, name: str, default: str | None = None) -> str:
    values = [value for key, value in pairs if key == name]
    if len(values) > 1 or (not values and default is None):
        raise ValueError(f"{name}: expected one value, got {len(values)}")
    return values[0] if values else str(default)


def _without(pairs: Pairs, *names: str) -> Pairs:
    return [(name, value) for name, value in pairs if name not in names]


def _whole(word: str, name: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) < 10):
        raise ValueError(f"{name}: expected a whole number, got {word!r}")
    return int(word)
