"""Programs that nvcc built: those that take NVIDIA's runtime from a shared library get ours in its place.

What comes of it depends on the device. A real GPU runs their kernels, as the driver takes nvcc's device code. A virtual GPU
compiles kernels from what ``kw compile`` keeps of their source, and nvcc keeps nothing of that: calls of the runtime work
there, launches are refused. A program with the runtime inside, as nvcc links by default, speaks to the driver itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kernelwright.cache import cache_folder, content_key
from kernelwright.cuda.objects.elf import Elf
from kernelwright.cuda.runtime_library import SONAMES, install_shared, missing_imports, shared_runtime
from kernelwright.device.serving.worker import say
from kernelwright.errors import KernelwrightError

_DEVICE_CODE = ".nv_fatbin"
_OURS, _NVIDIAS = b"KERNELWRIGHT_SOCKET", b"libcuda.so.1"
"""What a program has among its texts when our runtime is inside, and when NVIDIA's is."""


def stand_in(program: Path, is_real: bool, environment: Mapping[str, str]) -> dict[str, str]:
    """What to add to ``environment`` for ``program`` to take our runtime. Says what will not work."""
    try:
        wanted = missing_imports(program)
        data = program.read_bytes() if wanted.library is None else b""
        if data and _NVIDIAS in data and _OURS not in data and _DEVICE_CODE in Elf(data, program.name).section_names:
            _say_static(program, is_real)
    except (KernelwrightError, OSError):
        return {}  # a script, say, or nothing at all, which starting it will tell
    major = next((number for number, name in SONAMES.items() if name == wanted.library), None)
    if major is None:
        return {}
    if wanted.missing:
        say(f"{program} calls {', '.join(wanted.missing)}, which our CUDA runtime does not have")
        if is_real:
            return {}  # NVIDIA's own may be here
    folder = cache_folder() / "cudart" / content_key([shared_runtime(major)])
    if not (folder / SONAMES[major]).exists():
        install_shared(folder, (major,))
    others = environment.get("LD_LIBRARY_PATH")
    return {"LD_LIBRARY_PATH": f"{folder}:{others}" if others else str(folder)}


def _say_static(program: Path, is_real: bool) -> None:
    what = "nothing of it is seen here" if is_real else "only a real GPU serves it"
    say(
        f"{program} has NVIDIA's CUDA runtime inside, as nvcc links by default, so {what}: "
        "give kw run its source, or build it with kw compile"
    )
