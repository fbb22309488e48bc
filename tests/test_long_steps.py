"""Long steps are announced, the innermost of them; short ones are not, and they are heard by who listens alone."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from kernelwright import long_steps
from kernelwright.long_steps import announced
from tests.announced_lines import without_announced


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    monkeypatch.setattr(long_steps, "EVERY_S", 0.01)
    found: list[str] = []
    long_steps.listen(found.append)
    yield found
    long_steps.listen(None)


def wait_for(heard: list[str], line: str) -> None:
    end = time.monotonic() + 30
    while line not in heard and time.monotonic() < end:
        time.sleep(0.001)
    assert line in heard


def test_the_innermost_step_is_announced(heard: list[str]) -> None:
    with announced("compiling"):
        wait_for(heard, "compiling, for 1 s")
        with announced("linking"):
            wait_for(heard, "linking, for 1 s")
        heard.clear()
        wait_for(heard, "compiling, for 1 s")


def test_what_is_over_is_announced_no_more(heard: list[str]) -> None:
    with pytest.raises(ZeroDivisionError), announced("dividing"):
        wait_for(heard, "dividing, for 1 s")
        1 / 0  # noqa: B018
    with announced("compiling"):
        heard.clear()
        wait_for(heard, "compiling, for 1 s")
        assert "dividing, for 1 s" not in heard


def test_a_short_step_is_not_announced(heard: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_steps, "EVERY_S", 60.0)
    with announced("adding"):
        pass
    assert heard == []


@pytest.mark.parametrize(
    ("age_s", "wait_s"), [(0.0, 1.8), (1.0, 0.8), (1.7, 0.225), (1.8, 1.8), (60.0, 1.8), (-1.0, 1.8)]
)
def test_what_was_silent_before_the_first_step_counts(age_s: float, wait_s: float) -> None:
    assert long_steps._first_wait_s(age_s) == pytest.approx(wait_s)


def test_the_other_tests_do_not_see_what_is_announced() -> None:
    said = (
        "kw: compiling app.cu, for 12 s\nkw: note: for 3 s nothing came\nkw: linking, for 2 s\nnext: kw: try, for 1 s\n"
    )
    assert without_announced(said) == "kw: note: for 3 s nothing came\nnext: kw: try, for 1 s\n"
