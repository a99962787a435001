"""Files and folders appear whole or not at all, with the permissions and under the name that the caller means."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from ioukit._output import (
    aligned,
    fitted,
    in_words,
    spreadsheet_text,
    terminal_width,
    whole_file,
    whole_folder,
    write_whole,
)

posix = pytest.mark.skipif(os.name == "nt", reason="permissions, pipes and devices are those of POSIX")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def half_a_file(path: Path, error: type[BaseException]) -> None:
    with whole_file(path) as unfinished:
        unfinished.write_text("half")
        raise error


def half_a_folder(path: Path, error: type[BaseException]) -> None:
    with whole_folder(path) as unfinished:
        (unfinished / "deep").mkdir()
        (unfinished / "deep" / "file").write_text("half")
        raise error


class TestFile:
    @pytest.mark.parametrize("content", ["naïve 猫\r\nsecond\n", b"\x00\xff", "", b""])
    def test_it_holds_what_was_given(self, content: str | bytes, tmp_path: Path) -> None:
        for _ in range(2):  # new, then replaced
            write_whole(tmp_path / "out", content)
            data = content.encode() if isinstance(content, str) else content
            assert (tmp_path / "out").read_bytes() == data
            assert names(tmp_path) == ["out"]

    def test_the_old_content_stays_until_the_end(self, tmp_path: Path) -> None:
        (tmp_path / "out").write_text("old")
        with whole_file(str(tmp_path / "out")) as unfinished:
            assert unfinished.parent == tmp_path.resolve()
            unfinished.write_text("new")
            assert (tmp_path / "out").read_text() == "old"
        assert (tmp_path / "out").read_text() == "new"

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_an_error_leaves_nothing_behind(self, error: type[BaseException], tmp_path: Path) -> None:
        (tmp_path / "old").write_text("old")
        for name in ("old", "new"):
            with pytest.raises(error):
                half_a_file(tmp_path / name, error)
        assert names(tmp_path) == ["old"]
        assert (tmp_path / "old").read_text() == "old"

    def test_a_writer_may_put_another_file_in_its_place(self, tmp_path: Path) -> None:
        with whole_file(tmp_path / "out") as unfinished:
            (tmp_path / "private").touch(0o600)
            (tmp_path / "private").write_text("new")
            os.replace(tmp_path / "private", unfinished)
        (tmp_path / "plain").touch()
        assert (tmp_path / "out").stat().st_mode == (tmp_path / "plain").stat().st_mode
        assert (tmp_path / "out").read_text() == "new"

    @posix
    @pytest.mark.parametrize("umask", [0o022, 0o002, 0o077])
    def test_a_new_file_gets_what_the_umask_allows(self, umask: int, tmp_path: Path) -> None:
        before = os.umask(umask)
        try:
            write_whole(tmp_path / "out", "text")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o666 & ~umask

    @posix
    @pytest.mark.parametrize("mode", [0o600, 0o664, 0o755])
    def test_an_existing_file_keeps_its_permissions(self, mode: int, tmp_path: Path) -> None:
        (tmp_path / "out").touch()
        (tmp_path / "out").chmod(mode)
        write_whole(tmp_path / "out", "text")
        assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == mode

    @posix
    def test_a_link_stays_a_link(self, tmp_path: Path) -> None:
        (tmp_path / "folder").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "folder" / "target")
        for content in ("first", "second"):
            write_whole(tmp_path / "link", content)
            assert (tmp_path / "link").is_symlink()
            assert (tmp_path / "folder" / "target").read_text() == content
        assert names(tmp_path / "folder") == ["target"]

    @posix
    def test_a_device_stays_a_device(self) -> None:
        write_whole("/dev/null", "text")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
        if os.path.exists("/dev/full"):
            with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
                write_whole("/dev/full", "text")

    @posix
    def test_a_pipe_is_written_to(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        seen: list[str] = []
        reader = threading.Thread(target=lambda: seen.append((tmp_path / "pipe").read_text()))
        reader.start()
        write_whole(tmp_path / "pipe", "through")
        reader.join()
        assert seen == ["through"]
        assert names(tmp_path) == ["pipe"]

    def test_a_long_name_is_no_problem(self, tmp_path: Path) -> None:
        write_whole(tmp_path / ("n" * 250), "text")
        assert names(tmp_path) == ["n" * 250]

    def test_errors_name_the_file_that_was_asked_for(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = tmp_path / "none" / "out"
        with pytest.raises(FileNotFoundError) as missing:
            write_whole(asked, "text")
        assert (missing.value.filename, ".tmp" in str(missing.value)) == (str(asked), False)

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(OSError, match="No space left on device") as no_room:
            write_whole(tmp_path / "out", "text")
        assert no_room.value.filename == str(tmp_path / "out")
        assert names(tmp_path) == []

    @pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no file")
    def test_a_folder_that_takes_no_file(self) -> None:
        with pytest.raises(OSError, match=r"'/proc/r\.html'$") as refused:
            write_whole("/proc/r.html", "text")
        assert ".tmp" not in str(refused.value)

    def test_errors_about_other_files_stay_as_they_are(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as missing, whole_file(tmp_path / "out"):
            (tmp_path / "other").read_text()
        assert missing.value.filename == str(tmp_path / "other")
        with pytest.raises(OSError, match=r"^anything$"), whole_file(tmp_path / "out"):
            raise OSError("anything")


class TestFolder:
    @pytest.mark.parametrize("there", [False, True])
    def test_it_appears_at_the_end(self, there: bool, tmp_path: Path) -> None:
        target = tmp_path / "out" if there else tmp_path / "a" / "b" / "out"
        if there:
            target.mkdir()
        with whole_folder(target) as unfinished:
            (unfinished / "file").write_text("text")
            assert not (target / "file").exists()
        assert (target / "file").read_text() == "text"
        assert names(target.parent) == ["out"]

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
    def test_an_error_leaves_nothing_behind(self, error: type[BaseException], tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for name in ("empty", "new", "a/b/c"):
            with pytest.raises(error):
                half_a_folder(tmp_path / name, error)
        assert names(tmp_path) == ["empty"]
        assert names(tmp_path / "empty") == []

    def test_what_is_there_stays(self, tmp_path: Path) -> None:
        (tmp_path / "used").mkdir()
        (tmp_path / "used" / "mine").write_text("mine")
        with pytest.raises(OSError, match=r"used'$"), whole_folder(tmp_path / "used") as unfinished:
            (unfinished / "file").write_text("text")
        assert names(tmp_path) == ["used"]
        assert names(tmp_path / "used") == ["mine"]

    def test_errors_name_the_file_that_was_asked_for(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError) as missing, whole_folder(tmp_path / "out") as unfinished:
            (unfinished / "none" / "file").write_text("text")
        assert missing.value.filename == str(tmp_path / "out" / "none" / "file")
        with pytest.raises(OSError, match="No space left") as no_room, whole_folder(tmp_path / "out"):
            raise OSError(28, "No space left on device")
        assert no_room.value.filename == str(tmp_path / "out")


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-2", "@cmd", "  =1", "\t@x", "\r\n-1", "\uff1d1", "\u2212 1", "'a", "''"]
)
def test_what_a_spreadsheet_would_run_gets_an_apostrophe(text: str) -> None:
    assert spreadsheet_text(text) == "'" + text


@pytest.mark.parametrize("text", ["", "a", "a=1", "1-2", "1", ".", '"', ","])
def test_other_text_stays_as_it_is(text: str) -> None:
    assert spreadsheet_text(text) == text


class TestWidth:
    ROWS = (("class", "objects", "AP", "interval"), ("person", "221", "0.352", "0.30 to 0.40"))

    def test_columns_go_in_the_order_that_is_asked_for(self) -> None:
        whole = aligned(self.ROWS)
        assert aligned(self.ROWS, width=len(whole.splitlines()[1]), drop=(1, 3)) == whole
        head, row, note = aligned(self.ROWS, width=33, drop=(1, 3)).splitlines()
        assert (head.split(), len(row)) == (["class", "AP", "interval"], 27)
        assert note == "left out to fit 33 columns: objects"
        assert aligned(self.ROWS, width=13, drop=(1, -1)).splitlines() == [
            "class      AP", "person  0.352", "left out to fit 13 columns: objects, interval"
        ]  # fmt: skip

    def test_lines_go_on_below_their_last_column(self) -> None:
        assert fitted("size   of the box\n\n  a bc def", 13) == "size   of the\n       box\n\n  a bc def"
        assert fitted("  kitti: it needs an attribute", 20) == "  kitti: it needs an\n    attribute"
        assert fitted("      one two three", 14) == "      one two\n      three"
        assert fitted("run  " + "a" * 20, 16) == "run\n" + "a" * 20, "a word that is too long is left whole"

    @pytest.mark.parametrize(("columns", "width"), [("80", 80), ("300", 100), ("100", 100), ("5", 40), ("", 80)])
    def test_the_width(self, columns: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", columns)
        monkeypatch.setattr(os, "get_terminal_size", lambda *_: (_ for _ in ()).throw(OSError))
        assert terminal_width() == width


def test_errors_of_the_system_are_in_plain_words() -> None:
    assert in_words(FileNotFoundError(2, os.strerror(2), "a")) == "a: there is no such file or folder"
    assert in_words(OSError(28, os.strerror(28))) == "the disk is full"
    assert in_words(OSError(2, "there is no such ledger", "a.db")) == "a.db: there is no such ledger"
    assert in_words(OSError("own words")) == "own words"
