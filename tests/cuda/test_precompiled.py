"""The precompiled header: verified before clang believes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_flags
from kernelwright.cuda.precompiled import precompiled_header


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    return tmp_path / "header"


def test_it_is_made_once(kept: Path) -> None:
    clang = find_clang()
    flags = device_flags(clang, SourceOptions())
    first = precompiled_header(clang, flags)
    assert first is not None
    made = first.stat().st_mtime_ns
    assert precompiled_header(clang, flags) == first
    assert first.stat().st_mtime_ns == made


@pytest.mark.parametrize("where", [0.1, 0.5, 0.99])
def test_one_wrong_bit_is_noticed(kept: Path, where: float) -> None:
    clang = find_clang()
    flags = device_flags(clang, SourceOptions())
    path = precompiled_header(clang, flags)
    assert path is not None
    data = bytearray(path.read_bytes())
    data[int(len(data) * where)] ^= 4
    path.write_bytes(data)
    again = precompiled_header(clang, flags)
    assert again is not None
    assert again.read_bytes() != bytes(data)
    assert len(list(kept.iterdir())) == 1
