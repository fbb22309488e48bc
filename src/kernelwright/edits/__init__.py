"""Edits: values that turn a kernel into a nearby one (paper 000, section 3.4).

    original   a kernel, numbered and named             lines    an instruction's line as a template
    draft      a variant in the making                   repair   SSA again, once, after all edits
    copy delete move swap replace_instruction replace_operand    one kind of edit each
    genome     a tuple of edits, applied                 draw     random edits, and those that can be listed
    dice       random places and values                  json_form

Control flow is never touched, so dominators are computed once per kernel. Any edits in any order give IR that LLVM accepts.
"""

from __future__ import annotations

from kernelwright.edits.copy import Copy
from kernelwright.edits.delete import Delete, deletions
from kernelwright.edits.draft import Draft
from kernelwright.edits.draw import DRAWN, UNIFORM, applicable, draw
from kernelwright.edits.gene import AnyEdit, Gene, apply_genes, by_kernel, dump_genes, load_genes
from kernelwright.edits.genome import Applied, Edit, Genome, Inert, apply, apply_to
from kernelwright.edits.guard import Apart, ArgumentIs, BlockIs, GridIs, Guard, Launch
from kernelwright.edits.json_form import as_json, dumps, from_json, kind_of, loads
from kernelwright.edits.move import Move
from kernelwright.edits.original import Id, Original, Use
from kernelwright.edits.replace_instruction import ReplaceInstruction
from kernelwright.edits.replace_operand import ReplaceOperand, constant_conditions
from kernelwright.edits.swap import Swap

__all__ = [
    "DRAWN",
    "UNIFORM",
    "AnyEdit",
    "Apart",
    "Applied",
    "ArgumentIs",
    "BlockIs",
    "Copy",
    "Delete",
    "Draft",
    "Edit",
    "Gene",
    "Genome",
    "GridIs",
    "Guard",
    "Id",
    "Inert",
    "Launch",
    "Move",
    "Original",
    "ReplaceInstruction",
    "ReplaceOperand",
    "Swap",
    "Use",
    "applicable",
    "apply",
    "apply_genes",
    "apply_to",
    "as_json",
    "by_kernel",
    "constant_conditions",
    "deletions",
    "draw",
    "dump_genes",
    "dumps",
    "from_json",
    "kind_of",
    "load_genes",
    "loads",
]
