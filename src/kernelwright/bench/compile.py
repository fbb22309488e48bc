"""CUDA to PTX: our time against ``nvcc -ptx`` side by side, our stages apart, what each optimisation is worth, and our machine
code beside nvcc's (``machine_code.py``).

Promises: at most half of nvcc's wall time with a cold cache, at most a tenth from the cache, one process per file; every
output accepted by ptxas for three architectures. Processor time is shown beside the wall time: we use two processors where
there are two, and the ratio of processor times holds on a machine that is busy, too.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from kernelwright.bench.machine_code import compare, suite_files
from kernelwright.bench.result import Measured, Row, Say, toolkit_versions
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
    totals: dict[str, Times] = {}
    accepted = tried = 0
    for name in names:
        say(name)
        program = load(name)
        times = _against_nvcc(program, nvcc, 2 if quick else 5)
        for key, value in times.items():
            totals[key] = _sum([totals[key], value] if key in totals else [value])
        ok, all_of_them = _accepted(program)
        accepted, tried = accepted + ok, tried + all_of_them
        row: Row = {"program": name, "files": len(_cuda_files(program))}
        row |= {f"{key} ms": round(1000 * wall, 1) for key, (wall, _) in times.items()}
        row |= {f"{key} ms": round(1000 * value, 1) for key, value in _stages(program).items()}
        if "nvcc" in times:
            row |= {
                "cold / nvcc": _ratio(times, "cold"),
                "cold / nvcc, processor": _ratio(times, "cold", PROCESSOR),
                "cached / nvcc": _ratio(times, "cached"),
            }
        row["ptxas accepts"] = f"{ok}/{all_of_them}" if all_of_them else "no ptxas"
        result.rows.append(row)
    say("ablation")
    result.rows += _ablation(names)
    if nvcc:
        result.notes.append(f"nvcc is {toolkit_versions().get('nvcc', 'of an unknown version')}")
        result.notes.append(f"processor time, cold cache, over nvcc's: {_ratio(totals, 'cold', PROCESSOR)}")
    result.at_most("wall time, cold cache, over nvcc's", _ratio(totals, "cold") if nvcc else None, 0.5)
    result.at_most("wall time from the cache over nvcc's", _ratio(totals, "cached") if nvcc else None, 0.1)
    result.at_least("share of outputs ptxas accepts", accepted / tried if tried else None, 1.0)
    compare(suite_files(names), result, say)
    return result


def _cuda_files(program: SuiteProgram) -> list[Path]:
    return [path for path in program.source_paths if path.suffix == ".cu"]


Times = tuple[float, float]
"""Seconds of wall time and of processor time, the latter with all processes that were started."""
WALL, PROCESSOR = 0, 1


def _timed(command: Sequence[str], environment: dict[str, str]) -> Times:
    """One process. Raises ``RuntimeError`` with its last line when it fails."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        _, status, used = os.wait4(running.pid, 0)
        wall = time.perf_counter() - begin
        running.returncode = os.waitstatus_to_exitcode(status)
        if running.returncode:
            said.seek(0)
            last = said.read().strip().splitlines()
            raise RuntimeError(f"{' '.join(command)} failed: {last[-1] if last else running.returncode}")
    return wall, used.ru_utime + used.ru_stime


def _sum(times: Sequence[Times]) -> Times:
    return sum(wall for wall, _ in times), sum(processor for _, processor in times)


def _ratio(times: dict[str, Times], ours: str, kind: int = WALL) -> float:
    return round(times[ours][kind] / times["nvcc"][kind], 3)


def _against_nvcc(program: SuiteProgram, nvcc: str | None, repeat: int) -> dict[str, Times]:
    """All CUDA files of a program, one process per file: nvcc, ours with three states of the cache; medians of rounds with
    one run of each, so that noise hits all alike."""
    files = _cuda_files(program)
    kw = str(Path(sys.executable).with_name("kw"))
    ours = [kw] if Path(kw).exists() else [sys.executable, "-m", "kernelwright"]
    # An installation has its modules compiled; a working tree compiles them in its first run, unless it is told not to.
    plain = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)

        def by_us(state: str, kept: tuple[str, ...] | None) -> Times:
            """Before every file, the cache loses all that is not of the kinds ``kept``; None keeps everything."""
            cache, times = out / state, []
            for file in files:
                if kept is not None and cache.is_dir():
                    _lose(cache, kept)
                command = [*ours, "compile", str(file), "-o", str(out / f"{file.stem}.ptx"), "--arch", ARCH]
                times.append(_timed([*command, *program.flags], {**plain, "KERNELWRIGHT_CACHE": str(cache)}))
            return _sum(times)

        def by_nvcc() -> Times:
            assert nvcc is not None
            flags = ["-ptx", f"-arch={ARCH}", *program.flags]
            to = [(str(f), "-o", str(out / f"{f.stem}.nvcc.ptx")) for f in files]
            return _sum([_timed([nvcc, *flags, *t], plain) for t in to])

        runs: dict[str, Callable[[], Times]] = {"nvcc": by_nvcc} if nvcc else {}
        runs |= {
            "first": lambda: by_us("first", ()),
            "cold": lambda: by_us("cold", TOOLCHAIN),
            "cached": lambda: by_us("cached", None),
        }
        for _ in range(2):  # what belongs to the installation is made, then found to be whole
            for run in runs.values():
                run()
        taken: dict[str, list[Times]] = {name: [] for name in runs}
        for _ in range(repeat):
            for name, run in runs.items():
                taken[name].append(run())
    return {name: (_median(times, WALL), _median(times, PROCESSOR)) for name, times in taken.items()}


def _lose(cache: Path, kept: tuple[str, ...]) -> None:
    for folder in cache.iterdir():
        if folder.name not in kept:
            shutil.rmtree(folder)


def _median(times: Sequence[Times], kind: int) -> float:
    return statistics.median(each[kind] for each in times)


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


def _ablation(names: list[str]) -> list[Row]:
    """PTX instructions of every program with each optional step left out, like the paper's Figure 10 (gpucc, section 5)."""
    from kernelwright.codegen.cost.ptx_counts import count_instructions

    rows: list[Row] = []
    full = {name: sum(count_instructions(u.ptx) for u in _build(load(name), PassOptions()).units) for name in names}
    rows.append({"ablation": "all steps", **full})
    for step in STEPS:
        if step.paper and step.optional:
            passes = PassOptions.of(without=[step.short])
            counts = {name: sum(count_instructions(u.ptx) for u in _build(load(name), passes).units) for name in names}
            rows.append({"ablation": f"without {step.short}", **counts})
    return rows
