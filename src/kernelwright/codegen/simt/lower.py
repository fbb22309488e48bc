"""The lowering on one page: IR → program → shapes → host IR."""

from __future__ import annotations

from dataclasses import dataclass, field

from kernelwright.codegen.simt.emit import Emitter
from kernelwright.codegen.simt.flatten import flatten
from kernelwright.codegen.simt.graph import arrange, note_uses
from kernelwright.codegen.simt.options import SimtOptions
from kernelwright.codegen.simt.program import Access, Program
from kernelwright.codegen.simt.shapes import analyse
from kernelwright.codegen.simt.spaces import infer_spaces
from kernelwright.ir.module import Function, Module


def lower(module: Module, kernel_name: str, options: SimtOptions | None = None):
    options = options or SimtOptions()
    kernel = module.function(kernel_name)
    program = flatten(kernel)
    arrange(program)
    note_uses(program)
    infer_spaces(program)
    control = analyse(program, options.geometry)
    emitter = Emitter(program, control, options)
    text = emitter.function()
    return program, emitter, text
