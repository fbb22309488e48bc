"""CUDA to PTX: our time against ``nvcc -ptx`` side by side, our stages apart, programs that are hard to compile (``heavy.py``), our
machine code beside nvcc's (``machine_code.py``), and what each optimisation is worth (``effects.py``).

Promises: at most half of nvcc's wall time with a cold cache, at most a tenth from the cache, one process per file, installed without
extras (``installation.py``); every output accepted by ptxas for three architectures. Processor time is shown beside the wall time: we
use two processors where there are two, and the ratio of processor times holds on a machine that is busy, too.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from kernelwright.bench.compile.effects import add_effects
from kernelwright.bench.compile.heavy import add_heavy
from kernelwright.bench.compile.installation import extras_in_words, without_extras
from kernelwright.bench.compile.machine_code import SHOWN, compare, program_files, suite_files
from kernelwright.bench.compile.times import ARCH, PROCESSOR, Times, against_nvcc, ratio, total
from kernelwright.bench.result import Measured, Row, Say, toolkit_versions
from kernelwright.passes.options import PassOptions
from kernelwright.pipeline import CompileOptions, Program
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, SuiteProgram, load

ACCEPTED_BY = ("sm_75", "sm_80", "sm_90")


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: three programs, two rounds; for a first look."""
    result = Measured("compile")
    names = list(NAMES)[:3] if quick else list(NAMES)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        result.notes.append("nvcc is not on this machine: no comparison")
    with tempfile.TemporaryDirectory() as scratch:
        kw = without_extras(Path(scratch) / "installation")
        result.notes.append(extras_in_words(kw))
        _add_programs(result, names, kw, nvcc, 2 if quick else 5, say)
        add_heavy(result, kw, nvcc, say)
    compare(suite_files(names), result, say)
    add_effects(suite_files(names), result, say)
    return result


def _add_programs(result: Measured, names: Sequence[str], kw: Path, nvcc: str | None, repeat: int, say: Say) -> None:
    """Adds a row for each program of the suite, and what is promised of them together."""
    totals: dict[str, Times] = {}
    accepted = tried = 0
    for name in names:
        say(name)
        program = load(name)
        times = against_nvcc(_cuda_files(program), program.flags, kw, nvcc, repeat)
        for key, value in times.items():
            totals[key] = total([totals[key], value] if key in totals else [value])
        ok, all_of_them = _accepted(program)
        accepted, tried = accepted + ok, tried + all_of_them
        row: Row = {"program": name, "files": len(_cuda_files(program))}
        row |= {f"{key} ms": round(1000 * wall, 1) for key, (wall, _) in times.items()}
        row |= {f"{key} ms": round(1000 * value, 1) for key, value in _stages(program).items()}
        if "nvcc" in times:
            row |= {
                "cold / nvcc": ratio(times, "cold"),
                "cold / nvcc, processor": ratio(times, "cold", PROCESSOR),
                "cached / nvcc": ratio(times, "cached"),
            }
        row["ptxas accepts"] = f"{ok}/{all_of_them}" if all_of_them else "no ptxas"
        result.rows.append(row)
    if nvcc:
        result.notes.append(f"nvcc is {toolkit_versions().get('nvcc', 'of an unknown version')}")
        result.notes.append(f"processor time, cold cache, over nvcc's: {ratio(totals, 'cold', PROCESSOR)}")
    result.at_most("wall time, cold cache, over nvcc's", ratio(totals, "cold") if nvcc else None, 0.5)
    result.at_most("wall time from the cache over nvcc's", ratio(totals, "cached") if nvcc else None, 0.1)
    result.at_least("share of outputs ptxas accepts", accepted / tried if tried else None, 1.0)


def measure_programs(places: Sequence[Path], say: Say) -> Measured:
    """The files at ``places``: our machine code beside nvcc's, and what each optimisation does to it. Raises ``Misuse`` for a place
    without one."""
    result = Measured("compile")
    files = program_files(places)
    compare(files, result, say, SHOWN)
    add_effects(files, result, say, times=False)
    return result


def _cuda_files(program: SuiteProgram) -> list[Path]:
    return [path for path in program.source_paths if path.suffix == ".cu"]


def _stages(program: SuiteProgram) -> dict[str, float]:
    """Seconds inside one process, libraries loaded: front end, optimisation (with libdevice), code generation."""
    begin = time.perf_counter()
    built = _build(program, PassOptions())
    taken = {"front end": time.perf_counter() - begin, "optimisation": 0.0, "code generation": 0.0}
    for unit in built.units:
        for stage, label in (("optimise", "optimisation"), ("ptx", "code generation")):
            begin = time.perf_counter()
            unit.stage(stage)
            taken[label] += time.perf_counter() - begin
    return taken


def _build(program: SuiteProgram, passes: PassOptions, arch: str = ARCH) -> Program:
    from kernelwright.cuda.frontend import SourceOptions

    include = tuple(f[2:] for f in program.flags if f.startswith("-I"))
    define = tuple(f[2:] for f in program.flags if f.startswith("-D"))
    options = CompileOptions(source=SourceOptions(arch=arch, include=include, define=define), passes=passes)
    return compile_program(_cuda_files(program), options=options, cache=False)


def _accepted(program: SuiteProgram) -> tuple[int, int]:
    """How many of the program's PTX files ptxas takes, of how many, over three architectures."""
    from kernelwright.codegen.machine.assemble import find_assemblers

    ptxas = next((tool.path for tool in find_assemblers() if tool.kind == "ptxas"), None)
    if ptxas is None:
        return 0, 0
    good = total = 0
    for arch in ACCEPTED_BY:
        for unit in _build(program, PassOptions(), arch).units:
            total += 1
            done = subprocess.run(
                [str(ptxas), "-arch", arch, "-", "-o", "/dev/null"], input=unit.ptx, text=True, capture_output=True
            )
            good += done.returncode == 0
    return good, total
