"""What a training shows: a bar on a terminal, lines everywhere."""

from __future__ import annotations

import io
import re
import sys
import time
from types import SimpleNamespace
from typing import Any

import pytest

from ioukit._progress import Progress
from ioukit.cli._streams import Talk
from ioukit.cli.train import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(stream: io.StringIO, monkeypatch: pytest.MonkeyPatch, *, quiet: bool = False) -> str:
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.delenv("NO_COLOR", raising=False)
    with progress(Talk(quiet=quiet), 2) as seen:
        for number in (1, 2):
            for step in (1, 2, 3):
                seen.step(number, step, 3, {"total": 4 - step, "box": 1.0})
                if seen.bar is not None:
                    seen.bar.refresh()
            done: Any = SimpleNamespace(
                epoch=number, losses={"total": 2.0}, summary={"AP": 0.25, "AP50": 0.5, "AP75": 0.125}, seconds=7.4
            )
            seen.epoch(done)
    return stream.getvalue()


LINES = [f"epoch {number}/2  total 2.000  AP 0.250  AP50 0.500  AP75 0.125  7 s" for number in (1, 2)]


def test_plain_lines_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(io.StringIO(), monkeypatch).splitlines() == LINES


def test_a_line_every_minute_where_nobody_watches(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress(Talk(quiet=False), 2) as seen:
        for step in range(1, 11):  # of 25 seconds each
            now += 25
            seen.step(1, step, 10, {"total": 1 / step})
    assert stream.getvalue().splitlines() == [
        "epoch 1/2  loss 0.333  step 3/10",
        "about 6 min for 14 steps, and what evaluations take",  # steps 2 to 6 took 125 seconds
        "epoch 1/2  loss 0.111  step 9/10",
    ]  # fmt: skip


def test_a_bar_with_loss_and_time_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    out = shown(Terminal(), monkeypatch)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", out).replace("\r", "\n").splitlines()
    assert [line.strip() for line in plain if line.strip() in LINES] == LINES  # whole, above the bar
    bars = [line for line in plain if "loss" in line]
    assert any(re.match(r"epoch 1/2  loss 3\.000 .* 1/3 (\d+:\d\d:\d\d|-:--:--)", line) for line in bars)
    assert any(re.match(r"epoch 2/2  loss 3\.000 .* 1/3 ", line) for line in bars)  # a bar of its own
    assert any(re.match(r"epoch 2/2  loss 1\.000 .* 3/3 0:00:00", line) for line in bars)


@pytest.mark.parametrize("stream", [Terminal, io.StringIO])
def test_quiet_is_quiet(stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(stream(), monkeypatch, quiet=True) == ""


def busy_line(monkeypatch: pytest.MonkeyPatch, shares: list[float], *, tells: bool = True) -> str:
    """The last line that was drawn while a call was busy."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("ioukit.cli._streams._MOMENT", 0.01)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    with Talk(quiet=False).busy("comparing", tells=tells):
        for share in shares:
            work = Progress(1)
            work.add(share)
            time.sleep(0.3)
        time.sleep(0.3)
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", stream.getvalue()).replace("\r", "\n").splitlines()
    return [line for line in drawn if "comparing" in line][-1]


def test_a_line_shows_how_far_a_call_is_that_tells_it(monkeypatch: pytest.MonkeyPatch) -> None:
    line = busy_line(monkeypatch, [0.2, 0.4, 0.6])
    assert re.search(r"━ +60% (\d:\d\d:\d\d|-:--:--) comparing", line), line


def test_a_line_shows_the_time_of_a_call_that_tells_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    line = busy_line(monkeypatch, [])
    assert re.search(r"^\S 0:00:00 comparing", line), line


def test_a_line_shows_the_time_of_what_follows_and_of_calls_that_are_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    for line in (busy_line(monkeypatch, [0.5, 1.0]), busy_line(monkeypatch, [0.5], tells=False)):
        assert re.search(r"^\S 0:00:0\d comparing", line), line
