"""Every promised device function compiles, in both passes and with both C++ libraries, and comes to the right IR."""

from __future__ import annotations

from itertools import accumulate

import pytest

from .conftest import CudaCompiler, Library, Pass, bodies, optimised
from .promises import GROUPS, source

# The number of each group's first call in the source of all groups.
_FIRST = dict(zip(GROUPS, accumulate((len(g.calls) for g in GROUPS.values()), initial=0), strict=False))


@pytest.fixture(scope="module")
def found(promised_ir: str) -> dict[str, str]:
    return bodies(optimised(promised_ir))


@pytest.mark.parametrize("group", GROUPS)
def test_comes_to_what_the_table_says(group: str, found: dict[str, str]) -> None:
    bodies_of = [found[f"call_{_FIRST[group] + n}"] for n in range(len(GROUPS[group].calls))]
    wrong = [
        f"{call.code}: no {call.expect} in\n{body}"
        for call, body in zip(GROUPS[group].calls, bodies_of, strict=True)
        if call.expect not in body
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(("side", "library"), [("device", "system"), ("host", "libc++"), ("host", "system")])
def test_all_compile_everywhere(side: Pass, library: Library, compile_cuda: CudaCompiler) -> None:
    compiled = compile_cuda(source(*GROUPS), side=side, library=library)
    assert compiled.ok, compiled.errors
