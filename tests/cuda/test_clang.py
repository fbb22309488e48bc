"""Which clang, with which headers: also on a machine where somebody else has used the wheel before us."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cuda import clang


@pytest.mark.parametrize("round_", [1, 2])
def test_the_bundled_library_tells_its_configuration_every_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, round_: int
) -> None:
    """zig keeps what it compiled; asking again with an empty cache of ours must still be answered."""
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    flags = clang.find_clang(hermetic=True).header_flags
    assert any(f.startswith("-D_LIBCPP_ABI_VERSION=") for f in flags)
    assert "-nostdinc" in flags


def test_the_bundled_clang_matches_llvm() -> None:
    from kernelwright.passes.llvm import binding

    assert clang.find_clang().major == binding().llvm_version_info[0]
