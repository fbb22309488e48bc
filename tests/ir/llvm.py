"""LLVM itself, through llvmlite, as the oracle of these tests."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm

DATA = Path(__file__).parent / "data"
RAW = ("stencil", "reduce", "structs", "control")
"""What clang wrote, unoptimised."""

llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
TARGET = llvm.Target.from_triple("nvptx64-nvidia-cuda")


def read(name: str) -> str:
    return (DATA / f"{name}.ll").read_text()


def parsed(text: str) -> llvm.ModuleRef:
    """LLVM's module, parsed and verified; raises ``RuntimeError`` for what LLVM refuses."""
    module = llvm.parse_assembly(text, llvm.create_context())
    module.verify()
    return module


def canonical(text: str) -> str:
    """As LLVM prints what it has just read."""
    return str(parsed(str(parsed(text))))


@cache
def optimised(name: str) -> str:
    """The program after LLVM's O3 pipeline for the GPU."""
    module = parsed(read(name))
    options = llvm.create_pipeline_tuning_options(3)
    options.slp_vectorization = True
    builder = llvm.create_pass_builder(TARGET.create_target_machine(cpu="sm_80", opt=3), options)
    builder.getModulePassManager().run(module, builder)
    return str(module)


def ptx(text: str) -> str:
    """PTX for sm_80."""
    return str(TARGET.create_target_machine(cpu="sm_80", opt=3).emit_assembly(parsed(text)))


def accepts(text: str) -> bool:
    """Whether LLVM parses and verifies the text. In a child process: LLVM aborts on some broken modules."""
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        try:
            parsed(text)
        except RuntimeError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
