"""Progress of a search that Python started: for those who look, and only for them."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernelwright.stories.variant_search.progress import breeding_line, exploring_line, line_of, shown


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def standing(**changes: Any) -> Any:
    run = SimpleNamespace(settings=SimpleNamespace(evaluations=400))
    best = SimpleNamespace(speedup=1.352, name="v57")
    given = {"run": run, "phase": "evolve", "generation": 3, "evaluations": 120, "rate": 31.42, "best": best}
    return SimpleNamespace(**(given | changes))


def test_a_line_says_where_the_search_stands() -> None:
    assert line_of(standing()) == "evolve, generation 3: 120 of 400 candidates, 31.4 a second, best 1.352x (v57)"
    assert line_of(standing(generation=0, best=None, evaluations=410)).startswith("evolve: 410 candidates, 31.4")


def test_a_terminal_shows_it_and_is_clean_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    with shown(None, stream) as watch:
        watch(standing())
    assert "120 of 400 candidates" in stream.getvalue() and stream.getvalue().endswith("\x1b[2K")


def test_a_file_shows_nothing() -> None:
    stream = io.StringIO()
    with shown(None, stream) as watch:
        watch(standing())
    assert stream.getvalue() == ""


def test_a_watch_of_ones_own_takes_its_place() -> None:
    seen: list[Any] = []
    stream = Terminal()
    with shown(seen.append, stream) as watch:
        watch(standing())
    assert len(seen) == 1 and stream.getvalue() == ""


def test_a_notebook_is_shown_it_in_one_output(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], raw: bool) -> None:
            said.append(data["text/plain"])

    module = SimpleNamespace(display=lambda data, raw, display_id: Handle())
    for name, value in (("ipykernel", SimpleNamespace()), ("IPython", SimpleNamespace()), ("IPython.display", module)):
        monkeypatch.setitem(sys.modules, name, value)  # type: ignore[arg-type]
    stream = io.StringIO()
    with shown(None, stream) as watch:
        for _ in range(100):
            watch(standing(is_over=False))
        watch(standing(is_over=True, phase="finished"))
    assert stream.getvalue() == "" and 2 <= len(said) < 50
    assert said[0].startswith("evolve") and said[-1].startswith("finished")


def test_breeding_and_exploring_have_their_own_lines() -> None:
    bred = SimpleNamespace(
        generation=3, evaluations=812, rate=1940.4, best=SimpleNamespace(fitness=0.07553, name="v806")
    )
    assert breeding_line(bred) == "generation 3: 812 programs, 1940 a second, best 0.07553 (v806)"
    bred.best = None
    assert breeding_line(bred).endswith("none has a fitness yet")
    run = SimpleNamespace(settings=SimpleNamespace(evaluations=200))
    best = SimpleNamespace(time_us=0.371, name="v5")
    found = SimpleNamespace(run=run, evaluations=48, rate=2.14, best=best, proven_us=0.18)
    assert exploring_line(found) == "48 of 200 kernels, 2.1 a second, best 0.37 us (v5), nothing is below 0.18 us"
    found.best, found.proven_us, run.settings.evaluations = None, float("inf"), None
    assert exploring_line(found) == "48 kernels, 2.1 a second, none right yet"


def test_a_search_from_python_shows_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import kernelwright as kw

    stream = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", stream)
    kw.breed("keijzer6", generations=2, population=20, jobs=1, folder=tmp_path / "run")
    assert "generation 2: " in stream.getvalue()
