"""What every application of the server does with a request: an answer, or words about what is wrong."""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ioukit.errors import DatasetError
from ioukit.viewer.images.photographs import MissingPictureError
from ioukit.viewer.marking.notes import NotesConflictError, error_words
from ioukit.viewer.server.guard import BodyTooLongError
from ioukit.viewer.server.views import entry_to_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


_log = logging.getLogger("ioukit.viewer")

Result = TypeVar("Result")


class Reply(NamedTuple):
    """An answer: its status, content and headers."""

    status: int
    content: bytes | Iterator[bytes]
    """The whole content, or its parts, which are made when they are sent."""
    headers: Sequence[tuple[bytes, bytes]]


class Application(ABC):
    """Answers the requests that the guard lets pass."""

    @abstractmethod
    def prepare(self) -> None:
        """Prepares the first answers while the browser starts."""

    @abstractmethod
    def close(self) -> None:
        """Ends the threads; what is not begun is dropped."""

    @abstractmethod
    async def found(self, scope: Any, receive: Any) -> Reply:
        """The answer to a request.

        Raises:
            ValueError: If the request is wrong.
            GoneError: If nobody waits for it.
        """

    @abstractmethod
    def thread_of(self, parts: Iterator[bytes]) -> ThreadPoolExecutor:
        """The thread in which the parts of an answer are made."""

    def said(self, status: int, words: str) -> Reply:
        """What is wrong, in words."""
        return json_reply({"words": words})._replace(status=status)

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
        except GoneError:
            return

    async def _send_parts(self, parts: Iterator[bytes], receive: Any, send: Any) -> None:
        """Sends parts as they are made; an error, or a browser that goes away, breaks the answer off."""
        try:
            pool = self.thread_of(parts)
            while part := await worked(pool, receive, next, parts, b""):
                await send({"type": "http.response.body", "body": part, "more_body": True})
        except GoneError:
            raise
        except Exception as error:  # the browser sees a download that is not complete
            _log.error("a download failed: %s", "".join(traceback.format_exception(error)))
            raise

    async def _reply(self, scope: Any, receive: Any) -> Reply:
        """The answer, in words if there is something wrong.

        Raises:
            GoneError: If nobody waits for it.
        """
        try:
            return await self.found(scope, receive)
        except ValueError as error:
            return self.said(400, str(error))
        except MissingPictureError as error:
            return self.said(404, str(error))
        except NotesConflictError as error:
            return json_reply({"words": str(error), "entry": entry_to_json(error.entry)})._replace(status=409)
        except (DatasetError, OSError) as error:
            return self.said(500, error_words(error))
        except (GoneError, BodyTooLongError):
            raise
        except Exception as error:
            _log.error("%s failed: %s", scope["path"], "".join(traceback.format_exception(error)))
            return self.said(500, f"ioukit failed: {type(error).__name__}; the terminal shows more.")


class GoneError(Exception):
    """Nobody waits for the answer any more."""


async def worked(pool: ThreadPoolExecutor, receive: Any, function: Callable[..., Result], *arguments: Any) -> Result:
    """The result of a function in a thread; if the browser goes away before its turn, it is not called.

    Raises:
        GoneError: If the browser goes away, or the server ends.
    """
    try:
        work = asyncio.wrap_future(pool.submit(function, *arguments))
    except RuntimeError:  # the pool is closed
        raise GoneError from None
    gone: asyncio.Future[Any] = asyncio.ensure_future(_disconnected(receive))
    waited: list[asyncio.Future[Any]] = [work, gone]
    try:
        await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            raise GoneError
        return work.result()
    except asyncio.CancelledError:
        raise GoneError from None
    finally:
        gone.cancel()
        work.cancel()


async def _disconnected(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def body_of(receive: Any) -> bytes:
    """The whole body of a request.

    Raises:
        GoneError: If the browser goes away before its end.
    """
    parts, more = [], True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    return b"".join(parts)


def json_reply(value: Any) -> Reply:
    """A value for the script of a page."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Reply(200, text.encode("utf-8", "replace"), [(b"content-type", b"application/json")])
