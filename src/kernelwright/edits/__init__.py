"""Edits: values that turn a kernel into a nearby one (paper 000, section 3.4).

    original   a kernel, numbered and named             lines    an instruction's line as a template
    draft      a variant in the making                   repair   SSA again, once, after all edits
    copy delete move swap replace_instruction replace_operand             the paper's edits, a file for each kind
    constant_condition delete_barrier change_constant cache_policy fast_math hoist_loads          those beyond it
    exchange_to_store fix no_alias unroll recipe warp_barriers        those that keep the meaning, where the guard holds
    genome     a kernel's edits, applied                 gene     an edit of a kernel of a program
    draw       random edits, by dice                     gene_draw  random genes, and those that can be listed
    guard      what must hold at a launch                setting  what is said of the kernel as a whole
    json_form  edits as JSON and back                    plain_constants   pin   values that stay where they are

Control flow is never touched, so dominators are computed once per kernel. Any edits in any order give IR that LLVM accepts.
"""

from __future__ import annotations

from kernelwright.edits.draft import Draft
from kernelwright.edits.draw import DRAWN, KNOWN, OPERATORS, UNIFORM, applicable, draw
from kernelwright.edits.gene import AnyEdit, Gene, apply_genes, by_kernel, dump_genes, load_genes
from kernelwright.edits.gene_draw import draw_gene, known_edits, listed
from kernelwright.edits.genome import Applied, Edit, Genome, Inert, apply, apply_to
from kernelwright.edits.json_form import as_json, dumps, from_json, kind_of, loads
from kernelwright.edits.kinds.cache_policy import CachePolicy, cache_policies
from kernelwright.edits.kinds.change_constant import ChangeConstant, changes
from kernelwright.edits.kinds.constant_condition import ConstantCondition, conditions
from kernelwright.edits.kinds.copy import Copy
from kernelwright.edits.kinds.delete import Delete, deletions
from kernelwright.edits.kinds.delete_barrier import DeleteBarrier, barriers
from kernelwright.edits.kinds.exchange_to_store import ExchangeToStore, exchanges
from kernelwright.edits.kinds.fast_math import FastMath, fast_math
from kernelwright.edits.kinds.fix_launch import FixArgument, FixBlock, FixGrid
from kernelwright.edits.kinds.hoist_loads import HoistLoads, far_hoistings, hoistings
from kernelwright.edits.kinds.move import Move
from kernelwright.edits.kinds.no_alias import NoAlias
from kernelwright.edits.kinds.recipe import Recipe, recipes
from kernelwright.edits.kinds.replace_instruction import ReplaceInstruction
from kernelwright.edits.kinds.replace_operand import ReplaceOperand
from kernelwright.edits.kinds.swap import Swap
from kernelwright.edits.kinds.unroll import Unroll, unrollings
from kernelwright.edits.kinds.warp_barriers import WarpBarriers, of_one_warp
from kernelwright.edits.original import Id, Original, Use
from kernelwright.guards import Apart, ArgumentIs, BlockIs, BlockIsWarp, GridIs, Guard, LaunchFacts

__all__ = [
    "DRAWN",
    "KNOWN",
    "OPERATORS",
    "UNIFORM",
    "AnyEdit",
    "Apart",
    "Applied",
    "ArgumentIs",
    "BlockIs",
    "BlockIsWarp",
    "CachePolicy",
    "ChangeConstant",
    "ConstantCondition",
    "Copy",
    "Delete",
    "DeleteBarrier",
    "Draft",
    "Edit",
    "ExchangeToStore",
    "FastMath",
    "FixArgument",
    "FixBlock",
    "FixGrid",
    "Gene",
    "Genome",
    "GridIs",
    "Guard",
    "HoistLoads",
    "Id",
    "Inert",
    "LaunchFacts",
    "Move",
    "NoAlias",
    "Original",
    "Recipe",
    "ReplaceInstruction",
    "ReplaceOperand",
    "Swap",
    "Unroll",
    "Use",
    "WarpBarriers",
    "applicable",
    "apply",
    "apply_genes",
    "apply_to",
    "as_json",
    "barriers",
    "by_kernel",
    "cache_policies",
    "changes",
    "conditions",
    "deletions",
    "draw",
    "draw_gene",
    "dump_genes",
    "dumps",
    "exchanges",
    "far_hoistings",
    "fast_math",
    "from_json",
    "hoistings",
    "kind_of",
    "known_edits",
    "listed",
    "load_genes",
    "loads",
    "of_one_warp",
    "recipes",
    "unrollings",
]
