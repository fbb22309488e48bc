"""Genomes as candidates: tuples of genes, each an edit of one kernel of the program.

    builder = GENOMES.builder(workload.modules(), "sm_90")
    original = builder.build(())                  # the baseline: no edits, the same post-passes
    variant = builder.build((Gene(kernel, edit), ...))

Kernels are built apart, each from a module of its own, and kept, so that a candidate costs what it changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kernelwright.device.settings import virtual_gpu
from kernelwright.edits.edit_kind import Edit
from kernelwright.edits.gene import Gene, by_kernel
from kernelwright.edits.genome import apply
from kernelwright.edits.original import Original
from kernelwright.errors import Misuse
from kernelwright.evaluate.judging.variant import Built, Variant, alone, build_kernel
from kernelwright.evaluate.run.variant_run import VariantRun
from kernelwright.ir import Module
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.lru import LruCache

Genes = tuple[Gene, ...]

KEPT = 256
"""Built kernels that a builder keeps."""


@dataclass(frozen=True)
class _Edited:
    """A kernel with its edits, built; and those of them that changed nothing because their subject is gone."""

    built: Built
    inert: tuple[Edit, ...]


class GenomeBuilder:
    """Builds genomes of one program for one architecture. LLVM runs in this process and may take it down."""

    def __init__(self, modules: Mapping[str, Module], arch: str, kept: int = KEPT) -> None:
        """``modules``: the original program, by kernel the module that holds it, as a ``Workload`` has it."""
        self.originals = {name: Original(alone(module, name), name) for name, module in modules.items()}
        self.arch = arch
        self._kept: LruCache[tuple[str, tuple[Edit, ...]], _Edited] = LruCache(kept)
        self._baseline: dict[str, _Edited] = {}

    def build(self, candidate: Genes) -> Variant:
        """The program. Raises ``IRError`` and ``CompileError`` for what LLVM refuses, ``Misuse`` for a foreign kernel."""
        genes = by_kernel(candidate)
        unknown = sorted(genes.keys() - self.originals.keys())
        if unknown:
            raise Misuse(
                f"there is no kernel '{unknown[0]}' to edit",
                hint=f"the kernels are {', '.join(sorted(self.originals))}",
            )
        edited = {name: self._edited(name, genes.get(name, ())) for name in self.originals}
        inert = [Gene(name, edit).as_json() for name, each in edited.items() for edit in each.inert]
        kernels = {name: each.built for name, each in edited.items()}
        return Variant(kernels, frozenset(genes), {"inert": inert} if inert else {})

    def _edited(self, kernel: str, edits: tuple[Edit, ...]) -> _Edited:
        if not edits:
            if kernel not in self._baseline:
                self._baseline[kernel] = self._made(kernel, ())
            return self._baseline[kernel]
        return self._kept.get_or_make((kernel, edits), lambda: self._made(kernel, edits))

    def _made(self, kernel: str, edits: tuple[Edit, ...]) -> _Edited:
        applied = apply(self.originals[kernel], edits)
        built = build_kernel(kernel, applied.text, self.arch, applied.guards, applied.recipe)
        return _Edited(built, tuple(each.edit for each in applied.inert))


@dataclass(frozen=True)
class Genomes:
    """The kind of candidate that evolution asks about (``evaluate.candidate.VariantKind``)."""

    name: str = "evolve"
    original: Genes = ()

    def to_json(self, candidate: Genes) -> list[dict[str, Any]]:
        return [gene.as_json() for gene in candidate]

    def from_json(self, value: Any) -> Genes:
        return tuple(Gene.from_json(each) for each in value)

    def builder(self, modules: Mapping[str, Module], arch: str) -> GenomeBuilder:
        return GenomeBuilder(modules, arch)

    def of(self, run: VariantRun[Genes]) -> GenomeBuilder:
        """The builder of a run's candidates, which knows the originals as they are edited."""
        return self.builder(run.workload().modules(), virtual_gpu(run.settings.virtual).arch)

    def described(self, candidate: Genes) -> list[tuple[str, str]]:
        return [(gene.kernel, str(gene.edit)) for gene in candidate]


GENOMES = Genomes()

EvolveRun = VariantRun[Genes]
