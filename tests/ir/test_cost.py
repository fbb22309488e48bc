"""The room stays light: no heavy imports. How quick it is, `kw bench ir` says."""

from __future__ import annotations

import subprocess
import sys


def test_importing_needs_no_llvm_and_no_numpy() -> None:
    code = (
        "import sys; sys.path.insert(0, 'src'); import kernelwright.ir; "
        "print([m for m in ('llvmlite', 'numpy', 'scipy', 'ziglang') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
