"""Attempts to break in by names that lead out of the folder of images, and by files that are no pictures."""

from __future__ import annotations

import os
import socket
import struct
import zlib
from pathlib import Path

import pytest

from ioukit.report._picture_files import opened
from support.viewing import Client, served

image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[view]'")

SECRET = b"the secret outside"
posix = pytest.mark.skipif(os.name == "nt", reason="links, devices and pipes are those of POSIX")


def names_that_lead_out(root: Path) -> list[str]:
    outside = str(root / "outside.png")
    return [
        *(
            "../outside.png",
            "deeper/../../outside.png",
            "./.././outside.png",
            outside,
            f"/{outside}",
            f"file://{outside}",
        ),
        *("..\\outside.png", "C:\\outside.png", "\\\\server\\share\\outside.png", "//server/share/outside.png"),
        *(
            "leads_out.png",
            "folder_out/outside.png",
            "leads_out_twice.png",
            "circle.png",
            "nul\0.png",
            "lone\ud800.png",
        ),
        *(
            "/etc/passwd",
            "/dev/zero",
            "/dev/stdin",
            "/proc/self/environ",
            "~/outside.png",
            "$HOME",
            "%2e%2e/outside.png",
        ),
        *("..", ".", "", "/", "deeper", "x" * 5000, "a/" * 3000, "CON", "NUL.png", "outside.png:stream", "OUTSIDE.PNG"),
        *("pipe.png", "socket.png", "device.png", "unreadable.png", "missing.png", "../images2/outside.png"),
    ]


@posix
def test_nothing_outside_of_the_folder_is_served(tmp_path: Path) -> None:
    images = tmp_path / "images"
    (images / "deeper").mkdir(parents=True)
    (tmp_path / "images2").mkdir()
    for outside in (tmp_path / "outside.png", tmp_path / "images2" / "outside.png"):
        image_module.new("RGB", (80, 60), "red").save(outside)
    (images / "leads_out.png").symlink_to(tmp_path / "outside.png")
    (images / "leads_out_twice.png").symlink_to(images / "leads_out.png")
    (images / "folder_out").symlink_to(tmp_path)
    (images / "circle.png").symlink_to(images / "circle.png")
    (images / "device.png").symlink_to("/dev/zero")
    os.mkfifo(images / "pipe.png")
    (images / "unreadable.png").write_bytes(b"")
    (images / "unreadable.png").chmod(0)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(images / "socket.png"))
    names = names_that_lead_out(tmp_path)
    with served([*names, "inside.png"], images) as server:
        client = Client(server.address())
        image_module.new("RGB", (80, 60), "blue").save(images / "inside.png")
        assert client.ask(f"/photo?at={len(names)}").status == 200
        for at, name in enumerate(names):
            for address in (f"/photo?at={at}", f"/thumb?at={at}&side=320"):
                asked = client.ask(address)
                assert asked.status == 404, name
                assert asked.json["words"]
                assert str(tmp_path) not in asked.json["words"]
        assert client.ask("/api/answer").json["total"] == len(names) + 1  # a broken image breaks nothing else


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    images = tmp_path / "images"
    (images / "deeper").mkdir(parents=True)
    image_module.new("RGB", (80, 60), "red").save(images / "deeper" / "red.png")
    (images / "link.png").symlink_to(images / "deeper" / "red.png")
    with served(["link.png", "deeper/red.png", "/elsewhere/red.png"], images) as server:
        assert [Client(server.address()).ask(f"/photo?at={at}").status for at in range(3)] == [200, 200, 404]


def test_the_folder_may_be_a_link_itself(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "real" / "red.png")
    (tmp_path / "images").symlink_to(tmp_path / "real")
    with served(["red.png"], tmp_path / "images") as server:
        assert Client(server.address()).ask("/photo?at=0").status == 200


@posix
def test_a_file_that_becomes_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(SECRET)
    (tmp_path / "late.png").symlink_to(tmp_path / "secret")
    with pytest.raises(OSError), opened(tmp_path / "late.png"):
        pass
    os.mkfifo(tmp_path / "pipe")
    for other in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(OSError), opened(other):
            pass


def bomb() -> bytes:
    """A PNG of a few hundred bytes that says it has 60,000 x 60,000 pixels."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    packed = zlib.compress(bytes(100_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")


def test_an_enormous_picture_is_refused_whatever_others_allow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Libraries of computer vision take Pillow's limit away when they are imported."""
    monkeypatch.setattr(image_module, "MAX_IMAGE_PIXELS", None)
    (tmp_path / "bomb.png").write_bytes(bomb())
    with served(["bomb.png"], tmp_path) as server:
        asked = Client(server.address()).ask("/photo?at=0")
        assert asked.status == 404
        assert asked.json["words"].endswith("its unpacked size is enormous")


def test_files_that_are_no_pictures_are_refused(tmp_path: Path) -> None:
    whole = image_module.new("RGB", (800, 600), "red")
    whole.save(tmp_path / "whole.jpg")
    jpeg = (tmp_path / "whole.jpg").read_bytes()
    script = b"<script>alert(1)</script>"
    files = {
        "svg.jpg": b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
        "page.jpg": b"<!doctype html>" + script,
        "text.png": SECRET,
        "empty.jpg": b"",
        "start.jpg": jpeg[:20],
        "half.jpg": jpeg[: len(jpeg) // 2],
        "bomb.png": bomb(),
        "program.png": b"\x7fELF" + bytes(1000),
        "pdf.jpg": b"%PDF-1.7\n" + script,
        "postscript.jpg": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n(%pipe%id) run",
        "icon.jpg": b"\0\0\1\0" + bytes(100),
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with served([*files, "whole.jpg"], tmp_path) as server:
        client = Client(server.address())
        for at, name in enumerate(files):
            for address in (f"/photo?at={at}", f"/thumb?at={at}&side=320"):
                asked = client.ask(address)
                assert asked.status == 404, name
                assert b"script" not in asked.body
                assert SECRET not in asked.body
        assert "enormous" in client.ask(f"/photo?at={list(files).index('bomb.png')}").json["words"]
        assert client.ask(f"/photo?at={len(files)}").body == jpeg


def test_the_content_type_is_that_of_the_pixels_and_not_of_the_name(tmp_path: Path) -> None:
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "page.html", "PNG")
    image_module.new("RGB", (80, 60), "red").save(tmp_path / "png.svg", "JPEG")
    with (tmp_path / "png.svg").open("ab") as file:
        file.write(b"<script>alert(1)</script>")  # a picture and a page in one file
    with served(["page.html", "png.svg"], tmp_path) as server:
        client = Client(server.address())
        for at, kind in enumerate(("image/png", "image/jpeg")):
            asked = client.ask(f"/photo?at={at}")
            assert asked.header("content-type") == kind
            assert asked.header("x-content-type-options") == "nosniff"
            assert "sandbox" in str(asked.header("content-security-policy"))
            thumb = client.ask(f"/thumb?at={at}&side=160")
            assert thumb.header("content-type") == "image/jpeg"
            assert b"script" not in thumb.body
