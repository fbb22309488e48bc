"""The precompiled header: verified before clang believes it."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from kernelwright.cuda import host, precompiled
from kernelwright.cuda.clang import find_clang
from kernelwright.cuda.frontend import SourceOptions, device_flags
from kernelwright.cuda.host import compile_host
from kernelwright.cuda.precompiled import precompiled_header, refused, use_header


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KERNELWRIGHT_CACHE", str(tmp_path))
    return tmp_path / "header"


@pytest.fixture(scope="module")
def made_before(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KERNELWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        clang = find_clang()
        header = precompiled_header(clang, device_flags(clang, SourceOptions()))
    assert header is not None
    return header


@pytest.fixture
def one_kept(kept: Path, made_before: Path) -> Path:
    """The folder with one in it."""
    kept.mkdir()
    shutil.copy(made_before, kept)
    return kept


def test_it_is_made_once(kept: Path) -> None:
    clang = find_clang()
    flags = device_flags(clang, SourceOptions())
    first = precompiled_header(clang, flags)
    assert first is not None
    made = first.stat().st_mtime_ns
    assert precompiled_header(clang, flags) == first
    assert first.stat().st_mtime_ns == made


@pytest.mark.parametrize("where", [0.1, 0.5, 0.99])
def test_one_wrong_bit_is_noticed(one_kept: Path, where: float) -> None:
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
    assert list(one_kept.glob("*.pch")) == [again]


def test_it_is_read_again_only_when_it_may_have_changed(one_kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_one_just_written_is_read_again(one_kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been written twice between two ticks of the file system's clock."""
    monkeypatch.setattr(precompiled, "_TICK_NS", 60_000_000_000)  # a busy machine reads it for longer than the real one
    clang = find_clang()
    flags = device_flags(clang, SourceOptions())
    path = precompiled_header(clang, flags)
    assert path is not None
    os.utime(path)
    precompiled_header(clang, flags)
    assert list(one_kept.glob("*.seen")) == []


APP = """
#include <cassert>
#include <cstdio>
#include <vector>
__global__ void k(float *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = sqrtf(p[threadIdx.x]); }
int main() {
  std::vector<float> v(4, sqrt(2.0f));
  assert(std::max(v.size(), size_t(2)) == 4);
  k<<<1, 64>>>(v.data(), min(4, 5));
  return printf("%g %g\\n", pow(v[0], 2), rsqrtf(4.0f)) > 0;
}
"""


def test_the_hosts_side_is_the_same_with_it(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clang, source = find_clang(), tmp_path / "app.cu"
    source.write_text(APP)
    options = SourceOptions(arch="sm_90", define=("LEVEL=3",))
    made = compile_host(source, None, tmp_path / "with.o", options, clang)
    assert len(list(kept.glob("*.pch"))) == 1, "and clang has not refused it"
    monkeypatch.setattr(host, "precompiled_header", lambda *_: None)
    plain = compile_host(source, None, tmp_path / "without.o", options, clang)
    assert made.path.read_bytes() == plain.path.read_bytes() and made.warnings == plain.warnings == ""


def test_one_that_clang_refuses_is_removed_and_done_without(
    one_kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clang, source = find_clang(), tmp_path / "app.cu"
    source.write_text(APP)
    of_the_device = precompiled_header(clang, device_flags(clang, SourceOptions()))
    assert of_the_device is not None
    monkeypatch.setattr(host, "precompiled_header", lambda *_: of_the_device)
    assert compile_host(source, None, tmp_path / "app.o", SourceOptions(), clang).warnings == ""
    assert not of_the_device.exists()


def test_a_header_of_the_system_that_has_changed_is_noticed(kept: Path, tmp_path: Path) -> None:
    clang, folder = find_clang(), tmp_path / "system"
    folder.mkdir()
    (folder / "time.h").write_text("#include_next <time.h>\n")
    (tmp_path / "app.cu").write_text("__global__ void k() {}\n")
    flags = device_flags(clang, SourceOptions(extra=("-isystem", str(folder))))
    header = precompiled_header(clang, flags)
    assert header is not None

    def said() -> str:
        command = [*clang.command, *use_header(flags, header), str(tmp_path / "app.cu"), "-o", str(tmp_path / "app.ll")]
        return subprocess.run(command, capture_output=True, text=True).stderr

    assert said() == ""
    (folder / "time.h").write_text("#include_next <time.h>\n#define ADDED\n")
    assert refused(said())
