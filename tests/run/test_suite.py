"""Every program of the suite, unmodified, on the virtual GPU, against its NumPy reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cli.support.compile_flags import CompileFlags
from kernelwright.cli.support.program_arguments import GivenProgram
from kernelwright.executable import worker_command
from kernelwright.suite import APPLICATIONS, NAMES, SIZES, load, run_and_verify

ALL = (*NAMES, *APPLICATIONS)


def executable(name: str) -> Path:
    """As ``kw run`` builds it, kept from run to run."""
    program = load(name)
    given = {
        "define": [f[2:] for f in program.flags if f.startswith("-D")],
        "include": [f[2:] for f in program.flags if f.startswith("-I")],
    }
    return GivenProgram.of(program.source_paths, (), CompileFlags.of(dict(given)), {}).executable()


def verified(name: str, size: str) -> list[str]:
    if name in APPLICATIONS:
        pytest.importorskip("sklearn")
    (wanted,) = (s for s in SIZES if s == size)
    worker = {"KERNELWRIGHT_DEVICE": "h200", "KERNELWRIGHT_WORKER": worker_command()}
    return run_and_verify(load(name), executable(name), wanted, environment=worker)


@pytest.mark.parametrize("size", ["minute", "tiny"])
@pytest.mark.parametrize("name", ALL)
def test_few(name: str, size: str) -> None:
    assert verified(name, size) == []


@pytest.mark.slow
@pytest.mark.parametrize("size", ["small", "medium"])
@pytest.mark.parametrize("name", ALL)
def test_milliseconds(name: str, size: str) -> None:
    assert verified(name, size) == []
