"""Candidates → programs: edits applied, then the post-passes that the original gets too, kernel by kernel.

    builder = Builder.of(workload.modules(), "sm_90")
    original = builder.build(())                  # the baseline: no edits, the same post-passes
    variant = builder.build((Gene(kernel, edit), ...))
    variant.modules, variant.key, variant.inert, variant.guards

What is built is what is run and what is timed: the optimised text is executed, and its PTX is what the time is read from.
Kernels are built apart, each from a module of its own, and kept, so that a candidate costs what it changes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from kernelwright.cache import content_key
from kernelwright.codegen.ptx import emit_ptx
from kernelwright.edits.gene import AnyEdit, Gene, by_kernel
from kernelwright.edits.genome import Inert, apply
from kernelwright.edits.kinds.recipe import Recipe
from kernelwright.edits.original import Original
from kernelwright.errors import Misuse
from kernelwright.guards import Guard
from kernelwright.ir import Module, clone_module, parse_module, print_module
from kernelwright.lru import LruCache
from kernelwright.passes.recipe import optimise_with

Candidate = tuple[Gene, ...]

KEPT = 256
"""Built kernels that a builder keeps."""

_ANY = re.compile(
    r"""(?P<drop>,[ ]![a-z.]*dbg[ ]!\d+ | [ ]![a-z.]*dbg[ ]!\d+(?=[ ]\{))   # debug locations
      | (?P<name>%(?:"[^"]*"|[\w.$-]+))
      | (?P<label>^(?:"[^"]*"|[\w.$-]+)(?=:))
      | (?P<node>!\d+)""",
    re.MULTILINE | re.VERBOSE,
)
_COMMENT = re.compile(r"\s*; preds = .*$", re.MULTILINE)


@dataclass(frozen=True, eq=False)
class Built:
    """One kernel, built. ``text`` is its optimised module, the one that is run and timed."""

    kernel: str
    text: str
    key: str
    """Equal for texts that differ in names and debug information alone."""
    guards: tuple[Guard, ...] = ()
    """What must hold at a launch for it to be used; else the original is."""
    inert: tuple[AnyEdit, ...] = ()
    recipe: Recipe | None = None

    @cached_property
    def module(self) -> Module:
        return parse_module(self.text)

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

    @property
    def inert(self) -> tuple[Gene, ...]:
        """The genes that changed nothing because their subject is gone."""
        return tuple(Gene(name, edit) for name, built in self.kernels.items() for edit in built.inert)


class Builder:
    """Builds candidates of one program for one architecture. LLVM runs in this process and may take it down."""

    def __init__(self, originals: Mapping[str, Original], arch: str, kept: int = KEPT) -> None:
        self.originals = originals
        self.arch = arch
        self._kept: LruCache[tuple[str, tuple[AnyEdit, ...]], Built] = LruCache(kept)
        self._baseline: dict[str, Built] = {}
        self._given: Mapping[str, Module] = {}

    @classmethod
    def of(cls, modules: Mapping[str, Module], arch: str) -> Builder:
        """From the original program, by kernel the module that holds it, as a ``Workload`` has it."""
        apart = {name: alone(module, name) for name, module in modules.items()}
        builder = cls({name: Original(module, name) for name, module in apart.items()}, arch)
        builder._given = apart
        return builder

    def build(self, candidate: Candidate) -> Variant:
        """The program. Raises ``IRError`` and ``CompileError`` for what LLVM refuses, ``Misuse`` for a foreign kernel."""
        genes = by_kernel(candidate)
        unknown = sorted(genes.keys() - self.originals.keys())
        if unknown:
            raise Misuse(
                f"there is no kernel '{unknown[0]}' to edit",
                hint=f"the kernels are {', '.join(sorted(self.originals))}",
            )
        return Variant({name: self._built(name, genes.get(name, ())) for name in self.originals})

    def as_compiled(self) -> Variant:
        """The program as it was given, without post-passes and with all that LLVM was told to assume: what its user has."""
        texts = {name: print_module(module) for name, module in self._given.items()}
        return Variant({name: Built(name, text, content_key([canonical(text)])) for name, text in texts.items()})

    def _built(self, kernel: str, edits: tuple[AnyEdit, ...]) -> Built:
        if not edits:
            if kernel not in self._baseline:
                self._baseline[kernel] = self._made(kernel, ())
            return self._baseline[kernel]
        return self._kept.get_or_make((kernel, edits), lambda: self._made(kernel, edits))

    def _made(self, kernel: str, edits: tuple[AnyEdit, ...]) -> Built:
        applied = apply(self.originals[kernel], edits)
        recipe = applied.draft.recipe
        text = optimise_with(applied.text, recipe, self.arch)
        guards = tuple(applied.draft.guards)
        # Guards decide which launches it is used for, so they are part of what it is.
        key = content_key([canonical(text), *map(str, guards)])
        return Built(kernel, text, key, guards, _inert(applied.inert), recipe)


def _inert(found: Iterable[Inert]) -> tuple[AnyEdit, ...]:
    return tuple(each.edit for each in found)


def alone(module: Module, kernel: str) -> Module:
    """A copy of a module without its other kernels. Raises ``Misuse`` for a kernel it does not define."""
    if kernel not in module.functions:
        known = ", ".join(f.name for f in module.kernels) or "none"
        raise Misuse(f"the module does not define a kernel {kernel!r}", hint=f"its kernels are {known}")
    made, _ = clone_module(module)
    made.remove([f for f in made.kernels if f.name != kernel])
    return made


def canonical(text: str) -> str:
    """A module's text without names, debug information and metadata nodes: values and nodes are numbered as they come.

    before   ``%sum = fadd float %a, %b, !dbg !12``
    after    ``%0 = fadd float %1, %2``
    """
    numbers: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind == "drop":
            return ""
        found = match[0] if kind != "label" else f"%{match[0]}"
        number = numbers.get(found)
        if number is None:
            number = numbers[found] = f"{'!' if kind == 'node' else '%'}{len(numbers)}"
        return number

    body = text[: _start_of_metadata(text)]
    return _ANY.sub(renamed, _COMMENT.sub("", body))


def _start_of_metadata(text: str) -> int:
    """Where the list of metadata nodes begins, which LLVM prints last."""
    found = re.search(r"^![\w.]+ = ", text, re.MULTILINE)
    return found.start() if found else len(text)
