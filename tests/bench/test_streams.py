"""``kw bench --json`` prints one object, whatever the programs that it runs print."""

from __future__ import annotations

import json
import subprocess
import sys
import types

import pytest

from kernelwright.bench.result import Measured, Say
from kernelwright.cli.commands import bench


def test_what_programs_print_is_kept_apart(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def measure(quick: bool, say: Say) -> Measured:
        subprocess.run(["sh", "-c", "echo from a program"], check=True)
        return Measured("talking")

    monkeypatch.setitem(bench.BENCHMARKS, "talking", ("talking", "A program that prints."))
    monkeypatch.setitem(sys.modules, "talking", types.SimpleNamespace(measure=measure))  # type: ignore[arg-type]
    bench.command("talking", as_json=True)
    out, err = capfd.readouterr()
    assert json.loads(out)["name"] == "talking" and "from a program" in err
    bench.command("talking")
    assert "from a program" in capfd.readouterr().out
