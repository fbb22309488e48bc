"""Our machine code beside nvcc's, kernel by kernel: registers, instructions and stack, both assembled by nvcc's own ptxas, so
that what differs comes from the front end and the optimiser.

Promises: geometric means of instructions and of registers at most nvcc's, no kernel with more than 1.5 times its registers.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.gpu.nvcc import find_nvcc
from kernelwright.bench.result import Measured, Row, Say
from kernelwright.codegen.machine.assemble import Assembler, assemble
from kernelwright.codegen.machine.cubin_elf import read_elf
from kernelwright.codegen.machine.resources import resources
from kernelwright.codegen.machine.sass import read_instructions
from kernelwright.cuda.frontend import SourceOptions
from kernelwright.cuda.names import readable
from kernelwright.errors import KernelwrightError, Misuse
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.options import DEFAULT, PassOptions
from kernelwright.pipeline import CompileOptions
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, load

ARCH = "sm_80"
TIMEOUT_S = 300.0
SHOWN = 20
"""Rows of a folder's kernels: the worst by either figure. The suite's are all shown."""
MOST_REGISTERS = 1.5

_NVCCS_ANONYMOUS = re.compile(r"(\d+)(?=_GLOBAL__N__)")
_ANONYMOUS = "12_GLOBAL__N_1"
"""An anonymous namespace in a symbol. nvcc's name for it, whose length stands before it, holds the file and hashes."""


@dataclass(frozen=True)
class KernelCode:
    """Machine instructions without padding, registers of 32 bits a thread, and bytes of a thread's stack."""

    instructions: int
    registers: int
    stack_bytes: int


@dataclass(frozen=True)
class CudaFile:
    """A file with the words its compile takes: ``-D`` and ``-I``, in nvcc's spelling as in clang's."""

    program: str
    path: Path
    flags: tuple[str, ...]


def suite_files(names: Sequence[str] = NAMES) -> list[CudaFile]:
    """The CUDA files of suite programs, with the flags of each."""
    found = []
    for program in map(load, names):
        flags = tuple(f"-I{program.folder / flag[2:]}" if flag.startswith("-I") else flag for flag in program.flags)
        paths = (path for path in program.source_paths if path.suffix == ".cu")
        found += [CudaFile(program.name, path, (*flags, f"-I{program.folder}")) for path in paths]
    return found


def program_files(places: Sequence[Path]) -> list[CudaFile]:
    """Files as they are named, and those below a folder. Raises ``Misuse`` for a place with none."""
    found = []
    for place in places:
        paths = sorted(place.rglob("*.cu")) if place.is_dir() else [place]
        if not paths or not all(path.is_file() for path in paths):
            raise Misuse(f"there is no CUDA file at {place}", hint="give .cu files, or a folder that has some")
        base = place if place.is_dir() else place.parent
        for path in paths:
            name = str(path.relative_to(base).with_suffix(""))
            found.append(CudaFile(name, path.resolve(), (f"-I{path.resolve().parent}",)))
    return found


def compare(files: Sequence[CudaFile], result: Measured, say: Say, shown: int | None = None) -> None:
    """Adds to ``result`` a row for each kernel both compilers made, or for the ``shown`` worst alone, and the promises."""
    arch = ARCH
    nvcc = find_nvcc()
    if nvcc is None:
        result.notes.append("nvcc is not on this machine: machine code is not compared")
        _promise(result, [])
        return
    pairs: list[tuple[Row, KernelCode, KernelCode]] = []
    for file in files:
        say(f"machine code of {file.program}")
        ours, why = compile_here(file, arch, nvcc)
        theirs, why_nvcc = compile_by_nvcc(file, arch, nvcc) if not why else ({}, "")
        if why or why_nvcc:
            result.notes.append(f"{file.path.name} of {file.program} is left out: {why or why_nvcc}")
            continue
        missing = sorted(set(ours) ^ set(theirs))
        if missing:
            result.notes.append(f"{file.program}: only one compiler has {', '.join(map(readable, missing))}")
        pairs += [
            (_row(file, name, ours[name], theirs[name]), ours[name], theirs[name]) for name in ours if name in theirs
        ]
    pairs.sort(key=_badness, reverse=True)
    result.rows += [row for row, _, _ in pairs[:shown]]
    if shown is not None and len(pairs) > shown:
        result.notes.append(f"{len(pairs)} kernels were compared; the {shown} worst are shown")
    _promise(result, [(ours, theirs) for _, ours, theirs in pairs])


def _row(file: CudaFile, name: str, ours: KernelCode, theirs: KernelCode) -> Row:
    return {
        "program": file.program,
        "kernel": readable(name).replace("(anonymous namespace)::", "").partition("(")[0][-60:],
        "instructions": ours.instructions,
        "nvcc's": theirs.instructions,
        "ratio": round(ours.instructions / theirs.instructions, 3),
        "registers": ours.registers,
        "nvcc's registers": theirs.registers,
        "ratio of registers": round(ours.registers / theirs.registers, 3),
        "stack bytes": ours.stack_bytes,
        "nvcc's stack": theirs.stack_bytes,
    }


def _badness(pair: tuple[Row, KernelCode, KernelCode]) -> float:
    return max(float(pair[0]["ratio"]), float(pair[0]["ratio of registers"]))


def _promise(result: Measured, pairs: Sequence[tuple[KernelCode, KernelCode]]) -> None:
    instructions = [ours.instructions / theirs.instructions for ours, theirs in pairs]
    registers = [ours.registers / theirs.registers for ours, theirs in pairs]
    mean = statistics.geometric_mean
    result.at_most("machine instructions over nvcc's, geometric mean", mean(instructions) if pairs else None, 1.0)
    result.at_most("registers over nvcc's, geometric mean", mean(registers) if pairs else None, 1.0)
    result.at_most("registers over nvcc's, worst kernel", max(registers) if pairs else None, MOST_REGISTERS)


def compile_here(file: CudaFile, arch: str, nvcc: str) -> tuple[dict[str, KernelCode], str]:
    """Our kernels by the names both compilers share, and why there are none."""
    try:
        return kernels_of(assemble(ptx_of(file, arch), arch, assembler=ptxas_of(nvcc)).data, arch), ""
    except KernelwrightError as error:
        return {}, f"we do not compile it ({error.message.splitlines()[0]})"


def ptx_of(file: CudaFile, arch: str, passes: PassOptions = DEFAULT) -> str:
    """Our PTX of a file, made anew. Raises ``KernelwrightError`` for one that we do not compile."""
    include = tuple(flag[2:] for flag in file.flags if flag.startswith("-I"))
    define = tuple(flag[2:] for flag in file.flags if flag.startswith("-D"))
    options = CompileOptions(source=SourceOptions(arch=arch, include=include, define=define), passes=passes)
    (unit,) = compile_program(file.path, options=options, cache=False).units
    return unit.ptx


def ptxas_of(nvcc: str) -> Assembler:
    """The toolkit's own, for ``nvcc`` on the path may be a link into it."""
    return Assembler("ptxas", Path(nvcc).resolve().with_name("ptxas"))


def compile_by_nvcc(file: CudaFile, arch: str, nvcc: str) -> tuple[dict[str, KernelCode], str]:
    """As ``compile_here``, by ``nvcc -O3 -cubin``."""
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as folder:
        target = Path(folder, "k.cubin")
        words = [nvcc, "-O3", "-w", "-cubin", f"-arch={arch}", *file.flags, "-o", str(target), str(file.path)]
        try:
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S)
        except (OSError, subprocess.TimeoutExpired) as error:
            return {}, f"nvcc does not run ({error})".splitlines()[0]
        if done.returncode or not target.is_file():
            said = (done.stderr or done.stdout).strip().splitlines() or ["it said nothing"]
            return {}, f"nvcc does not compile it ({said[-1]})"
        return kernels_of(target.read_bytes(), arch), ""


def kernels_of(cubin: bytes, arch: str) -> dict[str, KernelCode]:
    """Every kernel of a cubin, with the functions that share its section."""
    elf = read_elf(cubin)
    number = int(re.sub(r"\D", "", arch))
    found = {}
    for name, uses in resources(cubin).items():
        section = elf.section(f".text.{name}")
        code = section.data if section else b""
        count = sum(1 for _ in read_instructions(code, number))
        found[_shared_name(name)] = KernelCode(count, uses.registers, uses.stack_bytes)
    return found


def _shared_name(symbol: str) -> str:
    found = _NVCCS_ANONYMOUS.search(symbol)
    if not found:
        return symbol.replace("_ZL", "_Z", 1)
    return symbol[: found.start()] + _ANONYMOUS + symbol[found.end() + int(found[1]) :]
