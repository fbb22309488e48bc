"""What is seen of long work: that something is said while one step takes minutes, and nothing once it is over."""

from __future__ import annotations

import io
import time

import pytest
from rich.console import Console

from kernelwright.cli.support import live_view
from kernelwright.cli.support.live_view import Lines, Live


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_view, "SILENCE_S", 0.02)


def wait_for(stream: io.StringIO, text: str) -> bool:
    end = time.monotonic() + 5
    while text not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.005)
    return text in stream.getvalue()


def test_a_phase_that_goes_on_is_said_again() -> None:
    stream = io.StringIO()
    with Lines(stream) as view:
        view.show("prove v127", [("phase", "prove v127"), ("best", "none yet")])
        assert wait_for(stream, "kw: prove v127, for 0 s\n")
        view.show("explain", [("phase", "explain")])
        assert wait_for(stream, "kw: explain, for 0 s\n")
    said = stream.getvalue()
    time.sleep(0.06)
    assert stream.getvalue() == said
    assert said.startswith("kw: phase prove v127; best none yet\n")


def test_nothing_is_said_before_there_is_anything_to_say() -> None:
    stream = io.StringIO()
    with Lines(stream):
        time.sleep(0.06)
    assert not stream.getvalue()


@pytest.mark.filterwarnings("error")
def test_that_nobody_can_read_it_changes_nothing() -> None:
    stream = io.StringIO()
    with Lines(stream) as view:
        view.show("prove v1", [("phase", "prove v1")])
        stream.close()
        time.sleep(0.06)  # an exception in the thread fails the test


def test_a_terminal_shows_for_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    stream, drawn = io.StringIO(), io.StringIO()
    with Live(stream) as view:
        view.show("prove v1", [("phase", "prove v1")], more=[("", "v7  1.2x")])
        Console(file=drawn, width=80).print(view._table())
        assert (
            "phase  prove v1" in drawn.getvalue() and "v7  1.2x" in drawn.getvalue() and ", for" not in drawn.getvalue()
        )
        time.sleep(0.03)
        Console(file=drawn, width=80).print(view._table())
    assert "prove v1, for 0 s" in drawn.getvalue()
