"""The room stays light: no heavy imports, and quick enough to run once per candidate."""

from __future__ import annotations

import subprocess
import sys
import time

from kernelwright.ir import parse_module, print_module
from tests.ir.llvm import read


def test_importing_needs_no_llvm_and_no_numpy() -> None:
    code = (
        "import sys; sys.path.insert(0, 'src'); import kernelwright.ir; "
        "print([m for m in ('llvmlite', 'numpy', 'scipy', 'ziglang') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_thousand_instructions_in_forty_milliseconds() -> None:
    """Parse and print together; the best of several rounds, so that a busy machine does not fail it."""
    texts = [read(name) for name in ("stencil", "reduce", "structs")]
    count = sum(1 for t in texts for f in parse_module(t).definitions for _ in f.instructions())
    assert count > 1000
    best = min(_round(texts) for _ in range(7))
    assert best * 1000 / count < 0.040, f"{best * 1e6 / count:.1f} ms for 1,000 instructions"


def _round(texts: list[str]) -> float:
    start = time.perf_counter()
    for text in texts:
        print_module(parse_module(text))
    return time.perf_counter() - start
