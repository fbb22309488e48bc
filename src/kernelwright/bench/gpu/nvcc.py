"""A suite program's kernels as NVIDIA's compiler makes them, ``nvcc -O3``: a baseline that is not ours.

The names in the object code are the same as in ours, so its kernels take the recorded launches.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from kernelwright.device.real_gpu.worker import Image
from kernelwright.suite.program import SuiteProgram

TIMEOUT_S = 300.0
_FLAGS = ("-O3", "-w", "-cubin")


def find_nvcc() -> str | None:
    """The path of nvcc; None where there is none."""
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def flags_of(program: SuiteProgram) -> list[str]:
    """Its own flags, for nvcc, from wherever it is called."""
    own = [f"-I{program.folder / flag[2:]}" if flag.startswith("-I") else flag for flag in program.flags]
    return [*own, f"-I{program.folder}"]


def compile_kernels(program: SuiteProgram, arch: str, folder: Path) -> str:
    """Writes ``nvcc-SOURCE.ARCH.cubin`` for each CUDA file of the program; why one could not be made, or nothing."""
    nvcc = find_nvcc()
    if nvcc is None:
        return "there is no nvcc"
    folder.mkdir(parents=True, exist_ok=True)
    for source in (path for path in program.source_paths if path.suffix == ".cu"):
        target = folder / f"nvcc-{source.stem}.{arch}.cubin"
        words = [nvcc, *_FLAGS, f"-arch={arch}", *flags_of(program), "-o", str(target), str(source)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"nvcc does not run: {error}".splitlines()[0]
        if done.returncode:
            said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            return f"nvcc does not compile {source.name}: {said[-1]}"
    return ""


def kernel_image(folder: Path, kernel: str, arch: str) -> Image | None:
    """The object code that defines ``kernel``, of those that ``compile_kernels`` wrote for ``arch``; None without any."""
    for path in sorted(folder.glob(f"nvcc-*.{arch}.cubin")):
        data = path.read_bytes()
        # Each kernel has a section of its own, called so.
        if b".text." + kernel.encode() + b"\0" in data:
            return Image(data, path.name)
    return None
