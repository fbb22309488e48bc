"""Optimises a module: LLVM-IR text in, LLVM-IR text out, through LLVM's default pipeline for the NVPTX target."""

from __future__ import annotations

import re
from pathlib import Path

from kernelwright.architectures import architecture
from kernelwright.passes import isolation, libdevice, local_arrays
from kernelwright.passes.field_copies import fields_copied
from kernelwright.passes.llvm import architecture_of, engine, parse, retarget, run_once, target_machine
from kernelwright.passes.options import DEFAULT, PassOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STATIC_TEXTURE = re.compile(r"^(@\S+) = internal addrspace\(1\) global i64 undef", re.MULTILINE)
_MARK = re.compile(r'(= !\{ptr addrspace\(1\) @\S+,) !"texture"')
_DOUBTFUL = ".first_iter = "
"""How LLVM names a loop's exit that it tests only once, before the loop. LLVM 22 does so also where the counter would have to wrap
round for it to hold, and the loop loses its bound: ``docs/decisions/0017``. Such modules are optimised again without this pass."""
_COUNTERS = "indvars"
KERNEL = re.compile(r'^define [^@\n]*\bptx_kernel\b[^@\n]*@"?([\w.$]+)', re.MULTILINE)


def optimise(
    ir_text: str,
    options: PassOptions = DEFAULT,
    *,
    arch: str | None = None,
    cuda_path: Path | None = None,
    isolate: bool = False,
) -> str:
    """The module after libdevice is linked and the middle end has run, for ``arch`` (else the one the IR names).

    ``isolate`` runs LLVM in a worker process even where the options do not need one: for IR that may crash it. Raises
    ``IRError`` for IR that does not parse, ``Misuse`` for an unknown architecture, ``ToolError`` when a device math
    function is needed and no libdevice is installed, ``CompileError`` for a math function that libdevice does not define.
    """
    name = architecture(arch or architecture_of(ir_text)).name
    made = isolation.run(_optimised_text, ir_text, options, name, cuda_path, options=options, isolate=isolate)
    if _DOUBTFUL in made and _DOUBTFUL not in ir_text and _COUNTERS not in options.without:
        options = PassOptions(options.level, options.without | {_COUNTERS}, options.thresholds)
        made = isolation.run(_optimised_text, ir_text, options, name, cuda_path, options=options, isolate=isolate)
    return made


def _optimised_text(ir_text: str, options: PassOptions, arch: str, cuda_path: Path | None) -> str:
    llvm = engine()
    ir_text = local_arrays.aligned(libdevice.library_calls(plain_textures(ir_text)))
    machine = target_machine(arch, options.level)
    with llvm.create_context() as context, parse(retarget(ir_text, arch), context) as module:
        names = libdevice.called_functions(ir_text)
        if names:
            libdevice.link(module, context, names, cuda_path)
        if options.level and "internal" not in options.without:
            _internalise(module, frozenset(KERNEL.findall(ir_text)))
        builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(options.level))
        run_once(builder.getModulePassManager(), module, builder)
        text = str(module)
        return fields_copied(text) if options.level and "copies" not in options.without else text


def plain_textures(ir_text: str) -> str:
    """The module with its texture references as our headers take them: plain variables that the host writes. clang marks
    them for PTX's ``.texref``, and leaves the value of a static one undefined and its name unknown outside.

    before   ``@_ZL4rows = internal addrspace(1) global i64 undef, align 8``
             ``!8 = !{ptr addrspace(1) @_ZL4rows, !"texture", i32 1}``
    after    ``@_ZL4rows = dso_local addrspace(1) externally_initialized global i64 undef, align 8``
             ``!8 = !{ptr addrspace(1) @_ZL4rows, !"texture reference", i32 1}``
    """
    if '!"texture"' not in ir_text:
        return ir_text
    unmarked = _MARK.sub(r'\1 !"texture reference"', ir_text)
    return _STATIC_TEXTURE.sub(r"\1 = dso_local addrspace(1) externally_initialized global i64 undef", unmarked)


def _internalise(module: Any, kernels: frozenset[str]) -> None:
    """Hides every function the host cannot launch. A module without kernels is a library: everything stays visible."""
    if not kernels:
        return
    for function in module.functions:
        if not function.is_declaration and function.name not in kernels:
            function.linkage = "internal"
