"""The post-passes of variants."""

from __future__ import annotations

from pathlib import Path

from kernelwright.passes.recipe import optimise_with


def test_pipelines_leave_no_memory_behind() -> None:
    """A night's search runs a million of them in one process."""

    def resident_kib() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4

    text = "define i32 @f(i32 %x) {\n  %y = add i32 %x, 1\n  ret i32 %y\n}\n"
    for _ in range(20):
        optimise_with(text, None, "sm_80")
    before = resident_kib()
    for _ in range(60):
        optimise_with(text, None, "sm_80")
    # 30 KiB each where nothing is freed.
    assert resident_kib() - before < 900
