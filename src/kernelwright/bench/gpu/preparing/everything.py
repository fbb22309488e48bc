"""Everything a machine with a GPU needs that has no compiler: machine code of all variants, their estimates, the suite.

FOLDER/manifest.json     cases, variants, estimates by GPU
FOLDER/images/           machine code for each architecture, PTX for all others
FOLDER/observed.pickle   what the virtual GPU counted, for fitting (read only by the version that wrote it)
FOLDER/rates/            microbenchmarks (``measured_rates.py``)
FOLDER/suite/NAME/       the program, what it gave on the virtual GPU, and what kw check finds in it
FOLDER/winners/PROGRAM/  what searches have found (``preparing/winners.py``)
FOLDER/programs/         whole programs with those inside (``programs.py``)
FOLDER/searches/         recordings to search on (``preparing/measured_search.py``)
FOLDER/explored/         what explorations have found (``preparing/explored.py``)
FOLDER/runtime/          our CUDA runtime under NVIDIA's names, for programs that nvcc builds there
FOLDER/site/             NVIDIA's binding of the driver and pytest, for the Python named
"""

from __future__ import annotations

import gzip
import json
import os
import pickle
import random
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from kernelwright.bench.gpu.cases import CASES, SEED, Case, Shape
from kernelwright.bench.gpu.images import ARCH, ARCHES
from kernelwright.bench.gpu.measured_rates import ESTIMATED, prepare_rates
from kernelwright.bench.gpu.preparing.explored import prepare_explored
from kernelwright.bench.gpu.preparing.measured_search import prepare_searches
from kernelwright.bench.gpu.preparing.winners import QUICK, finished_runs, prepare_winners
from kernelwright.bench.gpu.programs import prepare_programs
from kernelwright.bench.gpu.sanitizer import check_program
from kernelwright.bench.result import Say
from kernelwright.cache import content_key
from kernelwright.codegen.cost.block_weights import Weights, weigh
from kernelwright.codegen.machine.assemble import assemble
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.codegen.simt.launching.compiled_kernel import compile_host
from kernelwright.codegen.simt.lower import lower
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.cuda.runtime_library import install_shared
from kernelwright.device.arena import Arena
from kernelwright.device.timing_model.counters import Observed
from kernelwright.device.timing_model.estimate import estimate
from kernelwright.device.timing_model.launch_observation import block_labels, observe, watch_of
from kernelwright.edits import Original, apply
from kernelwright.edits.kinds.delete import deletions
from kernelwright.errors import KernelwrightError, ToolError
from kernelwright.ir import Module, parse_module, print_module
from kernelwright.launch import Launch
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.pipeline import compile as compile_program
from kernelwright.suite import NAMES, load
from kernelwright.target import DEFAULT_GPU, GPUS

SOURCE = Path(__file__).parents[1] / "kernels.cu"
DELETIONS = 12
BUDGET = 1 << 24
"""Times that warps may go back in loops before a variant counts as endless."""
SUITE_SIZE = "small"


@dataclass(frozen=True)
class Variant:
    """One row of the manifest."""

    case: str
    name: str
    kind: str
    """shape, definition or deletion."""
    image: str
    """The key of its machine code."""
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    estimates: dict[str, float]
    """Microseconds by GPU."""


@dataclass
class Prepared:
    """One variant with all that was found out about it."""

    variant: Variant
    ptx: str
    cubins: dict[str, bytes]
    observed: Observed
    weights: dict[str, Weights]


def prepare(
    folder: Path,
    say: Say,
    *,
    small: bool = False,
    rates: bool = True,
    kernels: Sequence[str] = (),
    suite: Sequence[str] = NAMES,
    python: str | None = "3.12",
    runs: Path | None = None,
    explored: Path | None = None,
) -> dict[str, Any]:
    """Writes the folder; returns the manifest. ``small``: small inputs and few variants, for a first look.
    ``rates``: the microbenchmarks, too; those of a first look have no estimates.

    ``kernels`` are those to calibrate on (none: all), ``suite`` the programs, ``python`` the version that the binding is
    fetched for (None: not fetched), ``runs`` the folder whose ``kw-runs`` winners are taken from (None: no winners),
    ``explored`` the one that explorations are taken from.

    What cannot be made is left out and said in the manifest's notes. Raises ``CompileError`` when our own kernels do not
    compile.
    """
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    notes: list[str] = []
    cases: list[dict[str, Any]] = []
    variants: list[dict[str, Any]] = []
    kept: dict[str, tuple[Observed, dict[str, Weights]]] = {}
    for case in (c for c in CASES if not kernels or c.kernel in kernels):
        size = case.small if small else case.size
        addresses, made = _prepare_case(case, size, 2 if small else DELETIONS, notes)
        say(f"{case.kernel}: {len(made)} variants")
        cases.append({"kernel": case.kernel, "size": size, "addresses": addresses})
        for each in made:
            (images / f"{each.variant.image}.ptx").write_text(each.ptx)
            for arch, data in each.cubins.items():
                (images / f"{each.variant.image}.{arch}.cubin").write_bytes(data)
            variants.append(asdict(each.variant))
            kept[f"{case.kernel}: {each.variant.name}"] = each.observed, each.weights
    with gzip.open(folder / "observed.pickle", "wb", compresslevel=1) as file:
        pickle.dump(kept, file)
    if rates:
        prepare_rates(folder / "rates", say, () if small else ESTIMATED)
    programs = _prepare_suite(folder / "suite", suite, say, notes)
    if programs or runs is not None:
        install_shared(folder / "runtime", (12, 13))
    if python is not None:
        _prepare_binding(folder / "site", python, notes)
    winners: list[str] = []
    if runs is not None:
        quick = QUICK[:1] if small else QUICK
        winners = prepare_winners(folder / "winners", runs, say, notes, quick=quick)
        prepare_programs(folder / "programs", finished_runs(runs), say, notes)
        prepare_searches(folder / "searches", finished_runs(runs), say, notes)
    if explored is not None:
        prepare_explored(folder / "explored", explored, say, notes)
    manifest = {
        "format": 1, "cases": cases, "variants": variants, "suite": programs, "winners": winners, "notes": notes,
    }  # fmt: skip
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1))
    return manifest


# -- variants of a kernel ------------------------------------------------------------------------------------------------


@cache
def _ir(defines: tuple[str, ...]) -> str:
    return compile_program(SOURCE, arch=ARCH, define=defines).units[0].optimised


def _prepare_case(case: Case, size: int, most: int, notes: list[str]) -> tuple[list[int], list[Prepared]]:
    """The addresses of the buffers, and the variants that run without a fault."""
    with Arena() as arena:
        contents = case.arrays(size)
        buffers = [arena.allocate(data.nbytes, name) for name, data in contents.items()]
        parameters = case.pack([b.address for b in buffers], size)
        made: list[Prepared] = []
        for name, kind, module, shape in _variants(case, size, most):
            for buffer, data in zip(buffers, contents.values(), strict=True):
                arena.view(buffer, data.dtype)[:] = data
            try:
                found = _prepare_variant(case, name, kind, module, shape, parameters, arena)
            except KernelwrightError as error:
                if kind != "deletion":
                    notes.append(f"{case.kernel}, {name}: {error.message}")
                continue
            if found is not None:
                made.append(found)
        return [b.address for b in buffers], made


def _variants(case: Case, size: int, most: int) -> Iterator[tuple[str, str, Module, Shape]]:
    shapes = list(case.shapes(size))
    for number, shape in enumerate(shapes):
        kind = "definition" if shape.defines else "shape"
        yield shape.name if number else "original", kind, parse_module(_ir(shape.defines)), shape
    original = Original(parse_module(_ir(())), case.kernel)
    edits = list(deletions(original))
    random.Random(SEED).shuffle(edits)
    for edit in edits[:most]:
        instead = f", {edit.value} instead" if edit.value is not None else ""
        yield f"without instruction {edit.subject}{instead}", "deletion", apply(original, (edit,)).module, shapes[0]


def _prepare_variant(
    case: Case, name: str, kind: str, module: Module, shape: Shape, parameters: bytes, arena: Arena
) -> Prepared | None:
    """None for a variant that does not run to its end on the virtual GPU."""
    compiled = compile_host(lower(module, case.kernel, SimtOptions(block=shape.block, trace=True)))
    launch = Launch(case.kernel, shape.grid, shape.block, parameters)
    result = compiled.launch(arena, launch, budget=BUDGET, watch=watch_of(shape.grid))
    if result.fault:
        return None
    bounds = [(int(b["start"]), int(b["end"])) for b in arena.bounds()]
    seen = observe(result, launch, bounds)
    text = print_module(module)
    weights, cubins, estimates = {}, {}, {}
    for arch in ARCHES:
        ptx = emit_ptx(text, arch)
        weights[arch] = weigh(ptx, case.kernel, arch, block_labels(module))
        try:
            cubins[arch] = assemble(ptx, arch).data
        except ToolError:
            pass  # the driver compiles the PTX
        for gpu in GPUS.values():
            if gpu.arch == arch:
                estimates[gpu.name] = estimate(seen, weights[arch], gpu).time_us
    ptx = emit_ptx(text, ARCH)
    variant = Variant(case.kernel, name, kind, content_key([ptx])[:16], shape.grid, shape.block, estimates)
    return Prepared(variant, ptx, cubins, seen, weights)


# -- the suite, and what the other machine lacks ---------------------------------------------------------------------------


def _prepare_suite(folder: Path, names: Sequence[str], say: Say, notes: list[str]) -> list[str]:
    """Builds the programs and runs them on the virtual GPU; the names of those that could be."""
    import numpy as np

    from kernelwright.cuda.link import LinkOptions
    from kernelwright.executable import build_executable, worker_command

    made = []
    virtual = {**os.environ, "KERNELWRIGHT_DEVICE": DEFAULT_GPU, "KERNELWRIGHT_WORKER": worker_command()}
    for name in names:
        say(f"suite: {name}")
        program, place = load(name), folder / name
        place.mkdir(parents=True, exist_ok=True)
        options = _suite_options(program.flags)
        sources = [p for p in program.source_paths if p.suffix == ".cu"]
        others = [p for p in program.source_paths if p.suffix != ".cu"]
        try:
            compiled = compile_program(sources, options=options)
            executable, _ = build_executable(compiled, others, place / "program", LinkOptions(device="auto"))
        except KernelwrightError as error:
            notes.append(f"{name} was not built: {error.message}")
            continue
        with tempfile.TemporaryDirectory() as work:
            argv = program.generate(Path(work), SUITE_SIZE, 1)  # type: ignore[arg-type]
            ran = subprocess.run(
                [executable.resolve(), *argv], cwd=work, env=virtual, capture_output=True, text=True, errors="replace"
            )
            if ran.returncode:
                last = (ran.stderr.strip().splitlines() or ["it said nothing"])[-1]
                notes.append(f"{name} failed on the virtual GPU: {last}")
            else:
                arrays: dict[str, Any] = dict(program.read(Path(work)))
                np.savez_compressed(place / "virtual.npz", **arrays)
        trouble = check_program(place, name)
        if trouble:
            notes.append(trouble)
        made.append(name)
    return made


def _suite_options(flags: Sequence[str]) -> Any:
    from kernelwright.cuda.frontend import SourceOptions
    from kernelwright.pipeline import CompileOptions

    defines = tuple(f[2:] for f in flags if f.startswith("-D"))
    include = tuple(f[2:] for f in flags if f.startswith("-I"))
    return CompileOptions(source=SourceOptions(arch=ARCH, define=defines, include=include))


def _prepare_binding(folder: Path, python: str, notes: list[str]) -> None:
    """Unpacks the wheels of ``cuda-bindings``, and of pytest for the tests, for another Python."""
    with tempfile.TemporaryDirectory() as wheels:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "-d", wheels]
        for names in (["cuda-bindings==12.9.*"], ["pytest>=8"]):
            done = subprocess.run([*pip, "--python-version", python, *names], capture_output=True, text=True)
            if done.returncode:
                notes.append(f"{names[0]} was not fetched: " + (done.stderr.strip().splitlines() or ["?"])[-1])
        for wheel in Path(wheels).glob("*.whl"):
            with zipfile.ZipFile(wheel) as archive:
                wanted = [n for n in archive.namelist() if not n.endswith((".pyx", ".pxd", ".pxi", ".in", ".cpp"))]
                archive.extractall(folder, wanted)
