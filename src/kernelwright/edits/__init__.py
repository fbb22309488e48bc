"""Edits: values that turn a kernel into a nearby one (paper 000, section 3.4).

    original   a kernel, numbered and named             line_templates   an instruction's line, with gaps
    draft      a variant in the making                  repair     SSA again, once, after all edits
    kinds      a file for each kind of edit             table      a line for each
    edit_kind  what a line says                         dice       what edits are drawn with
    genome     a kernel's edits, applied                gene       an edit of a kernel of a program
    draw       random edits, by dice                    gene_draw  random genes, and those that can be listed
    json_form  edits as JSON and back                   words      edits and guards in words
    setting    what is said of the kernel as a whole    pin        values that stay where they are
    barriers   what is a barrier                        plain_constants   numbers as LLVM writes them

Control flow is never touched, so dominators are computed once per kernel. Any edits in any order give IR that LLVM accepts.
"""

from __future__ import annotations

from kernelwright.edits.draft import Draft
from kernelwright.edits.draw import DRAWN, KNOWN, OPERATORS, UNIFORM, draw
from kernelwright.edits.edit_kind import Edit, EditKind
from kernelwright.edits.gene import Gene, apply_genes, by_kernel, dump_genes, edits_in_order, load_genes
from kernelwright.edits.gene_draw import draw_gene, known_edits, listed
from kernelwright.edits.genome import Applied, Genome, Inert, apply, apply_to
from kernelwright.edits.json_form import as_json, dumps, from_json, kind_of, loads
from kernelwright.edits.original import Id, Original, Use
from kernelwright.guards import Apart, ArgumentIs, BlockIs, BlockIsWarp, GridIs, Guard, LaunchFacts

__all__ = [
    "DRAWN",
    "KNOWN",
    "OPERATORS",
    "UNIFORM",
    "Apart",
    "Applied",
    "ArgumentIs",
    "BlockIs",
    "BlockIsWarp",
    "Draft",
    "Edit",
    "EditKind",
    "Gene",
    "Genome",
    "GridIs",
    "Guard",
    "Id",
    "Inert",
    "LaunchFacts",
    "Original",
    "Use",
    "apply",
    "apply_genes",
    "apply_to",
    "as_json",
    "by_kernel",
    "draw",
    "draw_gene",
    "dump_genes",
    "dumps",
    "edits_in_order",
    "from_json",
    "kind_of",
    "known_edits",
    "listed",
    "load_genes",
    "loads",
]
