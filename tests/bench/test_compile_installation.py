"""Compiles are timed in an installation that has our dependencies and no extras."""

from __future__ import annotations

import subprocess
from pathlib import Path

from kernelwright.bench.compile.installation import extras_in_words, without_extras


def test_an_installation_without_extras(tmp_path: Path) -> None:
    kw = without_extras(tmp_path / "made")
    (tmp_path / "a.cu").write_text("__global__ void k(int *p) { *p = 1; }")
    ran = subprocess.run([str(kw), "compile", "a.cu", "-o", "-"], cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 0 and ".entry _Z1kPi" in ran.stdout, ran.stderr
    (packages,) = (tmp_path / "made" / "lib").glob("python3.*/site-packages")
    there = {path.name for path in packages.iterdir()}
    assert {"kernelwright", "ziglang", "llvmlite", "numpy", "rich"} <= there
    assert not {path for path in there if path.startswith(("cmeel", "_cuda_bindings", "ray", "pytest"))}
    assert "as installed without extras" in extras_in_words(kw)
