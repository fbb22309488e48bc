"""What the machine itself gives on several cores: arithmetic in registers, the same amount on one thread and on all.

Cores of a virtual machine may be two threads of one core, may be slower together than alone, and may be lent out meanwhile. What a
loop that touches no memory does not gain, no program gains.
"""

from __future__ import annotations

import ctypes
import threading
import time

from kernelwright.codegen.simt.emission.emitter import ENTRY
from kernelwright.codegen.simt.launching.host_code import host_code

ROUNDS = 8_000_000
"""Of eight independent steps on eight numbers each; some 20 ms on one thread."""

_CHAINS = 8
_TYPE = "<8 x float>"


class Yardstick:
    """The loop, compiled for this processor as kernels are."""

    def __init__(self) -> None:
        self._code = host_code("arithmetic", _text(), 1)
        self._loop = ctypes.CFUNCTYPE(ctypes.c_float, ctypes.c_int64)(self._code.address)

    def seconds(self, threads: int) -> float:
        """By the clock, for ``ROUNDS`` rounds in all, shared by so many threads."""
        share = ROUNDS // threads
        others = [threading.Thread(target=self._loop, args=(share,)) for _ in range(threads - 1)]
        begin = time.perf_counter()
        for other in others:
            other.start()
        self._loop(share)
        for other in others:
            other.join()
        return time.perf_counter() - begin


def _text() -> str:
    chains = range(_CHAINS)
    phis = [f"%v{c} = phi {_TYPE} [ splat (float {c + 1}.0), %entry ], [ %w{c}, %round ]" for c in chains]
    steps = [
        line
        for c in chains
        for line in (
            f"%m{c} = fmul {_TYPE} %v{c}, splat (float 0.5)",
            f"%w{c} = fadd {_TYPE} %m{c}, splat (float 1.0)",
        )
    ]
    sums = [f"%s{c} = fadd {_TYPE} {'%s' if c > 1 else '%w'}{c - 1}, %w{c}" for c in range(1, _CHAINS)]
    return "\n".join(
        [
            f"define float @{ENTRY}(i64 %rounds) {{",
            "entry: br label %round",
            "round: %i = phi i64 [ 0, %entry ], [ %next, %round ]",
            *phis,
            *steps,
            "%next = add i64 %i, 1",
            "%more = icmp slt i64 %next, %rounds",
            "br i1 %more, label %round, label %done",
            "done:",
            *sums,
            f"%one = extractelement {_TYPE} %s{_CHAINS - 1}, i32 0",
            "ret float %one",
            "}",
        ]
    )
