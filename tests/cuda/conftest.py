"""What is on this machine besides the wheels that the project always has."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kernelwright.cuda.clang import LLVM_MAJOR, OLDEST_CLANG_FOR_OUR_HEADERS
from kernelwright.cuda.toolkit import wheel_folders
from kernelwright.passes.nvidia_files import toolkit_roots
from tests.nvidia_extra import needs_nvidias_headers


@pytest.fixture(scope="session")
def extra() -> None:
    """The [nvidia] extra; skips where it is not installed."""
    needs_nvidias_headers()


@pytest.fixture(scope="session")
def toolkit() -> Path:
    """A CUDA toolkit with headers and libdevice; skips where there is none."""
    for root in toolkit_roots():
        if (root / "include" / "cuda_runtime.h").is_file() and (root / "nvvm" / "libdevice").is_dir():
            return root
    pytest.skip("there is no CUDA toolkit here")


@pytest.fixture(scope="session")
def toolkit_of_wheels(extra: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A toolkit's folder, put together of links to the wheels' files."""
    root = tmp_path_factory.mktemp("toolkit")
    (root / "include").mkdir()
    for nvidia in wheel_folders("nvidia"):
        for name in ("cuda_runtime", "cuda_nvcc", "cuda_cccl"):
            for header in (nvidia / name / "include").glob("[!_]*"):
                (root / "include" / header.name).symlink_to(header)
        (root / "nvvm").symlink_to(nvidia / "cuda_nvcc" / "nvvm")
    return root


@pytest.fixture(scope="session")
def system_clang() -> str:
    """A clang of the system that our headers work with and whose IR our LLVM reads; skips where there is none."""
    names = ["clang", *(f"clang-{major}" for major in range(LLVM_MAJOR, OLDEST_CLANG_FOR_OUR_HEADERS - 1, -1))]
    for path in filter(None, map(shutil.which, names)):
        said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
        found = re.search(r"clang version (\d+)\.", said)
        if found and OLDEST_CLANG_FOR_OUR_HEADERS <= int(found[1]) <= LLVM_MAJOR:
            return path
    pytest.skip("there is no clang of the system here")
