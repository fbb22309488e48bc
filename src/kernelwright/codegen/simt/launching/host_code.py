"""The text of a host function → machine code in this process, made soon or made well.

Code of variants, which must be ready soon, is cut: its runs of vector operations are functions that all variants of the process
share (``launching/vector_runs.py``), and what is left are numbers and calls. The first kernel of a process pays for that what the
next ones save, so a program's own kernels are not cut.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from functools import cache
from time import perf_counter
from typing import Any

from kernelwright.codegen.simt.emission.emitter import ENTRY
from kernelwright.codegen.simt.emission.processor import has_mask_registers
from kernelwright.codegen.simt.launching.runtime_library import addresses
from kernelwright.codegen.simt.launching.vector_runs import NAME, CutText, cut
from kernelwright.errors import ToolError
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache
from kernelwright.passes.llvm import binding, run_once

KEPT = 64
"""Texts whose code is kept: a kernel's is the same for most block shapes, and comes again where one is tried with many."""
RUNS = 8192
"""Functions of runs that are kept; a kernel of a thousand operations has some hundred."""
_CALLED = re.compile(r"(call [\w ]+?) @((?:simt|row|run)_\w+)\(")


@dataclass(frozen=True, eq=False)
class HostCode:
    """Machine code. It lives as long as this does."""

    address: int
    """Of the function that runs a warp."""
    engines: tuple[Any, ...]
    made_in_s: float
    """Seconds that making it took."""


_LOOKING = threading.Lock()
"""Devices run their launches in threads of their own."""


@cache
def _codes() -> LruCache[tuple[str, int], HostCode]:
    """By text and level. The code keeps nothing from launch to launch, so that several kernels may run it."""
    return LruCache(KEPT)


def host_code(name: str, text: str, level: int, *, shares: bool = False) -> HostCode:
    """The code of a kernel's text; level 0 is soon made. ``shares``: as a variant among others. Raises ``ToolError`` when LLVM
    refuses it."""
    if shares:
        return _code(name, text, level, shares)  # a variant comes once, and what it shares is kept run by run
    codes, key = _codes(), (text, level)
    with _LOOKING:
        found = codes.get(key)
    if found is None:
        found = _code(name, text, level, shares)
        with _LOOKING:
            codes.put(key, found)
    return found


def _code(name: str, text: str, level: int, shares: bool) -> HostCode:
    begin = perf_counter()
    known, runs = addresses(), dict[str, Run]()
    if level == 0:
        cut_text = cut(text) if shares else None
        if cut_text is not None:
            text, runs = cut_text.text, _made(name, cut_text)
        text = _with_addresses(text, {**known, **{each[1:]: run.address for each, run in runs.items()}})
    engine = _engine(name, text, level)
    engines = {id(run.engine): run.engine for run in runs.values()}
    return HostCode(engine.get_function_address(ENTRY), (engine, *engines.values()), perf_counter() - begin)


def _with_addresses(text: str, known: Mapping[str, int]) -> str:
    """The text with addresses in place of the names of functions outside: LLVM's fast instruction selection knows only such calls,
    as named functions may lie anywhere.

    before   call void @simt_trace(ptr %c, i32 1, i32 5, i32 %t7)
    after    call void inttoptr (i64 140380231424 to ptr)(ptr %c, i32 1, i32 5, i32 %t7)
    """
    head, define, body = text.partition("\ndefine ")
    return head + define + _CALLED.sub(lambda found: f"{found[1]} inttoptr (i64 {known[found[2]]} to ptr)(", body)


@dataclass(frozen=True, eq=False)
class Run:
    """The function of a run of vector operations, and the engine that holds it."""

    address: int
    engine: Any


@cache
def _kept() -> LruCache[str, Run]:
    """By their text."""
    return LruCache(RUNS)


def _made(kernel: str, given: CutText) -> dict[str, Run]:
    """The functions that a kernel's text calls, by name; made together as far as no kernel before has called them."""
    kept = _kept()
    found = {name: run for name, text in given.runs.items() if (run := kept.get(text)) is not None}
    missing = [name for name in given.runs if name not in found]
    if missing:
        functions = (given.runs[name].replace(NAME, f"{name}(", 1) for name in missing)
        engine = _engine(kernel, "\n".join([*given.declarations, *functions]), 0, optimise=False)
        for name in missing:
            found[name] = Run(engine.get_function_address(name[1:]), engine)
            kept.put(given.runs[name], found[name])
    return found


def _engine(name: str, text: str, level: int, *, optimise: bool = True) -> Any:
    llvm = binding()
    try:
        module = llvm.parse_assembly(text, _context())
    except RuntimeError as error:
        first = " ".join(str(error).split())[:200]
        raise ToolError(f"the host code of kernel '{name}' does not parse: {first}") from error
    if optimise:
        builder = llvm.create_pass_builder(_pass_machine(level), llvm.create_pipeline_tuning_options(1))
        passes = llvm.create_new_module_pass_manager()
        passes.add_sroa_pass()
        if level and not has_mask_registers():
            # With mask registers it gains nothing (docs/decisions/0047-blocks-written-twice.md).
            passes.add_instruction_combine_pass()
        passes.add_simplify_cfg_pass()
        passes.add_aggressive_dce_pass()
        run_once(passes, module, builder)
    engine = llvm.create_mcjit_compiler(module, _machine(level))
    engine.finalize_object()
    return engine


@cache
def _pass_machine(level: int) -> Any:
    """For the passes. An engine takes the machine it is given along, so each gets one of its own."""
    return _machine(level)


def _machine(level: int) -> Any:
    llvm = binding()
    name, features = _processor()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(cpu=name, features=features, opt=level, jit=True)


@cache
def _processor() -> tuple[str, str]:
    llvm = binding()
    features = llvm.get_host_cpu_features().flatten()
    # Gathers where there are some: LLVM branches for each lane on processors whose own it takes for slow. Whole 512-bit registers, and no
    # hardware bfloat conversion, which drops subnormals.
    return llvm.get_host_cpu_name(), features + ",+fast-gather,-prefer-256-bit,-avx512bf16,-avxneconvert,-avx512fp16"


@cache
def _context() -> Any:
    """One context for all code, never let go: collected together, an engine could outlive a context of its own."""
    return binding().create_context()
