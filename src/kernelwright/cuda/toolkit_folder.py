"""A folder that looks like an installed CUDA toolkit, for builds that look for one: ``make CUDA_HOME=FOLDER``, ``gcc ... -lcudart``.

bin/nvcc          kw compile, which makes a program where nothing says what to make
                  beside it __nvcc_device_query, which Makefiles ask for the number of the architecture
include           our headers
lib64, lib        libcudart and what else of NVIDIA's our runtime stands for, for linkers of their own

A library is a linker script that names our archive with what it needs, so that both ``gcc`` and ``ld`` take it. In the archive are the
device and the worker that a program asks for when it is started by hand. Names are absolute: the folder stays where it was made.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from kernelwright import __version__
from kernelwright.architectures import DEFAULT_ARCHITECTURE
from kernelwright.cuda.clang import HEADERS
from kernelwright.cuda.runtime_library import archive_with_settings
from kernelwright.errors import Misuse, ToolError

NAMES = (
    "cudart",
    "cudadevrt",
    "cuda",
    "nvrtc",
    "cublas",
    "cublasLt",
    "cufft",
    "curand",
    "cusparse",
    "cusolver",
    "nccl",
    "nvToolsExt",
    "culibos",
)
"""Libraries that builds name; each is the whole runtime."""
STATIC_ALONE = ("cudadevrt", "culibos")
"""Those of which there are static ones alone, without that in their names."""
ARCHIVE = "libkwcudart.a"

_NVCC = """#!/bin/sh
case " $* " in
  " --version "|" -V ")
    echo "kw compile, Kernelwright {version}, in the place of nvcc"
    echo "Cuda compilation tools, release {cuda}"
    exit ;;
esac
case " $* " in
  *" -v "*|*" --verbose "*|*" --dryrun "*|*" -dryrun "*) printf '%s\\n' {verbose} >&2 ;;
esac
case " $* " in
  *" --dryrun "*|*" -dryrun "*) exit ;;
esac
# nvcc makes a program where nothing says what to make.
case " $* " in
  *" -c "*|*" --compile "*|*" -dc "*|*" --device-c "*|*" -ptx "*|*" -cubin "*|*" -fatbin "*|*" -cuda "*|*" -o "*) ;;
  *) set -- "$@" -o a.out ;;
esac
{command} compile {flags}"$@"
"""


def make_toolkit(
    folder: Path, command: str, worker: str, compile_flags: Sequence[str] = (), device: str = "auto"
) -> Path:
    """Makes the folder, or makes it anew where it is one already, and returns its absolute path.

    ``command``: the shell command ``kw``; ``worker``: that by which a program starts a device worker. Raises ``Misuse`` for a folder
    with something else in it, ``ToolError`` where it cannot be written or the runtime cannot be built.
    """
    place = Path(os.path.abspath(folder))
    try:
        if place.exists() and not (place.is_dir() and _is_ours(place)):
            raise Misuse(f"{folder} holds something else already", hint="name a folder that is not there yet")
        for name in ("bin", "lib64", "nvvm/libdevice"):
            (place / name).mkdir(parents=True, exist_ok=True)
        flags = "".join(f"{shlex.quote(flag)} " for flag in compile_flags)
        verbose = " ".join(map(shlex.quote, _verbose(place)))
        text = _NVCC.format(command=command, flags=flags, version=__version__, cuda=_release(), verbose=verbose)
        _write_command(place / "bin" / "nvcc", text)
        _write_command(place / "bin" / "__nvcc_device_query", f"#!/bin/sh\necho {DEFAULT_ARCHITECTURE[3:]}\n")
        _link(place / "include", HEADERS)
        _link(place / "lib", Path("lib64"))
        archive = place / "lib64" / ARCHIVE
        archive.write_bytes(archive_with_settings(device, worker))
        for name in NAMES:
            for file in (f"lib{name}.so", f"lib{name}_static.a", *([f"lib{name}.a"] if name in STATIC_ALONE else [])):
                (place / "lib64" / file).write_text(f'GROUP ( "{archive}" -lpthread -ldl -lm )\n')
    except OSError as error:
        raise ToolError(
            f"{error.filename or folder} cannot be written: {error.strerror}", hint="name another folder"
        ) from None
    return place


def _write_command(at: Path, text: str) -> None:
    at.write_text(text)
    at.chmod(0o755)


def _verbose(place: Path) -> list[str]:
    """What CMake looks for in what ``nvcc -v`` says: where the toolkit is, for which architecture it compiles, what links host code;
    and in a line like a linker's where libraries are looked for."""
    return [
        f"#$ TOP={place}", f"#$ NVVMIR_LIBRARY_DIR={place}/nvvm/libdevice", f"#$ PATH={place}/bin:",
        f'#$ INCLUDES="-I{place}/include"', f'#$ LIBRARIES= "-L{place}/lib64"',
        f"#$ cicc -arch compute_{DEFAULT_ARCHITECTURE[3:]}",
        f'#$ "{place}/bin/nvcc" -o a.out "-L{place}/lib64" -lcudadevrt -lcudart_static -lrt -lpthread -ldl',
        f"ld -L{place}/lib64",
    ]  # fmt: skip


def _release() -> str:
    """The CUDA that our headers say they are, as ``nvcc --version`` has it: ``12.8, V12.8.0``."""
    found = re.search(r"CUDART_VERSION (\d+)", (HEADERS / "host_defines.h").read_text())
    number = int(found[1]) if found else 0
    return f"{number // 1000}.{number % 1000 // 10}, V{number // 1000}.{number % 1000 // 10}.0"


def _is_ours(place: Path) -> bool:
    """Whether it is empty, or was made here before."""
    return not any(place.iterdir()) or (place / "lib64" / ARCHIVE).is_file()


def _link(at: Path, to: Path) -> None:
    at.unlink(missing_ok=True)
    at.symlink_to(to)
