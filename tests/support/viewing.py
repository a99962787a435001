"""A running viewer for tests, and requests written byte by byte, as no client library would send them."""

from __future__ import annotations

import http.client
import json
import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit import Evaluation
    from ioukit.viewer.server.app import App
    from ioukit.viewer.server.running import Server

__all__ = ["Asked", "Client", "evaluation_of", "served"]


@dataclass(frozen=True)
class Asked:
    """An answer of the server."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header, which may occur once at most."""
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) <= 1, found
        return found[0] if found else None

    @property
    def json(self) -> Any:
        """The body as JSON."""
        assert self.header("content-type") == "application/json"
        return json.loads(self.body)


class Client:
    """Sends requests to a server that runs.

    Args:
        address: Its address with the token.
    """

    def __init__(self, address: str) -> None:
        found = re.fullmatch(r"http://(\[?[\w.:-]+\]?):(\d+)/\?token=([\w-]+)(&.*)?", address)
        assert found is not None, address
        self.host, self.port, self.token = found[1], int(found[2]), found[3]
        self.cookie = f"ioukit-{self.port}={self.token}"
        target = address.removeprefix(f"http://{self.host}:{self.port}")
        self.folder = ""
        self.start = str(self.ask(target, cookie=None, at_root=True).header("location"))
        """Where the address leads to: the page with its filter."""
        self.folder = self.start.partition("?")[0].removesuffix("/")

    def raw(self, request: bytes, *, seconds: float = 10) -> Asked:
        """The answer to bytes."""
        with socket.create_connection((self.host.strip("[]"), self.port), seconds) as connection:
            connection.sendall(request)
            answer = http.client.HTTPResponse(connection, method=request[:4].strip().decode("latin-1"))
            answer.begin()
            return Asked(answer.status, answer.getheaders(), answer.read())

    def ask(
        self,
        target: str,
        *,
        method: str = "GET",
        host: str | None = None,
        cookie: str | None = "",
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        at_root: bool = False,
    ) -> Asked:
        """The answer to a request as a browser sends it, with the cookie, unless something else is asked for.

        The target is within the folder of the app; with `at_root`, it is that of the request.
        """
        lines = [f"{method} {'' if at_root else self.folder}{target} HTTP/1.1", "Connection: close"]
        lines.append(f"Host: {host or f'{self.host}:{self.port}'}")
        if cookie is not None:
            lines.append(f"Cookie: {cookie or self.cookie}")
        lines += [f"{name}: {value}" for name, value in headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        return self.raw("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def post(
        self, target: str, value: Any, *, headers: Sequence[tuple[str, str]] | None = None, at_root: bool = False
    ) -> Asked:
        """The answer to JSON that the page posts."""
        own = [("Origin", f"http://{self.host}:{self.port}"), ("Content-Type", "application/json")]
        return self.ask(
            target,
            method="POST",
            headers=own if headers is None else headers,
            body=json.dumps(value).encode(),
            at_root=at_root,
        )


def evaluation_of(names: Sequence[str], size: tuple[float, float] = (80, 60)) -> Evaluation:
    """An evaluation of images with these file names, each with one object that is found and one false positive."""
    ids = np.arange(1, len(names) + 1)
    images = [
        {"id": number, "file_name": name, "width": size[0], "height": size[1]}
        for number, name in zip(ids.tolist(), names, strict=True)
    ]
    boxes = [[10.0, 10.0, 30.0, 20.0]] * len(names)
    annotations = [
        {"id": number, "image_id": number, "category_id": 1, "bbox": box, "area": 600.0, "iscrowd": 0}
        for number, box in zip(ids.tolist(), boxes, strict=True)
    ]
    truth = GroundTruth.from_coco(
        {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "<b>cat</b>"}]}
    )
    detections = Detections.from_arrays(
        image_ids=np.concatenate([ids, ids]),
        category_ids=np.ones(2 * len(ids), int),
        boxes=np.array([*boxes, *[[50.0, 40.0, 20.0, 15.0]] * len(names)]),
        scores=np.linspace(0.9, 0.5, 2 * len(ids)),
    )
    return evaluate(truth, detections)


def served(
    names: Sequence[str], folder: Path | None = None, *, notes: Path | None = None, **options: Any
) -> Server[App]:
    """A server of :func:`evaluation_of`, which is not started yet."""
    pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")
    pytest.importorskip("PIL", reason="needs Pillow: pip install 'ioukit[view]'")
    from ioukit.viewer.server.building import app_of  # noqa: PLC0415
    from ioukit.viewer.server.running import Server  # noqa: PLC0415 - after the checks

    app, _ = app_of(evaluation_of(names), folder, notes=notes)
    return Server(app, port=0, **options)
