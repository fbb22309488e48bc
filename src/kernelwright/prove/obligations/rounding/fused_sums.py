"""Whether the same products are rounded once, with their sum, in a variant as LLVM compiles it (``codegen/fused_products.py``).

    %p = fmul contract float %a, %b          br i1 %always, label %then, label %end
    %s = fadd contract float %p, %c          fused where both stand in one block, and %p has no other use

Which block, which use and which side of its sum a product has is LLVM's to choose, and what an edit says decides it: a condition that
is known makes one block of two, an argument that is known makes a constant of a product, loads in another order turn round
``a * b + c * d``. All of that keeps the values that LLVM's language knows, and changes the bits. So the variant is compiled here, with a
name of its own for each sum and product, which LLVM keeps for all that it makes of it (``%kw7.``, ``%kw7.us``, ``%kw7.3``), and looked
at. The original is what its user has, before any further pass.

What holds then: every sum that is left finds its products as it did. A sum that is gone was needed by none: in its place stands a
function without effects that LLVM does not know, and it is gone as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from kernelwright.codegen.fused_products import may_contract
from kernelwright.edits.original import Id
from kernelwright.errors import KernelwrightError
from kernelwright.ir import Function, Instruction, Module, parse_module, print_module
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.recipe import optimise_with
from kernelwright.prove.obligations.variant_pair import VariantPair, written

SUMS = ("fadd", "fsub")
_OPAQUE = "kernelwright.opaque."
_OWN = re.compile(r"kw\d+")

Products = tuple[tuple[str, int], ...]
"""Of a sum: the products beside it that it may be fused with, in order, and how many uses each has."""


def may_fuse(function: Function) -> bool:
    """Whether a kernel has sums that could swallow products at all, in whatever LLVM makes of it."""
    loose = {i.opcode for i in function.instructions() if may_contract(i)}
    return "fmul" in loose and not loose.isdisjoint(SUMS)


def why_fused_otherwise(pair: VariantPair) -> str:
    """Empty where every sum is rounded as in the original."""
    numbers = {node.instruction: _name(pair, id) for id, node in pair.original.nodes.items()}
    before = {name: _products(i, lambda i: numbers.get(i, "")) for i, name in numbers.items() if is_sum(i)}
    try:
        named = _named(pair)
        seen = set[str]()
        for i in filter(is_sum, _compiled(pair, print_module(named.module)).instructions()):
            products, name = _products(i, _stem), _stem(i)
            if not _OWN.fullmatch(name) and products:
                return "LLVM makes a sum of its own, with a product"
            if _OWN.fullmatch(name) and before.get(name) != products:
                what = "another product than before" if products else "no product"
                return f"LLVM leaves the sum {_said(pair, name)} with {what} beside it"
            seen.add(name)
        gone = before.keys() - seen - {_name(pair, id) for id in pair.deleted}
        return _why_needed(pair, named, gone) if gone else ""
    except KernelwrightError as error:
        return f"the variant could not be compiled: {error}"


def is_sum(i: Instruction) -> bool:
    """Whether an instruction is a sum or a difference that may swallow a product."""
    return i.opcode in SUMS and may_contract(i)


def _name(pair: VariantPair, id: Id) -> str:
    """What a sum or product is called; a copy like what it was copied from."""
    return f"kw{pair.applied.draft.known(id).origin}"


def _said(pair: VariantPair, name: str) -> str:
    return pair.original.nodes[int(name.removeprefix("kw"))].result


def _stem(i: Instruction) -> str:
    return i.name.partition(".")[0]


def _products(sum: Instruction, name: Callable[[Instruction], str]) -> Products:
    """Of one that stands alone beside its sum it counts whether it has further uses; of two, the number may decide."""
    found = [
        (name(each), len(each.uses))
        for each in sum.operands
        if isinstance(each, Instruction) and each.opcode == "fmul" and may_contract(each) and each.parent is sum.parent
    ]
    return tuple((each, min(uses, 2)) for each, uses in found) if len(found) == 1 else tuple(found)


@dataclass(frozen=True)
class _Named:
    """The variant, with names of their own for sums and products; and its sums."""

    module: Module
    sums: tuple[Instruction, ...]


def _named(pair: VariantPair) -> _Named:
    module = parse_module(pair.applied.text)
    ids = {instruction: id for id, instruction in pair.varied.items()}
    sums = []
    for block, old in zip(module.functions[pair.original.kernel].blocks, pair.after.blocks, strict=True):
        for i, same in zip(block.instructions, old.instructions, strict=True):
            id = ids.get(same)
            if id is not None and may_contract(i) and i.opcode in ("fmul", *SUMS):
                i.name = f"{_name(pair, id)}.{id if isinstance(id, str) else ''}"
                sums += [i] if i.opcode in SUMS else []
    return _Named(module, tuple(sums))


def _compiled(pair: VariantPair, text: str) -> Function:
    made = optimise_with(text, pair.applied.recipe, pair.arch) if pair.is_compiled else text
    return parse_module(made).functions[pair.original.kernel]


def _why_needed(pair: VariantPair, named: _Named, gone: set[str]) -> str:
    """Why sums of which LLVM has left nothing are needed all the same, and so were computed otherwise."""
    opaque = {f"%{i.name}": (f"{_OPAQUE}{n}", i) for n, i in enumerate(named.sums) if _stem(i) in gone}
    after = _compiled(pair, "\n".join(_with_opaque(print_module(named.module), opaque)))
    made = {i.callee.name for i in after.instructions() if i.opcode == "call" and isinstance(i.callee, Function)}
    needed = next((i for name, i in opaque.values() if name in made), None)
    return f"LLVM makes the sum {_said(pair, _stem(needed))} in another way, and it is needed" if needed else ""


def _with_opaque(text: str, opaque: dict[str, tuple[str, Instruction]]) -> Iterator[str]:
    """The lines of a module, with functions of which nothing is known in the place of sums.

    before   %kw7. = fadd contract float %x, %y
    after    %kw7. = call float @kernelwright.opaque.0(float %x, float %y)
    """
    for line in text.split("\n"):
        result, is_made, _ = line.strip().partition(" = ")
        if is_made and result in opaque:
            name, i = opaque[result]
            arguments = ", ".join(f"{i.type.text} {written(operand)}" for operand in i.operands)
            yield f"  {result} = call {i.type.text} @{name}({arguments})"
        else:
            yield line
    for name, i in opaque.values():
        yield f"declare {i.type.text} @{name}({i.type.text}, {i.type.text}) nounwind willreturn speculatable memory(none)"
    yield ""
