"""Variants: a program as a candidate has it, kernel by kernel, after the post-passes that the original gets too.

    built = build_kernel("blur", text, "sm_90", guards, recipe)       # the kernel's changed module, optimised
    variant = Variant({"blur": built}, changed=frozenset({"blur"}))
    variant.modules, variant.key, variant.guards

What is built is what is run and what is timed: the optimised text is executed, and its PTX is what the time is read from. What
makes the changed module of a candidate is the affair of its kind (``evaluate/candidate.py``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from functools import cached_property
from typing import Any

from kernelwright.cache import content_key
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.errors import Misuse
from kernelwright.evaluate.outcome import Rejected
from kernelwright.guards import Guard
from kernelwright.ir import Module, clone_module, parse_module, print_module
from kernelwright.ir.text.canonical import canonical
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.recipe import PassRecipe, optimise_with

_REORDERED = re.compile(r"= f(?:add|sub|mul|div) (?:\w+ )*?(?:fast|reassoc)\b")


@dataclass(frozen=True, eq=False)
class Built:
    """One kernel, built. ``text`` is its optimised module, the one that is run and timed."""

    kernel: str
    text: str
    key: str
    """Equal for texts that differ in names and debug information alone."""
    guards: tuple[Guard, ...] = ()
    """What must hold at a launch for it to be used; else the original is."""

    @cached_property
    def module(self) -> Module:
        """``text``, parsed when it is first asked for."""
        return parse_module(self.text)

    @property
    def is_fast_math(self) -> bool:
        """Whether passes may order its sums and products otherwise, so that results are rounded otherwise."""
        return _REORDERED.search(self.text) is not None

    def ptx(self, arch: str) -> str:
        """The PTX for ``arch``. Raises as ``emit_ptx``."""
        made = self._ptx.get(arch)
        if made is None:
            made = self._ptx[arch] = emit_ptx(self.text, arch)
        return made

    @cached_property
    def _ptx(self) -> dict[str, str]:
        return {}


@dataclass(frozen=True, eq=False)
class Variant:
    """A program as a candidate has it: every kernel, changed or not."""

    kernels: Mapping[str, Built]
    changed: frozenset[str] = frozenset()
    """The kernels that the candidate asks to change, whatever came of it."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """JSON: what its builder has to say of it, for the journal."""

    @property
    def modules(self) -> dict[str, Module]:
        """By kernel, the module that holds it."""
        return {name: built.module for name, built in self.kernels.items()}

    @property
    def key(self) -> str:
        """Equal for candidates that come to the same program."""
        return content_key([part for name, built in self.kernels.items() for part in (name, built.key)])

    @property
    def guards(self) -> dict[str, tuple[Guard, ...]]:
        """Of the kernels that have any."""
        return {name: built.guards for name, built in self.kernels.items() if built.guards}

    def way_out_of(self, rejected: Rejected) -> str:
        """What to do where this is the original and fails its own check."""
        if rejected.stage == "compare" and any(built.is_fast_math for built in self.kernels.values()):
            return "it is compiled with fast math, and passes order its sums otherwise: allow for that with --tolerance 1e-5"
        return "fix the program, or its oracle, or allow for the difference with --tolerance"


def build_kernel(
    kernel: str, text: str, arch: str, guards: tuple[Guard, ...] = (), recipe: PassRecipe | None = None
) -> Built:
    """A kernel, changed or not, through the post-passes. Raises ``IRError`` and ``CompileError`` for what LLVM refuses."""
    optimised = optimise_with(text, recipe, arch)
    # Guards decide which launches it is used for, so they are part of what it is.
    return Built(kernel, optimised, content_key([canonical(optimised), *map(str, guards)]), guards)


def as_compiled(modules: Mapping[str, Module]) -> Variant:
    """The program as it was given, without post-passes and with all that LLVM was told to assume: what its user has."""
    texts = {name: print_module(alone(module, name)) for name, module in modules.items()}
    return Variant({name: Built(name, text, content_key([canonical(text)])) for name, text in texts.items()})


def alone(module: Module, kernel: str) -> Module:
    """A copy of a module without its other kernels. Raises ``Misuse`` for a kernel it does not define."""
    if kernel not in module.functions:
        known = ", ".join(f.name for f in module.kernels) or "none"
        raise Misuse(f"the module does not define a kernel {kernel!r}", hint=f"its kernels are {known}")
    made, _ = clone_module(module)
    made.remove([f for f in made.kernels if f.name != kernel])
    return made
