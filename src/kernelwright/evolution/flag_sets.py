"""Compile flags as candidates: the same kernels, compiled from the same source by LLVM under other flags of ``kw compile``.

    kind = FlagSets({"-O3 unroll=2000": {"lud_internal": "define ..."}})
    kind.builder(workload.modules(), "sm_90").build("-O3 unroll=2000")

What flags gain is no gain of evolution: the best of them are what edits start from and are counted from. Only flags that keep
the meaning are here. Those that act on code generation alone are not: every variant goes through code generation anew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kernelwright.evaluate.judging.variant import Variant
from kernelwright.evolution.genomes import GenomeBuilder
from kernelwright.ir import Module, parse_module
from kernelwright.lazy_dataclasses import dataclass
from kernelwright.passes.options import PassOptions

THRESHOLDS: tuple[tuple[str, int], ...] = (
    ("unroll", 50),
    ("unroll", 800),
    ("unroll", 2000),
    ("unroll", 10000),
    ("unroll-partial", 40),
    ("unroll-partial", 600),
)
WITHOUT = ("licm", "gvn", "indvars", "reassociate")
LEVELS = (1, 2)

Texts = Mapping[str, str]
"""By kernel: the text of the module that defines it."""


def single_changes(given: PassOptions) -> list[PassOptions]:
    """The given flags with one thing changed, each once."""
    thresholds = dict(given.thresholds)
    found = [PassOptions.of(given.level, given.without, thresholds | {name: value}) for name, value in THRESHOLDS]
    found += [PassOptions.of(given.level, given.without | {name}, thresholds) for name in WITHOUT]
    found += [PassOptions.of(level, given.without, thresholds) for level in LEVELS]
    return [options for options in dict.fromkeys(found) if options != given]


def both(given: PassOptions, one: PassOptions, other: PassOptions) -> PassOptions:
    """What ``other`` changes in the given flags, changed in ``one``."""
    level = other.level if other.level != given.level else one.level
    changed = dict(set(other.thresholds) - set(given.thresholds))
    return PassOptions.of(level, one.without | other.without, dict(one.thresholds) | changed)


def spelled(given: PassOptions, chosen: PassOptions) -> str:
    """What the chosen flags add to the given ones, as ``kw compile`` takes it.

    before   -O3                       after   -O3 -licm unroll=2000
    gives    --without licm --threshold unroll=2000
    """
    words = [f"-O{chosen.level}"] if chosen.level != given.level else []
    words += [f"--without {name}" for name in sorted(chosen.without - given.without)]
    words += [f"--threshold {n}={v}" for n, v in chosen.thresholds if (n, v) not in given.thresholds]
    return " ".join(words)


class FlagBuilder:
    """Builds the program under other flags, without edits, through the post-passes that every variant gets."""

    def __init__(self, given: Mapping[str, Module], by_flags: Mapping[str, Texts], arch: str) -> None:
        self._given = given
        self._by_flags = by_flags
        self._arch = arch

    def build(self, candidate: str) -> Variant:
        """The program; with no flags, as it was given. Raises as ``GenomeBuilder.build``."""
        if not candidate:
            return GenomeBuilder(self._given, self._arch).build(())
        modules = {name: parse_module(text) for name, text in self._by_flags[candidate].items()}
        return Variant(GenomeBuilder(modules, self._arch).build(()).kernels, frozenset(modules))


@dataclass(frozen=True)
class FlagSets:
    """The kind of candidate that flags are (``evaluate.candidate.VariantKind``): ``PassOptions`` as text."""

    by_flags: Mapping[str, Texts]
    """By flags, every kernel of the workload."""
    name: str = "flags"
    original: str = ""

    def to_json(self, candidate: str) -> str:
        return candidate

    def from_json(self, value: object) -> str:
        return str(value)

    def builder(self, modules: Mapping[str, Module], arch: str) -> FlagBuilder:
        return FlagBuilder(modules, self.by_flags, arch)

    def described(self, candidate: str) -> Sequence[tuple[str, str]]:
        return [(kernel, f"compiled with {candidate}") for kernel in self.by_flags.get(candidate, {})]
