"""``kw bench`` itself, with a benchmark of no consequence."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from kernelwright.bench import BENCHMARKS
from kernelwright.bench.result import Measured, Say
from kernelwright.cli.commands import bench
from kernelwright.errors import Misuse


def measure(quick: bool, say: Say) -> Measured:
    """What the table names: one row, said before."""
    say("half of it is done")
    return Measured("nothing", [{"quick": quick}])


class Gone(io.StringIO):
    """Standard error whose reader has gone away."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_benchmark_outlives_whoever_reads_its_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(BENCHMARKS, "nothing", (__name__, "Nothing."))
    bench.command("nothing")
    assert capsys.readouterr().err == "  nothing: half of it is done\n"
    monkeypatch.setattr(sys, "stderr", Gone())
    bench.command("nothing", quick=True)
    assert "True" in capsys.readouterr().out


def test_a_benchmark_that_takes_no_budget_says_which_does() -> None:
    with pytest.raises(Misuse, match="rate takes no number of candidates") as caught:
        bench.command("rate", evaluations=1000)
    assert caught.value.hint == "kw bench search --evaluations 1000"


@pytest.mark.parametrize("name", ["rate", "search", "tune"])
def test_a_program_that_a_benchmark_does_not_have_is_named(name: str) -> None:
    with pytest.raises(Misuse, match="'nothing'"):
        bench.command(name, programs=[Path("nothing")])
