"""A genome is a tuple of edits; applying it to a kernel gives a module that LLVM accepts, whatever is in it.

original = Original(module, "_Z4blurPKfPf")
applied = apply(original, (Delete(12, "float %a"), Swap(3, 9)))
applied.text, applied.inert
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

from kernelwright.edits.draft import Draft
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.kinds.loads.collect_turns import CollectTurns
from kernelwright.edits.original import Original, Use
from kernelwright.edits.repair import repair
from kernelwright.edits.setting import CompileRecipe
from kernelwright.edits.turn_copies import collected_turns
from kernelwright.guards import Guard
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass

Genome = tuple[Edit, ...]


@dataclass(frozen=True)
class Inert:
    """An edit that could not be applied: its number in the genome, and why."""

    index: int
    edit: Edit
    reason: str


@dataclass(frozen=True)
class Step:
    """A kernel, and a variant of it in which it flows as before."""

    original: Original
    applied: Applied


@dataclass(frozen=True)
class Applied:
    """A variant."""

    text: str
    """The module with the changed kernel, ready for LLVM."""
    inert: tuple[Inert, ...]
    repaired: dict[Use, str]
    """Operands that no edit named and that needed another value, and which they got."""
    draft: Draft
    guards: tuple[Guard, ...] = ()
    """What must hold at a launch for the variant to mean what the original does, as far as edits that keep the meaning go."""
    recipe: CompileRecipe | None = None
    """How it is to be compiled: ``optimise_with(text, recipe, arch)`` in ``passes/recipe.py``."""
    steps: tuple[Step, ...] = ()
    """The variant in two steps, where edits change its flow of control; else none."""

    @cached_property
    def module(self) -> Module:
        """The same as objects."""
        return parse_module(self.text)


def apply(kernel: Original, genome: Iterable[Edit]) -> Applied:
    """The variant that the edits, applied one after another, make of the kernel. An edit whose subject is gone is left out.

    The same genome always gives the same text. The empty one gives the original, without what LLVM was told to assume.
    """
    draft = Draft(kernel)
    inert = []
    edits = tuple(genome)
    for index, edit in enumerate(edits):
        reason = edit.apply(draft)
        if reason is not None:
            inert.append(Inert(index, edit, reason))
        else:
            draft.applied.add(edit)
    repair(draft)
    for taken, condition in draft.conditions.items():
        reason = condition(draft)
        if reason is not None:
            inert.append(Inert(next(n for n, edit in enumerate(edits) if edit == taken), taken, reason))
    applied = Applied(draft.text(), tuple(inert), draft.repaired, draft, tuple(draft.guards), draft.recipe)
    return _in_two_steps(applied, edits) if draft.collected else applied


def _in_two_steps(first: Applied, edits: tuple[Edit, ...]) -> Applied:
    """The variant whose turns are copied and collected as its draft asks."""
    draft = first.draft
    copied, made, reasons = collected_turns(draft)
    inert = [
        Inert(index, edit, reasons[edit.subject])
        for index, edit in enumerate(edits)
        if isinstance(edit, CollectTurns) and edit in draft.applied and edit.subject in reasons
    ]
    first = replace(first, inert=tuple(sorted((*first.inert, *inert), key=lambda one: one.index)))
    if reasons.keys() == draft.collected.keys():
        return first
    draft.guards |= made.guards
    guards = tuple(draft.guards)
    first = replace(first, guards=guards)
    second = Applied(made.text(), (), made.repaired, made, guards, first.recipe)
    return replace(first, text=second.text, steps=(Step(draft.original, first), Step(copied, second)))


def apply_to(module: Module, kernel: str, genome: Iterable[Edit]) -> Applied:
    """``apply`` for one variant; for many of the same kernel make its ``Original`` once. Raises ``Misuse`` for no kernel."""
    return apply(Original(module, kernel), genome)
