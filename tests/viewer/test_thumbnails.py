from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

from ioukit.viewer.images.thumbnails import Thumbnails, cache_folder

JPEG = b"\xff\xd8\xff"


def copy(number: int, size: int = 100) -> bytes:
    return JPEG + bytes([number]) * (size - 3)


def test_the_last_used_stay_in_memory() -> None:
    kept = Thumbnails(in_memory=300)
    for number in range(3):
        kept.put(str(number), copy(number))
    assert kept.get("0") == copy(0)
    kept.put("3", copy(3))
    assert [kept.get(str(number)) is not None for number in range(4)] == [True, False, True, True]
    kept.put("3", copy(4, 250))
    assert [kept.get(str(number)) for number in range(4)] == [None, None, None, copy(4, 250)]
    kept.put("large", copy(5, 301))
    assert kept.get("large") is None


def test_copies_are_kept_from_one_run_to_the_next(tmp_path: Path) -> None:
    folder = tmp_path / "cache" / "thumbnails"
    Thumbnails(folder).put("a", copy(1))
    if os.name == "posix":
        assert folder.stat().st_mode & 0o777 == 0o700
    assert Thumbnails(folder).get("a") == copy(1)
    assert Thumbnails(folder).get("b") is None
    assert Thumbnails().get("a") is None


def test_the_folder_has_a_limit_and_the_oldest_go_first(tmp_path: Path) -> None:
    kept = Thumbnails(tmp_path, in_memory=0, on_disk=1000)
    for number in range(9):
        kept.put(str(number), copy(number))
        os.utime(tmp_path / f"{number}.jpg", (number, number))
    kept.put("used", copy(1))
    assert kept.get("3") == copy(3)  # it becomes new
    for number in range(20, 40):
        kept.put(str(number), copy(number))
        assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1200
    assert kept.get("0") is None
    assert kept.get("39") == copy(39)


def test_a_used_copy_is_not_the_next_to_go(tmp_path: Path) -> None:
    kept = Thumbnails(tmp_path, in_memory=0)
    kept.put("a", copy(1))
    os.utime(tmp_path / "a.jpg", (1, 1))
    assert kept.get("a") == copy(1)
    assert (tmp_path / "a.jpg").stat().st_mtime > time.time() - 60


@pytest.mark.skipif(os.name != "posix", reason="owners and links are those of POSIX")
def test_a_folder_or_a_file_that_others_could_have_made_is_not_used(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    (tmp_path / "mine").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    (tmp_path / "file").write_text("no folder")
    for folder in (open_to_all, tmp_path / "link", tmp_path / "file", tmp_path / "file" / "deeper"):
        kept = Thumbnails(folder)
        kept.put("a", copy(1))
        assert kept.get("a") == copy(1)  # in memory
        assert Thumbnails(folder).get("a") is None
    assert not [*open_to_all.iterdir(), *(tmp_path / "mine").iterdir()]
    (tmp_path / "secret").write_bytes(copy(7))
    (tmp_path / "mine" / "planted.jpg").symlink_to(tmp_path / "secret")
    (tmp_path / "mine" / "page.jpg").write_text("<script>")
    kept = Thumbnails(tmp_path / "mine")
    assert kept.get("planted") is None
    assert kept.get("page") is None


def test_many_threads_share_it(tmp_path: Path) -> None:
    kept, wrong = Thumbnails(tmp_path, in_memory=2000, on_disk=4000), []

    def work(start: int) -> None:
        for step in range(300):
            number = (start * 7 + step) % 60
            found = kept.get(str(number))
            if found is None:
                kept.put(str(number), copy(number))
            elif found != copy(number):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("new-")]


def test_the_folder_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", "/var/cache/me")
    assert cache_folder() == Path("/var/cache/me/ioukit/thumbnails")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() is None
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/me")
    assert cache_folder() == Path("/home/me/.cache/ioukit/thumbnails")
