"""The examples' IR is what the front end makes of their sources: same instructions after everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.codegen.ptx import generate
from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_pass
from kernelwright.passes.libdevice import find_libdevice
from tests.passes.listing import DATA, example, instructions


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(DATA.glob("*.cu")), ids=lambda p: p.stem)
def test_ir_follows_its_source(path: Path) -> None:
    if path.stem == "math" and find_libdevice() is None:
        pytest.skip("no libdevice is installed")
    fresh = device_pass(path, SourceOptions(arch="sm_80"), find_clang(None, None, None)).text
    assert instructions(generate(fresh, "sm_80").ptx) == instructions(generate(example(path.stem), "sm_80").ptx)
