"""CUDA to PTX: our wall time against ``nvcc -ptx`` side by side, our stages apart, and what each optimisation is worth.

Promises: at most half of nvcc's time with a cold cache, at most a tenth from the cache, one process per file; every
output accepted by ptxas for three architectures.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kernelwright.bench.measured import Measured, Row, Say, interleaved, seconds
from kernelwright.passes.options import PassOptions
from kernelwright.passes.pipeline import STEPS
from kernelwright.pipeline import CompileOptions, Program
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, SuiteProgram, load

ARCH = "sm_80"
ACCEPTED_BY = ("sm_75", "sm_80", "sm_90")
TOOLCHAIN = ("clang", "header", "recipe")
"""What the cache keeps about the installation rather than about any program: clang's version, our header precompiled,
clang's command line for a set of flags. A cold compile has these and nothing else; the first compile ever has not even
these ("first" in the table)."""


def measure(quick: bool, say: Say) -> Measured:
    """``quick``: three programs, two rounds; for a first look."""
    result = Measured("compile")
    names = list(NAMES)[:3] if quick else list(NAMES)
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        result.notes.append("nvcc is not on this machine: no comparison")
    totals: dict[str, float] = {}
    accepted = tried = 0
    for name in names:
        say(name)
        program = load(name)
        times = _against_nvcc(program, nvcc, 2 if quick else 5)
        for key, value in times.items():
            totals[key] = totals.get(key, 0.0) + value
        ok, all_of_them = _accepted(program)
        accepted, tried = accepted + ok, tried + all_of_them
        row: Row = {"program": name, "files": len(_cuda_files(program))}
        row |= {f"{key} ms": round(1000 * value, 1) for key, value in times.items()}
        row |= {f"{key} ms": round(1000 * value, 1) for key, value in _stages(program).items()}
        if "nvcc" in times:
            row |= {
                "cold / nvcc": round(times["cold"] / times["nvcc"], 3),
                "cached / nvcc": round(times["cached"] / times["nvcc"], 3),
            }
        row["ptxas accepts"] = f"{ok}/{all_of_them}" if all_of_them else "no ptxas"
        result.rows.append(row)
    say("ablation")
    result.rows += _ablation(names)
    nvcc_total = totals.get("nvcc")
    result.at_most("wall time, cold cache, over nvcc's", totals["cold"] / nvcc_total if nvcc_total else None, 0.5)
    result.at_most("wall time from the cache over nvcc's", totals["cached"] / nvcc_total if nvcc_total else None, 0.1)
    result.at_least("share of outputs ptxas accepts", accepted / tried if tried else None, 1.0)
    return result


def _cuda_files(program: SuiteProgram) -> list[Path]:
    return [path for path in program.source_paths if path.suffix == ".cu"]


def _against_nvcc(program: SuiteProgram, nvcc: str | None, repeat: int) -> dict[str, float]:
    """Seconds for all CUDA files of a program, one process per file: nvcc, ours with three states of the cache."""
    files = _cuda_files(program)
    kw = str(Path(sys.executable).with_name("kw"))
    ours = [kw] if Path(kw).exists() else [sys.executable, "-m", "kernelwright"]
    with tempfile.TemporaryDirectory() as scratch:
        out, warm, cold_cache = Path(scratch), Path(scratch) / "warm", Path(scratch) / "cold"

        def compile_all(cache: Path) -> float:
            return sum(
                seconds(
                    [*ours, "compile", str(f), "-o", str(out / f"{f.stem}.ptx"), "--arch", ARCH, *program.flags],
                    environment={"KERNELWRIGHT_CACHE": str(cache)},
                )
                for f in files
            )

        def emptied(kinds: tuple[str, ...]) -> Path:
            shutil.rmtree(cold_cache, ignore_errors=True)
            for kind in kinds:
                shutil.copytree(warm / kind, cold_cache / kind)
            return cold_cache

        def by_nvcc() -> float:
            assert nvcc is not None
            flags = ["-ptx", f"-arch={ARCH}", *program.flags]
            return sum(seconds([nvcc, *flags, str(f), "-o", str(out / f"{f.stem}.nvcc.ptx")]) for f in files)

        compile_all(warm)
        runs = {
            "first": lambda: compile_all(emptied(())),
            "cold": lambda: compile_all(emptied(TOOLCHAIN)),
            "cached": lambda: compile_all(warm),
        }
        if nvcc:
            runs = {"nvcc": by_nvcc, **runs}
        return interleaved(runs, repeat)


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
    from kernelwright.codegen.cubin import find_assemblers

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


def _ablation(names: list[str]) -> list[Row]:
    """PTX instructions of every program with each optional step left out, like the paper's Figure 10 (gpucc, section 5)."""
    from kernelwright.codegen.counts import count_instructions

    rows: list[Row] = []
    full = {name: sum(count_instructions(u.ptx) for u in _build(load(name), PassOptions()).units) for name in names}
    rows.append({"ablation": "all steps", **full})
    for step in STEPS:
        if step.paper and step.optional:
            passes = PassOptions.of(without=[step.short])
            counts = {name: sum(count_instructions(u.ptx) for u in _build(load(name), passes).units) for name in names}
            rows.append({"ablation": f"without {step.short}", **counts})
    return rows
