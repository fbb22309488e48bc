"""Every promised device function compiles, in both passes and with both C++ libraries, and comes to the right IR."""

from __future__ import annotations

import pytest

from .conftest import CudaCompiler, Library, Pass, bodies, optimised
from .promises import GROUPS, source


@pytest.mark.parametrize("group", GROUPS)
def test_comes_to_what_the_table_says(group: str, compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda(source(group))
    assert compiled.ok, compiled.errors
    found = bodies(optimised(compiled.ir))
    wrong = [
        f"{call.code}: no {call.expect} in\n{found[f'call_{n}']}"
        for n, call in enumerate(GROUPS[group].calls)
        if call.expect not in found[f"call_{n}"]
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("side", "library"), [("device", "system"), ("host", "libc++"), ("host", "system")])
def test_all_compile_everywhere(side: Pass, library: Library, compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda(source(*GROUPS), side=side, library=library)
    assert compiled.ok, compiled.errors
