"""The precompiled header: verified before clang believes it."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from kernelwright.cuda import precompiled
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
    assert list(kept.glob("*.pch")) == [again]


def test_it_is_read_again_only_when_it_may_have_changed(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang = find_clang()
    flags = device_flags(clang, SourceOptions())
    path = precompiled_header(clang, flags)
    assert path is not None
    time.sleep(0.1)
    assert precompiled_header(clang, flags) == path
    read: list[str] = []
    monkeypatch.setattr(precompiled, "file_digest", lambda name: read.append(name) or "another")
    assert precompiled_header(clang, flags) == path
    assert read == []
    os.utime(path)
    assert precompiled_header(clang, flags) != path  # read, and not what it was
    assert read[0] == str(path)


def test_one_just_written_is_read_again(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been written twice between two ticks of the file system's clock."""
    monkeypatch.setattr(precompiled, "_TICK_NS", 60_000_000_000)  # a busy machine reads it for longer than the real one
    clang = find_clang()
    flags = device_flags(clang, SourceOptions())
    path = precompiled_header(clang, flags)
    assert path is not None
    os.utime(path)
    precompiled_header(clang, flags)
    assert list(kept.glob("*.seen")) == []
