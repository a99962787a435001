"""The addresses of the viewer: an ASGI application, behind the guard."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import traceback
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import parse_qsl

from ioukit.errors import DatasetError
from ioukit.viewer.images.photographs import MissingPictureError
from ioukit.viewer.marking.exporting import CocoFile
from ioukit.viewer.marking.notes import NotesConflictError, error_words
from ioukit.viewer.server.guard import BodyTooLongError
from ioukit.viewer.server.views import Pairs, entry_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ioukit.viewer.images.photographs import Photographs
    from ioukit.viewer.server.views import Views


_MOST_DRAWINGS = 400  # of one request
_PICTURES_KEPT = b"private, max-age=60"
_log = logging.getLogger("ioukit.viewer")

Result = TypeVar("Result")


class Reply(NamedTuple):
    """An answer: its status, content and headers."""

    status: int
    content: bytes | Iterator[bytes]
    """The whole content, or its parts, which are made when they are sent."""
    headers: Sequence[tuple[bytes, bytes]]


class App:
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
            "/api/data": lambda _: _json(views.data()),
            "/api/answer": lambda pairs: _json(views.answer(pairs)),
            "/api/numbers": lambda pairs: _json(views.numbers(pairs)),
            "/api/drawings": self._drawings,
            "/api/column": lambda pairs: _json(views.column(_one(pairs, "name"))),
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

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answers a request of the guard."""
        try:
            reply = await self._reply(scope, receive)
            body, headers = reply.content if scope["method"] != "HEAD" else b"", [*reply.headers]
            if isinstance(reply.content, bytes) and reply.status != 304:
                headers.append((b"content-length", str(len(reply.content)).encode()))
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            if not isinstance(body, bytes):
                await self._send_parts(body, receive, send)
                body = b""
            await send({"type": "http.response.body", "body": body})
        except _GoneError:
            return

    async def _send_parts(self, parts: Iterator[bytes], receive: Any, send: Any) -> None:
        """Sends parts as they are made; an error, or a browser that goes away, breaks the answer off."""
        try:
            pool = self._files if isinstance(parts, CocoFile) else self._questions
            while part := await _worked(pool, receive, next, parts, b""):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except _GoneError:
            raise
        except Exception as error:  # the browser sees a download that is not complete
            _log.error("a download failed: %s", "".join(traceback.format_exception(error)))
            raise

    async def _reply(self, scope: Any, receive: Any) -> Reply:
        """The answer, in words if there is something wrong.

        Raises:
            _GoneError: If nobody waits for it.
        """
        try:
            return await self._found(scope, receive)
        except ValueError as error:
            return _words(400, str(error))
        except MissingPictureError as error:
            return _words(404, str(error))
        except NotesConflictError as error:
            return _json({"words": str(error), "entry": entry_to_json(error.entry)})._replace(status=409)
        except (DatasetError, OSError) as error:
            return _words(500, error_words(error))
        except (_GoneError, BodyTooLongError):
            raise
        except Exception as error:
            _log.error("%s failed: %s", scope["path"], "".join(traceback.format_exception(error)))
            return _words(500, f"ioukit failed: {type(error).__name__}; the terminal shows more.")

    async def _found(self, scope: Any, receive: Any) -> Reply:
        path, posts = scope["path"], scope["method"] == "POST"
        pairs = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        if path == "/api/notes":
            body = await _body(receive) if posts else None
            return await _worked(self._questions, receive, self._notes, body)
        if posts:
            return _words(405, "Only notes are posted.")
        if path in ("/export", "/api/image"):
            return await self._in_two_threads(path, receive, pairs)
        if path in self._quick:
            return await _worked(self._questions, receive, self._quick[path], pairs)
        if path in ("/thumb", "/photo"):
            known = dict(scope["headers"]).get(b"if-none-match")
            return await _worked(self._pictures, receive, self._picture, path, pairs, known)
        return _words(404, "There is no such page.")

    async def _in_two_threads(self, path: str, receive: Any, pairs: Pairs) -> Reply:
        """An answer with a slow part that no question about the data should wait for."""
        if path == "/export":
            made = await _worked(self._questions, receive, self._export, pairs)
            if isinstance(made.content, CocoFile):
                await _worked(self._files, receive, made.content.prepare)
            return made
        at, found = await _worked(self._questions, receive, self._image, pairs)
        words = await _worked(self._pictures, receive, self._photographs.words, at)  # it reads all pixels
        return _json({**found, "photo_words": words})

    def _page(self, _: Pairs) -> Reply:
        page, policy = self.views.page()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"content-security-policy", policy.encode())]
        return Reply(200, page.encode(), headers)

    def _drawings(self, pairs: Pairs) -> Reply:
        words = ",".join(value for name, value in pairs if name == "at")
        positions = [self._position(word) for word in words.split(",") if word]
        if len(positions) > _MOST_DRAWINGS:
            raise ValueError(f"at most {_MOST_DRAWINGS} images at once, got {len(positions):,}")
        return _json(self.views.drawings(positions, _without(pairs, "at")))

    def _image(self, pairs: Pairs) -> tuple[int, dict[str, Any]]:
        at = self._position(_one(pairs, "at"))
        return at, self.views.image(at, _without(pairs, "at"))

    def _notes(self, body: bytes | None) -> Reply:
        if body is None:
            return _json(self.views.notes())
        try:
            entry = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"expected JSON: {error}") from None
        return _json(self.views.write_note(entry))

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


class _GoneError(Exception):
    """Nobody waits for the answer any more."""


async def _worked(pool: ThreadPoolExecutor, receive: Any, function: Callable[..., Result], *arguments: Any) -> Result:
    """The result of a function in a thread; if the browser goes away before its turn, it is not called.

    Raises:
        _GoneError: If the browser goes away, or the server ends.
    """
    try:
        work = asyncio.wrap_future(pool.submit(function, *arguments))
    except RuntimeError:  # the pool is closed
        raise _GoneError from None
    gone: asyncio.Future[Any] = asyncio.ensure_future(_disconnected(receive))
    waited: list[asyncio.Future[Any]] = [work, gone]
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise _GoneError
        return work.result()
    except asyncio.CancelledError:
        raise _GoneError from None
    finally:
        gone.cancel()
        work.cancel()


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _body(receive: Any) -> bytes:
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def _json(value: Any) -> Reply:
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Reply(200, text.encode("utf-8", "replace"), [(b"content-type", b"application/json")])


def _words(status: int, words: str) -> Reply:
    return _json({"words": words})._replace(status=status)


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
